"""Learned constants and noise. An input determines the number of rows."""

import math

from paddle_layers.define import Example, Input, Ints, Output, Param, each, helper, infer, layer, onnx
from paddle_layers.layers.helpers import uniform


@layer(
    "parameter",
    elsewhere={"Caffe": "Parameter", "PyTorch": "Parameter"},
    terms=("learned constant", "trainable constant", "learned embedding of positions"),
    since=1,
)
class Parameter:
    """Learned constant: the same trained values in every row.

    `y[n] = weight`, with as many rows as `x`, whose values do not matter. Initialize it by
    `param { of: "weight" init { ... } }`. Caffe's layer has no input, and its blob no batch axis.
    """

    x = Input("N C...", "values that determine the number of rows", seq=(0, 1, 2))
    weight = Param("...", "the learned values", init="zero")
    y = Output("N ...", "the learned values in every row")
    shape = Ints("shape, without the batch axis", min=1, min_items=1)
    examples = (
        Example(x="3", shape=[2]),
        Example(x="2x2", shape=[2, 3, 1]),
        Example(x="sequence of scalar", shape=[4]),
    )


@infer(Parameter)
def parameter_shape(shape):
    return {"...": tuple(shape)}


@each(Parameter.y)
def parameter_y(n, i, weight):
    return weight[i]


@onnx(Parameter)
def parameter_onnx(graph, x, weight, shape):
    rows = graph.Shape(x, start=0, end=1)
    return graph.Expand(graph.Unsqueeze(weight, [0]), graph.Concat(rows, list(shape), axis=0))


@layer(
    "random_normal",
    elsewhere={"Mocha": "RandomNormalLayer", "ONNX": "RandomNormalLike", "PyTorch": "randn_like"},
    terms=("normal noise", "Gaussian noise", "standard normal noise"),
    since=1,
)
class RandomNormal:
    """Standard normal noise in the shape of `x`, sampled anew in every pass.

    The values depend on the seed, the step and the position, so they are the same on every device; those of `x` do not
    matter, and there is no gradient. Samples are computed by the Box-Muller transform, "A note on the generation of
    random normal deviates" (1958). `slope_intercept` sets another mean and standard deviation; learned ones, as in a
    variational autoencoder, are `mean + deviation * noise`, by two layers `eltwise`. Mocha's layer has no input; its
    batch size is an attribute.
    """

    x = Input("...", "values that determine the shape", seq=(0, 1, 2))
    y = Output("...", "independent samples with mean 0 and variance 1")
    examples = (Example(x="5"), Example(x="2x3x2"), Example(x="sequence of scalar"))


@each(RandomNormal.y)
def random_normal_y(i, key):
    # A number of [0, 1) is 0 at times, of which there is no logarithm; 1 minus it never is.
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(key, 2 * i)))
    return radius * cosine_of_turn(uniform(key, 2 * i + 1))


@helper
def cosine_of_turn(u):
    """cos(2 * pi * u) for `u` from 0 to 1, within 3e-9: 2 * sin(pi * (u - 1/2)) ** 2 - 1, by the series of the sine.

    CUDA's own cosine computes in float64 where an angle is large.
    """
    # The angle is within pi / 2 of 0, where few terms of the series suffice.
    a = math.pi * (u - 0.5)
    b = a * a
    sine = 1.0 - b / 110.0 * (1.0 - b / 156.0)
    sine = a * (1.0 - b / 6.0 * (1.0 - b / 20.0 * (1.0 - b / 42.0 * (1.0 - b / 72.0 * sine))))
    return 2.0 * sine * sine - 1.0
