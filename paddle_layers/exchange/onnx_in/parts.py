"""Operators that join and cut axes: Concat, Split and Slice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .layers import ImportedLayer, LayerOutput, NotSupported, weight
from .operators import (
    KNOWN,
    OperatorContext,
    described,
    memory_order,
    operator,
    reordered,
    restored,
    view_of,
)
from .sequence_rows import end_row, steps_of
from .sizes import divided, product_of, whole
from .symbolic_values import (
    ConstantValue,
    DynamicConstant,
    ElementIndices,
    Layout,
    Operand,
    PositionLookup,
    RepeatedConstant,
    ReversedSequence,
    SampleIndices,
    StepPositions,
    ValueList,
    View,
    atoms_of,
    axis_for,
    of_one_batch,
    size_of,
)

BEHIND = 1_000_000_000
"""End of an axis: exporters write this value or larger ones."""
MOST_PARTS = 8
"""Maximum number of equal parts for which a slice becomes an output of a split."""


def constant_of_samples(step: OperatorContext, given: Any, like: View) -> View:
    """A constant part as a layer, with the batch of another part; it is trained."""
    sample: Any = given
    if isinstance(given, View):
        return given
    if isinstance(given, RepeatedConstant):
        sample = given.sample() if given.shape[:1] == like.shape[:1] else None
    if not isinstance(sample, ConstantValue) or sample.array.ndim != len(like.layout) or sample.array.shape[0] != 1:
        return step.view(given)
    constant = step.numbers(sample, "input")
    lead = like.layout[: step.lead(like)]
    step.refuse_unless(len(lead) == 1, "a constant part of sequences is not supported")
    dims = constant.array.shape[1:]
    made = constant_rows(step, ConstantValue(constant.array.reshape(dims), constant.source), like.value)
    return view_of(made, like.rows, lead)


def constant_rows(step: OperatorContext, constant: ConstantValue, like: LayerOutput) -> LayerOutput:
    """A constant as a value, with as many rows as another one."""
    # The layer has no scalars.
    dims = constant.array.shape or (1,)
    weights = {"weight": weight(constant.array.reshape(dims), constant.source)}
    made = step.layer("parameter", like, weights=weights, shape=list(dims), suffix="constant")
    return made.outputs[0] if constant.array.shape else step.layer("reshape", made.outputs[0], dims=[]).outputs[0]


@operator("Concat", constants=True)
def concat(step: OperatorContext, *parts: Any) -> Operand:
    """Concatenation along the channels."""
    if isinstance(parts[0], SampleIndices):
        return _element_indices(step, parts[0], parts[1:])
    given = [step.settled(part) for part in parts]
    # What is left of an axis may be nothing, as after the rotated columns of queries.
    given = [part for part in given if not (isinstance(part, ConstantValue) and not part.array.size)] or given
    like = next((part for part in given if isinstance(part, View)), None)
    if like is None:
        raise NotSupported(f"input is {described(given[0])}, expected the output of a layer")
    views = of_one_batch(*(constant_of_samples(step, part, like) for part in given))
    axis = step.axis(step.attribute("axis", 0), len(views[0].layout))
    order = memory_order(views[0])
    ranks = {len(view.layout) for view in views}
    step.refuse_unless(ranks == {len(order)}, "inputs have different numbers of axes")
    rows = [step.rows(reordered(view, order)) for view in views]
    first, axis = rows[0], order.index(axis)
    for one in rows[1:]:
        same_rows = first.view.rows == one.view.rows and len(first.lead) == len(one.lead)
        step.refuse_unless(same_rows and first.lead == one.lead, "inputs have different batch or time axes")
    made = step.layer("concat", *(one.value for one in rows), axis=step.axis_of_row(axis, first))
    return restored(step.made(made.outputs[0], first), order)


def _element_indices(step: OperatorContext, samples: SampleIndices, others: Sequence[Any]) -> ElementIndices:
    """The number of the sample, and constant indices of other axes."""
    found: list[Any] = []
    for one in others:
        constant = one.sample() if isinstance(one, RepeatedConstant) else one
        if not isinstance(constant, ConstantValue) or constant.array.dtype.kind != "i":
            raise NotSupported("indices must be constant")
        step.refuse_unless(constant.array.ndim == len(samples.layout), "indices have different axes")
        found += list(np.moveaxis(constant.array, -1, 0))
    step.refuse_unless(
        step.axis(step.attribute("axis", 0), len(samples.layout)) == len(samples.layout) - 1
        and samples.layout[-1] == ()
        and samples.stride == 1
        and not samples.offsets.any(),
        "the number of the sample must come first",
    )
    return ElementIndices((*samples.layout[:-1], axis_for(len(found) + 1)), parts=tuple(found))


@operator("SequenceEmpty", "SequenceConstruct", constants=True)
def list_of(_: OperatorContext, *items: Any) -> Operand:
    """A list of values, as exporters write those of Python."""
    return ValueList((), items=items)


@operator("SequenceInsert")
def insert(step: OperatorContext, x: Any, item: Any, place: Any = None) -> Operand:
    """A list with one item more, by default at the end."""
    items, at = _items(step, x, place, default=len(getattr(x, "items", ())))
    return ValueList((), items=(*items[:at], item, *items[at:]))


@operator("SequenceAt")
def item_at(step: OperatorContext, x: Any, place: Any) -> Operand:
    """An item of a list."""
    items, at = _items(step, x, place)
    step.refuse_unless(at < len(items), f"index {at} is out of range for a list of {len(items)} values")
    found: Operand = items[at]
    return found


def _items(step: OperatorContext, x: Any, place: Any, default: int = 0) -> tuple[tuple[Any, ...], int]:
    step.refuse_unless(isinstance(x, ValueList), f"input is {described(x)}, expected a list of values")
    (at,) = [default] if place is None else step.integers(place, "index")
    fits = isinstance(at, int) and -len(x.items) <= at <= len(x.items)
    step.refuse_unless(fits, f"index {at} is out of range for a list of {len(x.items)} values")
    return x.items, at + len(x.items) if at < 0 else at


@operator("Split")
def split(step: OperatorContext, x: Any, sizes: Any = None) -> Any:
    """Channels apart."""
    view = step.view(x)
    axis = step.axis(step.attribute("axis", 0), len(view.layout))
    count = len(step.node.outputs)
    total = size_of(view.layout[axis])
    step.refuse_unless(isinstance(total, int), "Split along the batch or time axis is not supported")
    given = step.listed("split", sizes)
    if given is None:
        part = -(-whole(total) // count)
        given = [part] * (count - 1) + [whole(total) - part * (count - 1)]
    fits = len(given) == count and all(isinstance(one, int) and one > 0 for one in given)
    step.refuse_unless(
        fits and sum(given) == total, f"split sizes {given} do not match {count} outputs of an axis of size {total}"
    )
    return tuple(cut(step, view, axis, given))


def cut(step: OperatorContext, view: View, axis: int, sizes: list[int]) -> list[View]:
    """A view cut along an axis of its rows; parts of a `concat` are what was joined."""
    joined = _parts(view, axis, sizes)
    if joined is not None:
        return joined
    plain = step.plain(view)
    outer = plain.inside[: len(plain.layout[axis])]
    if outer == plain.layout[axis] and outer:
        inner = whole(product_of(atom.size for atom in plain.inside[len(outer) :]))
        value = plain.value
        flat = len(value.dims) > 1 and value.dims[0] != size_of(outer)
        if flat:
            flattened = step.known.get(("flat", value)) or step.layer("flatten", value, suffix="flat")
            step.known["flat", value] = flattened
            value = flattened.outputs[0]
        scale = inner if len(value.dims) == 1 else 1
        made = _sliced_once(step, value, [one * scale for one in sizes])
        return [_part(plain, axis, one, size) for one, size in zip(made.outputs, sizes, strict=True)]
    at = _run_of(plain, axis)
    if at is not None:
        return _cut_in_memory_order(step, plain, axis, at, sizes)
    rows = step.rows(plain)
    made = _sliced_once(step, rows.value, sizes, step.axis_of_row(axis, rows))
    return [step.made(one, rows) for one in made.outputs]


def _run_of(view: View, axis: int) -> int | None:
    """Where the atoms of an axis are in a row, if its axes are permuted; None if they are not, or are apart."""
    run, inside = view.layout[axis], view.inside
    if not run or atoms_of(view.layout) == view.order:
        return None
    places = range(len(inside) - len(run) + 1)
    return next((place for place in places if inside[place : place + len(run)] == run), None)


def _cut_in_memory_order(step: OperatorContext, view: View, axis: int, at: int, sizes: list[int]) -> list[View]:
    """Parts along an axis that has elements before and after it, without a permutation: query, key and value."""
    run = view.layout[axis]
    dims = [whole(size_of(part)) for part in (view.inside[:at], run, view.inside[at + len(run) :])]
    value = view.value
    if list(value.dims) != dims:
        made = step.known.get(("shape", value, *dims)) or step.layer("reshape", value, dims=dims, suffix="shape")
        step.known["shape", value, *dims] = made
        value = made.outputs[0]
    return [
        _part(view, axis, one, size)
        for one, size in zip(_sliced_once(step, value, sizes, 2).outputs, sizes, strict=True)
    ]


def _sliced_once(step: OperatorContext, value: LayerOutput, sizes: list[int], axis: int | None = None) -> ImportedLayer:
    """Nodes that each take a part make one layer."""
    found: ImportedLayer | None = step.known.get(("slice", value, axis, *sizes))
    if found is None:
        settings: dict[str, Any] = {"parts": len(sizes)} if len(set(sizes)) == 1 else {"sizes": sizes}
        found = step.known["slice", value, axis, *sizes] = step.layer("slice", value, axis=axis, **settings)
    elif step.node.place not in found.nodes:
        found.nodes = (*found.nodes, step.node.place)
    return found


def _part(view: View, axis: int, value: LayerOutput, size: int) -> View:
    """A part with the atoms of the whole, but the one along which it was cut."""
    new, old = axis_for(size), view.layout[axis]
    at = view.order.index(old[0])
    order = (*view.order[:at], *new, *view.order[at + len(old) :])
    layout = tuple(new if place == axis else one for place, one in enumerate(view.layout))
    return replace(view, value=value, order=order, layout=layout)


def _parts(view: View, axis: int, sizes: list[int]) -> list[View] | None:
    """The parts of a `concat`, if it is split at the same positions."""
    layer = view.value.layer
    if (
        layer.type != "concat"
        or view.layout[axis] != view.inside[: len(view.layout[axis])]
        or "act" in layer.attributes
    ):
        return None
    joined = size_of(view.layout[axis])
    if any(len(one.dims) != 1 for one in layer.inputs):
        return None
    share = divided(view.value.dims[0], joined)
    if share is None or [size * share for size in sizes] != [one.dims[0] for one in layer.inputs]:
        return None
    return [_part(view, axis, one, size) for one, size in zip(layer.inputs, sizes, strict=True)]


@operator("Slice", constants=True)
def slice_(step: OperatorContext, x: Any, *given: Any) -> Any:
    """A run of channels, the first or the last row of sequences, or a table's rows for the places in a sequence."""
    names = ("starts", "ends", "axes", "steps")
    starts, ends, axes, steps = (
        step.listed(name, given[place] if place < len(given) else None) for place, name in enumerate(names)
    )
    axes = list(range(len(starts))) if axes is None else axes
    counts = {len(one) for one in (starts, ends, axes, steps) if one is not None}
    step.refuse_unless(len(counts) == 1, "starts, ends, axes and steps must have the same length")
    if isinstance(x, ConstantValue):
        return _place_rows(step, x, starts, ends, axes)
    if any(one != 1 for one in steps or [1]):
        return _cropped(step, step.view(x), list(zip(starts, ends, axes, steps, strict=True)))
    found = x
    for start, end, axis in zip(starts, ends, axes, strict=True):
        found = _sliced(step, found, step.axis(axis, len(x.layout)), start, end)
    return found


def _cropped(step: OperatorContext, view: View, given: list[tuple[Any, ...]]) -> View:
    """A strided slice, by a separate layer."""
    order, parts = memory_order(view), []
    ordered = reordered(view, order)
    rows = step.rows(ordered)
    for start, end, axis, by in given:
        place = order.index(step.axis(axis, len(order)))
        size = ordered.shape[place]
        known = all(isinstance(one, int) for one in (start, end, by, size)) and by
        step.refuse_unless(
            known and place >= len(rows.lead), "dynamic ends and slices of the batch or time axis are not supported"
        )
        if by < 0:
            step.refuse_unless(len(given) == 1, "negative steps along several axes are not supported")
            # A backward slice to the beginning has no end that Python can write as a number.
            chosen = [*range(whole(size))][start : end if end >= -whole(size) else None : by]
            step.refuse_unless(chosen, "the slice is empty")
            at = step.axis_of_row(place, rows)
            return restored(
                step.made(step.layer("gather", rows.value, indices=chosen, axis=at).outputs[0], rows), order
            )
        first, behind = (min(max(one + size if one < 0 else one, 0), size) for one in (start, end))
        step.refuse_unless(first < behind, "the slice is empty")
        parts.append((place - len(rows.lead) + 1, first, -(-(behind - first) // by), by))
    axes, begin, sizes, steps = map(list, zip(*parts, strict=True))
    made = step.layer("crop", rows.value, axes=axes, begin=begin, sizes=sizes, steps=steps)
    return restored(step.made(made.outputs[0], rows), order)


def _place_rows(step: OperatorContext, x: ConstantValue, starts: Any, ends: Any, places: Any) -> Operand:
    moves = [
        place for place, (a, b) in enumerate(zip(starts, ends, strict=True)) if not _all_of(x, a, b, places[place])
    ]
    step.refuse_unless(
        len(moves) == 1 and starts[moves[0]] == 0,
        "only one dynamic slice from 0 along one axis of a constant is supported",
    )
    atom = steps_of(step, ends[moves[0]])
    axis = step.axis(places[moves[0]], x.array.ndim)
    before: Layout = tuple(() for size in x.array.shape[:axis])
    step.refuse_unless(
        all(size == 1 for size in x.array.shape[:axis]),
        "axes of a constant before its dynamic slice must have size 1",
    )
    table: Any = x.array.reshape(x.array.shape[axis:])
    if table.ndim == 1 and (table == np.arange(table.size)).all():
        return StepPositions((*before, (atom,)))
    step.refuse_unless(table.ndim == 2, "a position table must have two axes")
    return PositionLookup((*before, (atom,), axis_for(table.shape[-1])), table=ConstantValue(table, x.source))


def _all_of(x: ConstantValue, start: Any, end: Any, axis: int) -> bool:
    return isinstance(end, int) and start == 0 and -x.array.ndim <= axis < x.array.ndim and end >= x.array.shape[axis]


def _sliced(step: OperatorContext, x: Any, axis: int, start: Any, end: Any) -> Any:
    size = x.shape[axis]
    if start == 0 and (end == size or (isinstance(end, int) and end >= (size if isinstance(size, int) else BEHIND))):
        return x
    if isinstance(x, DynamicConstant):
        return x
    backward = isinstance(x, ReversedSequence)
    view = x.forward if backward else step.view(x)
    if any(atom.name for atom in view.layout[axis]):
        first, last = start == 0 and end == 1, start == -1 and (end == 0 or end >= BEHIND or end == size)
        last = last or (isinstance(size, int) and start == size - 1 and end >= size)
        step.refuse_unless(first or last, "only the first or last step of a sequence can be selected")
        return end_row(step, view, axis, "last" if last != backward else "first", keep=True)
    step.refuse_unless(not backward, f"input is {KNOWN[ReversedSequence]}")
    known = isinstance(start, int) and isinstance(end, int) and isinstance(size, int)
    step.refuse_unless(known, "dynamic ends of a slice are not supported")
    first, behind = (min(max(one + size if one < 0 else one, 0), size) for one in (start, end))
    if first >= behind:
        shape = [0 if place == axis else size_of(own) for place, own in enumerate(view.layout)]
        return ConstantValue(np.empty([one if isinstance(one, int) else 1 for one in shape], np.float32))
    part = behind - first
    # Exporters cut gates or heads by one Slice each: as equal parts they become a single layer.
    if size % part == 0 and first % part == 0 and size // part <= MOST_PARTS:
        return cut(step, view, axis, [part] * (size // part))[first // part]
    sizes = [one for one in (first, part, size - behind) if one]
    return cut(step, view, axis, sizes)[1 if first else 0]
