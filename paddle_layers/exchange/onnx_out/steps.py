"""A recurrent group as a Scan over the padded rows: memories are scan states, other inputs are constant.

After the end of a sequence its memories are unchanged. So the side of the padding does not matter, and a group that
runs in reverse starts with the last real row.
"""

from __future__ import annotations

from paddle_layers.config.wiring.nodes import Node
from paddle_layers.runtime.graph.domains import Domain, Value

from .forms import NoForm
from .graph import OnnxGraph, OnnxTensor, SubgraphText
from .layouts import Layouts

Scope = dict[str, Value]


class ScanBody:
    """The body of one group: opened, filled with the layers of a step, closed."""

    def __init__(self, node: Node, scope: Scope, prefix: str, graph: OnnxGraph, layouts: Layouts) -> None:
        assert node.inside is not None
        self.node, self.inside, self.prefix = node, node.inside, prefix
        self.name = prefix[:-1].replace(".", "/")
        self.outer, self.outer_layouts = graph, layouts
        self.graph = graph.inner()
        self.layouts = layouts.inside(self.graph)
        self.given = dict(zip(self.inside.inputs, (scope[name] for name in node.inputs), strict=True))
        static = node.attributes["static"]
        self.stepped = {name: value for name, value in self.given.items() if name not in static}
        self.leaf = next(iter(self.stepped.values())).domain
        self.items = self.leaf if self.leaf.level == 1 else self.leaf.ancestors()[0]
        sequences = self.items.ancestors()[0]
        self.inner_leaf = Domain(f"rows in a step of {node.name}", sequences) if self.leaf.level == 2 else sequences
        self.scope: Scope = dict(self.given)
        for name, value in self.stepped.items():
            type_ = value.type._replace(level=value.type.level - 1)
            self.scope[name] = Value(f"{self.name}/{name}", type_, self.inner_leaf)
        self.memories = [part for part in self.inside.nodes if part.definition.name == "memory"]
        for part in self.memories:
            self.scope[part.output_names[0]] = Value(f"{self.name}/{part.name}", part.output_types[0], sequences)
        self.body = SubgraphText(node.name, self.graph.nodes, [], [])
        self._starts: list[OnnxTensor] = []
        self._scanned: list[OnnxTensor] = []
        self._mask = OnnxTensor("")

    # ---- what a step sees

    def open(self) -> None:
        """Inputs of a step: the memories, then one row of each sequence and whether it is real."""
        self.outer.scope = f"{self.prefix}scan"
        for part in self.memories:
            value = self.scope[part.output_names[0]]
            self._starts.append(self._start(part, value))
            self.layouts.put_rows(value, self._enter(value.name))
        for name, outer in self.stepped.items():
            value = self.scope[name]
            self._scanned.append(self.outer_layouts.padded(outer))
            tensor = self._enter(value.name)
            if value.type.level:
                self.layouts.put_padded(value, tensor)
            else:
                self.layouts.put_rows(value, tensor)
        if self.leaf.level == 2:
            lengths = self.outer_layouts.all_lengths(self.leaf)[1][1]
            self._scanned.append(lengths)
            inner = self._enter(f"{self.name}/lengths")
            first = self.scope[next(iter(self.stepped))]
            shape = self.graph.Shape(self.layouts.padded(first), start=0, end=2)
            self.layouts.put_domain(self.inner_leaf, shape, inner)
        # The mask is scanned as a row, too, so that each step knows which sequences have ended.
        self._scanned.append(self.outer_layouts.mask(self.items, self.items.ancestors()[0]))
        self._mask = self._enter(f"{self.name}/is_real")

    def _start(self, part: Node, value: Value) -> OnnxTensor:
        """The rows of a memory before the first step."""
        if part.inputs:
            return self.outer_layouts.rows(self.given[part.inputs[0]])
        ids = value.type.kind == "INT"
        number = part.attributes["id"] if ids else float(part.attributes["value"])
        # The batch size is known only when the model runs.
        rows = self.outer.Shape(self.outer_layouts.padded(next(iter(self.stepped.values()))), start=0, end=1)
        shape = rows if ids or not value.type.dims else self.outer.Concat(rows, list(value.type.dims), axis=0)
        found: OnnxTensor = self.outer.Expand(number, shape)
        return found

    def _enter(self, name: str) -> OnnxTensor:
        made = self.graph.unique(name)
        self.body.inputs.append(made)
        return OnnxTensor(made)

    # ---- what it gives

    def read_after(self) -> list[Value]:
        """The values of a step that are needed after it."""
        names = [*self.inside.outputs, *(part.attributes["of"] for part in self.memories)]
        return [self.scope[name] for name in names]

    def outputs(self, prefix: str) -> list[Value]:
        """The values that the group gives, which have no tensors yet."""
        pairs = zip(self.node.output_names, self.node.output_types, strict=True)
        domains = {self.items.level: self.items, self.leaf.level: self.leaf}
        return [
            Value(prefix.replace(".", "/") + name, type_, domains.get(type_.level, self.leaf)) for name, type_ in pairs
        ]

    def close(self, made: list[Value]) -> None:
        """Add the Scan. Raises `NoForm` for outputs with a dynamic row count in every step."""
        self.graph.scope = f"{self.prefix}scan"
        for part in self.memories:
            old, new = self.scope[part.output_names[0]], self.scope[part.attributes["of"]]
            self.body.outputs.append(self._kept(self.layouts.rows(new), self.layouts.rows(old), new).name)
        for name in self.inside.outputs:
            value = self.scope[name]
            if value.type.level and value.domain is not self.inner_leaf:
                raise NoForm(f"output `{name}` of a step has a dynamic row count")
            # ONNX forbids a body to return its own input, and a value may be returned twice.
            self.body.outputs.append(self.graph.Identity(self.layouts.padded(value)).name)
        first, self.outer.scope = len(self.outer.nodes), f"{self.prefix}scan"
        reverse = self.node.attributes["reverse"]
        results = self.outer.scan_of(self.body, self._starts, self._scanned, reverse=reverse)
        for value, tensor in zip(made, results[len(self.memories) :], strict=True):
            self.outer_layouts.put_padded(value, self.outer.rename(tensor, value.name, first))

    def _kept(self, new: OnnxTensor, old: OnnxTensor, value: Value) -> OnnxTensor:
        dims = value.type.dims
        mask = self.graph.Unsqueeze(self._mask, list(range(1, len(dims) + 1))) if dims else self._mask
        found: OnnxTensor = self.graph.Where(mask, new, old)
        return found
