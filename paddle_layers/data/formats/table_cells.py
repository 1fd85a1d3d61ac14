"""Cells of a table with named columns, as numbers or words, for CSV files and DataFrames."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Container, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.decimals import number_of
from paddle_layers.define.errors import suggestion

from ..problems import DataError
from .dates import is_date, parsed_date


class TableCells(ABC):
    """A table whose columns have names; `read` reads some of them. Raises `DataError` for duplicate names."""

    titled = True
    """Whether the columns have names; otherwise the names are numbers from 1."""
    guessed = False
    """Whether it was guessed what the first line is."""
    counts_columns = False
    """Whether the first line, which is read as data, counts the columns."""
    first_line = 0
    """Its number in the file."""
    empty = "empty cell"
    """The word for a cell without a value."""
    dates: Mapping[int, str] = MappingProxyType({})
    """The columns of dates, which are read as days since 1970-01-01, with their `date_format`."""
    times: Sequence[int] = ()
    """The columns of the times of a table in long format, which are read as words."""
    missing: frozenset[str] = frozenset()
    """Cells that count as empty."""

    def __init__(self, origin: str, names: Sequence[str]) -> None:
        self.origin, self.names = origin, list(names)
        self.bad: dict[int, str] = {}
        """Reasons by unusable row; the cells of such rows are arbitrary."""
        self.values: NDArray[np.float64] = np.empty((0, 0))
        """The columns of numbers, (rows, columns); NaN for an empty cell."""
        self.words: dict[int, list[str]] = {}
        """The cells of the columns of words by column."""
        self._numbers: list[int] = []
        self._check_names()

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of rows that were read."""

    @property
    def header(self) -> str:
        """The place of the names of the columns, for messages."""
        return self.origin

    @abstractmethod
    def read(
        self, numbers: Sequence[int], words: Sequence[int] = (), *, gaps: Container[int] = (), skip: bool = False
    ) -> None:
        """Read columns of numbers and words. Cells of numbers in the columns `gaps` may be empty.

        Raises `DataError`, and `BadCell` with row and column for a cell that is no number; with `skip` these rows
        become `bad`.
        """

    @abstractmethod
    def place(self, row: int) -> str:
        """Origin of a row."""

    def cell(self, row: int, column: int) -> str:
        """Origin of a cell."""
        return f"{self.place(row)}: {self.column_text(column)}"

    def column_text(self, column: int) -> str:
        """Number and name of a column."""
        return f"column {column + 1} (`{self.names[column]}`)"

    def __contains__(self, column: str) -> bool:
        return self._position(column) is not None

    def index(self, column: str) -> int:
        """Position of a column given by its name or by its number from 1."""
        place = self._position(column)
        if place is None:
            raise DataError(f"{self.header}: unknown column `{column}`{self._explained(column)}")
        return place

    def _explained(self, column: str) -> str:
        """What is known of a column that is unknown: the names of the others."""
        shown = ", ".join(self.names[:8]) + (", ..." if len(self.names) > 8 else "")
        are = f"the {len(self.names)} columns are" if len(self.names) > 1 else "the only column is"
        return f"{suggestion(column, self.names)}; {are} {shown}"

    def _position(self, column: str) -> int | None:
        if column in self.names:
            return self.names.index(column)
        counted = column.isascii() and column.isdecimal() and len(column) < 10 and 1 <= int(column) <= len(self.names)
        return int(column) - 1 if counted else None

    def select(self, columns: str) -> list[int]:
        """Positions of columns written as in ``width, height`` or ``2-65``; or of the column of this name."""
        if columns in self.names:
            return [self.index(columns)]
        chosen: list[int] = []
        for part in filter(None, map(str.strip, columns.split(","))):
            first, dash, last = part.partition("-")
            if part in self.names or not dash:
                chosen.append(self.index(part))
            else:
                chosen.extend(range(self.index(first.strip()), self.index(last.strip()) + 1))
        if not chosen:
            raise DataError(f"{self.origin}: {columns!r} selects no columns")
        return chosen

    def columns(self, chosen: Sequence[int]) -> NDArray[np.float64]:
        """Columns of numbers that were read."""
        places = {column: place for place, column in enumerate(self._numbers)}
        return self.values[:, [places[at] for at in chosen]]

    def merged_numbers(self) -> Iterator[tuple[int, float, float]]:
        """Columns of large numbers of which a quarter are the same in float32 as the next, with two of these."""
        if not self.values.size:
            return
        largest = np.maximum(np.fmax.reduce(self.values), -np.fmin.reduce(self.values))
        for place in np.flatnonzero(largest > 2**24).tolist():
            sizes = np.abs(self.values[:, place])
            large = np.unique(self.values[(sizes > 2**24) & (sizes < 1e38), place])  # not NaN
            same = np.flatnonzero(np.diff(large.astype(np.float32)) == 0)
            if len(same) > len(large) / 4:
                yield self._numbers[place], large[same[0]], large[same[0] + 1]

    def whole(self, column: int, *, skip: bool = False) -> NDArray[np.int64]:
        """A column of integers. Raises `DataError` for other numbers; with `skip` their rows become `bad`."""
        values = self.columns([column])[:, 0]
        wrong = (values != np.floor(values)) | (np.abs(values) >= 2**63)
        for row in np.flatnonzero(wrong).tolist():
            problem = (
                f"{self.cell(row, column)}: the label {values[row]} is not an integer; number classes from "
                '0, or for regression list the column in `columns`, such as "target = price"'
            )
            self.refuse(row, problem, skip=skip)
        return np.where(wrong, 0, values).astype(np.int64)

    def number(self, cell: str, column: int, line: int, place: str, gaps: Container[int]) -> float:
        """The number in a cell: that of a date in a column of `dates`. Raises `BadCell`, as `parsed_number`."""
        notation = self.dates.get(column)
        if notation is None or not cell.strip():
            return parsed_number(cell, column, line, place, gaps)
        days = parsed_date(cell, notation)
        if days is None:
            expected = f"in the format {notation}" if notation else "that begins with the year or names the month"
            problem = f"{place}: {cell.strip()!r} is not a date {expected}"
            raise BadCell(problem, cell.strip(), column, line, "other date")
        return days

    def refuse(self, row: int, problem: str, *, skip: bool) -> None:
        """Note a row that cannot be used, or raise `DataError`."""
        if row in self.bad:
            return
        if not skip:
            raise DataError(problem)
        self.bad[row] = problem

    def _check_finite(self, gaps: Container[int], *, skip: bool) -> None:
        may_be_empty = np.array([column in gaps for column in self._numbers], bool)
        bad = np.argwhere(~np.isfinite(self.values) & ~(np.isnan(self.values) & may_be_empty))
        if len(bad) and not self.values.flags.writeable:
            self.values = self.values.copy()
        for row, place in bad.tolist():
            value, column = float(self.values[row, place]), self._numbers[place]
            problem = f"{self.cell(row, column)}: {value} is not supported; replace it or remove the row"
            self.refuse(row, problem, skip=skip)
            self.values[row, place] = 0

    def _check_names(self) -> None:
        places: dict[str, int] = {}
        for place, name in enumerate(self.names):
            first = places.setdefault(name, place)
            if first < place:
                raise DataError(
                    f"{self.header}: columns {first + 1} and {place + 1} have the same name `{name}`; rename one"
                )


class BadCell(DataError):
    """A cell that is no number, and its place.

    `kind` is "empty", "absent" for a word such as `NA`, "other notation" for a number such as `1,5`, "date" for a date
    among numbers, "other date" for what is no date in a column of dates, else nothing.
    """

    def __init__(self, message: str, cell: str, column: int, line: int, kind: str) -> None:
        super().__init__(message)
        self.cell, self.column, self.line, self.kind = cell, column, line, kind


def parsed_number(cell: str, column: int, line: int, place: str, gaps: Container[int]) -> float:
    """The number in a cell of a column; NaN for an empty cell of the columns `gaps`. Raises `BadCell`."""
    value = number_of(cell)
    if value is not None:
        return value
    cell = cell.strip()
    if not cell and column in gaps:
        return math.nan
    absent, date = cell.lower() in _ABSENT, is_date(cell)
    meant = "" if absent or date else _meant(cell)
    what = f"{cell!r} is not a number{meant}" if cell else "empty cell"
    kind = "empty" if not cell else "absent" if absent else "date" if date else "other notation" if meant else ""
    raise BadCell(f"{place}: {what}", cell, column, line, kind)


def number_ranges(numbers: Sequence[int]) -> str:
    """Rising numbers as in `1-3, 7`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


_ABSENT = frozenset({"na", "n/a", "#n/a", "null", "none", "nil", "missing", "-", "--", "?", "."})
_OTHER_NOTATION = re.compile(r"[$€£]?[-+\u2212]?(?=\D*\d)[\d.,' _\u00a0]++[%$€£]?")


def _meant(cell: str) -> str:
    """The fix for a number in another notation; empty for other cells."""
    if _OTHER_NOTATION.fullmatch(cell):
        return "; write numbers with a decimal point and without other marks, such as 1234.5"
    return ""
