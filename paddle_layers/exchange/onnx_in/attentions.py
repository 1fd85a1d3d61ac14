"""Attention patterns: products of queries and keys, a softmax, products with values."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from .operators import OperatorContext, needed, operator
from .sequence_rows import causal_of
from .sizes import divided, whole
from .symbolic_values import Atom, AttentionScores, Axis, Operand, View, atoms_of, reshaped, size_of


def product(step: OperatorContext, x: Any, y: Any) -> Operand:
    """A MatMul of two values."""
    if isinstance(x, AttentionScores) and isinstance(y, View):
        return _weighted(step, x, y)
    return _scores(step, step.view(x, "first input"), step.view(y, "second input"))


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
    step.refuse_unless(not step.attribute("softcap", 0.0), "`softcap` is not supported")
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
