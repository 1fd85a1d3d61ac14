"""Layers that look at results: what a row says, and how often it is right."""

import math

from paddle_layers.define import (
    Example,
    Float,
    Input,
    Int,
    Stat,
    Temp,
    each,
    infer,
    layer,
    real,
    require,
    result,
)
from paddle_layers.layers.checks import check_labels, check_labels_or_ignored

from .ratios import f_measures, ratio


@layer(
    "accuracy",
    elsewhere={"Caffe": "Accuracy", "Mocha": "AccuracyLayer", "Keras": "SparseCategoricalAccuracy"},
    since=1,
)
class Accuracy:
    """Share of the rows whose right class is among the `top_k` best scores.

    A row is right if fewer than `top_k` other classes score as much as the right one or more, so ties count against
    it, as in Caffe: a network that gives every class the same score is right nowhere. A score that is not a number
    counts against the row, too. Rows whose label is `ignore_label` or outside the classes are not counted; with no
    row counted there is no share (NaN), where Caffe gives 0. Counts run on over the batches until they are reset, as
    in Mocha. Paddle reports the error rate, one minus this: `classification_error`.
    """

    x = Input("N C...", "score or probability of every class", seq=(0, 1, 2))
    label = Input("N", "right class of every row", kinds=("INT",), seq=(0, 1, 2))
    top_k = Int("how many best scores count as right", default=1, min=1)
    ignore_label = Int("rows of this class are not counted", optional=True)
    hits = Stat("N", "rows that are right")
    rows = Stat("N", "rows counted")
    examples = (
        Example(x="4", label="ids<4"),
        Example(x="5x1x1", label="ids<5", top_k=2, ignore_label=0),
        Example(x="sequence of 3", label="sequence of ids<4", ignore_label=3),
    )


@infer(Accuracy)
def accuracy_labels(label, C, top_k, ignore_label):
    check_labels_or_ignored(label, C, ignore_label)
    require(top_k <= C, "top_k", f"the {top_k} best of {C} classes are all of them")
    return {}


@each(Accuracy.rows)
def accuracy_rows(n, label, C, ignore_label):
    if ignore_label is not None and (label[n] == ignore_label or label[n] < 0 or label[n] >= C):
        return 0.0
    return 1.0


@each(Accuracy.hits)
def accuracy_hits(n, x, label, rows, C, top_k):
    if rows[n] == 0.0:
        return 0.0
    others = 0
    for c in range(C):
        if c != label[n] and not x[n, c] < x[n, label[n]]:
            others += 1
    return 1.0 if others < top_k else 0.0


@result(Accuracy, best="max")
def accuracy_share(hits, rows):
    return hits / rows if rows else math.nan


@layer("classification_error", elsewhere={"Paddle": "classification_error"}, since=1)
class ClassificationError:
    """Share of the rows whose right class is not among the `top_k` best scores.

    One minus `accuracy`, which has the same rules for ties, and two things more, as in Paddle: rows may have weights,
    and a single score says yes (class 1) where it is above `threshold`. Counts run on over the batches until they are
    reset; without any weight there is no share (NaN).
    """

    x = Input("N C...", "score or probability of every class", seq=(0, 1, 2))
    label = Input("N", "right class of every row", kinds=("INT",), seq=(0, 1, 2))
    weight = Input("N", "importance of every row", optional=True, seq=(0, 1, 2))
    top_k = Int("how many best scores count as right", default=1, min=1)
    threshold = Float("where a single score says yes", default=0.5, aliases=("classification_threshold",))
    wrong = Stat("N", "rows that are wrong, weighted")
    rows = Stat("N", "weights of all rows")
    examples = (
        Example(x="4", label="ids<4"),
        Example(x="1", label="ids<2", weight="scalar", threshold=0.0),
        Example(x="sequence of 5", label="sequence of ids<5", top_k=2),
    )


@infer(ClassificationError)
def classification_error_labels(label, C, top_k):
    check_labels(label, max(C, 2))
    require(top_k <= C, "top_k", f"the {top_k} best of {C} classes are all of them")
    return {}


@each(ClassificationError.wrong)
def classification_error_wrong(n, x, label, weight, C, top_k, threshold):
    share = 1.0 if weight is None else weight[n]
    if C == 1:
        right = x[n, 0] > threshold if label[n] == 1 else x[n, 0] <= threshold
        return 0.0 if right else share
    others = 0
    for c in range(C):
        if c != label[n] and not x[n, c] < x[n, label[n]]:
            others += 1
    return 0.0 if others < top_k else share


@each(ClassificationError.rows)
def classification_error_rows(n, weight):
    return 1.0 if weight is None else weight[n]


@result(ClassificationError, best="min")
def classification_error_share(wrong, rows):
    return ratio(wrong, rows)


@layer("precision_recall", elsewhere={"Paddle": "precision_recall", "Keras": "Precision, Recall"}, since=1)
class PrecisionRecall:
    """Precision, recall and F1 of the class `positive_label`, or their means over all classes.

    Precision is the share of the rows found that are right, recall the share of the rows of the class that are found,
    `F1 = 2 * correct / (found + wanted)`. A row is found to be of the class with the best score, the first of equal
    ones, and of none where a score is not a number; a single score says yes (class 1) where it is above `threshold`.
    Without `positive_label` each number is the plain mean (macro average) over the classes that have it: a class that
    is never found has no precision. `accuracy` is the share of all rows that are right: Paddle's micro average, which
    is the same for all three.
    """

    x = Input("N C...", "score or probability of every class", seq=(0, 1, 2))
    label = Input("N", "right class of every row", kinds=("INT",), seq=(0, 1, 2))
    weight = Input("N", "importance of every row", optional=True, seq=(0, 1, 2))
    positive_label = Int("the class that is looked for; all of them when absent", min=0, optional=True)
    threshold = Float("where a single score says yes", default=0.5, aliases=("classification_threshold",))
    guess = Temp("N", "class that was found, -1 where a score is not a number", kind="INT")
    correct = Stat("K", "rows of the class rightly found, weighted")
    found = Stat("K", "rows found to be of the class, weighted")
    wanted = Stat("K", "rows of the class, weighted")
    examples = (
        Example(x="3", label="ids<3", positive_label=1),
        Example(x="1", label="ids<2", weight="scalar", positive_label=1, threshold=0.0),
        Example(x="sequence of 4", label="sequence of ids<4"),
    )


@infer(PrecisionRecall)
def precision_recall_classes(label, C, positive_label):
    classes = max(C, 2)
    check_labels(label, classes)
    require(
        positive_label is None or positive_label < classes,
        "positive_label",
        f"`positive_label` is {positive_label} of {classes} classes",
    )
    return {"K": classes}


@each(PrecisionRecall.guess)
def precision_recall_guess(n, x, C, threshold):
    for c in range(C):
        if math.isnan(x[n, c]):
            return -1
    if C == 1:
        return 1 if x[n, 0] > threshold else 0
    best = 0
    for c in range(1, C):
        if x[n, c] > x[n, best]:
            best = c
    return best


@each(PrecisionRecall.correct, PrecisionRecall.found, PrecisionRecall.wanted)
def precision_recall_counts(k, guess, label, weight, N):
    correct = 0.0
    found = 0.0
    wanted = 0.0
    for n in range(N):
        share = 1.0 if weight is None else weight[n]
        if guess[n] == k:
            found += share
        if label[n] == k:
            wanted += share
        if guess[n] == k and label[n] == k:
            correct += share
    return correct, found, wanted


@result(PrecisionRecall, "precision", "recall", "F1", "accuracy", best="max")
def precision_recall_measures(positive_label, correct, found, wanted):
    classes = range(len(correct)) if positive_label is None else (positive_label,)
    columns = zip(*(f_measures(correct[k], found[k], wanted[k]) for k in classes), strict=True)
    known = [[number for number in column if not math.isnan(number)] for column in columns]
    return (*(ratio(sum(numbers), len(numbers)) for numbers in known), ratio(sum(correct), sum(wanted)))


@layer("auc", elsewhere={"Paddle": "last-column-auc, auc, auc-validation", "Keras": "AUC"}, since=1)
class Auc:
    """Area under the ROC curve: the share of the pairs of a row of class 1 and one of class 0 in the right order.

    In the right order, the row of class 1 has the higher score; pairs with equal scores count one half (Hanley and
    McNeil 1982), and with weights each pair counts as the product of both. The score is the last column, a probability.
    Scores are counted in `bins` of equal width, as in Paddle, so the pairs are those of all rows since the last reset.
    Rows in one bin count as equal: the area is off by at most half the share of the pairs that are in one bin, which is
    `1 / (2 * bins)` for scores that are spread evenly. If any score is outside of 0 to 1 there is no area (NaN):
    behind an `fc` without an activation, put a `softmax` or a `sigmoid` between.
    """

    x = Input("N C", "probabilities; the last column counts", seq=(0, 1, 2), within=(0, 1))
    label = Input("N", "0 or 1", kinds=("INT",), seq=(0, 1, 2))
    weight = Input("N", "importance of every row", optional=True, seq=(0, 1, 2))
    bins = Int("bins of scores", default=4096, min=2, axis="B")
    place = Temp("N", "bin of the score, -1 when it is no probability", kind="INT")
    positive = Stat("B", "rows of class 1 in the bin, weighted")
    negative = Stat("B", "other rows in the bin, weighted")
    outside = Stat("N", "rows whose score is no probability")
    examples = (
        Example(x="1", label="ids<2", bins=16),
        Example(x="2", label="ids<2", weight="scalar", bins=3),
        Example(x="sequence of 2", label="sequence of ids<2", bins=8),
    )


@infer(Auc)
def auc_labels(label):
    require(label.size <= 2, "label", f"there are {label.size} labels, but a curve is for two classes")
    return {}


@each(Auc.place)
def auc_place(n, x, B, C):
    score = x[n, C - 1]
    return min(int(score * real(B)), B - 1) if score >= 0.0 and score <= 1.0 else -1


@each(Auc.positive, Auc.negative)
def auc_counts(b, place, label, weight, N):
    positive = 0.0
    negative = 0.0
    for n in range(N):
        if place[n] == b:
            share = 1.0 if weight is None else weight[n]
            if label[n] == 1:
                positive += share
            else:
                negative += share
    return positive, negative


@each(Auc.outside)
def auc_outside(n, place):
    return 1.0 if place[n] < 0 else 0.0


@result(Auc, best="max")
def auc_area(positive, negative, outside):
    ordered = below = 0.0
    for ours, others in zip(positive, negative, strict=True):
        ordered += ours * (below + others / 2)
        below += others
    return math.nan if outside else ratio(ordered, sum(positive) * below)
