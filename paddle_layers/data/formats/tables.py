"""CSV files: named columns, read as numbers or words."""

from __future__ import annotations

import contextlib
import copy
import itertools
import math
import re
from array import array
from collections.abc import Callable, Container, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.decimals import is_plain, number_of
from paddle_layers.define.errors import suggestion

from ..problems import DataError
from .csv_records import Dialect
from .files import PositionedFile
from .text_lines import Row, check_text, decoded


class CsvTable:
    """The columns of a CSV file, known from its first line; `read` reads those that are wanted.

    Raises `DataError` for a file that cannot be read, and for two columns of one name.
    """

    def __init__(
        self, file: PositionedFile, dialect: Dialect, *, header: str = "auto", missing: Iterable[str] = ()
    ) -> None:
        self.file, self.path, self.dialect = file, file.path, dialect
        self._missing = frozenset(missing)
        check_text(file)
        first, second = [*itertools.islice(self._records(), 2), _NO_ROW, _NO_ROW][:2]
        cells = self._cells(first) if first[2] else []
        self.titled = header == "yes" or (header == "auto" and all(number_of(cell) is None for cell in cells))
        """Whether the first line names the columns."""
        self.names = [c.strip() for c in cells] if self.titled else [str(n) for n in range(1, len(cells) + 1)]
        self.guessed = header == "auto" and bool(cells)
        """Whether nothing but its look says what the first line is."""
        self.first_line = first[0]
        self._check_delimiter(cells)
        self._check_names()
        self.counts_columns = not self.titled and _are_column_numbers(cells, self._cells(second))
        """Whether the first line, a row of numbers, counts the columns as the names that pandas gives them do."""
        self.lines = array("q")
        """The line in the file of every row."""
        self.bad: dict[int, str] = {}
        """Rows that cannot be used, by number, with the reason; their cells are arbitrary."""
        self.values: NDArray[np.float64] = np.empty((0, 0))
        """The columns of numbers, one beside the other; NaN for an empty cell."""
        self.words: dict[int, list[str]] = {}
        """The cells of the columns of words."""
        self._numbers: list[int] = []
        self._rows: Callable[[], Iterator[tuple[int, str]]] = self._all_rows

    def _records(self) -> Iterator[Row]:
        return self.dialect.records(self.file)

    def data_records(self) -> Iterator[Row]:
        """The records that are rows of data."""
        return itertools.islice(self._records(), int(self.titled), None)

    def _all_rows(self) -> Iterator[tuple[int, str]]:
        return ((row[0], decoded(self.file, row)) for row in self.data_records())

    def _cells(self, row: Row) -> list[str]:
        return self.dialect.cells(decoded(self.file, row))

    def _check_delimiter(self, first: Sequence[str]) -> None:
        """Raises `DataError` where the first line is a single cell that another delimiter would part."""
        cell = first[0] if len(first) == 1 else ""
        other = next((mark for mark in ";\t|" if mark in cell), None)
        if " " in cell and all(number_of(part) is not None for part in cell.split(" ")):
            other = " "
        if other is not None:
            shown = "\\t" if other == "\t" else other
            raise DataError(f'{self.path}:1: only one column; try `delimiter: "{shown}"`')

    def __contains__(self, column: str) -> bool:
        return self._place(column) is not None

    def index(self, column: str) -> int:
        """Position of a column given by its name or by its number from 1."""
        place = self._place(column)
        if place is None and not self.titled:
            raise DataError(
                f"{self.path}:1: unknown column `{column}`: the first line has numbers, not names; add a "
                f"header, or use column numbers, 1 to {len(self.names)}"
            )
        if place is None:
            shown = ", ".join(self.names[:8]) + (", ..." if len(self.names) > 8 else "")
            near = suggestion(column, self.names)
            raise DataError(
                f"{self.path}:1: unknown column `{column}`{near}; the {len(self.names)} columns are {shown}"
            )
        return place

    def _place(self, column: str) -> int | None:
        if column in self.names:
            return self.names.index(column)
        counted = column.isascii() and column.isdecimal() and len(column) < 10 and 1 <= int(column) <= len(self.names)
        return int(column) - 1 if counted else None

    def select(self, columns: str) -> list[int]:
        """Positions of columns written as in ``width, height`` or ``2-65``."""
        chosen: list[int] = []
        for part in filter(None, map(str.strip, columns.split(","))):
            first, dash, last = part.partition("-")
            if part in self.names or not dash:
                chosen.append(self.index(part))
            else:
                chosen.extend(range(self.index(first.strip()), self.index(last.strip()) + 1))
        if not chosen:
            raise DataError(f"{self.path}: {columns!r} selects no columns")
        return chosen

    def part(self, texts: Iterable[tuple[int, str]]) -> CsvTable:
        """A table of the same columns with other rows, given by line number and text."""
        part = copy.copy(self)
        part.lines, part.words, part.bad = array("q"), {}, {}
        part._rows = lambda: iter(texts)
        return part

    def read(
        self, numbers: Sequence[int], words: Sequence[int] = (), *, gaps: Container[int] = (), skip: bool = False
    ) -> None:
        """Read the rows. Cells of numbers in the columns `gaps` may be empty.

        Raises `DataError` with file, line and column for a cell that is no number and for a row of another length; with
        `skip` these rows become `bad`.
        """
        self._numbers = list(dict.fromkeys(numbers))
        values = array("d")
        self.words = {column: [] for column in words}
        for line, text in self._rows():
            cells = self.dialect.cells(text)
            if self._missing:
                cells = ["" if cell.strip() in self._missing else cell for cell in cells]
            try:
                row = self._row(line, text, cells, gaps)
            except DataError as error:
                if not skip:
                    raise
                self.bad[len(self.lines)] = str(error)
                row, cells = [0.0] * len(self._numbers), [""] * len(self.names)
            values.extend(row)
            for column, texts in self.words.items():
                texts.append(cells[column].strip())
            self.lines.append(line)
        self.values = np.frombuffer(values, np.float64).reshape(len(self.lines), len(self._numbers))
        self._check_finite(gaps, skip=skip)

    def _row(self, line: int, text: str, cells: Sequence[str], gaps: Container[int]) -> list[float]:
        """The numbers of a row."""
        if len(cells) != len(self.names):
            raise DataError(
                f"{self.path}:{line}: got {len(cells)} cells, expected {len(self.names)} as in the rows above"
            )
        if is_plain(text):
            with contextlib.suppress(ValueError):
                return [float(cells[at]) for at in self._numbers]
        return [self._number(cells[at], line, at, gaps) for at in self._numbers]

    def columns(self, chosen: Sequence[int]) -> NDArray[np.float64]:
        """Columns of numbers that were read."""
        places = {column: place for place, column in enumerate(self._numbers)}
        return self.values[:, [places[at] for at in chosen]]

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

    def refuse(self, row: int, problem: str, *, skip: bool) -> None:
        """Note a row that cannot be used, or raise `DataError`."""
        if row in self.bad:
            return
        if not skip:
            raise DataError(problem)
        self.bad[row] = problem

    def place(self, row: int) -> str:
        """File and line of a row."""
        return f"{self.path}:{self.lines[row]}"

    def cell(self, row: int, column: int) -> str:
        """File, line and column of a cell."""
        return f"{self.place(row)}: column {column + 1} (`{self.names[column]}`)"

    def _number(self, cell: str, line: int, column: int, gaps: Container[int]) -> float:
        value = number_of(cell)
        if value is not None:
            return value
        cell = cell.strip()
        if not cell and column in gaps:
            return math.nan
        meant = "" if cell.lower() in _ABSENT else _meant(cell)
        what = f"{cell!r} is not a number{meant}" if cell else "empty cell"
        place = f"{self.path}:{line}: column {column + 1} (`{self.names[column]}`)"
        kind = "empty" if not cell else "absent" if cell.lower() in _ABSENT else "other notation" if meant else ""
        raise BadCell(f"{place}: {what}", cell, column, line, kind)

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
                    f"{self.path}:1: columns {first + 1} and {place + 1} have the same name `{name}`; rename one"
                )


class BadCell(DataError):
    """A cell that is no number, and its place.

    `kind` is "empty", "absent" for a word such as `NA`, "other notation" for a number such as `1,5`, else nothing.
    """

    def __init__(self, message: str, cell: str, column: int, line: int, kind: str) -> None:
        super().__init__(message)
        self.cell, self.column, self.line, self.kind = cell, column, line, kind


_NO_ROW: Row = (1, 0, b"")
_ABSENT = frozenset({"na", "n/a", "#n/a", "null", "none", "nil", "missing", "-", "--", "?", "."})
_OTHER_NOTATION = re.compile(r"[$€£]?[-+]?(?=\D*\d)[\d.,' _\u00a0]++[%$€£]?")


def _meant(cell: str) -> str:
    """The fix for a number in another notation; empty for other cells."""
    if _OTHER_NOTATION.fullmatch(cell):
        return "; write numbers with a decimal point and without other marks, such as 1234.5"
    return ""


def _are_column_numbers(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether a first line is 0,1,2,... over rows that are not: two columns are no evidence without a fraction."""
    counts = [str(number) for number in range(len(first))]
    fractions = any("." in cell for cell in second)
    return len(first) > 1 and [cell.strip() for cell in first] == counts and (len(first) > 2 or fractions)
