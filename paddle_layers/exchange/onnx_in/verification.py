"""Verification of an import: the network and ONNX's reference implementation on the same random inputs.

Small networks compute in float64, as the reference does, so that a difference is a mistake of the conversion and not of
rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from .model import ImportFailure, Model, OnnxNode, nodes_for, shown
from .network import Assembled
from .reference import MOST_VALUES, TOO_LARGE, NotVerified, ReferenceRun
from .sizes import SymbolicSize
from .symbolic_values import Atom, BoxImageIndices, SequenceLengths, SymbolicValue, View, atoms_of

Array = NDArray[Any]
BATCHES, STEPS = (2, 1), (4, 5)
"""Sizes of the batch, and of its sequences."""
FEW = 1 << 22
"""Multiplications up to which functions run as Python: compilation takes longer."""
TOLERANCE, SINGLE_TOLERANCE = 1e-5, 1e-4
"""Maximum difference relative to the largest value, and that of float32: constants are rounded to float32 anyway."""


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
        order = view.order if view.has_batch else view.order[1:]
        if sorted(map(id, atoms)) != sorted(map(id, order)):
            return None
        array = np.asarray(getattr(rows, "data", rows))
        sizes = [self.size(atom) for atom in order]
        if array.size != math.prod(sizes):
            return None
        moved = array.reshape(sizes).transpose([order.index(atom) for atom in atoms])
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
            rows[value.value.layer.name] = _rows(array, value.value, batch)  # which may differ from that in the model
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


def _rows(array: Array, value: LayerOutput, batch: TrialBatch) -> Any:
    """A feed: sequences are concatenated."""
    rows = array.reshape(-1, *value.dims)
    if not value.level:
        return rows
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
            worst = max(worst, _Comparison(model, outcome, made, batch).check())
    except NotVerified as reason:
        return f"not verified: {reason}"
    return f"verified with random inputs: results differ from ONNX's reference by at most {worst:.0e} of the largest"


def _batches(outcome: Outcome) -> Iterator[TrialBatch]:
    """Two batches; one where the model has a fixed size."""
    fixed = outcome.inputs.batch.size if outcome.inputs.batch else 1
    yield from map(TrialBatch, [fixed] if isinstance(fixed, int) else BATCHES, STEPS)


def _elements(model: Model, outcome: Outcome, made: Assembled, batch: TrialBatch) -> int:
    """The number of elements of constants, weights, inputs and values of layers."""
    arrays = [*model.constants.values(), *made.weights.values()]
    shapes = [batch.shape(value) for value in outcome.inputs.values.values()]
    values = [
        batch.samples * (batch.steps if value.level else 1) * math.prod(value.dims)
        for layer in made.layers
        for value in layer.outputs
    ]
    return sum((*(array.size for array in arrays), *map(math.prod, shapes), *values))


def distance(found: Array | None, expected: Array) -> float:
    """The largest difference in units of the largest expected value; infinite for other places of infinity or NaN."""
    if found is None or found.shape != expected.shape:
        return math.inf
    finite = np.isfinite(expected)
    if not np.array_equal(np.where(finite, 0, expected), np.where(np.isfinite(found), 0, found), equal_nan=True):
        return math.inf
    differences = np.abs(found[finite] - expected[finite].astype(np.float64))
    return float(differences.max(initial=0) / max(np.abs(expected[finite]).max(initial=0), 1e-6))


class _Comparison:
    """The values of the model and of the network for one batch."""

    def __init__(self, model: Model, outcome: Outcome, made: Assembled, batch: TrialBatch) -> None:
        self.model, self.outcome, self.made, self.batch = model, outcome, made, batch
        if _elements(model, outcome, made, batch) > MOST_VALUES:
            raise NotVerified(TOO_LARGE)
        tensors, rows = feeds_of(model, outcome.inputs, batch)
        self.reference = ReferenceRun(model, {**model.constants, **model.fixed, **tensors})
        own = model.nodes[: model.own]
        wanted = nodes_for(own, {name for name, _ in outcome.outputs})
        self.reference.run([node for node in own if node.place in wanted], self.reference.values)
        read = {node.name for node in made.network.nodes if node.definition.name == "data"}
        self.feeds = {name: value for name, value in rows.items() if name in read}

    def check(self) -> float:
        """The largest difference of the outputs, in units of their largest values. Raises `ImportFailure`."""
        # Compiled kernels of float32 are those that the user needs next; rounding may exceed the tolerance.
        few = self.reference.work <= FEW
        worst = math.inf if few else max(self._differences("float32").values(), default=0.0)
        if worst <= SINGLE_TOLERANCE:
            return worst
        differences = self._differences("float64")
        worst, most = max(differences.values(), default=0.0), TOLERANCE if few else SINGLE_TOLERANCE
        if worst > most:
            raise ImportFailure(*self._explanation({name for name, one in differences.items() if one > most}, worst))
        return worst

    def _differences(self, dtype: str) -> dict[str, float]:
        """The difference of each output, in units of its largest value."""
        names = {name: self.made.outputs[name] for name, _ in self.outcome.outputs}
        found = self._values(self.made.network, self.made.weights, [*dict.fromkeys(names.values())], dtype)
        differences = {}
        for name, view in self.outcome.outputs:
            tensor = self.batch.tensor(view, found[names[name]])
            if tensor is None:
                raise NotVerified(f"the axes of output {shown(name)} differ from those of the model")
            expected = self.reference.values[name]
            if tensor.shape != expected.shape and tensor.shape[1:] == expected.shape[1:]:
                raise NotVerified(
                    f"output {shown(name)} has a batch of {len(expected)} whatever the batch of the input"
                )
            differences[name] = distance(tensor, expected)
        return differences

    def _values(
        self, network: Network, weights: Mapping[str, Array], names: Sequence[str], dtype: str = "float64"
    ) -> dict[str, Any]:
        """Values of a network by name."""

        def compute() -> dict[str, Any]:
            with Net(network, dtype=dtype, keep=names) as net:
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

    def _explanation(self, outputs: set[str], worst: float) -> Iterator[str]:
        """The first value that differs, in the order of the model, with the layer and the nodes that it replaces.

        Of those on which differing outputs depend; small differences, such as those of rounding, are not named if that
        of the outputs is large.
        """
        yield "the imported network computes other values than the model, an error of this library; please report it:"
        network, weights, names = self.made.without_blocks()
        values = self._values(network, weights, [*dict.fromkeys(names.values())])
        own = self.model.nodes[: self.model.own]
        read = nodes_for(own, outputs)
        different = [one for node in own if node.place in read for one in self._compared(node, values, names)]
        for limit in (min(worst, 1.0) / 100, TOLERANCE):
            if first := next((one for one in different if distance(*one[2:]) > limit), None):
                yield from self._first(*first)
                return
        yield "  no layer differs: layers are combined to blocks incorrectly"

    def _compared(
        self, node: OnnxNode, values: Mapping[str, Any], names: Mapping[LayerOutput, str]
    ) -> Iterator[tuple[OnnxNode, ImportedLayer, Array, Array]]:
        """The results of a node that are values of layers, as the network and the model compute them."""
        for name in node.outputs:
            view, expected = self.outcome.values.get(name), self.reference.values.get(name)
            if expected is None or not isinstance(view, View) or view.value not in names:
                continue
            tensor = self.batch.tensor(view, values[names[view.value]])
            if tensor is not None:
                # An activation is part of the layer before.
                yield node, self.made.replaced.get(view.value, view.value).layer, tensor, expected

    def _first(self, node: OnnxNode, layer: ImportedLayer, found: Array, expected: Array) -> Iterator[str]:
        nodes = ", ".join(self.model.nodes[place].label for place in layer.nodes if place < len(self.model.nodes))
        yield f"  first difference: the result of {node.label}"
        yield f"  layer `{layer.name}` ({layer.type}) replaces {nodes or 'an input'}"
        if found.shape != expected.shape:
            yield f"  shape {list(found.shape)}, expected {list(expected.shape)}"
            return
        at = np.unravel_index(np.argmax(np.nan_to_num(np.abs(found - expected), nan=np.inf)), expected.shape)
        yield f"  {found[at]:.6g}, expected {expected[at]:.6g}, at {list(map(int, at))}"
