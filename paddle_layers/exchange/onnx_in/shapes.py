"""Shape operators: only the order of the axes changes, without a layer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .layers import NotSupported
from .model import OnnxNode
from .operators import OperatorContext, moved, needed, operator, view_of
from .sequence_rows import shaped
from .sizes import Extent, divided, product_of
from .symbolic_values import (
    Atom,
    ConstantValue,
    DynamicConstant,
    Layout,
    Mask,
    Operand,
    PaddedView,
    PositionGrid,
    PredictedClass,
    RepeatedConstant,
    Statistic,
    SymbolicValue,
    View,
    atoms_of,
    axis_for,
    is_single,
    reshaped,
    with_layout,
)


@operator("Transpose")
def transpose(step: OperatorContext, x: SymbolicValue) -> Operand:
    """The axes in another order."""
    order = step.attribute("perm", list(range(len(x.layout)))[::-1])
    fits = sorted(order) == list(range(len(x.layout)))
    step.refuse_unless(fits, f"`perm` {order} does not match {len(x.layout)} axes")
    return moved(x, tuple(x.layout[place] for place in order))


@operator("Squeeze")
def squeeze(step: OperatorContext, x: SymbolicValue, axes: Any = None) -> Operand:
    """Axes of the size 1 go."""
    given = step.listed("axes", axes)
    rank = len(x.layout)
    ones = {place for place, axis in enumerate(x.layout) if all(map(is_single, axis))}
    known = given is not None or all(size != 1 or place in ones for place, size in enumerate(x.shape))
    step.refuse_unless(known, "Squeeze without `axes` would remove an axis of steps of size 1")
    gone = ones if given is None else {step.axis(one, rank) for one in given}
    for place in gone - ones:
        raise NotSupported(f"cannot squeeze axis {place}: it is the batch axis or not of size 1")
    return moved(x, tuple(axis for place, axis in enumerate(x.layout) if place not in gone))


@operator("Unsqueeze")
def unsqueeze(step: OperatorContext, x: SymbolicValue, axes: Any = None) -> Operand:
    """New axes of the size 1."""
    given = step.listed("axes", axes, [])
    rank = len(x.layout) + len(given)
    new = {step.axis(one, rank) for one in given}
    step.refuse_unless(len(new) == len(given), f"duplicate axes: {given}")
    left = iter(x.layout)
    return moved(x, tuple(() if place in new else next(left) for place in range(rank)))


@operator("Flatten")
def flatten(step: OperatorContext, x: SymbolicValue) -> Operand:
    """Two axes of all."""
    cut = step.attribute("axis", 1)
    cut = cut + len(x.layout) if cut < 0 else cut
    parts = [atoms_of(x.layout[:cut]), atoms_of(x.layout[cut:])]
    # A batch of 1 is not merged with other axes.
    return moved(x, tuple(tuple(one for one in axis if len(axis) == 1 or not is_single(one)) for axis in parts))


@operator("Reshape")
def reshape(step: OperatorContext, x: SymbolicValue, shape: Any = None) -> Operand:
    """The same numbers with other axes."""
    given = step.listed("shape", shape)
    x = step.settled(x) if isinstance(x, Statistic) else x
    if isinstance(x, (DynamicConstant, PredictedClass)):
        return moved(x, ())
    if isinstance(x, PositionGrid):
        return shaped(step, given)
    sizes: list[Extent] = list(given)
    if not step.attribute("allowzero", 0):
        inside = all(size != 0 or place < len(x.layout) for place, size in enumerate(sizes))
        step.refuse_unless(inside, "a 0 in `shape` is beyond the axes of the input")
        sizes = [x.shape[place] if size == 0 else size for place, size in enumerate(sizes)]
    if -1 in sizes:
        known = product_of(size for size in sizes if size != -1)
        rest = divided(product_of(x.shape), known)
        if rest is None:
            raise NotSupported(f"cannot reshape {_as_text(x.shape)} to {_as_text(given)}")
        sizes[sizes.index(-1)] = rest
    found = reshaped(x, sizes)
    if found is None and isinstance(x, View):
        found = _other_rows(step, x, sizes)
    if found is None:
        raise NotSupported(f"cannot reshape {_as_text(x.shape)} to {_as_text(given)}: it would split or merge samples")
    return found


def _other_rows(step: OperatorContext, x: View, sizes: list[Extent]) -> View | None:
    """Rows of another shape with unrelated axes: a separate layer."""
    count = step.lead(x)
    together = product_of(x.shape[:count])
    for cut_ in range(1, len(sizes) + 1):
        if product_of(sizes[:cut_]) == together:
            lead = reshaped(SymbolicValue(x.layout[:count]), sizes[:cut_])
            if lead is None or not all(isinstance(size, int) for size in sizes[cut_:]):
                return None
            rows = step.rows(x)
            made = step.layer("reshape", rows.value, dims=list(sizes[cut_:]))
            return view_of(made.outputs[0], x.rows, lead.layout)
    return None


def _as_text(sizes: Any) -> str:
    return " x ".join(map(str, sizes)) or "none"


@operator("DepthToSpace", "SpaceToDepth")
def blocks(step: OperatorContext, x: Any) -> Operand:
    """Blocks of pixels as channels, or the other way around (pixel shuffle)."""
    view, size = step.view(x), step.attribute("blocksize", 0)
    step.refuse_unless(len(view.layout) == 4 and size > 0, "only images are supported")
    batch, channels, height, width = view.shape
    columns = step.attribute("mode", "DCR") == "CRD"
    if step.node.operator == "SpaceToDepth":
        cut = [channels, divided(height, size), size, divided(width, size), size]
        order = (0, 1, 3, 5, 2, 4) if columns else (0, 3, 5, 1, 2, 4)
        sizes = [cut[0] * size * size, cut[1], cut[3]] if None not in cut else []
    else:
        rest = divided(channels, size * size)
        cut = [rest, size, size, height, width] if columns else [size, size, rest, height, width]
        order = (0, 1, 4, 2, 5, 3) if columns else (0, 3, 4, 1, 5, 2)
        sizes = [rest, height * size, width * size] if rest is not None else []
    step.refuse_unless(sizes, f"the sizes {_as_text(view.shape)} are no multiples of `blocksize` {size}")
    parts = needed(reshaped(view, [batch, *cut]), "the axes cannot be divided")
    turned = with_layout(parts, tuple(parts.layout[place] for place in order))
    return needed(reshaped(turned, [batch, *sizes]), "the axes cannot be merged")


@operator("Size")
def count_of(_: OperatorContext, x: SymbolicValue) -> Operand:
    """The number of elements, which may depend on the batch."""
    count = product_of(x.shape)
    return ConstantValue(np.array(count, np.int64 if isinstance(count, int) else object))


@operator("Shape")
def shape_of(step: OperatorContext, x: SymbolicValue) -> Operand:
    """The sizes, some of which the batch has."""
    sizes = x.shape[slice(step.attribute("start", 0), step.attribute("end"))]
    kind: Any = np.int64 if all(isinstance(one, int) for one in sizes) else object
    found = np.empty(len(sizes), kind)
    found[:] = sizes
    return ConstantValue(found)


@operator("ConstantOfShape", constants=True)
def filled(step: OperatorContext, shape: Any) -> Operand:
    """One number everywhere, in a shape that the batch decides."""
    value = step.attribute("value")
    number = 0.0 if value is None else float(value.reshape(-1)[0])
    sizes = step.integers(shape, "shape")
    if not step.steps:
        kind = np.float32 if value is None else value.dtype
        return repeated(step, ConstantValue(np.full((1,) * len(sizes), number, kind)), sizes)
    return DynamicConstant(filled_axes(step, sizes), number)


def filled_axes(step: OperatorContext, sizes: list[Any]) -> Layout:
    """Axes of a scalar in a dynamic shape; the batch axis has size 1."""
    return tuple(
        (step.steps[size],) if size in step.steps else axis_for(size) if isinstance(size, int) and size > 0 else ()
        for size in sizes
    )


_OF_SCALARS = frozenset({"Slice", "Transpose", "Squeeze", "Unsqueeze", "Gather", "Concat"})
"""Operators that move or select elements, which are all the same in a dynamic constant."""


def moved_scalar(node: OnnxNode, inputs: Sequence[Any]) -> DynamicConstant | None:
    """A constant of dynamic shape with one number, some of whose elements are moved or selected."""
    first = inputs[0] if inputs else None
    if not isinstance(first, DynamicConstant) or node.operator not in _OF_SCALARS:
        return None
    same = all(isinstance(one, DynamicConstant) and one.number == first.number for one in inputs)
    if node.operator == "Concat" and not same:
        return None
    return replace(first, layout=tuple(axis if any(atom.name for atom in axis) else () for axis in first.layout))


@operator("Tile", constants=True)
def tile(step: OperatorContext, x: Any, repeats: Any) -> Operand:
    """A layer for each axis along which something is repeated; a constant for each sample."""
    counts = step.integers(repeats, "repeats")
    if isinstance(x, ConstantValue):
        fits = len(counts) == x.array.ndim and all(one == 1 for one in counts[1:])
        step.refuse_unless(fits, "only the batch axis of a constant can be repeated by a dynamic number")
        if x.array.shape[0] == 1:
            return repeated(step, x, [counts[0], *x.array.shape[1:]])
        # The samples and the first axis, such as heads, share one axis.
        apart = repeated(step, ConstantValue(x.array[None], x.source), [counts[0], *x.array.shape])
        return moved(apart, ((*apart.layout[0], *apart.layout[1]), *apart.layout[2:]))
    view = step.view(x)
    step.refuse_unless(len(counts) == len(view.layout), "Tile needs one number of repetitions per axis")
    return repeated_axes(step, view, counts)


def repeated_axes(step: OperatorContext, view: View, counts: list[Any]) -> View:
    """A value repeated along axes of its rows."""
    rows = step.rows(view)
    lead, value = len(rows.lead), rows.value
    step.refuse_unless(counts[:lead] == [1] * lead, "repeating along the batch or time axis is not supported")
    for axis, count in enumerate(counts[lead:], 1):
        if count != 1:
            value = step.layer("repeat", value, num_repeats=count, axis=axis if axis > 1 else None).outputs[0]
    return step.made(value, rows)


def repeated(step: OperatorContext, x: ConstantValue, sizes: list[Any]) -> RepeatedConstant:
    """A constant that is repeated for each sample."""
    shape = (1,) * (len(sizes) - x.array.ndim) + x.array.shape
    places = [place for place, size in enumerate(sizes) if not isinstance(size, int)]
    step.refuse_unless(
        len(places) == 1 and len(shape) == len(sizes) and shape[places[0]] == 1,
        "expanding a tensor constant to a dynamic size is only supported along the batch axis",
    )
    (place,) = places
    # A size of 1 in the shape leaves that axis of the constant as it is.
    full = np.broadcast_shapes(shape, [1 if at == place else size for at, size in enumerate(sizes)])
    step.budget.check(math.prod(full))
    constant = ConstantValue(np.broadcast_to(x.array, full), x.source)
    batch = (Atom(sizes[place], "N"),)
    layout = tuple(batch if at == place else axis_for(size) for at, size in enumerate(full))
    return RepeatedConstant(layout, constant=constant, order=(*batch, *atoms_of(layout[:place] + layout[place + 1 :])))


@operator("Trilu")
def triangle(step: OperatorContext, x: Any, shift: Any = None) -> Operand:
    """A row sees itself and those before."""
    fits = isinstance(x, DynamicConstant) and x.number != 0 and not step.attribute("upper", 1)
    fits = fits and len(x.layout) > 1 and x.layout[-1] == x.layout[-2] != ()
    shifted = shift is not None and step.numbers(shift, "shift").number != 0
    step.refuse_unless(fits and not shifted, "Trilu is only supported in causal masks")
    return Mask(x.layout, causal=True)


@operator("Pad")
def pad(step: OperatorContext, x: Any, pads: Any = None, value: Any = None, axes: Any = None) -> Operand:
    """Padding of rows; zero padding of images is absorbed by the following convolution or pooling."""
    view = step.view(x)
    rank = len(view.layout)
    counts = step.listed("pads", pads)
    names = list(range(rank)) if axes is None else [step.axis(one, rank) for one in step.integers(axes, "axes")]
    step.refuse_unless(len(counts) == 2 * len(names), "`pads` must have two values per axis")
    mode = step.attribute("mode", "constant")
    around = dict.fromkeys(range(rank), (0, 0))
    around |= {axis: (counts[place], counts[place + len(names)]) for place, axis in enumerate(names)}
    if all(one == (0, 0) for one in around.values()):
        return view
    step.refuse_unless(mode in ("constant", "edge", "reflect"), f"mode `{mode}` is not supported")
    lead = step.lead(view)
    grows = all(isinstance(one, int) and one >= 0 for pair in around.values() for one in pair)
    grows = grows and all(around[axis] == (0, 0) for axis in range(lead))
    step.refuse_unless(grows, "negative padding and padding of the batch or time axis are not supported")
    if mode != "constant":
        return step.padded(view, [around[axis] for axis in range(lead, rank)], mode=mode.upper())
    given = step.attribute("value", 0.0) if value is None else step.numbers(value, "value").number
    number = needed(given, "the padding value must be a scalar")
    if lead > 1 or around[lead] != (0, 0):
        return step.padded(view, [around[axis] for axis in range(lead, rank)], value=number or None)
    return PaddedView(view.layout, view=view, pads=tuple(around[axis] for axis in range(lead + 1, rank)), number=number)
