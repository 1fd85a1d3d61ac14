"""Conversion of nodes to layers, by the function of each operator; rejected nodes are collected."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from . import (  # noqa: F401  importing a module registers its operators in `OPERATORS`
    ai_onnx_ml,
    arithmetic,
    elementwise,
    fusion_patterns,
    images,
    loops,
    merged_batch,
    normalizations,
    parts,
    quantization,
    recurrences,
    repeated_constants,
    resize,
    rows,
    scatter,
    selections,
    sequence_rows,
    sequences,
    shapes,
)
from .data_types import ROUNDED, kind_of, result_kind, rounds
from .folding import Budget, folded
from .graph_inputs import READINGS, GraphInputs
from .layers import NotSupported, in_order, unsupported_operator
from .model import Model, OnnxNode, OnnxSubgraph, fault_of, is_inlined, nodes_for, shown
from .operators import OF_CONSTANTS, OPERATORS, Handler, OperatorContext, described
from .reference import OPERATORS as REFERENCE
from .sizes import NoSize
from .symbolic_values import (
    ConstantValue,
    DynamicConstant,
    ErrorFunction,
    Mask,
    PaddedView,
    PredictedClass,
    SampleIndices,
    SelectedSteps,
    SequenceLengths,
    Statistic,
    SymbolicValue,
    View,
    atoms_of,
    constants_of,
)

MOST_INLINED = 1 << 14
"""Maximum number of nodes of chosen branches and steps of loops."""


@dataclass
class Outcome:
    """Result of a conversion, for one interpretation of the inputs."""

    inputs: GraphInputs
    outputs: list[tuple[str, View]] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    """The meaning of each tensor of the graph."""
    known: dict[Any, Any] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    folded: list[OnnxNode] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unused: list[OnnxNode] = field(default_factory=list)


def convert(model: Model) -> Outcome:
    """The layers of a model, by the first reading of its inputs that leaves nothing over, or the least."""
    best: Outcome | None = None
    # A model does not say which axis has the steps. The readings are tried from the simplest on, and one that converts
    # everything is taken.
    for reading in READINGS:
        conversion = _Conversion(model, reading)
        fixed = reading == "tokens" and not conversion.graph_inputs.refused
        outcome = conversion.run()
        # Any first axis could be read as steps; only a recurrence or attention shows that it is meant so.
        without_steps = reading == "time-major" and not _has_steps(outcome)
        # Where all inputs have fixed sizes, the last reading refuses only what has no layer.
        fewer = best is None or len(outcome.refused) < len(best.refused) + fixed
        if best is None or (fewer and not without_steps):
            if best is not None and reading == "tokens" and conversion.graph_inputs.refused:
                # Two remedies: fixed sizes, or a model without what sequences do not support.
                outcome.refused += [f"or, for sequences of any length: {line}" for line in best.refused]
            best = outcome
        if not best.refused:
            break
    assert best is not None
    return best


def _has_steps(outcome: Outcome) -> bool:
    """Whether a layer shows which axis has the steps, as recurrences and attention do; the first axis may be these."""
    return any(layer.type in _OF_STEPS for layer in in_order([view.value.layer for _, view in outcome.outputs]))


_OF_STEPS = frozenset({"lstmemory", "grumemory", "recurrent", "multi_head_attention"})


class _Conversion:
    def __init__(self, model: Model, reading: str) -> None:
        self.model = model
        self.graph_inputs = GraphInputs(model, reading).read()
        self.fixed_axes = reading == "tokens" or all(len(entry.axes or ()) > 3 for entry in model.inputs)
        self.kinds = {entry.name: kind_of(entry.kind) for entry in model.inputs}
        """Kinds of the data types of values that are no constants."""
        self.known: dict[Any, Any] = {}
        self.budget = Budget(model)
        self.left = MOST_INLINED
        self.visited: set[int] = set()
        """Places of converted nodes, including those of chosen branches."""
        self.values: dict[str, SymbolicValue | ConstantValue | None] = {
            **constants_of(model.constants),
            **{name: ConstantValue(array) for name, array in model.fixed.items()},  # no parameters
            **self.graph_inputs.values,
        }
        refused, notes = list(self.graph_inputs.refused), list(self.graph_inputs.notes)
        self.outcome = Outcome(self.graph_inputs, values=self.values, known=self.known, refused=refused, notes=notes)

    def run(self) -> Outcome:
        """All nodes on which outputs rest, then the outputs."""
        self._convert(self.model.nodes[: self.model.own], {entry.name for entry in self.model.outputs})
        self.outcome.unused += [node for node in self.model.nodes if node.place not in self.visited]
        for entry in self.model.outputs:
            try:
                self._output(entry.name)
            except (NotSupported, NoSize) as reason:
                self.outcome.refused.append(f"output {shown(entry.name)}: {reason}")
        self._tell_of_padding()
        if "quantized" in self.known:
            weights = len(self.known["quantized"])
            self.outcome.notes.append(f"imported as float: {weights} quantized weights; values are not rounded")
        if not self.outcome.outputs and not self.outcome.refused:
            self.outcome.refused.append("no output depends on an input")
        return self.outcome

    def _convert(self, nodes: list[OnnxNode], outputs: set[str]) -> None:
        """The nodes of a graph on which its outputs rest."""
        wanted = nodes_for(nodes, outputs)
        for node in nodes:
            if node.place in wanted:
                self.visited.add(node.place)
                if not node.domain and is_inlined(node):
                    self._inlined(node)
                else:
                    self._node(node)

    def _inlined(self, node: OnnxNode) -> None:
        """The nodes of the branch that a constant condition chooses, or of each step of a loop, instead of the node."""
        inner: list[tuple[Any, str]] = []
        try:
            inner = self._steps(node) if node.operator == "Loop" else self._branches(node)
        except NotSupported as reason:
            if all(self.values.get(name) is not None for name in node.inputs[: 2 if node.operator == "Loop" else 1]):
                self.outcome.refused.append(f"{node.label}: {reason}")
        for place, name in enumerate(node.outputs):
            self.values[name], self.kinds[name] = inner[place] if place < len(inner) else (None, "")

    def _body(self, body: OnnxSubgraph, inputs: Sequence[tuple[Any, str]]) -> list[tuple[Any, str]]:
        """The outputs of a subgraph, whose names hide those of the graph, with their kinds."""
        outer, kinds = self.values, self.kinds
        self.left -= len(body.nodes)
        if self.left < 0:
            raise NotSupported(f"the steps of loops have more than {MOST_INLINED} nodes")
        self.values, self.kinds = {**outer, **constants_of(body.constants)}, dict(kinds)
        for name, (value, kind) in zip(body.inputs, inputs, strict=True):
            self.values[name], self.kinds[name] = value, kind
        self._convert(body.nodes, set(body.outputs))
        found = [(self.values.get(name), self._kind(name)) for name in body.outputs]
        self.values, self.kinds = outer, kinds
        return found

    def _steps(self, node: OnnxNode) -> list[tuple[Any, str]]:
        """The states after a constant number of steps."""
        body = node.attributes["body"]
        states = [(self.values.get(name), self._kind(name)) for name in node.inputs[2:]]
        given = zip(node.inputs, (math.inf, 1), strict=False)
        trips, going = (self._known(name) if name else usual for name, usual in given)
        if trips is None or len(states) + 2 != len(body.inputs):
            raise NotSupported("the number of steps must be constant")
        number = 0
        while number < trips and going:
            counters = [(ConstantValue(np.array(number)), "i"), (ConstantValue(np.array(True)), "b")]
            (condition, _), *states = self._body(body, [*counters, *states])
            going = condition.number if isinstance(condition, ConstantValue) else None
            number += 1
        if going is None:
            raise NotSupported("whether there is another step must be constant")
        return states

    def _known(self, name: str) -> float | None:
        """A number that is constant."""
        value = self.values.get(name)
        number = value.number if isinstance(value, (ConstantValue, DynamicConstant)) else None
        return number if isinstance(number, (int, float)) else None

    def _branches(self, node: OnnxNode) -> list[tuple[Any, str]]:
        """The outputs of the branch that a constant chooses; of both, where each sample chooses."""
        name = "".join(node.inputs[:1])
        condition, number = self.values.get(name), self._known(name)
        if number is not None:
            return self._body(self._branch(node, "then" if number else "else"), [])
        if not isinstance(condition, View) or condition.inside or [one.size for one in condition.rows] != [1]:
            raise NotSupported(
                "the condition must follow from constants and fixed sizes: `--shape` fixes sizes, `--constant` scalars"
            )
        step, scalar = self._context(node), replace(condition, layout=())
        then, other = (self._body(self._branch(node, part), []) for part in ("then", "else"))
        known = all(one is not None for one, _ in (*then, *other))
        pairs = zip(then, other, strict=True)
        return [(selections.select(step, scalar, a, b) if known else None, kind) for (a, kind), (b, _) in pairs]

    def _branch(self, node: OnnxNode, name: str) -> OnnxSubgraph:
        body = node.attributes.get(f"{name}_branch")
        if not isinstance(body, OnnxSubgraph) or len(body.outputs) != len(node.outputs):
            raise NotSupported("its branches are invalid")
        return body

    def _tell_of_padding(self) -> None:
        """Note that padding masks are dropped; a mean that includes padding differs here."""
        notes, hidden = self.outcome.notes, False
        for name, layer in self.graph_inputs.layers.items():
            zero = self.known.get((layer, "padding"))
            mask = self.known.get(layer) == "mask" and not layer.attributes.get("size")
            hidden = hidden or zero or mask
            if zero:
                notes.append(f"input {shown(name)}: id 0 is padding in the model; feed sequences without padding")
            if mask:
                notes.append(f"input {shown(name)}: left out, a padding mask; sequences are not padded here")
        if hidden:
            notes += [
                f"{label}: the mean includes padding in the model; results differ for padded sequences"
                for label in self.known.get("means", ())
            ]

    def _node(self, node: OnnxNode) -> None:
        handler = OPERATORS.get((node.domain, node.operator))
        opset = self.model.opsets.get(node.domain, 1 if node.domain else 13)
        # Against ONNX's own schema first: handlers may then rely on the types of attributes.
        fault = fault_of(node, opset)
        # An input of a rejected node: its consequences are not reported, only the cause.
        unknown = any(name and self.values.get(name) is None for name in (*node.inputs, *node.captured))
        results: Sequence[Any] = ()
        try:
            if fault is not None:
                raise NotSupported(fault)
            # Of constants, it could be computed: where these are not known, it is not the cause.
            consequence = unknown and node.operator in REFERENCE and not node.domain
            if handler is None and not consequence and not self._foldable(node):
                raise NotSupported(unsupported_operator(node))
            if not unknown:
                results = self._of_node(node, handler, opset)
        except (NotSupported, NoSize) as reason:
            self.outcome.refused.append(f"{node.label}: {reason}")
        kinds = [self._kind(name) for name in node.inputs]
        for place, name in enumerate(node.outputs):
            if name:
                self.values[name] = results[place] if place < len(results) else None
                self.kinds[name] = result_kind(node, place, kinds)

    def _kind(self, name: str) -> str:
        value = self.values.get(name)
        return value.array.dtype.kind if isinstance(value, ConstantValue) else self.kinds.get(name, "")

    def _foldable(self, node: OnnxNode) -> bool:
        return all(not name or isinstance(self.values.get(name), ConstantValue) for name in node.inputs)

    def _of_node(self, node: OnnxNode, handler: Handler | None, opset: int) -> Sequence[Any]:
        inputs = [self.values[name] if name else None for name in node.inputs]
        floats = quantization.without_scale(node, inputs)
        if floats is not None:
            return [quantization.with_scale(inputs[0], one) for one in self._results(node, handler, opset, floats)]
        return self._results(node, quantization.handler_of(node, inputs) or handler, opset, inputs)

    def _results(self, node: OnnxNode, handler: Handler | None, opset: int, inputs: list[Any]) -> Sequence[Any]:
        for one in inputs:
            if isinstance(one, Mask) and one.ids is not None and node.operator not in _KEEP_MASKS:
                self.known[one.ids.layer, "padding"] = True
        if self._foldable(node):
            constants = [one for one in inputs if one is None or isinstance(one, ConstantValue)]
            found = folded(node, constants, opset, self.budget)
            if found is not None:
                self.outcome.folded.append(node)
                return quantization.named(self.known, node, found)
        sample = repeated_constants.sample_of(node, inputs)
        if sample is not None:
            found = folded(sample.node, sample.inputs, opset, self.budget)
            if found is not None:
                self.outcome.folded.append(node)
                return [repeated_constants.for_each_sample(one, sample) for one in found]
        if handler is None:
            raise NotSupported(unsupported_operator(node))
        step = self._context(node)
        # Only these absorb a preceding Pad; for others it becomes a layer.
        partial: tuple[type, ...] = () if node.operator in ("Conv", "MaxPool", "AveragePool") else (PaddedView,)
        partial += (ErrorFunction,) if node.operator in _OF_VALUES else ()
        inputs = [step.settled(one) if isinstance(one, partial) else one for one in inputs]
        inputs = [one.with_batch() if isinstance(one, View) else one for one in inputs]
        first = inputs[0] if inputs else None
        rounded = rounds(node.operator, step.kinds) and any(isinstance(one, View) for one in inputs)
        step.refuse_unless(not rounded, ROUNDED)
        whole = isinstance(first, SelectedSteps) or (isinstance(first, Statistic) and first.over_all)
        whole = whole or (isinstance(first, SampleIndices) and first.offsets.ndim > 0 and node.operator != "Shape")
        if whole and node.operator in _OF_VALUES:
            raise NotSupported(f"changing the axes of {described(first)} is not supported")
        if isinstance(first, PredictedClass) and node.operator not in ("ZipMap",):
            return [first] * len(node.outputs)
        if (scalar := shapes.moved_scalar(node, inputs)) is not None:
            return [scalar]
        if isinstance(first, ConstantValue) and handler not in OF_CONSTANTS:
            raise NotSupported(f"input is {described(first)}, expected the output of a layer")
        merged = merged_batch.split_batch_axis(node, inputs, opset)
        if merged is not None:
            step.node, inputs = merged
            step.additional_axes = 1
        # Where inputs may be sequences, attention of these comes first, which is recognized as a layer.
        turned = merged_batch.batch_first(step.node, inputs) if merged is None and self.fixed_axes else None
        if turned is not None:
            step.node, inputs, step.additional_axes = turned.node, turned.inputs, 2 - turned.lead
            return [turned.restored(step.settled(_called(handler, step, inputs)))]
        apart = merged_batch.in_parts(step, handler, node, inputs) if merged is None else None
        result = _called(handler, step, inputs) if apart is None else apart
        results = result if isinstance(result, tuple) else (result,)
        if merged is None:
            return results
        return [merged_batch.merge_batch_axis(step.settled(result), node) for result in results]

    def _context(self, node: OnnxNode) -> OperatorContext:
        captured = {name: self.values[name] for name in node.captured}
        opset = self.model.opsets.get(node.domain, 1 if node.domain else 13)
        step = OperatorContext(node, opset, self.graph_inputs.steps, self.known, self.budget, captured)
        step.kinds, step.fixed_axes = [self._kind(name) for name in node.inputs], self.fixed_axes
        return step

    def _output(self, name: str) -> None:
        given = self._step(name).settled(self.values.get(name))
        if isinstance(given, PredictedClass):
            self.outcome.notes.append(
                f"output {shown(name)}: left out; `predict` reports the class with the highest score"
            )
        elif isinstance(given, SequenceLengths):
            self.outcome.notes.append(f"output {shown(name)}: left out; sequences have their lengths")
        elif isinstance(given, ConstantValue) and given.array.dtype.kind != "O":
            number = f"{given.number:.9g}" if given.number is not None else f"of shape {list(given.array.shape)}"
            self.outcome.notes.append(f"output {shown(name)}: left out; it is the constant {number}")
        elif isinstance(given, View):
            self._value(name, given)
        elif given is not None:
            self.outcome.refused.append(
                f"output {shown(name)}: it is {described(given)}, expected the output of a layer"
            )
        elif not self.outcome.refused:
            self.outcome.refused.append(f"output {shown(name)}: not produced by any node, or not a supported value")

    def _step(self, name: str) -> OperatorContext:
        """A place for layers that an output needs."""
        node = OnnxNode(len(self.model.nodes), name, "output", "", (), (), {})
        return OperatorContext(node, 0, self.graph_inputs.steps, self.known, self.budget)

    def _value(self, name: str, view: View) -> None:
        step = self._step(name)
        plain = step.plain(view)
        try:
            rows = step.rows(plain)
            value, plain = rows.value, rows.view
        except NotSupported as reason:
            value = plain.value
            self.outcome.notes.append(f"output {shown(name)}: the order of its axes differs from the model: {reason}")
        if [atom.name for atom in atoms_of(plain.layout)][:1] == ["T"]:
            self.outcome.notes.append(f"output {shown(name)}: batch first; the model has the time steps first")
        if value.layer.type == "data" and value.type.kind == "INT":
            self.outcome.refused.append(f"output {shown(name)}: ids that are fed cannot be an output")
            return
        if value.layer.type == "data":
            value = step.layer("linear", value).outputs[0]
        self.outcome.outputs.append((name, replace(plain, value=value)))


_KEEP_MASKS = frozenset({"Unsqueeze", "Squeeze", "Cast", "Identity", "Not", "Where"})
"""Operators that preserve a mask of ids; Where may use it as the `padding_id` of an embedding."""
_OF_VALUES = frozenset({"Transpose", "Squeeze", "Unsqueeze", "Flatten", "Reshape", "Shape"})


def _called(handler: Handler, step: OperatorContext, inputs: Sequence[Any]) -> Any:
    try:
        # Separately from the call, whose own TypeError would be a mistake in this library.
        inspect.signature(handler).bind(step, *inputs)
    except TypeError:
        raise NotSupported(f"unsupported number of inputs: {len(inputs)}") from None
    return handler(step, *inputs)
