"""Rendering of diagnostics as text with carets, as JSON, and as GitHub annotations."""

from __future__ import annotations

import json
from collections.abc import Sequence

from paddle_layers.define.escaping import CONTROL, printable_line

from .diagnostic import Diagnostic, Source

# More than fit on a screen; the number of the others is shown.
SHOWN = 20
"""Maximum number of errors that are shown in full."""

WIDTH = 160
"""A longer source line is cut around the caret."""


def render_text(diagnostics: Sequence[Diagnostic], limit: int = SHOWN) -> str:
    """Text: position, message, the line with a caret, help, notes; at most `limit` diagnostics."""
    parts = [_one(diagnostic) for diagnostic in diagnostics[:limit]]
    if len(diagnostics) > limit:
        parts.append(f"... and {len(diagnostics) - limit} more")
    return "\n".join(parts)


def render_json(diagnostics: Sequence[Diagnostic]) -> str:
    """A JSON list of objects."""
    lines = json.dumps([diagnostic.to_dict() for diagnostic in diagnostics], indent=2, ensure_ascii=False).split("\n")
    # `json.dumps` escapes control characters below U+0020 only; the others, such as bidirectional marks, would act on
    # the terminal.
    return "\n".join(CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", line) for line in lines)


def render_github(diagnostics: Sequence[Diagnostic]) -> str:
    """Workflow commands that GitHub shows beside the changed lines."""
    return "\n".join(_annotation(diagnostic) for diagnostic in diagnostics)


def _one(diagnostic: Diagnostic) -> str:
    lines = [
        f"{diagnostic.file}:{diagnostic.line}:{diagnostic.column}: "
        f"{diagnostic.severity}[{diagnostic.code}]: {diagnostic.message}",
        *_excerpt(diagnostic.source, diagnostic.start, diagnostic.end_column - diagnostic.column),
    ]
    if diagnostic.help:
        lines.append(f"      = help: {diagnostic.help}")
    for note in diagnostic.notes:
        if note.source is None:
            lines.append(f"      = note: {note.message}")
            continue
        file, line, column = note.source.place(note.start)
        lines.append(f"{file}:{line}:{column}: note: {note.message}")
        # Without the caret, which marks the error itself.
        lines += _excerpt(note.source, note.start, 0)[:1]
    return "\n".join(map(printable_line, lines))


def _excerpt(source: Source, start: int, width: int) -> list[str]:
    number, column = source.position(start)
    line = source.line(number)
    if not line.strip():
        return []
    before, shown = line[: column - 1], line
    # A config may be a single line of a megabyte.
    if len(line) > WIDTH:
        cut = max(0, column - 1 - WIDTH // 2)
        before, shown = line[cut : column - 1], line[cut : cut + WIDTH]
    # Counted after tabs are expanded and control characters escaped, so that the caret is below what the terminal
    # shows.
    start_of_caret = len(_visible(before))
    marked = len(_visible(shown[: len(before) + width])) - start_of_caret
    caret = " " * start_of_caret + "^" + "~" * (marked - 1)
    return [f"{source.place(start)[1]:5} | {_visible(shown)}", f"      | {caret}"]


def _visible(line: str) -> str:
    return printable_line(line.expandtabs(4))


def _annotation(diagnostic: Diagnostic) -> str:
    text = diagnostic.message + (f"\n{diagnostic.help}" if diagnostic.help else "")
    place = (
        f"file={_property(diagnostic.file)},line={diagnostic.line},col={diagnostic.column},"
        f"endColumn={diagnostic.end_column},title={diagnostic.code}"
    )
    return f"::{diagnostic.severity} {place}::{_data(text)}"


def _data(text: str) -> str:
    # The escapes of GitHub's workflow commands. The percent sign comes first, or it would escape the other escapes.
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
