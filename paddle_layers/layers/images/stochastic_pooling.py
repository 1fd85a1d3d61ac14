"""Stochastic pooling: a sampled element of each window in training, the probability-weighted mean in the test phase."""

import math

from paddle_layers.define import (
    Choice,
    Example,
    Input,
    Int,
    Output,
    Temp,
    each,
    gradient,
    infer,
    layer,
    onnx,
)
from paddle_layers.layers.helpers import uniform
from paddle_layers.layers.images.pooling import first_window, windows


@layer(
    "stochastic_pool",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Caffe": "Pooling"},
    terms=("stochastic pooling",),
    since=1,
)
class StochasticPool:
    """Stochastic pooling: samples one element of each window in training, per channel (Zeiler and Fergus 2013).

    The probability of an element is `p_i = x_i / sum over j of x_j`. In training, `y` is the sampled element, which
    receives the whole gradient; in the test phase it is the expected value:

    `y = sum over i of p_i * x_i = sum of x_i ** 2 / sum of x_i`

    Values of 0 and below have probability 0, as after a `relu`. A window without a positive value gives 0 and no
    gradient, one with NaN gives NaN. The sample depends on the seed, the step and the position in the batch. Windows
    are those of `pool` without padding, which Caffe's `pool: STOCHASTIC` does not support either; Caffe does not check
    for negative values.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2), kinks=(0.0,), within=(0.0, 1.0))
    y = Output("N C P Q", "one value per window")
    pool_size = Int("window width", min=1, aliases=("kernel_size",))
    pool_size_y = Int("window height", min=1, default_from="pool_size")
    stride = Int("horizontal stride", default=1, min=1)
    stride_y = Int("vertical stride", min=1, default_from="stride")
    rounding = Choice(
        "treatment of a last window that exceeds the input",
        options={"CEIL": "it is kept, unless it starts after the last pixel", "FLOOR": "it is dropped"},
        default="CEIL",
    )
    total = Temp("N C P Q", "sum of the positive values")
    where = Temp("N C P Q", "index of the sampled element, h * W + w, or -1", kind="INT")
    examples = (
        Example(x="2x4x4", pool_size=2, stride=2),
        Example(x="1x5x6", pool_size=3, pool_size_y=2, stride=2, stride_y=1, rounding="FLOOR"),
        Example(x="sequence of 2x3x3", pool_size=2, stride=2),
    )


@infer(StochasticPool)
def stochastic_pool_sizes(H, W, pool_size, pool_size_y, stride, stride_y, rounding):
    return {
        "P": windows(H, pool_size_y, stride_y, 0, 0, rounding, "pool_size_y", "rows"),
        "Q": windows(W, pool_size, stride, 0, 0, rounding, "pool_size", "columns"),
    }


@each(StochasticPool.total)
def stochastic_pool_total(n, c, p, q, x, H, W, pool_size, pool_size_y, stride, stride_y):
    total = 0.0
    for h in range(p * stride_y, min(H, p * stride_y + pool_size_y)):
        for w in range(q * stride, min(W, q * stride + pool_size)):
            # `<=` is false for NaN, which therefore reaches the sum.
            total += 0.0 if x[n, c, h, w] <= 0.0 else x[n, c, h, w]
    return total


@each(StochasticPool.where)
def stochastic_pool_where(
    n, c, p, q, x, total, key, training, C, H, W, P, Q, pool_size, pool_size_y, stride, stride_y
):  # fmt: skip
    if not training:
        return -1
    # Scaled by the sum, so that probabilities need no normalization.
    wanted = uniform(key, ((n * C + c) * P + p) * Q + q) * total[n, c, p, q]
    reached = 0.0
    where = -1
    for h in range(p * stride_y, min(H, p * stride_y + pool_size_y)):
        for w in range(q * stride, min(W, q * stride + pool_size)):
            if math.isnan(x[n, c, h, w]):
                return h * W + w
            # The first element whose cumulative sum exceeds the sampled value, or the last one, if rounding left the
            # sum below.
            if x[n, c, h, w] > 0.0 and (where < 0 or reached <= wanted):
                where = h * W + w
                reached += x[n, c, h, w]
    return where


@each(StochasticPool.y)
def stochastic_pool_y(
    n, c, p, q, x, total, where, training, H, W, pool_size, pool_size_y, stride, stride_y
):  # fmt: skip
    if training:
        position = where[n, c, p, q]
        return x[n, c, position // W, position % W] if position >= 0 else 0.0
    if total[n, c, p, q] == 0.0:
        return 0.0
    mean = 0.0
    for h in range(p * stride_y, min(H, p * stride_y + pool_size_y)):
        for w in range(q * stride, min(W, q * stride + pool_size)):
            if not x[n, c, h, w] <= 0.0:
                # The square of a large value would overflow.
                mean += x[n, c, h, w] * (x[n, c, h, w] / total[n, c, p, q])
    return mean


@gradient(StochasticPool.x)
def stochastic_pool_dx(n, c, h, w, dy, where, W, P, Q, pool_size, pool_size_y, stride, stride_y):
    total = 0.0
    for p in range(first_window(h, pool_size_y, stride_y, 0), min(P, h // stride_y + 1)):
        for q in range(first_window(w, pool_size, stride, 0), min(Q, w // stride + 1)):
            if where[n, c, p, q] == h * W + w:
                total += dy[n, c, p, q]
    return total


@onnx(StochasticPool)
def stochastic_pool_onnx(graph, x, H, W, P, Q, pool_size, pool_size_y, stride, stride_y):
    """The ratio of two means: the numbers of elements that they divide by are the same."""
    pads = [0, 0, max((P - 1) * stride_y + pool_size_y - H, 0), max((Q - 1) * stride + pool_size - W, 0)]
    window = {"kernel_shape": [pool_size_y, pool_size], "strides": [stride_y, stride], "pads": pads}
    positive = graph.Max(x, 0.0)
    squares, total = (graph.AveragePool(one, **window) for one in (graph.Mul(positive, positive), positive))
    return graph.Div(squares, graph.Where(graph.Equal(total, 0.0), 1.0, total))
