"""Normalization, as one operator or as the composition that exporters write."""

from __future__ import annotations

from typing import Any

from .layers import LayerOutput, weight
from .operators import OperatorContext, operator
from .symbolic_values import ConstantValue, Operand, View, size_of


def norm_of(
    step: OperatorContext,
    type_: str,
    x: View,
    over: int,
    epsilon: float,
    gain: ConstantValue | None = None,
    bias: ConstantValue | None = None,
) -> View:
    """Normalization over the last axes, with a gain and bias per column if there are any."""
    rows = step.rows(x)
    own = len(x.layout) - len(rows.lead)
    step.refuse_unless(over <= own, "normalization along the batch or time axis is not supported")
    settings: dict[str, Any] = {"bias": bias is not None} if type_ == "layer_norm" else {}
    weights = {}
    for name, given in (("gain", gain), ("bias", bias)):
        if given is not None:
            fits = given.array.size == size_of(x.layout[-1]) == given.array.shape[-1] and over == 1
            step.refuse_unless(
                fits, f"{name} must have one value per column ({size_of(x.layout[-1])}), got shape {given.array.shape}"
            )
            weights[name] = weight(given.array.reshape(-1), given.source)
    if over < own:
        settings["axis"] = -over
    made = step.layer(type_, rows.value, weights=weights, epsilon=epsilon, **settings)
    return step.made(made.outputs[0], rows)


def squared(view: View) -> LayerOutput | None:
    """The value whose square a view is."""
    layer = view.value.layer
    square = layer.type == "power" and layer.attributes == {"power": 2.0}
    product = layer.type == "mul" and len(set(layer.inputs)) == 1
    return layer.inputs[0] if (square or product) and view.factor == 1.0 else None


@operator("RMSNormalization")
def rms_norm(step: OperatorContext, x: Any, gain: Any) -> Operand:
    """Over the last axes, without a mean."""
    view = step.view(x)
    over = len(view.layout) - step.axis(step.attribute("axis", -1), len(view.layout))
    return norm_of(step, "rms_norm", view, over, step.attribute("epsilon", 1e-5), step.numbers(gain, "gain"))


@operator("LayerNormalization")
def layer_norm(step: OperatorContext, x: Any, gain: Any, bias: Any = None) -> Operand:
    """Over the last axes."""
    view = step.view(x)
    axis = step.axis(step.attribute("axis", -1), len(view.layout))
    step.refuse_unless(not any(step.node.outputs[1:]), "mean and standard deviation as outputs are not supported")
    rows = step.rows(view)
    first = step.axis_of_row(axis, rows)
    weights = {}
    for name, given in (("gain", gain), ("bias", bias)):
        if given is not None:
            own = step.numbers(given, name)
            weights[name] = weight(own.array.reshape(-1), own.source)
    epsilon = step.attribute("epsilon", 1e-5)
    made = step.layer("layer_norm", rows.value, weights=weights, axis=first, epsilon=epsilon, bias=bias is not None)
    return step.made(made.outputs[0], rows)


@operator("LpNormalization")
def row_length(step: OperatorContext, x: Any) -> Operand:
    """Rows brought to length 1."""
    view = step.view(x)
    step.refuse_unless(step.attribute("p", 2) == 2, f"norm p={step.attribute('p', 2)} is not supported, expected 2")
    rows = step.rows(view, 1)
    step.refuse_unless(
        step.axis(step.attribute("axis", -1), len(view.layout)) == len(rows.lead),
        "normalization is only supported along the last axis",
    )
    return step.made(step.layer("row_l2_norm", rows.value).outputs[0], rows)


@operator("InstanceNormalization", "GroupNormalization")
def group_norm(step: OperatorContext, x: Any, gain: Any, bias: Any) -> Operand:
    """Channels of each image, or groups of them; older models have one gain for a group."""
    rows = step.rows(step.view(x))
    step.refuse_unless(len(rows.lead) == 1, "channels cannot be the time axis of sequences")
    channels = rows.value.dims[0] if rows.value.dims else 1
    groups = step.attribute("num_groups", channels)
    part = "norm." if step.node.operator == "InstanceNormalization" else ""
    weights = {}
    for name, given in (("gain", gain), ("bias", bias)):
        own = step.numbers(given, name)
        step.refuse_unless(
            own.array.size in {channels, groups},
            f"expected one value per channel ({channels}) or group ({groups}) for {name}, got {own.array.size}",
        )
        array = own.array.reshape(-1)
        source = own.source
        if array.size < channels:
            # Older opsets have one gain per group. As repeated values they no longer are the parameter of the file.
            array, source = array.repeat(channels // groups), ()
        weights[part + name] = weight(array, source)
    type_, settings = ("instance_norm", {}) if part else ("group_norm", {"groups": groups})
    epsilon = step.attribute("epsilon", 1e-5)
    made = step.layer(type_, rows.value, weights=weights, epsilon=epsilon, **settings)
    return step.made(made.outputs[0], rows)


@operator("MeanVarianceNormalization")
def mvn(step: OperatorContext, x: Any) -> Operand:
    """Over neighboring axes of a row."""
    view = step.view(x)
    rows = step.rows(view)
    axes = sorted(step.axis(axis, len(view.layout)) for axis in step.attribute("axes", [0, 2, 3]))
    step.refuse_unless(
        axes and axes[0] >= len(rows.lead), "normalization along the batch or time axis is not supported"
    )
    step.refuse_unless(axes == list(range(axes[0], axes[-1] + 1)), "normalized axes must be adjacent")
    first, last = (axis - len(rows.lead) + 1 for axis in (axes[0], axes[-1]))
    made = step.layer("mvn", rows.value, axis=first, end_axis=last if last < len(rows.value.dims) else None)
    return step.made(made.outputs[0], rows)
