"""Elementwise arithmetic: sums and products of inputs, learned scales and offsets."""

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
from paddle_layers.layers.axes import along_axes
from paddle_layers.layers.helpers import exceeds


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
    terms=("elementwise sum", "residual connection", "skip connection", "add inputs"),
    since=1,
)
class AddTo:
    """Elementwise sum of inputs of the same shape, as at the end of a residual block.

    `y = sum_i x_i`. Paddle can add a bias, off by default: add a `shift` for that. For Caffe's coefficients see
    `eltwise`, for broadcasting see `add`. Mocha and KUnet take exactly two inputs.
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
    terms=("elementwise sum", "elementwise product", "elementwise maximum"),
    since=1,
)
class Eltwise:
    """Elementwise sum, product, maximum or minimum of inputs of the same shape.

    `SUM`: `y = sum_i coefficients_i * x_i`; `PROD`: `y = prod_i x_i`; `MAX`: `y = max_i x_i`; `MIN`: `y = min_i x_i`.

    The gradient of a product multiplies the other inputs, as Caffe's `stable_prod_grad`, and is right for zeros too. If
    several inputs are the maximum, or the minimum, the first of them receives the gradient; Caffe gives it to the
    second of the first two. For two inputs with broadcasting see `mul`, `div`, `add` and `sub`, which are also Mocha's
    `Subtract` and `Divide`. For the factor of Paddle's operator `dot_mul` add a `slope_intercept`.
    """

    x = Input("...", "operands", repeatable=True, seq=(0, 1, 2), kinks=("ties",))
    y = Output("...", "result")
    operation = Choice(
        "elementwise operation of the inputs",
        options={"SUM": "sum", "PROD": "product", "MAX": "the largest", "MIN": "the smallest"},
        default="SUM",
    )
    coefficients = Floats(
        "coefficient of each operand of a sum; if absent, all are 1", optional=True, aliases=("coeff",)
    )
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
            # The first of equal operands receives all of the gradient, so that their gradients add up to `dy`.
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
        # ONNX's Sum has no coefficients, and its Mul below takes two operands.
        factors = coefficients or ()
        return graph.Sum(*([graph.Mul(one, factor) for one, factor in zip(x, factors, strict=True)] if factors else x))
    product = x[0]
    for one in x[1:]:
        product = graph.Mul(product, one)
    return product


@layer(
    "scale",
    elsewhere={"Paddle": "scale_shift", "Caffe": "Scale", "ONNX": "Mul"},
    terms=("learned scale", "per-channel scale", "affine per channel"),
    since=1,
)
class Scale:
    """Learned scale and offset per channel, or along other axes: `y = gain * x + bias`.

    `y[n, c] = gain[c] * x[n, c] + bias[c]` at every pixel of an image. `axis` and `end_axis` are the first and the last
    axis with separate values: from 1 to -1 means one per element, -1 one per column.

    Caffe's Scale has no bias unless `bias_term` is set; its `num_axes` is `end_axis - axis + 1`. For a second input see
    `mul`. Paddle's scale_shift has one scalar for all: add `reshape { dims: [1, -1] }` before the layer. ONNX's Mul by
    a constant is this layer without `bias`.
    """

    x = Input("N... C...@axis:end_axis ...", "feature vectors or images", seq=(0, 1, 2))
    gain = Param("C", "scale per channel", init="one")
    bias = Bias("C", "offset per channel")
    y = Output("N... C...@axis:end_axis ...", "same shape as `x`")
    axis = Int("first axis with separate values: 1 is the first after the batch axis, -1 the last", default=1)
    end_axis = Int("last axis with separate values", default_from="axis")
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


@onnx(Scale)
def scale_onnx(graph, x, gain, bias, axis, end_axis):
    y = graph.Mul(x, along_axes(graph, gain, x, axis, end_axis))
    return y if bias is None else graph.Add(y, along_axes(graph, bias, x, axis, end_axis))


@layer(
    "shift",
    elsewhere={"Caffe": "Bias", "KUnet": "Bias", "ONNX": "Add"},
    terms=("learned offset", "bias"),
    since=1,
)
class Shift:
    """Learned offset (bias) per channel, or along other axes: `y = x + offset`.

    `y[n, c] = x[n, c] + offset[c]` at every pixel of an image. `axis` and `end_axis` are the first and the last axis
    with separate values: from 1 to -1 means one per element, as after a `conv` without `bias`, which Paddle calls
    biases that are not shared. Caffe's `num_axes` is `end_axis - axis + 1`; for a second input see `add`. In Paddle and
    Mocha a bias is part of other layers. ONNX's Add of a constant is this layer; Add of two values is `add` or `addto`.
    """

    x = Input("N... C...@axis:end_axis ...", "feature vectors or images", seq=(0, 1, 2))
    offset = Param("C", "offset per channel", init="zero")
    y = Output("N... C...@axis:end_axis ...", "same shape as `x`")
    axis = Int("first axis with separate values: 1 is the first after the batch axis, -1 the last", default=1)
    end_axis = Int("last axis with separate values", default_from="axis")
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


@onnx(Shift)
def shift_onnx(graph, x, offset, axis, end_axis):
    return graph.Add(x, along_axes(graph, offset, x, axis, end_axis))
