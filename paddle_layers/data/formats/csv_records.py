"""CSV record parsing: rows of cells, of which quoted ones may span lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..problems import DataError
from .files import PositionedFile
from .text_lines import LONGEST, SPACES, Row, text_lines


class Dialect:
    """CSV dialect: the delimiter, and the quote character; `quote` is empty for none.

    The rules are those of RFC 4180: a quote opens a cell at its beginning only, and is doubled inside of one.
    """

    def __init__(self, delimiter: str, quote: str) -> None:
        self.delimiter, self.quote = delimiter, quote
        self._mark, self._end = quote.encode(), delimiter.encode()
        self._blank = SPACES + self._end
        mark, end = re.escape(quote), re.escape(delimiter)
        quoted = f"{mark}([^{mark}]*(?:{mark}{mark}[^{mark}]*)*){mark}" if quote else ""
        self._cell = re.compile(f"{quoted}{end}|([^{end}]*){end}")
        bare = f"(?!{mark})[^{end}\\r\\n]*"
        self._line = re.compile(f"(?:(?:{quoted}|{bare}){end})*(?:{quoted}|{bare})[\\r\\n]*".encode())

    def cells(self, row: str) -> list[str]:
        """The cells of a record of `records`, without the quotes around them."""
        mark = self.quote
        if not mark or mark not in row:
            return row.split(self.delimiter)
        found = self._cell.findall(row + self.delimiter)
        return [quoted.replace(mark * 2, mark) if quoted else bare for quoted, bare in found]

    def records(self, file: PositionedFile) -> Iterator[Row]:
        """The records that are not blank, without their line ends.

        Raises `DataError` for a quoted cell that never ends, and for text after a closing quote.
        """
        mark, blank = self._mark, self._blank
        parts: list[bytes] = []
        first = size = opened = 0
        for line, begin, content in text_lines(file):
            if not parts:
                if not mark or mark not in content:
                    if content.strip(blank):
                        yield line, begin, content.rstrip(b"\r\n")
                    continue
                if self._line.fullmatch(content):  # the quotes are closed in their line
                    yield line, begin, content.rstrip(b"\r\n")
                    continue
                first, size = begin, 0
            end = _INSIDE if parts and mark not in content else self._scan(content, inside=bool(parts))
            if end.after_quote:
                since = f" of the cell that starts in line {opened}" if end.carried else ""
                raise DataError(
                    f"{file.path}:{line}: unexpected text after the closing quote{since}; double the quotes "
                    "within a quoted cell, or write `quote: none` in the source if quotes have no meaning"
                )
            parts.append(content)
            if not end.inside:
                yield line, first, b"".join(parts).rstrip(b"\r\n")
                parts = []
                continue
            opened, size = opened if end.carried else line, size + len(content)
            if size > LONGEST:
                raise _unclosed(file, opened, f"within {LONGEST} bytes")
        if parts:
            raise _unclosed(file, opened, "before the end of the file")

    def _scan(self, line: bytes, *, inside: bool) -> _LineEnd:
        """The lexical state at the end of a line that begins within a quoted cell or at a record."""
        mark, end, at, carried = self._mark, self._end, 0, inside
        while True:
            if not inside:
                if not line.startswith(mark, at):  # a quote opens a cell at its beginning only
                    at = line.find(end + mark, at) + len(end)
                    if at < len(end):
                        return _LineEnd(inside=False)
                inside, carried, at = True, False, at + len(mark)
            at = line.find(mark, at)
            if at < 0:
                return _LineEnd(inside=True, carried=carried)
            at += len(mark)
            if line.startswith(mark, at):
                at += len(mark)
            elif line.startswith(end, at):
                inside, at = False, at + len(end)
            else:
                return _LineEnd(inside=False, carried=carried, after_quote=bool(line[at:].rstrip(b"\r\n")))


class _LineEnd(NamedTuple):
    """Whether a line ends inside of a quoted cell, which was `carried` from an earlier line or not."""

    inside: bool
    carried: bool = False
    after_quote: bool = False
    """Unexpected text after a closing quote."""


_INSIDE = _LineEnd(inside=True, carried=True)


def _unclosed(file: PositionedFile, line: int, where: str) -> DataError:
    return DataError(
        f"{file.path}:{line}: quote not closed {where}; close it, or write `quote: none` in the source if "
        "quotes have no meaning"
    )
