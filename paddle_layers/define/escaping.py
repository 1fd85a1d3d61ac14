"""Escaping of strings from files and plugins before they are displayed.

A terminal obeys control characters, bidirectional marks disguise their neighbors, and XML forbids most of both. Such
characters are displayed as their code points.
"""

from __future__ import annotations

import re
from html import escape

CONTROLS = r"\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff"
"""The inside of a character class: controls, marks of direction, separators of lines, halves of characters."""

CONTROL = re.compile(f"[{CONTROLS}]")

_IN_LINES = re.compile(rf"(?![\n\t])[{CONTROLS}]")


def printable(text: str) -> str:
    """For a terminal; line breaks and tabs stay."""
    return _IN_LINES.sub(_number, text)


def printable_line(text: str) -> str:
    """For a terminal, where it has to stay on its line."""
    return CONTROL.sub(_number, text)


LONGEST = 900
"""Characters of a message; a name or a cell may be a megabyte long."""


def message_line(text: str) -> str:
    """A message on one line, harmless and of a length that can be read, whatever it quotes from a file."""
    line = printable_line(text)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 3]}..."


def xml_text(text: str) -> str:
    """For XML and HTML, between tags or in a quoted attribute."""
    return escape(printable(text))


def _number(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
