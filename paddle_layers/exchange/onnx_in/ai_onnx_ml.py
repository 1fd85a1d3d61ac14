"""Operators of ai.onnx.ml, as scikit-learn's exporter writes linear models and their preprocessing."""

from __future__ import annotations

from typing import Any

import numpy as np

from .layers import weight
from .operators import OperatorContext, operator
from .rows import fc_of
from .selections import compare
from .symbolic_values import ConstantValue, Operand, PredictedClass, View

ML = "ai.onnx.ml"
AFTER = {"NONE": "", "SOFTMAX": "softmax", "LOGISTIC": "sigmoid"}


@operator("LinearClassifier", domain=ML)
def linear_classifier(step: OperatorContext, x: Any) -> Any:
    """Scores; the names of classes are left to `predict`."""
    found = _linear(step, step.view(x), "coefficients", "intercepts", None)
    return PredictedClass(found.layout[:1]), found


@operator("LinearRegressor", domain=ML)
def linear_regressor(step: OperatorContext, x: Any) -> Operand:
    """A linear map."""
    return _linear(step, step.view(x), "coefficients", "intercepts", step.attribute("targets", 1))


def _linear(step: OperatorContext, x: View, name: str, other: str, rows: int | None) -> View:
    rows_of_x = step.rows(x)
    width = int(np.prod(rows_of_x.value.dims))
    numbers = np.asarray(step.attribute(name) or [], np.float32)
    step.refuse_unless(
        numbers.size > 0 and numbers.size % width == 0,
        f"length of `{name}` must be a multiple of the number of features, {width}; got {numbers.size}",
    )
    array = numbers.reshape(-1, width).T
    step.refuse_unless(
        rows is None or array.shape[1] == rows, f"`{name}` must have {rows} rows, one per target, got {array.shape[1]}"
    )
    given = step.attribute(other)
    step.refuse_unless(
        not given or len(given) == array.shape[1],
        f"`{other}` must have {array.shape[1]} values, got {len(given or [])}",
    )
    after = step.attribute("post_transform", "NONE")
    step.refuse_unless(after in AFTER, f"`post_transform: {after}` is not supported")
    source = (f"{step.node.name or step.node.operator}.weight",)
    bias = weight(given, (f"{step.node.name}.bias",)) if given else None
    found = fc_of(step, x, array, source, bias)
    labels = step.attribute("classlabels_ints") or step.attribute("classlabels_strings") or []
    # scikit-learn writes one score for two classes; here a class has a score each.
    alone = array.shape[1] == 1 and len(labels) == 2
    step.refuse_unless(not alone, "binary classification with a single score is not supported")
    return step.each(AFTER[after], found) if AFTER[after] else found


@operator("Normalizer", domain=ML)
def normalizer(step: OperatorContext, x: Any) -> Operand:
    """Rows divided by their norm; probabilities that sum to one are unchanged."""
    view, norm = step.view(x), step.attribute("norm", "MAX")
    rows = step.rows(view, 1)
    layer = rows.value.layer
    if norm == "L1" and layer.type == "softmax":
        return view
    if norm == "L1" and layer.type == "sigmoid":  # none is negative
        return step.made(step.layer("sum_to_one_norm", rows.value).outputs[0], rows)
    step.refuse_unless(norm == "L2", f"norm `{norm}` is not supported")
    return step.made(step.layer("row_l2_norm", rows.value).outputs[0], rows)


@operator("Scaler", domain=ML)
def scaler(step: OperatorContext, x: Any) -> Operand:
    """Columns brought to one size, by constants."""
    rows = step.rows(step.view(x), 1)
    width = rows.value.dims[0]
    scale, offset = (np.asarray(step.attribute(name) or [default], np.float32) for name, default in
                     (("scale", 1.0), ("offset", 0.0)))  # fmt: skip
    step.refuse_unless(
        {scale.size, offset.size} <= {1, width}, f"`scale` and `offset` must have 1 or {width} values, one per feature"
    )
    gain = np.broadcast_to(scale, width)
    weights = {"gain": weight(gain), "bias": weight(-np.broadcast_to(offset, width) * gain)}
    return step.made(step.layer("scale", rows.value, weights=weights).outputs[0], rows)


@operator("Binarizer", domain=ML)
def binarizer(step: OperatorContext, x: Any) -> Operand:
    """1 for values above a threshold, else 0."""
    return compare(
        step, "GREATER", step.view(x), ConstantValue(np.asarray(step.attribute("threshold", 0.0), np.float32))
    )
