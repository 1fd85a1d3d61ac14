"""The fast way in: one match for a layer, and equal settings are read once.

A layer whose settings are wrong, or which holds other layers, is read again with all its places. Anything else that
is unusual or wrong makes this reader give up; the whole file then goes through the reader that keeps every place.
"""

from __future__ import annotations

import re
from typing import Any

from paddle_layers.define import Attributes, LayerDefinition, registries

from ..diagnostics.diagnostic import Source
from ..diagnostics.report import Report, TooManyFaults
from ..reading.fields import BLOCK, INT, LIST, STRING, WORD, Field, Fields
from ..reading.patterns import EVENT, LAYER, SIMPLE_BLOCK, SIMPLE_FIELD
from ..reading.reader import read_text
from .binder import Binder
from .drafting import draft, make_setup
from .drafts import LINEAR, Draft, Setup
from .headers import spec
from .steps import GROUP, MEMORY
from .values import MISSING, convert


class _Unusual(Exception):
    """Not for the fast reader."""


def read_fast(report: Report) -> tuple[str, list[Draft]] | None:
    """Name and layers of a network file, or None when it takes the thorough reader to say.

    Faults of the settings of single layers go to the report.
    """
    try:
        return _read(report.source.text, report)
    except (_Unusual, TooManyFaults):
        return None


def _read(text: str, report: Report) -> tuple[str, list[Draft]]:
    match_layer = LAYER.match
    name: str | None = None
    drafts: list[Draft] = []
    add = drafts.append
    settings = _Settings()
    known: dict[tuple[str, str], Setup | None] = {}
    position = 0
    while True:
        match = match_layer(text, position)
        if match is None:
            event = EVENT.match(text, position)
            if event is not None and event.lastindex == 13:
                return name or "", drafts
            if event is None or event.lastindex != 5 or event[1] != "name" or name is not None:
                raise _Unusual
            name, position = event[5][1:-1], event.end()
            continue
        layer, kind, inputs, rest = match.groups()
        if not layer or "#" in inputs:  # a comment between the inputs may hold quotes
            raise _Unusual
        try:
            setup = known[kind, rest]
        except KeyError:
            setup = known[kind, rest] = settings.bind(kind, rest)
        if setup is None:
            add(_placed(match, report))
            position = match.end()
            continue
        add(Draft(layer, setup.definition, tuple(inputs.split('"')[1::2]) if inputs else (), setup, match.start(1)))
        position = match.end()


class _Settings:
    """Binds the text that follows the inputs of a layer."""

    def __init__(self) -> None:
        self.binder = Binder(Report(Source("", "")))
        self.header = spec("Layer")

    def bind(self, kind: str, rest: str) -> Setup | None:
        """What the settings say; None when there is something wrong with them, or it takes all places to say."""
        definition = registries["layer"].get(kind)
        if definition is None or definition.name in (GROUP, MEMORY):
            return None
        simple = SIMPLE_BLOCK.fullmatch(rest)
        if simple is not None and simple[1] == kind:
            attributes = _simple_attributes(definition, simple[2])
            if attributes is not None and attributes.get("act", LINEAR) == LINEAR:
                return Setup(definition, attributes)
        report = Report(Source("", rest))
        self.binder.report = report
        fields: list[Field] = [("name", STRING, kind, 0, 0), ("type", STRING, kind, 0, 0)]
        fields += read_text(rest, report)
        bound = self.binder.message(fields, self.header, 0, "layer")
        if "step" in bound.places:
            return None
        setup = make_setup(bound, self.binder)
        if "input" in bound.places:
            raise _Unusual
        if report.diagnostics or setup is None:
            return None
        return setup


def _placed(match: re.Match[str], report: Report) -> Draft:
    """A layer read by itself, with the places it has in the whole text; its faults go to the report."""
    own = Report(Source("", match[0]))
    fields = read_text(match[0], own)
    if own.diagnostics or len(fields) != 1:
        raise _Unusual
    layer = fields[0]
    binder = Binder(report)
    bound = binder.message(_shifted(layer[2], match.start()), spec("Layer"), layer[3] + match.start(), "layer")
    return draft(bound, binder)


def _shifted(fields: Fields, by: int) -> Fields:
    """The same fields, their places moved; the pattern of a layer keeps them a few blocks deep."""
    moved: Fields = []
    for name, kind, value, start, value_start in fields:
        inner = _shifted(value, by) if kind in (BLOCK, LIST) else value
        moved.append((name, kind, inner, start + by, value_start + by))
    return moved


def _simple_attributes(definition: LayerDefinition, text: str) -> Attributes | None:
    """Attributes of a block of plain values; None where anything needs a word to the user."""
    known = definition.attribute_by_name
    given: dict[str, Any] = {}
    for name, whole, real, word, quoted in SIMPLE_FIELD.findall(text):
        attribute = known.get(name)
        if attribute is None or attribute.repeated or attribute.deprecated or attribute.name in given:
            return None
        value: Any
        if whole:
            value = int(whole) if attribute.type == "INT" else convert(attribute.type, INT, int(whole))
        elif real:
            value = float(real) if attribute.type == "FLOAT" else MISSING
        else:
            value = convert(attribute.type, WORD, word) if word else convert(attribute.type, STRING, quoted)
        if value is MISSING or attribute.check_item(value) is not None:
            return None
        given[attribute.name] = attribute.convert_item(value)
    for name in definition.required_names:
        if name not in given:
            return None
    return definition.fill_defaults(given)
