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


def as_sequences(value: Any, level: int) -> Any:
    """Lists of rows as `Sequences`; what is one already stays as it is. Raises `FeedError` for anything else."""
    if isinstance(value, Sequences) or level == 0:
        return value
    if not isinstance(value, (list, tuple)):
        raise FeedError(
            f"is {type(value).__name__}; it takes Sequences(data, starts) or a list with one item a sequence"
        )
    if level == 1:
        return Sequences(_joined(value), _starts(value))
    if not all(isinstance(sequence, (list, tuple)) for sequence in value):
        raise FeedError("is a nested sequence: it takes a list with a list of sub-sequences for every sequence")
    parts = [part for sequence in value for part in sequence]
    if not all(hasattr(part, "__len__") for part in parts):
        raise FeedError("is a nested sequence: it takes a list with a list of sub-sequences for every sequence")
    return Sequences(_joined(parts), _starts(value), _starts(parts))


def _starts(parts: Sequence[Any]) -> NDArray[np.int64]:
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)


def _joined(parts: Sequence[Any]) -> Any:
    filled = [part for part in parts if len(part)]
    if filled and isinstance(filled[0][0], (list, tuple)) and len({len(row) for part in filled for row in part}) > 1:
        return [row for part in filled for row in part]  # lists of column numbers: sparse rows
    return np.concatenate([np.asarray(part) for part in filled]) if filled else np.zeros(0, np.int64)


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
