"""Loops that tf2onnx writes for Keras' GRU, LSTM and SimpleRNN, recognized by their results.

The loop is run over rows of random numbers, and its results are compared with those of each cell that has the matrices
and biases of the body. So the order of nodes, the split into gates and masks do not matter, and other loops differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from copy import copy
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .folding import Budget, folded
from .layers import NotSupported
from .model import OnnxSubgraph, fault_of
from .operators import OperatorContext, needed, operator, view_of
from .recurrences import KINDS, one_direction
from .sizes import SymbolicSize
from .symbolic_values import (
    ConstantValue,
    DynamicConstant,
    Mask,
    ReversedSequence,
    SequenceLengths,
    SymbolicValue,
    View,
    constants_of,
)

Array = NDArray[Any]
WHOLE = "only loops over the steps of sequences are supported, as tf2onnx exports them for GRU, LSTM and SimpleRNN"
FUNCTIONS: dict[str, Any] = {
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "Tanh": np.tanh, "Relu": lambda x: np.maximum(x, 0),
    "Affine": lambda x: x,
}  # fmt: skip
MOST_STEPS, FEW_STEPS = 4096, 8
"""Of a loop, and those with which cells are compared first."""
TRIAL = {"N": 2}
"""Sizes of the trial run by name; other dynamic sizes, those of steps, are 5."""


@operator("ReverseSequence")
def reverse(step: OperatorContext, x: Any, lengths: Any) -> Any:
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
    step.refuse_unless(fits, WHOLE)
    sources = [one for one in step.captured.values() if isinstance(one, (View, ReversedSequence))]
    step.refuse_unless(len(sources) == 1 and step.integers(trips, "steps") == [sources[0].shape[0]], WHOLE)
    trial = _Trial(step, body, sources[0])
    step.refuse_unless(trial.x.ndim == 3, WHOLE)
    ends, rows = trial.run(int(_array(trips, step.budget).reshape(-1)[0]), going, states)
    few = (one for one in trial.cells() if trial.gives(one, rows, FEW_STEPS))
    cell = next((one for one in few if trial.gives(one, rows, len(trial.x))), None)
    cell = needed(cell, f"the loop body is not a supported cell; {WHOLE}")
    return tuple(_outputs(step, cell, trial, [np.array_equal(end, rows[0][-1]) for end in ends], states))


class Cell(NamedTuple):
    """A recurrent cell with its activations; the order of gates is ONNX's, as places of those in the matrices."""

    kind: str
    order: tuple[int, ...]
    functions: tuple[str, ...]
    reset_after: bool = False


class _Trial:
    """A run of a loop in NumPy, and what its body multiplies the row of a step and the states by."""

    def __init__(self, step: OperatorContext, body: OnnxSubgraph, source: View | ReversedSequence) -> None:
        self.step, self.body, self.source = step, body, source
        self.x = _array(source, step.budget)
        self.matrices: tuple[list[ConstantValue], list[ConstantValue]] = [], []
        """Those of the row and those of the states."""
        self.biases: tuple[list[Array], list[Array]] = [], []
        self.values = {name: _constant(value, step.budget) for name, value in step.captured.items()}
        self.values |= constants_of(body.constants)

    def run(self, trips: int, going: Any, states: Sequence[Any]) -> tuple[list[Array], list[Array]]:
        """The last states, and the rows of each output."""
        self.step.refuse_unless(trips <= MOST_STEPS, f"the limit is {MOST_STEPS} steps, got {trips}")
        goes = going is None or (isinstance(going, ConstantValue) and going.array.size == 1 and bool(going.array.all()))
        self.step.refuse_unless(goes, f"the initial condition must be true; {WHOLE}")
        current, rows = [_constant(one, self.step.budget) for one in states], list[list[Array]]()
        fixed = {name for name in self.values if self.step.captured.get(name) is not self.source}
        fixed |= {name for at, name in enumerate(self.body.inputs[2:]) if self.body.outputs[1 + at] == name}
        for number in range(trips):
            counters = (ConstantValue(np.array(one)) for one in (number, True))
            given = dict(zip(self.body.inputs, [*counters, *current], strict=True))
            again, *found = self._step({**self.values, **given}, fixed, record=not number)
            self.step.refuse_unless(number == trips - 1 or bool(again.array.all()), f"the loop ends early; {WHOLE}")
            current = found[: len(states)]
            rows.append([one.array for one in found[len(states) :]])
        stacked = [np.stack(parts) for parts in zip(*rows, strict=True) if len({one.shape for one in parts}) == 1]
        self.step.refuse_unless(stacked and len({one.shape for one in stacked}) == 1 and stacked[0].ndim == 3, WHOLE)
        return [one.array for one in current], stacked

    def _step(self, values: dict[str, ConstantValue], fixed: set[str], *, record: bool) -> list[ConstantValue]:
        """The outputs of a step; the first one records matrices and biases."""
        budget, fixed, recalled = copy(self.step.budget), set(fixed), set[str]()
        for node in self.body.nodes:
            inputs = [values.get(name) if name else None for name in node.inputs]
            known = all(name in values for name in filter(None, node.inputs)) and not node.captured
            valid = known and fault_of(node, self.step.opset) is None
            results = folded(node, inputs, self.step.opset, budget) if valid else None
            if results is None:
                raise NotSupported(f"unsupported node in the loop body: {node.label}; {WHOLE}")
            values.update(zip(node.outputs, results, strict=False))
            constant = [not name or name in fixed for name in node.inputs]
            if all(constant):
                fixed.update(node.outputs)
            if not record or node.operator not in ("Add", "MatMul") or sorted(constant) != [False, True]:
                continue
            numbers, other = values[node.inputs[constant.index(True)]], node.inputs[constant.index(False)]
            if node.operator == "MatMul":
                of_state = not np.array_equal(values[other].array, self.x[0])
                self.matrices[of_state].append(numbers)
                recalled.update(node.outputs if of_state else ())
            elif numbers.array.dtype.kind == "f":
                self.biases[other in recalled].append(numbers.array.reshape(-1))
        return [values[name] for name in self.body.outputs]

    # ---- cells

    def arrays(self) -> list[Array]:
        """Matrices of the row and the state, and biases of both, with a column for each unit of each gate; or none."""
        widths = [{one.array.shape[:-1] for one in side} for side in self.matrices]
        if not all(len(found) == 1 == len(next(iter(found))) for found in widths):
            return []
        weight, recall = (np.concatenate([one.array for one in side], 1) for side in self.matrices)
        columns = recall.shape[1]
        fits = weight.shape[1] == columns and len(recall) > 0 and columns % len(recall) == 0
        fits = fits and all(len(one) in (1, columns) for side in self.biases for one in side)
        return [weight, recall, *(sum(side, np.zeros(columns, np.float32)) for side in self.biases)] if fits else []

    def cells(self) -> Iterator[Cell]:
        """Cells with as many gates, those of Keras first."""
        arrays = self.arrays()
        gates = arrays[1].shape[1] // len(arrays[1]) if arrays else 0
        kind = {1: "RNN", 3: "GRU", 4: "LSTM"}.get(gates)
        if kind is None:
            return
        present = {node.operator for node in self.body.nodes} | {"Affine"}
        functions = list(product([name for name in FUNCTIONS if name in present], repeat=len(KINDS[kind].functions)))
        usual = {"GRU": (0, 1, 2), "LSTM": (0, 3, 1, 2)}.get(kind)
        for order in sorted(permutations(range(gates)), key=lambda order: order != usual):
            for names, after in product(functions, (False, True) if kind == "GRU" else (False,)):
                yield Cell(kind, order, names, after)

    def gated(self, cell: Cell) -> list[Array]:
        """The arrays with an axis of gates, in ONNX's order."""
        arrays = self.arrays()
        return [one.reshape(*one.shape[:-1], -1, len(arrays[1]))[..., cell.order, :] for one in arrays]

    def gives(self, cell: Cell, rows: Sequence[Array], steps: int) -> bool:
        """Whether a cell has the results of the loop in the first steps."""
        found = self._results(cell, steps)
        wanted = [one[:steps] for one in rows]
        return wanted[0].shape == found.shape and np.allclose(wanted, found, rtol=1e-4, atol=1e-5)

    def _results(self, cell: Cell, steps: int) -> Array:
        """The rows that a cell gives for those of the trial."""
        weight, recall, bias, other = self.gated(cell)
        act = [FUNCTIONS[name] for name in cell.functions]
        h = c = np.zeros((self.x.shape[1], recall.shape[0]), np.float32)
        found = []
        for row in np.tensordot(self.x[:steps], weight, 1) + bias:
            sums = np.tensordot(h, recall, 1) + other
            if cell.kind == "RNN":
                h = act[0](row + sums)[:, 0]
            elif cell.kind == "LSTM":
                enter, output, forget = act[0](row + sums).swapaxes(0, 1)[:3]
                c = forget * c + enter * act[1](row + sums)[:, 3]
                h = output * act[2](c)
            else:
                update, reset = act[0](row + sums).swapaxes(0, 1)[:2]
                recalled = reset * sums[:, 2] if cell.reset_after else (reset * h) @ recall[:, 2] + other[2]
                h = (1 - update) * act[1](row[:, 2] + recalled) + update * h
            found.append(h)
        return np.stack(found)


def _constant(value: Any, budget: Budget) -> ConstantValue:
    """A value of the trial."""
    return ConstantValue(_array(value, budget), value.source if isinstance(value, ConstantValue) else ())


def _array(value: Any, budget: Budget) -> Array:
    """Numbers of the trial: random rows for a sequence, and all of them real."""
    if isinstance(value, ConstantValue):
        plain = value.array.dtype.kind != "O"
        return value.array if plain else np.array([_size(one) for one in value.array.flat]).reshape(value.array.shape)
    shape = [_size(one) for one in value.shape] if isinstance(value, SymbolicValue) else []
    budget.check(math.prod(shape))
    if isinstance(value, (View, ReversedSequence)):
        return np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    if isinstance(value, Mask) and not (value.causal or value.end):
        return np.full(shape, not value.turned)
    if isinstance(value, DynamicConstant) and isinstance(value.number, (int, float)):
        return np.full(shape, np.float32(value.number))
    raise NotSupported(WHOLE)


def _size(size: Any) -> int:
    names = size.names.elements() if isinstance(size, SymbolicSize) else ()
    number = size.number if isinstance(size, SymbolicSize) else int(size)
    return math.prod([number, *(TRIAL.get(one, 5) for one in names)])


def _outputs(step: OperatorContext, cell: Cell, trial: _Trial, ends: list[bool], states: tuple[Any, ...]) -> list[Any]:
    """The recurrence as a layer; its last row represents the final states."""
    backward = isinstance(trial.source, ReversedSequence)
    rows = step.rows(trial.source.forward if isinstance(trial.source, ReversedSequence) else trial.source, 1)
    names = [[atom.name for atom in axis] for axis in rows.lead]
    step.refuse_unless(names == [["T"], ["N"]], "expected a batch of sequences in time-major layout")
    weight, recall, *biases = trial.gated(cell)
    # As ONNX has them: a row for each output, one gate after the other.
    arrays = [ConstantValue(one.reshape(len(one), -1).T, side[0].source)
              for one, side in zip((weight, recall), trial.matrices, strict=True)]  # fmt: skip
    arrays.append(ConstantValue(np.concatenate([one.reshape(-1) for one in biases])))
    made = one_direction(
        step, KINDS[cell.kind], rows, [*arrays, None], len(recall), list(cell.functions), backward, "",
        reset_after=cell.reset_after,
    )  # fmt: skip
    whole = step.made(made, rows)
    found: list[Any] = []
    for is_end, given in zip(ends, states, strict=True):
        last = step.layer("seq_first" if backward else "seq_last", made).outputs[0] if is_end else None
        constant = given if isinstance(given, ConstantValue) else None
        found.append(constant if last is None else view_of(last, rows.lead[1], (rows.lead[1],)))
    outputs = len(step.node.outputs) - len(states)
    return [*found, *[ReversedSequence(whole.layout, view=whole) if backward else whole] * outputs]
