"""ScatterND and ScatterElements, which replace elements of each sample at constant indices, and OneHot."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .layers import LayerOutput, NotSupported
from .operators import OperatorContext, RowView, operator
from .parts import constant_of_samples, cut
from .selections import MOST_INDICES, OTHER_SAMPLES, as_constant, compare, places_of
from .sizes import whole
from .symbolic_values import ConstantValue, Operand, RepeatedConstant, View, atoms_of, size_of


@operator("ScatterND")
def scatter_nd(step: OperatorContext, x: Any, index: Any, updates: Any) -> Operand:
    """Elements or rows replaced at indices that name the sample first."""
    view = step.view(x)
    _, places, sizes = places_of(step, view, index)
    count = len(places) + 1
    starts = _block(places)
    given = constant_of_samples(step, as_constant(updates), view)
    if starts is not None and step.attribute("reduction", "none") == "none":
        axes = range(1, count)
        inside = all(start + given.shape[at] <= view.shape[at] for at, start in zip(axes, starts, strict=True))
        fits = len(given.layout) == len(view.layout) and given.shape[count:] == view.shape[count:] and inside
        step.refuse_unless(fits, "the updates have other axes than the indices")
        return _pasted(step, view, given, starts, 1)
    return _replaced(step, view, count, np.ravel_multi_index(places, sizes), updates)


def _block(places: tuple[NDArray[Any], ...]) -> list[int] | None:
    """Where a block of adjacent elements begins, as in an assignment to a slice; None for other indices."""
    if len(places) != places[0].ndim - 1 or not places[0].size:
        return None
    starts = [int(at.reshape(-1)[0]) for at in places]
    own = zip(places, starts, np.indices(places[0].shape[1:]), strict=True)
    return starts if all((at[0] == start + grid).all() for at, start, grid in own) else None


def _pasted(step: OperatorContext, view: View, given: View, starts: list[int], axis: int) -> View:
    """The value with a block of other elements: what is before and after it along each axis stays."""
    if axis > len(starts):
        return given
    start, part, size = starts[axis - 1], whole(given.shape[axis]), whole(view.shape[axis])
    sizes = [one for one in (start, part, size - start - part) if one]
    parts = cut(step, view, axis, sizes) if len(sizes) > 1 else [view]
    place = 1 if start else 0
    parts[place] = _pasted(step, parts[place], given, starts, axis + 1)
    if len(parts) == 1:
        return parts[0]
    rows = [step.rows(one) for one in parts]
    made = step.layer("concat", *(one.value for one in rows), axis=step.axis_of_row(axis, rows[0]), suffix="parts")
    return step.made(made.outputs[0], rows[0])


@operator("ScatterElements")
def scatter_elements(step: OperatorContext, x: Any, index: Any, updates: Any) -> Operand:
    """Elements replaced at indices along an axis, the same for every sample."""
    view = step.view(x)
    axis = step.axis(step.attribute("axis", 0), len(view.layout))
    index = as_constant(index)
    array = index.sample() if isinstance(index, RepeatedConstant) else index
    if not isinstance(array, ConstantValue) or axis == 0 or array.array.shape[0] != 1:
        raise NotSupported(OTHER_SAMPLES)
    dims, numbers = [whole(size) for size in view.shape[1:]], array.array[0]
    fits = numbers.ndim == len(dims) and all(
        size <= own for at, (size, own) in enumerate(zip(numbers.shape, dims, strict=True)) if at != axis - 1
    )
    inside = fits and ((numbers >= -dims[axis - 1]) & (numbers < dims[axis - 1])).all()
    step.refuse_unless(inside, "an index is out of range")
    places = list(np.indices(numbers.shape))
    places[axis - 1] = numbers % dims[axis - 1]
    return _replaced(step, view, len(view.layout), np.ravel_multi_index(tuple(places), tuple(dims)), updates)


def _replaced(step: OperatorContext, view: View, count: int, offsets: NDArray[Any], updates: Any) -> View:
    """The value and the updates in one row, from which each element is chosen; of equal indices the last one counts."""
    step.refuse_unless(step.attribute("reduction", "none") == "none", "only replacing elements is supported")
    joined = replace(view, layout=(view.layout[0], atoms_of(view.layout[1:count]), *view.layout[count:]))
    size = math.prod(whole(one) for one in view.shape[1:count])
    step.refuse_unless(size <= MOST_INDICES, f"{size} elements are too many, the limit is {MOST_INDICES}")
    given = constant_of_samples(step, as_constant(updates), view)
    axes = len(given.layout) - (len(view.layout) - count)
    fits = given.shape[0] == view.shape[0] and given.shape[axes:] == view.shape[count:]
    fits = fits and offsets.shape in (given.shape[1:axes], (1, *given.shape[1:axes]))
    step.refuse_unless(fits, "the updates have other axes than the indices")
    rows = step.rows(joined)
    new = step.rows(replace(given, layout=(given.layout[0], atoms_of(given.layout[1:axes]), *given.layout[axes:])))
    both = [_in_one_axis(step, one) for one in (rows, new)]
    chosen = np.arange(size)
    chosen[offsets.reshape(-1)] = size + np.arange(offsets.size)
    value = step.layer("concat", *both, suffix="parts").outputs[0]
    value = step.layer("gather", value, indices=[int(one) for one in chosen]).outputs[0]
    return replace(view, value=value, order=(*rows.view.rows, *atoms_of(view.layout[1:])), factor=1.0)


def _in_one_axis(step: OperatorContext, rows: RowView) -> LayerOutput:
    """The value with the axes of the view: the replaced elements along the first one."""
    dims = [size_of(axis) for axis in rows.view.layout[1:]]
    value = rows.value
    return value if list(value.dims) == dims else step.layer("reshape", value, dims=dims, suffix="flat").outputs[0]


@operator("OneHot")
def one_hot(step: OperatorContext, x: Any, depth: Any, values: Any) -> Operand:
    """A comparison with every index; negative ones count from the end, and others out of range hit none."""
    view, (count,) = step.view(x), step.integers(depth, "depth")[:1]
    view = step.floats(view) if view.value.type.kind == "INT" else view
    off, on = (float(one) for one in step.numbers(values, "values").array.reshape(-1)[:2])
    axis = step.axis(step.attribute("axis", -1), len(view.layout) + 1)
    step.refuse_unless(axis >= step.lead(view), "an axis before the batch is not supported")
    wide = replace(view, layout=(*view.layout[:axis], (), *view.layout[axis:]))
    numbers = np.arange(count, dtype=np.float32).reshape(-1, *(1,) * (len(view.layout) - axis))
    hits = [step.view(compare(step, "EQUAL", wide, ConstantValue(numbers - shift))) for shift in (0, count)]
    found = replace(hits[0], value=step.layer("addto", *(one.value for one in hits)).outputs[0], factor=on - off)
    return step.each("slope_intercept", found, intercept=off) if off else found
