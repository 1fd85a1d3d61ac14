"""Syntax detection: the fields of a config in text format or JSON."""

from __future__ import annotations

from ..diagnostics.report import DiagnosticReport
from .fields import Fields, Recall, broken
from .jsonreader import read_json
from .lexical import HALF
from .reader import read_text


def read(report: DiagnosticReport, recall: Recall | None = None) -> Fields:
    """The fields of a config in either syntax. Raises `TooManyFaults`."""
    text = report.source.own
    if not text.isascii() and (half := HALF.search(text)):
        report.add("E003", f"unpaired surrogate `\\u{ord(half[0]):04x}`", half.start(), half.end())
        return [broken(half.start())]
    return read_json(text, report) if is_json(text) else read_text(text, report, recall)


def is_json(text: str) -> bool:
    """Whether a config is JSON: the text format never starts with a brace."""
    return text.lstrip()[:1] in ("{", "[")
