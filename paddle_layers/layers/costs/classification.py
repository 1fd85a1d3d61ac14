"""Costs of the right class of a row, and of answers to yes-or-no questions."""

import math

from paddle_layers.define import Choice, Example, Float, Input, Int, Output, Temp, each, gradient, infer, layer, real
from paddle_layers.layers.checks import check_labels, check_labels_or_ignored

from .terms import excess, logistic_cost, logistic_derivative


@layer(
    "cross_entropy",
    elsewhere={
        "Paddle": "multi-class-cross-entropy",
        "Caffe": "MultinomialLogisticLoss",
        "Mocha": "MultinomialLogisticLossLayer",
    },
    since=1,
)
class CrossEntropy:
    """Minus the logarithm of the probability given to the right class.

    `cost = -log(max(x[label], floor))`, times `weight` where the row has one. `x` are probabilities, as `softmax`
    gives; on scores, `softmax_with_loss` is the same with less rounding. Below `floor` the cost is flat and its
    gradient 0. Caffe and Mocha have a floor of 1e-20, Paddle has none; Mocha's layer has no gradient. Paddle's `coeff`
    scales the gradient and not the cost: `loss_weight` scales both.
    """

    x = Input("N C...", "probability of every class", seq=(0, 1, 2), kinks=(0.0,), within=(0.0, 1.0))
    label = Input("N", "right class of every row", kinds=("INT",), seq=(0, 1, 2))
    weight = Input("N", "importance of every row", optional=True, seq=(0, 1, 2))
    cost = Output("N", "cost of every row", loss=True)
    floor = Float("smallest probability that counts", default=1e-20, above=0, below=1)
    examples = (
        Example(x="4", label="ids<4"),
        Example(x="5", label="ids<3", weight="scalar", floor=0.01),
        Example(x="sequence of 3", label="sequence of ids<3"),
    )


@infer(CrossEntropy)
def cross_entropy_labels(label, C):
    check_labels(label, C)
    return {}


@each(CrossEntropy.cost)
def cross_entropy_cost(n, x, label, weight, floor):
    cost = -math.log(max(x[n, label[n]], floor))
    return cost if weight is None else cost * weight[n]


@gradient(CrossEntropy.x)
def cross_entropy_dx(n, c, dcost, x, label, weight, floor):
    if c != label[n] or x[n, c] < floor:
        return 0.0
    derivative = -dcost[n] / x[n, c]
    return derivative if weight is None else derivative * weight[n]


@layer(
    "softmax_with_loss",
    elsewhere={
        "Caffe": "SoftmaxWithLoss",
        "Mocha": "SoftmaxLossLayer",
        "ONNX": "SoftmaxCrossEntropyLoss",
        "Keras": "SparseCategoricalCrossentropy",
        "PyTorch": "CrossEntropyLoss",
    },
    since=1,
)
class SoftmaxWithLoss:
    """Minus the logarithm of the softmax probability of the right class.

    `loss = log(sum over c of exp(x[c])) - x[label]`, times `weight` where the row has one; the largest score is taken
    off first, so that nothing overflows and no digit is lost. Rows whose label is `ignore_label` cost nothing, and
    that label may lie outside the classes; another label outside them costs NaN.

    The loss of the network is what `normalization` says: with `VALID` the mean over the rows that are not ignored,
    with `BATCH_SIZE` the mean over all rows, with `NONE` the sum. Caffe has `VALID` when nothing is set, and its `FULL`
    is `BATCH_SIZE` here, where every row has one label. Weights change no divisor; in ONNX and Mocha a weight belongs
    to a class, and ONNX's mean divides by the weights. `softlabel_softmax_cost` takes a share of every class in place
    of one label.
    """

    x = Input("N C...", "score of every class", seq=(0, 1, 2))
    label = Input("N", "right class of every row", kinds=("INT",), seq=(0, 1, 2))
    weight = Input("N", "importance of every row", optional=True, seq=(0, 1, 2))
    counted = Temp("N", "what the row adds to the divisor of the loss")
    loss = Output(
        "N", "cost of every row", loss=True, divisor=counted, nan="for labels outside the classes that are not ignored"
    )
    ignore_label = Int("rows of this class cost nothing", optional=True)
    normalization = Choice(
        "what the loss of the network divides the sum over the rows by",
        options={
            "VALID": "the rows that are not ignored, at least 1",
            "BATCH_SIZE": "all rows",
            "NONE": "nothing: the loss is the sum",
        },
        default="VALID",
    )
    peak = Temp("N", "largest score")
    norm = Temp("N", "log-sum of the exponentials of the scores below the largest")
    examples = (
        Example(x="4", label="ids<4"),
        Example(x="5x1x1", label="ids<3", weight="scalar", ignore_label=1, normalization="BATCH_SIZE"),
        Example(x="3", label="ids<4", ignore_label=3),
        Example(x="sequence of 3", label="sequence of ids<3", normalization="NONE"),
    )


@infer(SoftmaxWithLoss)
def softmax_with_loss_labels(label, C, ignore_label):
    check_labels_or_ignored(label, C, ignore_label)
    return {}


@each(SoftmaxWithLoss.peak, SoftmaxWithLoss.norm)
def softmax_with_loss_moments(n, x, C):
    peak = x[n, 0]
    for c in range(1, C):
        peak = max(peak, x[n, c])
    # The largest score adds exactly 1; log1p of the others keeps the digits of a small cost.
    others = 0.0
    ties = -1.0
    for c in range(C):
        if x[n, c] == peak:
            ties += 1.0
        else:
            others += math.exp(x[n, c] - peak)
    return peak, math.log1p(others + ties)


@each(SoftmaxWithLoss.counted)
def softmax_with_loss_counted(n, label, ignore_label, normalization):
    if normalization == "NONE":
        return 0.0
    return 0.0 if normalization == "VALID" and ignore_label is not None and label[n] == ignore_label else 1.0


@each(SoftmaxWithLoss.loss)
def softmax_with_loss_loss(n, x, label, weight, peak, norm, C, ignore_label):
    if ignore_label is not None:
        if label[n] == ignore_label:
            return 0.0
        if label[n] < 0 or label[n] >= C:
            return math.nan
    loss = norm[n] + (peak[n] - x[n, label[n]])
    return loss if weight is None else loss * weight[n]


@gradient(SoftmaxWithLoss.x)
def softmax_with_loss_dx(n, c, dloss, x, label, weight, peak, norm, ignore_label):
    if ignore_label is not None and label[n] == ignore_label:
        return 0.0
    derivative = dloss[n] * excess(x[n, c] - peak[n] - norm[n], 1.0, 1.0 if c == label[n] else 0.0)
    return derivative if weight is None else derivative * weight[n]


@layer(
    "sigmoid_cross_entropy",
    elsewhere={"Caffe": "SigmoidCrossEntropyLoss", "Keras": "BinaryCrossentropy", "PyTorch": "BCEWithLogitsLoss"},
    since=1,
)
class SigmoidCrossEntropy:
    """Cross entropy of independent yes-or-no answers: logistic function and cost in one.

    `cost = sum over c of max(x, 0) - x * target + log(1 + exp(-|x|))`, which is
    `-target * log(p) - (1 - target) * log(1 - p)` for `p = 1 / (1 + exp(-x))` without overflow. Targets lie between
    0 and 1. Terms whose target is `ignore_label` cost nothing; the divisor stays the number of rows, as in Caffe when
    nothing is set. On probabilities, `soft_binary_cross_entropy` is the same.
    """

    x = Input("N C...", "one score per question", seq=(0, 1, 2))
    target = Input("N C...", "wanted answers", seq=(0, 1, 2), within=(0.0, 1.0))
    cost = Output("N", "cost of every row", loss=True)
    ignore_label = Int("terms with this target cost nothing", optional=True)
    examples = (
        Example(x="4", target="4"),
        Example(x="2x2x3", target="2x2x3", ignore_label=-1),
        Example(x="sequence of scalar", target="sequence of scalar"),
    )


@each(SigmoidCrossEntropy.cost)
def sigmoid_cross_entropy_cost(n, x, target, C, ignore_label):
    cost = 0.0
    for c in range(C):
        if ignore_label is None or target[n, c] != real(ignore_label):
            cost += logistic_cost(x[n, c], target[n, c])
    return cost


@gradient(SigmoidCrossEntropy.x)
def sigmoid_cross_entropy_dx(n, c, dcost, x, target, ignore_label):
    if ignore_label is not None and target[n, c] == real(ignore_label):
        return 0.0
    return dcost[n] * logistic_derivative(x[n, c], target[n, c])
