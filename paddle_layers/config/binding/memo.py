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
        self.blocks: dict[str, _SimpleBlocks | None] = {}

    def bind(self, kind: str, rest: str) -> Setup | None:
        """The bound settings; None after an error, or if positions are needed."""
        if kind not in self.blocks:
            definition = registries["layer"].get(kind)
            # A group has a separate scope inside, and a memory is only legal there: both need the parser.
            known = definition is not None and definition.name not in (GROUP, MEMORY)
            self.blocks[kind] = _SimpleBlocks(definition) if known else None
        if (blocks := self.blocks[kind]) is None:
            return None
        # The common case: all fields of the attribute block by one `findall`, without the parser and the binder.
        simple = SIMPLE_BLOCK.fullmatch(rest)
        if simple is not None and simple[1] == kind:
            attributes = blocks.attributes(simple[2])
            if attributes is not None and attributes.get("act", LINEAR) == LINEAR:
                return Setup(blocks.definition, attributes)
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


class _SimpleBlocks:
    """Reads attribute blocks of one layer type that consist of simple values."""

    def __init__(self, definition: LayerDefinition) -> None:
        self.definition = definition
        known = definition.attribute_by_name.items()
        self.readers = {
            name: (one.name, _reader(one)) for name, one in known if not (one.repeated or one.deprecated)
        }  # fmt: skip

    def attributes(self, text: str) -> Attributes | None:
        """The attributes; None if anything needs a diagnostic."""
        given: dict[str, Any] = {}
        fields = SIMPLE_FIELD.findall(text)
        try:
            for name, value in fields:
                own, read = self.readers[name]
                given[own] = read(value)
        except (KeyError, ValueError):
            return None
        duplicate = len(given) < len(fields)
        return None if duplicate or self.definition.lacks(given) else self.definition.fill_defaults(given)


def _reader(attribute: Attribute[Any]) -> Callable[[str], Any]:
    """A function from the text of a simple value to its stored form; `ValueError` for an illegal one."""
    if (number := _NUMBERS.get(attribute.type)) is None:
        return lambda text: _checked(attribute, text)
    least, most = attribute.limits

    # The most frequent values, without the calls of the general conversion.
    def read(text: str) -> float:
        value = number(text)
        if least <= value <= most:
            return value
        raise ValueError

    return read


_NUMBERS: dict[str, Callable[[str], float]] = {"INT": int, "FLOAT": float}


def _checked(attribute: Attribute[Any], text: str) -> Any:
    value = convert(attribute.type, STRING, text[1:-1]) if text[0] == '"' else convert(attribute.type, WORD, text)
    if value is MISSING or attribute.check_item(value) is not None:
        raise ValueError
    return value
