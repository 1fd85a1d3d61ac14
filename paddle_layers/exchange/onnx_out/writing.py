"""Checked networks as ONNX graphs: inputs, layers in order, outputs; layers without an ONNX form are collected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from paddle_layers.config import ConfigError, Network
from paddle_layers.config.diagnostics.diagnostic import Diagnostic
from paddle_layers.config.wiring.nodes import Node
from paddle_layers.runtime.graph.building import GraphBuilder, build_graph
from paddle_layers.runtime.graph.domains import Value
from paddle_layers.runtime.graph.graph import Graph as RuntimeGraph
from paddle_layers.runtime.memory.parameters import ParameterSet

from .forms import NoForm, no_form, write_op
from .graph import OnnxGraph, OnnxTensor
from .layouts import Layouts
from .steps import ScanBody

Size = int | str
"""An axis: its size, or a symbolic name if the size is dynamic."""
Scope = dict[str, Value]


@dataclass(frozen=True)
class Port:
    """An input or output of the model."""

    name: str
    axes: tuple[Size, ...]
    ids: bool = False


@dataclass
class ExportedNetwork:
    """A network as nodes."""

    graph: OnnxGraph
    inputs: list[Port] = field(default_factory=list)
    outputs: list[Port] = field(default_factory=list)


def write_network(
    network: Network, parameters: ParameterSet, outputs: Sequence[str], probabilities: Mapping[str, str]
) -> ExportedNetwork:
    """The nodes of the layers of a network, which are there in one phase.

    `probabilities` says by which layer scores become probabilities; these are outputs, too. Raises `ConfigError` with
    every layer that has no form.
    """
    # The graph starts with the data layers alone: the others are added where their nodes are written, since those of a
    # recurrent group belong to another graph.
    data = [node for node in network.nodes if not node.definition.inputs]
    whole = build_graph(Network.checked(network.name, data, network.source), parameters, {})
    graph = OnnxGraph(name for node in network.nodes for name in node.output_names)
    written, layouts = ExportedNetwork(graph), Layouts(graph)
    for name, value in whole.feeds.items():
        _add_feed(name, value, written, layouts)
    layers = Layers(network, parameters)
    layers.write([node for node in network.nodes if node.definition.inputs], whole.values, "", whole, graph, layouts)
    if layers.refused:
        raise ConfigError(layers.refused)
    for name in outputs:
        value = whole.values[name]
        _add_output(name, value, layouts.padded(value), written)
        if name in probabilities:
            operator = "Softmax" if probabilities[name] == "softmax" else "Sigmoid"
            how = {"axis": value.domain.level + 1} if operator == "Softmax" else {}
            first = len(graph.nodes)
            made = graph.rename(graph.node(operator, layouts.padded(value), **how), f"{name}.probabilities", first)
            _add_output(f"{name}.probabilities", value, made, written)
        if value.domain.level:
            for ending, tensor in layouts.all_lengths(value.domain):
                _finish(f"{name}.{ending}", tensor, _lengths_axes(name, ending), written, ids=True)
    return written


# ---- what enters and leaves


def _axes(name: str, value: Value) -> tuple[Size, ...]:
    rows = ("N", f"{name}.T") if value.domain.level == 1 else ("N", f"{name}.S", f"{name}.T")
    dims = value.type.dims
    return (*(rows if value.domain.level else ("N",)), *dims)


def _lengths_axes(name: str, ending: str) -> tuple[Size, ...]:
    return ("N", f"{name}.S") if ending == "sub_lengths" else ("N",)


def _add_feed(name: str, value: Value, written: ExportedNetwork, layouts: Layouts) -> None:
    graph, level = written.graph, value.domain.level
    written.inputs.append(Port(name, _axes(name, value), ids=value.type.kind == "INT"))
    tensor = OnnxTensor(name)
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


def _length_input(name: str, ending: str, written: ExportedNetwork) -> OnnxTensor:
    made = written.graph.unique(f"{name}.{ending}")
    written.inputs.append(Port(made, _lengths_axes(name, ending), ids=True))
    return OnnxTensor(made)


def _add_output(name: str, value: Value, tensor: OnnxTensor, written: ExportedNetwork) -> None:
    _finish(name, tensor, _axes(name, value), written, ids=value.type.kind == "INT")


def _finish(name: str, tensor: OnnxTensor, axes: tuple[Size, ...], written: ExportedNetwork, *, ids: bool) -> None:
    """An output has its name, whatever the tensor is called that it is."""
    graph = written.graph
    graph.scope = name
    if tensor.name != name:
        first = len(graph.nodes)
        graph.rename(graph.Identity(tensor), name, first)
    written.outputs.append(Port(name, axes, ids))


class Layers:
    """Writes layers; `refused` has those that have no form, `unknown` the values that are therefore missing."""

    def __init__(self, network: Network, parameters: ParameterSet) -> None:
        self.network, self.parameters = network, parameters
        self.refused: list[Diagnostic] = []
        self.unknown: set[Value] = set()

    def write(
        self, nodes: Iterable[Node], scope: Scope, prefix: str, whole: RuntimeGraph, graph: OnnxGraph, layouts: Layouts
    ) -> None:
        """The layers of one network, or of the step of a group; their outputs enter the scope."""
        for node in nodes:
            if node.definition.name == "recurrent_group" and node.inside is not None:
                self._group(node, scope, prefix, whole, graph, layouts)
            else:
                self._layer(node, scope, prefix, whole, graph, layouts)

    def _layer(
        self, node: Node, scope: Scope, prefix: str, whole: RuntimeGraph, graph: OnnxGraph, layouts: Layouts
    ) -> None:
        first = len(whole.ops)
        GraphBuilder(whole, self.parameters).add(node, scope, prefix)
        named = {*whole.values.values(), *scope.values()}
        for op in whole.ops[first:]:
            # Inputs of a rejected layer are missing: only layers that have no form themselves are reported as well, so
            # that one export lists all of them.
            if self.unknown.isdisjoint(op.inputs):
                try:
                    write_op(op, graph, layouts, named)
                    continue
                except NoForm as reason:
                    self._refuse(node, op.layer.name, str(reason))
            elif op.layer.onnx is None:
                self._refuse(node, op.layer.name, no_form(op.layer))
            self.unknown.update(op.outputs)

    def _group(
        self, node: Node, scope: Scope, prefix: str, whole: RuntimeGraph, graph: OnnxGraph, layouts: Layouts
    ) -> None:
        """The steps of a group are the body of a Scan."""
        steps = ScanBody(node, scope, f"{prefix}{node.name}.", graph, layouts)
        inner = RuntimeGraph(whole.samples, [], {}, {}, {}, [])
        # Memories are the states of the Scan.
        layers = [part for part in steps.inside.nodes if part.definition.name != "memory"]
        # The layers inside are visited in any case, for their own reports.
        known = self.unknown.isdisjoint(steps.given.values())
        if known:
            steps.open()
        else:
            self.unknown.update(steps.scope.values())
        self.write(layers, steps.scope, steps.prefix, inner, steps.graph, steps.layouts)
        made = steps.outputs(prefix)
        if not self.unknown.isdisjoint(steps.read_after()):
            self.unknown.update(made)
        else:
            try:
                steps.close(made)
            except NoForm as reason:
                self._refuse(node, node.definition.name, str(reason))
                self.unknown.update(made)
        scope.update(zip(node.output_names, made, strict=True))

    def _refuse(self, node: Node, layer: str, reason: str) -> None:
        part = "" if node.definition.name == layer else f", through `{layer}`"
        message = f"layer `{node.name}` ({node.definition.name}{part}) cannot be exported to ONNX: {reason}"
        help_ = "export values before it with `--value NAME` and compute the rest in the application"
        self.refused.append(Diagnostic("E501", message, self.network.source, *node.span, help=help_))
