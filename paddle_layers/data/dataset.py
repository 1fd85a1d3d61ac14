"""Data sets: named fields with the same number of rows, in memory, memory-mapped or lazy."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from paddle_layers.define.decimals import number_of
from paddle_layers.define.errors import brief, first_line, has_masked

from .columns import Array, Column, GapColumn, Rows, SequenceColumn, SparseColumn, WordColumn, checked_starts
from .lazy_columns import BadRecords, RowBlocks, StoredColumn
from .problems import DataError


class Dataset:
    """Named fields with the same number of rows.

    A field is an array whose first axis counts rows, a SciPy sparse matrix, a `SequenceColumn`, a `SparseColumn` or a
    `StoredColumn`. In a mapping of arrays sequences and sparse rows are spelled by suffixes, as in an npz file: `words`
    and `words.starts` are sequences (with `words.sub_starts`, nested ones); `words.ids` and `words.starts`, with or
    without `words.values`, are sparse rows. Sequences of sparse rows have `words.ids`, `words.row_starts` and
    `words.starts`. Columns of words, and of numbers with missing values, are in `raw` until they are encoded.

    Args:
        arrays: Fields by name.
        origin: Name of the data in messages.
        place: Returns the origin of a row for messages, such as ``iris.csv:12``.
        words: Vocabulary by field of ids, as far as it is known.
        unknown: By field, a row with an out-of-vocabulary word, and the word.
        columns: Names of the columns by field.
        remedies: How to fix a missing field, by its name.
        blocks: Rows that are read as a whole.
        bad: Reasons by unreadable row, if such rows are to be skipped: their values are arbitrary.
        note: Warning for the user.
        word_fields: Fields whose ids represent words; by default those with words or a vocabulary.
        targets: Fields that losses and metrics compare with.

    Raises:
        DataError: There are no fields or no rows, or the fields differ in their number of rows.

    Example::

        data = pl.Dataset({"image": np.zeros((100, 784), np.float32), "label": np.zeros(100, np.int64)})
    """

    def __init__(
        self,
        arrays: Mapping[str, Any],
        *,
        origin: str = "the data",
        place: Callable[[int], str] | None = None,
        words: Mapping[str, Sequence[str]] | None = None,
        unknown: Mapping[str, tuple[int, str]] | None = None,
        columns: Mapping[str, Sequence[str]] | None = None,
        remedies: Mapping[str, str] | None = None,
        blocks: RowBlocks | None = None,
        bad: Mapping[int, str] | None = None,
        note: str = "",
        word_fields: frozenset[str] | None = None,
        targets: frozenset[str] = frozenset(),
    ) -> None:
        if not isinstance(arrays, Mapping):
            raise DataError(f"{origin} must be a dict of arrays by field, not {brief(arrays)}")
        self.bad, self.note, self.targets = dict(bad or {}), note, targets
        self.origin, self.remedies, self.blocks = origin, dict(remedies or {}), blocks
        self.shape_remedies: dict[str, str] = {}
        """How to fix another shape of a field that users do not store; `{type}` is the type of the data layer."""
        self.unknown = dict(unknown or {})
        self.columns = {field: tuple(names) for field, names in (columns or {}).items()}
        self.words = {
            field: listed if isinstance(listed, tuple) else tuple(listed) for field, listed in (words or {}).items()
        }
        for field, names in self.words.items():
            check_unique(names, field, origin)
        mapped = {str(array.filename) for array in arrays.values() if isinstance(array, np.memmap) and array.filename}
        self._mapped = {name: _state(name) for name in mapped}
        self.raw = {name: column for name, column in arrays.items() if isinstance(column, (WordColumn, GapColumn))}
        of_words = {name for name, column in self.raw.items() if isinstance(column, WordColumn)}
        listed_words = {name for name, listed in self.words.items() if listed}
        self.word_fields = frozenset(of_words | listed_words) if word_fields is None else word_fields
        """Fields whose ids represent words."""
        numbers = {name: column for name, column in arrays.items() if name not in self.raw}
        self.fields: dict[str, Column] = _columns(numbers, origin)
        self._place = place
        self.strict_names = False
        """Whether it is an error if only the training data name the ids of a field, as for files, and no warning."""
        self.file_of: Callable[[int], str] | None = None
        """Returns the file of a row, if every row is a file, such as an image; its series, if it is one."""
        self.file_title = "file"
        """The kind of these names: `file` or `series`."""
        self.unread: list[str] = []
        """Names of further fields of the source, which are not opened, for messages."""
        lengths = {name: len(column) for name, column in (self.fields | self.raw).items()}
        if not lengths:
            raise DataError(f"{origin} has no fields; pass at least one array")
        self._rows = next(iter(lengths.values()))
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"`{name}` has {count}" for name, count in lengths.items())
            raise DataError(f"{origin}: all fields must have the same number of rows, but {listed}")
        if self._rows == 0:
            raise DataError(f"{origin} has no rows")

    def __len__(self) -> int:
        return self._rows

    @property
    def is_stored(self) -> bool:
        """Whether rows are read when they are wanted."""
        return any(isinstance(column, StoredColumn) for column in self.fields.values())

    def skip_bad(self, *, skip: bool) -> None:
        """Set whether unreadable records are skipped where all rows are read.

        Args:
            skip: Whether they are skipped; otherwise they are errors.
        """
        raw = (column.cells if isinstance(column, WordColumn) else column.values for column in self.raw.values())
        for column in (*raw, *self.fields.values()):
            if isinstance(column, StoredColumn):
                column.skip = skip

    def set_targets(self, fields: Container[str], *, skip: bool = False) -> None:
        """Set the fields that are targets or labels, in which an empty word is a missing value and no class.

        Args:
            fields: Names of the fields; those that the data lack are ignored.
            skip: Whether a row with an empty word becomes `bad`; in lazily loaded fields it is always a bad record.

        Raises:
            DataError: A target has an empty word.
        """
        self.targets = frozenset(name for name in (*self.fields, *self.raw) if name in fields)
        for name in self.targets & self.raw.keys():
            column = self.raw[name]
            if not isinstance(column, WordColumn):
                continue
            if isinstance(column.cells, StoredColumn):
                self.raw[name] = WordColumn(column.cells.checked(partial(self._check_words, name)), text=column.text)
                continue
            try:
                self._check_words(name, column.cells, np.arange(len(column)))
            except BadRecords as error:
                if not skip or len(error.problems) == len(column):
                    raise DataError(str(error)) from None
                self.bad |= error.problems
                good = next(row for row in range(len(column)) if row not in self.bad)
                cells = [column.cells[good] if row in error.problems else cell for row, cell in enumerate(column.cells)]
                self.raw[name] = WordColumn(cells, text=column.text)

    def _check_words(self, name: str, words: Sequence[str], rows: Rows) -> None:
        empty = {
            row: f"{self.place(row)}: `{name}` is empty, but it is a target; fill in the word or remove the row"
            for row, word in zip(rows.tolist(), words, strict=True)
            if not word.strip()
        }
        if empty:
            raise BadRecords(empty)

    def check_unchanged(self) -> None:
        """Check that memory-mapped files have not been modified: reading one that was truncated would end the process.

        A file that another one was renamed over is still readable.

        Raises:
            DataError: A file was modified.
        """
        for name, before in self._mapped.items():
            now = _state(name)
            if now != before and now[:1] == before[:1]:
                raise DataError(
                    f"{name} was modified while in use; write a new file and rename it over this one instead"
                )

    def place(self, row: int) -> str:
        """Origin of a row, for messages.

        Args:
            row: Index of the row.

        Returns:
            File and line where possible, otherwise the number of the row.
        """
        return self._place(row) if self._place else f"{self.origin}, row {row}"

    def rows(self, index: Rows) -> dict[str, Any]:
        """Rows of every field, as `Net.forward` takes them.

        Args:
            index: Indices of the rows, (rows,).

        Returns:
            Arrays (rows, ...), `Sequences` or `Csr` by field.
        """
        return {
            name: column[index] if isinstance(column, np.ndarray) else column.take(index)
            for name, column in self.fields.items()
        }

    def batches(self, batch_size: int, *, seed: int | None = None) -> Iterator[dict[str, Any]]:
        """One pass over all rows, for a custom training loop.

        Args:
            batch_size: Number of rows of a batch; the last one has those that remain.
            seed: Seed of the order of the rows; None for that of the data.

        Returns:
            The batches, as `Net.forward` takes them.

        Raises:
            TypeError: `batch_size` or `seed` is not an integer.
            ValueError: `batch_size` is not positive, or a field has words, which have no ids yet.

        Example::

            for batch in data.batches(32, seed=epoch):
                net.forward(batch)
        """
        for name, value in (("batch_size", batch_size), ("seed", 0 if seed is None else seed)):
            if not hasattr(value, "__index__"):
                raise TypeError(f"`{name}` must be an integer, not {brief(value)}")
        if batch_size < 1:
            raise ValueError(f"`batch_size` is {batch_size}, expected at least 1")
        if self.raw:
            raise ValueError(f"the field `{next(iter(self.raw))}` has words or missing values; pass numbers and ids")
        order = np.arange(len(self)) if seed is None else np.random.default_rng(seed).permutation(len(self))
        return (self.rows(order[first : first + batch_size]) for first in range(0, len(self), batch_size))


def check_unique(names: Sequence[str], field: str, origin: str) -> None:
    """`DataError` for a name of two ids. Ids without a piece, which vocabularies of tokenizers have, are called ""."""
    if len(set(names)) == len(names):
        return
    seen: set[str] = set()
    for name in filter(None, names):
        if name in seen:
            raise DataError(f"{origin}: duplicate name {name!r} of field `{field}`")
        seen.add(name)


def _state(name: str) -> tuple[int, ...]:
    """Identity, size and modification time of a file; empty if it does not exist."""
    with contextlib.suppress(OSError):
        found = os.stat(name)
        return found.st_ino, found.st_size, found.st_mtime_ns
    return ()


def _columns(arrays: Mapping[str, Any], origin: str) -> dict[str, Column]:
    if other := [name for name in arrays if not isinstance(name, str)]:
        raise DataError(f"{origin}: names of fields must be strings, got {brief(other[0])}")
    parts = [part for name, value in arrays.items() for part in _parts(name, value)]
    given = {name: _given(value, name, origin) for name, value in parts}
    columns: dict[str, Column] = {}
    for name, value in given.items():
        field, _, part = name.rpartition(".")
        if field and part in ("starts", "row_starts", "sub_starts", "values"):
            if field not in given and f"{field}.ids" not in given:
                raise DataError(f"{origin}: `{name}` requires `{field}` or `{field}.ids`")
        elif field and part == "ids":
            sparse = _sparse(given, field, origin)
            in_sequences = f"{field}.row_starts" in given
            columns[field] = _sequences(given, field, sparse, origin) if in_sequences else sparse
        elif isinstance(value, SequenceColumn):
            columns[name] = value
        else:
            rows = _array(value, name, origin) if isinstance(value, np.ndarray) else value
            columns[name] = _sequences(given, name, rows, origin) if f"{name}.starts" in given else rows
    return columns


def _parts(name: str, value: Any) -> list[tuple[str, Any]]:
    """Sequences as a net takes them: rows and starts by the names that they have in a file."""
    if isinstance(value, (np.ndarray, SequenceColumn, SparseColumn, StoredColumn)):
        return [(name, value)]
    from paddle_layers.runtime.batch.values import Csr, Sequences  # half a second, which data of files do without

    if not isinstance(value, Sequences):
        return [(name, value)]
    rows = value.data
    parts = {name: rows, f"{name}.starts": value.starts, f"{name}.sub_starts": value.sub_starts}
    if isinstance(rows, Csr):
        del parts[name]
        parts |= {f"{name}.ids": rows.id, f"{name}.row_starts": rows.start, f"{name}.values": rows.value}
    return [(part, array) for part, array in parts.items() if array is not None]


def _given(value: Any, name: str, origin: str) -> Any:
    """A column as it is, a SciPy matrix as sparse rows with values, anything else as an array."""
    if isinstance(value, (SequenceColumn, SparseColumn, StoredColumn)):
        return value
    if hasattr(value, "tocsr"):
        matrix = value.tocsr()
        return SparseColumn(
            matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64), matrix.data, matrix.shape[1]
        )
    if has_masked(value):
        raise DataError(f"{origin}: field `{name}` has masked elements; array.filled(value) replaces them")
    try:
        return np.asanyarray(value)
    except ValueError:  # NumPy's word is about shapes, and such lists are sequences
        raise DataError(
            f"{origin}: field `{name}` contains lists of different lengths; for sequences use "
            "Sequences(data, starts): the concatenated rows, and the start of each sequence"
        ) from None
    except (TypeError, RuntimeError) as error:  # of a tensor of PyTorch, which says what to do
        raise DataError(f"{origin}: field `{name}` cannot be converted to an array: {first_line(error)}") from None


def _array(value: Any, name: str, origin: str) -> Array:
    if value.dtype.kind not in "fiub":
        kind = "Python objects" if value.dtype.kind == "O" else str(value.dtype)
        meant = _meant(value, name)
        raise DataError(f"{origin}: field `{name}` contains {kind}, expected numbers{meant}")
    if value.ndim == 0:
        raise DataError(f"{origin}: field `{name}` is a scalar; the first axis must be the samples")
    if len(value) and not value.size:  # a few bytes of a file may claim any number of such rows
        raise DataError(f"{origin}: field `{name}` has empty samples of shape {value.shape[1:]}")
    return np.asarray(value)


def _meant(value: Array, name: str) -> str:
    """The fix for an array of strings: numbers are converted, ids need a vocabulary."""
    if value.dtype.kind not in "USO":
        return ""
    texts = [text.decode("latin-1") if isinstance(text, bytes) else text for text in value.ravel()[:1000].tolist()]
    if other := [place for place, text in enumerate(texts) if not isinstance(text, str)]:
        return f", such as {brief(texts[other[0]])} in item {other[0]}; for words, use strings only"
    if not texts:
        return ""
    if all(number_of(text) is not None for text in texts):
        return f"; convert numeric strings: store {name}.astype(float)"
    return "; for words, pass one string per row; in batches, pass ids"


def _sequences(given: Mapping[str, Any], name: str, rows: Array | SparseColumn, origin: str) -> SequenceColumn:
    if f"{name}.starts" not in given:
        raise DataError(f"{origin}: `{name}.row_starts` requires `{name}.starts`, the start of each sequence")
    sub_name, sub_starts, parts = f"{name}.sub_starts", None, len(rows)
    if sub_name in given:
        sub_starts = checked_starts(given[sub_name], parts, sub_name, origin)
        parts = len(sub_starts) - 1
    return SequenceColumn(rows, checked_starts(given[f"{name}.starts"], parts, f"{name}.starts", origin), sub_starts)


def _sparse(given: Mapping[str, Any], field: str, origin: str) -> SparseColumn:
    ids = _array(given[f"{field}.ids"], f"{field}.ids", origin)
    name = f"{field}.row_starts" if f"{field}.row_starts" in given else f"{field}.starts"
    if name not in given:
        raise DataError(f"{origin}: `{field}.ids` requires `{field}.starts`, the start of each row")
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise DataError(
            f"{origin}: `{field}.ids` must be a 1-D array of integers, got {ids.dtype} of shape {ids.shape}"
        )
    values = given.get(f"{field}.values")
    if values is not None:
        values = _array(values, f"{field}.values", origin)
    if values is not None and values.shape != ids.shape:
        raise DataError(f"{origin}: `{field}.values` has shape {values.shape}, but `{field}.ids` has {ids.shape}")
    return SparseColumn(ids, checked_starts(given[name], len(ids), name, origin), values)
