"""What is fed: arrays, sequences end to end without padding, sparse rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class FeedError(ValueError):
    """Something fed does not fit the network."""


@dataclass(frozen=True)
class Csr:
    """Sparse rows: row r sets the columns `id[start[r]:start[r + 1]]`, to `value` or to ones."""

    start: Array
    id: Array
    value: Array | None = None

    def __len__(self) -> int:
        return len(self.start) - 1


@dataclass(frozen=True)
class Sequences:
    """Sequences end to end: sequence s holds the rows `starts[s]` to `starts[s + 1]` of `data`.

    Nested: sequence s holds the sub-sequences `starts[s]` to `starts[s + 1]`, which `sub_starts` cuts out of `data`.
    """

    data: Array | Csr
    starts: Array
    sub_starts: Array | None = None

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def level(self) -> int:
        """1, or 2 for nested sequences."""
        return 1 if self.sub_starts is None else 2


def as_sequences(value: Any, level: int, *, sparse: bool = False) -> Any:
    """Lists of rows as `Sequences`; what is one already stays as it is. Raises `FeedError` for anything else.

    Rows of a sequence may be an array, and sparse ones a SciPy matrix or a `Csr`.
    """
    if isinstance(value, Sequences) or level == 0:
        return value
    if not isinstance(value, (list, tuple)):
        raise FeedError(
            f"is {type(value).__name__}; it takes Sequences(data, starts) or a list with one item a sequence"
        )
    if level == 1:
        parts = list(value)
    elif all(isinstance(sequence, (list, tuple)) for sequence in value):
        parts = [part for sequence in value for part in sequence]
    else:
        raise FeedError("is a nested sequence: it takes a list with a list of sub-sequences for every sequence")
    if sparse:
        parts = [as_csr(part) for part in parts]
    elif not all(hasattr(part, "__len__") for part in parts):
        items = "a list of sub-sequences" if level == 2 else "the rows"
        raise FeedError(f"holds single values where sequences are expected: it takes a list with {items} of every one")
    rows = join_csr(parts) if sparse else _joined(parts)
    return Sequences(rows, _starts(parts)) if level == 1 else Sequences(rows, _starts(value), _starts(parts))


def join_csr(parts: Sequence[Csr]) -> Csr:
    """Sparse rows one part after the other; a part without entries may have values or not."""
    lengths = [np.diff(part.start) for part in parts]
    start = np.cumsum([0, *np.concatenate([np.zeros(0, np.int64), *lengths])], dtype=np.int64)
    values = [part.value for part in parts if part.value is not None]
    ids = np.concatenate([np.zeros(0, np.int64), *(part.id for part in parts)])
    return Csr(start, ids, np.concatenate(values) if values else None)


def _starts(parts: Sequence[Any]) -> NDArray[np.int64]:
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)


def _joined(parts: Sequence[Any]) -> Any:
    filled = [np.asarray(part) for part in parts if len(part)]
    return np.concatenate(filled) if filled else np.zeros(0, np.int64)


def as_csr(value: Any) -> Csr:
    """Lists of column numbers, of (column, value) pairs, or a SciPy sparse matrix as `Csr`. Raises `FeedError`."""
    if isinstance(value, Csr):
        return value
    if hasattr(value, "tocsr"):
        matrix = value.tocsr()
        return Csr(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data)
    if not isinstance(value, (list, tuple)):
        raise FeedError(
            f"is {type(value).__name__}; sparse rows are Csr(start, id), lists of columns or a SciPy matrix"
        )
    entries = [entry for row in value for entry in row]
    if entries and isinstance(entries[0], tuple):
        columns, values = zip(*entries, strict=True)
        return Csr(_starts(value), np.asarray(columns), np.asarray(values))
    return Csr(_starts(value), np.asarray(entries, dtype=np.int64 if not entries else None))
