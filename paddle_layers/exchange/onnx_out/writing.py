"""A checked network as an ONNX graph: what enters it, its layers, what leaves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from paddle_layers.config import ConfigError, Network
from paddle_layers.config.diagnostics.diagnostic import Diagnostic
from paddle_layers.config.wiring.nodes import Node
from paddle_layers.runtime.graph.building import build_graph
from paddle_layers.runtime.graph.graph import Graph as RuntimeGraph
from paddle_layers.runtime.graph.value import Value
from paddle_layers.runtime.memory.parameters import ParameterSet

from .forms import NoForm, no_form, write_op
from .graph import Graph, Tensor
from .layouts import Layouts

Size = int | str
"""An axis: its size, or a name where that differs from batch to batch."""


@dataclass(frozen=True)
class Port:
    """What enters or leaves the model."""

    name: str
    axes: tuple[Size, ...]
    ids: bool = False


@dataclass
class Written:
    """A network as nodes."""

    graph: Graph
    inputs: list[Port] = field(default_factory=list)
    outputs: list[Port] = field(default_factory=list)


def write_network(
    network: Network, parameters: ParameterSet, outputs: Sequence[str], probabilities: Mapping[str, str]
) -> Written:
    """The nodes of the layers of a network, which are there in one phase.

    `probabilities` says by which layer scores become probabilities; these are outputs, too. Raises `ConfigError` with
    every layer that has no form.
    """
    _refuse_groups(network)
    whole = build_graph(network, parameters, {})
    graph = Graph(whole.values)
    written, layouts = Written(graph), Layouts(graph)
    for name, value in whole.feeds.items():
        _add_feed(name, value, written, layouts)
    _write_ops(network, whole, graph, layouts)
    for name in outputs:
        value = whole.values[name]
        _add_output(name, value, layouts.padded(value), written)
        if name in probabilities:
            operator = "Softmax" if probabilities[name] == "softmax" else "Sigmoid"
            how = {"axis": value.domain.level + 1} if operator == "Softmax" else {}
            made = graph.node(operator, layouts.padded(value), **how)
            _add_output(f"{name}.probabilities", value, made, written)
        if value.domain.level:
            for ending, tensor in layouts.all_lengths(value.domain):
                _finish(f"{name}.{ending}", tensor, _lengths_axes(name, ending), written, ids=True)
    return written


# ---- what enters and leaves


def _axes(name: str, value: Value) -> tuple[Size, ...]:
    rows = ("N", f"{name}.T") if value.domain.level == 1 else ("N", f"{name}.S", f"{name}.T")
    dims = () if value.type.kind == "INT" else value.type.dims
    return (*(rows if value.domain.level else ("N",)), *dims)


def _lengths_axes(name: str, ending: str) -> tuple[Size, ...]:
    return ("N", f"{name}.S") if ending == "sub_lengths" else ("N",)


def _add_feed(name: str, value: Value, written: Written, layouts: Layouts) -> None:
    graph, level = written.graph, value.domain.level
    written.inputs.append(Port(name, _axes(name, value), ids=value.type.kind == "INT"))
    tensor = Tensor(name)
    if not level:
        layouts.put_rows(value, tensor)
        return
    layouts.put_padded(value, tensor)
    lengths = _length_input(name, "lengths", written)
    graph.scope = name
    if level == 2:
        assert value.domain.parent is not None
        layouts.put_domain(value.domain.parent, graph.Shape(tensor, start=0, end=2), lengths)
        inner = _length_input(name, "sub_lengths", written)
        lengths = graph.Reshape(inner, [-1])
    layouts.put_domain(value.domain, graph.Shape(tensor, start=0, end=level + 1), lengths)


def _length_input(name: str, ending: str, written: Written) -> Tensor:
    made = written.graph.unique(f"{name}.{ending}")
    written.inputs.append(Port(made, _lengths_axes(name, ending), ids=True))
    return Tensor(made)


def _add_output(name: str, value: Value, tensor: Tensor, written: Written) -> None:
    _finish(name, tensor, _axes(name, value), written, ids=value.type.kind == "INT")


def _finish(name: str, tensor: Tensor, axes: tuple[Size, ...], written: Written, *, ids: bool) -> None:
    """An output has its name, whatever the tensor is called that it is."""
    graph = written.graph
    graph.scope = name
    if tensor.name != name:
        made = {output for node in graph.nodes for output in node.outputs}
        taken = {port.name for port in (*written.inputs, *written.outputs)}
        first = 0 if tensor.name in made - taken else len(graph.nodes)
        given = graph.Identity(tensor) if first else tensor
        graph.rename(given, name, first)
    written.outputs.append(Port(name, axes, ids))


# ---- layers


def _write_ops(network: Network, whole: RuntimeGraph, graph: Graph, layouts: Layouts) -> None:
    refused: list[Diagnostic] = []
    unknown: set[Value] = set()
    named = set(whole.values.values())
    for op in whole.ops:
        if unknown.isdisjoint(op.inputs):
            try:
                write_op(op, graph, layouts, named)
                continue
            except NoForm as reason:
                refused.append(_diagnostic(network, _node_of(network, op.name), op.layer.name, str(reason)))
        elif op.layer.onnx is None:
            refused.append(_diagnostic(network, _node_of(network, op.name), op.layer.name, no_form(op.layer)))
        unknown.update(op.outputs)
    if refused:
        raise ConfigError(refused)


def _refuse_groups(network: Network) -> None:
    """Groups are refused with all others that have no form, before a graph is made of their steps."""
    groups = [node for node in network.nodes if node.definition.name == "recurrent_group"]
    if groups:
        others = [
            node for node in network.nodes
            if node.definition.inputs and node.inside is None and node.definition.onnx is None
        ]  # fmt: skip
        found = sorted((*groups, *others), key=lambda node: node.span)
        raise ConfigError(
            [_diagnostic(network, node, node.definition.name, no_form(node.definition)) for node in found]
        )


def _node_of(network: Network, op: str) -> Node:
    """The layer of the config to which an operation belongs: names of what is inside begin with its name."""
    return max(
        (node for node in network.nodes if op == node.name or op.startswith(f"{node.name}.")),
        key=lambda node: len(node.name),
    )


def _diagnostic(network: Network, node: Node, layer: str, reason: str) -> Diagnostic:
    part = "" if node.definition.name == layer else f", through `{layer}`"
    message = f"layer `{node.name}` ({node.definition.name}{part}) has no ONNX form: {reason}"
    help_ = "export values before it, by `--value NAME`, and do the rest where the model is used"
    return Diagnostic("E501", message, network.source, *node.span, help=help_)
