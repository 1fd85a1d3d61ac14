"""CSV files: named columns, read as numbers or words."""

from __future__ import annotations

import contextlib
import copy
import itertools
from array import array
from collections.abc import Callable, Container, Iterable, Iterator, Sequence

import numpy as np

from paddle_layers.define.decimals import is_plain, number_of

from ..problems import DataError
from .csv_records import Dialect
from .files import PositionedFile
from .table_cells import TableCells, parsed_number
from .text_lines import Row, check_text, decoded


class CsvTable(TableCells):
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
        self.guessed = header == "auto" and bool(cells)
        self.first_line = first[0]
        self._check_delimiter(cells)
        names = [c.strip() for c in cells] if self.titled else [str(n) for n in range(1, len(cells) + 1)]
        super().__init__(str(file.path), names)
        # Such as the names that pandas gives to columns, which are no header for a program.
        self.counts_columns = not self.titled and _are_column_numbers(cells, self._cells(second))
        self.lines = array("q")
        """The line in the file of every row."""
        self._rows: Callable[[], Iterator[tuple[int, str]]] = self._all_rows

    @property
    def count(self) -> int:
        """Number of rows that were read."""
        return len(self.lines)

    @property
    def header(self) -> str:
        """The first line."""
        return f"{self.path}:1"

    def place(self, row: int) -> str:
        """File and line of a row."""
        return f"{self.path}:{self.lines[row]}"

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
        return [
            parsed_number(cells[at], at, line, f"{self.path}:{line}: {self.column_text(at)}", gaps)
            for at in self._numbers
        ]


_NO_ROW: Row = (1, 0, b"")


def _are_column_numbers(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether a first line is 0,1,2,... over rows that are not: two columns are no evidence without a fraction."""
    counts = [str(number) for number in range(len(first))]
    fractions = any("." in cell for cell in second)
    return len(first) > 1 and [cell.strip() for cell in first] == counts and (len(first) > 2 or fractions)
