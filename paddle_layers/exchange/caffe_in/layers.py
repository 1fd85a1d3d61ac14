"""Caffe layers in each phase, symbolic values of the blobs between them, and the converted layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.config.binding.drafting import check_name
from paddle_layers.config.diagnostics.report import DiagnosticReport
from paddle_layers.config.diagnostics.suggestions import nearest
from paddle_layers.define import Type

from .messages import INPUT_TYPES, OLD_TYPES
from .reading import Message

Fields = dict[str, Any]
Arrays = Sequence[NDArray[np.float32]]
PHASES = ("train", "test")


class BlobValue:
    """The value that one layer writes into a blob, until another one overwrites it."""

    __slots__ = ("draft", "fault", "is_loss", "name", "phases", "place", "readers", "type", "usual")

    def __init__(self, name: str, phases: tuple[str, ...] = PHASES) -> None:
        self.name = name
        """Its name in the network: the blob's, or that of the in-place layer."""
        self.phases = phases
        """The phases in which the layer that produces it is present."""
        self.type: Type | None = None
        """None while the shape is unknown."""
        self.usual: Type | None = None
        """The default type."""
        self.place = 0
        """Where in the file it is produced."""
        self.fault = False
        """The layer that produces it was rejected: its readers are not converted."""
        self.is_loss = False
        self.draft: LayerDraft | None = None
        self.readers: list[CaffeLayer] = []


class Bridge(NamedTuple):
    """In a phase in which the layer that makes `value` is absent, `source` takes its place."""

    value: BlobValue
    source: BlobValue
    phase: str


@dataclass(eq=False)
class CaffeLayer:
    """A layer of the prototxt that is there in at least one phase."""

    message: Message
    type: str
    name: str
    phases: tuple[str, ...]
    bottoms: list[BlobValue] = field(default_factory=list)
    tops: list[BlobValue] = field(default_factory=list)
    bridges: list[Bridge] = field(default_factory=list)
    """Layers that must precede it."""

    @property
    def in_place(self) -> bool:
        """Whether its first output is written over its first input."""
        bottom, top = self.message["bottom"], self.message["top"]
        return bool(bottom and top) and bottom[0] == top[0]


@dataclass(eq=False)
class LayerDraft:
    """One layer here, and the values that it makes."""

    name: str
    type: str
    inputs: list[BlobValue]
    outputs: list[BlobValue]
    attributes: Fields
    phases: tuple[str, ...]
    params: dict[str, Fields] = field(default_factory=dict)
    """Settings of parameters by name."""
    activation: Fields | None = None
    loss_weight: list[float] = field(default_factory=list)
    propagate_down: list[bool] = field(default_factory=list)

    def fields(self, phases: tuple[str, ...]) -> Fields:
        """The fields of the layer in a network file that is for these phases."""
        found: Fields = {"name": self.name, "type": self.type}
        found["input"] = [value.name for value in self.inputs]
        names = [value.name for value in self.outputs]
        found["output"] = [] if names == [self.name] else names
        if self.attributes:
            found[self.type] = self.attributes
        if self.activation is not None:
            found["activation"] = self.activation
        found["param"] = [{"of": name, **settings} for name, settings in self.params.items() if settings]
        found["include"] = [] if self.phases == phases else [{"phase": phase} for phase in self.phases]
        found["loss_weight"] = self.loss_weight
        found["propagate_down"] = self.propagate_down
        return {name: value for name, value in found.items() if value != []}


@dataclass(eq=False)
class BlobConversion:
    """Conversion of the blobs of a Caffe layer: their shapes there, and the resulting parameters and states."""

    layer: CaffeLayer
    shapes: tuple[tuple[int, ...], ...]
    make: Callable[[Arrays], Mapping[str, NDArray[np.float32]]]
    """The arrays by parameter name."""


class NetState(NamedTuple):
    """State of one phase, for the rules of layers."""

    phase: str
    level: int = 0
    stages: frozenset[str] = frozenset()


def type_of(message: Message) -> str:
    """The layer's type as Caffe calls it today."""
    found = str(message["type"] or "")
    return OLD_TYPES.get(found, found) if message.kind == "OldLayer" else found


def phases_of(message: Message, states: Sequence[NetState]) -> tuple[str, ...]:
    """The phases in which a layer is there."""
    return tuple(state.phase for state in states if _present(message, state))


def _present(message: Message, state: NetState) -> bool:
    include, exclude = message["include"], message["exclude"]
    if include:
        return any(_meets(rule, state) for rule in include)
    return not any(_meets(rule, state) for rule in exclude)


def _meets(rule: Message, state: NetState) -> bool:
    return (
        ("phase" not in rule or rule["phase"].lower() == state.phase)
        and ("min_level" not in rule or rule["min_level"] <= state.level)
        and ("max_level" not in rule or rule["max_level"] >= state.level)
        and all(stage in state.stages for stage in rule["stage"])
        and not any(stage in state.stages for stage in rule["not_stage"])
    )


class Blobs:
    """Resolves the names of blobs, layer by layer in the order of the file."""

    def __init__(self, report: DiagnosticReport, inputs: Sequence[BlobValue]) -> None:
        self.report = report
        self.current: dict[str, dict[str, BlobValue]] = {phase: {v.name: v for v in inputs} for phase in PHASES}
        """In each phase, the current value of each blob."""
        self.fed: dict[str, BlobValue] = {value.name: value for value in inputs}
        """Values of data layers, shared by both phases."""
        self._written = {phase: set(self.fed) for phase in PHASES}
        self._taken = {phase: set(self.fed) for phase in PHASES}
        """Names of values."""
        self._layers: set[tuple[str, str]] = set()
        self._numbers: dict[str, int] = {}
        """The number of layers with each name."""
        self._unknown: set[str] = set()

    def resolve(self, message: Message, phases: tuple[str, ...]) -> CaffeLayer:
        """The layer with the values that it reads and makes."""
        layer = CaffeLayer(message, type_of(message), self._layer_name(message, phases), phases)
        layer.bottoms = [self._read(layer, place) for place in range(len(message["bottom"]))]
        for value in layer.bottoms:
            value.readers.append(layer)
        tops = message["top"]
        for place, blob in enumerate(tops):
            # A blob may have any number of readers here, so a Split is another name of the same value.
            if layer.type == "Split" and layer.bottoms:
                top = layer.bottoms[0]
            elif layer.type in INPUT_TYPES:
                top = self._fed(layer, blob)
            else:
                top = self._made(layer, place, blob)
            if layer.type != "Split":
                top.place = message.place("top", place)
            layer.tops.append(top)
            for phase in phases:
                self.current[phase][blob] = top
        return layer

    def _fed(self, layer: CaffeLayer, blob: str) -> BlobValue:
        """The value of a data layer, which feeds both phases where each has one."""
        for phase in layer.phases:
            self._written[phase].add(blob)
        # Caffe has a data layer for each phase, usually with the same tops: here they are one input with two sources.
        for known in self._taken.values():
            known.add(blob)
        value = self.fed.setdefault(blob, BlobValue(blob, ()))
        value.phases = tuple(phase for phase in PHASES if phase in {*value.phases, *layer.phases})
        return value

    def _layer_name(self, message: Message, phases: tuple[str, ...]) -> str:
        # Caffe accepts layers without a name, and several with the same one. Layers of different phases may share it.
        name = str(message["name"] or (message["top"][0] if message["top"] else type_of(message).lower()))
        check_name(name, "a layer", message.place("name"), self.report)
        known = name
        while any((phase, name) in self._layers for phase in phases):
            self._numbers[known] = self._numbers.get(known, 1) + 1
            name = f"{known}_{self._numbers[known]}"
        self._layers |= {(phase, name) for phase in phases}
        return name

    def _read(self, layer: CaffeLayer, place: int) -> BlobValue:
        """The value of a bottom; where the phases disagree, a bridge is put in front of the layer."""
        blob = layer.message["bottom"][place]
        found = {phase: self.current[phase].get(blob) for phase in layer.phases}
        values = {phase: value for phase, value in found.items() if value is not None}
        if len(values) < len(found):
            self._report_unknown(layer, place, blob)
            missing = BlobValue(blob)
            missing.fault = True
            return missing
        first = values[layer.phases[0]]
        if all(value is first for value in values.values()):
            return first
        # A layer that exists in one phase only has written the blob in place, such as Dropout in training.
        own = next(value for phase, value in values.items() if value.phases == (phase,))
        for phase, other in values.items():
            if other is not own:
                layer.bridges.append(Bridge(own, other, phase))
                other.readers.append(layer)
                # Later readers find the bridge, so one suffices.
                self.current[phase][blob] = own
        return own

    def _report_unknown(self, layer: CaffeLayer, place: int, blob: str) -> None:
        if blob in self._unknown:
            return
        self._unknown.add(blob)
        known = [name for phase in layer.phases for name in self.current[phase]]
        near = nearest(blob, known)
        where = "" if len(layer.phases) > 1 or blob in known else f" in phase {layer.phases[0].upper()}"
        help_ = f"did you mean `{near}`?" if near else "a layer can only read blobs of the layers before it in the file"
        start = layer.message.place("bottom", place)
        self.report.add(
            "E203", f"unknown blob `{blob}`{where}: no layer before this one produces it", start, help=help_
        )

    def _made(self, layer: CaffeLayer, place: int, blob: str) -> BlobValue:
        """The value that a layer writes into a blob."""
        bottoms = layer.message["bottom"]
        # In-place blobs become static single assignment: every layer that overwrites one makes a new value. 232 of the
        # 748 layers in the prototxt files of Caffe's repository are in-place.
        in_place = place < len(bottoms) and bottoms[place] == blob
        if not in_place and any(blob in self._written[phase] for phase in layer.phases):
            message = f"blob `{blob}` is already produced by another layer"
            help_ = (
                "only an in-place layer, which reads the blob as the `bottom` at the same position, can overwrite it"
            )
            self.report.add("E202", message, layer.message.place("top", place), help=help_)
        check_name(blob, "a blob", layer.message.place("top", place), self.report)
        name = blob if not in_place else layer.name if place == 0 else f"{layer.name}.{place}"
        while any(name in self._taken[phase] for phase in layer.phases):
            name += "_"
        for phase in layer.phases:
            self._written[phase].add(blob)
            self._taken[phase].add(name)
        return BlobValue(name, layer.phases)
