"""Diagnostics of an open file for an editor: all at positions in this file."""

from __future__ import annotations

from typing import NamedTuple

from paddle_layers.config import Diagnostic, Fix

from .document import Document

_RELATED = 20
"""Maximum number of errors of another file that are listed at its name."""


class Related(NamedTuple):
    """Another position that belongs to a problem; an offset of `text`, the contents of `path`."""

    message: str
    path: str
    text: str
    start: int
    end: int


class Problem(NamedTuple):
    """An error in a range of the open file."""

    code: str
    severity: str
    message: str
    start: int
    end: int
    related: tuple[Related, ...] = ()
    fix: Fix | None = None


def problems(document: Document) -> list[Problem]:
    """All errors; those of the network file that a training file names are one error at its name."""
    faults = document.examined.faults
    own = [fault for fault in faults if fault.source.text is document.text]
    elsewhere = [fault for fault in faults if fault.source.text is not document.text]
    return [*_elsewhere(document, elsewhere), *map(_problem, own)]


def _problem(fault: Diagnostic) -> Problem:
    message = f"{fault.message}\n{fault.help}" if fault.help else fault.message
    related = []
    for note in fault.notes:
        if note.source is None:
            message += f"\n{note.message}"
        else:
            end = note.source.token_end(note.start)
            related.append(Related(note.message, note.source.name, note.source.text, note.start, end))
    end = min(fault.end, len(fault.source.text))  # a missing field is reported after the last character
    return Problem(fault.code, fault.severity, message, min(fault.start, end), end, tuple(related), fault.fix)


def _elsewhere(document: Document, faults: list[Diagnostic]) -> list[Problem]:
    if not faults:
        return []
    tokens = document.tree.root.tokens("network")
    start, end = (tokens[0].start, tokens[0].end) if tokens else (0, 0)
    first, count = faults[0], len(faults)
    message = f"{first.file}:{first.line}: {first.message}" + (f" (and {count - 1} more)" if count > 1 else "")
    related = tuple(Related(f.message, f.file, f.source.text, f.start, f.end) for f in faults[:_RELATED])
    severity = "error" if any(fault.severity == "error" for fault in faults) else "warning"
    return [Problem(first.code, severity, message, start, end, related)]
