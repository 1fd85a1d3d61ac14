"""Lazy reading of text files that are too large for memory: rows are indexed once and read on demand."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np

from .files import PositionedFile
from .text_lines import Row, decoded

IN_MEMORY = 2**28
"""Size limit in bytes of text files that are read as a whole; larger ones are read on demand."""


def is_large(file: PositionedFile) -> bool:
    """Whether the rows of a file are read when they are wanted."""
    return file.size > IN_MEMORY


class IndexedLines:
    """The rows of a file.

    `text(row)` is read in any thread; `numbers[row]` is the number of the line in the file, from 1. The index has 24
    bytes for each row. Raises `DataError`.
    """

    def __init__(self, file: PositionedFile, rows: Iterable[Row]) -> None:
        self._file = file
        begins, ends, numbers = array("q"), array("q"), array("q")
        for line, begin, content in rows:
            begins.append(begin)
            ends.append(begin + len(content))
            numbers.append(line)
        self._begins, self._ends = np.frombuffer(begins, np.int64), np.frombuffer(ends, np.int64)
        self.numbers = np.frombuffer(numbers, np.int64)

    def __len__(self) -> int:
        return len(self.numbers)

    def text(self, row: int) -> str:
        """A row without its line end. Raises `DataError` for what is no UTF-8."""
        begin, end = int(self._begins[row]), int(self._ends[row])
        return decoded(self._file, (int(self.numbers[row]), begin, self._file.read(begin, end - begin)))

    def place(self, row: int) -> str:
        """File and line of a row."""
        return f"{self._file.path}:{self.numbers[row]}"
