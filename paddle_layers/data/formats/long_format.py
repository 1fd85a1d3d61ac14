"""Long format of tables: one row per step; the rows of a series are a sequence."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.decimals import number_of

from ..columns import GapColumn, Rows, SequenceColumn, Vocabulary, WordColumn
from ..problems import DataError
from .dates import parsed_date
from .table_cells import TableCells

_BETWEEN = "\0"
"""Separator of the words of a series."""


class _Steps(Vocabulary):
    """Words of single cells, one per step, with ids in alphabetical order as those of other single cells."""

    def split(self, text: str) -> list[str]:
        return text.split(_BETWEEN)

    def select(self, counts: Any) -> list[str]:
        return sorted(counts)


@dataclass(frozen=True)
class Series:
    """The series of a table that was read, in the order of their first rows."""

    table: TableCells
    names: list[str]
    rows: Rows
    """The rows of all series, one series after another."""
    starts: Rows

    @property
    def first(self) -> Rows:
        """The first row of each series."""
        return self.rows[self.starts[:-1]]

    def place(self, series: int) -> str:
        """Origin of a series, for messages."""
        return f"{self.table.place(int(self.first[series]))} (series {self.names[series]!r})"

    def grouped(self, name: str, column: Any, sequences: Container[str] | None) -> Any:
        """The column of a field with one sample per series: sequences, if the field is one of `sequences`."""
        if isinstance(column, WordColumn) and column.text is not None:
            return self._constants(name, column)
        return self._steps(name, column) if sequences is None or name in sequences else self._constants(name, column)

    def _steps(self, name: str, column: Any) -> Any:
        """A column with one value per step as sequences."""
        if isinstance(column, WordColumn):
            words: Any = column.cells
            cells = [words[row] for row in self.rows]
            if wrong := [row for row, cell in zip(self.rows, cells, strict=True) if _BETWEEN in cell]:
                raise DataError(f"{self.table.place(int(wrong[0]))}: field `{name}` contains a null character")
            bounds = zip(self.starts[:-1], self.starts[1:], strict=True)
            return WordColumn([_BETWEEN.join(cells[start:end]) for start, end in bounds], text=_Steps())
        if isinstance(column, GapColumn):
            numbers: Any = column.values
            return GapColumn(numbers[self.rows], column.names, column.methods, self.starts)
        return SequenceColumn(column[self.rows], self.starts)

    def _constants(self, name: str, column: Any) -> Any:
        """A column with one value per series. Raises `DataError` where the rows of a series differ."""
        values: Any = column.values if isinstance(column, GapColumn) else column
        if isinstance(column, WordColumn):
            values = np.array(column.cells, object)
        repeated = np.repeat(self.first, np.diff(self.starts))
        same = values[self.rows] == values[repeated]
        if values.dtype.kind == "f":
            same |= np.isnan(values[self.rows]) & np.isnan(values[repeated])
        if len(different := np.flatnonzero(~same.all(axis=tuple(range(1, same.ndim))))):
            row, first = self.rows[different[0]], repeated[different[0]]
            raise DataError(
                f"{self.table.place(int(row))}: field `{name}` is {_shown(values[row])}, but {_shown(values[first])} "
                f"in {self.table.place(int(first))} of the same series; for one value per step, add "
                "`seq_nested_level: 1` to the data layer"
            )
        if isinstance(column, WordColumn):
            return WordColumn(values[self.first].tolist(), text=column.text)
        if isinstance(column, GapColumn):
            return GapColumn(values[self.first], column.names, column.methods)
        return column[self.first]


def group_rows(table: TableCells, column: int, words: Iterable[str]) -> Series:
    """The series of a table by the words of the column that names them. `DataError` for a row without a series."""
    numbers: dict[str, int] = {}
    owners = np.fromiter((numbers.setdefault(word, len(numbers)) for word in words), np.int64)
    if "" in numbers:
        row = int(np.argmax(owners == numbers[""]))
        raise DataError(f"{table.cell(row, column)}: {table.empty}; write the name of the series in every row")
    rows = np.argsort(owners, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(owners))]).astype(np.int64)
    return Series(table, list(numbers), rows, starts)


def check_times(series: Series, column: int, notation: str) -> None:
    """Raises `DataError` for times that do not rise within a series; their column was read as words."""
    _check_order(series, column, _times(series.table, column, notation))


def _times(table: TableCells, column: int, notation: str) -> NDArray[np.float64]:
    """The times of all rows: numbers, or days since 1970-01-01."""
    words = table.words[column]
    # By the first time: 20260511 may be either.
    are_dates = bool(notation) or number_of(next(filter(None, words), "")) is None
    times = [parsed_date(word, notation, utc=True) if are_dates else number_of(word) for word in words]
    for row, time in enumerate(times):
        if time is None or not np.isfinite(time):
            what = f"{words[row]!r} is not a {'date' if are_dates else 'number, as the first time is'}"
            if are_dates and not notation:
                what += '; write the format, such as `date_format: "%d/%m/%Y"`'
            raise DataError(f"{table.cell(row, column)}: {what if words[row] else table.empty}")
    return np.array(times, np.float64)


def _check_order(series: Series, column: int, times: NDArray[np.float64]) -> None:
    table, rows = series.table, series.rows
    rises = np.diff(times[rows], prepend=-np.inf) > 0
    rises[series.starts[:-1]] = True
    if len(wrong := np.flatnonzero(~rises)):
        row, before = int(rows[wrong[0]]), int(rows[wrong[0] - 1])
        name = series.names[int(np.searchsorted(series.starts, wrong[0], "right")) - 1]
        time, earlier = table.words[column][row], table.words[column][before]
        what, help_ = f"{time!r} follows {earlier!r}", "sort the rows by time"
        if times[row] == times[before]:
            what, help_ = f"the time {time!r} is a duplicate", "each time may occur once"
        raise DataError(
            f"{table.cell(row, column)}: {what} in the series {name!r} ({table.place(before)}); {help_} in each series"
        )


def _shown(value: Any) -> str:
    values: Sequence[Any] = np.atleast_1d(value).tolist()
    return ", ".join(f"{one:g}" if isinstance(one, float) else repr(one) for one in values[:4])
