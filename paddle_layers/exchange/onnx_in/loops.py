"""Loops that tf2onnx writes for Keras' GRU, LSTM and SimpleRNN: one step per row of the sequences, and no others."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .cells import (
    AffineSum,
    Cell,
    CellActivation,
    CellState,
    OneMinus,
    Product,
    StepInput,
    added,
    cell_of,
    cut,
    mapped,
    of,
)
from .folding import folded
from .layers import NotSupported
from .model import OnnxNode, OnnxSubgraph, fault_of, shown
from .operators import OperatorContext, operator, view_of
from .recurrences import KINDS, one_direction
from .symbolic_values import ConstantValue, DynamicConstant, Mask, Operand, ReversedSequence, SequenceLengths, View

WHOLE = "only loops over the steps of sequences are supported, as tf2onnx exports them for GRU, LSTM and SimpleRNN"
ACTIVATIONS = ("Sigmoid", "Tanh", "Relu")


@dataclass(frozen=True)
class Counter:
    """The number of the step, plus something."""

    more: int = 0


@dataclass(frozen=True)
class LoopCondition:
    """Whether there is another step: so until the last one."""


@operator("ReverseSequence")
def reverse(step: OperatorContext, x: Any, lengths: Any) -> Operand:
    """Sequences from their last row on."""
    axes = [step.attribute(name, default) for name, default in (("batch_axis", 1), ("time_axis", 0))]
    fits = isinstance(x, (View, Mask, ReversedSequence)) and all(0 <= axis < len(x.layout) for axis in axes)
    names = [[atom.name for atom in x.layout[axis]] for axis in axes] if fits else []
    step.refuse_unless(names == [["N"], ["T"]], "only reversal along the time axis is supported")
    number = lengths.number if isinstance(lengths, DynamicConstant) else None
    step.refuse_unless(
        isinstance(lengths, SequenceLengths) or number == x.shape[axes[1]],
        "partial reversal of sequences is not supported",
    )
    if isinstance(x, Mask):
        step.refuse_unless(not (x.causal or x.end), "reversing a mask of single steps is not supported")
        return x
    return x.forward if isinstance(x, ReversedSequence) else ReversedSequence(x.layout, view=x)


@operator("Loop", constants=True)
def loop(step: OperatorContext, trips: Any, going: Any, *states: Any) -> Any:
    """The last states, then the rows of all steps."""
    body = step.attribute("body")
    fits = isinstance(body, OnnxSubgraph) and len(body.inputs) == 2 + len(states) < 1 + len(body.outputs)
    step.refuse_unless(fits, f"the loop has no scan output; {WHOLE}")
    goes = going is None or (isinstance(going, ConstantValue) and going.array.size == 1 and bool(going.array.all()))
    step.refuse_unless(goes, f"the initial condition must be true; {WHOLE}")
    followed = _Body(step, body, step.integers(trips, "steps")[0], states)
    found = followed.run()
    rows = found[1 + len(states) :]
    result = rows[0]
    cell = cell_of(result) if isinstance(result, AffineSum) else None
    same = cell is not None and all(one is result for one in rows) and found[1 + cell.state] is result
    # All outputs are compared with the cell, since a body may compute anything besides.
    if cell is None or not same:
        raise NotSupported(f"the loop body is not a supported cell; {WHOLE}")
    return _outputs(step, cell, followed, found, states)


class _Body:
    """A step, followed from its inputs to its outputs."""

    def __init__(self, step: OperatorContext, body: OnnxSubgraph, trips: Any, states: tuple[Any, ...]) -> None:
        self.step, self.body, self.trips = step, body, trips
        self.source: View | ReversedSequence | None = None
        self.values: dict[str, Any] = {body.inputs[0]: Counter(), body.inputs[1]: LoopCondition()}
        self.values |= {
            name: ConstantValue(array, (name,) if array.dtype.kind == "f" else ())
            for name, array in body.constants.items()
        }
        self.values |= {name: step.captured[name] for name in body.captured}
        for place, (name, given) in enumerate(zip(body.inputs[2:], states, strict=True)):
            self.values[name] = self._entering(place, name, given)

    def _entering(self, place: int, name: str, given: Any) -> Any:
        if self.body.outputs[1 + place] == name:
            return given  # what no step changes
        zero = isinstance(given, DynamicConstant) and given.number == 0
        if isinstance(given, ConstantValue) and given.array.dtype.kind in "iu":
            self.step.refuse_unless(given.number == 0, f"the counter must start at 0; {WHOLE}")
            return Counter()
        zero = zero or (isinstance(given, ConstantValue) and given.array.dtype.kind == "f" and not given.array.any())
        self.step.refuse_unless(zero, "initial states must be zero")
        return of(CellState(place))

    def run(self) -> list[Any]:
        """The outputs of a step."""
        for node in self.body.nodes:
            fault = fault_of(node, self.step.opset)
            unknown = [name for name in node.inputs if name and self.values.get(name) is None]
            if fault is not None or unknown:
                raise NotSupported(f"loop body, {node.label}: {fault or f'unsupported input `{shown(unknown[0])}`'}")
            inputs = [self.values.get(name) if name else None for name in node.inputs]
            results = self._node(node, inputs)
            self.values |= dict(zip(node.outputs, results, strict=False))
        found = [self.values.get(name) for name in self.body.outputs]
        going = isinstance(found[0], LoopCondition) or (
            isinstance(found[0], ConstantValue) and bool(found[0].array.all())
        )
        counters = [name for name in self.body.inputs[2:] if isinstance(self.values[name], Counter)]
        by_one = [self.body.outputs[self.body.inputs.index(name) - 1] for name in counters]
        going = going and all(self.values.get(name) == Counter(1) for name in by_one)
        self.step.refuse_unless(going, f"early exit and counter increments other than 1 are not supported; {WHOLE}")
        return found

    def _node(self, node: OnnxNode, inputs: list[Any]) -> list[Any]:
        if all(one is None or isinstance(one, ConstantValue) for one in inputs):
            found = folded(node, inputs, self.step.opset, self.step.budget)
            if found is not None:
                return list(found)
        handler = _FOLLOWED.get(node.operator) if not node.domain else None
        result = _called(handler, self, node, *inputs) if handler else None
        if result is None:
            raise NotSupported(f"unsupported node in the loop body: {node.label}; {WHOLE}")
        return result if isinstance(result, list) else [result]

    # ---- nodes of a step

    def gather(self, node: OnnxNode, source: Any, place: Any, *_: Any) -> Any:
        """The row of a step; of a mask, that it is a real one."""
        steps = isinstance(source, (View, Mask, ReversedSequence)) and [atom.name for atom in source.layout[0]] == ["T"]
        if not steps or place != Counter() or node.attributes.get("axis", 0) != 0:
            return None
        self.step.refuse_unless(source.shape[0] == self.trips, "the trip count must be the number of steps")
        if isinstance(source, Mask):
            plain = not (source.causal or source.end)
            return ConstantValue(np.array(not source.turned)) if plain else None
        if self.source not in (None, source):
            return None
        self.source = source
        return of(StepInput())

    def same(self, _: OnnxNode, x: Any) -> Any:
        """Identity, Cast."""
        return x

    def activation(self, node: OnnxNode, x: Any) -> Any:
        """A function of a sum."""
        return of(CellActivation(node.operator, x)) if isinstance(x, AffineSum) else None

    def add(self, _: OnnxNode, x: Any, y: Any) -> Any:
        """Of sums, with numbers, and of the counter."""
        for one, other in ((x, y), (y, x)):
            if isinstance(one, Counter) and isinstance(other, ConstantValue) and other.number is not None:
                return Counter(one.more + int(other.number))
            if isinstance(one, AffineSum) and isinstance(other, ConstantValue):
                array = other.array.reshape(-1)
                flat = other.array.dtype.kind == "f" and array.size == max(other.array.shape, default=1)
                return added(one, AffineSum((), array)) if flat else None
        return added(x, y) if isinstance(x, AffineSum) and isinstance(y, AffineSum) else None

    def subtract(self, _: OnnxNode, x: Any, y: Any) -> Any:
        """1 minus a sum."""
        one = isinstance(x, ConstantValue) and x.number == 1
        return of(OneMinus(y)) if one and isinstance(y, AffineSum) else None

    def multiply(self, _: OnnxNode, x: Any, y: Any) -> Any:
        """Of sums; with 1 for a row that is real, and 0 for one that is not."""
        for one, other in ((x, y), (y, x)):
            if isinstance(one, AffineSum) and isinstance(other, ConstantValue) and other.number in (0, 1):
                return one if other.number else AffineSum()
            if isinstance(one, DynamicConstant) and one.number == 0 and isinstance(other, (AffineSum, ConstantValue)):
                return AffineSum()  # the rows of padding, which Keras makes zero
        return of(Product(x, y)) if isinstance(x, AffineSum) and isinstance(y, AffineSum) else None

    def choose(self, _: OnnxNode, condition: Any, x: Any, y: Any) -> Any:
        """Selection by a mask of real rows."""
        known = isinstance(condition, ConstantValue) and condition.number in (0, 1)
        return (x if condition.number else y) if known else None

    def matmul(self, _: OnnxNode, x: Any, y: Any) -> Any:
        """A map of the row or of a state."""
        return mapped(x, y) if isinstance(x, AffineSum) and isinstance(y, ConstantValue) else None

    def split(self, node: OnnxNode, x: Any, sizes: Any = None) -> Any:
        """Columns apart."""
        width = _width(x)
        if width is None or node.attributes.get("axis", 0) not in (1, -1):
            return None
        count = len(node.outputs)
        given = node.attributes.get("split") if sizes is None else self.step.integers(sizes, "sizes")
        given = [width // count] * count if given is None else given
        ends = np.cumsum(given).tolist()
        return [cut(x, end - size, end) for end, size in zip(ends, given, strict=True)] if ends[-1] == width else None

    def slice(self, _: OnnxNode, x: Any, *given: Any) -> Any:
        """A run of columns."""
        width = _width(x)
        if width is None or len(given) < 2:
            return None
        starts, ends, *rest = (self.step.integers(one, "places") for one in given if one is not None)
        axes = rest[0] if rest else list(range(len(starts)))
        if not len(starts) == len(ends) == len(axes):
            return None
        for start, end, axis in zip(starts, ends, axes, strict=True):
            if axis in (1, -1):
                x = cut(x, start, min(end, width))
            elif start != 0 or end < np.iinfo(np.int32).max:
                return None
        return x if len(rest) < 2 or set(rest[1]) == {1} else None

    def less(self, _: OnnxNode, x: Any, y: Any) -> Any:
        """Whether there is another step."""
        if not isinstance(x, Counter) or not isinstance(y, ConstantValue) or y.array.size != 1:
            return None
        return LoopCondition() if x.more <= 1 and y.array.reshape(-1)[0] == self.trips else None

    def both(self, _: OnnxNode, x: Any, y: Any) -> Any:
        """Two of these conditions."""
        return LoopCondition() if isinstance(x, LoopCondition) and isinstance(y, LoopCondition) else None


_FOLLOWED: dict[str, Callable[..., Any]] = {
    "Gather": _Body.gather, "Identity": _Body.same, "Cast": _Body.same, "Add": _Body.add, "Sub": _Body.subtract,
    "Mul": _Body.multiply, "Where": _Body.choose, "MatMul": _Body.matmul, "Split": _Body.split, "Slice": _Body.slice,
    "Less": _Body.less, "And": _Body.both, **dict.fromkeys(ACTIVATIONS, _Body.activation),
}  # fmt: skip


def _called(handler: Callable[..., Any], *given: Any) -> Any:
    try:
        inspect.signature(handler).bind(*given)
    except TypeError:
        return None  # of so many inputs nothing is known
    return handler(*given)


def _width(x: Any) -> int | None:
    """The number of columns of a sum of linear maps."""
    matrix = x.terms[0][1] if isinstance(x, AffineSum) and x.terms else None
    return None if matrix is None else int(matrix.array.shape[1])


def _outputs(step: OperatorContext, cell: Cell, body: _Body, found: list[Any], states: tuple[Any, ...]) -> Any:
    """The recurrence as a layer; its last row represents the final states."""
    backward = isinstance(body.source, ReversedSequence)
    rows = step.rows(body.source.forward if isinstance(body.source, ReversedSequence) else step.view(body.source), 1)
    names = [[atom.name for atom in axis] for axis in rows.lead]
    step.refuse_unless(names == [["T"], ["N"]], "expected a batch of sequences in time-major layout")
    weights, recalls = _stacked([gate.weight for gate in cell.gates]), _stacked([gate.recall for gate in cell.gates])
    biases = np.concatenate([*(gate.bias for gate in cell.gates), *(gate.recalled_bias for gate in cell.gates)])
    units = int(cell.gates[0].recall.array.shape[0])
    arrays = [weights, recalls, ConstantValue(biases), None]
    made = one_direction(
        step, KINDS[cell.kind], rows, arrays, units, list(cell.functions), backward, "", reset_after=cell.reset_after
    )
    result = found[1 + cell.state]
    ends: list[Operand | None] = []
    for place, given in enumerate(states):
        if found[1 + place] is result:
            last = step.layer("seq_first" if backward else "seq_last", made).outputs[0]
            batch = rows.lead[1]
            ends.append(view_of(last, batch, (batch,)))
        else:
            ends.append(given if isinstance(given, ConstantValue) else None)
    whole = step.made(made, rows)
    scan = ReversedSequence(whole.layout, view=whole) if backward else whole
    return (*ends, *[scan] * (len(found) - 1 - len(states)))


def _stacked(parts: list[ConstantValue]) -> ConstantValue:
    """Matrices of gates as ONNX has them: a row for each output, one gate after the other."""
    fits = len({one.array.shape for one in parts}) == 1
    if not fits:
        raise NotSupported("the weight matrices of the gates have different shapes")
    return ConstantValue(np.concatenate([one.array.T for one in parts]), parts[0].source)
