"""Checked layers and their nested networks: immutable, with inferred types and parameter settings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from paddle_layers.define import Attributes, Body, LayerDefinition, Part, Type
from paddle_layers.define.definitions.layers import Binding
from paddle_layers.define.fields.tensors import Param

from ..binding.assignments import ParamSettings, StateRule
from ..binding.drafts import Setup
from ..diagnostics.suggestions import name_hint

if TYPE_CHECKING:
    from paddle_layers.schema.layer_def_pb2 import LayerOutputDef


class Inside(NamedTuple):
    """The network inside a composite layer, or one step of a recurrent group."""

    nodes: tuple[Node, ...]
    """In topological order; their names and those of their outputs are local."""
    inputs: tuple[str, ...]
    """Local name of each input of the layer."""
    outputs: tuple[str, ...]
    """Local name of each output of the layer."""


class Node:
    """A layer of a network: its settings and inferred types."""

    # Slots: a network may have 100,000 nodes. Private, with read-only properties, since nodes are shared by networks,
    # plans and caches.
    __slots__ = ("_input_types", "_inputs", "_inside", "_name", "_offset", "_output_names", "_output_types", "_setup")

    def __init__(
        self,
        name: str,
        inputs: tuple[str, ...],
        output_names: tuple[str, ...],
        setup: Setup,
        input_types: tuple[Type, ...],
        output_types: tuple[Type, ...],
        offset: int,
        inside: Inside | None = None,
    ) -> None:
        self._name, self._inputs, self._output_names, self._setup = name, inputs, output_names, setup
        self._input_types, self._output_types, self._offset = input_types, output_types, offset
        self._inside = inside

    @property
    def name(self) -> str:
        """Name of the layer."""
        return self._name

    @property
    def definition(self) -> LayerDefinition:
        """Definition of the layer type."""
        return self._setup.definition

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the outputs it reads."""
        return self._inputs

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of its outputs."""
        return self._output_names

    @property
    def attributes(self) -> Attributes:
        """Values of all attributes."""
        return self._setup.attributes

    @property
    def params(self) -> Mapping[str, ParamSettings]:
        """Settings by name in the definition; parameters without settings are absent."""
        return self._setup.params

    @property
    def activation(self) -> tuple[LayerDefinition, Attributes] | None:
        """The activation applied to every output; None for linear."""
        return self._setup.activation

    @property
    def loss_weight(self) -> tuple[float, ...] | None:
        """Weight of each output in the total loss; None: 1 for losses, 0 for others."""
        return self._setup.loss_weight

    @property
    def propagate_down(self) -> tuple[bool, ...]:
        """For each input, whether its gradient is computed; empty: where it is needed."""
        return self._setup.propagate_down

    @property
    def include(self) -> tuple[StateRule, ...]:
        """The layer exists only in states that meet one of these rules."""
        return self._setup.include

    @property
    def exclude(self) -> tuple[StateRule, ...]:
        """The layer is absent in states that meet one of these rules."""
        return self._setup.exclude

    @property
    def input_types(self) -> tuple[Type, ...]:
        """Types of the inputs."""
        return self._input_types

    @property
    def output_types(self) -> tuple[Type, ...]:
        """Types of the outputs."""
        return self._output_types

    @property
    def outputs(self) -> list[LayerOutputDef]:
        """Types of the outputs as protobuf messages."""
        return [type_.to_message(name) for name, type_ in zip(self._output_names, self._output_types, strict=True)]

    @property
    def inside(self) -> Inside | None:
        """The network inside a composite layer or a recurrent group; None for all others."""
        return self._inside

    @property
    def setup(self) -> Setup:
        """Shared settings of nodes with the same text."""
        return self._setup

    @property
    def binding(self) -> Binding:
        """Sizes of all axes."""
        return self._setup.binding(self._input_types)

    @property
    def span(self) -> tuple[int, int]:
        """Offsets of the layer's name in the source, with its quotes."""
        return self._offset, self._offset + len(self._name) + 2

    def __repr__(self) -> str:
        shapes = ", ".join(map(str, self._output_types))
        return f"<{self.definition.name} {self._name!r}: {shapes}>"


NodesByType = Mapping[LayerDefinition, Sequence[Node]]


def nodes_by_type(nodes: Sequence[Node]) -> NodesByType:
    """Nodes by definition, in their order: most checks concern a few layer types."""
    found = defaultdict[LayerDefinition, list[Node]](list)
    for node in nodes:
        found[node.definition].append(node)
    return found


# ---- nested networks


def inside_of(setup: Setup, types: tuple[Type, ...]) -> Inside | None:
    """The network inside a layer for types of its inputs; None for a layer that is not composite."""
    if not setup.definition.is_composite:
        return None
    body = setup.binding(types).body
    assert body is not None, "a composite layer has a body"
    return _inside(body, setup.params)


def _inside(body: Body, params: Mapping[str, ParamSettings]) -> Inside:
    return Inside(tuple(_node(part, params) for part in body.parts), body.inputs, body.outputs)


def _node(part: Part, params: Mapping[str, ParamSettings]) -> Node:
    """A part as a node; it has a separate setup, since the settings are those of one use of the layer."""
    setup = Setup(part.definition, part.attributes)
    setup.activation = part.activation
    prefix = f"{part.name}."
    setup.params = {name.removeprefix(prefix): found for name, found in params.items() if name.startswith(prefix)}
    inside = _inside(part.binding.body, setup.params) if part.binding.body is not None else None
    return Node(part.name, part.inputs, part.output_names, setup, part.input_types, part.binding.outputs, 0, inside)


def inner_names(node: Node) -> Iterator[str]:
    """Names of layers and values inside a layer, prefixed by its name, as parameters and gradients have them."""
    for inner in node.inside.nodes if node.inside is not None else ():
        yield from (f"{node.name}.{name}" for name in {inner.name, *inner.output_names})
        yield from (f"{node.name}.{name}" for name in inner_names(inner))


def parameter_names(inside: Inside) -> Iterator[str]:
    """Names of all parameters inside, as in `param`: `gates.weight`, `gates.weight_0`."""
    for node in inside.nodes:
        names = own_parameter_names(node) if node.inside is None else parameter_names(node.inside)
        yield from (f"{node.name}.{name}" for name in names)


def own_parameter_names(node: Node) -> Iterator[str]:
    """Names of a layer's own parameters, numbered if there is one per item of an input."""
    return _numbered(_params(node), node.binding)


def _numbered(params: Mapping[str, Param], binding: Binding) -> Iterator[str]:
    for name, param in params.items():
        yield name
        count = len(binding.positions[param.per]) if param.per is not None else 1
        yield from (f"{name}_{item}" for item in range(count) if count > 1)


def own_parameters(node: Node) -> Iterator[tuple[str, str, Param, int]]:
    """A layer's own parameters: name in the definition, name in weights files, parameter, and item of the input."""
    for name, param in _params(node).items():
        count = len(node.binding.positions[param.per]) if param.per is not None else 1
        for item in range(count):
            yield name, f"{name}_{item}" if count > 1 else name, param, item


def _params(node: Node) -> Mapping[str, Param]:
    """Parameters by name. `bias: false` removes the bias from files and tables, not only its gradient."""
    definition = node.definition
    if definition.bias is None or node.attributes["bias"]:
        return definition.params
    return {name: param for name, param in definition.params.items() if param is not definition.bias}


def own_settings(node: Node) -> Iterator[tuple[str, ParamSettings]]:
    """A layer's own parameters by their names in weights files, with their settings."""
    for name, numbered, _, _ in own_parameters(node):
        # The settings of one item override those of the whole parameter.
        yield numbered, node.params.get(numbered) or node.params.get(name) or ParamSettings()


def all_settings(nodes: Sequence[Node], prefix: str = "") -> dict[str, ParamSettings]:
    """The settings of every parameter of some layers by name (`conv1.weight`), including nested ones.

    A shared parameter has the settings of the layer that has some, by all of its names.
    """
    found: dict[str, ParamSettings] = {}
    for node in nodes:
        own = f"{prefix}{node.name}."
        if node.inside is not None:
            found |= all_settings(node.inside.nodes, own)
            continue
        found |= {own + name: settings for name, settings in own_settings(node)}
    shared = {one.share: one for one in found.values() if one.share is not None and one.given} if not prefix else {}
    return {name: shared.get(one.share or "", one) for name, one in found.items()} if shared else found


def parameter_shapes(node: Node) -> dict[str, tuple[int, ...]]:
    """Shapes of a layer's parameters; `weight_1` is that of the second of several inputs, `gates.weight` of a part."""
    if node.inside is not None:
        parts = {part.name: parameter_shapes(part) for part in node.inside.nodes}
        return {f"{part}.{name}": shape for part, shapes in parts.items() for name, shape in shapes.items()}
    dims = node.binding.dims
    return {numbered: dims(param, item) for _, numbered, param, item in own_parameters(node)}


def unknown_parameter(setup: Setup, types: tuple[Type, ...], inside: Inside | None) -> str | None:
    """A parameter that `param` names and the layer does not have: neither itself for its inputs, nor a part."""
    if not setup.params:
        return None
    known = set(_known_parameters(setup, types, inside))
    return next((name for name in setup.params if name not in known), None)


def parameter_hint(name: str, setup: Setup, types: tuple[Type, ...], inside: Inside | None) -> str:
    """A suggestion for an unknown parameter."""
    return name_hint(name, list(_known_parameters(setup, types, inside)), "it has no parameters")


def _known_parameters(setup: Setup, types: tuple[Type, ...], inside: Inside | None) -> Iterator[str]:
    return parameter_names(inside) if inside is not None else _numbered(setup.definition.params, setup.binding(types))
