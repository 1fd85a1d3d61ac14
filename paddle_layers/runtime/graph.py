"""A network as the runtime sees it: values with rows, operations with bound axes, parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from paddle_layers.define import LayerDefinition, ShapeError, Type, registries
from paddle_layers.define.inference import Binding

from .domains import Domain
from .parameters import Parameter, ParameterSet

if TYPE_CHECKING:
    from paddle_layers.config.network import Network, Node


@dataclass(eq=False)
class Value:
    """What an operation computes, or what is fed."""

    name: str
    type: Type
    domain: Domain
    entries: Domain | None = None
    """Domain of the entries of a sparse value."""


@dataclass(eq=False)
class Op:
    """One use of a layer; activation and dropout of a node are operations of their own."""

    name: str
    layer: LayerDefinition
    attributes: Mapping[str, Any]
    binding: Binding
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...] = ()
    rows: dict[str, Domain] = field(default_factory=dict)
    params: dict[str, tuple[Parameter, ...]] = field(default_factory=dict)
    states: dict[str, Parameter] = field(default_factory=dict)
    propagate: tuple[bool, ...] = ()
    """What the config says of each input: true forces its gradient, false blocks it; empty: as needed."""

    def argument(self, name: str) -> tuple[Value, ...]:
        """Values given for an input."""
        return tuple(self.inputs[place] for place in self.binding.positions[name])

    def group_of(self, row: str) -> Domain:
        """What groups a row axis into its sequences."""
        outer = self.rows[row].ancestors()
        return outer[-1 if self.binding.levels[self.layer.groups[row]] == 0 else 0]

    def output(self, name: str) -> tuple[Value, ...]:
        """Values of an output; several for a repeatable one."""
        names = list(self.layer.outputs)
        if self.layer.outputs[name].repeatable:
            return self.outputs
        return (self.outputs[names.index(name)],)


class OwnRows(NamedTuple):
    """Rows that an operation makes for its output: how their starts are computed."""

    op: Op
    domain: Domain
    groups: dict[str, tuple[Domain, Domain]]
    """Rows of the inputs and what groups them, by axis."""


@dataclass(eq=False)
class Graph:
    """Operations in order, values by name, the feeds, the losses."""

    samples: Domain
    ops: list[Op]
    values: dict[str, Value]
    feeds: dict[str, Value]
    losses: dict[str, float]
    """Weight by value name."""
    equal_rows: list[tuple[str, Domain, Domain]]
    """Domains that a layer needs to agree: the layer's name and both."""
    own_rows: list[OwnRows] = field(default_factory=list)
    """Rows that operations make, in order."""


def build_graph(network: Network, parameters: ParameterSet, feed_types: Mapping[str, Type]) -> Graph:
    """Bind every node. `feed_types` replaces types of data layers. Raises `ShapeError` as inference does."""
    graph = Graph(Domain("samples"), [], {}, {}, {}, [])
    for node in network.nodes:
        if not node.definition.inputs:
            _add_feed(graph, node, feed_types)
        else:
            _add_node(graph, node, parameters)
    return graph


def _add_feed(graph: Graph, node: Node, feed_types: Mapping[str, Type]) -> None:
    for name, declared in zip(node.output_names, node.output_types, strict=True):
        type_ = feed_types.get(name, declared)
        domain = graph.samples
        if type_.level == 2:
            domain = Domain(f"sub-sequences of {name}", domain)
        if type_.level:
            domain = Domain(f"rows of {name}", domain)
        entries = Domain(f"entries of {name}") if type_.kind.startswith("SPARSE") else None
        graph.values[name] = graph.feeds[name] = Value(name, type_, domain, entries)


def _add_node(graph: Graph, node: Node, parameters: ParameterSet) -> None:
    inputs = tuple(graph.values[name] for name in node.inputs)
    op = _make_op(graph, node.name, node.definition, node.attributes, inputs, parameters, node)
    op.propagate = tuple(node.propagate_down or ())
    outputs = op.outputs
    for follower, layer, attributes in _followers(node):
        if layer.name == "linear":
            continue
        extra = _make_op(graph, f"{node.name}.{follower}", layer, attributes, outputs[:1], parameters, node)
        outputs = (*extra.outputs, *outputs[1:])
    for position, (name, value) in enumerate(zip(node.output_names, outputs, strict=True)):
        value.name = name
        graph.values[name] = value
        if position < len(node.definition.outputs) and list(node.definition.outputs.values())[position].loss:
            graph.losses[name] = _loss_weight(node, position, 1.0)
        elif weight := _loss_weight(node, position, 0.0):
            graph.losses[name] = weight


def _loss_weight(node: Node, position: int, default: float) -> float:
    given = node.loss_weight
    return float(given[position]) if given and position < len(given) else default


def _followers(node: Node) -> list[tuple[str, LayerDefinition, Mapping[str, Any]]]:
    """Operations that the framework puts behind a node: activation, dropout, clipping of the gradient."""
    found: list[tuple[str, LayerDefinition, Mapping[str, Any]]] = []
    if node.activation is not None:
        found.append(("act", *node.activation))
    for name, layer_name, attribute in (("drop", "dropout", "drop_rate"), ("clip", "gradient_clip", "error_clip")):
        if attribute in node.definition.common and (value := node.attributes[attribute]):
            layer = registries["layer"][layer_name]
            setting = "drop_rate" if layer_name == "dropout" else "threshold"
            found.append((name, layer, layer.bind({setting: value})))
    return found


def _make_op(
    graph: Graph,
    name: str,
    layer: LayerDefinition,
    attributes: Mapping[str, Any],
    inputs: tuple[Value, ...],
    parameters: ParameterSet,
    node: Node,
) -> Op:
    try:
        binding = layer.complete().bind_axes([value.type for value in inputs], attributes)
    except ShapeError as error:
        raise type(error)(f"layer `{name}`: {error.message}", attribute=error.attribute, input=error.input) from None
    op = Op(name, layer, attributes, binding, inputs)
    op.rows = _row_domains(graph, op)
    fields = list(layer.outputs.values())
    for position, type_ in enumerate(binding.outputs):
        output = fields[min(position, len(fields) - 1)]
        domain = op.rows.get(output.axes[0].name, graph.samples) if output.axes else graph.samples
        op.outputs += (Value(f"{name}.{output.name}", type_, domain),)
    _add_parameters(op, parameters, node)
    graph.ops.append(op)
    return op


def _row_domains(graph: Graph, op: Op) -> dict[str, Domain]:
    """The domain of each row axis; inputs that share an axis must have equal rows.

    Inputs in sequences come first: what groups their rows is then known by the starts that are fed with them.
    """
    rows: dict[str, Domain] = {}
    for name, input_ in sorted(op.layer.inputs.items(), key=lambda item: item[1].axes[0].group is None):
        for value in op.argument(name):
            _bind_rows(graph, op, rows, input_.axes[0].name, value.domain)
            group = input_.axes[0].group
            if group:
                outer = value.domain.ancestors()
                place = -1 if op.binding.levels[group] == 0 else 0
                _bind_rows(graph, op, rows, group, outer[place])
    op.rows = rows
    fed = {row: (rows[row], op.group_of(row)) for row in op.layer.groups if row in rows}
    for row, group in op.layer.own_rows.items():
        rows[row] = Domain(f"rows of {op.name}", rows[group])
        graph.own_rows.append(OwnRows(op, rows[row], fed))
    return rows


def _bind_rows(graph: Graph, op: Op, rows: dict[str, Domain], axis: str, domain: Domain) -> None:
    known = rows.setdefault(axis, domain)
    if known is not domain:
        graph.equal_rows.append((op.name, known, domain))


def _add_parameters(op: Op, parameters: ParameterSet, node: Node) -> None:
    for name, param in op.layer.params.items():
        if param is op.layer.bias and not op.attributes["bias"]:
            continue
        count = len(op.argument(param.per)) if param.per else 1
        op.params[name] = tuple(
            parameters.add(
                f"{op.name}.{name}" + (f"_{item}" if count > 1 else ""),
                param,
                op.layer,
                op.binding.dims(param, item),
                _settings(node, name, item, count),
            )
            for item in range(count)
        )
    for name, state in op.layer.states.items():
        op.states[name] = parameters.add(f"{op.name}.{name}", state, op.layer, op.binding.dims(state), None)


def _settings(node: Node, name: str, item: int, count: int) -> Any:
    numbered: Sequence[str] = (f"{name}_{item}",) if count > 1 else ()
    return next((node.params[key] for key in (*numbered, name) if key in node.params), None)
