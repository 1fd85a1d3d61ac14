"""UTF-8 lines of text files with line numbers, read in order or by an index."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ..problems import DataError, no_text
from .files import PositionedFile

LONGEST = 2**26
"""Bytes of a line, or of a row of a table, which may have several."""

_PIECE = 2**20
_BOM = b"\xef\xbb\xbf"
SPACES = b" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f"
"""ASCII characters that `str.strip` removes."""

Row = tuple[int, int, bytes]
"""A line or a record: the number of its (last) line from 1, its first byte in the file, and its bytes."""

IN_MEMORY = 2**28
"""Size limit in bytes of text files that are read as a whole; larger ones are read on demand."""


def text_lines(file: PositionedFile) -> Iterator[Row]:
    """The lines of a file with their ends: LF, CR LF or CR. Raises `DataError` for one of more than `LONGEST` bytes."""
    begin = at = len(_BOM) if file.read(0, len(_BOM)) == _BOM else 0
    number, rest = 0, b""
    while piece := file.read(at, _PIECE):
        at += len(piece)
        lines = (rest + piece).splitlines(keepends=True)
        rest = b"" if lines[-1].endswith(b"\n") else lines.pop()  # a CR may have its LF in the next piece
        for line in lines:
            number += 1
            yield number, begin, line
            begin += len(line)
        if len(rest) > LONGEST:
            raise DataError(f"{file.path}:{number + 1}: the line exceeds {LONGEST} bytes")
    if rest:
        yield number + 1, begin, rest


def words_lines(file: PositionedFile) -> Iterator[Row]:
    """The lines that are not blank, without their ends."""
    for line, begin, content in text_lines(file):
        if content.strip(SPACES) and (content.isascii() or content.decode("utf-8", "replace").strip()):
            yield line, begin, content.rstrip(b"\r\n")


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbers of lines, from 1, and the lines. `DataError` for what is no text."""
    yield from numbered_lines(PositionedFile(path, ""))


def numbered_lines(file: PositionedFile) -> Iterator[tuple[int, str]]:
    """As `read_lines`, for an open file."""
    for row in text_lines(file):
        yield row[0], decoded(file, row).rstrip("\r\n")


def decoded(file: PositionedFile, row: Row) -> str:
    """The text of a row. Raises `DataError` for what is no UTF-8."""
    line, begin, content = row
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        otherwise = f"{file.path}:{line}: invalid UTF-8 (byte {begin + error.start}); {file.advice}"
        raise no_text(file.path, file.read(0, 4), otherwise) from None


def check_text(file: PositionedFile) -> None:
    """Raise `DataError` for a file whose first bytes are those of a known format that is not text."""
    first = file.read(0, 4)
    if not first.isascii() or min(first, default=32) < 9:
        problem = no_text(file.path, first, "")
        if str(problem):
            raise problem


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
