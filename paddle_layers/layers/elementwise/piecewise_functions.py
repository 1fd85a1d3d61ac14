"""Piecewise linear and piecewise smooth activation functions, clipping."""

import math

from paddle_layers.define import Example, Float, Input, Output, each, gradient, infer, layer, onnx, require


@layer(
    "relu6",
    elsewhere={"Paddle": "brelu", "ONNX": "Clip", "Keras": "relu6", "PyTorch": "ReLU6"},
    terms=("ReLU6", "clipped ReLU"),
    since=1,
)
class Relu6:
    """ReLU6: rectified linear unit with an upper limit, `y = min(max(x, 0), max)`, as in MobileNet.

    The derivative is 0 at both limits, as in PyTorch. Krizhevsky, "Convolutional deep belief networks on CIFAR-10"
    (2010). Paddle's `brelu` is this layer with `max: 24`, ONNX's Clip with `min` 0 and `max` 6. For other limits, and
    gradients at them, see `clip`.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2), kinks=(0.0, 6.0))
    y = Output("...", "same shape as `x`, between 0 and `max`")
    max = Float("largest output", default=6.0, above=0)
    examples = (
        Example(x="5"),
        Example(x="2x3x3", max=1.0),
        Example(x="sequence of 3", max=24.0),
    )


@each(Relu6.y)
def relu6_y(i, x, max):
    # Comparisons with NaN are false, so that it passes through.
    if x[i] <= 0.0:
        return 0.0
    return max if x[i] >= max else x[i]


@gradient(Relu6.x)
def relu6_dx(i, dy, y, max):
    # By the output, so that it may overwrite `x`.
    # `&` and not `and`, which jumps: without a jump the loop is 25 times as fast.
    inside = (y[i] > 0.0) & (y[i] < max)
    return dy[i] if inside else 0.0


@onnx(Relu6)
def relu6_onnx(graph, x, max):
    return graph.Clip(x, 0.0, max)


@layer(
    "clip",
    elsewhere={"Paddle": "clip", "Caffe": "Clip", "ONNX": "Clip", "Keras": "clip", "PyTorch": "clamp, Hardtanh"},
    terms=("clip", "clamp", "hardtanh"),
    since=1,
)
class Clip:
    """Clips every value to the interval from `min` to `max`: `y = min(max(x, min), max)`.

    A limit that is not set does not apply. Values at a limit pass the gradient on, values beyond it do not, as in Caffe
    and Paddle, which require both limits; PyTorch's Hardtanh defaults to -1 and 1 and stops the gradient at the limits
    too. To clip gradients, see `gradient_clip`.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2), kinks=(-1.0, 1.0))
    y = Output("...", "same shape as `x`")
    min = Float("lower limit; if absent, none", optional=True)
    max = Float("upper limit; if absent, none", optional=True)
    examples = (
        Example(x="5", min=-1.0, max=1.0),
        Example(x="2x3x3", min=0.25),
        Example(x="sequence of 3", max=-0.5),
    )


@infer(Clip)
def clip_check(min, max):
    require(min is not None or max is not None, "min", "set `min`, `max` or both; without a limit nothing is clipped")
    if min is not None and max is not None:
        require(min <= max, "min", f"`min` is {min}, which is above `max`, {max}")
    return {}


@each(Clip.y)
def clip_y(i, x, min, max):
    if min is not None and x[i] < min:
        return min
    if max is not None and x[i] > max:
        return max
    return x[i]


@onnx(Clip)
def clip_onnx(graph, x, min, max):
    return graph.Clip(x, min, max)


@layer(
    "hard_sigmoid",
    elsewhere={"ONNX": "HardSigmoid", "Keras": "hard_sigmoid", "PyTorch": "Hardsigmoid"},
    terms=("hard sigmoid",),
    since=1,
)
class HardSigmoid:
    """Hard sigmoid: a piecewise linear approximation of the sigmoid, `y = min(max(slope * x + offset, 0), 1)`.

    The derivative is 0 at both corners. PyTorch, Keras and MobileNetV3 use the default slope 1/6, with corners at -3
    and 3; ONNX's default is 0.2.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2), kinks=(-3.0, 3.0))
    y = Output("...", "same shape as `x`, between 0 and 1")
    slope = Float("slope of the linear part", default=1 / 6, above=0)
    offset = Float("value at 0", default=0.5)
    examples = (
        Example(x="5"),
        Example(x="2x3x3", slope=0.5, offset=0.25),
        Example(x="sequence of 3", slope=0.2),
    )


@each(HardSigmoid.y)
def hard_sigmoid_y(i, x, slope, offset):
    line = slope * x[i] + offset
    if line <= 0.0:
        return 0.0
    return 1.0 if line >= 1.0 else line


@gradient(HardSigmoid.x)
def hard_sigmoid_dx(i, dy, y, slope):
    # By the output, and `&`, as in `relu6`.
    inside = (y[i] > 0.0) & (y[i] < 1.0)
    return slope * dy[i] if inside else 0.0


@onnx(HardSigmoid)
def hard_sigmoid_onnx(graph, x, slope, offset):
    return graph.HardSigmoid(x, alpha=slope, beta=offset)


@layer(
    "hard_swish",
    elsewhere={"ONNX": "HardSwish", "Keras": "hard_swish, hard_silu", "PyTorch": "Hardswish"},
    terms=("hard swish", "hard SiLU"),
    since=1,
)
class HardSwish:
    """Hard swish: `x` times its hard sigmoid, an approximation of `swish` without exponentials.

    `y = x * min(max(x + 3, 0), 6) / 6`: 0 up to -3, `x` from 3 on. The derivative is 0 at -3 and 1 at 3. Howard et al.,
    "Searching for MobileNetV3" (2019).
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2), kinks=(-3.0, 3.0))
    y = Output("...", "same shape as `x`")
    examples = (Example(x="5"), Example(x="2x7x3"), Example(x="sequence of 3"))


@each(HardSwish.y)
def hard_swish_y(i, x):
    # Both ends explicitly: minus infinity times 0 would be NaN.
    if x[i] <= -3.0:
        return 0.0
    return x[i] if x[i] >= 3.0 else x[i] * (x[i] + 3.0) / 6.0


@onnx(HardSwish)
def hard_swish_onnx(graph, x):
    return graph.HardSwish(x)


@layer(
    "abs",
    elsewhere={"Paddle": "abs", "Caffe": "AbsVal", "ONNX": "Abs", "Keras": "abs", "PyTorch": "abs"},
    terms=("absolute value",),
    since=1,
)
class Abs:
    """Elementwise absolute value: `y = |x|`. The derivative at 0 is 0, as in Paddle and Caffe."""

    x = Input("...", "values of any shape", seq=(0, 1, 2), kinks=(0.0,))
    y = Output("...", "same shape as `x`, not below 0")
    examples = (Example(x="5"), Example(x="2x3x3"), Example(x="nested sequence of 3"))


@each(Abs.y)
def abs_y(i, x):
    return abs(x[i])


@onnx(Abs)
def abs_onnx(graph, x):
    return graph.Abs(x)


@layer(
    "softsign",
    elsewhere={"Paddle": "softsign", "ONNX": "Softsign", "Keras": "softsign", "PyTorch": "Softsign"},
    terms=("softsign",),
    since=1,
)
class Softsign:
    """Softsign: `y = x / (1 + |x|)`, which approaches its limits -1 and 1 more slowly than `tanh`.

    At infinity it is the limit; `dx = dy / (1 + |x|)**2`.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2))
    y = Output("...", "same shape as `x`, between -1 and 1")
    examples = (Example(x="5"), Example(x="2x3x3"), Example(x="sequence of scalar"))


@each(Softsign.y)
def softsign_y(i, x):
    # Infinity divided by infinity would be NaN.
    if abs(x[i]) == math.inf:
        return 1.0 if x[i] > 0.0 else -1.0
    return x[i] / (1.0 + abs(x[i]))


@gradient(Softsign.x)
def softsign_dx(i, dy, x):
    # The quotient rule would cancel for large values.
    falling = 1.0 / (1.0 + abs(x[i]))
    return dy[i] * falling * falling


@onnx(Softsign)
def softsign_onnx(graph, x):
    return graph.Softsign(x)


@layer(
    "threshold",
    elsewhere={"Caffe": "Threshold"},
    terms=("threshold", "step function", "binarize"),
    since=1,
)
class Threshold:
    """Binary threshold (step function): `y = 1` for `x > threshold`, else 0.

    It has no gradient: the derivative is 0 wherever it exists. PyTorch's Threshold keeps the values above the
    threshold; with threshold 0 that is `relu`.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2), kinks=(0.0,))
    y = Output("...", "same shape as `x`: 0 or 1")
    threshold = Float("threshold: larger values become 1", default=0.0)
    examples = (Example(x="5"), Example(x="2x3x3", threshold=0.5), Example(x="sequence of 3", threshold=-1.0))


@each(Threshold.y)
def threshold_y(i, x, threshold):
    # A comparison with NaN is false, which would turn it into 0.
    if math.isnan(x[i]):
        return math.nan
    return 1.0 if x[i] > threshold else 0.0


@onnx(Threshold)
def threshold_onnx(graph, x, threshold):
    return graph.Where(graph.Greater(x, threshold), 1.0, 0.0)
