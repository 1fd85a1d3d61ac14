"""Arithmetic on elements: of several inputs of one shape, and with learned numbers for every channel."""

from paddle_layers.define import (
    Bias,
    Choice,
    Example,
    Floats,
    Input,
    Int,
    Output,
    Param,
    each,
    gradient,
    infer,
    layer,
    onnx,
    require,
)
from paddle_layers.layers.helpers import exceeds
from paddle_layers.layers.places import along_axes


@layer(
    "addto",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={
        "Paddle": "addto",
        "Caffe": "Eltwise",
        "Mocha": "ElementWiseLayer",
        "KUnet": "Add2",
        "ONNX": "Sum, Add",
        "Keras": "Add",
    },
    since=1,
)
class AddTo:
    """Sum of inputs of one shape, as at the end of a residual block.

    `y = sum_i x_i`. Paddle may add a bias to it, off by default: put a `shift` behind the layer for that. Caffe's
    coefficients are in `eltwise`, a summand of one number for each channel in `add`. Mocha and KUnet take exactly two
    inputs.
    """

    x = Input("...", "terms", repeatable=True, seq=(0, 1, 2))
    y = Output("...", "their sum")
    examples = (
        Example(x=["5", "5"], act="relu"),
        Example(x=["sequence of 2x3x3"]),
        Example(x=["nested sequence of 3", "nested sequence of 3", "nested sequence of 3"]),
    )


@each(AddTo.y, over=AddTo.x)
def addto_y(i, x):
    return x[i]


@gradient(AddTo.x, over=AddTo.x)
def addto_dx(i, dy):
    return dy[i]


@onnx(AddTo)
def addto_onnx(graph, x):
    return graph.Sum(*x)


@layer(
    "eltwise",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={
        "Paddle": "dot_mul",
        "Caffe": "Eltwise",
        "Mocha": "ElementWiseLayer",
        "KUnet": "Mul2",
        "ONNX": "Mul, Max, Min",
        "Keras": "Multiply, Maximum, Minimum",
    },
    since=1,
)
class Eltwise:
    """Sum, product, maximum or minimum of inputs of one shape, element by element.

    `SUM`: `y = sum_i coefficients_i * x_i`; `PROD`: `y = prod_i x_i`; `MAX`: `y = max_i x_i`; `MIN`: `y = min_i x_i`.

    The gradient of a product multiplies the other inputs, as Caffe's `stable_prod_grad`, so that zeros do no harm.
    Where several inputs are the largest, or the smallest, the first of them gets the gradient; Caffe gives it to the
    second of the first two. Two inputs of which one has a number for each channel only are for `mul`, `div`, `add` and
    `sub`, as are Mocha's `Subtract` and `Divide`. The factor of Paddle's operator `dot_mul` is a `slope_intercept`
    behind the layer.
    """

    x = Input("...", "operands", repeatable=True, seq=(0, 1, 2), kinks=("ties",))
    y = Output("...", "result")
    operation = Choice(
        "how the operands combine",
        options={"SUM": "added up", "PROD": "multiplied", "MAX": "the largest", "MIN": "the smallest"},
        default="SUM",
    )
    coefficients = Floats("factor of each operand of a sum; without it all are 1", optional=True, aliases=("coeff",))
    examples = (
        Example(x=["5", "5"]),
        Example(x=["2x3x3", "2x3x3", "2x3x3"], coefficients=[1, -1, 0.5]),
        Example(x=["5", "5", "5"], operation="PROD"),
        Example(x=["sequence of 3", "sequence of 3", "sequence of 3"], operation="MAX"),
        Example(x=["5"], operation="PROD"),
        Example(x=["2x3", "2x3", "2x3"], operation="MIN"),
    )


@infer(Eltwise)
def eltwise_check(x, operation, coefficients):
    if coefficients is not None:
        require(operation == "SUM", "coefficients", f"`coefficients` are for SUM only, `operation` is {operation}")
        numbers = f"there are {len(coefficients)} coefficients, but {len(x)} inputs"
        require(len(coefficients) == len(x), "coefficients", numbers)
    return {}


@each(Eltwise.y)
def eltwise_y(i, x, operation, coefficients):
    value = x[0][i] if coefficients is None else coefficients[0] * x[0][i]
    for j in range(1, len(x)):
        if operation == "PROD":
            value *= x[j][i]
        elif operation == "MAX":
            value = max(value, x[j][i])
        elif operation == "MIN":
            value = min(value, x[j][i])
        elif coefficients is None:
            value += x[j][i]
        else:
            value += coefficients[j] * x[j][i]
    return value


@gradient(Eltwise.x)
def eltwise_dx(which, i, dy, x, operation, coefficients):
    if operation == "SUM":
        return dy[i] if coefficients is None else coefficients[which] * dy[i]
    value = dy[i]
    for j in range(len(x)):
        if operation == "PROD":
            if j != which:
                value *= x[j][i]
        elif operation == "MAX":
            if exceeds(x[j][i], x[which][i]) or (j < which and not exceeds(x[which][i], x[j][i])):
                value = 0.0
        elif exceeds(-x[j][i], -x[which][i]) or (j < which and not exceeds(-x[which][i], -x[j][i])):
            value = 0.0
    return value


@onnx(Eltwise)
def eltwise_onnx(graph, x, operation, coefficients):
    if operation == "MAX":
        return graph.Max(*x)
    if operation == "MIN":
        return graph.Min(*x)
    if operation == "SUM":
        factors = coefficients or ()
        return graph.Sum(*([graph.Mul(one, factor) for one, factor in zip(x, factors, strict=True)] if factors else x))
    product = x[0]
    for one in x[1:]:
        product = graph.Mul(product, one)
    return product


@layer("scale", elsewhere={"Paddle": "scale_shift", "Caffe": "Scale", "ONNX": "Mul"}, since=1)
class Scale:
    """Multiplies every channel by a learned number and adds another one; or does so along other axes.

    `y[n, c] = gain[c] * x[n, c] + bias[c]` at every point of an image. `axis` and `end_axis` name the first and the
    last of the axes that have numbers of their own: from 1 to -1 is one for every element of an image, -1 one for every
    column.

    Caffe's Scale has no bias unless `bias_term` is set; its `num_axes` is `end_axis - axis + 1`. For a second input see
    `mul`. Paddle's scale_shift has one number for all: put `reshape { dims: [1, -1] }` before the layer. ONNX's Mul by
    a constant is this without `bias`.
    """

    x = Input("N... C...@axis:end_axis ...", "rows or images", seq=(0, 1, 2))
    gain = Param("C", "factor of a channel", init="one")
    bias = Bias("C", "added to a channel")
    y = Output("N... C...@axis:end_axis ...", "same shape as `x`")
    axis = Int("first axis with numbers of its own: 1 is the first behind the rows, -1 the last", default=1)
    end_axis = Int("last axis with numbers of its own", default_from="axis")
    examples = (
        Example(x="5"),
        Example(x="3x2x5", bias=False),
        Example(x="sequence of 3x2"),
        Example(x="2x3x2", end_axis=-1),
        Example(x="2x3x4", axis=2, end_axis=2),
    )


@each(Scale.y)
def scale_y(n, c, i, x, gain):
    return gain[c] * x[n, c, i]


@gradient(Scale.x)
def scale_dx(n, c, i, dy, gain):
    return gain[c] * dy[n, c, i]


@gradient(Scale.gain)
def scale_dgain(c, dy, x):
    total = 0.0
    for n in range(x.shape[0]):
        for i in range(x.shape[2]):
            total += dy[n, c, i] * x[n, c, i]
    return total


@onnx(Scale)
def scale_onnx(graph, x, gain, bias, axis, end_axis):
    y = graph.Mul(x, along_axes(graph, gain, x, axis, end_axis))
    return y if bias is None else graph.Add(y, along_axes(graph, bias, x, axis, end_axis))


@layer("shift", elsewhere={"Caffe": "Bias", "KUnet": "Bias", "ONNX": "Add"}, since=1)
class Shift:
    """Adds a learned number to every channel, or along other axes.

    `y[n, c] = x[n, c] + offset[c]` at every point of an image. `axis` and `end_axis` name the first and the last of the
    axes that have numbers of their own: from 1 to -1 is one for every element, as behind a `conv` without `bias`, which
    Paddle calls biases that are not shared. Caffe's `num_axes` is `end_axis - axis + 1`; for a second input see `add`.
    In Paddle and Mocha a bias is part of the layers that need one. ONNX's Add of a constant is this; that of two values
    is `add` or `addto`.
    """

    x = Input("N... C...@axis:end_axis ...", "rows or images", seq=(0, 1, 2))
    offset = Param("C", "added to a channel", init="zero")
    y = Output("N... C...@axis:end_axis ...", "same shape as `x`")
    axis = Int("first axis with numbers of its own: 1 is the first behind the rows, -1 the last", default=1)
    end_axis = Int("last axis with numbers of its own", default_from="axis")
    examples = (
        Example(x="5"),
        Example(x="3x2x5"),
        Example(x="nested sequence of 3x2"),
        Example(x="2x3x2", end_axis=-1),
        Example(x="2x3x4", axis=2, end_axis=2),
    )


@each(Shift.y)
def shift_y(n, c, i, x, offset):
    return x[n, c, i] + offset[c]


@gradient(Shift.x)
def shift_dx(n, c, i, dy):
    return dy[n, c, i]


@gradient(Shift.offset)
def shift_doffset(c, dy):
    total = 0.0
    for n in range(dy.shape[0]):
        for i in range(dy.shape[2]):
            total += dy[n, c, i]
    return total


@onnx(Shift)
def shift_onnx(graph, x, offset, axis, end_axis):
    return graph.Add(x, along_axes(graph, offset, x, axis, end_axis))
