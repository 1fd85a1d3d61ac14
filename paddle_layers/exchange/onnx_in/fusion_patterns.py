"""Fusion patterns: sums and products in normalization, attention, masks and selections."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from .layers import weight
from .normalizations import norm_of, squared
from .operators import OperatorContext
from .sequence_rows import broadcast, causal_of
from .symbolic_values import (
    AttentionScores,
    ConstantMask,
    ConstantValue,
    DynamicConstant,
    ErrorFunction,
    IdArithmetic,
    Layout,
    Mask,
    Operand,
    PositionLookup,
    Statistic,
    StepPositions,
    View,
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
        return other if isinstance(other, StepPositions) else step.view(other)
    return None


def part_of_product(step: OperatorContext, one: Any, other: Any) -> Operand | None:
    """The meaning of a product with a partial pattern, or of a value with a function of itself."""
    number = other.number if isinstance(other, ConstantValue) else None
    if isinstance(one, ConstantMask):  # a choice, written as a product with 0 or 1
        return _kept(one, other) if one.truth else DynamicConstant(broadcast(one, other))
    if isinstance(one, ErrorFunction):
        return _product_of_normal(step, one, other, number)
    if isinstance(one, AttentionScores) and number is not None and not one.soft:
        return replace(one, factor=one.factor * number)
    if isinstance(other, AttentionScores) and not other.soft and (hidden := _hidden(one)) is not None:
        return replace(other, zeroed=hidden)
    if isinstance(one, Mask):
        return _product_of_mask(step, one, other, number)
    if isinstance(one, DynamicConstant) and one.number == 0 and isinstance(other, View):
        return DynamicConstant(broadcast(one, other))
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


def _gelu(step: OperatorContext, x: View, normal: ErrorFunction) -> Operand:
    """`x` times the probability: the view may have a factor, of which 2 make the probability of the error function."""
    fits = x.value is normal.view.value and normal.added == 1.0
    step.refuse_unless(fits, "Erf is only supported in `gelu`")
    made = step.each("gelu", replace(x, factor=1.0))
    return replace(made, factor=2.0 * normal.factor * x.factor)


def _wide(one: Statistic, numbers: ConstantValue) -> Layout:
    """The axes of a value per row, once there is a value per column."""
    rank = max(len(one.layout), numbers.array.ndim)
    return (*((),) * (rank - len(one.layout)), *one.layout[:-1], one.view.layout[-1])


def layer_norm_of(step: OperatorContext, first: Statistic, other: Statistic) -> Operand:
    """Of what is centered and its deviation, or of both halves; of both, the gain is the same one."""
    fits = same(first.view, other.view) and (first.gain is other.gain or first.kind == "centred")
    step.refuse_unless(fits, "normalization divides by the standard deviation of another value")
    return norm_of(step, "layer_norm", first.view, first.over, other.epsilon, other.gain, other.bias)


def rms_norm_of(step: OperatorContext, x: View, root: Statistic) -> Operand:
    """Of a value and the root of the mean of its squares."""
    step.refuse_unless(
        squared(root.view) is x.value and x.factor == 1.0,
        "normalization divides by the root mean square of another value",
    )
    return norm_of(step, "rms_norm", x, root.over, root.epsilon)


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
    if isinstance(other, (Mask, ConstantMask)):
        causal: bool | None = isinstance(other, Mask) and other.causal
    elif isinstance(other, DynamicConstant) and other.number == 0:
        causal = False
    else:
        causal = causal_of(step.numbers(other, "mask").array, 0.0)
    step.refuse_unless(causal is not None, "only causal attention masks are supported")
    return replace(scores, causal=scores.causal or bool(causal), zeroed=scores.zeroed and not causal)


def _kept(known: ConstantMask, other: Any) -> Any:
    return other if isinstance(other, ConstantValue) else replace(other, layout=broadcast(known, other))


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
