"""Activation functions. Any of them can be used as the attribute `act`."""

import math

from paddle_layers.define import (
    Bool,
    Choice,
    Example,
    Float,
    Input,
    Int,
    Output,
    Param,
    Temp,
    each,
    gradient,
    infer,
    layer,
    onnx,
)
from paddle_layers.layers.axes import along_axes, place_of_axis
from paddle_layers.layers.helpers import gelu, gelu_derivative, sigmoid, times

GELU_SLOPE = 1.5957691216057308  # 2 * sqrt(2 / pi)
GELU_CUBE = 0.044715


@layer(
    "relu",
    elsewhere={
        "Paddle": "relu",
        "Caffe": "ReLU",
        "Mocha": "ReLU",
        "KUnet": "Relu",
        "ONNX": "Relu",
        "Keras": "ReLU, LeakyReLU",
        "PyTorch": "ReLU, LeakyReLU",
    },
    terms=("rectified linear unit", "leaky ReLU", "relu activation"),
    since=1,
)
class Relu:
    """Rectified linear unit (ReLU): `y = max(x, 0)`, or leaky ReLU with a `negative_slope`.

    `y = x` for `x > 0`, else `negative_slope * x`; the derivative at 0 is `negative_slope`, as in Caffe. With slope 0,
    minus infinity becomes 0. The slope is 0 in Paddle, KUnet and Mocha's ReLU, and 0.01 in Mocha's LReLU; ONNX's
    equivalent with a slope is LeakyRelu.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2), kinks=(0.0,))
    y = Output("...", "same shape as `x`")
    negative_slope = Float("slope for negative values", default=0.0, min=0)
    examples = (Example(x="5"), Example(x="sequence of 2x3x3", negative_slope=0.1), Example(x="scalar"))


@each(Relu.y)
def relu_y(i, x, negative_slope):
    return x[i] if x[i] > 0.0 else times(negative_slope, x[i])


@gradient(Relu.x)
def relu_dx(i, dy, y, negative_slope):
    # By the output, so that it may overwrite `x`; a derived gradient reads `x`.
    return dy[i] if y[i] > 0.0 else times(negative_slope, dy[i])  # `y > 0` exactly where `x > 0`


@onnx(Relu)
def relu_onnx(graph, x, negative_slope):
    return graph.LeakyRelu(x, alpha=negative_slope) if negative_slope else graph.Relu(x)


@layer(
    "elu",
    elsewhere={"Caffe": "ELU", "ONNX": "Elu", "Keras": "ELU", "PyTorch": "ELU"},
    terms=("exponential linear unit",),
    since=1,
)
class Elu:
    """Exponential linear unit (ELU): `y = x` for `x > 0`, else `alpha * (exp(x) - 1)`.

    Clevert et al., "Fast and accurate deep network learning by exponential linear units" (2015). Caffe and ONNX have
    the same default.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2), kinks=(0.0,))
    y = Output("...", "same shape as `x`")
    alpha = Float("negative of the limit for large negative values", default=1.0, min=0)
    examples = (Example(x="5"), Example(x="nested sequence of 3", alpha=0.3), Example(x="2x3x3", alpha=0.0))


@each(Elu.y)
def elu_y(i, x, alpha):
    return x[i] if x[i] > 0.0 else alpha * math.expm1(x[i])


@gradient(Elu.x)
def elu_dx(i, dy, y, alpha):
    # By the output, without an exponential: y + alpha is alpha * exp(x).
    return dy[i] if y[i] > 0.0 else dy[i] * (y[i] + alpha)


@onnx(Elu)
def elu_onnx(graph, x, alpha):
    return graph.Elu(x, alpha=alpha)


@layer(
    "sigmoid",
    elsewhere={
        "Paddle": "sigmoid",
        "Caffe": "Sigmoid",
        "Mocha": "Sigmoid",
        "KUnet": "Sigm",
        "ONNX": "Sigmoid",
        "Keras": "sigmoid",
        "PyTorch": "Sigmoid",
    },
    terms=("sigmoid", "logistic function"),
    since=1,
)
class Sigmoid:
    """Sigmoid (logistic function): `y = 1 / (1 + exp(-x))`.

    Computed without overflow; `dx = dy * y * (1 - y)`.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2))
    y = Output("...", "same shape as `x`, between 0 and 1")
    examples = (Example(x="5"), Example(x="sequence of 3"), Example(x="2x3x3"))


@each(Sigmoid.y)
def sigmoid_y(i, x):
    return sigmoid(x[i])


@gradient(Sigmoid.x)
def sigmoid_dx(i, dy, y):
    return dy[i] * y[i] * (1.0 - y[i])  # by the output: no second exponential


@onnx(Sigmoid)
def sigmoid_onnx(graph, x):
    return graph.Sigmoid(x)


@layer(
    "tanh",
    elsewhere={
        "Paddle": "tanh",
        "Caffe": "TanH",
        "Mocha": "Tanh",
        "KUnet": "Tanh",
        "ONNX": "Tanh",
        "Keras": "tanh",
        "PyTorch": "Tanh",
    },
    terms=("hyperbolic tangent",),
    since=1,
)
class Tanh:
    """Hyperbolic tangent: `y = tanh(x)`.

    `dx = dy * (1 - y * y)`.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2))
    y = Output("...", "same shape as `x`, between -1 and 1")
    examples = (Example(x="5"), Example(x="nested sequence of 3"), Example(x="2x3x3"))


@each(Tanh.y)
def tanh_y(i, x):
    return math.tanh(x[i])


@onnx(Tanh)
def tanh_onnx(graph, x):
    return graph.Tanh(x)


@layer(
    "gelu",
    elsewhere={"ONNX": "Gelu", "Keras": "gelu", "PyTorch": "GELU"},
    terms=("Gaussian error linear unit",),
    since=1,
)
class Gelu:
    """Gaussian error linear unit (GELU): `x` times the standard normal distribution function of `x`.

    `y = x * (1 + erf(x / sqrt(2))) / 2`, or with `approximate: TANH`
    `y = x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2`. Hendrycks and Gimpel, "Gaussian error linear units"
    (2016). ONNX has the same choice under the same name.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2))
    y = Output("...", "same shape as `x`")
    approximate = Choice(
        "computation of the normal distribution function",
        options={"NONE": "exact, by the error function", "TANH": "approximation by the hyperbolic tangent"},
        default="NONE",
    )
    examples = (Example(x="5"), Example(x="sequence of 2x3", approximate="TANH"))


@each(Gelu.y)
def gelu_y(i, x, approximate):
    if approximate == "TANH":  # 1 + tanh(z) is 2 * sigmoid(2 * z)
        return times(sigmoid(GELU_SLOPE * (x[i] + GELU_CUBE * x[i] * x[i] * x[i])), x[i])
    return gelu(x[i])


@gradient(Gelu.x)
def gelu_dx(i, dy, x, approximate):
    if approximate == "TANH":  # not derived: the product rule gives 0 times infinity far out
        p = sigmoid(GELU_SLOPE * (x[i] + GELU_CUBE * x[i] * x[i] * x[i]))
        if p * (1.0 - p) == 0.0:  # far out, where the cubic may be infinite
            return dy[i] * p
        return dy[i] * p * (1.0 + x[i] * (1.0 - p) * GELU_SLOPE * (1.0 + 3.0 * GELU_CUBE * x[i] * x[i]))
    return dy[i] * gelu_derivative(x[i])


@onnx(Gelu)
def gelu_onnx(graph, x, approximate):
    return graph.Gelu(x, approximate=approximate.lower())


@layer(
    "linear",
    elsewhere={"Paddle": "linear", "Mocha": "Identity", "ONNX": "Identity", "Keras": "linear", "PyTorch": "Identity"},
    terms=("identity", "pass-through"),
    since=1,
)
class Linear:
    """Identity: `y = x`, the default activation. For a fully connected (linear) layer see `fc`."""

    x = Input("...", "values of any shape", seq=(0, 1, 2))
    y = Output("...", "the same values")
    examples = (Example(x="5"), Example(x="nested sequence of 2x3x3"))


@each(Linear.y)
def linear_y(i, x):
    return x[i]


@onnx(Linear)
def linear_onnx(graph, x):
    return x


@layer(
    "softmax",
    elsewhere={
        "Paddle": "softmax, pixel_softmax",
        "Caffe": "Softmax",
        "Mocha": "SoftmaxLayer",
        "KUnet": "Soft",
        "ONNX": "Softmax",
        "Keras": "Softmax",
        "PyTorch": "Softmax",
    },
    terms=("softmax",),
    since=1,
)
class Softmax:
    """Softmax along an axis, by default over the columns of a row or the channels of an image.

    `y[n, c] = exp(x[n, c] - peak[n]) / sum over d of exp(x[n, d] - peak[n])`, where `peak` is the maximum, which
    prevents overflow. The gradient is `y * (dy - sum over d of dy[n, d] * y[n, d])`. Caffe (`axis` 1) and Mocha (`dim`
    -2) normalize over the channels too; ONNX and PyTorch often use the last axis. Paddle and KUnet normalize over all
    values of an image: add a `flatten` before the layer.
    """

    x = Input("N... C@axis ...", "scores", seq=(0, 1, 2))
    y = Output("N... C@axis ...", "probabilities: the channels sum to one")
    axis = Int("normalized axis: 1 is the first after the batch axis, -1 the last", default=1)
    peak = Temp("N... ...", "largest score")
    total = Temp("N... ...", "sum of the exponentials")
    dot = Temp("N... ...", "gradient times output")
    examples = (
        Example(x="5"),
        Example(x="3x2x5"),
        Example(x="sequence of 4"),
        Example(x="1"),
        Example(x="2x3x4", axis=-1),
        Example(x="2x3x2", axis=2),
    )


@each(Softmax.peak)
def softmax_peak(n, i, x, C):
    best = x[n, 0, i]
    for c in range(1, C):
        best = max(best, x[n, c, i])
    return best


@each(Softmax.total)
def softmax_total(n, i, x, peak, C):
    total = 0.0
    for c in range(C):
        total += math.exp(x[n, c, i] - peak[n, i])  # at most 1, and 1 for the maximum
    return total


@each(Softmax.y)
def softmax_y(n, c, i, x, peak, total):
    return math.exp(x[n, c, i] - peak[n, i]) / total[n, i]


@each(Softmax.dot)
def softmax_dot(n, i, y, dy, C):
    return sum(y[n, c, i] * dy[n, c, i] for c in range(C))


@gradient(Softmax.x)
def softmax_dx(n, c, i, y, dy, dot):
    return y[n, c, i] * (dy[n, c, i] - dot[n, i])  # from the output, so that `x` may be overwritten


@onnx(Softmax)
def softmax_onnx(graph, x, axis):
    return graph.Softmax(x, axis=place_of_axis(axis, x))


@layer(
    "prelu",
    elsewhere={"Paddle": "prelu", "Caffe": "PReLU", "ONNX": "PRelu", "Keras": "PReLU", "PyTorch": "PReLU"},
    terms=("parametric ReLU",),
    since=1,
)
class Prelu:
    """Parametric ReLU (PReLU): leaky ReLU with learned slopes, per channel, along other axes, or shared.

    `y = x` for `x > 0`, else `slope * x`. He et al., "Delving deep into rectifiers" (2015). `axis` and `end_axis` are
    the first and the last axis with separate slopes: from 1 to -1 means one slope per element.

    Caffe has one per channel or one in total. Paddle's `partial_sum` of height times width is one slope per channel;
    its default of 1 is one per element. Keras has one per element, except along its `shared_axes`.
    """

    x = Input("N... C...@axis:end_axis ...", "feature vectors or images", seq=(0, 1, 2), kinks=(0.0,))
    slope = Param("K", "slope for negative values, one per channel or only one", init=("constant", {"value": 0.25}))
    y = Output("N... C...@axis:end_axis ...", "same shape as `x`")
    channel_shared = Bool("one slope for all channels", default=False)
    axis = Int("first axis with separate slopes: 1 is the first after the batch axis, -1 the last", default=1)
    end_axis = Int("last axis with separate slopes", default_from="axis")
    examples = (
        Example(x="5"),
        Example(x="3x2x5"),
        Example(x="sequence of 3x2", channel_shared=True),
        Example(x="2x3", end_axis=-1),
        Example(x="2x3x4", axis=2, end_axis=2),
    )


@infer(Prelu)
def prelu_sizes(C, channel_shared):
    return {"K": 1 if channel_shared else C}


@each(Prelu.y)
def prelu_y(n, c, i, x, slope, channel_shared):
    k = 0 if channel_shared else c
    return x[n, c, i] if x[n, c, i] > 0.0 else times(slope[k], x[n, c, i])


@gradient(Prelu.x)
def prelu_dx(n, c, i, dy, x, slope, channel_shared):
    k = 0 if channel_shared else c
    return dy[n, c, i] if x[n, c, i] > 0.0 else times(slope[k], dy[n, c, i])  # a slope may become negative


@gradient(Prelu.slope)
def prelu_dslope(k, dy, x, channel_shared, C):
    first = 0 if channel_shared else k
    last = C if channel_shared else k + 1
    total = 0.0
    for n in range(x.shape[0]):
        for c in range(first, last):
            for i in range(x.shape[2]):
                total += dy[n, c, i] * min(x[n, c, i], 0.0)
    return total


@onnx(Prelu)
def prelu_onnx(graph, x, slope, channel_shared, axis, end_axis):
    return graph.PRelu(x, graph.channels(slope, x) if channel_shared else along_axes(graph, slope, x, axis, end_axis))
