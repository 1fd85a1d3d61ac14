"""Prototxt files as messages: values by field, with their positions; all errors go to the report."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

from paddle_layers.config.binding.values import MISSING, bind_value
from paddle_layers.config.diagnostics.diagnostic import Diagnostic, Source
from paddle_layers.config.diagnostics.report import ConfigError, DiagnosticReport
from paddle_layers.config.diagnostics.suggestions import nearest
from paddle_layers.config.files import read_file
from paddle_layers.config.reading.fields import BLOCK, BROKEN, INT, STRING, WORD, Field, Fields, items, shown
from paddle_layers.config.reading.reader import read_text
from paddle_layers.define.machine import gc_paused

from .messages import FieldSpec, fields_of

LARGEST = 1 << 26
"""Bytes of a prototxt; the largest of published networks has 300,000."""


class Message:
    """A block of a prototxt. `message["pad"]` is what the field says, or its default; of a repeated one a list."""

    __slots__ = ("_listed", "kind", "places", "start", "unknown", "values")

    def __init__(self, kind: str, start: int) -> None:
        self.kind, self.start = kind, start
        self.values: dict[str, Any] = {}
        self.places: dict[str, list[Field]] = {}
        self.unknown: Fields = []
        """Unknown fields."""
        self._listed: dict[str, list[int]] = {}

    def __getitem__(self, name: str) -> Any:
        if name in self.values:
            return self.values[name]
        field = fields_of(self.kind)[name]
        if field.repeated:
            return []
        return Message(field.message, self.start) if field.message[:1].isupper() else field.default

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def place(self, name: str, item: int = 0) -> int:
        """Offset of a field's value, or of the message where it is absent."""
        if name not in self._listed:  # kept, because a layer may have 100,000 bottoms
            self._listed[name] = [value[4] for field in self.places.get(name, ()) for value in items(field)]
        found = self._listed[name]
        return found[min(item, len(found) - 1)] if found else self.start


def read_prototxt(path: Path) -> str:
    """The text of a prototxt. Raises `ConfigError` where it is no file of a prototxt's size."""
    problem = ""
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):
            problem = f"`{path}` is not a regular file"
        elif facts.st_size > LARGEST:
            problem = f"`{path}` has {facts.st_size:,} bytes, the limit of a prototxt is {LARGEST:,}"
    except (OSError, ValueError):
        pass  # `read_file` says why it cannot be read
    if problem:
        raise ConfigError([Diagnostic("E007", problem, Source(str(path), ""), 0)])
    return read_file(path)


def fields_of_text(report: DiagnosticReport) -> Fields:
    """The fields of a prototxt. Raises `TooManyFaults`."""
    # Many small tuples, none of them cyclic: the collector would traverse all of them repeatedly.
    return gc_paused(lambda: read_text(report.source.text, report))


def bind(kind: str, fields: Fields, start: int, report: DiagnosticReport) -> Message:
    """The fields of a block as the message `kind`. What a layer has too much is left to `report_unknown`."""
    message, known = Message(kind, start), fields_of(kind)
    for field in fields:
        if field[0] in known:
            message.places.setdefault(field[0], []).append(field)
        elif field[0] != BROKEN:
            message.unknown.append(field)
    for name, given in message.places.items():
        _bind_field(message, name, known[name], given, report)
    # A layer of an unsupported type is reported by its type alone; its settings are unknown for that reason.
    if kind not in ("Layer", "OldLayer"):
        report_unknown(message, report)
    return message


def report_unknown(message: Message, report: DiagnosticReport) -> None:
    """Report the fields that Caffe's message does not have."""
    known = fields_of(message.kind)
    for field in message.unknown:
        near = nearest(field[0], known)
        help_ = f"did you mean `{near}`?" if near else f"expected one of {', '.join(list(known)[:12])}"
        report.add("E101", f"unknown field `{field[0]}`", field[3], help=help_)


def _bind_field(message: Message, name: str, spec: FieldSpec, given: list[Field], report: DiagnosticReport) -> None:
    if not spec.repeated and len(given) > 1 and spec.message != "any":
        for field in given[1:]:
            # As in protobuf's text format, where a singular field that occurs twice is an error.
            note = report.note("first occurrence", given[0][3])
            report.add("E106", f"duplicate field `{name}`", field[3], notes=(note,))
    found = [
        value for field in given for item in items(field) if (value := _value(name, spec, item, report)) is not MISSING
    ]
    if spec.repeated:
        message.values[name] = found
    elif found:
        message.values[name] = found[0]


def _value(name: str, spec: FieldSpec, item: Field, report: DiagnosticReport) -> Any:
    if spec.message == "any":
        return True
    # The type is an identifier in the old format and a string in the new one.
    if spec.message == "type":
        if item[1] in (STRING, WORD):
            return item[2]
        report.add("E102", f"`{name}` takes a quoted string, got {shown(item)}", item[4])
        return MISSING
    if spec.words and item[1] == INT:
        return _enum_value(name, spec, item, report)
    if spec.attribute is not None:
        return bind_value(spec.attribute, item, report)
    if item[1] == BLOCK:
        return bind(spec.message, item[2], item[3] if item[0] else item[4], report)
    if item[0] != BROKEN:
        report.add("E102", f"`{name}` is a block: write `{name} {{ ... }}`", item[4])
    return MISSING


def _enum_value(name: str, spec: FieldSpec, item: Field, report: DiagnosticReport) -> Any:
    """The value of an enum that is given by its number, which protobuf's text format permits."""
    if item[2] in spec.words:
        return spec.words[item[2]]
    values = ", ".join(f"{word} ({number})" for number, word in spec.words.items())
    report.add("E104", f"`{name}` has no value with the number {item[2]}", item[4], help=f"expected one of {values}")
    return MISSING
