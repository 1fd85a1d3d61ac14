"""Layers before naming: types, inputs, attributes, parameter values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.config.binding.drafts import Setup
from paddle_layers.config.wiring.inference import types_of
from paddle_layers.config.wiring.nodes import Node, inside_of, parameter_shapes
from paddle_layers.define import InvalidAttributes, LayerDefinition, ShapeError, registries
from paddle_layers.define.fields.types import Type

from .model import OnnxNode, shown


class NotSupported(Exception):
    """A node has no counterpart here; the message says why."""


@dataclass(frozen=True, eq=False)
class LayerOutput:
    """An output of a layer."""

    layer: ImportedLayer
    place: int
    type: Type

    @property
    def dims(self) -> tuple[int, ...]:
        """The axes of a row."""
        return self.type.dims

    @property
    def level(self) -> int:
        """1 for sequences."""
        return self.type.level


@dataclass(frozen=True, eq=False)
class Weight:
    """The numbers of a parameter, and the initializer that they come from, with what was done to it."""

    array: NDArray[Any]
    source: tuple[str, ...] = ()
    fixed: bool = False
    """Numbers of a formula, which no training changes."""

    @property
    def trained(self) -> bool:
        """Whether it was a parameter: a constant in a node stays as it is."""
        return bool(self.source)


@dataclass(eq=False)
class ImportedLayer:
    """One layer. `nodes` are those that became it, by their place in the graph."""

    type: str
    inputs: tuple[LayerOutput, ...]
    attributes: dict[str, Any]
    weights: dict[str, Weight]
    nodes: tuple[int, ...]
    suffix: str = ""
    name: str = ""
    named: dict[int, str] = field(default_factory=dict)
    """Names of outputs of the model, for a layer with several outputs."""
    outputs: tuple[LayerOutput, ...] = field(default=(), init=False)

    @property
    def definition(self) -> LayerDefinition:
        """That of its type."""
        found: LayerDefinition = registries["layer"][self.type]
        return found

    def output_names(self) -> list[str]:
        """Names of its outputs in the network."""
        return [
            self.named.get(place, f"{self.name}_{place}" if place else self.name) for place in range(len(self.outputs))
        ]


def make_layer(
    type_: str,
    inputs: Sequence[LayerOutput],
    attributes: Mapping[str, Any],
    weights: Mapping[str, Weight],
    nodes: Iterable[int],
    suffix: str = "",
) -> ImportedLayer:
    """A layer with the types of its outputs. Raises `NotSupported` with what the layer's rules say."""
    made = ImportedLayer(type_, tuple(inputs), dict(attributes), dict(weights), tuple(nodes), suffix)
    definition = made.definition
    try:
        setup, given = Setup(definition, definition.bind(made.attributes)), tuple(map(_type, inputs))
        types = types_of(setup, given)
        shapes = _weight_shapes(setup, given, types) if weights else {}
    except InvalidAttributes as error:
        raise NotSupported(f"invalid attributes for `{type_}`: {'; '.join(map(str, error.args))}") from None
    except ShapeError as error:
        raise NotSupported(f"invalid input shape for `{type_}`: {error}") from None
    for name, one in weights.items():
        if shapes.get(name) != one.array.shape:
            raise NotSupported(
                f"{name} of `{type_}` has shape {list(one.array.shape)}, expected {list(shapes.get(name, ()))}"
            )
    made.outputs = tuple(LayerOutput(made, place, one) for place, one in enumerate(types))
    return made


def _weight_shapes(setup: Setup, given: tuple[Type, ...], types: tuple[Type, ...]) -> dict[str, tuple[int, ...]]:
    """Shapes of the parameters and states of a layer."""
    node = Node("", (), (), setup, given, types, 0, inside_of(setup, given))
    return parameter_shapes(node) | {name: node.binding.dims(state) for name, state in setup.definition.states.items()}


def _type(value: LayerOutput) -> Type:
    """The type; ids have as many values as the table that they choose rows of, which is known with its reader."""
    # ONNX does not bound ids; the first reader that has a table does.
    size = value.layer.attributes.get("size") if value.layer.type == "data" else None
    return value.type._replace(size=size) if isinstance(size, int) and value.type.kind == "INT" else value.type


def weight(array: Any, source: tuple[str, ...] = ()) -> Weight:
    """A parameter's numbers in float32."""
    # float32, whatever the precision of the model, since the weights are trainable afterwards.
    return Weight(np.ascontiguousarray(array, np.float32), source)


def in_order(roots: list[ImportedLayer]) -> list[ImportedLayer]:
    """Topological order of the layers, data layers first."""
    found: dict[ImportedLayer, None] = {}
    stack = [(layer, False) for layer in reversed(roots)]
    while stack:
        layer, ready = stack.pop()
        if ready:
            found[layer] = None
        elif layer not in found:
            stack.append((layer, True))
            stack += [(value.layer, False) for value in reversed(layer.inputs) if value.layer not in found]
    # An explicit stack: models may be deeper than Python's recursion limit.
    return sorted(found, key=lambda layer: bool(layer.inputs))


def unsupported_operator(node: OnnxNode) -> str:
    """The reason for the rejection of a node that has no handler, and what to do instead."""
    where = f" of the domain `{shown(node.domain)}`" if node.domain else ""
    return f"unsupported operator{where}{'' if node.domain else _WAYS_OUT.get(node.operator, '')}"


_WAYS_OUT = {
    "NonZero": "; its number of results depends on values: write Where(condition, x, 0) instead of a selection",
    "NonMaxSuppression": (
        "; `detection_output` combines box decoding and NMS: remove both from the model, and add that layer "
        "after scores and offsets"
    ),
}
