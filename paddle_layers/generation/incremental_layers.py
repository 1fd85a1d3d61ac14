"""Splitting a network for incremental decoding: single-position equivalents of sequence layers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from paddle_layers.config import ConfigError, Network
from paddle_layers.config.binding.assignments import ParamSettings
from paddle_layers.config.binding.drafts import Setup
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


def recurrent(split: NetworkSplit, node: Node, inputs: list[SplitValue], prefix: str) -> SplitValue:
    """The product with the previous output is an `fc` with the layer's parameters."""
    (x, *before), name, width = inputs, names_of(node, prefix)[0], inputs[0].type.size
    past = _past(split, node, name, x.type, before, name)
    mapped = _mapped(split, node, prefix, past, width, bias=True)
    return split.add_layer(
        "addto", f"{prefix}{node.name}.sums", (x, mapped), (name,), activation=node.attributes["act"]
    )


def lstmemory(split: NetworkSplit, node: Node, inputs: list[SplitValue], prefix: str) -> SplitValue:
    """An `fc` with the layer's weight, followed by an `lstm_step` with its bias."""
    (x, *before), name = inputs, names_of(node, prefix)[0]
    type_ = Type.dense(x.type.size // 4)
    if node.attributes["return_state"]:
        raise split.fault("`return_state` is the state after the last word, which is not generated yet")
    past = _past(split, node, name, type_, before[:1], name)
    state = _past(split, node, f"{name}/state", type_, before[1:], f"{name}/next")
    mapped = _mapped(split, node, prefix, past, x.type.size, bias=False)
    sums = split.add_layer("addto", f"{prefix}{node.name}.sums", (x, mapped), (f"{name}/sums",))
    attributes = {key: node.attributes[key] for key in ("act", "gate_act", "state_act", "peepholes")}
    outputs = (name, f"{name}/next")
    return split.add_layer("lstm_step", prefix + node.name, (sums, state), outputs, node.params, **attributes)


def grumemory(split: NetworkSplit, node: Node, inputs: list[SplitValue], prefix: str) -> SplitValue:
    """A `gru_step` with the layer's parameters."""
    (x, *before), name = inputs, names_of(node, prefix)[0]
    type_ = Type.dense(x.type.size // 3)
    past = _past(split, node, name, type_, before, name)
    attributes = {key: node.attributes[key] for key in ("act", "gate_act", "reset_after")}
    return split.add_layer("gru_step", prefix + node.name, (x, past), (name,), node.params, **attributes)


def expand(split: NetworkSplit, node: Node, inputs: list[SplitValue], prefix: str) -> SplitValue:
    """One row per word is that row, for the single word."""
    x, like = inputs
    name, names = prefix + node.name, names_of(node, prefix)
    # One row per source word is a layer of whole sequences and remains one.
    if not like.moving:
        return split.put(name, node.setup, inputs, names)[0]
    setup = setup_of("linear", {})
    setup.activation = node.activation
    return split.put(name, setup, (x,), names)[0]


def position_embedding(split: NetworkSplit, node: Node, inputs: list[SplitValue], prefix: str) -> SplitValue:
    """Adds the row of the table for the position index."""
    (x,), name = inputs, names_of(node, prefix)[0]
    split.places[f"{name}/place"] = node.attributes["max_length"]
    place = SplitValue(f"{name}/place", Type.ids(node.attributes["max_length"]), moving=True)
    row = split.add_layer("embedding", prefix + node.name, (place,), (f"{name}/row",), node.params, size=x.type.size)
    return split.add_layer("addto", f"{prefix}{node.name}.sum", (x, row), (name,))


def placed(split: NetworkSplit, node: Node, inputs: list[SplitValue], prefix: str) -> SplitValue:
    """A layer of the position of each row: the position of the single row of each sequence is fed."""
    if len(inputs) > 1:
        raise split.fault(
            "`first` sets the start position of its sequences", "remove it: generation starts at position 0"
        )
    # The layer itself is used, on sequences of length one, rather than a copy of its formula.
    name, own = names_of(node, prefix)[0], prefix + node.name
    row = _one_row(split, inputs[0], f"{name}/rows", f"{own}.rows")
    (found,) = split.put(own, node.setup, (row, _place(split)), (f"{name}/found",))
    return split.add_layer("seq_last", f"{own}.row", (found,), (name,))


def multi_head_attention(split: NetworkSplit, node: Node, inputs: list[SplitValue], prefix: str) -> SplitValue:
    """One query per sequence, which attends to the source, or to the key-value cache of the sequence so far."""
    query, keys, values = inputs
    name, own = names_of(node, prefix)[0], prefix + node.name
    attributes = {key: node.attributes[key] for key in ("num_heads", "num_kv_heads", "scale")}
    if not keys.moving and not values.moving:
        if node.attributes["causal"]:
            raise split.fault("with `causal`, a word attends only to a prefix of the source", "remove `causal`")
        row = _one_row(split, query, f"{name}/query", f"{own}.query")
        found = split.add_layer("multi_head_attention", own, (row, keys, values), (f"{name}/found",), **attributes)
        return split.add_layer("seq_last", f"{own}.row", (found,), (name,))
    if not (keys.moving and values.moving):
        raise split.fault("its keys and values belong to different sequences")
    # Without `causal` a word's output changes with every later word, so nothing could be cached.
    if not node.attributes["causal"]:
        raise split.fault("it attends to words that are not generated yet", "set `causal: true`")
    row, place = SplitValue(ROW, FED[ROW], moving=True), _place(split)
    # Keys and values before the position itself, which the step adds.
    kept = (_kept(split, value, f"{name}/{what}") for what, value in (("keys", keys), ("values", values)))
    return split.add_layer("attention_step", own, (query, keys, values, *kept, row, place), (name,), **attributes)


def _one_row(split: NetworkSplit, value: SplitValue, name: str, layer: str) -> SplitValue:
    """The row of each sequence as a sequence of length one."""
    return split.add_layer("expand", layer, (value, SplitValue(ONE, FED[ONE], moving=True)), (name,))


def _place(split: NetworkSplit) -> SplitValue:
    """Position index: the number of words of each sequence before this one."""
    split.places[PLACE] = MANY
    return SplitValue(PLACE, Type.ids(MANY), moving=True)


def _kept(split: NetworkSplit, value: SplitValue, name: str) -> SplitValue:
    """Cached values of the earlier positions, by sequence and position."""
    type_ = Type.dense(1, *value.type.dims)
    split.carried.append(CarriedState(name, value.name, 0.0, type_, grows=True))
    return SplitValue(name, type_, moving=True)


def _past(
    split: NetworkSplit, node: Node, name: str, type_: Type, before: Sequence[SplitValue], following: str
) -> SplitValue:
    """Output of a recurrent layer at the previous position; `before` the first, a value of the source or zeros."""
    if node.attributes["reverse"]:
        raise split.fault("it runs backward over the sequence, but words are generated forward", "remove `reverse`")
    if any(value.moving for value in before):
        raise split.fault("its initial state depends on the generated words")
    boot = before[0].name if before else 0.0
    split.carried.append(CarriedState(f"{name}/before", following, boot, type_))
    return SplitValue(f"{name}/before", type_, moving=True)


def _mapped(split: NetworkSplit, node: Node, prefix: str, past: SplitValue, size: int, *, bias: bool) -> SplitValue:
    name = prefix + node.name
    return split.add_layer("fc", name, (past,), (f"{name}/mapped",), node.params, size=size, bias=bias)


FORMS = {
    "recurrent": recurrent,
    "lstmemory": lstmemory,
    "grumemory": grumemory,
    "expand": expand,
    "position_embedding": position_embedding,
    "rotary_position": placed,
    "sinusoidal_position": placed,
    "multi_head_attention": multi_head_attention,
}
"""Single-position equivalents, by layer type."""
