"""Layer normalization, RMS normalization and other normalizations of each sample."""

import math

from paddle_layers.define import (
    Bias,
    Example,
    Float,
    Input,
    Int,
    Output,
    Param,
    State,
    Temp,
    each,
    gradient,
    infer,
    layer,
    onnx,
    real,
    require,
)
from paddle_layers.layers.axes import place_of_axis


@layer(
    "layer_norm",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"ONNX": "LayerNormalization", "Keras": "LayerNormalization", "PyTorch": "LayerNorm"},
    terms=("layer normalization",),
    since=1,
)
class LayerNorm:
    """Layer normalization: normalizes each sample to zero mean and unit variance, with a learned scale and offset.

    `y = (x - mean) / sqrt(var + epsilon) * gain + bias`

    (Ba, Kiros and Hinton 2016). Mean and biased variance are computed over all values of the sample; images are
    flattened. `axis` and `end_axis` are the first and the last normalized axis: `axis: -1` is each vector along the
    last axis, as in most Transformers, `axis: 1 end_axis: 1` the channels at each pixel of an image. `gain` has the
    size of these axes.
    """

    x = Input("N... C...@axis:end_axis ...", "rows", seq=(0, 1, 2))
    gain = Param("C", "scale per column", init="one")
    bias = Bias("C")
    y = Output("N... C...@axis:end_axis ...", "same shape as `x`")
    axis = Int("first normalized axis: 1 is the first after the batch axis, -1 the last", default=1)
    end_axis = Int("last normalized axis", default=-1)
    epsilon = Float("epsilon for numerical stability, added to the variance", default=1e-5, above=0, aliases=("eps",))
    mean = Temp("N... ...", "mean of the row")
    scale = Temp("N... ...", "one over the standard deviation")
    a = Temp("N... ...", "mean of the gradient times gain")
    b = Temp("N... ...", "mean of the gradient times gain and normalised value")
    examples = (
        Example(x="7"),
        Example(x="2x3x2", epsilon=0.1, bias=False),
        Example(x="sequence of 4", act="relu"),
        Example(x="2x3x4", axis=-1),
        Example(x="3x2x4", end_axis=1),
        Example(x="2x3x2x2", axis=2, end_axis=3),
    )


@each(LayerNorm.mean, LayerNorm.scale)
def layer_norm_moments(n, i, x, C, epsilon):
    total = sum(x[n, c, i] for c in range(C))
    mean = total / real(C)
    # A second pass: `E[x ** 2] - E[x] ** 2` would cancel where the mean is large compared to the deviation.
    total = sum((x[n, c, i] - mean) * (x[n, c, i] - mean) for c in range(C))
    return mean, 1.0 / math.sqrt(total / real(C) + epsilon)


@each(LayerNorm.y)
def layer_norm_y(n, c, i, x, mean, scale, gain):
    return (x[n, c, i] - mean[n, i]) * scale[n, i] * gain[c]


@each(LayerNorm.a, LayerNorm.b)
def layer_norm_sums(n, i, dy, x, mean, scale, gain, C):
    a = 0.0
    b = 0.0
    for c in range(C):
        a += dy[n, c, i] * gain[c]
        # Centered before the product, for the same reason.
        b += dy[n, c, i] * gain[c] * (x[n, c, i] - mean[n, i])
    return a / real(C), b * scale[n, i] / real(C)


@gradient(LayerNorm.x)
def layer_norm_dx(n, c, i, dy, x, mean, scale, gain, a, b):
    # The gradient without its components along the constant vector and along the normalized row.
    return scale[n, i] * (dy[n, c, i] * gain[c] - a[n, i] - (x[n, c, i] - mean[n, i]) * scale[n, i] * b[n, i])


@onnx(LayerNorm)
def layer_norm_onnx(graph, x, gain, bias, epsilon, axis, end_axis):
    if not x.dims:  # rows of one number
        axis, end_axis, x = 1, 1, graph.shaped(x, 1)
        return graph.Squeeze(layer_norm_onnx(graph, x, gain, bias, epsilon, axis, end_axis), [1])
    first, last = place_of_axis(axis, x), place_of_axis(end_axis, x)
    behind = [1] * (len(x.dims) - last)
    own, shift = (
        None if one is None else one.array.reshape(*x.dims[first - 1 : last], *behind) for one in (gain, bias)
    )
    if not behind:
        return graph.LayerNormalization(x, own, shift, axis=first, epsilon=epsilon)
    # ONNX's LayerNormalization normalizes all axes from the first one on.
    axes = list(range(first, last + 1))
    around = graph.Sub(x, graph.ReduceMean(x, axes, keepdims=1))
    variance = graph.ReduceMean(graph.Mul(around, around), axes, keepdims=1)
    y = graph.Mul(graph.Div(around, graph.Sqrt(graph.Add(variance, epsilon))), own)
    return y if shift is None else graph.Add(y, shift)


@layer(
    "rms_norm",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"ONNX": "RMSNormalization", "Keras": "RMSNormalization", "PyTorch": "RMSNorm"},
    terms=("root mean square normalization",),
    since=1,
)
class RmsNorm:
    """Root mean square normalization (RMSNorm) with a learned scale.

    `y = x / sqrt(mean(x ** 2) + epsilon) * gain`

    (Zhang and Sennrich 2019): `layer_norm` without mean and bias. The mean is over all axes from `axis` on: with
    `axis: -1` each vector along the last axis is normalized, as in most Transformers. At least two columns are
    required, because one column would keep only its sign.
    """

    x = Input("N... C...@axis", "rows", seq=(0, 1, 2))
    gain = Param("C", "scale per column", init="one")
    y = Output("N... C...@axis", "same shape as `x`")
    axis = Int("first normalized axis: 1 is the first after the batch axis, -1 the last", default=1)
    epsilon = Float(
        "epsilon for numerical stability, added to the mean square", default=1e-5, above=0, aliases=("eps",)
    )
    scale = Temp("N...", "one over the root of the mean square")
    dot = Temp("N...", "mean of the gradient times gain and normalised value")
    examples = (
        Example(x="7"),
        Example(x="2", epsilon=0.1),
        Example(x="sequence of 4", act="relu"),
        Example(x="2x3x4", axis=-1),
        Example(x="2x3x2", axis=2),
    )


@infer(RmsNorm)
def rms_norm_columns(C):
    require(C > 1, "x", "the only column of a row would become 1 or -1, whatever it holds")
    return {}


@each(RmsNorm.scale)
def rms_norm_scale(n, x, C, epsilon):
    total = sum(x[n, c] * x[n, c] for c in range(C))
    return 1.0 / math.sqrt(total / real(C) + epsilon)


@each(RmsNorm.y)
def rms_norm_y(n, c, x, scale, gain):
    return x[n, c] * scale[n] * gain[c]


@each(RmsNorm.dot)
def rms_norm_dot(n, dy, x, scale, gain, C):
    total = sum(dy[n, c] * gain[c] * x[n, c] for c in range(C))
    return total * scale[n] / real(C)


@gradient(RmsNorm.x)
def rms_norm_dx(n, c, dy, x, scale, gain, dot):
    # The gradient without its component along the normalized row.
    return scale[n] * (dy[n, c] * gain[c] - x[n, c] * scale[n] * dot[n])


@onnx(RmsNorm)
def rms_norm_onnx(graph, x, gain, epsilon, axis):
    first = place_of_axis(axis, x)
    mean = graph.ReduceMean(graph.Mul(x, x), list(range(first, len(x.dims) + 1)), keepdims=1)
    own = graph.constant(gain.array.reshape(x.dims[first - 1 :]), "gain") if len(x.dims) > first else gain
    return graph.Mul(graph.Div(x, graph.Sqrt(graph.Add(mean, epsilon))), own)


@layer(
    "row_l2_norm",
    elsewhere={"Paddle": "row_l2_norm", "ONNX": "LpNormalization"},
    terms=("L2 normalization", "unit norm", "normalize"),
    since=1,
)
class RowL2Norm:
    """L2 normalization: divides each row by its Euclidean norm, `y = x / sqrt(sum_c x[c] ** 2)`.

    A zero row is unchanged and has no gradient. Paddle returns NaN there.
    """

    x = Input("N C", "rows", seq=(0, 1, 2))
    y = Output("N C", "rows with norm 1")
    shrink = Temp("N", "inverse norm of the row, 0 for zeros")
    dot = Temp("N", "gradient of the row times its output")
    examples = (Example(x="5"), Example(x="nested sequence of 2"), Example(x="1"))


@each(RowL2Norm.shrink)
def row_l2_norm_shrink(n, x, C):
    total = sum(x[n, c] * x[n, c] for c in range(C))
    # 0 for a row of zeros instead of 0 / 0.
    return 0.0 if total == 0.0 else 1.0 / math.sqrt(total)


@each(RowL2Norm.y)
def row_l2_norm_y(n, c, x, shrink):
    return x[n, c] * shrink[n]


@each(RowL2Norm.dot)
def row_l2_norm_dot(n, dy, y, C):
    return sum(dy[n, c] * y[n, c] for c in range(C))


@gradient(RowL2Norm.x)
def row_l2_norm_dx(n, c, dy, y, shrink, dot):
    # The component along the row is removed: the norm is fixed. `y` serves, so that `x` may be overwritten.
    return (dy[n, c] - y[n, c] * dot[n]) * shrink[n]


@onnx(RowL2Norm)
def row_l2_norm_onnx(graph, x):
    length = graph.ReduceL2(x, [1], keepdims=1)
    return graph.Div(x, graph.Where(graph.Equal(length, 0.0), 1.0, length))


@layer(
    "sum_to_one_norm",
    elsewhere={"Paddle": "sum_to_one_norm"},
    terms=("L1 normalization", "sum to one"),
    since=1,
)
class SumToOneNorm:
    """L1 normalization of nonnegative values: divides each row by its sum, `y = x / sum_c x[c]`.

    Paddle fails for a row whose sum is not positive; here it is divided nevertheless, and one whose sum is zero becomes
    infinite or NaN.
    """

    x = Input("N C", "nonnegative weights", seq=(0, 1, 2), within=(0.1, 2.0))
    y = Output("N C", "rows with sum 1")
    total = Temp("N", "sum of the row")
    dot = Temp("N", "gradient of the row times its output")
    examples = (Example(x="5"), Example(x="sequence of 2"), Example(x="1"))


@each(SumToOneNorm.total)
def sum_to_one_norm_total(n, x, C):
    return sum(x[n, c] for c in range(C))


@each(SumToOneNorm.y)
def sum_to_one_norm_y(n, c, x, total):
    return x[n, c] / total[n]


@each(SumToOneNorm.dot)
def sum_to_one_norm_dot(n, dy, y, C):
    return sum(dy[n, c] * y[n, c] for c in range(C))


@gradient(SumToOneNorm.x)
def sum_to_one_norm_dx(n, c, dy, total, dot):
    # Sums are fixed: the common part of the gradient, `dot`, has no effect.
    return (dy[n, c] - dot[n]) / total[n]


@onnx(SumToOneNorm)
def sum_to_one_norm_onnx(graph, x):
    return graph.Div(x, graph.ReduceSum(x, [1], keepdims=1))


@layer(
    "data_norm",
    elsewhere={"Paddle": "data_norm"},
    terms=("standardization", "feature scaling", "data normalization", "Normalization"),
    since=1,
)
class DataNorm:
    """Standardization of input features: zero mean and unit standard deviation over the training data.

    `y = (x - mean) / deviation`. It reads a data layer: before its first step a training measures both on the data of
    the training phase, including transforms but without random ones, and saves them with the weights, so that other
    data are transformed in the same way. Until then the layer is the identity (mean 0, deviation 1). A constant column
    keeps the deviation 1. Paddle measures in a separate program, and has two more ways to scale; `batch_norm` measures
    every batch.
    """

    x = Input("N C ...", "feature vectors or images of a data layer", seq=(0, 1, 2))
    mean = State("C", "mean of the training data")
    deviation = State("C", "standard deviation of the training data", init="one")
    y = Output("N C ...", "same shape as `x`")
    examples = (Example(x="3"), Example(x="2x3x2"), Example(x="sequence of 1"))


@each(DataNorm.y)
def data_norm_y(n, c, i, x, mean, deviation):
    return (x[n, c, i] - mean[c]) / deviation[c]


@onnx(DataNorm)
def data_norm_onnx(graph, x, mean, deviation):
    return graph.Div(graph.Sub(x, graph.channels(mean, x)), graph.channels(deviation, x))


@layer(
    "target_norm",
    elsewhere={"scikit-learn": "TransformedTargetRegressor"},
    terms=("target standardization", "target scaling", "regression", "inverse transform", "denormalization"),
    since=1,
)
class TargetNorm:
    """Target standardization: predictions in the units of the data, and standardized targets for the loss.

    `y = x * deviation + mean`; `z = (target - mean) / deviation`. Mean and standard deviation of the target are
    measured and saved as those of `data_norm`, and both outputs use the same: `x` is the prediction in standard units,
    a loss compares it with `z`, and `y` is the output of the network for predictions, metrics and other frameworks.
    Without the target, as in predictions, `z` is NaN.
    """

    x = Input("N C ...", "predictions in standard units", seq=(0, 1, 2))
    target = Input("N C ...", "targets of a data layer", seq=(0, 1, 2), optional=True)
    mean = State("C", "mean of the targets in the training data")
    deviation = State("C", "standard deviation of the targets in the training data", init="one")
    y = Output("N C ...", "predictions in the units of the target")
    z = Output("N C ...", "standardized targets", nan="without labels")
    examples = (
        Example(x="1", target="1"),
        Example(x="3"),
        Example(x="2x3x2", target="2x3x2"),
        Example(x="sequence of 1", target="sequence of 1"),
    )


@each(TargetNorm.y)
def target_norm_y(n, c, i, x, mean, deviation):
    return x[n, c, i] * deviation[c] + mean[c]


@each(TargetNorm.z)
def target_norm_z(n, c, i, target, mean, deviation):
    return math.nan if target is None else (target[n, c, i] - mean[c]) / deviation[c]


@onnx(TargetNorm)
def target_norm_onnx(graph, x, target, mean, deviation):
    shift, scale = graph.channels(mean, x), graph.channels(deviation, x)
    z = graph.Mul(x, math.nan) if target is None else graph.Div(graph.Sub(target, shift), scale)
    return graph.Add(graph.Mul(x, scale), shift), z
