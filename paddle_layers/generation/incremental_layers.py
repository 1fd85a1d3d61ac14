"""Single-position equivalents of sequence layers, for incremental decoding."""

from __future__ import annotations

from collections.abc import Sequence

from paddle_layers.config.wiring.nodes import Node
from paddle_layers.define import Type

from .network_split import FED, MANY, ONE, PLACE, ROW, CarriedState, NetworkSplit, SplitValue, names_of, setup_of


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
    attributes = {key: node.attributes[key] for key in ("num_heads", "scale")}
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
