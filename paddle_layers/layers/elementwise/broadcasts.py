"""Arithmetic of two inputs, the second of which may have one number for each channel, point or row of the first."""

from paddle_layers.define import Example, Input, Output, each, gradient, helper, infer, layer, onnx
from paddle_layers.layers.checks import check_spread

OTHER = "the same shape, or 1 in place of the channels, of the other axes, or of both"


@helper
def place(c, size):
    """Place in `other` of the number for a place of `x`: the same, or the only one, where an axis has no more."""
    return c if size > 1 else 0


@helper
def end(b, size, whole):
    """End of the places of `x` that a place of `other` stands for: of all of them, where it is the only one."""
    return b + 1 if size > 1 else whole


@layer(
    "mul",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Caffe": "Scale", "ONNX": "Mul", "Keras": "Multiply", "PyTorch": "mul"},
    since=1,
)
class Mul:
    """Product of two inputs, of which the second may have one number for each channel, as in squeeze and excitation.

    `y[n, c, i] = x[n, c, i] * other[n, c, i]`. Where `other` has one channel only, it stands for all channels of `x`,
    and one point for all points; its gradient is the sum over what it stands for. So `other` has the shape of `x`, or
    one number for each channel (`C` or `C x 1 x 1`), for each point (`1 x H x W`) or for each row (`1`). Caffe's Scale
    with two inputs is this with one number for each channel. Learned factors are in `scale`, products of more than two
    inputs in `eltwise`, a factor for each row that comes first in `scaling`.
    """

    x = Input("N C ...", "rows or images", seq=(0, 1, 2))
    other = Input("N B J...", OTHER, seq=(0, 1, 2))
    y = Output("N C ...", "same shape as `x`")
    examples = (
        Example(x="3x2x5", other="3"),
        Example(x="3x2x5", other="3x1x1", act="relu"),
        Example(x="3x2x5", other="1x2x5"),
        Example(x="sequence of 4", other="sequence of 1"),
        Example(x="2x3", other="2x3"),
    )


@infer(Mul)
def mul_check(x, other, C, B, J):
    check_spread(x, other, C, B, J)
    return {}


@each(Mul.y)
def mul_y(n, c, i, x, other, B, J):
    return x[n, c, i] * other[n, place(c, B), place(i, J)]


@gradient(Mul.x)
def mul_dx(n, c, i, dy, other, B, J):
    return dy[n, c, i] * other[n, place(c, B), place(i, J)]


@gradient(Mul.other)
def mul_dother(n, b, j, dy, x, C, B, J):
    total = 0.0
    for c in range(b, end(b, B, C)):
        for i in range(j, end(j, J, x.shape[2])):
            total += dy[n, c, i] * x[n, c, i]
    return total


@onnx(Mul)
def mul_onnx(graph, x, other):
    return graph.Mul(x, graph.spread(other, x))


@layer(
    "div",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Mocha": "ElementWiseLayer", "ONNX": "Div", "Keras": "divide", "PyTorch": "div"},
    since=1,
)
class Div:
    """Quotient of two inputs, of which the second may have one number for each channel, point or row.

    `y[n, c, i] = x[n, c, i] / other[n, c, i]`, and `other` may have 1 in place of axes, as in `mul`. A number by 0 is
    infinite, 0 by 0 is NaN. Mocha's `Divide` takes inputs of one shape.
    """

    x = Input("N C ...", "rows or images that are divided", seq=(0, 1, 2))
    other = Input("N B J...", "the divisor: " + OTHER, seq=(0, 1, 2), within=(0.2, 2.0))
    y = Output("N C ...", "same shape as `x`", nan="where both are 0")
    examples = (
        Example(x="3x2x5", other="3"),
        Example(x="3x2x5", other="1x2x5", act="relu"),
        Example(x="sequence of 4", other="sequence of 1"),
        Example(x="2x3", other="2x3"),
    )


@infer(Div)
def div_check(x, other, C, B, J):
    check_spread(x, other, C, B, J)
    return {}


@each(Div.y)
def div_y(n, c, i, x, other, B, J):
    return x[n, c, i] / other[n, place(c, B), place(i, J)]


@gradient(Div.x)
def div_dx(n, c, i, dy, other, B, J):
    return dy[n, c, i] / other[n, place(c, B), place(i, J)]


@gradient(Div.other)
def div_dother(n, b, j, dy, x, other, C, B, J):
    total = 0.0
    for c in range(b, end(b, B, C)):
        for i in range(j, end(j, J, x.shape[2])):
            total += dy[n, c, i] * x[n, c, i]
    return -total / (other[n, b, j] * other[n, b, j])


@onnx(Div)
def div_onnx(graph, x, other):
    return graph.Div(x, graph.spread(other, x))


@layer(
    "add",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Caffe": "Bias", "ONNX": "Add", "PyTorch": "add"},
    since=1,
)
class Add:
    """Sum of two inputs, of which the second may have one number for each channel, point or row.

    `y[n, c, i] = x[n, c, i] + other[n, c, i]`, and `other` may have 1 in place of axes, as in `mul`. Caffe's Bias with
    two inputs is this with one number for each channel. Learned summands are in `shift`, sums of any number of inputs
    of one shape in `addto`.
    """

    x = Input("N C ...", "rows or images", seq=(0, 1, 2))
    other = Input("N B J...", OTHER, seq=(0, 1, 2))
    y = Output("N C ...", "same shape as `x`")
    examples = (
        Example(x="3x2x5", other="3"),
        Example(x="3x2x5", other="1x2x5", act="relu"),
        Example(x="sequence of 4", other="sequence of 1"),
        Example(x="2x3", other="2x3"),
    )


@infer(Add)
def add_check(x, other, C, B, J):
    check_spread(x, other, C, B, J)
    return {}


@each(Add.y)
def add_y(n, c, i, x, other, B, J):
    return x[n, c, i] + other[n, place(c, B), place(i, J)]


@gradient(Add.x)
def add_dx(n, c, i, dy):
    return dy[n, c, i]


@gradient(Add.other)
def add_dother(n, b, j, dy, C, B, J):
    total = 0.0
    for c in range(b, end(b, B, C)):
        for i in range(j, end(j, J, dy.shape[2])):
            total += dy[n, c, i]
    return total


@onnx(Add)
def add_onnx(graph, x, other):
    return graph.Add(x, graph.spread(other, x))


@layer(
    "sub",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Mocha": "ElementWiseLayer", "ONNX": "Sub", "Keras": "Subtract", "PyTorch": "sub"},
    since=1,
)
class Sub:
    """Difference of two inputs, of which the second may have one number for each channel, point or row.

    `y[n, c, i] = x[n, c, i] - other[n, c, i]`, and `other` may have 1 in place of axes, as in `mul`. Mocha's `Subtract`
    takes inputs of one shape.
    """

    x = Input("N C ...", "rows or images", seq=(0, 1, 2))
    other = Input("N B J...", "what is taken away: " + OTHER, seq=(0, 1, 2))
    y = Output("N C ...", "same shape as `x`")
    examples = (
        Example(x="3x2x5", other="3"),
        Example(x="3x2x5", other="1x2x5", act="relu"),
        Example(x="sequence of 4", other="sequence of 1"),
        Example(x="2x3", other="2x3"),
    )


@infer(Sub)
def sub_check(x, other, C, B, J):
    check_spread(x, other, C, B, J)
    return {}


@each(Sub.y)
def sub_y(n, c, i, x, other, B, J):
    return x[n, c, i] - other[n, place(c, B), place(i, J)]


@gradient(Sub.x)
def sub_dx(n, c, i, dy):
    return dy[n, c, i]


@gradient(Sub.other)
def sub_dother(n, b, j, dy, C, B, J):
    total = 0.0
    for c in range(b, end(b, B, C)):
        for i in range(j, end(j, J, dy.shape[2])):
            total -= dy[n, c, i]
    return total


@onnx(Sub)
def sub_onnx(graph, x, other):
    return graph.Sub(x, graph.spread(other, x))
