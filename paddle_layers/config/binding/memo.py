"""Memoization of parsed layers: a layer with the same text as an earlier one is not parsed again."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from paddle_layers.define import Attributes, LayerDefinition, registries
from paddle_layers.define.fields.attributes import Attribute

from ..diagnostics.diagnostic import Source
from ..diagnostics.report import DiagnosticReport, TooManyFaults
from ..reading.fields import STRING, WORD, Field, Recall
from ..reading.reader import read_text
from .binder import Binder
from .drafting import make_setup
from .drafts import LINEAR, Draft, Setup
from .headers import spec
from .steps import GROUP, MEMORY
from .values import MISSING, convert

UNSEEN: Any = object()


def memo() -> Recall:
    """Memoization for the layers of one file: the draft of a valid layer, or None if the reader has to check it."""
    types: dict[str, _LayerType] = {}
    binder = Binder(DiagnosticReport(Source("", "")))

    def recall(match: re.Match[str]) -> Draft | None:
        name, kind, inputs, rest = match.groups()
        layer_type = types.get(kind)
        if layer_type is None:
            layer_type = types[kind] = _LayerType(kind, binder)
        # By text: repeated blocks of a network differ in names and inputs only. `None`, a layer that the reader has to
        # check, is remembered as well.
        setup = layer_type.setups.get(rest, UNSEEN)
        if setup is UNSEEN:
            setup = layer_type.setups[rest] = layer_type.bind(rest)
        # The name is not part of the memoized text, so an odd one is left to the parser, which reports it.
        odd = not name or not name.isprintable() or "#" in inputs  # a comment between the inputs may contain quotes
        if setup is None or odd:
            return None
        given = tuple(inputs.split('"')[1::2]) if inputs else ()
        return Draft(name, setup.definition, given, setup, match.start(1) - 1, None, match.string, match.start())

    return recall


class _LayerType:
    """Binds the text that follows the inputs of a layer of one type."""

    def __init__(self, kind: str, binder: Binder) -> None:
        self.kind, self.binder = kind, binder
        self.setups: dict[str, Setup | None] = {}
        definition: LayerDefinition | None = registries["layer"].get(kind)
        # A group has a separate scope inside, and a memory is only legal there: both need the parser.
        self.definition = definition if definition is not None and definition.name not in (GROUP, MEMORY) else None
        known = definition.attribute_by_name.items() if definition is not None else ()
        single = {name: attribute for name, attribute in known if not (attribute.repeated or attribute.deprecated)}
        self.readers = {f"{name}:".encode(): (one.name, _reader(one)) for name, one in single.items()}
        self.opening = [kind.encode(), b"{"]

    def bind(self, text: str) -> Setup | None:
        """The bound settings; None after an error, or if positions are needed."""
        if self.definition is None:
            return None
        # The common case, without the parser and the binder.
        attributes = self._simple_attributes(self.definition, text)
        if attributes is not None and attributes.get("act", LINEAR) == LINEAR:
            return Setup(self.definition, attributes)
        report = DiagnosticReport(Source("", text))
        self.binder.report = report
        try:
            # With a report of this text alone: errors are reported by the parser, with positions in the file.
            return self._parsed(text, report)
        except TooManyFaults:
            # The report is that of this attempt alone: a layer with a thousand errors must not end the parsing of the
            # file.
            return None

    def _parsed(self, text: str, report: DiagnosticReport) -> Setup | None:
        # Any valid name would do: the memo is shared by all layers with this text, whose names differ.
        fields: list[Field] = [("name", STRING, self.kind, 0, 0), ("type", STRING, self.kind, 0, 0)]
        fields += read_text(text, report)
        bound = self.binder.message(fields, spec("Layer"), 0, "layer")
        # These need positions, the enclosing block or the other layers; `input` here is one that is not in the place
        # where `fmt` writes it.
        if not bound.places.keys().isdisjoint(("step", "input", "set", "times")):
            return None
        # Warnings, too, need a position of the file, so a layer with one is left to the parser.
        setup = make_setup(bound, self.binder)
        return setup if not report.diagnostics else None

    def _simple_attributes(self, definition: LayerDefinition, text: str) -> Attributes | None:
        """Attributes of a block of simple values that are separated by blanks; None if anything else is there."""
        # As bytes, which are split at the blanks of the text format only.
        words = text.encode().split()
        if words[:2] != self.opening or words[-1] != b"}":
            return None
        given: dict[str, Any] = {}
        names, values = words[2:-1:2], words[3:-1:2]
        try:
            for name, value in zip(names, values, strict=True):
                own, read = self.readers[name]
                given[own] = read(value)
        except (KeyError, ValueError):
            return None
        duplicate = len(given) < len(names)
        return None if duplicate or definition.lacks(given) else definition.fill_defaults(given)


def _reader(attribute: Attribute[Any]) -> Callable[[bytes], Any]:
    """A function from the text of a simple value to its stored form; `ValueError` for another value."""
    if attribute.type not in _NUMBERS:
        return lambda text: _word(attribute, text.decode())
    pattern, number = _NUMBERS[attribute.type]
    match, (least, most) = pattern.fullmatch, attribute.limits

    # The most frequent values, without the calls of the general conversion.
    def read(text: bytes) -> float:
        if match(text) and least <= (value := number(text)) <= most:
            return value
        raise ValueError

    return read


# Lengths are limited, so that integers fit into 64 bits and no number exceeds the maximum length.
_NUMBERS: dict[str, tuple[re.Pattern[bytes], Callable[[bytes], float]]] = {
    "INT": (re.compile(rb"-?(?:0|[1-9][0-9]{0,17}+)"), int),
    # As an integer, `-0` is 0, while `float("-0")` is negative.
    "FLOAT": (re.compile(rb"(?!-0\Z)-?(?:0|[1-9][0-9]{0,17}+)(?:\.[0-9]{1,250}+)?(?:[eE][-+]?[0-9]{1,3}+)?"), float),
}
_WORD = re.compile(r"[A-Za-z_]\w*+", re.A)
_STRING = re.compile(r'"([^"\\]*+)"')


def _word(attribute: Attribute[Any], text: str) -> Any:
    quoted = _STRING.fullmatch(text)
    if not (quoted or _WORD.fullmatch(text)):
        raise ValueError
    value = convert(attribute.type, STRING, quoted[1]) if quoted else convert(attribute.type, WORD, text)
    if value is MISSING or attribute.check_item(value) is not None:
        raise ValueError
    return value
