"""Layers that look at results: what a row says, and how often it is right."""

import math

from paddle_layers.define import (
    Example,
    Float,
    Input,
    Int,
    Stat,
    Temp,
    double,
    each,
    infer,
    layer,
    real,
    require,
    result,
)
from paddle_layers.layers.checks import check_labels_or_ignored

from .ratios import f_measures, ratio


@layer(
    "accuracy",
    elsewhere={"Caffe": "Accuracy", "Mocha": "AccuracyLayer", "Keras": "SparseCategoricalAccuracy"},
    since=1,
)
class Accuracy:
    """Share of the labels whose class is among the `top_k` best scores.

    A row has one label, or one for each of its last axes: scores of 21x28x28 and labels of 28x28 are a class for each
    pixel. A label is right if fewer than `top_k` other classes score as much as the right one or more, so ties
    count against it, as in Caffe: a network that gives every class the same score is right nowhere. A score that is not
    a number counts against it, too. Labels that are `ignore_label` or outside the classes are not counted; with none
    counted there is no share (NaN), where Caffe gives 0. Counts run on over the batches until they are reset, as in
    Mocha. Paddle reports the error rate, one minus this: `classification_error`. The accuracy of each class, Caffe's
    second top, is its recall: `paddle-layers evaluate` prints it, and `confusion_matrix` has the mean of all.
    """

    x = Input("N C... ...", "score or probability of every class", seq=(0, 1, 2))
    label = Input("N ...", "right class of every row, or of every place", kinds=("INT",), seq=(0, 1, 2))
    top_k = Int("how many best scores count as right", default=1, min=1)
    ignore_label = Int("labels of this class are not counted", optional=True)
    counted = Temp("N ...", "1 for a label that is counted")
    right = Temp("N ...", "1 for a label that is right")
    hits = Stat("N", "labels that are right")
    rows = Stat("N", "labels counted")
    examples = (
        Example(x="4", label="ids<4"),
        Example(x="5x1x1", label="ids<5", top_k=2, ignore_label=0),
        Example(x="sequence of 3", label="sequence of ids<4", ignore_label=3),
        Example(x="3x2x4", label="2x4 ids<3", ignore_label=0),
    )


@infer(Accuracy)
def accuracy_labels(label, C, top_k, ignore_label):
    check_labels_or_ignored(label, C, ignore_label)
    require(top_k <= C, "top_k", f"the {top_k} best of {C} classes are all of them")
    return {}


@each(Accuracy.counted)
def accuracy_counted(n, i, label, C, ignore_label):
    outside = label[n, i] < 0 or label[n, i] >= C
    return 0.0 if ignore_label is not None and (label[n, i] == ignore_label or outside) else 1.0


@each(Accuracy.right)
def accuracy_right(n, i, x, label, counted, C, top_k):
    if counted[n, i] == 0.0:
        return 0.0
    others = 0
    for c in range(C):
        if c != label[n, i] and not x[n, c, i] < x[n, label[n, i], i]:
            others += 1
    return 1.0 if others < top_k else 0.0


@each(Accuracy.hits, Accuracy.rows)
def accuracy_sums(n, right, counted):
    hits = 0.0
    rows = 0.0
    for i in range(right.shape[1]):
        hits += right[n, i]
        rows += counted[n, i]
    return hits, rows


@result(Accuracy, best="max")
def accuracy_share(hits, rows):
    return hits / rows if rows else math.nan


@layer("binary_accuracy", elsewhere={"Mocha": "BinaryAccuracyLayer", "Keras": "BinaryAccuracy"}, since=1)
class BinaryAccuracy:
    """Share of the answers that are right, where every column is a yes or no of its own.

    An answer is right if score and label are both above `threshold`, or both are not, as in Mocha; a score that is not
    a number is wrong. For labels of 0 and 1 the threshold is 0.5 for probabilities and 0 for scores before a sigmoid;
    0 for labels of -1 and 1. Every column counts as much, as in Mocha and Keras; Keras compares labels that are 0 or 1
    with the answer. A single column whose label is an id is `classification_error`. Counts run on over the batches
    until they are reset; without rows there is no share (NaN).
    """

    x = Input("N C...", "score or probability of every yes", seq=(0, 1, 2))
    label = Input("N C...", "the right answers: yes is above `threshold`", seq=(0, 1, 2))
    threshold = Float("where yes begins, for scores and labels", default=0.0)
    hits = Stat("N", "answers that are right")
    answers = Stat("N", "columns of the row")
    examples = (
        Example(x="3", label="3"),
        Example(x="2x3x2", label="2x3x2", threshold=0.5),
        Example(x="sequence of 1", label="sequence of 1", threshold=-0.25),
    )


@each(BinaryAccuracy.hits, BinaryAccuracy.answers)
def binary_accuracy_hits(n, x, label, C, threshold):
    hits = 0.0
    for c in range(C):
        right = x[n, c] > threshold if label[n, c] > threshold else x[n, c] <= threshold
        hits += 1.0 if right else 0.0
    return hits, real(C)


@result(BinaryAccuracy, best="max")
def binary_accuracy_share(hits, answers):
    return ratio(hits, answers)


@layer("classification_error", elsewhere={"Paddle": "classification_error"}, since=1)
class ClassificationError:
    """Share of the labels whose class is not among the `top_k` best scores.

    One minus `accuracy`, which has the same rules for ties, `ignore_label` and labels of pixels, and two things more,
    as in Paddle: labels may have weights, and a single score says yes (class 1) where it is above `threshold`. Counts
    run on over the batches until they are reset; without any weight there is no share (NaN).
    """

    x = Input("N C... ...", "score or probability of every class", seq=(0, 1, 2))
    label = Input("N ...", "right class of every row, or of every place", kinds=("INT",), seq=(0, 1, 2))
    weight = Input("N ...", "importance of every label", optional=True, seq=(0, 1, 2))
    top_k = Int("how many best scores count as right", default=1, min=1)
    threshold = Float("where a single score says yes", default=0.5, aliases=("classification_threshold",))
    ignore_label = Int("labels of this class are not counted", optional=True)
    share = Temp("N ...", "weight of the label, 0 where it is not counted")
    miss = Temp("N ...", "the same where the label is wrong")
    wrong = Stat("N", "labels that are wrong, weighted")
    rows = Stat("N", "weights of all labels")
    examples = (
        Example(x="4", label="ids<4"),
        Example(x="1", label="ids<2", weight="scalar", threshold=0.0),
        Example(x="sequence of 5", label="sequence of ids<5", top_k=2),
        Example(x="3x2x2", label="2x2 ids<4", weight="2x2", ignore_label=3),
        Example(x="1x3", label="3 ids<2"),
    )


@infer(ClassificationError)
def classification_error_labels(label, C, top_k, ignore_label):
    check_labels_or_ignored(label, max(C, 2), ignore_label)
    require(top_k <= C, "top_k", f"the {top_k} best of {C} classes are all of them")
    return {}


@each(ClassificationError.share)
def classification_error_share_of(n, i, label, weight, C, ignore_label):
    outside = label[n, i] < 0 or label[n, i] >= max(C, 2)
    if ignore_label is not None and (label[n, i] == ignore_label or outside):
        return 0.0
    return 1.0 if weight is None else weight[n, i]


@each(ClassificationError.miss)
def classification_error_miss(n, i, x, label, share, C, top_k, threshold):
    if share[n, i] == 0.0:
        return 0.0
    if C == 1:
        right = x[n, 0, i] > threshold if label[n, i] == 1 else x[n, 0, i] <= threshold
        return 0.0 if right else share[n, i]
    others = 0
    for c in range(C):
        if c != label[n, i] and not x[n, c, i] < x[n, label[n, i], i]:
            others += 1
    return 0.0 if others < top_k else share[n, i]


@each(ClassificationError.wrong, ClassificationError.rows)
def classification_error_sums(n, miss, share):
    wrong = 0.0
    rows = 0.0
    for i in range(miss.shape[1]):
        wrong += miss[n, i]
        rows += share[n, i]
    return wrong, rows


@result(ClassificationError, best="min")
def classification_error_share(wrong, rows):
    return ratio(wrong, rows)


@layer("precision_recall", elsewhere={"Paddle": "precision_recall", "Keras": "Precision, Recall"}, since=1)
class PrecisionRecall:
    """Precision, recall and F1 of the class `positive_label`, or their means over all classes.

    Precision is the share of the labels found that are right, recall the share of those of the class that are found,
    `F1 = 2 * correct / (found + wanted)`. A row has one label, or one for each of its last axes, as for the pixels of
    an image; those that are `ignore_label` are not counted. One is found to be of the class with the best score, the
    first of equal ones, and of none where a score is not a number; a single score says yes (class 1) where it is above
    `threshold`. Without `positive_label` each number is the plain mean (macro average) over the classes that have it: a
    class that is never found has no precision. `accuracy` is the share of all labels that are right: Paddle's micro
    average, which is the same for all three.
    """

    x = Input("N C... ...", "score or probability of every class", seq=(0, 1, 2))
    label = Input("N ...", "right class of every row, or of every place", kinds=("INT",), seq=(0, 1, 2))
    weight = Input("N ...", "importance of every label", optional=True, seq=(0, 1, 2))
    positive_label = Int("the class that is looked for; all of them when absent", min=0, optional=True)
    threshold = Float("where a single score says yes", default=0.5, aliases=("classification_threshold",))
    ignore_label = Int("labels of this class are not counted", optional=True)
    share = Temp("N ...", "weight of the label, 0 where it is not counted")
    guess = Temp("N ...", "class that was found, -1 where a score is not a number", kind="INT")
    correct = Stat("K", "labels of the class rightly found, weighted")
    found = Stat("K", "labels found to be of the class, weighted")
    wanted = Stat("K", "labels of the class, weighted")
    examples = (
        Example(x="3", label="ids<3", positive_label=1),
        Example(x="1", label="ids<2", weight="scalar", positive_label=1, threshold=0.0),
        Example(x="sequence of 4", label="sequence of ids<4"),
        Example(x="3x2x2", label="2x2 ids<4", weight="2x2", ignore_label=3),
        Example(x="1x3", label="3 ids<2"),
    )


@infer(PrecisionRecall)
def precision_recall_classes(label, C, positive_label, ignore_label):
    classes = max(C, 2)
    check_labels_or_ignored(label, classes, ignore_label)
    require(
        positive_label is None or positive_label < classes,
        "positive_label",
        f"`positive_label` is {positive_label} of {classes} classes",
    )
    return {"K": classes}


@each(PrecisionRecall.share)
def precision_recall_share(n, i, label, weight, ignore_label):
    if ignore_label is not None and label[n, i] == ignore_label:
        return 0.0
    return 1.0 if weight is None else weight[n, i]


@each(PrecisionRecall.guess)
def precision_recall_guess(n, i, x, C, threshold):
    for c in range(C):
        if math.isnan(x[n, c, i]):
            return -1
    if C == 1:
        return 1 if x[n, 0, i] > threshold else 0
    best = 0
    for c in range(1, C):
        if x[n, c, i] > x[n, best, i]:
            best = c
    return best


@each(PrecisionRecall.correct, PrecisionRecall.found, PrecisionRecall.wanted)
def precision_recall_counts(k, guess, label, share, N, K):
    correct = double(0)
    found = double(0)
    wanted = double(0)
    for n in range(N):
        for i in range(guess.shape[1]):
            if label[n, i] >= 0 and label[n, i] < K:
                if guess[n, i] == k:
                    found += double(share[n, i])
                if label[n, i] == k:
                    wanted += double(share[n, i])
                if guess[n, i] == k and label[n, i] == k:
                    correct += double(share[n, i])
    return real(correct), real(found), real(wanted)


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
