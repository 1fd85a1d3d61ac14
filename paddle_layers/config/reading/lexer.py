"""Lexer of the text format and of JSON. It is lossless, since it keeps comments, and never fails on unfinished text."""

from __future__ import annotations

from collections.abc import Iterator

from .patterns import JSON_TOKEN, TEXT_TOKEN, WORD_END

COMMENT, STRING, WORD = "comment", "string", "word"
"""Kinds of tokens; the kind of a bracket or separator is its character."""

# `< >` and `;` are other spellings of `{ }` and `,`.
_KINDS = {"#": COMMENT, '"': STRING, "'": STRING, "<": "{", ">": "}", ";": ","} | {mark: mark for mark in "{}[]:,"}


class Token:
    """A token with its position; only blanks, and characters that no token may contain, are between tokens."""

    __slots__ = ("kind", "lines", "start", "text")

    def __init__(self, kind: str, text: str, start: int, lines: int) -> None:
        self.kind, self.text, self.start, self.lines = kind, text, start, lines
        """`lines` is the number of line breaks before it; 1 for the first token."""

    @property
    def end(self) -> int:
        """The position after it."""
        return self.start + len(self.text)

    @property
    def closed(self) -> bool:
        """Whether it is a string with its closing quote."""
        return self.kind == STRING and _is_closed(self.text)

    @property
    def word(self) -> str:
        """The text without quotes."""
        return self.text[1 : len(self.text) - self.closed] if self.kind == STRING else self.text

    @property
    def range(self) -> tuple[int, int]:
        """Start and end without quotes."""
        return self.start + (self.kind == STRING), self.end - self.closed


def tokens(text: str, *, json: bool = False) -> Iterator[Token]:
    """The tokens of the text, comments included; JSON has no comments."""
    pattern = JSON_TOKEN if json else TEXT_TOKEN
    position = line_end = 0
    odd = False
    while match := pattern.search(text, position):
        start, end = match.span()
        kind = _KINDS.get(text[start], WORD)
        # Where a quote is missing, strings and text between them swap roles. Each string of such a line ends with its
        # first word, so that what follows keeps its meaning.
        if kind == STRING and (word_end := WORD_END.search(text, start, end)):
            if start >= line_end:  # each line is checked once
                line_start, line_end = line_bounds(text, start)
                strings = pattern.finditer(text, line_start, line_end)
                odd = any(_KINDS.get(found[0][0]) == STRING and not _is_closed(found[0]) for found in strings)
            end = word_end.start() if odd else end
        lines = text.count("\n", position, start) if position else 1
        yield Token(kind, text[start:end], start, lines)
        position = end


def line_bounds(text: str, position: int) -> tuple[int, int]:
    """Start and end of the line that contains a position."""
    end = text.find("\n", position)
    return text.rfind("\n", 0, position) + 1, end if end >= 0 else len(text)


def _is_closed(string: str) -> bool:
    return len(string) > 1 and string[-1] == string[0]
