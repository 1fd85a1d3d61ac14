"""Columns of a data set: plain arrays, concatenated sequences, and values that are not encoded yet, such as text."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .lazy_columns import BadRecords, StoredColumn
from .problems import DataError

if TYPE_CHECKING:
    from paddle_layers.runtime.batch.values import Csr, Sequences

PUNCTUATION = {
    "keep": "part of the words",
    "remove": "removed: `don't.` becomes `dont`",
    "separate": "each is a word: `don't.` becomes `don`, `'`, `t`, `.`",
}
"""Handling of punctuation marks and symbols, with descriptions."""
Array = NDArray[Any]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Vocabulary:
    """Settings of text columns: how text is split into words, and which of them have an id.

    Args:
        lowercase: Whether text is converted to lower case.
        punctuation: "keep", "remove", or "separate" for words of one character.
        min_count: Minimum frequency of a word.
        max_words: Maximum number of words; 0 for any.
    """

    lowercase: bool = False
    punctuation: str = "keep"
    min_count: int = 1
    max_words: int = 0

    def split(self, text: str) -> list[str]:
        """The words of a string."""
        if self.lowercase:
            text = text.lower()
        if self.punctuation != "keep":
            marks = filter(_is_punctuation, set(text))
            text = text.translate({ord(mark): "" if self.punctuation == "remove" else f" {mark} " for mark in marks})
        return text.split()

    def select(self, counts: Counter[str]) -> list[str]:
        """The words with an id in the order of their ids: by frequency, then alphabetically."""
        words = sorted(counts, key=lambda word: (-counts[word], word))
        frequent = [word for word in words if counts[word] >= self.min_count]
        return frequent[: self.max_words] if self.max_words else frequent


@lru_cache(maxsize=1 << 16)
def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def gather(starts: Array, rows: Rows) -> tuple[Rows, Rows]:
    """Positions of the items of `rows` in the stored data, and the starts of the rows in a batch of only these."""
    first, lengths = starts[rows].astype(np.int64), (starts[rows + 1] - starts[rows]).astype(np.int64)
    taken = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(lengths, out=taken[1:])
    return np.repeat(first - taken[:-1], lengths) + np.arange(taken[-1]), taken


def joined_starts(parts: Sequence[Array]) -> Rows:
    """Starts of one batch appended to those of another."""
    ends = np.cumsum([0, *(part[-1] for part in parts[:-1])])
    return np.concatenate([parts[0][:1], *(part[1:] + end for part, end in zip(parts, ends, strict=True))])


def checked_starts(starts: Array, total: int, name: str, origin: str) -> Rows:
    """`starts` as 64-bit integers: begins with 0, never falls, ends with `total`; else `DataError`."""
    if starts.ndim != 1 or len(starts) < 1 or starts.dtype.kind not in "iu":
        raise DataError(
            f"{origin}: `{name}` must be a 1-D array of integers, got {starts.dtype} of shape {starts.shape}"
        )
    whole = starts.astype(np.int64)
    falls = np.flatnonzero(np.diff(whole) < 0)
    if whole[0] != 0 or whole[-1] != total or len(falls):
        place = f"decreases after index {falls[0]}" if len(falls) else f"goes from {whole[0]} to {whole[-1]}"
        raise DataError(f"{origin}: `{name}` {place}; starts must not decrease and go from 0 to {total}")
    return whole


class SparseColumn:
    """Rows that name the columns that are set: `ids[starts[r]:starts[r + 1]]`, with `values` unless these are ones.

    Args:
        ids: Columns of the entries, (entries,).
        starts: Offsets of the rows and the total, (rows + 1,).
        values: Values of the entries, (entries,); None for ones.
        columns: Number of columns of the matrix; None if it is unknown.

    Example::

        SparseColumn(np.array([7, 2, 9]), np.array([0, 1, 3]))  # row 0 sets column 7, row 1 sets 2 and 9
    """

    level = 0

    def __init__(self, ids: Array, starts: Array, values: Array | None = None, columns: int | None = None) -> None:
        self.ids, self.starts, self.values, self.columns = ids, starts, values, columns
        self.dtype, self.shape = ids.dtype, (len(starts) - 1,)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return sum(one.nbytes for one in (self.ids, self.starts, self.values) if one is not None)

    def row_of_item(self, item: int) -> int:
        """Row of an entry.

        Args:
            item: Index in `ids`.

        Returns:
            Index of the row.
        """
        return int(np.searchsorted(self.starts, item, "right")) - 1

    def take(self, rows: Rows) -> Csr:
        """Sparse rows at some indices.

        Args:
            rows: Indices of the rows.

        Returns:
            The rows, in this order.
        """
        from paddle_layers.runtime.batch.values import Csr

        items, starts = gather(self.starts, rows)
        return Csr(starts, self.ids[items], None if self.values is None else self.values[items])


class SequenceColumn:
    """Concatenated sequences: row r has the items `starts[r]` to `starts[r + 1]` of `data`.

    Nested: row r has the sub-sequences `starts[r]` to `starts[r + 1]`, and `sub_starts` splits `data` into these. The
    items may be sparse rows.

    Args:
        data: Items of all sequences, (items, ...), or sparse rows.
        starts: Offsets of the sequences and the total, (rows + 1,).
        sub_starts: For nested sequences, offsets of the sub-sequences and the total.

    Example::

        SequenceColumn(np.array([4, 8, 1, 5, 9]), np.array([0, 2, 5]))  # two sequences of 2 and 3 ids
    """

    def __init__(self, data: Array | SparseColumn, starts: Array, sub_starts: Array | None = None) -> None:
        self.data, self.starts, self.sub_starts = data, starts, sub_starts
        self.dtype, self.shape = data.dtype, (len(starts) - 1, *data.shape[1:])
        self.level = 1 if sub_starts is None else 2

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return sum(one.nbytes for one in (self.data, self.starts, self.sub_starts) if one is not None)

    def row_of_item(self, item: int) -> int:
        """Row of an item.

        Args:
            item: Index in `data`; for sparse data, of an entry.

        Returns:
            Index of the row.
        """
        if isinstance(self.data, SparseColumn):
            item = self.data.row_of_item(item)
        if self.sub_starts is not None:
            item = int(np.searchsorted(self.sub_starts, item, "right")) - 1
        return int(np.searchsorted(self.starts, item, "right")) - 1

    def take(self, rows: Rows, change: Callable[[Array, Rows], Array] | None = None) -> Sequences:
        """Sequences of some rows.

        Args:
            rows: Indices of the rows.
            change: Called as `change(items, row of every item)`; may alter items that are not sparse.

        Returns:
            The sequences, in this order.
        """
        from paddle_layers.runtime.batch.values import Sequences

        items, starts = gather(self.starts, rows)
        owners = np.repeat(rows, np.diff(starts))
        sub_starts = None
        if self.sub_starts is not None:
            owners = np.repeat(owners, (self.sub_starts[items + 1] - self.sub_starts[items]).astype(np.int64))
            items, sub_starts = gather(self.sub_starts, items)
        if isinstance(self.data, SparseColumn):
            return Sequences(self.data.take(items), starts, sub_starts)
        data = self.data[items]
        return Sequences(data if change is None else change(data, owners), starts, sub_starts)


def equal_sequences(column: Column, rank: int) -> Column:
    """An array (samples, steps, ...), whose steps have `rank` axes, as sequences; any other column as it is."""
    if not isinstance(column, (np.ndarray, StoredColumn)) or (isinstance(column, StoredColumn) and column.level):
        return column
    if column.dtype.kind not in "fiub" or len(column.shape) != 2 + rank:
        return column
    if isinstance(column, StoredColumn):
        return column.then(_joined, column.shape[2:], column.dtype, level=1)
    return _joined(column)


def _joined(values: Array) -> SequenceColumn:
    count, steps = values.shape[:2]
    return SequenceColumn(values.reshape(count * steps, *values.shape[2:]), np.arange(count + 1) * steps)


def equal_rows(column: Column, dims: Sequence[int], place: Callable[[int], str]) -> Column:
    """Sequences that have as many numbers as a sample with the axes `dims`, as arrays; any other column as it is."""
    # Lists of pandas and Parquet do not say that they have one length. The first one decides for those that are read
    # later, of which others are bad records.
    if isinstance(column, (np.ndarray, SparseColumn)) or column.level != 1 or not dims or sparse_part(column):
        return column
    steps, odd = divmod(math.prod(dims), math.prod(column.shape[1:]) or 1)
    first = column.take(np.zeros(1, np.int64)) if isinstance(column, StoredColumn) else column
    if odd or not (np.diff(first.starts) == steps).all():
        return column
    if isinstance(column, SequenceColumn):
        return _stacked(column, steps)

    def check(found: SequenceColumn, rows: Rows) -> None:
        counts = np.diff(found.starts)
        wrong = {int(row): int(count) for row, count in zip(rows, counts, strict=True) if count != steps}
        if wrong:
            what = "the list has {} items, but {} in the first row"
            raise BadRecords({row: f"{place(row)}: {what.format(count, steps)}" for row, count in wrong.items()})

    return column.checked(check).then(partial(_stacked, steps=steps), (steps, *column.shape[1:]), column.dtype)


def _stacked(column: SequenceColumn, steps: int) -> Array:
    assert isinstance(column.data, np.ndarray), "not sparse"
    return column.data.reshape(len(column), steps, *column.data.shape[1:])


class WordColumn:
    """A word in every row, or with `text` any number of words; they become ids by a dictionary."""

    def __init__(self, cells: Sequence[str] | StoredColumn, *, text: Vocabulary | None = None) -> None:
        self.cells, self.text = cells, text

    def __len__(self) -> int:
        return len(self.cells)

    def counts(self, rows: Rows) -> Counter[str]:
        """The frequency of each word."""
        if isinstance(self.cells, StoredColumn):
            chosen = (cell for part in self.cells.parts(rows) for cell in part)
        else:
            chosen = (self.cells[row] for row in rows.tolist())
        return Counter(word for cell in chosen for word in self.text.split(cell)) if self.text else Counter(chosen)


class GapColumn:
    """Rows of numbers in which NaN is a missing value, imputed with the mean or the median of the column.

    Args:
        values: The numbers, (rows, columns).
        names: Names of the columns.
        methods: For each column "mean", "median", "mark" for the mean and an indicator column, which is 1 where a
            number was missing and 0 otherwise, or "refuse" for a column without missing values. The indicator columns
            follow all other columns.
        starts: Offsets of sequences of rows and the total; None if each row is a sample.
    """

    def __init__(
        self, values: Array | StoredColumn, names: Sequence[str], methods: Sequence[str], starts: Rows | None = None
    ) -> None:
        self.values, self.names, self.methods, self.starts = values, names, tuple(methods), starts

    @property
    def marked(self) -> list[int]:
        """Positions of the columns with an indicator column."""
        return [at for at, method in enumerate(self.methods) if method == "mark"]

    def __len__(self) -> int:
        return len(self.values) if self.starts is None else len(self.starts) - 1


Column = Array | SequenceColumn | SparseColumn | StoredColumn
RawColumn = WordColumn | GapColumn
"""A column that is converted to numbers when the training data are known; see `fitted_preprocessing.py`."""


def sparse_part(column: Column) -> SparseColumn | None:
    """The sparse rows of a field, in sequences or not; None if it has no sparse rows."""
    data = column.data if isinstance(column, SequenceColumn) else column
    return data if isinstance(data, SparseColumn) else None


def size_of(value: Any) -> int:
    """Bytes of the arrays of a batch: of an array, of sequences, of sparse rows, of a mapping of these."""
    if value is None or isinstance(value, (int, str)):
        return 0
    if hasattr(value, "nbytes"):
        return int(value.nbytes)
    return sum(map(size_of, value.values() if isinstance(value, dict) else vars(value).values()))
