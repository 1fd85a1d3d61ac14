"""Comparisons, logic and selections of values, such as the masks of attention over a fixed number of tokens.

Booleans are 0 or 1 here. Elements that are chosen by the number of the sample are chosen within the sample.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .layers import LayerOutput, NotSupported
from .operators import OperatorContext, RowView, described, operator
from .parts import constant_rows
from .shapes import repeated, repeated_axes
from .sizes import whole
from .symbolic_values import (
    Axis,
    ConstantValue,
    DynamicConstant,
    ElementIndices,
    Layout,
    Operand,
    RepeatedConstant,
    SampleIndices,
    View,
    atoms_of,
    axis_for,
    of_one_batch,
    size_of,
)

FLIPPED = {"EQUAL": "EQUAL", "NOT_EQUAL": "NOT_EQUAL", "LESS": "GREATER", "LESS_EQUAL": "GREATER_EQUAL",
           "GREATER": "LESS", "GREATER_EQUAL": "LESS_EQUAL"}  # fmt: skip
"""Comparisons with their operands exchanged."""
COMPARISONS = {"Equal": "EQUAL", "Less": "LESS", "LessOrEqual": "LESS_EQUAL", "Greater": "GREATER",
               "GreaterOrEqual": "GREATER_EQUAL"}  # fmt: skip


def is_value(given: Any) -> bool:
    """Whether something has a value for each element of a sample: not single ids, nor the ids of sequences."""
    return isinstance(given, View) and (given.value.type.kind != "INT" or bool(given.value.dims))


def as_constant(given: Any) -> Any:
    """Numbers that are the same for every sample as a constant, with an axis of size 1 for the batch."""
    if isinstance(given, RepeatedConstant):
        return given.sample() or given
    if not isinstance(given, DynamicConstant) or not isinstance(given.number, (int, float)):
        return given
    sizes = [1 if any(atom.name for atom in axis) else whole(size_of(axis)) for axis in given.layout]
    return ConstantValue(np.broadcast_to(np.float32(given.number), sizes))


def together(step: OperatorContext, *given: Any) -> tuple[RowView, list[LayerOutput]]:
    """Values and constants broadcast to one shape: the axes, and the values of layers."""
    operands = [as_constant(one) for one in given]
    views = [step.view(one) if not isinstance(one, ConstantValue) else one for one in operands]
    rank = max(len(one.layout) if isinstance(one, View) else one.array.ndim for one in views)
    views = of_one_batch(*views)
    like = next((one for one in views if isinstance(one, View)), None)
    if like is None:
        raise NotSupported(f"inputs are {described(given[0])}, expected the output of a layer")
    wide = [_of_rank(one, rank) for one in views]
    shapes = [one.shape if isinstance(one, View) else one.array.shape for one in wide]
    full = [next((size for size in sizes if size != 1), 1) for sizes in zip(*shapes, strict=True)]
    fits = all(size in (1, full[axis]) for shape in shapes for axis, size in enumerate(shape))
    step.refuse_unless(fits, f"cannot broadcast shapes {' and '.join(str(tuple(shape)) for shape in shapes)}")
    rows = [_repeated(step, one, full) for one in wide if isinstance(one, View)]
    first = rows[0]
    step.refuse_unless(all(one.lead == first.lead for one in rows), "inputs have different batch or time axes")
    left = iter(rows)
    values = []
    for one in wide:
        if isinstance(one, View):
            values.append(next(left).value)
            continue
        count = len(first.lead)
        step.refuse_unless(math.prod(one.array.shape[:count]) == 1, "a different constant per sample is not supported")
        dims = [whole(size) for size in full[count:]]
        step.budget.check(math.prod(dims))
        numbers = np.broadcast_to(one.array.reshape(one.array.shape[count:]), dims)
        # A single number, such as minus infinity of a mask, is no parameter, wherever exporters store it.
        source = one.source if one.number is None else ()
        values.append(constant_rows(step, ConstantValue(numbers, source), first.value))
    return first, values


def _of_rank(given: Any, rank: int) -> Any:
    if isinstance(given, View):
        return replace(given, layout=(((),) * (rank - len(given.layout)) + given.layout))
    return ConstantValue(given.array.reshape((1,) * (rank - given.array.ndim) + given.array.shape), given.source)


def _repeated(step: OperatorContext, view: View, full: Sequence[Any]) -> RowView:
    counts = [
        size if own == 1 and not axis else 1 for own, axis, size in zip(view.shape, view.layout, full, strict=True)
    ]
    step.refuse_unless(all(isinstance(one, int) for one in counts), "an input without a batch axis is not supported")
    return step.rows(view if all(one == 1 for one in counts) else repeated_axes(step, view, counts))


def compare(step: OperatorContext, operation: str, x: Any, y: Any) -> Operand:
    """1 where the comparison is true, else 0."""
    x, y = as_constant(x), as_constant(y)
    if isinstance(x, ConstantValue):
        x, y, operation = y, x, FLIPPED[operation]
    number = y.number if isinstance(y, ConstantValue) else None
    if number is not None and isinstance(y, ConstantValue) and y.array.ndim <= len(step.view(x).layout):
        return step.each("compare", step.view(x), operation=operation, value=number)
    rows, (one, other) = together(step, x, y)
    return step.made(step.layer("compare", one, other, operation=operation).outputs[0], rows)


def truth(step: OperatorContext, given: Any, place: int) -> Any:
    """A Boolean operand: 0 or 1 for each element."""
    given = as_constant(given)
    step.refuse_unless(not isinstance(given, View) or step.kinds[place] == "b", "the input is not Boolean")
    return given


def negation(step: OperatorContext, x: View) -> Operand:
    """1 where it is 0."""
    plain = step.plain(x)
    made = step.layer("slope_intercept", plain.value, slope=-1.0, intercept=1.0)
    return replace(plain, value=made.outputs[0])


def logic(step: OperatorContext, x: Any, y: Any) -> Operand:
    """Conjunction and disjunction of Booleans, at least one of which is a value."""
    rows, values = together(step, truth(step, x, 0), truth(step, y, 1))
    operation = {"And": "MIN", "Or": "MAX"}[step.node.operator]
    return step.made(step.layer("eltwise", *values, operation=operation).outputs[0], rows)


def select(step: OperatorContext, condition: Any, x: Any, y: Any) -> Operand:
    """`x` where the condition is true, else `y`."""
    condition, x, y = (as_constant(one) for one in (condition, x, y))
    number = y.number if isinstance(y, ConstantValue) else None
    inside = isinstance(y, ConstantValue) and y.array.ndim <= max(_rank(condition), _rank(x))
    if number is not None and inside:
        rows, values = together(step, condition, x)
        made = step.layer("where", *values, value=number)
    else:
        rows, values = together(step, condition, x, y)
        made = step.layer("where", *values)
    return step.made(made.outputs[0], rows)


def _rank(given: Any) -> int:
    return given.array.ndim if isinstance(given, ConstantValue) else len(given.layout)


@operator("Xor")
def unequal(step: OperatorContext, x: Any, y: Any) -> Operand:
    """1 where one of two Booleans is true, but not both."""
    return compare(step, "NOT_EQUAL", truth(step, x, 0), truth(step, y, 1))


@operator("IsNaN")
def is_nan(step: OperatorContext, x: Any) -> Operand:
    """NaN is the only number that is not equal to itself; none in attention over steps, where there always is a key."""
    if not is_value(x):
        return DynamicConstant(x.layout)
    plain = step.plain(x)
    made = step.layer("compare", plain.value, plain.value, operation="NOT_EQUAL")
    return replace(plain, value=made.outputs[0])


@operator("GatherElements", constants=True)
def gather_elements(step: OperatorContext, x: Any, index: Any) -> Operand:
    """Elements chosen by indices for each place; of one number everywhere, that number."""
    if isinstance(x, View):
        return _elements(step, step.view(x), index)
    given = as_constant(x)
    number = given.number if isinstance(given, ConstantValue) else None
    if isinstance(given, ConstantValue) and given.array.size and (given.array == given.array.reshape(-1)[0]).all():
        number = float(given.array.reshape(-1)[0])
    step.refuse_unless(
        number is not None and isinstance(index, (View, RepeatedConstant)),
        "only a constant of equal elements is supported",
    )
    rank = len(index.layout)
    return repeated(step, ConstantValue(np.full((1,) * rank, number, given.array.dtype)), list(index.shape))


OTHER_SAMPLES = "only constant indices within each sample are supported"
MOST_INDICES = 1 << 18
"""Maximum number of indices that a layer lists: about 2 MiB of the config."""


def _elements(step: OperatorContext, view: View, index: Any) -> View:
    """Elements of a value at the same places in every sample, as relative positions choose attention scores."""
    batch, *inside = view.order
    step.refuse_unless(
        isinstance(index, RepeatedConstant) and view.layout[0][:1] == (batch,) and not any(one.name for one in inside),
        "only the same indices for every sample are supported",
    )
    axis = step.axis(step.attribute("axis", 0), len(view.layout))
    step.refuse_unless(axis > 0, "elements of other samples are not supported")
    apart = replace(view, layout=(view.layout[0][:1], view.layout[0][1:], *view.layout[1:]))
    own = replace(index, layout=(index.layout[0][:1], index.layout[0][1:], *index.layout[1:])).sample()
    rows = step.rows(apart)
    dims = rows.value.dims
    fits = own is not None and own.array.ndim == len(dims) + 1 and index.shape[0] == view.shape[0]
    step.refuse_unless(fits, "the indices have other axes than the value")
    assert own is not None
    places = own.array[0]
    if index.layout[0] == index.order[:1]:  # the same for all that shares the axis of the batch, such as heads
        places = np.broadcast_to(places, (dims[0], *places.shape[1:]))
    step.refuse_unless(places.shape[0] == dims[0], "the indices have other axes than the value")
    fits = all(a <= b for at, (a, b) in enumerate(zip(places.shape, dims, strict=True)) if at != axis)
    step.refuse_unless(fits and ((places >= -dims[axis]) & (places < dims[axis])).all(), "an index is out of range")
    # What does not depend on the first axes, such as heads, is a separate axis: the indices are listed once.
    lead = 0
    while (
        lead < axis
        and places.shape[lead] == dims[lead]
        and (places == places[(slice(None),) * lead + (slice(1),)]).all()
    ):
        lead += 1
    places = places[(0,) * lead] % dims[axis]
    step.refuse_unless(places.size <= MOST_INDICES, f"{places.size} indices are too many, the limit is {MOST_INDICES}")
    flat = np.arange(math.prod(dims[lead:])).reshape(dims[lead:])
    flat = flat[tuple(slice(None) if at == axis - lead else slice(size) for at, size in enumerate(places.shape))]
    wanted = [int(one) for one in np.take_along_axis(flat, places, axis - lead).reshape(-1)]
    value = step.layer("reshape", rows.value, dims=[*dims[:lead], math.prod(dims[lead:])], suffix="flat").outputs[0]
    value = step.layer("gather", value, indices=wanted, axis=lead + 1 if lead else None).outputs[0]
    value = step.layer("reshape", value, dims=[*dims[:lead], *places.shape], suffix="shape").outputs[0]
    made = step.made(value, rows)
    first, second, *others = made.layout
    return replace(made, layout=((*first, *second), *others))


# ---- elements within the sample


def indices_of_samples(step: OperatorContext, type_: str, x: SampleIndices, y: Any) -> SampleIndices:
    """Sums and products of the number of the sample with constants."""
    given = step.integers(ConstantValue(y.array.reshape(-1)), "operand") if isinstance(y, ConstantValue) else None
    if given is None or not all(isinstance(one, int) for one in given):
        raise NotSupported("the number of the sample is only supported with constant integers")
    if type_ == "mul":
        step.refuse_unless(len(given) == 1 and not x.offsets.any(), "only a scalar factor is supported")
        return replace(x, stride=x.stride * given[0])
    array = y.array if type_ == "add" else -y.array
    rank = max(len(x.layout), array.ndim)
    layout = ((),) * (rank - len(x.layout)) + x.layout
    own = array.reshape((1,) * (rank - array.ndim) + array.shape)
    batch = next(place for place, axis in enumerate(layout) if any(atom.name for atom in axis))
    step.refuse_unless(own.shape[batch] == 1, "a different constant per sample is not supported")
    offsets = x.offsets.reshape((1,) * (rank - x.offsets.ndim) + x.offsets.shape) + own
    axes = [axis if place == batch else axis_for(offsets.shape[place]) for place, axis in enumerate(layout)]
    return SampleIndices(tuple(axes), stride=x.stride, offsets=offsets)


def spread(index: SampleIndices, sizes: Sequence[Any]) -> Layout | None:
    """The axes of indices that are broadcast to sizes; None if a size is of the batch, or the indices have offsets."""
    rank = max(len(index.layout), len(sizes))
    own: Layout = ((),) * (rank - len(index.layout)) + index.layout
    wide = [1] * (rank - len(sizes)) + list(sizes)
    pairs = list(zip(own, wide, strict=True))
    fits = all(size in (1, size_of(axis)) if axis else isinstance(size, int) for axis, size in pairs)
    return tuple(axis or axis_for(size) for axis, size in pairs) if fits and not index.offsets.ndim else None


def elements_of_each_sample(source: View | RepeatedConstant, index: ConstantValue) -> ElementIndices | None:
    """Constant indices of a model of fixed batch size: the number of the sample, then the same for every sample."""
    array, batch = index.array, source.shape[0]
    numbers = np.arange(batch if isinstance(batch, int) else 0).reshape(-1, *(1,) * (array.ndim - 2))
    if array.ndim < 2 or array.shape[0] != batch or not (array[..., 0] == numbers).all():
        return None
    if not (array[..., 1:] == array[:1, ..., 1:]).all():
        return None
    layout = (source.layout[0], *map(axis_for, array.shape[1:]))
    return ElementIndices(layout, parts=tuple(np.moveaxis(array[:1, ..., 1:], -1, 0)))


def places_of(
    step: OperatorContext, source: View | RepeatedConstant, index: Any
) -> tuple[ElementIndices, tuple[NDArray[Any], ...], tuple[int, ...]]:
    """Indices by the number of the sample and constants: for each axis of a sample, and the sizes of these axes."""
    index = elements_of_each_sample(source, index) if isinstance(index, ConstantValue) else index
    if not isinstance(index, ElementIndices) or not index.parts:
        raise NotSupported(OTHER_SAMPLES)
    sizes = tuple(whole(size) for size in source.shape[1 : len(index.parts) + 1])
    places = np.broadcast_arrays(*index.parts)
    fits = len(sizes) == len(places)
    fits = fits and all(((at >= -size) & (at < size)).all() for at, size in zip(places, sizes, strict=True))
    step.refuse_unless(fits, "an index is out of range, or the indices have more axes than the value")
    return index, tuple(at % size for at, size in zip(places, sizes, strict=True)), sizes


@operator("GatherND")
def gather_nd(step: OperatorContext, x: Any, index: Any) -> Operand:
    """Elements of several axes, by the number of the sample and constants."""
    source = x if isinstance(x, RepeatedConstant) else step.view(x)
    step.refuse_unless(not step.attribute("batch_dims", 0), OTHER_SAMPLES)
    found, places, sizes = places_of(step, source, index)
    count = len(places) + 1
    joined = replace(source, layout=(atoms_of(source.layout[:count]), *source.layout[count:]))
    offsets = np.ravel_multi_index(places, sizes)
    return within_sample(step, joined, SampleIndices(found.layout[:-1], stride=math.prod(sizes), offsets=offsets))


def within_sample(step: OperatorContext, view: View | RepeatedConstant, index: SampleIndices) -> Operand:
    """Elements of the first axis, which are counted through all samples, by indices that stay in the sample."""
    first, *others = view.layout
    inside = first[1:]
    fits = (
        bool(first)
        and first[0].name == "N"
        and not any(atom.name for atom in inside)
        and [atom.name for atom in view.order if atom.name] == ["N"]
    )
    step.refuse_unless(
        fits and size_of(inside) == index.stride, "elements are chosen by the number of the sample among other elements"
    )
    offsets = np.broadcast_to(
        index.offsets, [1 if any(atom.name for atom in axis) else whole(size_of(axis)) for axis in index.layout]
    )
    size = whole(size_of(inside))
    step.refuse_unless(((offsets >= 0) & (offsets < size)).all(), "elements of other samples are not supported")
    if isinstance(view, RepeatedConstant):
        sample = replace(view, layout=(first[:1], inside, *others)).sample()
        step.refuse_unless(sample is not None and index.layout[0] != (), "the batch axis must come first")
        assert sample is not None
        return repeated(
            step, ConstantValue(sample.array[0][offsets]), [first[0].size, *offsets.shape[1:], *sample.array.shape[2:]]
        )
    rows = step.rows(replace(view, layout=(first[:1], inside, *others)))
    value = rows.value
    wanted = [int(one) for one in offsets.reshape(-1)]
    if wanted != list(range(size)):
        value = step.layer("gather", value, indices=wanted).outputs[0]
    axes: list[Axis] = [axis_for(offsets.shape[place]) for place in range(offsets.ndim)]
    rest = tuple(axis_for(size_of(axis)) for axis in others)
    batch = next(place for place, axis in enumerate(index.layout) if any(atom.name for atom in axis))
    order = (*rows.view.rows, *atoms_of(tuple(axes)), *atoms_of(rest))
    layout = tuple((first[0],) if place == batch else axis for place, axis in enumerate(axes))
    return View((*layout, *rest), value=value, order=order)
