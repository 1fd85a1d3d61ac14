"""Cross-entropy losses with target distributions and multi-label targets."""

import math

from paddle_layers.define import (
    Example,
    Float,
    Input,
    Output,
    State,
    Temp,
    each,
    gradient,
    helper,
    infer,
    layer,
    require,
    with_names,
)
from paddle_layers.layers.checks import check_labels_or_ignored
from paddle_layers.layers.helpers import times

from .classification import cross_entropy_counted, softmax_with_loss_moments
from .ctc import ctc_moments
from .loss_helpers import excess, ignored_label, normalization_choice


@helper
def log_from(probability, floor):
    """Logarithm of a probability, flat below `floor`."""
    return math.log(max(probability, floor))


@helper
def log_rest(probability, floor):
    """Logarithm of 1 - probability, flat below `floor`; a small probability keeps its digits."""
    # log1p, since 1 - probability has no digits of a small probability; the floor keeps the loss finite at 1.
    return math.log(floor) if 1.0 - probability < floor else math.log1p(-probability)


@helper
def log_from_derivative(probability, floor):
    """Derivative of `log_from`."""
    return 0.0 if probability < floor else 1.0 / probability


@layer(
    "soft_cross_entropy",
    elsewhere={"KUnet": "SoftLoss"},
    terms=("cross-entropy of a target distribution", "soft labels", "knowledge distillation"),
    since=1,
)
class SoftCrossEntropy:
    """Cross-entropy of a target distribution (soft labels), from probabilities.

    `cost = -sum over c of target[c] * log(max(x[c], floor))`, times `weight` if present. `x` are probabilities, as from
    `softmax`; from scores, `softlabel_softmax_cost` is numerically more accurate. Below `floor` the loss is constant
    and its gradient 0. The gradient treats probabilities as independent; KUnet includes the constraint that they sum to
    1.
    """

    x = Input("N C...", "probability per class", seq=(0, 1, 2), kinks=(0.0,), within=(0.0, 1.0))
    target = Input("N C...", "target probability per class", seq=(0, 1, 2), within=(0.0, 1.0), derivative=False)
    weight = Input("N", "sample weight", optional=True, seq=(0, 1, 2), derivative=False)
    cost = Output("N", "per-sample loss", loss=True)
    floor = Float("lower limit of the probabilities", default=1e-20, above=0, below=1)
    examples = (
        Example(x="4", target="4"),
        Example(x="2x1x3", target="2x1x3", weight="scalar", floor=0.01),
        Example(x="sequence of 3", target="sequence of 3"),
    )


@each(SoftCrossEntropy.cost)
def soft_cross_entropy_cost(n, x, target, weight, C, floor):
    cost = 0.0
    for c in range(C):
        cost -= target[n, c] * log_from(x[n, c], floor)
    return cost if weight is None else cost * weight[n]


@layer(
    "softlabel_softmax_cost",
    elsewhere={"Mocha": "SoftlabelSoftmaxLossLayer", "KUnet": "XentLoss", "Keras": "CategoricalCrossentropy"},
    terms=("soft labels", "softmax cross-entropy", "knowledge distillation"),
    since=1,
)
class SoftlabelSoftmaxCost:
    """Softmax cross-entropy of a target distribution (soft labels), from scores (logits).

    `cost = sum over c of target[c] * (log(sum over k of exp(x[k])) - x[c])`, times `weight` if present; the maximum is
    subtracted first to prevent overflow. Targets need not sum to 1. With one class per sample, `softmax_with_loss` is
    the same.
    """

    x = Input("N C...", "score (logit) per class", seq=(0, 1, 2))
    target = Input("N C...", "target probability per class", seq=(0, 1, 2), within=(0.0, 1.0))
    weight = Input("N", "sample weight", optional=True, seq=(0, 1, 2))
    cost = Output("N", "per-sample loss", loss=True)
    peak = Temp("N", "maximum score")
    norm = Temp("N", "log-sum-exp relative to the maximum")
    mass = Temp("N", "sum of the target probabilities")
    examples = (
        Example(x="4", target="4"),
        Example(x="2x1x3", target="2x1x3", weight="scalar"),
        Example(x="sequence of 3", target="sequence of 3"),
    )


each(SoftlabelSoftmaxCost.peak, SoftlabelSoftmaxCost.norm)(
    with_names(ctc_moments, "softlabel_softmax_cost_moments", {"t": "n"})
)


@each(SoftlabelSoftmaxCost.cost)
def softlabel_softmax_cost_cost(n, x, target, weight, peak, norm, C):
    cost = 0.0
    for c in range(C):
        # `times`: a class without target probability contributes 0, even if its score is minus infinity.
        cost += times(target[n, c], norm[n] + (peak[n] - x[n, c]))
    return cost if weight is None else cost * weight[n]


@each(SoftlabelSoftmaxCost.mass)
def softlabel_softmax_cost_mass(n, target, C):
    return sum(target[n, c] for c in range(C))


@gradient(SoftlabelSoftmaxCost.x)
def softlabel_softmax_cost_dx(n, c, dcost, x, target, weight, peak, norm, mass):
    # Targets need not sum to one, hence `mass` instead of 1.
    derivative = dcost[n] * excess(x[n, c] - peak[n] - norm[n], mass[n], target[n, c])
    return derivative if weight is None else derivative * weight[n]


@layer(
    "infogain_loss",
    elsewhere={"Caffe": "InfogainLoss"},
    terms=("information gain loss", "cost-sensitive classification", "cost matrix"),
    since=1,
)
class InfogainLoss:
    """Information gain loss: softmax cross-entropy with a matrix of misclassification costs.

    `cost = sum over c of gain[label, c] * (log(sum over k of exp(x[k])) - x[c])`, times `weight` if present. `gain` is
    given and not trained: load it with the weights; Caffe has a third input or the file `source`. By default it is the
    identity matrix, and the layer equals `softmax_with_loss`, whose page describes labels of pixels, `ignore_label` and
    `normalization`.
    """

    x = Input("N C... ...", "score (logit) per class", seq=(0, 1, 2))
    label = Input("N ...", "target class of each sample or pixel", kinds=("INT",), seq=(0, 1, 2))
    weight = Input("N ...", "sample weight of each label", optional=True, seq=(0, 1, 2))
    gain = State("K C", "information gain of predicting class C for target class K", init="identity")
    counted = Temp("N ...", "contribution of the label to the divisor of the loss")
    cost = Output(
        "N ...",
        "per-label loss",
        loss=True,
        divisor=counted,
        nan="for labels outside the classes that are not ignored",
    )
    ignore_label = ignored_label()
    normalization = normalization_choice("VALID")
    peak = Temp("N ...", "maximum score")
    norm = Temp("N ...", "log-sum-exp relative to the maximum")
    mass = Temp("N ...", "sum of the gains of the label")
    examples = (
        Example(x="4", label="ids<4"),
        Example(x="2x1x2", label="ids<3", weight="scalar", ignore_label=1, normalization="BATCH_SIZE"),
        Example(x="sequence of 3", label="sequence of ids<3", normalization="NONE"),
        Example(x="3x2x2", label="2x2 ids<4", ignore_label=3),
        Example(x="2x3", label="3 ids<2", normalization="FULL"),
    )


@infer(InfogainLoss)
def infogain_loss_sizes(label, C, ignore_label):
    check_labels_or_ignored(label, C, ignore_label)
    return {"K": C}


each(InfogainLoss.peak, InfogainLoss.norm)(softmax_with_loss_moments)
each(InfogainLoss.counted)(cross_entropy_counted)


@each(InfogainLoss.cost)
def infogain_loss_cost(n, i, x, label, weight, gain, peak, norm, C, ignore_label):
    if ignore_label is not None:
        if label[n, i] == ignore_label:
            return 0.0
        if label[n, i] < 0 or label[n, i] >= C:
            return math.nan
    cost = 0.0
    for c in range(C):
        # `times`: a gain of 0 hides a score of minus infinity.
        cost += times(gain[label[n, i], c], norm[n, i] + (peak[n, i] - x[n, c, i]))
    return cost if weight is None else cost * weight[n, i]


@each(InfogainLoss.mass)
def infogain_loss_mass(n, i, label, gain, C, ignore_label):
    if ignore_label is not None and (label[n, i] < 0 or label[n, i] >= C):
        return 0.0
    return sum(gain[label[n, i], c] for c in range(C))


@gradient(InfogainLoss.x)
def infogain_loss_dx(n, c, i, dcost, x, label, weight, gain, peak, norm, mass, C, ignore_label):
    if ignore_label is not None and (label[n, i] == ignore_label or label[n, i] < 0 or label[n, i] >= C):
        return 0.0
    derivative = dcost[n, i] * excess(x[n, c, i] - peak[n, i] - norm[n, i], mass[n, i], gain[label[n, i], c])
    return derivative if weight is None else derivative * weight[n, i]


@layer(
    "soft_binary_cross_entropy",
    elsewhere={"Paddle": "soft_binary_class_cross_entropy", "Mocha": "BinaryCrossEntropyLossLayer"},
    terms=("binary cross-entropy", "BCELoss"),
    since=1,
)
class SoftBinaryCrossEntropy:
    """Binary cross-entropy of independent targets, from probabilities.

    `cost = -sum over c of target * log(x) + (1 - target) * log(1 - x)`, with probabilities of at least `floor`, times
    `weight` if present. From scores, `sigmoid_cross_entropy` is numerically more accurate. Mocha averages over the
    samples, as a network does here, and has a gradient for the target; neither framework has a floor.
    """

    x = Input("N C...", "probability per label", seq=(0, 1, 2), kinks=(0.0, 1.0), within=(0.0, 1.0))
    target = Input("N C...", "binary targets", seq=(0, 1, 2), within=(0.0, 1.0))
    weight = Input("N", "sample weight", optional=True, seq=(0, 1, 2))
    cost = Output("N", "per-sample loss", loss=True)
    floor = Float("lower limit of the probabilities", default=1e-20, above=0, below=1)
    examples = (
        Example(x="4", target="4"),
        Example(x="2x1x3", target="2x1x3", weight="scalar", floor=0.01),
        Example(x="sequence of scalar", target="sequence of scalar"),
    )


@each(SoftBinaryCrossEntropy.cost)
def soft_binary_cross_entropy_cost(n, x, target, weight, C, floor):
    cost = 0.0
    for c in range(C):
        cost -= target[n, c] * log_from(x[n, c], floor) + (1.0 - target[n, c]) * log_rest(x[n, c], floor)
    return cost if weight is None else cost * weight[n]


@gradient(SoftBinaryCrossEntropy.x)
def soft_binary_cross_entropy_dx(n, c, dcost, x, target, weight, floor):
    # 1.4 times as fast as the derived gradient.
    yes, no = log_from_derivative(x[n, c], floor), log_from_derivative(1.0 - x[n, c], floor)
    derivative = dcost[n] * ((1.0 - target[n, c]) * no - target[n, c] * yes)
    return derivative if weight is None else derivative * weight[n]


@layer(
    "multi_binary_label_cross_entropy",
    elsewhere={"Paddle": "multi_binary_label_cross_entropy"},
    terms=("multi-label binary cross-entropy", "multi-label classification"),
    since=1,
)
class MultiBinaryLabelCrossEntropy:
    """Multi-label binary cross-entropy from probabilities, with the target classes as a sparse list.

    `cost = -sum over the target classes of log(x) - sum over the others of log(1 - x)`, with probabilities of at least
    `floor`, times `weight` if present. The label of a sample lists its target classes. Paddle also accepts dense
    labels, as `soft_binary_cross_entropy` does here, and has no floor; it fails at probabilities of 0 and 1.
    """

    x = Input("N C", "probability per class", seq=(0, 1, 2), kinks=(0.0, 1.0), within=(0.0, 1.0))
    label = Input("N D", "target classes", kinds=("SPARSE_INT",), seq=(0, 1, 2))
    weight = Input("N", "sample weight", optional=True, seq=(0, 1, 2))
    cost = Output("N", "per-sample loss", loss=True)
    floor = Float("lower limit of the probabilities", default=1e-20, above=0, below=1)
    examples = (
        Example(x="4", label="sparse ids 4"),
        Example(x="5", label="sparse ids 3", weight="scalar", floor=0.01),
        Example(x="sequence of 3", label="sequence of sparse ids 3"),
    )


@infer(MultiBinaryLabelCrossEntropy)
def multi_binary_label_cross_entropy_labels(C, D):
    require(D <= C, "label", f"there are {D} labels, but {C} classes have a probability")
    return {}


@each(MultiBinaryLabelCrossEntropy.cost)
def multi_binary_label_cross_entropy_cost(n, x, label_start, label_id, weight, C, floor):
    cost = 0.0
    # All classes count as negative first, then the listed ones are corrected: no search for each class.
    for c in range(C):
        cost -= log_rest(x[n, c], floor)
    for p in range(label_start[n], label_start[n + 1]):
        cost += log_rest(x[n, label_id[p]], floor) - log_from(x[n, label_id[p]], floor)
    return cost if weight is None else cost * weight[n]


@gradient(MultiBinaryLabelCrossEntropy.x)
def multi_binary_label_cross_entropy_dx(n, c, dcost, x, label_start, label_id, weight, floor):
    target = 0.0
    for p in range(label_start[n], label_start[n + 1]):
        # A class that is listed twice counts twice, as in the loss.
        if label_id[p] == c:
            target += 1.0
    derivative = dcost[n] * (
        (1.0 - target) * log_from_derivative(1.0 - x[n, c], floor) - target * log_from_derivative(x[n, c], floor)
    )
    return derivative if weight is None else derivative * weight[n]
