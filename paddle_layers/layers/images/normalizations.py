"""Batch normalization, local response normalization and L2 normalization across channels."""

import math

import numpy as np

from paddle_layers.define import (
    Bias,
    Bool,
    Choice,
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
    joined,
    layer,
    onnx,
    real,
    require,
    update,
)


@layer(
    "batch_norm",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={
        "Paddle": "batch_norm",
        "Caffe": "BatchNorm",
        "ONNX": "BatchNormalization",
        "Keras": "BatchNormalization",
        "PyTorch": "BatchNorm1d, BatchNorm2d, SyncBatchNorm",
    },
    terms=("batch normalization", "synchronized batch normalization", "batch renormalization"),
    since=1,
)
class BatchNorm:
    """Batch normalization: normalizes each channel to zero mean and unit variance over the batch.

    `y = (x - mean) / sqrt(var + epsilon) * gain + bias`

    (Ioffe and Szegedy 2015). In training, mean and biased variance of a channel are computed over all samples and
    pixels of the batch, and the running averages are updated in every step:

    `running = momentum * running + (1 - momentum) * batch`

    In the test phase the running averages are used instead. An empty batch uses the running averages and leaves them
    unchanged.

    Paddle: `momentum` is its `moving_average_fraction`, 0.9. PyTorch's `momentum` is `1 - momentum` here. Caffe: 0.999,
    the running variance is the unbiased one (`unbiased`), the averages are not initialized with 0 and 1 but divided by
    the accumulated weights, and `gain` and `bias` are a separate Scale layer. With `use_global_stats` true the running
    averages are used in training too and not updated, with false the statistics of the batch are used in the test phase
    too.

    With `r_max` or `d_max` it is batch renormalization (Ioffe 2017): in training, the statistics of the batch are
    corrected towards the running averages, within two limits:

    `y = ((x - mean) / sqrt(var + epsilon) * r + d) * gain + bias`

    where `r = sqrt(var + epsilon) / sqrt(running_var + epsilon)`, between `1 / r_max` and `r_max`, and
    `d = (mean - running_mean) / sqrt(running_var + epsilon)`, between `-d_max` and `d_max`, with the running averages
    from before the step. Both are constants in the gradient. The paper starts with limits of 1 and 0, which is batch
    normalization, and raises them to 3 and 5; here a training uses one value of each.

    If several processes share a batch, each normalizes by its own samples, unless `synchronised` is set: then by those
    of all processes. That takes two all-reduce operations in the forward pass and one in the backward pass.
    """

    x = Input("N C ...", "feature vectors or images", seq=(0, 1, 2), derivative=False)  # r and d count as constants
    gain = Param("C", "scale per channel", init="one")
    bias = Bias("C")
    running_mean = State("C", "moving average of the batch means", init="zero")
    running_var = State("C", "moving average of the batch variances", init="one")
    y = Output("N C ...", "same shape as `x`")
    momentum = Float("decay of the running averages", default=0.9, min=0, max=1, aliases=("moving_average_fraction",))
    epsilon = Float("epsilon for numerical stability, added to the variance", default=1e-5, above=0, aliases=("eps",))
    use_global_stats = Bool("normalize by the running averages; if absent, only in the test phase", optional=True)
    unbiased = Bool("average the unbiased variance estimate", default=False)
    r_max = Float("limit of the scale correction of batch renormalization; if absent, none", min=1, optional=True)
    d_max = Float(
        "limit of the mean correction of batch renormalization, in running standard deviations; if absent, none",
        min=0,
        optional=True,
    )
    synchronised = Bool("synchronize the statistics across processes (SyncBatchNorm)", default=False)
    mean = Temp("C", "mean used")
    var = Temp("C", "variance used")
    scale = Temp("C", "one over the standard deviation")
    count = Temp("C", "rows and pixels that the mean is of; zero for the running one")
    r = Temp("C", "factor of renormalisation")
    d = Temp("C", "summand of renormalisation")
    a = Temp("C", "sum of the gradient")
    b = Temp("C", "sum of the gradient times the normalised value")
    whole_a = Temp("C", "`a` of all processes that share the batch, where it is synchronised")
    whole_b = Temp("C", "`b` of all of them")
    examples = (
        Example(x="3x4x5"),
        Example(x="6", epsilon=0.1, bias=False),
        Example(x="2x3x3", use_global_stats=True),
        Example(x="4", use_global_stats=False, unbiased=True, momentum=0.5, act="relu"),
        Example(x="sequence of 3", synchronised=True),
        Example(x="2x3", r_max=1.25, d_max=0.5, momentum=0.5),
    )


@each(BatchNorm.mean, BatchNorm.var, BatchNorm.scale, BatchNorm.count)
def batch_norm_moments(c, x, running_mean, running_var, epsilon, use_global_stats, training):
    # An empty batch has no statistics: 0 / 0 would be NaN.
    if use_global_stats or (use_global_stats is None and not training) or x.shape[0] == 0:
        return running_mean[c], running_var[c], 1.0 / math.sqrt(running_var[c] + epsilon), 0.0
    count = real(x.shape[0] * x.shape[2])
    total = sum(x[n, c, i] for n in range(x.shape[0]) for i in range(x.shape[2]))
    # Two passes: the difference of the mean square and the squared mean would cancel for a mean that is large relative
    # to the deviation, and may become negative.
    mean = total / count
    total = sum((x[n, c, i] - mean) * (x[n, c, i] - mean) for n in range(x.shape[0]) for i in range(x.shape[2]))
    return mean, total / count, 1.0 / math.sqrt(total / count + epsilon), count


@joined(BatchNorm.mean, BatchNorm.var, BatchNorm.scale, BatchNorm.count, when="synchronised")
def batch_norm_joined_moments(mean, var, count, epsilon, use_global_stats, training, add_up):
    """Of the means and variances of parts those of the whole (Chan, Golub and LeVeque 1979)."""
    if use_global_stats or (use_global_stats is None and not training):
        return None
    sums = np.array([count, count * mean], np.float64)
    add_up(sums)
    # No process has a sample: the running averages stay in use.
    if not sums[0].any():
        return None
    # In float64 and around the joint mean, for the same reason as the two passes of a single process.
    centre = sums[1] / sums[0]
    squares = np.where(count > 0, count * (var + (mean - centre) ** 2), 0.0)
    add_up(squares)
    squares /= sums[0]
    return centre, squares, 1 / np.sqrt(squares + epsilon), sums[0]


@each(BatchNorm.r, BatchNorm.d)
def batch_norm_correction(c, mean, scale, running_mean, running_var, epsilon, r_max, d_max):
    # Limits of 1 and 0 are plain batch normalization.
    inverse = 1.0 / math.sqrt(running_var[c] + epsilon)
    factor = 1.0 if r_max is None else r_max
    summand = 0.0 if d_max is None else d_max
    r = min(max(inverse / scale[c], 1.0 / factor), factor)
    return r, min(max((mean[c] - running_mean[c]) * inverse, -summand), summand)


@each(BatchNorm.y)
def batch_norm_y(n, c, i, x, mean, scale, gain, r, d, r_max, d_max, training):
    if training and (r_max is not None or d_max is not None):
        return ((x[n, c, i] - mean[c]) * scale[c] * r[c] + d[c]) * gain[c]
    return (x[n, c, i] - mean[c]) * scale[c] * gain[c]


@update(BatchNorm.running_mean, BatchNorm.running_var)
def batch_norm_move(c, running_mean, running_var, mean, var, count, momentum, use_global_stats, unbiased):
    # Zero samples: fixed statistics or an empty batch, from which nothing is learned.
    if use_global_stats or count[c] == 0:
        return running_mean[c], running_var[c]
    batch = var[c]
    if unbiased:
        # A single value has no unbiased variance; its biased one is 0.
        batch = batch * (count[c] / max(count[c] - 1.0, 1.0))
    return (
        momentum * running_mean[c] + (1.0 - momentum) * mean[c],
        momentum * running_var[c] + (1.0 - momentum) * batch,
    )


@each(BatchNorm.a, BatchNorm.b, BatchNorm.whole_a, BatchNorm.whole_b)
def batch_norm_sums(c, dy, x, mean, scale):
    a = 0.0
    b = 0.0
    for n in range(x.shape[0]):
        for i in range(x.shape[2]):
            a += dy[n, c, i]
            # Centered inside the sum: `sum(dy * x) - mean * sum(dy)` would cancel.
            b += dy[n, c, i] * (x[n, c, i] - mean[c])
    # The common factor after the sum.
    b = b * scale[c]
    return a, b, a, b


@joined(BatchNorm.whole_a, BatchNorm.whole_b, when="synchronised")
def batch_norm_joined_sums(whole_a, whole_b, use_global_stats, training, add_up):
    if use_global_stats or (use_global_stats is None and not training):
        return None
    sums = np.array([whole_a, whole_b], np.float64)
    add_up(sums)
    return sums


@gradient(BatchNorm.x)
def batch_norm_dx(
    n, c, i, dy, x, mean, scale, count, gain, whole_a, whole_b, r, use_global_stats, r_max, d_max, training
):  # fmt: skip
    # Fixed statistics do not depend on the input.
    if use_global_stats or (use_global_stats is None and not training):
        return dy[n, c, i] * gain[c] * scale[c]
    along = whole_a[c] + (x[n, c, i] - mean[c]) * scale[c] * whole_b[c]
    delta = gain[c] * scale[c] * (dy[n, c, i] - along / count[c])
    return delta * r[c] if training and (r_max is not None or d_max is not None) else delta


@gradient(BatchNorm.gain)
def batch_norm_dgain(c, a, b, r, d, r_max, d_max, training):
    return b[c] * r[c] + a[c] * d[c] if training and (r_max is not None or d_max is not None) else b[c]


@onnx(BatchNorm)
def batch_norm_onnx(graph, x, gain, bias, running_mean, running_var, epsilon, use_global_stats):
    which = "in the test phase, too, it is the batch's averages that count"
    require(use_global_stats is None or use_global_stats, "use_global_stats", which)
    if bias is None:
        bias = [0.0] * len(gain.array)
    return graph.BatchNormalization(x, gain, bias, running_mean, running_var, epsilon=epsilon)


@layer(
    "lrn",
    elsewhere={"Paddle": "norm", "Caffe": "LRN", "Mocha": "LRNLayer", "ONNX": "LRN"},
    terms=("local response normalization",),
    since=1,
)
class LocalResponseNorm:
    """Local response normalization (LRN): divides by a power of the mean square of the neighborhood.

    `y = x * (shift + scale * s / count) ** -power` (Krizhevsky, Sutskever and Hinton 2012). Across channels, `s` is the
    sum of squares of `size` adjacent channels at the pixel and `count` is `size`; within a channel, `s` is the sum of
    squares in a window of `size` by `size` pixels and `count` is `size * size`. The neighborhood starts
    `(size - 1) // 2` before the element; elements outside are zero.

    Paddle's `norm` of the type `cmrnorm-projection` has `scale` 0.0128, `power` 0.75 and only `shift` 1; its type
    within a channel does not work, and its `cross-channel-norm` is another layer. Caffe names the attributes alpha,
    beta and k, with defaults 1, 0.75 and 1, and requires an odd `size`; so does Mocha, with `shift` fixed at 1 within a
    channel. ONNX supports only normalization across channels. All divide `scale` by `count` as here.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2))
    y = Output("N C H W", "same shape as `x`")
    size = Int("size of the neighborhood: channels, or height and width", default=5, min=1, aliases=("local_size",))
    scale = Float("weight of the mean square, alpha", default=0.0128, min=0, aliases=("alpha",))
    power = Float("exponent, beta", default=0.75, min=0, aliases=("beta",))
    shift = Float("offset of the weighted mean square, k", default=1.0, above=0, aliases=("k",))
    region = Choice(
        "normalization region",
        options={
            "ACROSS_CHANNELS": "neighboring channels at the same pixel",
            "WITHIN_CHANNEL": "neighboring pixels in the same channel",
        },
        default="ACROSS_CHANNELS",
        aliases=("norm_region",),
    )
    base = Temp("N C H W", "shift + scale * s / count")
    examples = (
        Example(x="6x2x3", size=3, scale=0.5),
        Example(x="5x2x2", size=4, scale=0.5, power=0.5, shift=2.0),
        Example(x="2x5x4", size=3, scale=0.5, region="WITHIN_CHANNEL"),
    )


@each(LocalResponseNorm.base)
def lrn_base(n, c, h, w, x, C, H, W, size, scale, shift, region):
    before = (size - 1) // 2
    total = 0.0
    if region == "ACROSS_CHANNELS":
        for d in range(max(0, c - before), min(C, c - before + size)):
            total += x[n, d, h, w] * x[n, d, h, w]
        return shift + scale / real(size) * total
    for r in range(max(0, h - before), min(H, h - before + size)):
        for s in range(max(0, w - before), min(W, w - before + size)):
            total += x[n, c, r, s] * x[n, c, r, s]
    return shift + scale / real(size * size) * total


@each(LocalResponseNorm.y)
def lrn_y(n, c, h, w, x, base, power):
    return x[n, c, h, w] * base[n, c, h, w] ** -power


@gradient(LocalResponseNorm.x)
def lrn_dx(n, c, h, w, dy, x, y, base, C, H, W, size, scale, power, region):
    after = (
        size // 2
    )  # a neighborhood reaches (size - 1) // 2 back, so an element is in those of size // 2 elements after it
    total = 0.0
    if region == "ACROSS_CHANNELS":
        for d in range(max(0, c - after), min(C, c - after + size)):
            total += dy[n, d, h, w] * y[n, d, h, w] / base[n, d, h, w]
        total = total / real(size)
    else:
        for r in range(max(0, h - after), min(H, h - after + size)):
            for s in range(max(0, w - after), min(W, w - after + size)):
                total += dy[n, c, r, s] * y[n, c, r, s] / base[n, c, r, s]
        total = total / real(size * size)
    # The first term is the direct derivative, the second the sum over all neighborhoods that contain the element.
    return dy[n, c, h, w] * base[n, c, h, w] ** -power - 2.0 * scale * power * x[n, c, h, w] * total


@onnx(LocalResponseNorm)
def lrn_onnx(graph, x, C, H, W, size, scale, power, shift, region):
    known = size % 2 == 1 and scale > 0 and power > 0  # to engines
    if region == "ACROSS_CHANNELS" and known:
        return graph.LRN(x, size=size, alpha=scale, beta=power, bias=shift)
    before, after = (size - 1) // 2, size // 2
    squares = graph.Mul(x, x)
    if region == "WITHIN_CHANNEL":
        window, pads = [size, size], [before, before, after, after]
    else:  # a mean over the rows of an image whose rows are the channels
        squares, window, pads = graph.shaped(squares, 1, C, H * W), [size, 1], [before, 0, after, 0]
    mean = graph.AveragePool(squares, kernel_shape=window, pads=pads, count_include_pad=1)
    base = graph.Add(graph.Mul(graph.shaped(mean, C, H, W), scale), shift)
    return graph.Mul(x, graph.Pow(base, -power))


@layer(
    "cross_channel_norm",
    elsewhere={"Paddle": "norm, cross_channel_norm_layer, normalize", "Caffe": "Normalize"},
    terms=("L2 normalization across channels", "L2Norm of SSD"),
    since=1,
)
class CrossChannelNorm:
    """L2 normalization across the channels of every pixel, with a learned scale per channel.

    `y = x / sqrt(s + epsilon) * scale`, where `s` is the sum of squares of all channels at the pixel (Liu, Rabinovich
    and Berg 2016, ParseNet). SSD applies it to its first feature maps, with an initial `scale` of 20. Caffe's Normalize
    has one scale for all channels if `channel_shared` is true, and the norm of the whole image if `across_spatial` is.
    """

    x = Input("N C ...", "feature vectors or images", seq=(0, 1, 2))
    scale = Param("C", "scale per channel", init="one")
    y = Output("N C ...", "same shape as `x`")
    epsilon = Float("epsilon for numerical stability, added to the sum of squares", default=1e-6, above=0)
    inverse = Temp("N ...", "one over the length of the pixel")
    along = Temp("N ...", "how far the gradient goes along the pixel")
    examples = (Example(x="3x4x5"), Example(x="6", epsilon=0.5), Example(x="sequence of 2x3"))


@each(CrossChannelNorm.inverse)
def cross_channel_norm_inverse(n, i, x, C, epsilon):
    total = sum(x[n, c, i] * x[n, c, i] for c in range(C))
    # Epsilon below the root: pixels of zeros have no length, and the derivative of the root is finite.
    return 1.0 / math.sqrt(total + epsilon)


@each(CrossChannelNorm.y)
def cross_channel_norm_y(n, c, i, x, inverse, scale):
    return x[n, c, i] * inverse[n, i] * scale[c]


@each(CrossChannelNorm.along)
def cross_channel_norm_along(n, i, x, dy, inverse, scale, C):
    total = sum(dy[n, c, i] * scale[c] * x[n, c, i] for c in range(C))
    return total * inverse[n, i] * inverse[n, i]


@gradient(CrossChannelNorm.x)
def cross_channel_norm_dx(n, c, i, dy, x, inverse, along, scale):
    return (dy[n, c, i] * scale[c] - along[n, i] * x[n, c, i]) * inverse[n, i]


@onnx(CrossChannelNorm)
def cross_channel_norm_onnx(graph, x, scale, epsilon):
    length = graph.Sqrt(graph.Add(graph.ReduceSum(graph.Mul(x, x), [1], keepdims=1), epsilon))
    return graph.Mul(graph.Div(x, length), graph.channels(scale, x))
