"""Verification of an import: the network and ONNX's reference implementation on the same random inputs.

Both compute in float64, so that a difference is a mistake of the conversion and not of rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.config import Network
from paddle_layers.kernels.tuned import point_functions_only
from paddle_layers.runtime import Net, Sequences
from paddle_layers.runtime.devices.cpu.interpreter import interpreted

from .conversion import Outcome
from .graph_inputs import GraphInputs
from .layers import ImportedLayer, LayerOutput
from .model import ImportFailure, Model, OnnxNode, OnnxSubgraph, nodes_for, shown
from .network import Assembled
from .reference_folding import reference_of
from .sizes import SymbolicSize
from .symbolic_values import Atom, BoxImageIndices, SequenceLengths, SymbolicValue, View, atoms_of

Array = NDArray[Any]
BATCHES, STEPS = (3, 1), (4, 5)
"""Sizes of the batch, and of its sequences."""
MOST_WORK = 1 << 30
"""Limit of the multiplications and elements of a verified model; about ten seconds."""
FEW = 1 << 25
"""Below this, functions run as Python: compilation takes longer."""
TOLERANCE = 1e-6
"""Maximum difference, relative to the largest value."""
SLOW = frozenset({"AveragePool", "GridSample", "LRN", "LpPool", "MaxPool", "MaxRoiPool", "Resize", "RoiAlign"})
"""Operators that the reference computes element by element, in Python."""


class NotVerified(Exception):
    """The model cannot be computed by the reference; the message says why."""


@dataclass
class ReferenceRun:
    """All values of a model for one batch, and the work that they took."""

    model: Model
    values: dict[str, Any]
    work: int = 0
    calls: dict[tuple[int, int], Any] = field(default_factory=dict)

    def run(self, nodes: Sequence[OnnxNode], values: dict[str, Any]) -> None:
        """Compute the outputs of nodes in floats of double precision. Raises `NotVerified`."""
        for node in nodes:
            inputs = [values.get(name) if name else None for name in node.inputs]
            self.work += work_of(node, inputs)
            if self.work > MOST_WORK:
                raise NotVerified(f"it takes more than {MOST_WORK:,} multiplications")
            try:
                results = self._results(node, inputs, values)
            except NotVerified:
                raise
            except Exception as error:  # the reference has no common exception, and lacks some operators
                reason = str(error).partition("\n")[0][:120] or type(error).__name__
                raise NotVerified(f"{node.label} in ONNX's reference implementation: {reason}") from None
            values.update(zip(node.outputs, map(_wide, results), strict=False))

    def _results(self, node: OnnxNode, inputs: list[Any], values: dict[str, Any]) -> Sequence[Any]:
        if node.operator == "ZipMap":  # names of classes beside the scores
            return inputs[:1]
        if node.operator == "If" and not node.domain:
            return self._body(node.attributes["then_branch" if inputs[0].all() else "else_branch"], [], values)
        if node.operator == "Loop" and not node.domain:
            return self._loop(node.attributes["body"], inputs, values)
        if node.operator in ("Cast", "CastLike") and inputs[0].dtype.kind == "f" and _to_float(node, inputs):
            return inputs[:1]  # layers have one precision
        key = id(node), len(inputs)
        if key not in self.calls:
            self.calls[key] = reference_of(node, self.model.opsets.get(node.domain, 1))
        results: Sequence[Any] = self.calls[key](inputs)
        return results

    def _body(self, body: OnnxSubgraph, given: Sequence[Any], values: dict[str, Any]) -> list[Any]:
        inner = {**values, **map_wide(body.constants), **dict(zip(body.inputs, given, strict=True))}
        self.run(body.nodes, inner)
        return [inner[name] for name in body.outputs]

    def _loop(self, body: OnnxSubgraph, inputs: list[Any], values: dict[str, Any]) -> list[Any]:
        trips = math.inf if inputs[0] is None else int(inputs[0].reshape(()))
        going, states = inputs[1] is None or bool(inputs[1].all()), inputs[2:]
        rows: list[list[Any]] = [[] for _ in body.outputs[1 + len(states) :]]
        number = 0
        while number < trips and going:
            condition, *found = self._body(body, [np.array(number), np.array(True), *states], values)
            states, going = found[: len(states)], bool(condition.all())
            for row, one in zip(rows, found[len(states) :], strict=True):
                row.append(one)
            number += 1
        return [*states, *map(np.stack, rows)]


def work_of(node: OnnxNode, inputs: Sequence[Any]) -> int:
    """Multiplications and elements that a node takes, about."""
    arrays = [one for one in inputs if isinstance(one, np.ndarray)]
    elements = sum(one.size for one in arrays)
    if len(arrays) > 1 and node.operator in ("Conv", "ConvTranspose") and arrays[0].ndim > 1:
        return elements + arrays[0].size // max(arrays[0].shape[1], 1) * arrays[1].size
    if len(arrays) > 1 and node.operator in ("MatMul", "Gemm", "LSTM", "GRU", "RNN") and arrays[1].ndim > 1:
        return elements + arrays[0].size * max(arrays[1].shape[-2:])
    return elements * 1000 if node.operator in SLOW else elements


def _to_float(node: OnnxNode, inputs: Sequence[Any]) -> bool:
    return node.attributes.get("to") in (1, 10, 11, 16) if len(inputs) == 1 else inputs[1].dtype.kind == "f"


def _wide(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_wide(one) for one in value]
    found = np.asarray(value)
    return found.astype(np.float64) if found.dtype.kind == "f" else found


def map_wide(arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Arrays by name; those of floats in double precision."""
    return {name: _wide(one) for name, one in arrays.items()}


# ---- feeds


@dataclass(frozen=True)
class TrialBatch:
    """A batch: the number of samples, and of the steps of each sequence."""

    samples: int
    steps: int

    def size(self, atom: Atom) -> int:
        """The size of an axis in this batch."""
        if not isinstance(atom.size, SymbolicSize):
            return atom.size
        names = atom.size.names.elements()
        return math.prod([atom.size.number, *(self.samples if one == "N" else self.steps for one in names)])

    def shape(self, value: SymbolicValue) -> list[int]:
        """The sizes of the axes of a value in the model."""
        return [math.prod(map(self.size, axis)) for axis in value.layout]

    def tensor(self, view: View, rows: Any) -> Array | None:
        """The tensor of the model, of a value of the network; None if it has other axes."""
        atoms = atoms_of(view.layout)
        if sorted(map(id, atoms)) != sorted(map(id, view.order)):
            return None
        array = np.asarray(getattr(rows, "data", rows))
        sizes = [self.size(atom) for atom in view.order]
        if array.size != math.prod(sizes):
            return None
        moved = array.reshape(sizes).transpose([view.order.index(atom) for atom in atoms])
        found: Array = moved.reshape(self.shape(view)) * (view.factor if array.dtype.kind == "f" else 1)
        return found


def feeds_of(model: Model, inputs: GraphInputs, batch: TrialBatch) -> tuple[dict[str, Any], dict[str, Any]]:
    """Random inputs of the model, and those of the network."""
    random = np.random.default_rng(0)
    tensors, rows = dict[str, Any](), dict[str, Any]()
    for entry in model.inputs:
        value = inputs.values[entry.name]
        if isinstance(value, View):
            array = _random(value.value, entry.kind, [batch.size(atom) for atom in value.order], random)
            own = batch.tensor(value, array)
            assert own is not None
            tensors[entry.name] = own.astype("float64" if "float" in entry.kind else entry.kind)
            rows[entry.name] = _rows(array, value, batch)
        elif isinstance(value, BoxImageIndices):
            tensors[entry.name] = np.repeat(np.arange(batch.samples), batch.steps)
        elif isinstance(value, SequenceLengths):
            tensors[entry.name] = np.full(batch.shape(value), batch.steps)
    return tensors, rows


def _random(value: LayerOutput, kind: str, shape: list[int], random: np.random.Generator) -> Array:
    """Numbers or ids. Masks, and other integers, are 0 or 1; that of the first element is 1."""
    if value.type.kind == "INT":
        size = value.layer.attributes.get("size", 2)
        return random.integers(min(1, size - 1) if value.level else 0, size, shape)
    if not kind.startswith(("float", "bfloat")):
        found = random.integers(0, 2, shape)
        found[..., :1] = 1
        return found
    return random.standard_normal(shape)


def _rows(array: Array, view: View, batch: TrialBatch) -> Any:
    """A feed: sequences are concatenated."""
    dims = [batch.size(atom) for atom in view.inside]
    if not view.value.level:
        return array.reshape(batch.samples, *dims)
    rows = array.reshape(-1, *dims)
    return Sequences(rows, np.arange(batch.samples + 1) * (len(rows) // batch.samples))


# ---- comparison


def verify(model: Model, outcome: Outcome, made: Assembled) -> str:
    """Compare an imported network with its model.

    Returns:
        A note for the report: how large the difference is, or why the network is not verified.

    Raises:
        ImportFailure: The values of an output differ; the message names the first layer that differs.
    """
    if "quantized" in outcome.known:
        return "not verified: the model rounds values, the network does not"
    worst = 0.0
    try:
        for batch in _batches(outcome):
            worst = max(worst, _Trial(model, outcome, made, batch).difference())
    except NotVerified as reason:
        return f"not verified: {reason}"
    return f"verified with random inputs: results differ from ONNX's reference by at most {worst:.0e} of the largest"


def _batches(outcome: Outcome) -> Iterator[TrialBatch]:
    """Two batches; one where the model has a fixed size."""
    fixed = outcome.inputs.batch.size if outcome.inputs.batch else 1
    yield from map(TrialBatch, [fixed] if isinstance(fixed, int) else BATCHES, STEPS)


def distance(found: Array | None, expected: Array) -> float:
    """The largest difference in units of the largest expected value; infinite for other places of infinity or NaN."""
    if found is None or found.shape != expected.shape:
        return math.inf
    finite = np.isfinite(expected)
    if not np.array_equal(np.where(finite, 0, expected), np.where(np.isfinite(found), 0, found), equal_nan=True):
        return math.inf
    differences = np.abs(found[finite] - expected[finite].astype(np.float64))
    return float(differences.max(initial=0) / max(np.abs(expected[finite]).max(initial=0), 1e-6))


class _Trial:
    """The values of the model and of the network for one batch."""

    def __init__(self, model: Model, outcome: Outcome, made: Assembled, batch: TrialBatch) -> None:
        self.model, self.outcome, self.made, self.batch = model, outcome, made, batch
        tensors, rows = feeds_of(model, outcome.inputs, batch)
        self.reference = ReferenceRun(model, {**map_wide(model.constants), **tensors})
        with np.errstate(all="ignore"):
            own = model.nodes[: model.own]
            wanted = nodes_for(own, {name for name, _ in outcome.outputs})
            self.reference.run([node for node in own if node.place in wanted], self.reference.values)
        read = {node.name for node in made.network.nodes if node.definition.name == "data"}
        self.feeds = {name: value for name, value in rows.items() if name in read}

    def difference(self) -> float:
        """The largest difference of the outputs, in units of their largest values. Raises `ImportFailure`."""
        names = {name: self.made.outputs[name] for name, _ in self.outcome.outputs}
        found = self._values(self.made.network, self.made.weights, [*dict.fromkeys(names.values())])
        worst = 0.0
        for name, view in self.outcome.outputs:
            tensor = self.batch.tensor(view, found[names[name]])
            if tensor is None:
                raise NotVerified(f"the axes of output {shown(name)} differ from those of the model")
            worst = max(worst, distance(tensor, self.reference.values[name]))
        if worst > TOLERANCE:
            raise ImportFailure(*self._explanation())
        return worst

    def _values(self, network: Network, weights: Mapping[str, Array], names: Sequence[str]) -> dict[str, Any]:
        """Values of a network by name."""

        def compute() -> dict[str, Any]:
            with Net(network, dtype="float64", keep=names) as net:
                for name, array in weights.items():
                    net.arena.by_name[name].value = array
                net.forward(self.feeds, phase="test")
                return {name: net.value(name) for name in names}

        if self.reference.work > FEW:
            return compute()
        try:
            with point_functions_only(), interpreted():
                return compute()
        except (ArithmeticError, ValueError):  # Python raises where a kernel goes on with infinity or NaN
            return compute()

    def _explanation(self) -> Iterator[str]:
        """The first value that differs, in the order of the model, with the layer and the nodes that it replaces."""
        yield "the imported network computes other values than the model, an error of this library; please report it:"
        network, weights, names = self.made.without_blocks()
        found = self._values(network, weights, [*dict.fromkeys(names.values())])
        for node in self.model.nodes[: self.model.own]:
            for name in node.outputs:
                view = self.outcome.values.get(name)
                if not isinstance(view, View) or view.value not in names:
                    continue
                tensor, expected = self.batch.tensor(view, found[names[view.value]]), self.reference.values.get(name)
                if tensor is not None and expected is not None and distance(tensor, expected) > TOLERANCE:
                    yield from self._first(node, view.value.layer, tensor, expected)
                    return
        yield "  no layer differs: layers are combined to blocks incorrectly"

    def _first(self, node: OnnxNode, layer: ImportedLayer, found: Array, expected: Array) -> Iterator[str]:
        nodes = ", ".join(self.model.nodes[place].label for place in layer.nodes if place < len(self.model.nodes))
        yield f"  first difference: the result of {node.label}"
        yield f"  layer `{layer.name}` ({layer.type}) replaces {nodes or 'an input'}"
        if found.shape != expected.shape:
            yield f"  shape {list(found.shape)}, expected {list(expected.shape)}"
            return
        at = np.unravel_index(np.argmax(np.nan_to_num(np.abs(found - expected), nan=np.inf)), expected.shape)
        yield f"  {found[at]:.6g}, expected {expected[at]:.6g}, at {list(map(int, at))}"
