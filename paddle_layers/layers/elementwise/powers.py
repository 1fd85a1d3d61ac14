"""Linear functions and powers with constants, sine and cosine."""

import math

from paddle_layers.define import Example, Float, Input, Output, double, each, gradient, helper, layer, onnx, real


@layer(
    "slope_intercept",
    elsewhere={"Paddle": "slope_intercept", "Caffe": "Power"},
    terms=("linear function", "constant scale and offset"),
    since=1,
)
class SlopeIntercept:
    """Linear function with constants: `y = slope * x + intercept`. For learned values see `scale`.

    Caffe's Power is this layer with its default `power` 1, and `power` here with another exponent.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2))
    y = Output("...", "same shape as `x`")
    slope = Float("factor", default=1.0)
    intercept = Float("offset", default=0.0)
    examples = (
        Example(x="5", slope=2.0, intercept=-0.5),
        Example(x="sequence of 2x3"),
        Example(x="scalar", slope=0.0, intercept=1.0),
    )


@each(SlopeIntercept.y)
def slope_intercept_y(i, x, slope, intercept):
    return slope * x[i] if intercept == 0.0 else slope * x[i] + intercept  # -0.0 + 0.0 would lose the sign of zero


@onnx(SlopeIntercept)
def slope_intercept_onnx(graph, x, slope, intercept):
    product = graph.Mul(x, slope)
    return graph.Add(product, intercept) if intercept != 0.0 else product


@layer(
    "power",
    elsewhere={
        "Paddle": "square, sqrt, reciprocal",
        "Caffe": "Power",
        "Mocha": "PowerLayer",
        "ONNX": "Pow, Sqrt, Reciprocal",
        "Keras": "square, sqrt",
        "PyTorch": "pow, square, sqrt, reciprocal",
    },
    terms=("power", "square", "square root", "reciprocal"),
    since=1,
)
class Power:
    """Elementwise power: `y = (shift + scale * x) ** power`.

    A negative base requires an integer exponent, otherwise the result is NaN. If `power * scale` is 0 there is no
    gradient, not even at a base of 0, as in Caffe. A square is `power: 2`, a square root 0.5, a reciprocal -1, also as
    an activation: `activation { type: "power" power { power: 2 } }`. Paddle's `power` is `row_power`.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2), within=(0.2, 2.0))
    y = Output("...", "same shape as `x`", nan="for negative bases with a non-integer exponent")
    power = Float("exponent", default=1.0)
    scale = Float("factor of `x`", default=1.0)
    shift = Float("offset, added to `scale * x`", default=0.0)
    examples = (
        Example(x="5", power=2.0, shift=-1.0),
        Example(x="2x3x2", power=-0.5, scale=0.5, shift=1.0),
        Example(x="sequence of 3", power=3.0, scale=-1.0),
        Example(x="scalar", power=0.0),
    )


@helper
def line(x, scale, shift):
    """The base. -0.0 + 0.0 would lose the sign of zero, and with it that of the infinite reciprocal."""
    return scale * x if shift == 0.0 else shift + scale * x


@each(Power.y)
def power_y(i, x, power, scale, shift):
    base = line(x[i], scale, shift)
    # Python would return a complex number.
    return math.nan if base < 0.0 and power % 1.0 != 0.0 else base**power


@gradient(Power.x)
def power_dx(i, dy, x, power, scale, shift):
    slope = power * scale
    # A product of 0 and an infinite power would be NaN.
    return dy[i] * slope * line(x[i], scale, shift) ** (power - 1.0) if slope != 0.0 else 0.0


@onnx(Power)
def power_onnx(graph, x, power, scale, shift):
    product = graph.Mul(x, scale)
    return graph.Pow(graph.Add(product, shift) if shift != 0.0 else product, power)


@layer("row_power", elsewhere={"Paddle": "power", "ONNX": "Pow"}, terms=("power",), since=1)
class RowPower:
    """Elementwise power with one exponent per sample: `y[n, c] = x[n, c] ** exponent[n]`.

    Intended for nonnegative values; a negative one requires an integer exponent. The exponent gets no gradient from
    values of zero or below, which have no logarithm.
    """

    exponent = Input("N 1", "exponent per sample", seq=(0, 1, 2))
    x = Input("N C", "rows", seq=(0, 1, 2), within=(0.2, 2.0))
    y = Output("N C", "same shape as `x`")
    examples = (Example(exponent="1", x="4"), Example(exponent="sequence of scalar", x="sequence of 1"))


@each(RowPower.y)
def row_power_y(n, c, exponent, x):
    return x[n, c] ** exponent[n]


@onnx(RowPower)
def row_power_onnx(graph, exponent, x):
    return graph.Pow(x, graph.shaped(exponent, 1))


@layer(
    "sin",
    elsewhere={"ONNX": "Sin", "Keras": "sin", "PyTorch": "sin"},
    terms=("sine", "trigonometric function"),
    since=1,
)
class Sin:
    """Sine: `y = sin(x)`, with `x` in radians."""

    x = Input("...", "angles in radians, of any shape", seq=(0, 1, 2))
    y = Output("...", "same shape as `x`, between -1 and 1")
    examples = (Example(x="5"), Example(x="2x3x3"), Example(x="sequence of 3"))


@each(Sin.y)
def sin_y(i, x):
    # In float64, as the reduction of a large angle needs.
    return real(math.sin(double(x[i])))


@onnx(Sin)
def sin_onnx(graph, x):
    return graph.Sin(x)


@layer(
    "cos",
    elsewhere={"ONNX": "Cos", "Keras": "cos", "PyTorch": "cos"},
    terms=("cosine", "trigonometric function"),
    since=1,
)
class Cos:
    """Cosine: `y = cos(x)`, with `x` in radians."""

    x = Input("...", "angles in radians, of any shape", seq=(0, 1, 2))
    y = Output("...", "same shape as `x`, between -1 and 1")
    examples = (Example(x="5"), Example(x="2x3x3"), Example(x="sequence of 3"))


@each(Cos.y)
def cos_y(i, x):
    # In float64, as the reduction of a large angle needs.
    return real(math.cos(double(x[i])))


@onnx(Cos)
def cos_onnx(graph, x):
    return graph.Cos(x)
