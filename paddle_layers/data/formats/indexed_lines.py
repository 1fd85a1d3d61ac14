"""Lines of a text file that is too large for memory: found once, read when they are wanted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..problems import DataError
from .positioned_files import PositionedFile

IN_MEMORY = 2**28
"""Bytes of a text file that is read as a whole; what a larger one holds is read when a batch wants it."""

LONGEST = 2**24
"""Bytes of a line."""

_PIECE = 2**20
_NEWLINE, _QUOTE, _SPACE = 10, 34, 32
_MARK = b"\xef\xbb\xbf"
"""What some programs write in front of UTF-8."""


def is_large(path: Path) -> bool:
    """Whether a file is read line by line when its rows are wanted."""
    try:
        return path.stat().st_size > IN_MEMORY
    except (OSError, ValueError):  # the one who reads it says why it cannot be read
        return False


class IndexedLines:
    """The lines of a file that have something on them, by row; with `quotes` a line may go on inside of them.

    Spaces are nothing, nor are the characters in `empty`.

    `text(row)` is read in any thread; `numbers[row]` is the number of the line in the file, from 1. The index has 16
    bytes for each row. Raises `DataError`.
    """

    def __init__(self, path: Path, *, quotes: bool = False, empty: str = "") -> None:
        self.path = path
        self._file = PositionedFile(path)
        self._rows, self.numbers = self._index(quotes, empty.encode())
        lengths = self._rows[:, 1] - self._rows[:, 0]
        if len(lengths) and lengths.max() > LONGEST:
            raise DataError(f"{path}:{self.numbers[lengths.argmax()]}: the line has more than {LONGEST} bytes")

    def __len__(self) -> int:
        return len(self._rows)

    def text(self, row: int) -> str:
        """A line without its end. Raises `DataError` for what is no UTF-8."""
        begin, end = self._rows[row].tolist()
        try:
            return self._file.read(begin, end - begin).decode("utf-8").rstrip("\r")
        except UnicodeDecodeError as error:
            raise DataError(f"{self.place(row)}: this is no UTF-8 text: {error}") from None

    def place(self, row: int) -> str:
        """File and line of a row."""
        return f"{self.path}:{self.numbers[row]}"

    def _index(self, quotes: bool, empty: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Begin and end of every row that is not empty, and the number of its line, the last one of several."""
        rows: list[NDArray[np.int64]] = []
        numbers: list[NDArray[np.int64]] = []
        begin, newlines = (3 if self._file.read(0, 3) == _MARK else 0), 0
        quoted = written = False  # the row that goes on is inside of quotes; has something on it
        for at, piece in self._pieces():
            every = ends = np.flatnonzero(piece == _NEWLINE)
            if quotes:
                inside = (np.cumsum(piece == _QUOTE) + quoted) % 2 == 1
                ends, quoted = every[~inside[every]], bool(inside[-1])
            marks = np.cumsum((piece > _SPACE) & ~np.isin(piece, list(empty)))
            filled = np.diff(marks[ends], prepend=0) > 0
            if len(ends):
                filled[0] |= written
                begins = np.concatenate([[begin], at + ends[:-1] + 1])
                rows.append(np.stack([begins, at + ends], axis=1)[filled])
                numbers.append((newlines + 1 + np.searchsorted(every, ends))[filled])
                begin, written = int(at + ends[-1] + 1), False
            written |= bool(marks[-1] > (marks[ends[-1]] if len(ends) else 0))
            newlines += len(every)
        if written:
            rows.append(np.array([[begin, self._file.size]]))
            numbers.append(np.array([newlines + 1]))
        rows.append(np.empty((0, 2), np.int64))
        numbers.append(np.empty(0, np.int64))
        return np.concatenate(rows), np.concatenate(numbers)

    def _pieces(self) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        at = 0
        while piece := self._file.read(at, _PIECE):
            yield at, np.frombuffer(piece, np.uint8)
            at += len(piece)
