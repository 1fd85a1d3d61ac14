"""Diagnostics: message, position and suggested fix."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, NamedTuple

OVERRIDES = "--set"
"""Name of the source of overrides from the command line."""

LONGEST = 500
"""Maximum length of a message; a name may be a megabyte long."""

# The closing quote is optional: the mark of an unterminated string ends with its line. Strings are unrolled loops,
# because alternatives in a group cost memory for every character.
_TOKEN = re.compile(
    r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?|\'[^\'\\\n]*+(?:\\.[^\'\\\n]*+)*+\'?|[-+]?[\w.]+(?:(?<=[eE])[-+]\d+)?|.', re.S
)


class Source:
    """A source text and its name in messages; positions are computed when a message needs them."""

    __slots__ = ("_starts", "name", "overrides", "own_end", "text")

    def __init__(self, name: str, text: str, overrides: Sequence[str] = ()) -> None:
        self.name, self.overrides, self.own_end = name, tuple(overrides), len(text)
        """Overrides from the command line follow the text of the file, which ends at `own_end`."""
        # One text, so that a position is a single offset everywhere: fields, spans and notes need not know of
        # overrides.
        self.text = "\n".join([text, *overrides])
        self._starts: list[int] = []

    @property
    def own(self) -> str:
        """The text of the file, without overrides."""
        return self.text[: self.own_end]

    def place(self, offset: int) -> tuple[str, int, int]:
        """Name, line and column as messages show them; for an override, the option and its index."""
        line, column = self.position(offset)
        if not self.overrides or offset <= self.own_end:
            return self.name, line, column
        return OVERRIDES, line - self.position(self.own_end)[0], column

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1; columns count code points."""
        # The line table is built for the first diagnostic only: a valid file never pays for it.
        if not self._starts:
            self._starts = [0, *(match.end() for match in re.finditer("\n", self.text))]
        index = bisect_right(self._starts, offset) - 1
        return index + 1, offset - self._starts[index] + 1

    def line(self, number: int) -> str:
        """The text of a line, from 1."""
        self.position(0)
        if not 1 <= number <= len(self._starts):
            return ""
        start = self._starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else None].rstrip("\r")

    def token_end(self, offset: int) -> int:
        """The end of the word, number or string at `offset`."""
        match = _TOKEN.match(self.text, offset)
        return match.end() if match else offset


class Note(NamedTuple):
    """Another position that belongs to a diagnostic; without a source, a remark."""

    message: str
    source: Source | None = None
    start: int = 0


class Fix(NamedTuple):
    """An edit of the text that fixes the error: replace `start` to `end`."""

    start: int
    end: int
    replacement: str


class Diagnostic:
    """One error with its position. `code` has a page: `paddle-layers explain CODE`."""

    __slots__ = ("_end", "code", "fix", "help", "message", "notes", "severity", "source", "start")

    def __init__(
        self,
        code: str,
        message: str,
        source: Source,
        start: int,
        end: int = 0,
        *,
        help: str = "",
        notes: tuple[Note, ...] = (),
        fix: Fix | None = None,
        severity: str = "",
    ) -> None:
        self.code, self.source, self.start, self._end = code, source, start, end
        # Cut here and not where messages are written: any of them may quote a name of the file.
        self.message = message if len(message) <= LONGEST else f"{message[: LONGEST - 3]}..."
        self.help, self.notes, self.fix = help, notes, fix
        self.severity = severity or ("warning" if code.startswith("W") else "error")

    @property
    def end(self) -> int:
        """Offset after the last character."""
        return self._end if self._end > self.start else self.source.token_end(self.start)

    @property
    def file(self) -> str:
        """Name of the file or text."""
        return self.source.place(self.start)[0]

    @property
    def line(self) -> int:
        """Line, from 1."""
        return self.source.place(self.start)[1]

    @property
    def column(self) -> int:
        """First column, from 1, in code points."""
        return self.source.place(self.start)[2]

    @property
    def end_column(self) -> int:
        """Column after the last character; the end of the line if the range spans several lines."""
        line, column = self.source.position(self.start)
        last, end = self.source.position(self.end)
        # Editors and GitHub expect the end on the line of the start.
        return max(column, end if last == line else len(self.source.line(line)) + 1)

    def to_dict(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        notes = []
        for note in self.notes:
            entry: dict[str, Any] = {"message": note.message}
            if note.source is not None:
                file, line, column = note.source.place(note.start)
                entry |= {"file": file, "line": line, "column": column}
            notes.append(entry)
        return {
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "end_column": self.end_column,
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "help": self.help,
            "notes": notes,
        }

    def __repr__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.severity}[{self.code}]: {self.message}"
