"""Memoization of parsed layers: a layer with the same text as an earlier one is not parsed again."""

from __future__ import annotations

import re
from typing import Any

from paddle_layers.define import Attributes, LayerDefinition, registries

from ..diagnostics.diagnostic import Source
from ..diagnostics.report import DiagnosticReport, TooManyFaults
from ..reading.fields import INT, STRING, WORD, Field, Recall
from ..reading.lexer import SIMPLE_BLOCK, SIMPLE_FIELD
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
    known: dict[tuple[str, str], Setup | None] = {}
    bind = _Settings().bind

    def recall(match: re.Match[str]) -> Draft | None:
        name, kind, inputs, rest = match.groups()
        # By text: repeated blocks of a network differ in names and inputs only. `None`, a layer that the reader has to
        # check, is remembered as well.
        setup = known.get((kind, rest), UNSEEN)
        if setup is UNSEEN:
            setup = known[kind, rest] = bind(kind, rest)
        # The name is not part of the memoized text, so an odd one is left to the parser, which reports it.
        odd = not name or not name.isprintable() or "#" in inputs  # a comment between the inputs may contain quotes
        if setup is None or odd:
            return None
        given = tuple(inputs.split('"')[1::2]) if inputs else ()
        return Draft(name, setup.definition, given, setup, match.start(1) - 1, None, match)

    return recall


class _Settings:
    """Binds the text that follows the inputs of a layer."""

    def __init__(self) -> None:
        self.binder = Binder(DiagnosticReport(Source("", "")))
        self.header = spec("Layer")

    def bind(self, kind: str, rest: str) -> Setup | None:
        """The bound settings; None after an error, or if positions are needed."""
        definition = registries["layer"].get(kind)
        # A group has a separate scope inside, and a memory is only legal there: both need the parser.
        if definition is None or definition.name in (GROUP, MEMORY):
            return None
        # The common case: all fields of the attribute block by one `findall`, without the parser and the binder.
        simple = SIMPLE_BLOCK.fullmatch(rest)
        if simple is not None and simple[1] == kind:
            attributes = _simple_attributes(definition, simple[2])
            if attributes is not None and attributes.get("act", LINEAR) == LINEAR:
                return Setup(definition, attributes)
        report = DiagnosticReport(Source("", rest))
        self.binder.report = report
        try:
            # With a report of this text alone: errors are reported by the parser, with positions in the file.
            return self._judged(kind, rest, report)
        except TooManyFaults:
            # The report is that of this attempt alone: a layer with a thousand errors must not end the parsing of the
            # file.
            return None

    def _judged(self, kind: str, rest: str, report: DiagnosticReport) -> Setup | None:
        fields: list[Field] = [("name", STRING, kind, 0, 0), ("type", STRING, kind, 0, 0)]
        # Any valid name would do above: the memo is shared by all layers with this text, whose names differ.
        fields += read_text(rest, report)
        bound = self.binder.message(fields, self.header, 0, "layer")
        # These need positions, the enclosing block or the other layers; `input` here is one that is not in the place
        # where `fmt` writes it.
        if not bound.places.keys().isdisjoint(("step", "input", "set", "times")):
            return None
        # Warnings, too, need a position of the file, so a layer with one is left to the parser.
        setup = make_setup(bound, self.binder)
        return setup if not report.diagnostics else None


def _simple_attributes(definition: LayerDefinition, text: str) -> Attributes | None:
    """Attributes of a block of simple values; None if anything needs a diagnostic."""
    known = definition.attribute_by_name
    given: dict[str, Any] = {}
    for name, whole, real, word, quoted in SIMPLE_FIELD.findall(text):
        attribute = known.get(name)
        if attribute is None or attribute.repeated or attribute.deprecated or attribute.name in given:
            return None
        value: Any
        # The two frequent cases without a call of the general conversion.
        if whole and attribute.type == "INT":
            value = int(whole)
            legal = attribute.range_problem(value) is None
        elif real and attribute.type == "FLOAT":
            value = float(real)
            legal = attribute.range_problem(value) is None
        else:
            value = _converted(attribute.type, whole, real, word, quoted)
            legal = value is not MISSING and attribute.check_item(value) is None
            value = attribute.convert_item(value) if legal else None
        if not legal:
            return None
        given[attribute.name] = value
    for name in definition.required_names:
        if name not in given:
            return None
    return definition.fill_defaults(given)


def _converted(type_: str, whole: str, real: str, word: str, quoted: str) -> Any:
    """A value that needs a conversion; `MISSING` if it is invalid."""
    if whole:
        return convert(type_, INT, int(whole))
    if real:
        return MISSING
    return convert(type_, WORD, word) if word else convert(type_, STRING, quoted)
