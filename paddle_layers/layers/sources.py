"""Values that come from the network itself: learned constants and noise. An input says how many rows there are."""

import math

from paddle_layers.define import Example, Input, Ints, Output, Param, each, gradient, helper, infer, layer, onnx
from paddle_layers.layers.helpers import uniform


@layer("parameter", elsewhere={"Caffe": "Parameter", "PyTorch": "Parameter"}, since=1)
class Parameter:
    """The same learned numbers in every row: a constant that the training finds.

    `y[n] = weight`, in as many rows as `x` has, whose numbers do not matter. Give the numbers that it starts with by
    `param { of: "weight" init { ... } }`. Caffe's layer has no input, and its blob no axis of the batch.
    """

    x = Input("N C...", "values in whose rows it is wanted", seq=(0, 1, 2))
    weight = Param("...", "the numbers", init="zero")
    y = Output("N ...", "the same numbers in every row")
    shape = Ints("axes of the numbers, without the rows", min=1, min_items=1)
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


@gradient(Parameter.weight)
def parameter_dweight(i, dy, N):
    total = 0.0
    for n in range(N):
        total += dy[n, i]
    return total


@onnx(Parameter)
def parameter_onnx(graph, x, weight, shape):
    rows = graph.Shape(x, start=0, end=1)
    return graph.Expand(graph.Unsqueeze(weight, [0]), graph.Concat(rows, list(shape), axis=0))


@layer(
    "random_normal",
    elsewhere={"Mocha": "RandomNormalLayer", "ONNX": "RandomNormalLike", "PyTorch": "randn_like"},
    since=1,
)
class RandomNormal:
    """Independent numbers of the standard normal distribution, in the shape of `x`, new in every pass.

    The numbers are a function of the seed, the step and the position, so that they are the same on every device; those
    of `x` do not matter, and nothing learns through it. Pairs of uniform numbers become normal ones by Box and Muller's
    "A note on the generation of random normal deviates" (1958). `slope_intercept` gives another mean and deviation,
    and a mean and a deviation that are learned are `mean + deviation * noise`, by two layers `eltwise`: the noise of a
    variational autoencoder. Mocha's layer has no input; the size of its batch is an attribute.
    """

    x = Input("...", "values in whose shape the numbers are", seq=(0, 1, 2))
    y = Output("...", "independent numbers of mean 0 and variance 1")
    examples = (Example(x="5"), Example(x="2x3x2"), Example(x="sequence of scalar"))


@each(RandomNormal.y)
def random_normal_y(i, key):
    # A number of [0, 1) is 0 at times, of which there is no logarithm; 1 minus it never is.
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(key, 2 * i)))
    return radius * cosine_of_turn(uniform(key, 2 * i + 1))


@helper
def cosine_of_turn(u):
    """cos(2 * pi * u) for `u` from 0 to 1, to nine digits: 2 * sin(pi * (u - 1/2)) ** 2 - 1, by the series of the sine.

    CUDA's own cosine computes in float64 where an angle is large.
    """
    a = math.pi * (u - 0.5)
    b = a * a
    sine = 1.0 - b / 110.0 * (1.0 - b / 156.0)
    sine = a * (1.0 - b / 6.0 * (1.0 - b / 20.0 * (1.0 - b / 42.0 * (1.0 - b / 72.0 * sine))))
    return 2.0 * sine * sine - 1.0
