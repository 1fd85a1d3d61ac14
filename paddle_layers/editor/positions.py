"""Offsets as positions of the LSP: lines from 0, characters in code units of an encoding."""

from __future__ import annotations

import re
from bisect import bisect_right

UNITS = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
"""Bytes of a code unit by encoding."""

_LINE_END = re.compile(r"\r\n|\n|\r")


class Lines:
    """The lines of a document; `encoding` is the unit of character counts."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text, self.unit = text, UNITS[encoding]
        self.codec = encoding if self.unit == 1 else f"{encoding}-le"
        self.starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self.plain = text.isascii()

    def position(self, offset: int) -> tuple[int, int]:
        """Line and character of an offset; offsets beyond the end are clamped."""
        offset = min(offset, len(self.text))
        line = bisect_right(self.starts, offset) - 1
        start = self.starts[line]
        if self.plain:
            return line, offset - start
        return line, len(self._encoded(self.text[start:offset])) // self.unit

    def offset(self, line: int, character: int) -> int:
        """The offset of a position; characters beyond the end of the line are clamped."""
        if line >= len(self.starts):
            return len(self.text)
        start = self.starts[line]
        end = self.starts[line + 1] if line + 1 < len(self.starts) else len(self.text)
        row = self.text[start:end].rstrip("\r\n")
        if self.plain:
            return start + min(character, len(row))
        before = self._encoded(row)[: character * self.unit]
        return start + len(before.decode(self.codec, "ignore"))

    def _encoded(self, text: str) -> bytes:
        return text.encode(self.codec, "surrogatepass")
