"""Graph builder that a layer's `@onnx` function gets as `graph`: nodes by operator name, constants by value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
# Shapes and axes repeat in every layer; larger constants are weights, whose bytes are not worth comparing.
SMALL = 64
"""Maximum number of elements of constants that are deduplicated."""


class OnnxTensor:
    """A tensor of the ONNX graph. `dims` are the axes after the rows, if they are known; a parameter has `array`.

    `size` is the number of ids for ids, else the product of `dims`.
    """

    __slots__ = ("array", "dims", "name", "size")

    def __init__(self, name: str, dims: tuple[int, ...] | None = None, size: int = 0, array: Array | None = None):
        self.name, self.dims, self.size, self.array = name, dims, size, array


class NodeText(NamedTuple):
    """One node: what ONNX's NodeProto holds."""

    operator: str
    name: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]


class SubgraphText(NamedTuple):
    """A graph inside of a node, with the names of what enters and leaves it."""

    name: str
    nodes: list[NodeText]
    inputs: list[str]
    outputs: list[str]


class OnnxGraph:
    """Nodes in order, constants by name; `graph.Conv(x, weight, strides=[2, 2])` adds a node.

    Inputs are tensors, NumPy arrays, numbers or lists of integers (which become constants), or None for an absent
    input. `outputs=2` returns two tensors. Floats become float32, integers int64.
    """

    def __init__(self, reserved: Iterable[str]) -> None:
        self.nodes: list[NodeText] = []
        self.constants: dict[str, Array] = {}
        self.scope = ""
        """Name of the current layer, the prefix of the names of its nodes."""
        # Reserved are the names of values, which an inner node of an earlier layer must not take. Subgraphs share the
        # set: they see the names around them and may not define one again.
        self._names = set(reserved)
        self._known: dict[tuple[Any, ...], str] = {}

    def inner(self) -> OnnxGraph:
        """A subgraph: separate nodes, the same names and constants."""
        made = OnnxGraph(())
        made.constants, made._names, made._known = self.constants, self._names, self._known
        return made

    def __getattr__(self, operator: str) -> Callable[..., Any]:
        # Otherwise a misspelled method, and every probe of Python for a special method, would return an operator.
        if not operator[:1].isupper():
            raise AttributeError(f"`graph.{operator}`: names of ONNX operators start with a capital letter")
        return lambda *inputs, **settings: self.node(operator, *inputs, **settings)

    def node(self, operator: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Any:
        """Add a node; returns its output, or a tuple of several. Attributes with the value None are omitted."""
        given = [self._input(value) for value in inputs]
        while given and not given[-1]:
            given.pop()  # engines may crash on one that is left out at the end
        name = self.unique(f"{self.scope}/{operator}")
        made = [name] if outputs == 1 else [self.unique(f"{name}:{place}") for place in range(outputs)]
        kept = {key: value for key, value in attributes.items() if value is not None}
        self.nodes.append(NodeText(operator, name, given, made, kept))
        tensors = tuple(map(OnnxTensor, made))
        return tensors[0] if outputs == 1 else tensors

    def unique(self, name: str) -> str:
        """This name, or an unused variant of it."""
        number, found = 1, name
        while found in self._names:
            number += 1
            found = f"{name}_{number}"
        self._names.add(found)
        return found

    def constant(self, values: Any, name: str = "constant") -> OnnxTensor:
        """A constant tensor: floats, integers or booleans."""
        array = np.asarray(values)
        if array.dtype.kind in "fiu":
            # ONNX does not promote types: a float64 constant beside a float32 value is an invalid model.
            array = array.astype(np.float32 if array.dtype.kind == "f" else np.int64)
        return self._constant(array, name)

    def double(self, values: Any) -> OnnxTensor:
        """A constant in float64, for what float32 has too few digits for."""
        return self._constant(np.asarray(values, np.float64), "constant")

    def _constant(self, array: Array, name: str) -> OnnxTensor:
        key = (array.dtype.str, array.shape, array.tobytes() if array.size < SMALL else b"")
        found = self._known.get(key) if array.size < SMALL else None
        if found is None:
            found = self._known[key] = self.unique(f"{self.scope}/{name}")
            self.constants[found] = array
        return OnnxTensor(found)

    def _input(self, value: Any) -> str:
        if value is None:
            return ""
        if not isinstance(value, OnnxTensor):
            value = self.constant(value)
        # Only on use: an unused parameter is not part of the model, a shared one is there once.
        if value.array is not None and value.name not in self.constants:
            self.constants[value.name] = np.asarray(value.array, np.float32)
        return str(value.name)

    # ---- what many layers need

    def scan(
        self,
        step: Callable[..., Any],
        states: Sequence[OnnxTensor],
        rows: Sequence[OnnxTensor],
        *,
        reverse: bool = False,
    ) -> tuple[OnnxTensor, ...]:
        """Scan over padded sequences row by row, with states that have one row per sequence.

        `step(graph, *states, *rows)` returns the new states, then its outputs for the rows of one step; the result is
        the final states and then the outputs of all rows.
        """
        inner = self.inner()
        inner.scope = self.scope
        entered = [
            OnnxTensor(self.unique(f"{self.scope}/{kind}")) for kind in ["state"] * len(states) + ["row"] * len(rows)
        ]
        made = [inner.Identity(tensor) for tensor in step(inner, *entered)]  # a body gives nothing that it was given
        body = SubgraphText(self.scope, inner.nodes, [one.name for one in entered], [one.name for one in made])
        return self.scan_of(body, states, rows, reverse=reverse)

    def scan_of(
        self, body: SubgraphText, states: Sequence[OnnxTensor], rows: Sequence[OnnxTensor], *, reverse: bool
    ) -> tuple[OnnxTensor, ...]:
        """The node of a Scan whose steps are those of padded sequences."""
        count, given, back = len(rows), len(body.outputs) - len(states), int(reverse)
        found = self.node(
            # Axis 1, because axis 0 is the batch.
            "Scan", *states, *rows, outputs=len(body.outputs), body=body, num_scan_inputs=count,
            scan_input_axes=[1] * count, scan_input_directions=[back] * count,
            scan_output_axes=[1] * given or None, scan_output_directions=[back] * given or None,
        )  # fmt: skip
        return found if isinstance(found, tuple) else (found,)

    def shaped(self, x: OnnxTensor, *dims: int) -> OnnxTensor:
        """The rows of `x`, reshaped to other axes."""
        # Otherwise by 0 for the rows, whose number is unknown; -1 could not infer it for an empty batch.
        if x.dims == dims:
            return x
        made: OnnxTensor = self.Reshape(x, [0, *dims])
        return OnnxTensor(made.name, dims)

    def flat(self, x: OnnxTensor) -> OnnxTensor:
        """The rows of `x`, flattened to one axis."""
        return self.shaped(x, x.size)

    def places(self, x: OnnxTensor) -> OnnxTensor:
        """The numbers of the rows of padded sequences, from 0."""
        steps = self.Squeeze(self.Shape(x, start=1, end=2))
        found: OnnxTensor = self.Range(0, steps, 1)
        return found

    def channels(self, numbers: OnnxTensor, x: OnnxTensor) -> OnnxTensor:
        """Numbers, one for each channel or one for all, of the shape that meets the channels of `x` in arithmetic."""
        assert numbers.array is not None, "only parameters have values"
        if x.dims is None or len(x.dims) == 1:
            return numbers
        # Reshaped here, so that the model has no node for it.
        return self.constant(numbers.array.reshape(-1, *[1] * (len(x.dims) - 1)), numbers.name.rpartition(".")[2])

    def spread(self, other: OnnxTensor, x: OnnxTensor) -> OnnxTensor:
        """Numbers for the channels, points or rows of `x`, with as many axes as `x` has."""
        assert other.dims is not None, "only inputs of layers have known axes"
        assert x.dims is not None, "only inputs of layers have known axes"
        return self.shaped(other, *other.dims, *[1] * (len(x.dims) - len(other.dims)))

    def rename(self, tensor: OnnxTensor, name: str, first: int) -> OnnxTensor:
        """Give an output of a node from number `first` on another name; others are left as they are."""
        made = {output for node in self.nodes[first:] for output in node.outputs}
        if tensor.name not in made:
            return tensor
        # Only from there on, since earlier nodes cannot read the output; renaming in the whole graph would be
        # quadratic.
        for node in self.nodes[first:]:
            for names in (node.inputs, node.outputs):
                names[:] = [name if one == tensor.name else one for one in names]
        return OnnxTensor(name, tensor.dims, tensor.size)
