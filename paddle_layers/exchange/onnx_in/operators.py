"""Conversion context (`step`) of an operator: the node, its attributes, new layers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .folding import Budget
from .layers import ImportedLayer, LayerOutput, NotSupported, Weight, make_layer
from .model import OnnxNode
from .sizes import Extent
from .symbolic_values import (
    Atom,
    AttentionScores,
    BoxImageIndices,
    ConstantValue,
    DynamicConstant,
    ElementIndices,
    EndPosition,
    ErrorFunction,
    IdArithmetic,
    IdMatch,
    Layout,
    Mask,
    Operand,
    PaddedView,
    PositionGrid,
    PositionLookup,
    PredictedClass,
    RepeatedConstant,
    ReversedSequence,
    SampleIndices,
    SelectedSteps,
    SequenceLengths,
    Statistic,
    StepPositions,
    ValueList,
    View,
    atoms_of,
    axis_for,
    reshaped,
    size_of,
    with_layout,
)

T = TypeVar("T")
Result = Operand | tuple[Operand | None, ...]
Handler = Callable[..., Result]

OPERATORS: dict[tuple[str, str], Handler] = {}
"""Handlers of operators, by domain and name."""
OF_CONSTANTS: set[Handler] = set()
"""Handlers that accept a constant as their first input."""


def operator(*names: str, domain: str = "", constants: bool = False) -> Callable[[Handler], Handler]:
    """Register the handler of operators: it gets an `OperatorContext`, then each input, None for an omitted one.

    Its first input is a constant only where it takes `constants`: other functions are not called with one.
    """

    def keep(call: Handler) -> Handler:
        if constants:
            OF_CONSTANTS.add(call)
        for name in names:
            OPERATORS[domain, name] = call
        return call

    return keep


class RowView(NamedTuple):
    """A value whose rows have the axes that the node sees, and the axes before them."""

    value: LayerOutput
    lead: Layout
    view: View


class OperatorContext:
    """One node. `steps` has the axes of steps by their sizes."""

    def __init__(
        self,
        node: OnnxNode,
        opset: int,
        steps: Mapping[Extent, Atom],
        known: dict[Any, Any],
        budget: Budget,
        captured: Mapping[str, Any] | None = None,
    ) -> None:
        self.node, self.opset, self.steps, self.budget = node, opset, steps, budget
        self.captured = captured or {}
        """Outer values that subgraphs in attributes read."""
        self.known = known
        """Results of previous nodes, for reuse."""
        self.kinds: Sequence[str] = ()
        """Kinds of the data types of the inputs, as NumPy names them: `f`, `i`, `b`."""
        self.fixed_axes = False
        """Whether no axis of a fixed size is one of steps."""
        self.additional_axes = 0
        """Axes of the inputs that are not in the model: merged with the batch axis there."""

    def attribute(self, name: str, default: Any = None) -> Any:
        """An attribute of the node."""
        return self.node.attributes.get(name, default)

    def refuse_unless(self, condition: object, reason: str) -> None:
        """Raise `NotSupported` with the reason."""
        if not condition:
            raise NotSupported(reason)

    def axis(self, axis: int, rank: int) -> int:
        """An axis counted from the front."""
        self.refuse_unless(-rank <= axis < rank, f"axis {axis} is out of range for {rank} axes")
        return axis % rank

    # ---- layers

    def layer(
        self,
        type_: str,
        *inputs: LayerOutput,
        weights: dict[str, Weight] | None = None,
        suffix: str = "",
        **attributes: Any,
    ) -> ImportedLayer:
        """A new layer. Attributes with the value None are omitted."""
        given = {name: value for name, value in attributes.items() if value is not None}
        self.budget.spend(sum(one.array.nbytes for one in (weights or {}).values()))
        return make_layer(type_, inputs, given, weights or {}, (self.node.place,), suffix)

    def again(self, layer: ImportedLayer, weights: dict[str, Weight], **attributes: Any) -> ImportedLayer:
        """A copy of the layer with an addition of this node; the original is dropped if it has no other reader."""
        nodes = (*layer.nodes, self.node.place)
        merged = {**layer.attributes, **attributes}
        return make_layer(layer.type, layer.inputs, merged, {**layer.weights, **weights}, nodes, layer.suffix)

    def each(self, type_: str, view: View, **attributes: Any) -> View:
        """An elementwise layer: the axes are unchanged."""
        plain = self.plain(view)
        made = self.layer(type_, plain.value, **attributes)
        return replace(plain, value=made.outputs[0])

    def plain(self, view: View) -> View:
        """The same view with its factor applied by a separate layer."""
        if view.factor == 1.0:
            return view
        # Readers of the same scaled value share one layer.
        made = self.known.get(("scaled", view.value, view.factor))
        if made is None:
            known = view.scaled_by >= 0
            nodes, suffix = ((view.scaled_by,), "") if known else ((self.node.place,), "scaled")
            made = make_layer("slope_intercept", [view.value], {"slope": view.factor}, {}, nodes, suffix)
            self.known["scaled", view.value, view.factor] = made
        return replace(view, value=made.outputs[0], factor=1.0)

    # ---- rows

    def lead(self, view: View) -> int:
        """The number of axes before those of a row."""
        needed = set(view.rows if view.has_batch else view.rows[1:])
        for count in range(len(view.layout) + 1):
            seen = atoms_of(view.layout[:count])
            if needed <= set(seen):
                self.refuse_unless(
                    len(seen) == len(needed), "the batch axis, and the time axis of sequences, must come first"
                )
                return count
        raise NotSupported("the batch or time axis is missing")

    def rows(self, view: View, rank: int | None = None) -> RowView:
        """The value with rows of the shape that the node sees."""
        plain = self.plain(view)
        count = self.lead(plain)
        rest = plain.layout[count:]
        self.refuse_unless(
            rank is None or len(rest) == rank, f"input has {len(rest)} axes besides batch and time, expected {rank}"
        )
        # Only now a permutation becomes a layer: most transpositions of exporters cancel each other before a layer
        # reads the result.
        if atoms_of(rest) != plain.inside:
            plain = self._permuted(plain, atoms_of(rest))
        dims = tuple(size_of(axis) for axis in rest)
        value = plain.value
        if value.dims != dims and value.type.kind != "INT":
            value = self.layer("reshape", value, dims=list(dims), suffix="shape").outputs[0]
        return RowView(value, plain.layout[:count], plain)

    def _permuted(self, view: View, order: tuple[Atom, ...]) -> View:
        """The value with the atoms of its rows in another order, by a layer that all who want it so read."""
        places = [view.inside.index(atom) + 1 for atom in order]
        made = self.known.get(("order", view.value, *places))
        if made is None:
            value, dims = view.value, [size_of((atom,)) for atom in view.inside]
            if list(value.dims) != dims:
                value = self.layer("reshape", value, dims=dims, suffix="shape").outputs[0]
            made = self.layer("permute", value, order=places, suffix="order")
            self.known["order", view.value, *places] = made
        return replace(view, value=made.outputs[0], order=(*view.rows, *order))

    def axis_of_row(self, axis: int, rows: RowView) -> int | None:
        """The attribute `axis` of a layer for an axis of the node's input; None for the first one of a row."""
        self.refuse_unless(
            axis >= len(rows.lead), "the batch or time axis is not supported as the axis of this operator"
        )
        return axis - len(rows.lead) + 1 if axis > len(rows.lead) else None

    def made(self, value: LayerOutput, like: RowView) -> View:
        """The output of a layer of rows, with the axes of its input before those of a row."""
        return view_of(value, like.view.rows, like.lead)

    def numbers(self, given: Any, what: str) -> ConstantValue:
        """A floating-point constant."""
        if not isinstance(given, ConstantValue):
            raise NotSupported(f"{what} must be a constant")
        self.refuse_unless(given.array.dtype.kind in "fiub", f"{what} depends on the batch size")
        return given

    def integers(self, given: Any, what: str) -> list[Any]:
        """A constant list of integers, possibly with sizes of the batch."""
        if not isinstance(given, ConstantValue):
            raise NotSupported(f"{what} must be constant")
        whole = given.array.dtype.kind in "iuO" and given.array.ndim <= 1
        self.refuse_unless(whole, f"{what} must be a list of integers")
        return list(np.atleast_1d(given.array).tolist())

    def view(self, given: Any, what: str = "input") -> View:
        """A value of a layer."""
        given = self.settled(given)
        if not isinstance(given, View):
            raise NotSupported(f"{what} is {described(given)}, expected the output of a layer")
        return self.floats(given) if given.value.type.kind == "INT" and given.value.dims else given

    def floats(self, ids: View) -> View:
        """Ids as numbers; single ids, and those of sequences, only choose rows of tables."""
        made = self.known.get(("floats", ids.value))
        if made is None:
            made = self.known["floats", ids.value] = self.layer("to_float", ids.value, suffix="floats")
        return replace(ids, value=made.outputs[0])

    def settled(self, given: Any) -> Any:
        """A mean or padding that the following nodes did not absorb, as a layer output; other values are unchanged."""
        if isinstance(given, PaddedView):
            return self.padded(given.view, given.pads, value=given.number or None)
        if isinstance(given, ErrorFunction):
            return self._error_function(given)
        if not isinstance(given, Statistic):
            return given
        if given.kind != "mean":
            return self._statistic(given)
        made = self.known.get(given)
        if made is None:
            rows, gone = self.rows(given.view), atoms_of(given.view.layout[-given.over :])
            value = self.layer("reduction", rows.value, operation="MEAN", axes=list(range(-given.over, 0))).outputs[0]
            if given.epsilon:
                value = self.layer("slope_intercept", value, intercept=given.epsilon).outputs[0]
            order = tuple(atom for atom in rows.view.order if atom not in gone)
            made = self.known[given] = View(given.layout, value=value, order=order)
        return made

    def _error_function(self, given: ErrorFunction) -> View:
        """The error function as a layer, with its factor and the added constant."""
        made = self.known.get(given)
        if made is None:
            made = self.each("erf", replace(given.view, factor=math.sqrt(0.5)))
            if given.added:
                made = self.each("slope_intercept", made, intercept=given.added)
            made = self.known[given] = replace(made, factor=given.factor)
        return made

    def _statistic(self, given: Statistic) -> Any:
        """A part of normalization as a layer output; unchanged where the following node has to absorb it."""
        made = self.known.get(given)
        if made is not None:
            return made
        mean = replace(given, kind="mean", gain=None, bias=None)
        if given.kind == "negated mean":
            made = self._with(self.settled(mean), given, factor=-1.0)
        elif given.kind in ("root", "inverse root"):
            made = self._with(self.settled(mean), given, power=0.5 if given.kind == "root" else -0.5)
        elif given.kind == "centred":
            made = self.view(OPERATORS["", "Sub"](self, given.view, self.settled(_mean_of(given.view, given.over))))
            made = reshaped(made, [*given.shape])
        elif given.kind == "square":
            made = self.each("power", self.view(replace(given, kind="centred")), power=2.0)
        elif given.kind in _POWERS and given.gain is None:
            squares = self.view(Statistic(given.view.layout, view=given.view, kind="square", over=given.over))
            variance = replace(_mean_of(squares, given.over), epsilon=given.epsilon)
            made = self._with(self.view(variance), given, power=_POWERS[given.kind])
        if made is None:
            return given
        self.known[given] = made
        return made

    def _with(self, view: View, like: Statistic, factor: float = 1.0, power: float = 1.0) -> View:
        found = replace(view, layout=like.layout, factor=factor * view.factor)
        return found if power == 1.0 else self.each("power", found, power=power)

    def padded(self, view: View, pads: Sequence[tuple[int, int]], **settings: Any) -> View:
        """A value with something around its last axes: (before, after) for each of them."""
        rows = self.rows(view)
        own = [place - len(pads) for place, pair in enumerate(pads) if any(pair)]
        begin, end = ([pads[place][side] for place in own] for side in (0, 1))
        made = self.layer("pad", rows.value, axes=own, begin=begin, end=None if begin == end else end, **settings)
        return self.made(made.outputs[0], rows)

    def listed(self, name: str, given: Any, default: Any = None) -> Any:
        """Axes or sizes, which older opsets have as an attribute and newer ones as an input."""
        return self.attribute(name, default) if given is None else self.integers(given, name)


_POWERS = {"variance": 1.0, "deviation": 0.5, "inverse deviation": -0.5}


def _mean_of(view: View, over: int) -> Statistic:
    """The mean over the last axes, which keep the size 1."""
    layout = (*view.layout[: len(view.layout) - over], *((),) * over)
    return Statistic(layout, view=view, kind="mean", over=over)


def samples_first(view: View) -> list[int]:
    """The axes of a value with those of samples and steps before the others."""
    return sorted(range(len(view.layout)), key=lambda place: not any(atom.name for atom in view.layout[place]))


def memory_order(view: View) -> list[int]:
    """The axes of a value as its elements follow each other, so that no layer permutes them; else samples first."""
    axes = range(len(view.layout))
    places = {atom: place for place, atom in enumerate(view.order)}
    order = sorted(axes, key=lambda at: places[view.layout[at][0]] if view.layout[at] else len(places))
    permuted = atoms_of(view.layout) != view.order and atoms_of(reordered(view, order).layout) == view.order
    return order if permuted else samples_first(view)


def reordered(view: View, order: Sequence[int]) -> View:
    """The value with its axes in another order."""
    return replace(view, layout=tuple(view.layout[place] for place in order))


def restored(view: View, order: Sequence[int]) -> View:
    """The value with its axes as they were before `reordered`."""
    return reordered(view, [order.index(place) for place in range(len(order))])


def view_of(value: LayerOutput, rows: Sequence[Atom], lead: Layout) -> View:
    """A new value, with new axes after `lead`."""
    inside = tuple(axis_for(size) for size in value.dims)
    return View((*lead, *inside), value=value, order=(*rows, *atoms_of(inside)))


KNOWN: dict[type, str] = {
    SelectedSteps: "selected steps of sequences",
    EndPosition: "the index of a step in its sequence",
    DynamicConstant: "a constant of dynamic shape",
    RepeatedConstant: "a constant for each sample",
    PositionGrid: "a grid of query and key positions (only supported in causal masks)",
    IdMatch: "a comparison of ids (only supported for the padding of an embedding)",
    IdArithmetic: "arithmetic with ids",
    BoxImageIndices: "the image indices of boxes",
    ElementIndices: "indices of elements in several axes (only supported within each sample)",
    SampleIndices: "indices of elements of all samples (only supported within each sample)",
    PredictedClass: "a predicted class",
    SequenceLengths: "sequence lengths",
    ValueList: "a list of values",
    Mask: "a mask",
    ReversedSequence: "a reversed sequence (only its last step is supported)",
    PositionLookup: "a position embedding",
    StepPositions: "positions of steps in sequences",
    AttentionScores: "attention scores (only supported in attention)",
    Statistic: "a mean or standard deviation (only supported in normalization)",
}


def described(given: Any) -> str:
    """Description of a symbolic value, for messages."""
    if isinstance(given, ConstantValue):
        return "a constant"
    if given is None:
        return "missing"
    return KNOWN.get(type(given), "part of an unsupported pattern")


def moved(given: Operand, layout: Layout) -> Operand:
    """The same with other axes."""
    assert not isinstance(given, ConstantValue)
    return with_layout(given, layout)


def needed(value: T | None, reason: str) -> T:
    """The value, or `NotSupported` with the reason."""
    if value is None:
        raise NotSupported(reason)
    return value
