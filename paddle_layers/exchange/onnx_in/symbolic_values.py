"""Symbolic values: the meaning of each tensor of the graph as a layer output, a constant, or part of a pattern.

The importer visits the nodes once and assigns a meaning to each tensor. Most nodes that only move axes (Transpose,
Reshape, Unsqueeze) thereby become no layer: only the order of the axes changes. Compositions that an exporter
decomposes, such as attention or layer normalization, are recognized in the same way: the pieces have meanings, and the
layer is created at the last one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .layers import LayerOutput
from .sizes import Extent, SymbolicSize, divided, product_of, whole


@dataclass(frozen=True, eq=False)
class Atom:
    """An axis that is not taken apart any further: of the batch (`N`), of steps (`T`), or of a row (empty name)."""

    size: Extent
    name: str = ""


def is_single(atom: Atom) -> bool:
    """Whether it is the axis of a batch of 1."""
    return atom.name == "N" and atom.size == 1


Axis = tuple[Atom, ...]
"""Atoms of the axis, the slowest first; empty for an axis of size 1."""

Layout = tuple[Axis, ...]


@dataclass(frozen=True, eq=False)
class SymbolicValue:
    """A symbolic value with axes. `layout` are those of the ONNX tensor."""

    layout: Layout

    @property
    def shape(self) -> tuple[Extent, ...]:
        """The sizes of the axes."""
        return tuple(size_of(axis) for axis in self.layout)


@dataclass(frozen=True, eq=False)
class View(SymbolicValue):
    """A value of a layer. `order` are its atoms as it has them: the batch, steps, then those of a row."""

    value: LayerOutput = field(kw_only=True)
    order: tuple[Atom, ...] = field(kw_only=True)
    factor: float = field(default=1.0, kw_only=True)
    """The ONNX tensor is `factor` times the value of the layer."""
    scaled_by: int = field(default=-1, kw_only=True)
    """The index of the node that multiplied it."""

    @property
    def rows(self) -> tuple[Atom, ...]:
        """The atoms of the batch and of steps."""
        return tuple(atom for atom in self.order if atom.name)

    @property
    def has_batch(self) -> bool:
        """Whether the batch is among the axes: a model with a batch of 1 may drop it."""
        return not is_single(self.order[0]) or self.order[0] in atoms_of(self.layout)

    def without_batch(self) -> View:
        """The same without the axis of a batch of 1, which the layer has nevertheless."""
        layout = tuple(tuple(atom for atom in axis if not is_single(atom)) for axis in self.layout)
        return replace(self, layout=layout)

    def with_batch(self, place: int = 0) -> View:
        """The same with the batch as an axis of size 1, if it has none."""
        if self.has_batch or len(self.layout) <= place or self.layout[place]:
            return self
        return replace(self, layout=(*self.layout[:place], self.order[:1], *self.layout[place + 1 :]))

    @property
    def inside(self) -> tuple[Atom, ...]:
        """The atoms of a row."""
        return tuple(atom for atom in self.order if not atom.name)


@dataclass(frozen=True, eq=False)
class ReversedSequence(SymbolicValue):
    """Sequences from their last row to their first."""

    view: View = field(kw_only=True)

    @property
    def forward(self) -> View:
        """In forward order, with the current axes."""
        return replace(self.view, layout=self.layout)


@dataclass(frozen=True, eq=False)
class StepPositions(SymbolicValue):
    """The numbers of the rows of sequences, from 0, in sequences of at most `most` + 1 rows."""

    most: int | None = None


@dataclass(frozen=True, eq=False)
class SequenceLengths(SymbolicValue):
    """The lengths of sequences; `power` 0.5 is their square root."""

    power: float = 1.0


@dataclass(frozen=True, eq=False)
class BoxImageIndices(SymbolicValue):
    """The number of the image that each box is in: here the boxes of an image are a sequence."""


@dataclass(frozen=True, eq=False)
class SampleIndices(BoxImageIndices):
    """Indices that count through all samples: `stride` times the number of the sample, plus `offsets`.

    The offsets have the axes of the layout, with size 1 for the batch, or are a scalar.
    """

    stride: int = 1
    offsets: NDArray[Any] = field(default_factory=lambda: np.zeros((), np.int64))


@dataclass(frozen=True, eq=False)
class ElementIndices(SymbolicValue):
    """Indices of elements in several axes, along the last axis: the number of the sample first, then constants.

    Without `parts` only the shape is known: exporters broadcast indices by their maximum and read its shape.
    """

    parts: tuple[NDArray[Any], ...] = ()


@dataclass(frozen=True, eq=False)
class EndPosition(SymbolicValue):
    """The number of the first or the last row of each sequence."""

    last: bool = True


@dataclass(frozen=True, eq=False)
class Mask(SymbolicValue):
    """Mask of real rows, of visible keys (`causal`), or of the first or last row (`end`)."""

    causal: bool = False
    end: str = ""
    turned: bool = False
    ids: LayerOutput | None = None
    """The ids, of which 0 is padding, from which the mask was computed."""


@dataclass(frozen=True, eq=False)
class IdMatch(SymbolicValue):
    """Whether ids are one certain id (`turned`: any other one), as the rows of padding of an embedding are found."""

    ids: LayerOutput = field(kw_only=True)
    number: int = field(kw_only=True)
    turned: bool = False


@dataclass(frozen=True, eq=False)
class PositionGrid(SymbolicValue):
    """The positions of queries and keys, as TensorFlow computes causal masks: `part` is all, row, key or causal."""

    part: str = "all"


@dataclass(frozen=True, eq=False)
class IdArithmetic(SymbolicValue):
    """Nonnegative ids as numbers: Keras' code for negative ids is dropped."""


@dataclass(frozen=True, eq=False)
class SelectedSteps(SymbolicValue):
    """Rows of which only the first or the last of a sequence are kept, the others zero."""

    view: View = field(kw_only=True)
    end: str = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class PositionLookup(SymbolicValue):
    """A row of a table for each place in a sequence."""

    table: ConstantValue = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class DynamicConstant(SymbolicValue):
    """One number everywhere, which may be a size of the batch; 0 or 1 for truth values."""

    number: float | SymbolicSize = 0.0


@dataclass(frozen=True, eq=False)
class RepeatedConstant(SymbolicValue):
    """The same numbers for every sample, such as a class token, with the axes of a sample in `order`."""

    constant: ConstantValue = field(kw_only=True)
    order: tuple[Atom, ...] = field(kw_only=True)
    """The atom of the batch, and those of the constant."""

    def sample(self) -> ConstantValue | None:
        """The numbers in the present axes, with a first one of size 1; None if the batch is not the first axis."""
        batch, *inside = self.order
        if self.layout[:1] != ((batch,),):
            return None
        atoms = atoms_of(self.layout[1:])
        array = self.constant.array.reshape([whole(atom.size) for atom in inside])
        array = array.transpose([inside.index(atom) for atom in atoms]).reshape(1, *map(whole, self.shape[1:]))
        source = self.constant.source
        # A transposed parameter is another one: layers share parameters only if the same was done to both.
        return ConstantValue(array, (*source, "Transpose") if source and list(atoms) != inside else source)


@dataclass(frozen=True, eq=False)
class PaddedView(SymbolicValue):
    """A value padded with `number` around its rows and columns: (before, after) for each axis after the channels."""

    view: View = field(kw_only=True)
    pads: tuple[tuple[int, int], ...] = field(kw_only=True)
    number: float = field(default=0.0, kw_only=True)


@dataclass(frozen=True, eq=False)
class Statistic(SymbolicValue):
    """A part of layer normalization of `view`, over its last axes: mean, centered, square, variance, deviation.

    TensorFlow writes `x * (gain / deviation) + (bias - mean * (gain / deviation))`: scaled and moved are its halves.
    """

    view: View = field(kw_only=True)
    kind: str = field(kw_only=True)
    over: int = field(kw_only=True)
    epsilon: float = 0.0
    gain: ConstantValue | None = None
    bias: ConstantValue | None = None

    @property
    def over_all(self) -> bool:
        """Whether it has one value per element of the view."""
        return self.kind in ("centred", "square")


@dataclass(frozen=True, eq=False)
class ErrorFunction(SymbolicValue):
    """`factor` times the probability that a normal number is below `view`, or of `erf` the error function of it."""

    view: View = field(kw_only=True)
    factor: float = 1.0
    added: float = 0.0
    """The error function plus this constant; with 1 it is twice the normal CDF."""


@dataclass(frozen=True, eq=False)
class AttentionScores(SymbolicValue):
    """Attention scores: `factor` times the dot products of queries and keys, or their softmax (`soft`)."""

    query: View = field(kw_only=True)
    keys: View = field(kw_only=True)
    heads: int = field(kw_only=True)
    factor: float = 1.0
    causal: bool = False
    soft: bool = False
    zeroed: bool = False
    """Masked scores are 0, and an addition must set them to minus infinity."""


@dataclass(frozen=True, eq=False)
class PredictedClass(SymbolicValue):
    """The class that a classifier names, beside the scores that we keep."""


@dataclass(frozen=True, eq=False)
class ValueList(SymbolicValue):
    """A list of values."""

    items: tuple[Any, ...] = ()


class ConstantValue:
    """Known numbers; object arrays hold sizes of the batch. `source` is the initializer, and what was done to it."""

    __slots__ = ("array", "source")

    def __init__(self, array: NDArray[Any], source: tuple[str, ...] = ()) -> None:
        self.array, self.source = array, source

    @property
    def number(self) -> float | None:
        """The only number, where there is only one."""
        if self.array.size != 1 or self.array.dtype.kind not in "fiub":
            return None
        return float(self.array.reshape(-1)[0])


Operand = SymbolicValue | ConstantValue
M = TypeVar("M", bound=SymbolicValue)


def size_of(axis: Axis) -> Extent:
    """The size of an axis."""
    return product_of(atom.size for atom in axis)


def atoms_of(layout: Layout) -> tuple[Atom, ...]:
    """All atoms, the slowest first."""
    return tuple(atom for axis in layout for atom in axis)


def axis_for(size: Extent) -> Axis:
    """A new axis of a row."""
    return () if size == 1 else (Atom(size),)


def with_layout(meaning: M, layout: Layout) -> M:
    """The same with other axes."""
    return replace(meaning, layout=layout)


def reshaped(meaning: M, shape: list[Extent]) -> M | None:
    """The same numbers in another shape, which has no -1 and no 0; None where atoms cannot be cut that way."""
    left = list(atoms_of(meaning.layout))
    cuts: dict[Atom, tuple[Atom, Atom]] = {}
    layout: list[Axis] = []
    for size in shape:
        found = _taken(left, size, cuts)
        if found is None:
            return None
        layout.append(found)
    if any(not is_single(atom) for atom in left):
        return None
    result = replace(meaning, layout=tuple(layout))
    return result if not cuts else _refined(result, cuts)


def _taken(left: list[Atom], size: Extent, cuts: dict[Atom, tuple[Atom, Atom]]) -> Axis | None:
    """The next atoms, which make an axis of this size; they are taken from the list."""
    if size == 1:
        return (left.pop(0),) if left and left[0].size == 1 else ()
    found: list[Atom] = []
    while size != 1:
        if not left:
            return None
        if is_single(left[0]):
            left.pop(0)  # not merged with other axes
            continue
        rest = divided(size, left[0].size)
        if rest is not None:
            found.append(left.pop(0))
            size = rest
            continue
        spare = divided(left[0].size, size)
        # The batch and the steps are never cut: samples would be split or merged.
        if spare is None or left[0].name:
            return None
        atom, parts = left[0], (Atom(size), Atom(spare))
        cuts[atom] = parts
        left[0] = parts[1]
        found.append(parts[0])
        size = 1
    return tuple(found)


def _refined(meaning: M, cuts: dict[Atom, tuple[Atom, Atom]]) -> M:
    """The order of axes of a value after its atoms were split."""
    if not isinstance(meaning, (View, RepeatedConstant)):
        return meaning

    def parts(atom: Atom) -> tuple[Atom, ...]:
        return tuple(part for half in cuts[atom] for part in parts(half)) if atom in cuts else (atom,)

    layout = tuple(tuple(part for atom in axis for part in parts(atom)) for axis in meaning.layout)
    order = tuple(part for atom in meaning.order for part in parts(atom))
    return replace(meaning, order=order, layout=layout)


def of_one_batch(*given: Any) -> list[Any]:
    """Values and constants; if one value has its batch of 1 not as an axis, no other value has it as one either."""
    if all(one.has_batch for one in given if isinstance(one, View)):
        return [*given]
    return [one.without_batch() if isinstance(one, View) else one for one in given]


def constants_of(arrays: Mapping[str, NDArray[Any]]) -> dict[str, ConstantValue]:
    """Initializers by name; those of floats are parameters."""
    return {name: ConstantValue(array, (name,) if array.dtype.kind == "f" else ()) for name, array in arrays.items()}
