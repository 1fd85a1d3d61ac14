"""Lazy columns: fields whose rows are in files and are read on demand, by several threads at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .problems import DataError

Array = NDArray[Any]
Rows = NDArray[np.int64]
Shape = tuple[int, ...]

AT_ONCE = 4096
"""Number of rows per read where all are scanned."""

MOST_BLOCKS = 8
"""Maximum number of blocks that are shuffled together, if memory allows."""


class BadRecords(DataError):
    """Records of a batch that cannot be read: what is wrong with each, with its file and key, by its row."""

    def __init__(self, problems: Mapping[int, str]) -> None:
        super().__init__(next(iter(problems.values())))
        self.problems = dict(problems)


class StoredColumn:
    """A lazily loaded field, such as the images of a folder.

    Args:
        read: Called as `read(rows)`, concurrently by threads; returns an array `(rows, *shape)`, sequences as a
            `SequenceColumn` if the `level` is 1, or strings as a list. It raises `BadRecords`, and `DataError` for an
            error that affects all records.
        count: Number of rows.
        shape: Shape of a row.
        dtype: Data type of the values; `object` for strings.
        level: Sequence level of a row: 0, or 1 for sequences.
        together: Number of rows per read where all are scanned.
        remedy: Called as `remedy(wanted, result, shape)`; returns the fix for a data layer whose shape differs from
            that of the rows after the transforms.

    Example::

        StoredColumn(lambda rows: np.stack([load_image(row) for row in rows]), 1000, (3, 32, 32), np.float32)
    """

    def __init__(
        self,
        read: Callable[[Rows], Any],
        count: int,
        shape: Sequence[int],
        dtype: DTypeLike,
        *,
        level: int = 0,
        together: int = AT_ONCE,
        remedy: Callable[[Shape, Shape, Shape], str] | None = None,
    ) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.shape = (count, *shape)
        self.level, self.together, self.remedy = level, together, remedy
        self.skip = False
        """Whether `parts` and `whole` skip unreadable records."""
        self._read = read

    def __len__(self) -> int:
        return self.shape[0]

    def take(self, rows: Rows, change: Callable[[Array, Rows], Array] | None = None) -> Any:
        """Read some rows.

        Args:
            rows: Indices of the rows.
            change: Called as `change(items, row of every item)`; may alter the items.

        Returns:
            An array `(rows, *shape)`, a list of strings, or `Sequences` if the level is 1.

        Raises:
            BadRecords: Records cannot be read.
            DataError: An error affects all records.
        """
        found = self._read(rows)
        if self.level:
            return found.take(np.arange(len(rows)), change and (lambda items, owners: change(items, rows[owners])))
        return found if change is None else change(found, rows)

    def then(
        self, change: Callable[[Any], Any], shape: Sequence[int], dtype: DTypeLike, level: int = 0
    ) -> StoredColumn:
        """A lazily loaded field computed from this one.

        Args:
            change: Computes rows of the new field from rows of this one.
            shape: Shape of a row of the new field.
            dtype: Data type of its values.
            level: Its sequence level.

        Returns:
            The new field.
        """

        def read(rows: Rows) -> Any:
            return change(self._read(rows))

        return StoredColumn(read, len(self), shape, dtype, level=level, together=self.together)

    def parts(self, rows: Rows) -> Iterator[Any]:
        """Read rows in parts of at most `together` rows.

        Args:
            rows: Indices of the rows.

        Returns:
            The parts in order; with `skip`, without unreadable records.

        Raises:
            BadRecords: Records cannot be read, and `skip` is not set; raised by the iteration.
        """
        return (values for _, values in self._good_parts(rows))

    def whole(self) -> Array:
        """Read all rows of a field of single numbers or words.

        Returns:
            The values, (count, ...); with `skip`, zeros or empty words for unreadable records.

        Raises:
            BadRecords: Records cannot be read, and `skip` is not set.
        """
        values = np.full(len(self), "", object) if self.dtype == object else np.zeros(self.shape, self.dtype)
        for rows, found in self._good_parts(np.arange(len(self))):
            values[rows] = found
        return values.astype(str) if self.dtype == object else values

    def checked(self, check: Callable[[Any, Rows], None]) -> StoredColumn:
        """The same field with a check of the rows that are read.

        Args:
            check: Called as `check(values, rows)`; may raise `BadRecords`.

        Returns:
            The field with the check.
        """

        def read(rows: Rows) -> Any:
            found = self._read(rows)
            check(found, rows)
            return found

        options: dict[str, Any] = {"level": self.level, "together": self.together, "remedy": self.remedy}
        return StoredColumn(read, len(self), self.shape[1:], self.dtype, **options)

    def _good_parts(self, rows: Rows) -> Iterator[tuple[Rows, Any]]:
        for first in range(0, len(rows), self.together):
            part = rows[first : first + self.together]
            while len(part):
                try:
                    found = self._read(part)
                except BadRecords as error:
                    if not self.skip:
                        raise
                    part = part[~np.isin(part, list(error.problems))]
                else:
                    yield part, found
                    break


class RowBlocks(NamedTuple):
    """Rows that are read as a whole: where they start, and the end; and how many of them memory holds."""

    starts: Rows
    together: int = MOST_BLOCKS


class RecordReader:
    """Reads records of several fields together: a thread keeps its last batch for the next field."""

    def __init__(self, read: Callable[[Rows], Mapping[str, Any]]) -> None:
        self._read, self._last = read, threading.local()

    def column(self, name: str, count: int, shape: Sequence[int], dtype: DTypeLike, **options: Any) -> StoredColumn:
        """One of the fields. `BadRecords` among its values are raised when these are requested."""

        def read(rows: Rows) -> Any:
            found = self._of(rows)[name]
            if isinstance(found, BadRecords):
                raise found
            return found

        return StoredColumn(read, count, shape, dtype, **options)

    def _of(self, rows: Rows) -> Mapping[str, Any]:
        kept: tuple[Rows, Mapping[str, Any]] | None = getattr(self._last, "batch", None)
        if kept is None or kept[0] is not rows:
            kept = self._last.batch = rows, self._read(rows)
        return kept[1]


def read_together(rows: Rows, read: Callable[[Sequence[int]], Any]) -> Any:
    """The result of `read` for the rows. Raises `BadRecords` with the rows that raise `DataError` alone."""
    try:
        return read(rows.tolist())
    except DataError:
        problems = {}
        for row in rows.tolist():
            try:
                read([row])
            except DataError as error:
                problems[row] = str(error)
        if not problems:
            raise
        raise BadRecords(problems) from None


def read_each(rows: Rows, read: Callable[[int], Any]) -> list[Any]:
    """The results of `read` for each row. Raises `BadRecords` with all rows that raised it."""
    found: list[Any] = []
    problems: dict[int, str] = {}
    for row in rows.tolist():
        try:
            found.append(read(row))
        except BadRecords as error:
            problems |= error.problems
    if problems:
        raise BadRecords(problems)
    return found
