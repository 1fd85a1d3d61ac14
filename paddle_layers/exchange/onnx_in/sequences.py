"""Sequences: masks and lengths, which are not needed here, and reductions to one row each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from .layers import NotSupported
from .operators import OperatorContext, memory_order, operator, reordered, samples_first, view_of
from .selections import COMPARISONS, compare, is_value, logic, select
from .sequence_rows import broadcast, causal_of, end_row, one_row, steps_of
from .sizes import BATCH
from .symbolic_values import (
    Atom,
    AttentionScores,
    ConstantValue,
    DynamicConstant,
    EndPosition,
    IdArithmetic,
    IdMatch,
    Mask,
    Operand,
    PositionGrid,
    RepeatedConstant,
    ReversedSequence,
    SampleIndices,
    SelectedSteps,
    SequenceLengths,
    Statistic,
    StepPositions,
    View,
    atoms_of,
    is_single,
)


@operator("Range", constants=True)
def range_(step: OperatorContext, start: Any, limit: Any, delta: Any) -> Operand:
    """The numbers of the rows of sequences, or of the batch."""
    first, by = (step.numbers(one, "start").number for one in (start, delta))
    step.refuse_unless((first, by) == (0, 1), "only a range from 0 in steps of 1 is supported")
    if step.integers(limit, "limit") == [BATCH]:
        return SampleIndices(((Atom(BATCH, "N"),),))
    return StepPositions(((steps_of(step, step.integers(limit, "limit")[0]),),))


@operator("Less", "LessOrEqual", "Greater", "GreaterOrEqual", constants=True)
def compared(step: OperatorContext, x: Any, y: Any) -> Operand:
    """Mask of real rows, or of visible keys; of values, 0 or 1 for each element."""
    if is_value(x) or is_value(y):
        return compare(step, COMPARISONS[step.node.operator], x, y)
    if "Greater" in step.node.operator:
        x, y = y, x
    strict = "Equal" not in step.node.operator
    layout = broadcast(x, y)
    if isinstance(x, StepPositions) and isinstance(y, SequenceLengths) and strict:
        return Mask(layout)
    if isinstance(x, ConstantValue) and x.number == 0 and strict and isinstance(y, PositionGrid) and y.part == "causal":
        return Mask(layout, causal=True, turned=True)
    if isinstance(x, StepPositions) and isinstance(y, StepPositions) and not strict:
        return Mask(layout, causal=True)
    if _no_less(x) and isinstance(y, ConstantValue) and y.number == 0 and strict:
        return DynamicConstant(layout)
    if isinstance(x, StepPositions) and isinstance(y, ConstantValue):
        return DynamicConstant(layout, 1)  # no sequence is longer than its table
    raise NotSupported("comparisons are only supported in sequence masks")


def _no_less(given: Any) -> bool:
    """Whether something is never less than 0."""
    ids = isinstance(given, View) and given.value.type.kind == "INT"
    return ids or isinstance(given, (IdArithmetic, Mask, StepPositions))


@operator("Equal", constants=True)
def equal(step: OperatorContext, x: Any, y: Any) -> Operand:
    """Masks: the last row of a sequence, empty sequences, ids of padding."""
    if is_value(x) or is_value(y):
        return compare(step, "EQUAL", x, y)
    for one, other in ((x, y), (y, x)):
        if isinstance(one, View) and one.value.type.kind == "INT" and isinstance(other, ConstantValue):
            return _id_match(step, one, other)
        if isinstance(one, StepPositions) and isinstance(other, EndPosition):
            return Mask(broadcast(one, other), end="last" if other.last else "first")
        if isinstance(one, Mask) and isinstance(other, ConstantValue) and other.number == 0:
            return replace(one, turned=not one.turned)
        if isinstance(one, SequenceLengths) and isinstance(other, ConstantValue) and other.number == 0:
            return DynamicConstant(one.layout)
    raise NotSupported("comparisons are only supported in sequence masks")


def _id_match(step: OperatorContext, ids: View, other: ConstantValue) -> Operand:
    """Ids compared with one of them; of sequences, 0 is what fills them up."""
    number = step.integers(other, "the compared id")
    step.refuse_unless(len(number) == 1 and isinstance(number[0], int), "comparison with several ids is not supported")
    step.refuse_unless(ids.value.layer.type == "data", "comparison of computed ids is not supported")
    layout = broadcast(ids, Mask(((),) * other.array.ndim))
    # Keras masks id 0 in sequences (`mask_zero`); other comparisons select the padding row of an embedding.
    if number[0] == 0 and ids.value.level == 1:
        return Mask(layout, turned=True, ids=ids.value)
    return IdMatch(layout, ids=ids.value, number=number[0])


def _without_padding(step: OperatorContext, condition: Any, x: Any, y: Any) -> View | None:
    """Rows of an embedding that are 0 for one id; None where it is no such choice."""
    if not isinstance(condition, (Mask, IdMatch)) or condition.ids is None:
        return None
    zero, rows = (x, y) if condition.turned == isinstance(condition, Mask) else (y, x)
    if not isinstance(rows, View) or not isinstance(zero, (ConstantValue, DynamicConstant)) or zero.number != 0:
        return None
    layer, number = rows.value.layer, 0 if isinstance(condition, Mask) else condition.number
    plain = layer.type == "embedding" and layer.inputs[0] is condition.ids and "padding_id" not in layer.attributes
    if not plain or broadcast(condition, rows) != rows.layout:
        return None
    return replace(rows, value=step.again(layer, {}, padding_id=number).outputs[0])


@operator("And", constants=True)
def both(step: OperatorContext, x: Any, y: Any) -> Operand:
    """Masks together."""
    if is_value(x) or is_value(y):
        return logic(step, x, y)
    for one, other in ((x, y), (y, x)):
        true = isinstance(one, DynamicConstant) and bool(one.number)
        if true and isinstance(other, Mask):
            return replace(other, layout=broadcast(one, other))
        if true and isinstance(other, ConstantValue):
            return other
    fits = isinstance(x, Mask) and isinstance(y, Mask) and not x.turned and not y.turned
    fits = fits and not (x.end and y.end and x.end != y.end)
    step.refuse_unless(fits, "booleans are only supported in masks")
    return Mask(broadcast(x, y), causal=x.causal or y.causal, end=x.end or y.end)


@operator("Or", constants=True)
def either(step: OperatorContext, x: Any, y: Any) -> Operand:
    """Masks of padding, where Keras adds values that have one each."""
    if is_value(x) or is_value(y):
        return logic(step, x, y)
    masks = [one for one in (x, y) if isinstance(one, Mask)]
    fits = len(masks) == 2 and not any(one.causal or one.end or one.turned for one in masks)
    step.refuse_unless(fits, "booleans are only supported in masks")
    return Mask(broadcast(x, y))


@operator("Where", constants=True)
def where(step: OperatorContext, condition: Any, x: Any, y: Any) -> Operand:
    """Masked selection: values after the end of a sequence are ignored, since there is no padding."""
    rows = _without_padding(step, condition, x, y)
    if rows is not None:
        return rows
    constant = isinstance(condition, (ConstantValue, RepeatedConstant))
    if is_value(condition) or (constant and (is_value(x) or is_value(y))):
        return select(step, condition, x, y)
    if isinstance(condition, Mask) and condition.ids is not None:
        step.known[condition.ids.layer, "padding"] = True
    if isinstance(condition, Mask) and condition.turned:
        condition, x, y = replace(condition, turned=False), y, x
    if isinstance(condition, DynamicConstant):
        found: Operand = x if condition.number else y
        return found
    if isinstance(condition, ConstantValue) and isinstance(x, AttentionScores) != isinstance(y, AttentionScores):
        return _causal(step, condition, x, y)
    if (
        isinstance(condition, Mask)
        and isinstance(x, (ConstantValue, DynamicConstant))
        and isinstance(y, (ConstantValue, DynamicConstant))
    ):
        numbers = x.number, y.number
        step.refuse_unless(
            numbers[0] == 0 and (numbers[1] or 0) <= -1e4, "a mask must select 0 or a large negative value"
        )
        return condition
    step.refuse_unless(isinstance(condition, Mask), "the condition must be a mask")
    if isinstance(x, AttentionScores) and isinstance(y, ConstantValue):
        step.refuse_unless(not condition.end, "attention masks of single steps are not supported")
        return replace(x, causal=x.causal or condition.causal)
    if isinstance(x, View) and isinstance(y, ConstantValue):
        if condition.end:
            step.refuse_unless(y.number == 0, "masked steps must be replaced by 0")
            return SelectedSteps(x.layout, view=x, end=condition.end)
        step.refuse_unless(not condition.causal, "a causal mask is only supported in attention")
        return x
    if isinstance(x, StepPositions) and isinstance(y, ConstantValue) and not condition.end and not condition.causal:
        return replace(x, layout=broadcast(x, condition))
    raise NotSupported("the condition must be a mask")


def _causal(step: OperatorContext, condition: ConstantValue, x: Any, y: Any) -> Operand:
    scores, seen = (x, True) if isinstance(x, AttentionScores) else (y, False)
    found = causal_of(condition.array, seen)
    step.refuse_unless(found is not None, "only causal attention masks are supported")
    return replace(scores, causal=scores.causal or bool(found))


REDUCTIONS = {"ReduceMean": ("seq_avg_pool", {}), "ReduceSum": ("seq_avg_pool", {"strategy": "SUM"}),
              "ReduceMax": ("seq_max_pool", {})}  # fmt: skip


OPERATIONS = {"ReduceSum": "SUM", "ReduceMean": "MEAN", "ReduceL1": "ASUM", "ReduceL2": "L2", "ReduceMax": "MAX",
              "ReduceMin": "MIN", "ReduceProd": "PROD", "ReduceSumSquare": "SUMSQ",
              "ReduceLogSumExp": "LOG_SUM_EXP"}  # fmt: skip


@operator(*OPERATIONS)
def reduced(step: OperatorContext, x: Any, axes: Any = None) -> Operand:
    """Over steps: one row of each sequence. Over an image: a global pool. Over a row: a part of normalization."""
    x = x.forward if isinstance(x, ReversedSequence) else x  # in whichever order
    rank = len(x.layout)
    given = step.listed("axes", axes)
    if not given and step.attribute("noop_with_empty_axes", 0):
        return _of_each(step, step.view(x))
    places = sorted({step.axis(one, rank) for one in (range(rank) if given is None else given)})
    keep = bool(step.attribute("keepdims", 1))
    name = step.node.operator
    step.refuse_unless(places, "no axes to reduce")
    left = tuple(() if place in places else axis for place, axis in enumerate(x.layout) if keep or place not in places)
    if isinstance(x, StepPositions) and name in ("ReduceMax", "ReduceMin"):
        return EndPosition(left, last=name == "ReduceMax")
    if isinstance(x, Mask) and name == "ReduceSum":
        return SequenceLengths(left)
    if isinstance(x, SelectedSteps) and name == "ReduceSum" and len(places) == 1:
        return end_row(step, x.view, places[0], x.end, keep=keep)
    if isinstance(x, Statistic) and x.kind == "square" and name == "ReduceMean":
        step.refuse_unless(places == list(range(rank - x.over, rank)), "the mean is over other axes than the deviation")
        return replace(x, kind="variance", layout=left)
    view = step.view(x)
    ones = {place for place in places if view.layout[place] and all(map(is_single, view.layout[place]))}
    if ones and step.fixed_axes:  # over a batch of 1, too
        x = view if keep else replace(view, layout=tuple(a for at, a in enumerate(view.layout) if at not in ones))
        places = [place - (0 if keep else sum(one < place for one in ones)) for place in places if place not in ones]
        if not places:
            return _of_each(step, x)
        step.node = replace(step.node, attributes={**step.node.attributes, "axes": places})
        return cast("Operand", reduced(step, x))
    atoms = atoms_of(tuple(view.layout[place] for place in places))
    if [atom.name for atom in atoms] == ["T"]:
        fits = name in REDUCTIONS and len(places) == 1
        step.refuse_unless(fits, "along the time axis, only ReduceSum, ReduceMean and ReduceMax are supported")
        type_, settings = REDUCTIONS[name]
        if name == "ReduceMean":
            step.known.setdefault("means", []).append(step.node.label)
        return one_row(step, view, places[0], type_, keep=keep, **settings)
    named = any(atom.name for atom in atoms)
    step.refuse_unless(
        not named, "reduction along the batch axis, or the time axis together with others, is not supported"
    )
    if name == "ReduceMean" and places == list(range(rank - len(places), rank)) and not _image(step, view, places):
        return Statistic(left, view=view, kind="mean", over=len(places))
    order = memory_order(view)
    ordered, own = reordered(view, order), sorted(order.index(place) for place in places)
    if name in ("ReduceMean", "ReduceMax") and _image(step, ordered, own):
        found = _over_points(step, ordered, keep=keep)
    else:
        rows = step.rows(ordered)
        along = [place - len(rows.lead) + 1 for place in own]
        made = step.layer("reduction", rows.value, operation=OPERATIONS[name], axes=along, keep_dims=keep or None)
        found = step.made(made.outputs[0], rows)
    remaining = [place for place in order if keep or place not in places]
    return reordered(found, [remaining.index(place) for place in sorted(remaining)])


def _of_each(step: OperatorContext, x: View) -> Operand:
    """A reduction without axes: what is left is its function of a single number."""
    if step.node.operator == "ReduceSumSquare":
        return step.each("power", x, power=2.0)
    return step.each("abs", x) if step.node.operator in ("ReduceL1", "ReduceL2") else x


def _image(step: OperatorContext, view: View, places: list[int]) -> bool:
    if samples_first(view) != list(range(len(view.layout))):
        return False
    lead = step.lead(view)
    return len(view.layout) == lead + 3 and places == [lead + 1, lead + 2]


def _over_points(step: OperatorContext, view: View, *, keep: bool) -> View:
    """Over rows and columns of an image."""
    names = {"ReduceMean": "AVERAGE", "ReduceMax": "MAX"}
    rows = step.rows(view)
    lead = len(rows.lead)
    made = step.layer("pool", rows.value, pool_type=names[step.node.operator], global_pooling=True)
    found = view_of(made.outputs[0], rows.view.rows, rows.lead)
    return found if keep else replace(found, layout=found.layout[: lead + 1])
