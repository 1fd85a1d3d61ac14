"""What becomes of the layers of a network where there is one position only: their place in the two parts of it."""

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
"""Data layers that no config can name so: sequences of one row each, the number of the position, and for each place
before it the row of the batch that has what was kept there."""
MANY = 2**31 - 1
"""Places that a text may have where no layer has a number for each."""
FED = {ONE: Type.ids(1, level=1), ROW: Type.ids(MANY)._replace(dims=(1,))}


class Carried(NamedTuple):
    """What a position knows of those before it: a row for each text."""

    name: str
    """Of the data layer that it is fed to."""
    next: str
    """The value that is fed at the next position."""
    boot: str | float
    """Before the first position: a value of the source, or the number, or id, that all have."""
    type: Type
    """As it is fed."""
    grows: bool = False
    """Whether all positions before have a row each: `type` is that of the first ones, with an axis of places."""


class Value(NamedTuple):
    """A value as the layers of one network know it."""

    name: str
    type: Type
    moving: bool
    """Whether it rests on the words of the text."""


Scope = dict[str, Value]


class Cutting:
    """The two parts while they are made, and how a layer gets into that of a position."""

    def __init__(self, network: Network, words: str) -> None:
        self.network, self.words = network, words
        self.source: list[Node] = []
        self.position: list[Node] = []
        self.given: dict[str, Type] = {}
        self.carried: list[Carried] = []
        self.scope: Scope = {}
        self.places: dict[str, int] = {}
        self.layer = ""
        """The layer of the config that is looked at, for messages."""

    def put(self, name: str, setup: Setup, inputs: Iterable[Value], outputs: tuple[str, ...]) -> list[Value]:
        """A layer of the position. Raises `ConfigError` where it takes no single rows."""
        read = [self.read(value) for value in inputs]
        types = tuple(value.type for value in read)
        try:
            found = types_of(setup, types)
        except ShapeError as error:
            raise self.fault(f"`{setup.definition.name}` needs more than one position: {error.message}") from None
        self.position.append(Node(name, tuple(value.name for value in read), outputs, setup, types, found, 0))
        return [Value(output, type_, moving=True) for output, type_ in zip(outputs, found, strict=True)]

    def read(self, value: Value) -> Value:
        """A value that the position reads; of the source it is fed."""
        if not value.moving:
            if value.type.kind.startswith("SPARSE") or value.type.level == 2:
                raise self.fault(f"`{value.name}` is {value.type}, which no position can be given")
            self.given[value.name] = value.type
        return value

    def add_layer(
        self,
        layer: str,
        name: str,
        inputs: tuple[Value, ...],
        outputs: tuple[str, ...],
        params: Mapping[str, ParamSettings] | None = None,
        activation: str = "linear",
        **attributes: Any,
    ) -> Value:
        """A layer that the config does not have; its first output."""
        setup = setup_of(layer, attributes, params)
        if activation != "linear":
            setup.activation = (registries["layer"][activation], registries["layer"][activation].bind({}))
        return self.put(name, setup, inputs, outputs)[0]

    def fault(self, message: str, help_: str = "") -> ConfigError:
        """The error at the layer that is looked at."""
        text = f"no text can be written word by word through layer `{self.layer}`: {message}"
        return self.network.error(self.layer, text, code=CODE, help=help_)


def names_of(node: Node, prefix: str) -> tuple[str, ...]:
    """Names of the outputs of a layer inside of others."""
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
