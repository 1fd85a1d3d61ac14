"""Splitting of a data set: training rows and held-out rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_layers.define.errors import suggestion

from .columns import Rows, WordColumn
from .dataset import Dataset
from .lazy_columns import StoredColumn
from .problems import DataError


def split_by_share(dataset: Dataset, test: float, seed: int, stratify: str | None) -> tuple[Rows, Rows]:
    """Rows to learn from and rows that are held out, each in the order of the data; the seed alone chooses them.

    With `stratify` every value of that field has the share `test` of its rows held out, as nearly as whole rows allow.
    Raises `DataError` when a part is empty.
    """
    values = _values(dataset, stratify) if stratify is not None else np.zeros(len(dataset), np.int64)
    random = np.random.Generator(np.random.Philox(key=seed))
    held_out = np.zeros(len(dataset), bool)
    for value in np.unique(values):
        rows = np.flatnonzero(values == value)
        held_out[random.permutation(rows)[: round(test * len(rows))]] = True
    return _parts(dataset, held_out, f"a test share of {test:g}")


def split_by_group(dataset: Dataset, test: float, seed: int, field: str) -> tuple[Rows, Rows]:
    """As `split_by_share`, but all rows with one value in the field are in one part.

    As many groups are held out, in an order that the seed alone chooses, as come nearest to the share of the rows.
    """
    groups, group = np.unique(_values(dataset, field), return_inverse=True)
    order = np.random.Generator(np.random.Philox(key=seed)).permutation(len(groups))
    rows = np.cumsum([0, *np.bincount(group)[order]])
    chosen = order[: np.abs(rows - test * len(dataset)).argmin()]
    what = f"a test share of {test:g} of the {len(groups)} groups in `{field}`"
    return _parts(dataset, np.asarray(np.isin(group, chosen)), what)


def split_by_field(dataset: Dataset, field: str, value: str) -> tuple[Rows, Rows]:
    """Rows to learn from, and those where a field of ids or words has a value. `DataError` when a part is empty."""
    values = _values(dataset, field).astype(str)
    held_out = np.asarray(values == value)
    known = ", ".join(f"`{one}`" for one in np.unique(values)[:8])
    return _parts(dataset, held_out, f"the test value `{value}` of field `{field}` (values: {known})")


def _parts(dataset: Dataset, held_out: Rows, what: str) -> tuple[Rows, Rows]:
    train, test = np.flatnonzero(~held_out), np.flatnonzero(held_out)
    if not len(train) or not len(test):
        part = "training" if not len(train) else "testing"
        raise DataError(f"{dataset.origin}: {what} leaves none of the {len(dataset)} rows for {part}")
    return train, test


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
