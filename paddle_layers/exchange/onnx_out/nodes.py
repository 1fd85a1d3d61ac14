"""Export of the layers in order; layers without an ONNX form are collected."""

from __future__ import annotations

from collections.abc import Iterable

from paddle_layers.config import Network
from paddle_layers.config.diagnostics.diagnostic import Diagnostic
from paddle_layers.config.wiring.nodes import Node
from paddle_layers.runtime.graph.building import GraphBuilder
from paddle_layers.runtime.graph.domains import Value
from paddle_layers.runtime.graph.graph import Graph as RuntimeGraph
from paddle_layers.runtime.memory.parameters import ParameterSet

from .forms import NoForm, no_form, write_op
from .graph import OnnxGraph
from .layouts import Layouts
from .steps import ScanBody

Scope = dict[str, Value]


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
