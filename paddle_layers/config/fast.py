"""The fast way in: one match for a layer, and equal settings are read once.

It gives up at anything unusual or wrong; the whole file then goes through the reader that keeps every place.
"""

from __future__ import annotations

from paddle_layers.define import registries

from .binder import Binder
from .diagnostics import Report, Source
from .drafts import Draft, make_setup
from .fields import STRING, Field
from .headers import spec
from .network import Setup
from .patterns import EVENT, LAYER
from .reader import read_text


class _Unusual(Exception):
    """Not for the fast reader."""


def read_fast(text: str) -> tuple[str, list[Draft]] | None:
    """Name and layers of a network file, or None when it takes the thorough reader to say."""
    try:
        return _read(text)
    except _Unusual:
        return None


def _read(text: str) -> tuple[str, list[Draft]]:
    match_layer = LAYER.match
    name: str | None = None
    drafts: list[Draft] = []
    add = drafts.append
    settings = _Settings()
    known: dict[tuple[str, str], Setup] = {}
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
        setup = known.get((kind, rest))
        if setup is None:
            setup = known[kind, rest] = settings.bind(kind, rest)
        add(Draft(layer, setup.definition, tuple(inputs.split('"')[1::2]) if inputs else (), setup, match.start(1)))
        position = match.end()


class _Settings:
    """Binds the text that follows the inputs of a layer."""

    def __init__(self) -> None:
        self.binder = Binder(Report(Source("", "")))
        self.header = spec("Layer")

    def bind(self, kind: str, rest: str) -> Setup:
        if kind not in registries["layer"]:
            raise _Unusual
        report = Report(Source("", rest))
        self.binder.report = report
        fields: list[Field] = [("name", STRING, kind, 0, 0), ("type", STRING, kind, 0, 0)]
        fields += read_text(rest, report)
        bound = self.binder.message(fields, self.header, 0, "layer")
        setup = make_setup(bound, self.binder)
        if report.diagnostics or setup is None or "input" in bound.places:
            raise _Unusual
        return setup
