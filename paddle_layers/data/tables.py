"""CSV files: rows of numbers, with names for the columns and a label."""

from __future__ import annotations

import csv
import math
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .problems import DataError


class Table:
    """The cells of a CSV file as numbers; `lines[row]` is the line in the file.

    `classes` are the words of the column `label`, in the order of their ids; without them labels are numbers.
    Raises `DataError` with file, line and column for a cell that is no number and for a row of another length.
    """

    def __init__(
        self, path: Path, *, delimiter: str = ",", header: str = "auto", label: str = "", classes: Sequence[str] = ()
    ) -> None:
        self.path, self.lines = path, array("q")
        self.names: list[str] = []
        values = array("d")
        ids = {word: number for number, word in enumerate(classes)}
        label_at = -1
        for line, cells in _rows(path, delimiter):
            if not self.names:
                titled = header == "yes" or (header == "auto" and not any(map(_is_number, cells)))
                self.names = [c.strip() for c in cells] if titled else [str(n) for n in range(1, len(cells) + 1)]
                label_at = self.index(label) if label else -1
                if titled:
                    continue
            if len(cells) != len(self.names):
                raise DataError(f"{path}:{line}: {len(cells)} cells, the rows above have {len(self.names)}")
            if classes:
                cells[label_at] = self._id(cells[label_at].strip(), ids, line)
            try:
                values.extend(map(float, cells))
            except ValueError:
                raise self._bad_cell(cells, line, label_at) from None
            self.lines.append(line)
        self.values: NDArray[np.float64] = np.frombuffer(values, np.float64).reshape(len(self.lines), len(self.names))
        self._check_finite()

    def index(self, column: str) -> int:
        """Position of a column given by its name or by its number from 1."""
        if column in self.names:
            return self.names.index(column)
        if column.isdecimal() and len(column) < 10 and 1 <= int(column) <= len(self.names):
            return int(column) - 1
        shown = ", ".join(self.names[:8]) + (", ..." if len(self.names) > 8 else "")
        raise DataError(f"{self.path}:1: there is no column `{column}`; there are {len(self.names)}: {shown}")

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

    def whole(self, column: int) -> NDArray[np.int64]:
        """A column of whole numbers."""
        values = self.values[:, column]
        broken = np.flatnonzero((values != np.floor(values)) | (np.abs(values) >= 2**63))
        if len(broken):
            value = float(values[broken[0]])
            raise DataError(
                f"{self._at(broken[0], column)}: the label {value} is no whole number; number classes from 0, "
                'and list a column of real numbers in `columns`, such as "target = price"'
            )
        return values.astype(np.int64)

    def reals(self, columns: Sequence[int]) -> NDArray[np.float32]:
        """Columns of real numbers, in the precision of most networks."""
        values = self.values[:, columns]
        with np.errstate(over="ignore"):
            single = values.astype(np.float32)
        bad = np.argwhere(~np.isfinite(single))
        if len(bad):
            row, column = bad[0]
            place, value = self._at(row, columns[column]), float(values[row, column])
            raise DataError(f"{place}: {value} is too large; numbers go up to {np.finfo(np.float32).max:.3g}")
        return single

    def place(self, row: int) -> str:
        """File and line of a row."""
        return f"{self.path}:{self.lines[row]}"

    def _at(self, row: Any, column: int) -> str:
        return f"{self.place(int(row))}: column {column + 1} (`{self.names[column]}`)"

    def _id(self, word: str, ids: dict[str, int], line: int) -> str:
        if word not in ids:
            raise DataError(f"{self.path}:{line}: the label {word!r} is not one of `classes`: {', '.join(ids)}")
        return str(ids[word])

    def _bad_cell(self, cells: list[str], line: int, label_at: int) -> DataError:
        column = next(at for at, cell in enumerate(cells) if not _is_number(cell))
        cell = cells[column].strip()
        what = "the cell is empty" if not cell else f"{cell!r} is no number"
        if column == label_at:
            what += "; list the words of the labels in `classes`"
        return DataError(f"{self.path}:{line}: column {column + 1} (`{self.names[column]}`): {what}")

    def _check_finite(self) -> None:
        bad = np.argwhere(~np.isfinite(self.values))
        if len(bad):
            row, column = bad[0]
            value = float(self.values[row, column])
            raise DataError(f"{self._at(row, column)}: {value} cannot be used; write a number or drop the row")


def _rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter)
            for cells in reader:
                if cells and any(cell.strip() for cell in cells):
                    yield reader.line_num, cells
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; paths are relative to the training file") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text (byte {error.start})") from None
    except ValueError as error:  # a zero byte in the name
        raise DataError(f"{str(path)!r} cannot be read: {error}") from None
    except csv.Error as error:
        raise DataError(f"{path}:{reader.line_num}: {error}") from None


def _is_number(cell: str) -> bool:
    try:
        return not math.isnan(float(cell)) or cell.strip().lower() == "nan"
    except ValueError:
        return False
