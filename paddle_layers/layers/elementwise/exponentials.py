"""Exponential and logarithm, and activation functions based on them."""

import math

from paddle_layers.define import Example, Float, Input, Int, Output, Temp, each, gradient, infer, layer, onnx, require
from paddle_layers.layers.axes import place_of_axis
from paddle_layers.layers.helpers import sigmoid, times

from .activations import softmax_peak

# The fixed point at which activations keep zero mean and unit variance (Klambauer et al. 2017).
SELU_SCALE = 1.0507009873554805
SELU_LIMIT = 1.7580993408473766  # SELU_SCALE times alpha, 1.6732632423543772


@layer(
    "exp",
    elsewhere={
        "Paddle": "exponential",
        "Caffe": "Exp",
        "Mocha": "Exponential",
        "ONNX": "Exp",
        "Keras": "exponential",
        "PyTorch": "exp",
    },
    terms=("exponential",),
    since=1,
)
class Exp:
    """Elementwise exponential: `y = base ** (shift + scale * x)`.

    Without `base` it is e, for which Caffe writes -1. Overflow gives infinity: for exponents above 88 in float32, above
    709 in float64.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2))
    y = Output("...", "same shape as `x`, not below 0")
    base = Float("base; if absent, e", above=0, optional=True)
    scale = Float("factor of `x`", default=1.0)
    shift = Float("offset, added to `scale * x`", default=0.0)
    examples = (
        Example(x="5"),
        Example(x="2x3x3", base=2.0, scale=-0.5, shift=1.0),
        Example(x="sequence of 3", base=10.0),
    )


@each(Exp.y)
def exp_y(i, x, base, scale, shift):
    exponent = shift + scale * x[i]
    return math.exp(exponent) if base is None else base**exponent


@onnx(Exp)
def exp_onnx(graph, x, base, scale, shift):
    exponent = graph.Add(graph.Mul(x, scale), shift)
    return graph.Exp(exponent) if base is None else graph.Pow(base, exponent)


@layer(
    "log",
    elsewhere={"Paddle": "log", "Caffe": "Log", "ONNX": "Log", "Keras": "log", "PyTorch": "log"},
    terms=("logarithm",),
    since=1,
)
class Log:
    """Elementwise logarithm: `y = log(shift + scale * x) / log(base)`.

    Without `base` it is the natural logarithm, for which Caffe writes -1. The logarithm of 0 is minus infinity, as is
    the derivative there; that of a negative number is NaN. A small `shift` avoids both.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2), within=(0.2, 2.0))
    y = Output("...", "same shape as `x`", nan="for negative numbers")
    base = Float("base; if absent, e", above=0, optional=True)
    scale = Float("factor of `x`", default=1.0)
    shift = Float("offset, added to `scale * x`", default=0.0)
    examples = (
        Example(x="5"),
        Example(x="2x3x3", base=2.0, scale=0.5, shift=1.0),
        Example(x="sequence of 3", base=0.1),
    )


@infer(Log)
def log_check(base):
    require(base is None or base != 1.0, "base", "no power of 1 is another number: `base` is above or below 1")
    return {}


@each(Log.y)
def log_y(i, x, base, scale, shift):
    v = shift + scale * x[i]
    # Explicit cases: `math.log` of Python raises an error for 0 and negative numbers.
    if v > 0.0:
        value = math.log(v)
    else:
        value = -math.inf if v == 0.0 else math.nan
    return value if base is None else value / math.log(base)


@gradient(Log.x)
def log_dx(i, dy, x, base, scale, shift):
    # Not derived: the branch of 0 is constant, but the derivative there is infinite.
    slope = scale if base is None else scale / math.log(base)
    return dy[i] * slope / (shift + scale * x[i])


@onnx(Log)
def log_onnx(graph, x, base, scale, shift):
    value = graph.Log(graph.Add(graph.Mul(x, scale), shift))
    return value if base is None else graph.Div(value, math.log(base))


@layer(
    "softplus",
    elsewhere={
        "Paddle": "softrelu",
        "Caffe": "BNLL",
        "ONNX": "Softplus",
        "Keras": "softplus",
        "PyTorch": "Softplus",
    },
    terms=("softplus", "smooth ReLU"),
    since=1,
)
class Softplus:
    """Softplus: a smooth approximation of ReLU, `y = log(1 + exp(beta * x)) / beta`.

    Computed without overflow; `dx = dy * (1 - exp(-beta * y))`, the sigmoid of `beta * x`. Caffe calls it BNLL;
    Paddle's softrelu clips its input to [-40, 40]. PyTorch's `threshold`, above which it returns `x`, makes no
    difference in float32.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2))
    y = Output("...", "same shape as `x`, not below 0")
    beta = Float("sharpness of the transition", default=1.0, above=0)
    examples = (Example(x="5"), Example(x="2x3x3", beta=3.0), Example(x="nested sequence of 3", beta=0.25))


@each(Softplus.y)
def softplus_y(i, x, beta):
    v = beta * x[i]
    # `log(1 + exp(v))` without overflow: the argument of `exp` is never positive, and `log1p` keeps a small result.
    return (max(v, 0.0) + math.log1p(math.exp(-abs(v)))) / beta


@gradient(Softplus.x)
def softplus_dx(i, dy, y, beta):
    # By the output: `1 - exp(-beta * y)` is the sigmoid of `beta * x`; `expm1` keeps its digits where it is small.
    return -dy[i] * math.expm1(-beta * y[i])


@onnx(Softplus)
def softplus_onnx(graph, x, beta):
    return graph.Div(graph.Softplus(graph.Mul(x, beta)), beta)


@layer(
    "swish",
    elsewhere={"Caffe": "Swish", "ONNX": "Swish", "Keras": "swish, silu", "PyTorch": "SiLU"},
    terms=("SiLU", "sigmoid linear unit", "swish"),
    since=1,
)
class Swish:
    """Swish: `y = x * sigmoid(beta * x)`; with `beta` 1 it is the sigmoid linear unit (SiLU).

    Computed without overflow, and 0 at minus infinity. Ramachandran et al., "Searching for activation functions"
    (2017). ONNX calls `beta` alpha.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2))
    y = Output("...", "same shape as `x`")
    beta = Float("steepness; 0 is half of `x`, and a large one `relu`", default=1.0)
    examples = (Example(x="5"), Example(x="2x3x3", beta=2.0), Example(x="sequence of 3", beta=-0.5))


@each(Swish.y)
def swish_y(i, x, beta):
    # `times`: 0 at minus infinity, where the sigmoid is 0.
    return times(sigmoid(beta * x[i]), x[i])


@gradient(Swish.x)
def swish_dx(i, dy, x, beta):
    # By the input: swish is not monotonic, so that the output does not determine the derivative.
    s = sigmoid(beta * x[i])
    # `times`: at infinity the derivative of the sigmoid is 0, and `beta * x` infinite.
    return dy[i] * (s + times(s * (1.0 - s), beta * x[i]))


@onnx(Swish)
def swish_onnx(graph, x, beta):
    return graph.Mul(x, graph.Sigmoid(graph.Mul(x, beta)))


@layer(
    "selu",
    elsewhere={"ONNX": "Selu", "Keras": "selu", "PyTorch": "SELU"},
    terms=("scaled exponential linear unit",),
    since=1,
)
class Selu:
    """Scaled exponential linear unit (SELU): activation of self-normalizing networks.

    `y = scale * x` for `x > 0`, else `scale * alpha * (exp(x) - 1)`, with scale 1.0507 and alpha 1.6733. Klambauer et
    al., "Self-normalizing neural networks" (2017), who derive the two constants; ONNX has them as defaults. The
    preceding weights should be initialized by `gaussian` with a standard deviation of one over the square root of the
    number of inputs (LeCun normal).
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2), kinks=(0.0,))
    y = Output("...", "same shape as `x`, above -1.7581")
    examples = (Example(x="5"), Example(x="2x3x3"), Example(x="sequence of 3"))


@each(Selu.y)
def selu_y(i, x):
    return SELU_SCALE * x[i] if x[i] > 0.0 else SELU_LIMIT * math.expm1(x[i])


@gradient(Selu.x)
def selu_dx(i, dy, y):
    # y + SELU_LIMIT is SELU_LIMIT * exp(x).
    return dy[i] * SELU_SCALE if y[i] > 0.0 else dy[i] * (y[i] + SELU_LIMIT)


@onnx(Selu)
def selu_onnx(graph, x):
    return graph.Selu(x)


@layer("stanh", elsewhere={"Paddle": "stanh"}, terms=("scaled hyperbolic tangent",), since=1)
class Stanh:
    """Scaled hyperbolic tangent: `y = scale * tanh(slope * x)`.

    LeCun et al., "Efficient backprop" (1998), with the constants 1.7159 and 2/3 of the defaults, which are fixed in
    Paddle.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2))
    y = Output("...", "same shape as `x`, between -`scale` and `scale`")
    scale = Float("limit of the outputs", default=1.7159, above=0)
    slope = Float("factor of `x`", default=2 / 3)
    examples = (Example(x="5"), Example(x="2x3x3", scale=0.5, slope=2.0), Example(x="sequence of 3", slope=-1.0))


@each(Stanh.y)
def stanh_y(i, x, scale, slope):
    return scale * math.tanh(slope * x[i])


@gradient(Stanh.x)
def stanh_dx(i, dy, y, scale, slope):
    # `scale * slope * (1 - tanh ** 2)`, from the output.
    return dy[i] * slope * (scale - y[i] * y[i] / scale)


@onnx(Stanh)
def stanh_onnx(graph, x, scale, slope):
    return graph.Mul(graph.Tanh(graph.Mul(x, slope)), scale)


@layer(
    "erf",
    elsewhere={"ONNX": "Erf", "Keras": "erf", "PyTorch": "erf"},
    terms=("error function", "Gaussian integral"),
    since=1,
)
class Erf:
    """Error function: `y = 2 / sqrt(pi) * integral of exp(-t ** 2) dt from 0 to x`. See also `gelu`."""

    x = Input("...", "values of any shape", seq=(0, 1, 2))
    y = Output("...", "same shape as `x`, between -1 and 1")
    examples = (Example(x="5"), Example(x="2x3x3"), Example(x="sequence of 3"))


@each(Erf.y)
def erf_y(i, x):
    return math.erf(x[i])


@onnx(Erf)
def erf_onnx(graph, x):
    return graph.Erf(x)


@layer(
    "log_softmax",
    elsewhere={"KUnet": "Logp", "ONNX": "LogSoftmax", "Keras": "log_softmax", "PyTorch": "LogSoftmax"},
    terms=("log softmax", "logarithm of the softmax"),
    since=1,
)
class LogSoftmax:
    """Logarithm of the softmax along an axis, by default over the columns of a row or the channels of an image.

    `y[n, c] = x[n, c] - peak[n] - log(sum over d of exp(x[n, d] - peak[n]))`, where `peak` is the maximum, so that
    nothing overflows and small probabilities do not become 0. The gradient is `dy - exp(y) * sum over d of dy[n, d]`.
    KUnet's Logp passes gradients through unchanged, which is right only for its own loss; for training see
    `softmax_with_loss`, which includes this layer.
    """

    x = Input("N... C@axis ...", "scores", seq=(0, 1, 2))
    y = Output("N... C@axis ...", "logarithms of probabilities: not above 0")
    axis = Int("normalized axis: 1 is the first after the batch axis, -1 the last", default=1)
    peak = Temp("N... ...", "largest score")
    log_total = Temp("N... ...", "logarithm of the sum of the exponentials")
    total_dy = Temp("N... ...", "sum of the gradients")
    examples = (
        Example(x="5"),
        Example(x="3x2x5"),
        Example(x="sequence of 4"),
        Example(x="1"),
        Example(x="2x3x4", axis=-1),
        Example(x="2x3x2", axis=2),
    )


each(LogSoftmax.peak)(softmax_peak)


@each(LogSoftmax.log_total)
def log_softmax_log_total(n, i, x, peak, C):
    total = sum(math.exp(x[n, c, i] - peak[n, i]) for c in range(C))
    # Kept apart from `peak`: added to a large maximum, the logarithm would be rounded off.
    return math.log(total)


@each(LogSoftmax.y)
def log_softmax_y(n, c, i, x, peak, log_total):
    return x[n, c, i] - peak[n, i] - log_total[n, i]


@each(LogSoftmax.total_dy)
def log_softmax_total_dy(n, i, dy, C):
    return sum(dy[n, c, i] for c in range(C))


@gradient(LogSoftmax.x)
def log_softmax_dx(n, c, i, dy, y, total_dy):
    # `exp(y)` is the softmax, so that the scores are not needed.
    return dy[n, c, i] - math.exp(y[n, c, i]) * total_dy[n, i]


@onnx(LogSoftmax)
def log_softmax_onnx(graph, x, axis):
    return graph.LogSoftmax(x, axis=place_of_axis(axis, x))
