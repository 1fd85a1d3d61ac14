"""Syntax detection: the fields of a config in text format or JSON."""

from __future__ import annotations

from ..diagnostics.report import DiagnosticReport
from .fields import Fields, Recall, broken
from .jsonreader import read_json
from .literals import HALF
from .reader import read_text


def read(report: DiagnosticReport, recall: Recall | None = None) -> Fields:
    """The fields of a config in either syntax. Raises `TooManyFaults`."""
    text = report.source.own
    # A Python string may hold half of a surrogate pair. It is rejected first, because a message that quotes it could
    # not be printed. `isascii` is a flag of the string, so the usual case costs nothing.
    if not text.isascii() and (half := HALF.search(text)):
        report.add("E003", f"unpaired surrogate `\\u{ord(half[0]):04x}`", half.start(), half.end())
        return [broken(half.start())]
    return read_json(text, report) if is_json(text) else read_text(text, report, recall)


def is_json(text: str) -> bool:
    """Whether a config is JSON: the text format never starts with a brace."""
    # A list is no valid config, but its author meant JSON, and the JSON parser says how to write it.
    return text.lstrip()[:1] in ("{", "[")
