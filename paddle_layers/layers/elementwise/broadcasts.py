"""Elementwise arithmetic of two inputs with broadcasting of the second one."""

from paddle_layers.define import Example, Input, Output, each, gradient, helper, infer, layer, onnx
from paddle_layers.layers.checks import check_spread

OTHER = "the same shape, or size 1 for the channels, for the other axes, or for both"


@helper
def place(c, size):
    """Index in `other` for an index of `x`: the same, or 0 if the axis is broadcast."""
    return c if size > 1 else 0


@helper
def end(b, size, whole):
    """End of the range of indices of `x` that read index `b` of `other`: all of them if the axis is broadcast."""
    # Where an axis is not broadcast, the range has one element: one loop nest serves all shapes of `other`.
    return b + 1 if size > 1 else whole


@layer(
    "mul",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Caffe": "Scale", "ONNX": "Mul", "Keras": "Multiply", "PyTorch": "mul"},
    terms=("elementwise product", "broadcasting", "squeeze-and-excitation", "multiply"),
    since=1,
)
class Mul:
    """Elementwise product with broadcasting of the second input, as in squeeze-and-excitation.

    `y[n, c, i] = x[n, c, i] * other[n, c, i]`. Axes of size 1 in `other` are broadcast, and its gradient is summed over
    them. So `other` has the shape of `x`, or one value per channel (`C` or `C x 1 x 1`), per pixel (`1 x H x W`) or per
    sample (`1`). Caffe's Scale with two inputs is this layer with one value per channel. For learned factors see
    `scale`, for products of more than two inputs `eltwise`, for a factor per sample as the first input `scaling`.
    """

    x = Input("N C ...", "feature vectors or images", seq=(0, 1, 2))
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
    return sum(dy[n, c, i] * x[n, c, i] for c in range(b, end(b, B, C)) for i in range(j, end(j, J, x.shape[2])))


@onnx(Mul)
def mul_onnx(graph, x, other):
    return graph.Mul(x, graph.spread(other, x))


@layer(
    "div",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Mocha": "ElementWiseLayer", "ONNX": "Div", "Keras": "divide", "PyTorch": "div"},
    terms=("elementwise quotient", "divide"),
    since=1,
)
class Div:
    """Elementwise quotient with broadcasting of the second input.

    `y[n, c, i] = x[n, c, i] / other[n, c, i]`; `other` is broadcast as in `mul`. A nonzero value divided by 0 is
    infinite, 0 divided by 0 is NaN. Mocha's `Divide` takes inputs of the same shape.
    """

    x = Input("N C ...", "dividend", seq=(0, 1, 2))
    other = Input("N B J...", "divisor: " + OTHER, seq=(0, 1, 2), within=(0.2, 2.0))
    y = Output("N C ...", "same shape as `x`", nan="where both are 0")
    examples = (
        Example(x="3x2x5", other="3"),
        Example(x="3x2x5", other="1x2x5", act="relu"),
        Example(x="sequence of 4", other="sequence of 1"),
        Example(x="2x3", other="2x3"),
    )


infer(Div)(mul_check)


@each(Div.y)
def div_y(n, c, i, x, other, B, J):
    return x[n, c, i] / other[n, place(c, B), place(i, J)]


@gradient(Div.x)
def div_dx(n, c, i, dy, other, B, J):
    return dy[n, c, i] / other[n, place(c, B), place(i, J)]


@gradient(Div.other)
def div_dother(n, b, j, dy, x, other, C, B, J):
    total = sum(dy[n, c, i] * x[n, c, i] for c in range(b, end(b, B, C)) for i in range(j, end(j, J, x.shape[2])))
    # All terms have the same divisor: one division instead of one per term.
    return -total / (other[n, b, j] * other[n, b, j])


@onnx(Div)
def div_onnx(graph, x, other):
    return graph.Div(x, graph.spread(other, x))


@layer(
    "add",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Caffe": "Bias", "ONNX": "Add", "PyTorch": "add"},
    terms=("elementwise sum", "broadcast add"),
    since=1,
)
class Add:
    """Elementwise sum with broadcasting of the second input.

    `y[n, c, i] = x[n, c, i] + other[n, c, i]`; `other` is broadcast as in `mul`. Caffe's Bias with two inputs is this
    layer with one value per channel. For learned offsets see `shift`, for sums of any number of inputs of the same
    shape `addto`.
    """

    x = Input("N C ...", "feature vectors or images", seq=(0, 1, 2))
    other = Input("N B J...", OTHER, seq=(0, 1, 2))
    y = Output("N C ...", "same shape as `x`")
    examples = (
        Example(x="3x2x5", other="3"),
        Example(x="3x2x5", other="1x2x5", act="relu"),
        Example(x="sequence of 4", other="sequence of 1"),
        Example(x="2x3", other="2x3"),
    )


infer(Add)(mul_check)


@each(Add.y)
def add_y(n, c, i, x, other, B, J):
    return x[n, c, i] + other[n, place(c, B), place(i, J)]


@gradient(Add.x)
def add_dx(n, c, i, dy):
    return dy[n, c, i]


@gradient(Add.other)
def add_dother(n, b, j, dy, C, B, J):
    return sum(dy[n, c, i] for c in range(b, end(b, B, C)) for i in range(j, end(j, J, dy.shape[2])))


@onnx(Add)
def add_onnx(graph, x, other):
    return graph.Add(x, graph.spread(other, x))


@layer(
    "sub",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Mocha": "ElementWiseLayer", "ONNX": "Sub", "Keras": "Subtract", "PyTorch": "sub"},
    terms=("elementwise difference", "subtract"),
    since=1,
)
class Sub:
    """Elementwise difference with broadcasting of the second input.

    `y[n, c, i] = x[n, c, i] - other[n, c, i]`; `other` is broadcast as in `mul`. Mocha's `Subtract` takes inputs of the
    same shape.
    """

    x = Input("N C ...", "feature vectors or images", seq=(0, 1, 2))
    other = Input("N B J...", "subtrahend: " + OTHER, seq=(0, 1, 2))
    y = Output("N C ...", "same shape as `x`")
    examples = (
        Example(x="3x2x5", other="3"),
        Example(x="3x2x5", other="1x2x5", act="relu"),
        Example(x="sequence of 4", other="sequence of 1"),
        Example(x="2x3", other="2x3"),
    )


infer(Sub)(mul_check)


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
