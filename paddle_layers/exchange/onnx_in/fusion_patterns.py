"""Fusion patterns: sums and products in normalization, attention, masks and selections.

Attention has products of queries and keys, a softmax, products with values.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from .layers import weight
from .normalizations import norm_of, squared
from .operators import OperatorContext, needed, operator
from .parts import constant_of_samples
from .sequence_rows import broadcast, causal_of
from .sizes import divided, whole
from .symbolic_values import (
    Atom,
    AttentionScores,
    Axis,
    ConstantValue,
    DynamicConstant,
    ErrorFunction,
    IdArithmetic,
    Layout,
    Mask,
    Operand,
    PositionLookup,
    RepeatedConstant,
    Statistic,
    StepPositions,
    SymbolicValue,
    View,
    atoms_of,
    reshaped,
    size_of,
)


def part_of_sum(step: OperatorContext, one: Any, other: Any) -> Operand | None:
    """The meaning of a sum with a partial pattern; None for an ordinary sum."""
    number = other.number if isinstance(other, ConstantValue) else None
    if isinstance(one, ErrorFunction) and number is not None and one.factor == 1.0:
        return replace(one, added=one.added + number)
    if isinstance(one, Statistic):
        return _sum_of_statistics(step, one, other)
    if isinstance(one, View) and isinstance(other, PositionLookup):
        return _with_places(step, one, other)
    if isinstance(one, AttentionScores) and not one.soft:
        return _masked(step, one, other)
    if _of_ids(one) and number is not None and number >= 0:
        return IdArithmetic(one.layout)
    if isinstance(one, DynamicConstant) and one.number == 0:
        if isinstance(other, ConstantValue):
            return ConstantValue(np.atleast_2d(other.array), other.source)
        value = other if isinstance(other, StepPositions) else step.view(other)
        wide = SymbolicValue(broadcast(one, value)).shape
        step.refuse_unless(wide == value.shape, "a value cannot be broadcast to a constant of dynamic shape")
        return value
    return None


def part_of_product(step: OperatorContext, one: Any, other: Any) -> Operand | None:
    """The meaning of a product with a partial pattern, or of a value with a function of itself."""
    number = other.number if isinstance(other, ConstantValue) else None
    if isinstance(one, DynamicConstant) and one.number == 0:
        return DynamicConstant(broadcast(one, other))
    if isinstance(one, DynamicConstant) and one.number == 1:  # a choice, written as a product with 0 or 1
        if isinstance(other, ConstantValue):
            return other
        chosen: SymbolicValue = replace(other, layout=broadcast(one, other))
        if set(atoms_of(chosen.layout)) <= set(atoms_of(other.layout)) or not isinstance(other, View):
            return chosen
    if isinstance(one, ErrorFunction):
        return _product_of_normal(step, one, other, number)
    if isinstance(one, AttentionScores) and number is not None and not one.soft:
        return replace(one, factor=one.factor * number)
    if isinstance(other, AttentionScores) and not other.soft and (hidden := _hidden(one)) is not None:
        return replace(other, zeroed=hidden)
    if isinstance(one, Mask):
        return _product_of_mask(step, one, other, number)
    if isinstance(one, Statistic):
        return _product_of_statistics(step, one, other)
    if isinstance(one, View) and isinstance(other, View):
        return _gated(step, one, other)
    return None


def _sum_of_statistics(step: OperatorContext, one: Statistic, other: Any) -> Operand | None:
    number = other.number if isinstance(other, ConstantValue) else None
    if one.kind in ("variance", "mean") and number is not None:
        return replace(one, epsilon=one.epsilon + number)
    if one.kind == "moved" and isinstance(other, ConstantValue) and one.bias is None:
        return replace(one, bias=other, layout=_wide(one, other))
    if isinstance(other, Statistic) and (one.kind, other.kind) == ("scaled", "moved"):
        return layer_norm_of(step, one, other)
    return None


def _product_of_statistics(step: OperatorContext, one: Statistic, other: Any) -> Operand | None:
    if isinstance(other, Statistic):
        if one.kind == "centred" == other.kind and one.view is other.view:
            return replace(one, kind="square")
        if (one.kind, other.kind) == ("centred", "inverse deviation"):
            return layer_norm_of(step, one, other)
        if (one.kind, other.kind) == ("negated mean", "inverse deviation"):
            return replace(other, kind="moved")
    if one.kind == "inverse deviation" and isinstance(other, ConstantValue) and one.gain is None:
        return replace(one, gain=other, layout=_wide(one, other))
    if one.kind == "inverse deviation" and isinstance(other, View) and same(other, one.view):
        return replace(one, kind="scaled", layout=other.layout)
    if one.kind == "inverse root" and isinstance(other, View):
        return rms_norm_of(step, other, one)
    return None


def _product_of_mask(step: OperatorContext, mask: Mask, other: Any, number: float | None) -> Operand | None:
    if mask.turned and number is not None and number <= -1e4:
        # Exporters use -1e4 (half precision), -1e9, or the lowest float instead of minus infinity.
        return replace(mask, turned=False)  # to be added: 0 for what is seen, very little for the rest
    if isinstance(other, DynamicConstant) and other.number == 1:
        return replace(mask, layout=broadcast(mask, other))
    if mask.causal or mask.end:
        return None
    if mask.turned:
        return DynamicConstant(broadcast(mask, other))  # a padding mask; there is no padding
    if not isinstance(other, View):
        return None
    axes = zip(reversed(mask.layout), reversed(other.layout), strict=False)
    fits = len(mask.layout) <= len(other.layout) and all(a in ((), b) for a, b in axes)
    step.refuse_unless(fits, "mask and value have different axes")
    return other  # there is no padding here that could be made zero


def _product_of_normal(
    step: OperatorContext, normal: ErrorFunction, other: Any, number: float | None
) -> Operand | None:
    if number is not None:
        return replace(normal, factor=normal.factor * number)
    return _gelu(step, other, normal) if isinstance(other, View) else None


def _of_ids(given: Any) -> bool:
    """Whether something are ids, or the numbers of rows, which choose rows of a table as ids do."""
    return isinstance(given, StepPositions) or (isinstance(given, View) and given.value.type.kind == "INT")


def same(x: View, y: View) -> bool:
    """Whether both are one value, of one size."""
    return x.value is y.value and x.factor == y.factor


def _gelu(step: OperatorContext, x: View, normal: ErrorFunction) -> Operand | None:
    """`x` times the probability: the view may have a factor, of which 2 make the probability of the error function."""
    if x.value is not normal.view.value or normal.added != 1.0:
        return None
    made = step.each("gelu", replace(x, factor=1.0))
    return replace(made, factor=2.0 * normal.factor * x.factor)


def _wide(one: Statistic, numbers: ConstantValue) -> Layout:
    """The axes of a value per row, once there is a value per column."""
    rank = max(len(one.layout), numbers.array.ndim)
    return (*((),) * (rank - len(one.layout)), *one.layout[:-1], one.view.layout[-1])


def layer_norm_of(step: OperatorContext, first: Statistic, other: Statistic) -> Operand | None:
    """Of what is centered and its deviation, or of both halves, whose gain is the same; None for other values."""
    fits = same(first.view, other.view) and (first.gain is other.gain or first.kind == "centred")
    if not fits:
        return None
    return norm_of(step, "layer_norm", first.view, first.over, other.epsilon, other.gain, other.bias)


def rms_norm_of(step: OperatorContext, x: View, root: Statistic) -> Operand | None:
    """Of a value and the root of the mean of its squares; None for another value."""
    plain = step.plain(x)
    if squared(root.view) is not plain.value or root.view.layout != plain.layout:
        return None
    return norm_of(step, "rms_norm", plain, root.over, root.epsilon)


def _gated(step: OperatorContext, x: View, gate: View) -> Operand | None:
    """A value times a function of itself."""
    layer = gate.value.layer
    if layer.type not in ("sigmoid", "hard_sigmoid") or gate.factor != 1.0 or "act" in layer.attributes:
        return None
    source, beta = layer.inputs[0], 1.0
    if source is not x.value and source.layer.type == "slope_intercept":
        beta, inner = source.layer.attributes.get("slope", 1.0), source.layer
        if not inner.attributes.get("intercept") and inner.inputs[0] is x.value:
            source = inner.inputs[0]
    if source is not x.value or x.layout != gate.layout:
        return None
    if layer.type == "sigmoid":
        found = step.each("swish", replace(x, factor=1.0), beta=None if beta == 1.0 else beta)
        return replace(found, factor=x.factor)
    slope, offset = layer.attributes.get("slope"), layer.attributes.get("offset")
    if beta == 1.0 and offset == 0.5 and slope is not None and math.isclose(slope, 1 / 6, rel_tol=1e-5):
        found = step.each("hard_swish", replace(x, factor=1.0))
        return replace(found, factor=x.factor)
    return None


def _masked(step: OperatorContext, scores: AttentionScores, other: Any) -> Operand:
    """Scores plus 0 or minus infinity: a causal mask; a padding mask is dropped, since there is no padding."""
    if isinstance(other, Mask):
        causal: bool | None = other.causal
    elif isinstance(other, DynamicConstant) and other.number == 0:
        causal = False
    else:
        causal = causal_of(step.numbers(other, "mask").array, 0.0)
    step.refuse_unless(causal is not None, "only causal attention masks are supported")
    return replace(scores, causal=scores.causal or bool(causal), zeroed=scores.zeroed and not causal)


def _hidden(given: Any) -> bool | None:
    """Whether a factor, 1 for visible rows and 0 otherwise, hides the later rows; None if it is no such factor."""
    if isinstance(given, Mask):
        return None if given.turned or given.end else given.causal
    if isinstance(given, ConstantValue) and given.array.ndim > 1 and np.isin(given.array, (0, 1)).all():
        return causal_of(given.array == 1, seen=True)
    return None


def _with_places(step: OperatorContext, x: View, places: PositionLookup) -> Operand:
    """A learned row for each place."""
    rows = step.rows(x, 1)
    atoms = [axis for axis in places.layout if axis]
    fits = bool(atoms) and any(axis == atoms[0] for axis in rows.lead)
    step.refuse_unless(fits, "position embeddings belong to other sequences")
    table = places.table
    weights = {"table": weight(table.array, table.source)}
    made = step.layer("position_embedding", rows.value, weights=weights, max_length=table.array.shape[0])
    return step.made(made.outputs[0], rows)


def product(step: OperatorContext, x: Any, y: Any) -> Operand:
    """A MatMul of two values."""
    if isinstance(x, AttentionScores) and isinstance(y, View):
        return _weighted(step, x, y)
    for one, other in ((x, y), (y, x)):
        if isinstance(one, RepeatedConstant) and isinstance(other, View):
            made = constant_of_samples(step, one, other)
            return product(step, made, y) if one is x else product(step, x, made)
    left, right = step.view(x, "first input"), step.view(y, "second input")
    # A sequence of any length is no axis of a matrix here: such products exist in attention only.
    if any(atom.name for atom in atoms_of((*left.layout[-2:], *right.layout[-2:]))):
        return _scores(step, left, right)
    return _matrices(step, left, right)


def _matrices(step: OperatorContext, left: View, right: View) -> View:
    """`[N, ..., M, K]` times `[N, ..., K, P]`."""
    one, other = step.rows(left), step.rows(right)
    step.refuse_unless(one.lead == other.lead, "a product of values of different batches is not supported")
    shapes = f"{list(one.value.dims)} and {list(other.value.dims)}"
    step.refuse_unless(
        len(one.value.dims) == len(other.value.dims) >= 2 and one.value.dims[:-2] == other.value.dims[:-2],
        f"a product of {shapes} for each sample needs two matrices with the same axes before them",
    )
    return step.made(step.layer("matmul", one.value, other.value).outputs[0], one)


def _scores(step: OperatorContext, query: View, keys: View) -> AttentionScores:
    """`[N, heads, T, width]` times `[N, heads, width, T]`; the batch and the heads may share one axis."""
    reason = "a product of two values is only supported in attention"
    step.refuse_unless(len(query.layout) == len(keys.layout) >= 3, reason)
    *lead, rows, width = query.layout
    *other_lead, other_width, columns = keys.layout
    for steps, own, parts, view in ((rows, width, lead, query), (columns, other_width, other_lead, keys)):
        step.refuse_unless([atom.name for atom in steps] == ["T"], reason)
        _check(step, view, tuple(parts), own, reason)
    step.refuse_unless(size_of(width) == size_of(other_width), reason)
    heads = [size_of(_heads(tuple(one))) for one in (lead, other_lead)]
    step.refuse_unless(heads[0] == heads[1], reason)
    layout = (*lead, rows, columns)
    factor = query.factor * keys.factor
    return AttentionScores(layout, query=query, keys=keys, heads=whole(heads[0]), factor=factor)


def _heads(lead: tuple[Axis, ...]) -> Axis:
    return tuple(atom for atom in atoms_of(lead) if not atom.name)


def _check(step: OperatorContext, view: View, lead: tuple[Axis, ...], width: Axis, reason: str) -> None:
    """The batch, then heads; columns are cut into heads, one after the other."""
    atoms = atoms_of(lead)
    batch = [atom for atom in atoms if atom.name]
    step.refuse_unless([atom.name for atom in batch] == ["N"] and atoms[:1] == tuple(batch[:1]), reason)
    step.refuse_unless((*_heads(lead), *width) == view.inside, reason)
    step.refuse_unless(view.value.level == 1, reason)


def _weighted(step: OperatorContext, scores: AttentionScores, values: View) -> Operand:
    """The mean of the values: here the layer is made."""
    step.refuse_unless(scores.soft, "attention scores are multiplied with values before the softmax")
    reason = "values must have the same axes as the keys"
    step.refuse_unless(len(values.layout) == len(scores.layout), reason)
    *lead, rows, width = values.layout
    step.refuse_unless(rows == scores.layout[-1], reason)
    _check(step, values, tuple(lead), width, reason)
    step.refuse_unless(size_of(_heads(tuple(lead))) == scores.heads, reason)
    query, keys = (replace(one, factor=1.0) for one in (scores.query, scores.keys))
    parts = [_flat(step, view) for view in (query, keys, step.plain(values))]
    # Exporters divide queries, keys or both by roots of the width, in float32: only the product of all factors is
    # compared, with a tolerance.
    usual = 1.0 / math.sqrt(parts[0].dims[0] / scores.heads)
    made = step.layer(
        "multi_head_attention", *parts, num_heads=scores.heads, causal=scores.causal or None,
        scale=None if math.isclose(scores.factor, usual, rel_tol=1e-5) else scores.factor,
    )  # fmt: skip
    inside: tuple[Atom, ...] = (*_heads(tuple(lead)), *width)
    layout = (*lead, scores.layout[-2], width)
    return View(layout, value=made.outputs[0], order=(*scores.query.rows, *inside))


def _flat(step: OperatorContext, view: View) -> Any:
    value = view.value
    return value if len(value.dims) == 1 else step.layer("flatten", value, suffix="flat").outputs[0]


@operator("Attention")
def attention(step: OperatorContext, query: Any, keys: Any, values: Any, mask: Any = None, *more: Any) -> Operand:
    """The operator Attention of opset 23, with a separate axis of heads or with concatenated heads."""
    step.refuse_unless(not any(one is not None for one in more), "past keys and values are not supported")
    step.refuse_unless(not any(step.node.outputs[1:]), "attention scores as an output are not supported")
    for name, neutral in (("softcap", 0.0), ("left_window_size", -1), ("right_window_size", -1)):
        step.refuse_unless(step.attribute(name, neutral) == neutral, f"`{name}` is not supported")
    causal = bool(step.attribute("is_causal", 0))
    views = [step.view(one) for one in (query, keys, values)]
    if mask is not None:
        given = step.numbers(mask, "mask").array
        found = causal_of(given, True if given.dtype.kind == "b" else 0.0)
        step.refuse_unless(found is not None, "only causal attention masks are supported")
        causal = causal or bool(found)
    flat = len(views[0].layout) == 3
    if flat:
        counts = [step.attribute(name, 1) for name in ("q_num_heads", "kv_num_heads", "kv_num_heads")]
        views = [_headed(view, count) for view, count in zip(views, counts, strict=True)]
    turned = replace(views[1], layout=(*views[1].layout[:-2], views[1].layout[-1], views[1].layout[-2]))
    scores = _scores(step, views[0], turned)
    width = whole(size_of(views[0].layout[-1]))
    scale = step.attribute("scale")
    factor = scores.factor * (1.0 / math.sqrt(width) if scale is None else scale)
    made = _weighted(step, replace(scores, factor=factor, causal=causal, soft=True), views[2])
    if not flat:
        return made
    assert isinstance(made, View)
    batch, heads, rows, columns = made.layout
    return replace(made, layout=(batch, rows, (*heads, *columns)))


def _headed(view: View, heads: int) -> View:
    batch, rows, width = view.shape
    columns = divided(width, heads)
    found = None if columns is None else reshaped(view, [batch, rows, heads, columns])
    found = needed(found, "the width must be divisible by the number of heads")
    n, t, h, w = found.layout
    return replace(found, layout=(n, h, t, w))
