"""CSV record parsing: rows of cells, of which quoted ones may span lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ..problems import DataError
from .files import PositionedFile
from .text_lines import LONGEST, SPACES, Row, text_lines


class _Patterns(NamedTuple):
    """Regular expressions of a dialect, for strings and for bytes."""

    mark: bytes
    end: bytes
    cell: re.Pattern[str]
    line: re.Pattern[bytes]
    """A line whose quotes are closed in it."""
    opening: re.Pattern[bytes]
    """A quote at the beginning of a cell."""
    later: re.Pattern[bytes]
    """A quote at the beginning of a later cell."""

    @classmethod
    def of(cls, dialect: Dialect) -> _Patterns:
        mark, end = re.escape(dialect.quote), re.escape(dialect.delimiter)
        # Possessive, because a space may be the delimiter, too: many spaces would take exponential time otherwise.
        gap = " *+" if dialect.spaces else ""
        quoted = f"{mark}([^{mark}]*(?:{mark}{mark}[^{mark}]*)*){mark}" if mark else ""
        bare = f"(?!{gap}{mark})[^{end}\\r\\n]*"
        one = f"{gap}(?:{quoted}|{bare})"
        return cls(
            dialect.quote.encode(),
            dialect.delimiter.encode(),
            re.compile(f"{gap}(?:{quoted}{end}|([^{end}]*){end})" if mark else f"{gap}()([^{end}]*){end}"),
            re.compile(f"(?:{one}{end})*{one}[\\r\\n]*".encode()),
            re.compile(f"{gap}{mark}".encode()),
            re.compile(f"{end}{gap}{mark}".encode()),
        )


@dataclass(frozen=True)
class Dialect:
    """CSV dialect.

    The rules are those of RFC 4180: a quote opens a cell at its beginning only, and is doubled inside of one.

    Args:
        delimiter: Separator of cells, one character.
        quote: Quote character; empty for none.
        comment: Start of lines that are not records; empty for none.
        skipped: Number of lines before the first record.
        spaces: Whether spaces before a cell are ignored; those at the end of a record, too, if they separate cells.
    """

    delimiter: str = ","
    quote: str = '"'
    comment: str = ""
    skipped: int = 0
    spaces: bool = False

    @cached_property
    def _patterns(self) -> _Patterns:
        return _Patterns.of(self)

    def cells(self, row: str) -> list[str]:
        """The cells of a record of `records`, without the quotes around them."""
        mark = self.quote
        if self.spaces and self.delimiter == " ":
            row = row.strip(" ")
        if self.spaces or (mark and mark in row):
            found = self._patterns.cell.findall(row + self.delimiter)
            return [quoted.replace(mark * 2, mark) if quoted else bare for quoted, bare in found]
        return row.split(self.delimiter)

    def records(self, file: PositionedFile) -> Iterator[Row]:
        """The records that are not blank, without their line ends.

        Raises `DataError` for a quoted cell that never ends, and for text after a closing quote.
        """
        patterns, leaving_out = self._patterns, bool(self.comment or self.skipped)
        mark, blank = patterns.mark, SPACES + patterns.end
        parts: list[bytes] = []
        first = size = opened = 0
        for line, begin, content in text_lines(file):
            if not parts:
                if leaving_out and self._is_left_out(line, content):
                    continue
                if not mark or mark not in content:
                    if content.strip(blank):
                        yield line, begin, content.rstrip(b"\r\n")
                    continue
                if patterns.line.fullmatch(content):  # the quotes are closed in their line
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

    def _is_left_out(self, line: int, content: bytes) -> bool:
        comment = self.comment.encode()
        return line <= self.skipped or (bool(comment) and content.lstrip(SPACES).startswith(comment))

    def _scan(self, line: bytes, *, inside: bool) -> _LineEnd:
        """The lexical state at the end of a line that begins within a quoted cell or at a record."""
        patterns, at, carried = self._patterns, 0, inside
        mark, end = patterns.mark, patterns.end
        while True:
            if not inside:
                # A quote opens a cell at its beginning only.
                opening = patterns.opening.match(line, at) or patterns.later.search(line, at)
                if opening is None:
                    return _LineEnd(inside=False)
                inside, carried, at = True, False, opening.end()
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
