"""Group, instance and mean-variance normalization: statistics per sample, independent of the batch."""

import math

from paddle_layers.define import (
    Bias,
    Bool,
    Example,
    Float,
    Input,
    Int,
    Output,
    Param,
    Temp,
    body,
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
    "group_norm",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"ONNX": "GroupNormalization", "Keras": "GroupNormalization", "PyTorch": "GroupNorm"},
    terms=("group normalization",),
    since=1,
)
class GroupNorm:
    """Group normalization: normalizes each group of channels of a sample to zero mean and unit variance.

    `y = (x - mean) / sqrt(var + epsilon) * gain + bias`

    (Wu and He 2018). Mean and biased variance are computed over the `C / groups` channels of a group and all their
    pixels; `gain` and `bias` have one value per channel. One group is `layer_norm` with one gain per channel; as many
    groups as channels are `instance_norm`. Unlike `batch_norm` it is the same in all phases and for all batch sizes.
    """

    x = Input("N C ...", "feature vectors or images", seq=(0, 1, 2))
    gain = Param("C", "scale per channel", init="one")
    bias = Bias("C", "offset per channel")
    y = Output("N C ...", "same shape as `x`")
    groups = Int("number of groups of channels", min=1, axis="G", aliases=("num_groups",))
    epsilon = Float("epsilon for numerical stability, added to the variance", default=1e-5, above=0, aliases=("eps",))
    mean = Temp("N G", "mean of the group")
    scale = Temp("N G", "one over its standard deviation")
    a = Temp("N G", "mean of the gradient times gain")
    b = Temp("N G", "mean of the gradient times gain and normalised value")
    examples = (
        Example(x="4x2x3", groups=2),
        Example(x="6", groups=3, epsilon=0.1, bias=False),
        Example(x="3x2x2x2", groups=1, act="relu"),
        Example(x="sequence of 4x3", groups=2),
    )


@infer(GroupNorm)
def group_norm_check(C, groups):
    require(C % groups == 0, "groups", f"{groups} groups do not divide the number of channels, {C}")
    return {}


@each(GroupNorm.mean, GroupNorm.scale)
def group_norm_moments(n, g, x, C, G, epsilon):
    first, count = g * (C // G), real(C // G * x.shape[2])
    total = sum(x[n, c, i] for c in range(first, first + C // G) for i in range(x.shape[2]))
    mean = total / count
    # Two passes: `E[x ** 2] - E[x] ** 2` would cancel where the mean is large compared to the deviation.
    total = 0.0
    for c in range(first, first + C // G):
        for i in range(x.shape[2]):
            total += (x[n, c, i] - mean) * (x[n, c, i] - mean)
    return mean, 1.0 / math.sqrt(total / count + epsilon)


@each(GroupNorm.y)
def group_norm_y(n, c, i, x, mean, scale, gain, C, G):
    g = c // (C // G)
    return (x[n, c, i] - mean[n, g]) * scale[n, g] * gain[c]


@each(GroupNorm.a, GroupNorm.b)
def group_norm_sums(n, g, dy, x, mean, scale, gain, C, G):
    first, count = g * (C // G), real(C // G * x.shape[2])
    a = 0.0
    b = 0.0
    for c in range(first, first + C // G):
        for i in range(x.shape[2]):
            a += dy[n, c, i] * gain[c]
            # Centered before the product, for the same reason.
            b += dy[n, c, i] * gain[c] * (x[n, c, i] - mean[n, g])
    return a / count, b * scale[n, g] / count


@gradient(GroupNorm.x)
def group_norm_dx(n, c, i, dy, x, mean, scale, gain, a, b, C, G):
    g = c // (C // G)
    normal = (x[n, c, i] - mean[n, g]) * scale[n, g]
    return scale[n, g] * (dy[n, c, i] * gain[c] - a[n, g] - normal * b[n, g])


@onnx(GroupNorm)
def group_norm_onnx(graph, x, gain, bias, groups, epsilon):
    """Groups are the channels of an InstanceNormalization, which all engines have."""
    together = graph.shaped(x, groups, x.size // groups)
    normal = graph.InstanceNormalization(together, [1.0] * groups, [0.0] * groups, epsilon=epsilon)
    y = graph.Mul(graph.shaped(normal, *x.dims), graph.channels(gain, x))
    return y if bias is None else graph.Add(y, graph.channels(bias, x))


@layer(
    "instance_norm",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"ONNX": "InstanceNormalization", "PyTorch": "InstanceNorm1d, InstanceNorm2d, InstanceNorm3d"},
    terms=("instance normalization",),
    since=1,
)
class InstanceNorm:
    """Instance normalization: normalizes each channel of each image to zero mean and unit variance.

    Used in style transfer (Ulyanov, Vedaldi and Lempitsky 2016). It consists of a `group_norm` with one channel per
    group, whose parameters are `norm.gain` and `norm.bias`. PyTorch has them only with `affine=True`; without them, see
    `mvn`.
    """

    x = Input("N C ...", "images, 1-D signals or 3-D volumes", seq=(0, 1, 2))
    y = Output("N C ...", "same shape as `x`")
    epsilon = Float("epsilon for numerical stability, added to the variance", default=1e-5, above=0, aliases=("eps",))
    bias = Bool("add `norm.bias`, one value per channel", default=True)
    examples = (
        Example(x="2x3x2"),
        Example(x="3x4", epsilon=0.1, bias=False, act="relu"),
        Example(x="sequence of 1x2x2"),
    )


@infer(InstanceNorm)
def instance_norm_check(x):
    require(x.size > x.dims[0], "x", "a channel has one number only, which becomes 0 whatever it is")
    return {}


@body(InstanceNorm)
def instance_norm_body(net, x, epsilon, bias, C):
    return net.group_norm(x, groups=C, epsilon=epsilon, bias=bias, name="norm")


@layer(
    "mvn",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Caffe": "MVN", "ONNX": "MeanVarianceNormalization"},
    terms=("mean-variance normalization",),
    since=1,
)
class MeanVarianceNorm:
    """Mean-variance normalization of each channel of each image, without learned parameters.

    `y = (x - mean) / (sqrt(var) + epsilon)`; without `normalize_variance` only `x - mean`. `axis` and `end_axis` are
    the first and the last axis of the statistics: from axis 2 on, the pixels of a channel; from axis 1 on, the whole
    image, Caffe's `across_channels`. As in Caffe and ONNX, `epsilon` is added to the standard deviation, whereas
    `instance_norm` and `layer_norm` add it to the variance. ONNX's default axes include the batch: that is a
    `batch_norm` without running averages.
    """

    x = Input("N... C...@axis:end_axis ...", "images or feature vectors", seq=(0, 1, 2))
    y = Output("N... C...@axis:end_axis ...", "same shape as `x`")
    axis = Int("first axis of the statistics: 1 is the first after the batch axis", default=2)
    end_axis = Int("last axis of the statistics, -1 is the last", default=-1)
    normalize_variance = Bool("divide by the standard deviation", default=True)
    epsilon = Float(
        "epsilon for numerical stability, added to the standard deviation", default=1e-9, above=0, aliases=("eps",)
    )
    mean = Temp("N... ...", "mean over the axes")
    deviation = Temp("N... ...", "standard deviation")
    a = Temp("N... ...", "mean of the gradient")
    b = Temp("N... ...", "mean of the gradient times the difference to the mean")
    examples = (
        Example(x="2x3x2"),
        Example(x="2x3x4", axis=1, epsilon=0.1, act="tanh"),
        Example(x="3x4x2", axis=2, end_axis=2, normalize_variance=False),
        Example(x="sequence of 5", axis=-1),
    )


@each(MeanVarianceNorm.mean, MeanVarianceNorm.deviation)
def mvn_moments(n, i, x, C):
    total = sum(x[n, c, i] for c in range(C))
    mean = total / real(C)
    # Two passes, as in `group_norm`.
    total = sum((x[n, c, i] - mean) * (x[n, c, i] - mean) for c in range(C))
    return mean, math.sqrt(total / real(C))


@each(MeanVarianceNorm.y)
def mvn_y(n, c, i, x, mean, deviation, normalize_variance, epsilon):
    if not normalize_variance:
        return x[n, c, i] - mean[n, i]
    return (x[n, c, i] - mean[n, i]) / (deviation[n, i] + epsilon)


@each(MeanVarianceNorm.a, MeanVarianceNorm.b)
def mvn_sums(n, i, dy, x, mean, C):
    a = 0.0
    b = 0.0
    for c in range(C):
        a += dy[n, c, i]
        b += dy[n, c, i] * (x[n, c, i] - mean[n, i])
    return a / real(C), b / real(C)


@gradient(MeanVarianceNorm.x)
def mvn_dx(n, c, i, dy, x, mean, deviation, a, b, normalize_variance, epsilon):
    if not normalize_variance:
        return dy[n, c, i] - a[n, i]
    # The derivative of the square root is infinite at 0, where all differences to the mean are 0 too.
    divisor = deviation[n, i] + epsilon
    spread = 0.0 if deviation[n, i] == 0.0 else b[n, i] / (deviation[n, i] * divisor)
    return (dy[n, c, i] - a[n, i] - (x[n, c, i] - mean[n, i]) * spread) / divisor


@onnx(MeanVarianceNorm)
def mvn_onnx(graph, x, axis, end_axis, normalize_variance, epsilon):
    axes = list(range(place_of_axis(axis, x), place_of_axis(end_axis, x) + 1)) if x.dims else []
    if not axes:  # one number a row is its own mean
        return graph.Sub(x, x)
    if normalize_variance and epsilon == 1e-9:  # the number in ONNX's definition
        return graph.MeanVarianceNormalization(x, axes=axes)
    around = graph.Sub(x, graph.ReduceMean(x, axes, keepdims=1))
    if not normalize_variance:
        return around
    variance = graph.ReduceMean(graph.Mul(around, around), axes, keepdims=1)
    return graph.Div(around, graph.Add(graph.Sqrt(variance), epsilon))
