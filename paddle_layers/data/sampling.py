"""Sampling of rows: counter-based random numbers, shuffling, and splits into training and held-out rows.

Random numbers depend on seed, epoch, stream and row alone, so that a resumed training gets the same.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.concurrency import ForkSafeLock
from paddle_layers.define.errors import suggestion

from .columns import Rows, WordColumn
from .dataset import Dataset
from .lazy_columns import RowBlocks, StoredColumn
from .problems import DataError

_MASK = 2**64 - 1


def generator(seed: int, epoch: int, stream: int) -> np.random.Generator:
    """A generator for one purpose in one epoch; `stream` 0 is the order of the rows, the last are further orders."""
    key = np.array([seed & _MASK, (epoch << 16 | stream) & _MASK], np.uint64)
    return np.random.Generator(np.random.Philox(key=key))


class RowRandom:
    """Random numbers for the rows of a batch: `random()` returns one in [0, 1) per row.

    A row gets the same numbers in any batch. Successive calls give independent numbers. Threads may call it
    concurrently, each for separate rows.
    """

    def __init__(self, seed: int, epoch: int, stream: int, count: int) -> None:
        self._generator = generator(seed, epoch, stream)
        self._count = count
        self._tables: list[NDArray[np.float64]] = []
        self._drawing = ForkSafeLock()
        self._offset = 0
        self._rows: NDArray[np.int64] = np.empty(0, np.int64)
        self._next = 0

    def at(self, rows: NDArray[np.int64]) -> RowRandom:
        """The numbers of these rows from the first call on."""
        own = copy.copy(self)
        own._rows, own._next = rows + self._offset, 0
        return own

    def behind(self, offset: int) -> RowRandom:
        """For rows that have the numbers of those so many rows later."""
        own = copy.copy(self)
        own._offset = offset
        return own

    def random(self) -> NDArray[np.float64]:
        """One number in [0, 1) for every row."""
        with self._drawing.current:
            if self._next == len(self._tables):
                self._tables.append(self._generator.random(self._count))
        self._next += 1
        return self._tables[self._next - 1][self._rows]


def shuffled(part: Rows, blocks: RowBlocks | None, seed: int, epoch: int, stream: int = 0) -> Rows:
    """Random order of the rows of `part`, which are ascending; it depends on seed, epoch and random stream alone.

    If rows are stored in `blocks`, these are shuffled, and rows are shuffled within groups of a few blocks: each block
    is then read once per epoch, not once for each row.
    """
    random = generator(seed, epoch, stream)
    if blocks is None:
        return np.asarray(random.permutation(part))
    starts, together = np.searchsorted(part, blocks.starts), blocks.together
    order = random.permutation(len(starts) - 1)
    parts = [
        random.permutation(np.concatenate([part[starts[one] : starts[one + 1]] for one in order[first:][:together]]))
        for first in range(0, len(order), together)
    ]
    return np.concatenate(parts)


def split_by_share(
    dataset: Dataset, shares: Mapping[str, float], seed: int, stratify: str | None = None
) -> dict[str, Rows]:
    """Rows by part, "train" and the held-out parts of `shares`, in the order of the data; the seed alone chooses them.

    With `stratify` every value of that field has these shares of its rows held out, as nearly as whole rows allow. A
    part does not depend on those after it. Raises `DataError` when a part is empty.
    """
    values = _values(dataset, stratify) if stratify is not None else np.zeros(len(dataset), np.int64)
    random = np.random.Generator(np.random.Philox(key=seed))
    parts = np.zeros(len(dataset), np.int64)
    for value in np.unique(values):
        rows = random.permutation(np.flatnonzero(values == value))
        first = 0
        for number, share in enumerate(shares.values(), 1):
            count = round(share * len(rows))
            parts[rows[first : first + count]] = number
            first += count
    return _parts(dataset, parts, {name: f"a {name} share of {share:g}" for name, share in shares.items()})


def split_by_group(dataset: Dataset, shares: Mapping[str, float], seed: int, field: str) -> dict[str, Rows]:
    """As `split_by_share`, but all rows with one value in the field are in one part.

    As many groups are held out, in an order that the seed alone chooses, as come nearest to the shares of the rows.
    """
    groups, group = np.unique(_values(dataset, field), return_inverse=True)
    order = np.random.Generator(np.random.Philox(key=seed)).permutation(len(groups))
    rows = np.cumsum([0, *np.bincount(group)[order]])
    parts, first = np.zeros(len(dataset), np.int64), 0
    for number, share in enumerate(shares.values(), 1):
        after = first + int(np.abs(rows[first:] - rows[first] - share * len(dataset)).argmin())
        parts[np.isin(group, order[first:after])] = number
        first = after
    of = f"of the {len(groups)} groups in `{field}`"
    return _parts(dataset, parts, {name: f"a {name} share of {share:g} {of}" for name, share in shares.items()})


def split_by_field(dataset: Dataset, field: str, held_out: Mapping[str, str]) -> dict[str, Rows]:
    """Rows to train with, and those where a field of ids or words has the value of a held-out part.

    Raises `DataError` when a part is empty.
    """
    values = _values(dataset, field).astype(str)
    parts = np.zeros(len(dataset), np.int64)
    for number, value in enumerate(held_out.values(), 1):
        parts[values == value] = number
    known = ", ".join(f"`{one}`" for one in np.unique(values)[:8])
    what = {
        name: f"the {name} value `{value}` of field `{field}` (values: {known})" for name, value in held_out.items()
    }
    return _parts(dataset, parts, what)


def _parts(dataset: Dataset, parts: Rows, held_out: Mapping[str, str]) -> dict[str, Rows]:
    """The rows of each part, "train" and those that are `held_out`, each with its setting for messages."""
    found = {name: np.flatnonzero(parts == number) for number, name in enumerate(("train", *held_out))}
    for name, rows in found.items():
        if not len(rows):
            what = held_out.get(name) or " and ".join(held_out.values())
            leaves = "leaves" if name in held_out or len(held_out) == 1 else "leave"
            purpose = {"train": "training", "test": "testing"}.get(name, name)
            raise DataError(f"{dataset.origin}: {what} {leaves} none of the {len(dataset)} rows for {purpose}")
    return found


def _values(dataset: Dataset, field: str) -> Rows:
    """The values of a field: one id or word for each row."""
    column = (dataset.fields | dataset.raw).get(field)
    if column is None:
        fields = dataset.fields | dataset.raw
        known, near = ", ".join(f"`{name}`" for name in fields), suggestion(field, fields)
        raise DataError(f"{dataset.origin} has no field `{field}`, named in `split`{near}; available: {known}")
    values = np.asarray(_read(column.cells if isinstance(column, WordColumn) else column))
    if values.dtype.kind not in "iubU" or values.size != len(dataset):
        raise DataError(f"{dataset.origin}: field `{field}`, named in `split`, must have one id or word per row")
    return values.reshape(-1)


def _read(column: Any) -> Any:
    """All rows of what is read when it is wanted, where they are single numbers or words."""
    if not isinstance(column, StoredColumn) or column.shape[1:] not in {(), (1,)} or column.level:
        return column
    return column.whole()
