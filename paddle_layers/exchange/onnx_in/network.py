"""Assembly of the network: dead-layer elimination, activation fusion, names, text, weights."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.config import ConfigError, Network, dumps, loads
from paddle_layers.config.writing.text import fields_text
from paddle_layers.runtime import Net

from .blocks import BlockNetwork, with_blocks
from .conversion import Outcome
from .layers import ImportedLayer, LayerOutput, Weight, in_order
from .model import ImportFailure, Model

JOINED = frozenset(
    {"relu", "relu6", "sigmoid", "tanh", "gelu", "swish", "hard_swish", "hard_sigmoid", "softplus", "softsign", "elu"}
)
"""Layers that are fused as the `act` of the previous layer. Not softmax: losses need the logits."""
_DEFAULTS: dict[str, dict[str, Any]] = {"relu6": {"max": 6.0}, "gelu": {"approximate": "NONE"}, "elu": {"alpha": 1.0}}
_PARAMETER = re.compile(r"(?:^|[._/])(weight|bias|gain|kernel|gamma|beta|running_mean|table|in_proj_weight)(?:_\w+)?$")


_MODEL = r"^(?:StatefulPartitionedCall/)?(?:(?:functional|sequential|model)(?:_\d+)*/)?"
_VARIABLE = re.compile(_MODEL + r"(.+)/\w+/ReadVariable")
"""Variable reads of TensorFlow: `dense_1/Cast/ReadVariableOp:0`."""


@dataclass
class Assembled:
    """A network with its weights, and the layers it was made of in the order of the text."""

    network: Network
    text: str
    weights: dict[str, NDArray[Any]]
    layers: list[ImportedLayer]
    outputs: dict[str, str]
    """Values by the names of the model's outputs."""
    paths: dict[str, str]
    """The new paths of layers that became parts of blocks, by their names."""
    fields: list[dict[str, Any]]
    """The layers as those of a network without blocks."""
    replaced: dict[LayerOutput, LayerOutput]
    """Outputs of activations that became part of the layers before."""

    def without_blocks(self) -> tuple[Network, dict[str, NDArray[Any]], dict[LayerOutput, str]]:
        """The network before repeated layers became blocks, its weights, and the names of its values."""
        network = loads("\n".join(fields_text({"layer": one}) for one in self.fields))
        lost = set(self.replaced.values())  # values before an activation that is part of the layer
        values = [value for layer in self.layers for value in layer.outputs if value not in lost]
        names = {value: _value_name(value) for value in values}
        names |= {after: _value_name(before) for after, before in self.replaced.items()}
        return network, _weights(network, self.layers, {}), names


def assemble(model: Model, outcome: Outcome) -> Assembled:
    """The network. Raises `ImportFailure` if the checks of the config report errors."""
    ends = [(name, view.value) for name, view in outcome.outputs]
    layers = in_order([value.layer for _, value in ends])
    _drop_states({value for layer in layers for value in layer.inputs} | {value for _, value in ends}, layers)
    replaced = _join(layers, {value for _, value in ends})
    layers = [layer for layer in layers if layer.outputs[0] not in replaced or len(layer.outputs) > 1]
    outputs = {replaced.get(value, value): name for name, value in reversed(ends)}
    for value, name in outputs.items():
        if len(value.layer.outputs) > 1:
            value.layer.named[value.place] = _clean(name)
    _name(model, layers, outputs)
    shares = _shares(layers)
    named = {name: _value_name(replaced.get(value, value)) for name, value in ends}
    fields = [_fields(layer, replaced, shares) for layer in layers]
    short = with_blocks(fields, set(named.values()))
    title: dict[str, Any] = {"name": _clean(model.name)} if _clean(model.name) else {}
    text = "\n".join(fields_text(one) for one in (title, *_lines(short)) if one)
    try:
        network = loads(text, "the imported network")
    except ConfigError as error:
        raise ImportFailure(
            *(f"internal error, inconsistent layers: {one.message}" for one in error.diagnostics)
        ) from None
    weights = _weights(network, layers, short.paths)
    return Assembled(network, dumps(network), weights, layers, named, short.paths, fields, replaced)


def _drop_states(read: set[LayerOutput], layers: list[ImportedLayer]) -> None:
    """Dead outputs: exporters name all outputs of an LSTM; unused final states are dropped."""
    for layer in layers:
        if layer.attributes.get("return_state") and layer.outputs[1] not in read:
            del layer.attributes["return_state"]
            layer.outputs = layer.outputs[:1]


def _lines(short: BlockNetwork) -> Iterator[dict[str, Any]]:
    yield from ({"block": block} for block in short.blocks)
    yield from ({"layer": layer} for layer in short.layers)


def _join(layers: list[ImportedLayer], outputs: set[LayerOutput]) -> dict[LayerOutput, LayerOutput]:
    """Fuse activations into the `act` of the previous layers; returns the replacement of each output."""
    readers = Counter(value for layer in layers for value in layer.inputs)
    replaced: dict[LayerOutput, LayerOutput] = {}
    for layer in layers:
        if layer.type not in JOINED or layer.attributes not in ({}, _DEFAULTS.get(layer.type, {})):
            continue
        value = layer.inputs[0]
        before = value.layer
        fits = "act" in before.definition.common and "act" not in before.attributes and len(before.outputs) == 1
        # A value that someone else reads before the activation has to stay.
        if fits and readers[value] == 1 and value not in outputs and value not in replaced:
            before.attributes["act"] = layer.type
            before.nodes = (*before.nodes, *layer.nodes)
            replaced[layer.outputs[0]] = value
    return replaced


# ---- names


def _name(model: Model, layers: list[ImportedLayer], outputs: dict[LayerOutput, str]) -> None:
    """Names of outputs, else of parameters, else of nodes; each once."""
    used = {name for layer in layers for name in layer.named.values()}
    for layer in layers:  # data and outputs have the model's own names
        wanted = outputs.get(layer.outputs[0], "") if len(layer.outputs) == 1 else ""
        if not layer.inputs or wanted:
            layer.name = _unique(_clean(layer.name or wanted) or layer.type, used)
    for layer in layers:
        if not layer.name:
            used.update(layer.named.values())
            base = _of_weights(layer) or _of_nodes(model, layer) or layer.type
            if layer.suffix:
                base = f"{base}_{layer.suffix.replace(' ', '_')}"
            layer.name = _unique(base, used)
            used.update(layer.output_names())


def _unique(name: str, used: set[str]) -> str:
    found, number = name, 1
    while found in used:
        number += 1
        found = f"{name}_{number}"
    used.add(found)
    return found


def _clean(name: str) -> str:
    """Letters, digits and lines below, a letter first."""
    found = re.sub(r"[^A-Za-z0-9]+", "_", name)[:80].strip("_")
    return f"n{found}" if found[:1].isdigit() else found


def _of_weights(layer: ImportedLayer) -> str:
    """The part before `.weight` in the name of an initializer."""
    for one in layer.weights.values():
        name = one.source[0] if one.source else ""
        match = _PARAMETER.search(name)
        if match and match.start():
            return _clean(name[: match.start()])
        read = _VARIABLE.match(name)
        if read:
            return _clean(read[1])
    return ""


def _of_nodes(model: Model, layer: ImportedLayer) -> str:
    """The path of the first node, without what exporters repeat."""
    nodes = [model.nodes[place] for place in layer.nodes if place < len(model.nodes)]
    if not nodes:
        return ""
    name = nodes[0].name or next(filter(None, nodes[0].outputs), "")
    parts: list[str] = []
    for part in filter(None, name.split("/")):
        if parts and part.startswith(f"{parts[-1]}."):
            parts.pop()
        parts.append(part)
    if len(parts) > 1 and re.fullmatch(rf"{re.escape(nodes[0].operator)}(_\d+)?", parts[-1]):
        parts.pop()
    return _clean("_".join(parts)).removeprefix("node_").lower()


# ---- text and weights


def _parameters(layers: list[ImportedLayer]) -> Iterator[tuple[ImportedLayer, str, Weight]]:
    for layer in layers:
        for name, one in layer.weights.items():
            yield layer, name, one


def _shares(layers: list[ImportedLayer]) -> dict[Weight, str]:
    """Matrices that several layers read are one parameter; vectors that exporters joined for being equal are not."""
    found: dict[tuple[Any, ...], list[tuple[str, Weight]]] = {}
    for layer, name, one in _parameters(layers):
        # Exporters merge equal initializers: two biases of zeros are one tensor by chance, two equal matrices are not.
        if one.source and one.array.ndim > 1:
            found.setdefault((one.source, one.array.shape), []).append((f"{layer.name}_{name}", one))
    return {one: group[0][0] for group in found.values() if len(group) > 1 for _, one in group}


def _fields(
    layer: ImportedLayer, replaced: dict[LayerOutput, LayerOutput], shares: dict[Weight, str]
) -> dict[str, Any]:
    inputs = [_value_name(replaced.get(value, value)) for value in layer.inputs]
    settings = []
    for name, one in layer.weights.items():
        own: dict[str, Any] = {"of": name}
        if one in shares:
            own["share"] = shares[one]
        constant = not one.trained and not name.startswith("running") and not _is_matrix(layer, one)
        if one.fixed or constant:
            own["frozen"] = True
        if len(own) > 1:
            settings.append(own)
    return {
        "name": layer.name, "type": layer.type, **({"input": inputs} if inputs else {}),
        **({"output": layer.output_names()} if len(layer.outputs) > 1 else {}),
        layer.type: _plain(layer.attributes), **({"param": settings} if settings else {}),
    }  # fmt: skip


def _is_matrix(layer: ImportedLayer, one: Weight) -> bool:
    """Whether it is the matrix or the filters of a layer: trained even where it is a constant of the graph."""
    # Other numbers of the graph were constants in the original training, too; Paddle's exporter writes all parameters
    # as constants, and weights that were standardized are results of several ones.
    return one.array.ndim > 1 and (layer.type in _OF_MATRICES or layer.type.startswith("conv"))


_OF_MATRICES = frozenset({"fc", "grumemory", "lstmemory", "recurrent"})


def _plain(attributes: dict[str, Any]) -> dict[str, Any]:
    """Numbers as they print best: float32 ones of the file with few digits."""
    return {name: _short(value) if isinstance(value, float) else value for name, value in attributes.items()}


def _short(number: float) -> float:
    single = np.float32(number)
    # 0.1 of float32 is 0.10000000149 as a double; the short form converts back to the same float32.
    return float(str(single)) if np.isfinite(single) and abs(float(single) - number) <= 1e-6 * abs(number) else number


def _value_name(value: LayerOutput) -> str:
    return value.layer.output_names()[value.place]


def _weights(network: Network, layers: list[ImportedLayer], paths: dict[str, str]) -> dict[str, NDArray[Any]]:
    """The numbers by the names of the network's parameters, what no node gave among them."""
    with Net(network) as net:
        given = {f"{paths.get(layer.name, layer.name)}.{name}": one.array for layer, name, one in _parameters(layers)}
        for name, array in given.items():
            parameter = net.arena.by_name.get(net.arena.aliases.get(name, name))
            if parameter is None or parameter.shape != array.shape:
                wanted = "no such parameter" if parameter is None else f"expected shape {parameter.shape}"
                raise ImportFailure(f"internal error: `{name}` has shape {array.shape}, {wanted}")
            parameter.value = array
        return {name: one.value.astype(np.float32) for name, one in net.arena.by_name.items()}
