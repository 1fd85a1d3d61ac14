"""Cross-entropy losses for classification, and class weights."""

import math

from paddle_layers.define import (
    Example,
    Float,
    Floats,
    Input,
    Int,
    Output,
    Temp,
    each,
    gradient,
    infer,
    layer,
    onnx,
    real,
    require,
)
from paddle_layers.layers.checks import check_labels_or_ignored

from .loss_helpers import counted_label, excess, ignored_label, logistic_cost, normalization_choice, smoothed, smoothing


@layer(
    "cross_entropy",
    elsewhere={
        "Paddle": "multi-class-cross-entropy",
        "Caffe": "MultinomialLogisticLoss",
        "Mocha": "MultinomialLogisticLossLayer",
    },
    terms=("cross-entropy", "negative log-likelihood", "NLLLoss", "log loss"),
    since=1,
)
class CrossEntropy:
    """Cross-entropy (negative log-likelihood) of the target class, from probabilities.

    `cost = -log(max(x[label], floor))`, times `weight` if present. `x` are probabilities, as from `softmax`; from
    scores (logits), `softmax_with_loss` is numerically more accurate, and its page describes labels of pixels,
    `ignore_label`, `label_smoothing` and `normalization`. Below `floor` the loss is constant and its gradient 0. Caffe
    and Mocha have a floor of 1e-20, Paddle has none; Mocha's layer has no gradient. Paddle's `coeff` scales the
    gradient but not the loss: `loss_weight` scales both.
    """

    x = Input("N C... ...", "probability per class", seq=(0, 1, 2), kinks=(0.0,), within=(0.0, 1.0))
    label = Input("N ...", "target class of each sample or pixel", kinds=("INT",), seq=(0, 1, 2))
    weight = Input("N ...", "sample weight of each label", optional=True, seq=(0, 1, 2))
    counted = Temp("N ...", "contribution of the label to the divisor of the loss")
    cost = Output(
        "N ...",
        "per-label loss",
        loss=True,
        divisor=counted,
        nan="for labels outside the classes that are not ignored",
    )
    floor = Float("lower limit of the probabilities", default=1e-20, above=0, below=1)
    ignore_label = ignored_label()
    label_smoothing = smoothing()
    normalization = normalization_choice("VALID")
    examples = (
        Example(x="4", label="ids<4"),
        Example(x="5", label="ids<3", weight="scalar", floor=0.01, ignore_label=1, normalization="BATCH_SIZE"),
        Example(x="sequence of 3", label="sequence of ids<3", normalization="NONE"),
        Example(x="3x2x2", label="2x2 ids<4", ignore_label=3, label_smoothing=0.2),
        Example(x="2x3", label="3 ids<2", weight="3", normalization="FULL"),
    )


@infer(CrossEntropy)
def cross_entropy_labels(label, C, ignore_label):
    check_labels_or_ignored(label, C, ignore_label)
    return {}


@each(CrossEntropy.counted)
def cross_entropy_counted(n, i, label, ignore_label, normalization):
    ignored = ignore_label is not None and label[n, i] == ignore_label
    return counted_label(i, ignored, normalization == "VALID", normalization == "FULL", normalization == "BATCH_SIZE")


@each(CrossEntropy.cost)
def cross_entropy_cost(n, i, x, label, weight, C, floor, ignore_label, label_smoothing):
    if ignore_label is not None:
        if label[n, i] == ignore_label:
            return 0.0
        if label[n, i] < 0 or label[n, i] >= C:
            return math.nan
    cost = -math.log(max(x[n, label[n, i], i], floor))
    if label_smoothing > 0.0:
        total = 0.0
        for c in range(C):
            total -= math.log(max(x[n, c, i], floor))
        cost = (1.0 - label_smoothing) * cost + label_smoothing * total / real(C)
    return cost if weight is None else cost * weight[n, i]


@gradient(CrossEntropy.x)
def cross_entropy_dx(n, c, i, dcost, x, label, weight, C, floor, ignore_label, label_smoothing):
    if ignore_label is not None and label[n, i] == ignore_label:
        return 0.0
    share = smoothed(c == label[n, i], C, label_smoothing)
    if share == 0.0 or x[n, c, i] < floor:
        return 0.0
    derivative = -dcost[n, i] * share / x[n, c, i]
    return derivative if weight is None else derivative * weight[n, i]


@layer(
    "softmax_with_loss",
    elsewhere={
        "Caffe": "SoftmaxWithLoss",
        "Mocha": "SoftmaxLossLayer",
        "ONNX": "SoftmaxCrossEntropyLoss",
        "Keras": "SparseCategoricalCrossentropy",
        "PyTorch": "CrossEntropyLoss",
    },
    terms=("softmax cross-entropy", "cross-entropy loss", "categorical cross-entropy", "classification loss"),
    since=1,
)
class SoftmaxWithLoss:
    """Softmax cross-entropy loss from scores (logits), for classification.

    `loss = log(sum over c of exp(x[c])) - x[label]`, times `weight` if present; the maximum is subtracted first, which
    prevents overflow and loss of precision. A sample has one label, or one for each of its last axes: scores of
    21x28x28 with labels of 28x28 classify each pixel, and so have as many losses.

    Labels that equal `ignore_label` are ignored, and that label may be outside the classes; another label outside them
    gives NaN. With `label_smoothing` e, the target probability is `1 - e + e / C` for the target class and `e / C` for
    each other one of the C classes.

    The loss of the network depends on `normalization`: with `VALID` the mean over the labels that are not ignored, with
    `FULL` over all labels, with `BATCH_SIZE` the sum divided by the number of samples, with `NONE` the sum. Caffe's
    default is `VALID`. Weights do not change the divisor; for weights of classes see `class_weight`, and note that
    Mocha, ONNX and PyTorch divide by the weights. `softlabel_softmax_cost` accepts a target distribution instead of a
    label.
    """

    x = Input("N C... ...", "score (logit) per class", seq=(0, 1, 2))
    label = Input("N ...", "target class of each sample or pixel", kinds=("INT",), seq=(0, 1, 2))
    weight = Input("N ...", "sample weight of each label", optional=True, seq=(0, 1, 2))
    counted = Temp("N ...", "contribution of the label to the divisor of the loss")
    loss = Output(
        "N ...",
        "per-label loss",
        loss=True,
        divisor=counted,
        nan="for labels outside the classes that are not ignored",
    )
    ignore_label = ignored_label()
    normalization = normalization_choice("VALID")
    label_smoothing = smoothing()
    peak = Temp("N ...", "maximum score")
    norm = Temp("N ...", "log-sum-exp relative to the maximum")
    examples = (
        Example(x="4", label="ids<4"),
        Example(x="5x1x1", label="ids<3", weight="scalar", ignore_label=1, normalization="BATCH_SIZE"),
        Example(x="3", label="ids<4", ignore_label=3, label_smoothing=0.1),
        Example(x="sequence of 3", label="sequence of ids<3", normalization="NONE"),
        Example(x="3x2x4", label="2x4 ids<3", ignore_label=2),
        Example(x="2x3", label="3 ids<2", weight="3", normalization="FULL"),
    )


infer(SoftmaxWithLoss)(cross_entropy_labels)


@each(SoftmaxWithLoss.peak, SoftmaxWithLoss.norm)
def softmax_with_loss_moments(n, i, x, C):
    peak = x[n, 0, i]
    for c in range(1, C):
        peak = max(peak, x[n, c, i])
    # The largest score adds exactly 1; log1p of the others keeps the digits of a small cost.
    others = 0.0
    ties = -1.0
    for c in range(C):
        if x[n, c, i] == peak:
            ties += 1.0
        else:
            others += math.exp(x[n, c, i] - peak)
    return peak, math.log1p(others + ties)


each(SoftmaxWithLoss.counted)(cross_entropy_counted)


@each(SoftmaxWithLoss.loss)
def softmax_with_loss_loss(n, i, x, label, weight, peak, norm, C, ignore_label, label_smoothing):
    if ignore_label is not None:
        if label[n, i] == ignore_label:
            return 0.0
        if label[n, i] < 0 or label[n, i] >= C:
            return math.nan
    # Differences of scores first: added to a large maximum, a small `norm` would be rounded off.
    loss = norm[n, i] + (peak[n, i] - x[n, label[n, i], i])
    if label_smoothing > 0.0:
        total = sum(norm[n, i] + (peak[n, i] - x[n, c, i]) for c in range(C))
        loss = (1.0 - label_smoothing) * loss + label_smoothing * total / real(C)
    return loss if weight is None else loss * weight[n, i]


@gradient(SoftmaxWithLoss.x)
def softmax_with_loss_dx(n, c, i, dloss, x, label, weight, peak, norm, C, ignore_label, label_smoothing):
    if ignore_label is not None and label[n, i] == ignore_label:
        return 0.0
    share = smoothed(c == label[n, i], C, label_smoothing)
    # `excess` is the probability minus the target share, without cancellation for a confident prediction.
    derivative = dloss[n, i] * excess(x[n, c, i] - peak[n, i] - norm[n, i], 1.0, share)
    return derivative if weight is None else derivative * weight[n, i]


@layer(
    "sigmoid_cross_entropy",
    elsewhere={"Caffe": "SigmoidCrossEntropyLoss", "Keras": "BinaryCrossentropy", "PyTorch": "BCEWithLogitsLoss"},
    terms=("binary cross-entropy", "multi-label classification", "BCE"),
    since=1,
)
class SigmoidCrossEntropy:
    """Binary cross-entropy loss from scores (logits), for binary or multi-label classification.

    `cost = sum over c of max(x, 0) - x * target + log(1 + exp(-|x|))`, which is
    `-target * log(p) - (1 - target) * log(1 - p)` for `p = 1 / (1 + exp(-x))` without overflow. Targets are between 0
    and 1. Terms whose target is `ignore_label` are ignored. The divisor of the network's loss depends on
    `normalization`, by default the number of samples as in Caffe; PyTorch and Keras divide by all terms. From
    probabilities, `soft_binary_cross_entropy` is the same.
    """

    x = Input("N C...", "one score (logit) per label", seq=(0, 1, 2))
    target = Input("N C...", "binary targets", seq=(0, 1, 2), within=(0.0, 1.0), derivative=False)
    counted = Temp("N", "contribution of the sample to the divisor of the loss")
    cost = Output("N", "per-sample loss", loss=True, divisor=counted)
    ignore_label = Int("terms with this target are ignored", optional=True)
    normalization = normalization_choice("BATCH_SIZE", "terms")
    examples = (
        Example(x="4", target="4"),
        Example(x="2x2x3", target="2x2x3", ignore_label=-1, normalization="FULL"),
        Example(x="sequence of scalar", target="sequence of scalar", normalization="NONE"),
        Example(x="3", target="3", ignore_label=1, normalization="VALID"),
    )


@each(SigmoidCrossEntropy.counted)
def sigmoid_cross_entropy_counted(n, target, C, ignore_label, normalization):
    if normalization == "NONE":
        return 0.0
    if normalization == "BATCH_SIZE":
        return 1.0
    terms = real(C)
    # Ignored terms are subtracted, so that without `ignore_label` no target is read.
    if normalization == "VALID" and ignore_label is not None:
        for c in range(C):
            if target[n, c] == real(ignore_label):
                terms -= 1.0
    return terms


@each(SigmoidCrossEntropy.cost)
def sigmoid_cross_entropy_cost(n, x, target, C, ignore_label):
    cost = 0.0
    for c in range(C):
        if ignore_label is None or target[n, c] != real(ignore_label):
            cost += logistic_cost(x[n, c], target[n, c])
    return cost


@layer(
    "class_weight",
    terms=("class weight", "class weights", "imbalanced data"),
    since=1,
)
class ClassWeight:
    """Class weight of each label, for the input `weight` of a loss.

    `y = weights[label]` for each sample, or for each pixel if labels have axes, and 0 for a label that is
    `ignore_label` or outside the classes. Used for imbalanced data, to increase the weight of rare classes. The losses
    of `softmax_with_loss` and `cross_entropy` are then sums of weighted terms divided by the number of labels, not by
    the sum of the weights: with a mean weight of 1 the size of the loss is unchanged, as with
    `labels / (classes * labels of the class)`. PyTorch and ONNX divide by the weights.
    """

    label = Input("N ...", "class of each sample or pixel", kinds=("INT",), seq=(0, 1, 2))
    y = Output("N ...", "class weight of each label")
    weights = Floats("weight of each class, in the order of the ids")
    ignore_label = Int("labels of this class have weight 0", optional=True)
    examples = (
        Example(label="ids<2", weights=[0.5, 2.0], ignore_label=-1),
        Example(label="sequence of ids<3", weights=[1.0, 0.0, 4.5]),
        Example(label="2x3 ids<3", weights=[0.25, 1.0, 2.0]),
    )


@infer(ClassWeight)
def class_weight_count(label, weights):
    found = f"there are {len(weights)} weights, but {label.size} classes"
    require(len(weights) == label.size, "weights", found)
    return {}


@each(ClassWeight.y)
def class_weight_y(n, i, label, weights, ignore_label):
    weight = 0.0
    # No index by the label, which may be outside the classes.
    for k in range(len(weights)):
        if label[n, i] == k and (ignore_label is None or k != ignore_label):
            weight = weights[k]
    return weight


@onnx(ClassWeight)
def class_weight_onnx(graph, label, weights, ignore_label):
    known = [0.0 if k == ignore_label else float(weight) for k, weight in enumerate(weights)]
    classes = graph.Equal(graph.Unsqueeze(label, [-1]), list(range(len(known))))
    return graph.MatMul(graph.Cast(classes, to=1), known)
