"""Margin losses: hinge, perceptron, Huber classification, contrastive."""

import math

from paddle_layers.define import Bool, Choice, Example, Float, Input, Output, Temp, each, gradient, infer, layer
from paddle_layers.layers.checks import check_answers, check_labels
from paddle_layers.layers.helpers import exceeds


@layer(
    "hinge_loss",
    elsewhere={"Caffe": "HingeLoss"},
    terms=("hinge loss", "support vector machine", "SVM loss"),
    since=1,
)
class HingeLoss:
    """Hinge loss of a one-vs-rest linear classifier (multi-class SVM).

    `cost = sum over c of max(0, 1 - s * x[c]) ** p`, where `s` is 1 for the label and -1 for the other classes, and `p`
    is 1 for `L1` and 2 for `L2`.
    """

    x = Input("N C...", "score (logit) per class", seq=(0, 1, 2), kinks=(1.0, -1.0))
    label = Input("N", "target class", kinds=("INT",), seq=(0, 1, 2))
    cost = Output("N", "per-sample loss", loss=True)
    norm = Choice(
        "norm of the margin violations", options={"L1": "hinge loss", "L2": "squared hinge loss"}, default="L1"
    )
    examples = (
        Example(x="4", label="ids<4"),
        Example(x="5x1x1", label="ids<3", norm="L2"),
        Example(x="sequence of 3", label="sequence of ids<3"),
    )


@infer(HingeLoss)
def hinge_loss_labels(label, C):
    check_labels(label, C)
    return {}


@each(HingeLoss.cost)
def hinge_loss_cost(n, x, label, C, norm):
    cost = 0.0
    for c in range(C):
        missing = max(0.0, 1.0 - x[n, c] if c == label[n] else 1.0 + x[n, c])
        cost += missing if norm == "L1" else missing * missing
    return cost


@gradient(HingeLoss.x)
def hinge_loss_dx(n, c, dcost, x, label, norm):
    # One sign instead of the branches of a derived gradient: 2.9 times as fast for L2.
    sign = 1.0 if c == label[n] else -1.0
    missing = max(0.0, 1.0 - sign * x[n, c])
    if norm == "L1":
        # At the corner itself the derivative is 0.
        return -sign * dcost[n] if missing > 0.0 else 0.0
    return -2.0 * sign * dcost[n] * missing


@layer(
    "perceptron_loss",
    elsewhere={"KUnet": "PercLoss"},
    terms=("perceptron loss", "perceptron"),
    since=1,
)
class PerceptronLoss:
    """Multi-class perceptron loss: the difference between the maximum score and that of the target class.

    `cost = max over c of x[c] - x[label]`: zero for a correctly classified sample; otherwise the gradient raises the
    target score and lowers the maximum by the same amount. With `sgd` at a learning rate of 1 and one sample per batch,
    an `fc` before it is a perceptron (Rosenblatt 1958). KUnet's gradient is not divided by the number of samples.
    """

    x = Input("N C...", "score (logit) per class", seq=(0, 1, 2), kinks=("ties",))
    label = Input("N", "target class", kinds=("INT",), seq=(0, 1, 2))
    cost = Output("N", "per-sample loss", loss=True)
    best = Temp("N", "class with the maximum score; the target class among equal ones", kind="INT")
    examples = (
        Example(x="4", label="ids<4"),
        Example(x="5x1x1", label="ids<3"),
        Example(x="sequence of 3", label="sequence of ids<3"),
    )


infer(PerceptronLoss)(hinge_loss_labels)


@each(PerceptronLoss.best)
def perceptron_loss_best(n, x, label, C):
    # The target class is the first candidate, so that a tie with it is no error.
    best = label[n]
    most = x[n, best]
    for c in range(C):
        if c != label[n] and exceeds(x[n, c], most):
            best = c
            most = x[n, c]
    return best


@each(PerceptronLoss.cost)
def perceptron_loss_cost(n, x, label, best):
    return x[n, best[n]] - x[n, label[n]]


@gradient(PerceptronLoss.x)
def perceptron_loss_dx(n, c, dcost, label, best):
    if best[n] == label[n]:
        return 0.0
    return (dcost[n] if c == best[n] else 0.0) - (dcost[n] if c == label[n] else 0.0)


@layer(
    "huber_classification",
    elsewhere={"Paddle": "huber_classification, huber"},
    terms=("modified Huber loss", "Huber loss for binary classification"),
    since=1,
)
class HuberClassification:
    """Huber loss for binary classification (modified Huber): a squared hinge loss that becomes linear for large errors.

    With `a = x` for the label 1 and `a = -x` for the label 0, `cost = 0` for `a >= 1`, `(1 - a) ** 2` for `-1 <= a < 1`
    and `-4 * a` below (Zhang, "Solving large scale linear prediction problems", 2004). Paddle's `coeff` scales the
    gradient but not the loss: `loss_weight` scales both.
    """

    x = Input("N 1", "score: above zero is class 1", seq=(0, 1, 2), kinks=(1.0, -1.0))
    label = Input("N", "binary target, 0 or 1", kinds=("INT",), seq=(0, 1, 2))
    cost = Output("N", "per-sample loss", loss=True)
    examples = (
        Example(x="scalar", label="ids<2"),
        Example(x="1", label="ids<2"),
        Example(x="sequence of scalar", label="sequence of ids<2"),
    )


@infer(HuberClassification)
def huber_classification_labels(label):
    check_answers(label, "label")
    return {}


@each(HuberClassification.cost)
def huber_classification_cost(n, x, label):
    a = x[n] if label[n] == 1 else -x[n]
    if a >= 1.0:
        return 0.0
    return -4.0 * a if a < -1.0 else (1.0 - a) * (1.0 - a)


@gradient(HuberClassification.x)
def huber_classification_dx(n, dcost, x, label):
    sign = 1.0 if label[n] == 1 else -1.0
    a = sign * x[n]
    # Clamped, `a` gives the constant slope of the linear part: 1.4 times as fast as the derived branches.
    return 0.0 if a >= 1.0 else -2.0 * sign * dcost[n] * (1.0 - max(a, -1.0))


@layer(
    "contrastive_loss",
    elsewhere={"Caffe": "ContrastiveLoss"},
    terms=("contrastive loss", "Siamese network"),
    since=1,
)
class ContrastiveLoss:
    """Contrastive loss for pairs: pulls similar samples together and pushes dissimilar ones apart up to a margin.

    With the distance `d = |a - b|`, `cost = d ** 2 / 2` for similar pairs and `max(margin - d, 0) ** 2 / 2` for
    dissimilar ones (Hadsell, Chopra and LeCun, "Dimensionality reduction by learning an invariant mapping", 2006). With
    `legacy_version` it is `max(margin - d ** 2, 0) / 2` for dissimilar pairs, as in Caffe's first version. Equal
    dissimilar samples have no gradient.
    """

    a = Input("N C...", "feature vectors", seq=(0, 1, 2), kinks=("ties",))
    b = Input("N C...", "feature vectors to compare with", seq=(0, 1, 2), kinks=("ties",))
    alike = Input("N", "1 for similar pairs, 0 for dissimilar ones", kinds=("INT",), seq=(0, 1, 2))
    cost = Output("N", "per-pair loss", loss=True)
    margin = Float("margin: minimum distance of dissimilar pairs", default=1.0, above=0)
    legacy_version = Bool("use the squared distance in the margin, without squaring the violation", default=False)
    distance = Temp("N", "Euclidean distance")
    pull = Temp("N", "gradient of the first input, as a factor of the difference")
    examples = (
        Example(a="2", b="2", alike="ids<2", margin=4.0),
        Example(a="2x1x2", b="2x1x2", alike="ids<2", margin=8.0, legacy_version=True),
        Example(a="sequence of 3", b="sequence of 3", alike="sequence of ids<2"),
    )


@infer(ContrastiveLoss)
def contrastive_loss_labels(alike):
    check_answers(alike, "alike")
    return {}


@each(ContrastiveLoss.distance)
def contrastive_loss_distance(n, a, b, C):
    square = sum((a[n, c] - b[n, c]) * (a[n, c] - b[n, c]) for c in range(C))
    return math.sqrt(square)


@each(ContrastiveLoss.cost)
def contrastive_loss_cost(n, alike, distance, margin, legacy_version):
    if alike[n] == 1:
        return 0.5 * distance[n] * distance[n]
    if legacy_version:
        return 0.5 * max(margin - distance[n] * distance[n], 0.0)
    missing = max(margin - distance[n], 0.0)
    return 0.5 * missing * missing


@each(ContrastiveLoss.pull)
def contrastive_loss_pull(n, dcost, alike, distance, margin, legacy_version):
    if alike[n] == 1:
        return dcost[n]
    if legacy_version:
        return -dcost[n] if distance[n] * distance[n] < margin else 0.0
    # Equal samples have no direction in which to part.
    if distance[n] == 0.0:
        return 0.0
    return -dcost[n] * max(margin - distance[n], 0.0) / distance[n]


@gradient(ContrastiveLoss.a)
def contrastive_loss_da(n, c, a, b, pull):
    return pull[n] * (a[n, c] - b[n, c])


@gradient(ContrastiveLoss.b)
def contrastive_loss_db(n, c, a, b, pull):
    return pull[n] * (b[n, c] - a[n, c])
