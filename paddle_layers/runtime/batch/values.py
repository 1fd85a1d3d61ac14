"""Types of feeds: arrays, concatenated sequences without padding, sparse rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.errors import first_line, has_masked

Array = NDArray[Any]


class FeedError(ValueError):
    """A feed does not fit the network."""


@dataclass(frozen=True)
class Csr:
    """Sparse rows: row r sets the columns `id[start[r]:start[r + 1]]`, to `value` or to ones.

    Args:
        start: Offsets of the rows and the total, (rows + 1,).
        id: Columns of the entries, (entries,).
        value: Values of the entries, (entries,); None for ones.
    """

    start: Array
    id: Array
    value: Array | None = None

    def __len__(self) -> int:
        return len(self.start) - 1


@dataclass(frozen=True)
class Sequences:
    """Concatenated sequences without padding: sequence s holds the rows `starts[s]` to `starts[s + 1]` of `data`.

    Nested: sequence s holds the sub-sequences `starts[s]` to `starts[s + 1]`, whose bounds in `data` are `sub_starts`.

    Args:
        data: Array (rows, ...) of the rows of all sequences, or sparse rows.
        starts: Offsets of the sequences and the total, (sequences + 1,).
        sub_starts: For nested sequences, offsets of the sub-sequences and the total.

    Example::

        Sequences(np.zeros((5, 3)), [0, 2, 5])  # two sequences, of 2 and 3 steps
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


def as_sequences(value: Any, level: int, *, columns: int = 0, rank: int = 0) -> Any:
    """Convert lists of rows, and arrays (samples, steps, ...) whose rows have `rank` axes, to `Sequences`.

    Rows of a sequence may be an array, and sparse ones, with so many `columns`, a SciPy matrix or a `Csr`.

    Returns:
        The sequences; `Sequences`, and values of level 0, unchanged.

    Raises:
        FeedError: The value has another form.
    """
    if isinstance(value, Sequences) or level == 0:
        return value
    if isinstance(value, np.ndarray) and level == 1 and not columns and value.ndim == 2 + rank:
        count, steps = value.shape[:2]
        return Sequences(value.reshape(count * steps, *value.shape[2:]), np.arange(count + 1) * steps)
    if not isinstance(value, (list, tuple)):
        raise FeedError(
            f"is {type(value).__name__}; expected Sequences(data, starts) or a list with one item per sequence"
        )
    if level == 1:
        parts = list(value)
    elif all(isinstance(sequence, (list, tuple)) for sequence in value):
        parts = [part for sequence in value for part in sequence]
    else:
        raise FeedError("must be a list of lists of sub-sequences, since the data layer takes nested sequences")
    if columns:
        parts = [as_csr(part, columns) for part in parts]
    elif not all(hasattr(part, "__len__") for part in parts):
        items = "sub-sequence" if level == 2 else "sequence"
        raise FeedError(f"contains scalars instead of sequences; expected a list with the rows of each {items}")
    rows = join_csr(parts) if columns else _joined(list(map(as_array, parts)))
    return Sequences(rows, _starts(parts)) if level == 1 else Sequences(rows, _starts(value), _starts(parts))


def join_csr(parts: Sequence[Csr]) -> Csr:
    """Concatenates sparse rows; a part without entries may have values or not."""
    lengths = [np.diff(part.start) for part in parts]
    start = np.cumsum([0, *np.concatenate([np.zeros(0, np.int64), *lengths])], dtype=np.int64)
    values = [part.value for part in parts if part.value is not None]
    ids = np.concatenate([np.zeros(0, np.int64), *(part.id for part in parts)])
    return Csr(start, ids, np.concatenate(values) if values else None)


def _starts(parts: Sequence[Any]) -> NDArray[np.int64]:
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)


def _joined(parts: Sequence[Array]) -> Array:
    # An empty sequence has no reliable row shape: NumPy makes `[]` one-dimensional.
    filled = [part for part in parts if part.size]
    if len({part.shape[1:] for part in filled}) > 1:
        raise FeedError(
            f"contains rows of different shapes, such as {filled[0].shape[1:]}; all rows must have the same shape"
        )
    return np.concatenate(filled) if filled else np.zeros(0, np.int64)


def as_array(given: Any) -> Array:
    """Converts to an array. Raises `FeedError` for what NumPy cannot convert, masked elements, and scalars."""
    if has_masked(given):
        raise FeedError("has masked elements; replace them: array.filled(value)")
    try:
        array = np.asarray(given)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:  # PyTorch raises the last one
        raise FeedError(
            f"cannot be converted from {type(given).__name__} to an array: {first_line(error)[:200]}"
        ) from None
    if array.ndim == 0:
        raise FeedError(f"is a scalar, {type(given).__name__}; expected an array of rows")
    return array


def checked_starts(starts: Any, total: int | None) -> NDArray[np.int64]:
    """Starts as 64-bit integers: they begin with 0, never decrease, and end with `total`. Raises `FeedError`."""
    array = as_array(starts)
    if array.ndim != 1 or array.dtype.kind not in "iu" or len(array) < 1:
        raise FeedError("has invalid `starts`: expected a 1-D array of integers")
    if array[0] != 0 or (array[1:] < array[:-1]).any() or (total is not None and array[-1] != total):
        raise FeedError(
            f"has invalid `starts`: they must begin with 0, never decrease, and end with the number of rows ({total})"
        )
    # A copy: the caller may change the array while sequences refer to it.
    return array.astype(np.int64)


def as_csr(value: Any, columns: int) -> Csr:
    """Convert lists of column indices, of (column, value) pairs, or a SciPy sparse matrix of `columns` to `Csr`.

    Returns:
        Rows with valid starts; the range of columns is checked by the data layer.

    Raises:
        FeedError: The value has another form.
    """
    if isinstance(value, Csr):
        ids = as_array(value.id)
        values = None if value.value is None else as_array(value.value)
        if ids.ndim != 1 or (values is not None and values.shape != ids.shape):
            raise FeedError("must have one column index, and one value, per entry")
        return Csr(checked_starts(value.start, len(ids)), ids, values)
    if hasattr(value, "tocsr"):
        matrix = value.tocsr()
        if matrix.shape[1] != columns:
            raise FeedError(f"is a matrix with {matrix.shape[1]} columns; expected {columns}")
        return as_csr(Csr(matrix.indptr, matrix.indices.astype(np.int64), matrix.data), columns)
    if not isinstance(value, (list, tuple)) or not all(isinstance(row, Iterable) for row in value):
        raise FeedError(
            f"is {type(value).__name__}; expected Csr(start, id), lists of columns, or a SciPy sparse matrix"
        )
    rows = list(map(list, value))
    entries = [entry for row in rows for entry in row]
    if entries and all(isinstance(entry, tuple) and len(entry) == 2 for entry in entries):
        indices, numbers = zip(*entries, strict=True)
        return Csr(_starts(rows), as_array(indices), as_array(numbers))
    return Csr(_starts(rows), as_array(entries) if entries else np.zeros(0, np.int64))
