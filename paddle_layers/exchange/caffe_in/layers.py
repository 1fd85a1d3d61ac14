"""Caffe layers, symbolic values between them, and the converted layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import Type

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
