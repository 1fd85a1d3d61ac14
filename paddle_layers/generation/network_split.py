"""Splitting a network for incremental decoding: translation of layers to a single position."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from paddle_layers.config import ConfigError, Network
from paddle_layers.config.binding.drafts import Setup
from paddle_layers.config.binding.settings import ParamSettings
from paddle_layers.config.wiring.inference import types_of
from paddle_layers.config.wiring.nodes import Node
from paddle_layers.define import ShapeError, Type, registries

CODE = "E313"
ONE, PLACE, ROW = "(one)", "(place)", "(row)"
"""Data layers with names that no config can have: sequences of one row each, the position index, and for each earlier
position the batch row of its cached values.
"""
MANY = 2**31 - 1
"""Maximum length of a sequence if no layer limits the number of positions."""
FED = {ONE: Type.ids(1, level=1), ROW: Type.ids(MANY)._replace(dims=(1,))}


class CarriedState(NamedTuple):
    """State carried from position to position: one row per sequence."""

    name: str
    """Name of the data layer that it is fed to."""
    next: str
    """The value that is fed at the next position."""
    boot: str | float
    """Initial value: a value of the source, or a constant (or id) for all sequences."""
    type: Type
    """Type of the data layer."""
    grows: bool = False
    """Whether it is a cache of all earlier positions: `type` is that of the first ones, with an axis of positions."""


class SplitValue(NamedTuple):
    """A value as the layers of one network reference it."""

    name: str
    type: Type
    moving: bool
    """Whether it depends on the generated words."""


Scope = dict[str, SplitValue]


class NetworkSplit:
    """The two parts under construction, and the translation of a layer to the position part."""

    def __init__(self, network: Network, words: str) -> None:
        self.network, self.words = network, words
        self.source: list[Node] = []
        self.position: list[Node] = []
        self.given: dict[str, Type] = {}
        self.carried: list[CarriedState] = []
        self.scope: Scope = {}
        self.places: dict[str, int] = {}
        self.layer = ""
        """The layer of the config that is looked at, for messages."""

    def put(self, name: str, setup: Setup, inputs: Iterable[SplitValue], outputs: tuple[str, ...]) -> list[SplitValue]:
        """Adds a layer to the position part. Raises `ConfigError` if it does not accept single rows."""
        read = [self.read(value) for value in inputs]
        types = tuple(value.type for value in read)
        try:
            found = types_of(setup, types)
        except ShapeError as error:
            raise self.fault(f"`{setup.definition.name}` needs more than one position: {error.message}") from None
        # Layers keep the name of the original: parameters are found by it, so that both networks read the same weights
        # file.
        self.position.append(Node(name, tuple(value.name for value in read), outputs, setup, types, found, 0))
        return [SplitValue(output, type_, moving=True) for output, type_ in zip(outputs, found, strict=True)]

    def read(self, value: SplitValue) -> SplitValue:
        """A value that the position part reads; values of the source are fed."""
        if not value.moving:
            # Values of the source are repeated per beam, which needs rows or plain sequences.
            if value.type.kind.startswith("SPARSE") or value.type.level == 2:
                raise self.fault(f"`{value.name}` is {value.type}, which cannot be fed per position")
            self.given[value.name] = value.type
        return value

    def add_layer(
        self,
        layer: str,
        name: str,
        inputs: tuple[SplitValue, ...],
        outputs: tuple[str, ...],
        params: Mapping[str, ParamSettings] | None = None,
        activation: str = "linear",
        **attributes: Any,
    ) -> SplitValue:
        """Adds a layer that is not in the config; returns its first output."""
        setup = setup_of(layer, attributes, params)
        if activation != "linear":
            setup.activation = (registries["layer"][activation], registries["layer"][activation].bind({}))
        return self.put(name, setup, inputs, outputs)[0]

    def fault(self, message: str, help_: str = "") -> ConfigError:
        """The error for the current layer."""
        text = f"layer `{self.layer}` cannot generate word by word: {message}"
        return self.network.error(self.layer, text, code=CODE, help=help_)


def names_of(node: Node, prefix: str) -> tuple[str, ...]:
    """Names of the outputs of a nested layer."""
    return tuple(prefix.replace(".", "/") + name for name in node.output_names)


def setup_of(layer: str, attributes: Mapping[str, Any], params: Mapping[str, ParamSettings] | None = None) -> Setup:
    """A layer with these attributes."""
    definition = registries["layer"][layer]
    setup = Setup(definition, definition.bind(attributes))
    setup.params = dict(params or {})
    return setup


def data_layer(name: str, type_: Type) -> Node:
    """A data layer of this type."""
    given: dict[str, Any] = {"data_type": type_.kind, "seq_nested_level": type_.level}
    given |= {"size": type_.size} if type_.kind != "DENSE" else {}
    given |= {"shape": type_.dims} if type_.dims else {}
    return Node(name, (), (name,), setup_of("data", given), (), (type_,), 0)
