"""Graph construction from a validated network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from paddle_layers.config.wiring.nodes import inside_of
from paddle_layers.define import Entries, LayerDefinition, ShapeError, Type, registries
from paddle_layers.runtime.memory.blocks import too_large
from paddle_layers.runtime.memory.layouts import Form
from paddle_layers.runtime.memory.parameters import ParameterSet

from .domains import Domain, Value
from .graph import DynamicRows, Graph, Op, PreparedEntries, torch_forms
from .groups import NamedValues, add_group

if TYPE_CHECKING:
    from paddle_layers.config.network import Network
    from paddle_layers.config.wiring.nodes import Inside, Node


def build_graph(network: Network, parameters: ParameterSet, feed_types: Mapping[str, Type]) -> Graph:
    """Binds every node. `feed_types` replaces types of data layers. Raises `ShapeError` as inference does."""
    graph = Graph(Domain("samples"), [], {}, {}, {}, [])
    builder = GraphBuilder(graph, parameters)
    for node in network.nodes:
        if not node.definition.inputs:
            _add_feed(graph, node, feed_types)
        else:
            builder.add(node, graph.values, "")
            _add_losses(graph, node)
    return graph


def parameter_shapes(
    network: Network, dtype: str, level: int = 0, stages: Iterable[str] = ()
) -> dict[str, tuple[int, ...]]:
    """Shape of each parameter and state by name, in both phases; nothing is allocated."""
    return parameter_shapes_and_forms(network, dtype, level, stages)[0]


def parameter_shapes_and_forms(
    network: Network, dtype: str, level: int = 0, stages: Iterable[str] = ()
) -> tuple[dict[str, tuple[int, ...]], dict[str, Form]]:
    """As `parameter_shapes`, with the PyTorch form of each."""
    parameters, stages = ParameterSet(dtype), tuple(stages)
    graphs = [build_graph(network.select(phase, level, stages), parameters, {}) for phase in ("train", "test")]
    return {name: parameter.shape for name, parameter in parameters.by_name.items()}, torch_forms(graphs)


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


def _add_losses(graph: Graph, node: Node) -> None:
    outputs = list(node.definition.outputs.values())
    for position, name in enumerate(node.output_names):
        default = 1.0 if position < len(outputs) and outputs[position].loss else 0.0
        given = node.loss_weight
        weight = float(given[position]) if given and position < len(given) else default
        # A loss with an explicit weight of 0 stays a loss, so that it is reported.
        if weight or default:
            graph.losses[name] = weight


class GraphBuilder:
    """Adds nodes to a graph; names of nested layers begin with the name of the outer layer and a dot."""

    def __init__(self, graph: Graph, parameters: ParameterSet) -> None:
        self.graph, self.parameters = graph, parameters

    def add(self, node: Node, scope: NamedValues, prefix: str) -> None:
        """Adds the operations of a node; its outputs enter the scope."""
        inputs, first = tuple(scope[name] for name in node.inputs), len(self.graph.ops)
        if node.inside is not None:
            inside = _inside_for(node, node.inside, inputs, prefix + node.name)
            outputs = self._inside(node, inside, inputs, f"{prefix}{node.name}.")
            self._propagate(node, inputs, self.graph.ops[first:])
        else:
            op = self.operation(prefix + node.name, node.definition, node.attributes, inputs, node)
            op.propagate = tuple(node.propagate_down or ())
            outputs = op.outputs
        for follower, layer, attributes in _followers(node):
            if layer.name != "linear":
                extra = self.operation(f"{prefix}{node.name}.{follower}", layer, attributes, outputs[:1], node)
                outputs = (*extra.outputs, *outputs[1:])
        if len(outputs) != len(node.output_names):
            message = (
                f"layer `{prefix}{node.name}` has {len(outputs)} outputs, but {len(node.output_names)} output names"
            )
            raise ShapeError(message)
        for name, value in zip(node.output_names, outputs, strict=True):
            value.name = prefix.replace(".", "/") + name  # `a.b` is an output of `a`, `a/b` a nested layer
            scope[name] = value

    def operation(
        self,
        name: str,
        layer: LayerDefinition,
        attributes: Mapping[str, Any],
        inputs: tuple[Value, ...],
        node: Node | None = None,
    ) -> Op:
        """Adds one use of a layer; the settings of its parameters are those of `node`."""
        try:
            binding = layer.complete().bind_axes([value.type for value in inputs], attributes)
        except ShapeError as error:
            raise _at_layer(error, name) from None
        _check_numbers(name, attributes, self.parameters.dtype)
        op = Op(name, layer, attributes, binding, inputs)
        op.rows = _row_domains(self.graph, op)
        fields = list(layer.outputs.values())
        for position, type_ in enumerate(binding.outputs):
            output = fields[min(position, len(fields) - 1)]
            domain = op.rows.get(output.axes[0].name, self.graph.samples) if output.axes else self.graph.samples
            op.outputs += (Value(f"{name}.{output.name}", type_, domain),)
        _add_parameters(op, self.parameters, node)
        self.graph.ops.append(op)
        return op

    def _inside(self, node: Node, inside: Inside, inputs: tuple[Value, ...], prefix: str) -> tuple[Value, ...]:
        """Adds the parts of a composite layer, or the steps of a recurrent group."""
        if node.definition.name == "recurrent_group":
            return add_group(self, node, inside, inputs, prefix)
        scope = dict(zip(inside.inputs, inputs, strict=True))
        for part in inside.nodes:
            self.add(part, scope, prefix)
        for value in scope.values():
            if not any(value is one for one in inputs):
                self.graph.values[value.name] = value
        return self._own(prefix, [scope[name] for name in inside.outputs], inputs)

    def _propagate(self, node: Node, inputs: tuple[Value, ...], ops: Sequence[Op]) -> None:
        """Applies the config's setting for the gradient of a layer's input to all nested readers."""
        for value, wanted in zip(inputs, node.propagate_down, strict=False):
            for op in ops:
                said = op.propagate or (None,) * len(op.inputs)
                op.propagate = tuple(
                    wanted if one is value else before for one, before in zip(op.inputs, said, strict=True)
                )

    def _own(self, prefix: str, values: Sequence[Value], inputs: tuple[Value, ...]) -> tuple[Value, ...]:
        """Values that may take the names of the layer's outputs: created inside, and each only once."""
        linear = registries["layer"]["linear"]
        found: list[Value] = []
        for place, value in enumerate(values):
            # A value that comes from outside, or occurs twice, gets a copy: renaming it would rename another output.
            foreign = any(value is one for one in (*inputs, *found))
            copy = (f"{prefix}output_{place}", linear, linear.bind({}), (value,))
            found.append(self.operation(*copy).outputs[0] if foreign else value)
        return tuple(found)


def _inside_for(node: Node, inside: Inside, inputs: Sequence[Value], name: str) -> Inside:
    """The network inside a layer; a body computes attributes from sizes, so other sizes need another one."""
    types = tuple(value.type for value in inputs)
    # Most batches have the declared sizes, for which the body has been expanded at load time.
    if "body" not in node.definition.hooks or types == node.input_types:
        return inside
    try:
        return inside_of(node.setup, types) or inside
    except ShapeError as error:
        raise _at_layer(error, name) from None


def _at_layer(error: ShapeError, name: str) -> ShapeError:
    """The same error with the layer's name."""
    return error.restated(f"layer `{name}`: {error.message}", attribute=error.attribute, input=error.input)


def _check_numbers(name: str, attributes: Mapping[str, Any], dtype: str) -> None:
    """Raises `ShapeError` for a value that overflows in the precision of the net."""
    for attribute, value in attributes.items():
        if isinstance(value, float) and too_large(value, dtype):
            message = f"layer `{name}`: `{attribute}` is {value:g}, which is too large for {dtype}"
            raise ShapeError(message, attribute=attribute)


def _followers(node: Node) -> list[tuple[str, LayerDefinition, Mapping[str, Any]]]:
    """Operations that the framework appends to a node: activation, dropout, clipping of the gradient."""
    found: list[tuple[str, LayerDefinition, Mapping[str, Any]]] = []
    if node.activation is not None:
        found.append(("act", *node.activation))
    for name, layer_name, attribute in (("drop", "dropout", "drop_rate"), ("clip", "gradient_clip", "error_clip")):
        if attribute in node.definition.common and (value := node.attributes[attribute]):
            layer = registries["layer"][layer_name]
            setting = "drop_rate" if layer_name == "dropout" else "threshold"
            found.append((name, layer, layer.bind({setting: value})))
    return found


def _row_domains(graph: Graph, op: Op) -> dict[str, Domain]:
    """The domain of each row axis; inputs that share an axis must have equal rows.

    Inputs with sequences come first: the grouping of their rows is then known by the fed starts.
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
            if input_.axes[0].outer:
                _bind_rows(graph, op, rows, input_.axes[0].outer, value.domain.ancestors()[-1])
    op.rows = rows
    if op.layer.dynamic_rows:
        graph.made_rows.append(_dynamic_rows(graph, op))
    for name, entries in op.layer.entries.items():
        made = _prepared_entries(graph, op, name, entries)
        graph.prepared_entries[made.value.name] = made
    return rows


def _dynamic_rows(graph: Graph, op: Op) -> DynamicRows:
    """New domains for dynamic row counts."""
    groups = {row: (op.rows[row], op.group_of(row)) for row in op.layer.groups if row in op.rows}
    asked = [name for name in op.layer.hook_names["starts"] if name in op.layer.inputs and op.argument(name)]
    values = {name: op.argument(name)[0] for name in asked}
    temps = op.layer.decisive_temps
    computed = bool(temps) or any(value.name not in graph.feeds for value in values.values())
    # Late is contagious: rows grouped by late rows are late themselves.
    late = computed or any(domain.late for pair in groups.values() for domain in pair)
    domains = []
    for row, group in op.layer.dynamic_rows.items():
        what = "rows" if row not in op.layer.groups.values() else "sub-sequences"
        op.rows[row] = Domain(f"{what} of {op.name}", op.rows[group], late=late)
        domains.append(op.rows[row])
    return DynamicRows(op, tuple(domains), groups, values, temps, late, computed)


def _prepared_entries(graph: Graph, op: Op, name: str, entries: Entries) -> PreparedEntries:
    """A sparse value that is prepared from feeds. Raises `ShapeError` for an input that the network computes."""
    row, ids = entries.axes
    fed: dict[str, str] = {}
    for asked in op.layer.hook_names["entries"]:
        for value in op.argument(asked) if asked in op.layer.inputs else ():
            if graph.feeds.get(value.name) is not value:
                raise ShapeError(
                    f"layer `{op.name}`: `{asked}` must be a data layer: its values are required before the pass",
                    input=op.binding.positions[asked][0],
                )
            fed[asked] = value.name
    domain = op.rows[str(row.group)]
    op.rows[row.name] = Domain(f"{name} of {op.name}", domain)
    count = op.binding.sizes[ids.name]
    op.entries[name] = Value(f"{op.name}.{name}", Type("SPARSE", (count,), count), domain, op.rows[row.name])
    known = {**op.attributes, **op.binding.sizes}
    prepare = op.layer.hooks.get("prepare")
    prepared = prepare(**{one: known[one] for one in op.layer.hook_names["prepare"]}) if prepare is not None else None
    return PreparedEntries(op, op.entries[name], fed, prepared)


def _bind_rows(graph: Graph, op: Op, rows: dict[str, Domain], axis: str, domain: Domain) -> None:
    # Different domains may have equal rows at run time, which is checked per batch.
    known = rows.setdefault(axis, domain)
    if known is not domain:
        graph.equal_rows.append((op.name, known, domain))


def _add_parameters(op: Op, parameters: ParameterSet, node: Node | None) -> None:
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


def _settings(node: Node | None, name: str, item: int, count: int) -> Any:
    if node is None:
        return None
    # A setting for one item takes precedence over that for all.
    numbered: Sequence[str] = (f"{name}_{item}",) if count > 1 else ()
    return next((node.params[key] for key in (*numbered, name) if key in node.params), None)
