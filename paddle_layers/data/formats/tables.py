"""CSV files: columns by name, of which some are read as numbers and others as words."""

from __future__ import annotations

import copy
import csv
import itertools
import math
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.errors import suggestion

from ..problems import DataError, missing_file, no_text


class Table:
    """The columns of a CSV file, known from its first line; `read` reads those that are wanted.

    Raises `DataError` for a file that cannot be read, and for two columns of one name.
    """

    def __init__(self, path: Path, *, delimiter: str = ",", header: str = "auto") -> None:
        self.path, self.delimiter = path, delimiter
        _, first = next(_rows(path, delimiter), (1, []))
        self.titled = header == "yes" or (header == "auto" and not any(map(_is_number, first)))
        """Whether the first line names the columns."""
        self.names = [c.strip() for c in first] if self.titled else [str(n) for n in range(1, len(first) + 1)]
        self._check_delimiter(first)
        self._check_names()
        self.lines = array("q")
        """The line in the file of every row."""
        self.values: NDArray[np.float64] = np.empty((0, 0))
        """The columns of numbers, one beside the other; NaN for an empty cell."""
        self.words: dict[int, list[str]] = {}
        """The cells of the columns of words."""
        self._numbers: list[int] = []
        self._rows: Callable[[], Iterator[tuple[int, list[str]]]] = self._all_rows

    def _all_rows(self) -> Iterator[tuple[int, list[str]]]:
        return itertools.islice(_rows(self.path, self.delimiter), int(self.titled), None)

    def _check_delimiter(self, first: Sequence[str]) -> None:
        """Raises `DataError` where the first line is a single cell that another delimiter would part."""
        other = next((mark for mark in ";\t|" if len(first) == 1 and mark in first[0]), None)
        if other is not None:
            shown = "\\t" if other == "\t" else other
            raise DataError(
                f'{self.path}:1: one column is found; its cells seem to be parted by `delimiter: "{shown}"`'
            )

    def __contains__(self, column: str) -> bool:
        return self._place(column) is not None

    def index(self, column: str) -> int:
        """Position of a column given by its name or by its number from 1."""
        place = self._place(column)
        if place is None and not self.titled:
            raise DataError(
                f"{self.path}:1: there is no column `{column}`: the first line names none, it has numbers in it; write "
                f"the names of the columns there, or name them by their numbers, 1 to {len(self.names)}"
            )
        if place is None:
            shown = ", ".join(self.names[:8]) + (", ..." if len(self.names) > 8 else "")
            near = suggestion(column, self.names)
            raise DataError(f"{self.path}:1: there is no column `{column}`{near}; there are {len(self.names)}: {shown}")
        return place

    def _place(self, column: str) -> int | None:
        if column in self.names:
            return self.names.index(column)
        counted = column.isdecimal() and len(column) < 10 and 1 <= int(column) <= len(self.names)
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
            raise DataError(f"{self.path}: {columns!r} names no column")
        return chosen

    def part(self, texts: Iterable[tuple[int, str]]) -> Table:
        """A table of the same columns with rows of its own, given by the number of the line and its text."""
        part = copy.copy(self)
        part.lines, part.words = array("q"), {}
        part._rows = lambda: _parsed(self.path, self.delimiter, texts)
        return part

    def read(self, numbers: Sequence[int], words: Sequence[int] = (), *, gaps: bool = False) -> None:
        """Read the rows. With `gaps` a cell of a number may be empty.

        Raises `DataError` with file, line and column for a cell that is no number and for a row of another length.
        """
        self._numbers = list(dict.fromkeys(numbers))
        values = array("d")
        self.words = {column: [] for column in words}
        for line, cells in self._rows():
            if len(cells) != len(self.names):
                raise DataError(f"{self.path}:{line}: {len(cells)} cells, the rows above have {len(self.names)}")
            try:
                values.extend([float(cells[at]) for at in self._numbers])
            except ValueError:
                del values[len(self.lines) * len(self._numbers) :]
                values.extend([self._number(cells[at], line, at, gaps) for at in self._numbers])
            for column, texts in self.words.items():
                texts.append(cells[column].strip())
            self.lines.append(line)
        self.values = np.frombuffer(values, np.float64).reshape(len(self.lines), len(self._numbers))
        self._check_finite(gaps)

    def columns(self, chosen: Sequence[int]) -> NDArray[np.float64]:
        """Columns of numbers that were read."""
        places = {column: place for place, column in enumerate(self._numbers)}
        return self.values[:, [places[at] for at in chosen]]

    def whole(self, column: int) -> NDArray[np.int64]:
        """A column of whole numbers."""
        values = self.columns([column])[:, 0]
        broken = np.flatnonzero((values != np.floor(values)) | (np.abs(values) >= 2**63))
        if len(broken):
            value = float(values[broken[0]])
            what = "the label's cell is empty" if math.isnan(value) else f"the label {value} is no whole number"
            raise DataError(
                f"{self.cell(int(broken[0]), column)}: {what}; number classes from 0, "
                'and list a column of real numbers in `columns`, such as "target = price"'
            )
        return values.astype(np.int64)

    def place(self, row: int) -> str:
        """File and line of a row."""
        return f"{self.path}:{self.lines[row]}"

    def cell(self, row: int, column: int) -> str:
        """File, line and column of a cell."""
        return f"{self.place(row)}: column {column + 1} (`{self.names[column]}`)"

    def _number(self, cell: str, line: int, column: int, gaps: bool) -> float:
        if _is_number(cell):
            return float(cell)
        if gaps and not cell.strip():
            return math.nan
        what = f"{cell.strip()!r} is no number{_meant(cell.strip())}" if cell.strip() else "the cell is empty"
        place = f"{self.path}:{line}: column {column + 1} (`{self.names[column]}`)"
        raise BadCell(f"{place}: {what}", column, empty=not cell.strip(), meant=bool(_meant(cell.strip())))

    def _check_finite(self, gaps: bool) -> None:
        bad = np.argwhere(np.isinf(self.values) if gaps else ~np.isfinite(self.values))
        if len(bad):
            row, column = bad[0]
            value = float(self.values[row, column])
            place = self.cell(int(row), self._numbers[column])
            raise DataError(f"{place}: {value} cannot be used; write a number or drop the row")

    def _check_names(self) -> None:
        places: dict[str, int] = {}
        for place, name in enumerate(self.names):
            first = places.setdefault(name, place)
            if first < place:
                raise DataError(
                    f"{self.path}:1: columns {first + 1} and {place + 1} are both called `{name}`; "
                    "give each column a name of its own"
                )


class BadCell(DataError):
    """A cell that is no number; `column` is its place, and `meant` whether the message says which number is meant."""

    def __init__(self, message: str, column: int, *, empty: bool, meant: bool) -> None:
        super().__init__(message)
        self.column, self.empty, self.meant = column, empty, meant


def _rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter)
            for cells in reader:
                if cells and any(cell.strip() for cell in cells):
                    yield reader.line_num, cells
    except FileNotFoundError:
        raise missing_file(path) from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        otherwise = f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8"
        raise no_text(path, otherwise) from None
    except ValueError as error:  # a zero byte in the name
        raise DataError(f"{str(path)!r} cannot be read: {error}") from None
    except csv.Error as error:
        raise DataError(f"{path}:{reader.line_num}: {error}") from None


def _parsed(path: Path, delimiter: str, texts: Iterable[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    for line, text in texts:
        try:
            (cells,) = csv.reader([text], delimiter=delimiter)
        except (csv.Error, ValueError) as error:
            raise DataError(f"{path}:{line}: {error}") from None
        yield line, cells


_ABSENT = frozenset({"na", "n/a", "#n/a", "null", "none", "nil", "missing", "-", "--", "?", "."})
_OTHER_NOTATION = re.compile(r"[$€£]?[-+]?[\d.,' \u00a0]*\d[\d.,' \u00a0]*[%$€£]?")


def _meant(cell: str) -> str:
    """What to write for a cell that stands for nothing, or for a number in another notation; else nothing."""
    if cell.lower() in _ABSENT:
        return "; for a value that is not known leave the cell empty, and say what becomes of it: `empty: mean`"
    if _OTHER_NOTATION.fullmatch(cell):
        return "; a number has a decimal point and no other marks, such as 1234.5"
    return ""


def _is_number(cell: str) -> bool:
    try:
        return not math.isnan(float(cell)) or cell.strip().lower() == "nan"
    except ValueError:
        return False
