"""Classification metrics: accuracy, error rate, precision, recall, AUC."""

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

from .sums import f_measures, ratio


@layer(
    "accuracy",
    elsewhere={"Caffe": "Accuracy", "Mocha": "AccuracyLayer", "Keras": "SparseCategoricalAccuracy"},
    terms=("accuracy", "top-k accuracy"),
    since=1,
)
class Accuracy:
    """Accuracy: the fraction of labels whose class is among the `top_k` scores.

    A sample has one label, or one for each of its last axes: scores of 21x28x28 with labels of 28x28 are a class for
    each pixel. A label is correct if fewer than `top_k` other classes have a score at least as large, so ties count as
    wrong, as in Caffe: a network that gives every class the same score has accuracy 0. NaN scores count as wrong, too.
    Labels that are `ignore_label` or outside the classes are ignored; without any counted label the accuracy is NaN,
    where Caffe reports 0. Counts accumulate over the batches until they are reset, as in Mocha. Paddle reports the
    error rate, one minus this: `classification_error`. The accuracy of each class, Caffe's second top, is its recall:
    `paddle-layers evaluate` prints it, and `confusion_matrix` has their mean.
    """

    x = Input("N C... ...", "score or probability per class", seq=(0, 1, 2))
    label = Input("N ...", "target class of each sample or pixel", kinds=("INT",), seq=(0, 1, 2))
    top_k = Int("number of top scores that count as correct", default=1, min=1)
    ignore_label = Int("labels of this class are ignored", optional=True)
    counted = Temp("N ...", "1 for a label that is not ignored")
    right = Temp("N ...", "1 for a correct label")
    hits = Stat("N", "correct labels")
    rows = Stat("N", "labels that are not ignored")
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
        # `not <` instead of `>=`: a NaN score is not less, so that it counts as wrong.
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


@layer(
    "binary_accuracy",
    elsewhere={"Mocha": "BinaryAccuracyLayer", "Keras": "BinaryAccuracy"},
    terms=("binary accuracy", "multi-label accuracy"),
    since=1,
)
class BinaryAccuracy:
    """Binary accuracy for multi-label targets: the fraction of columns on the correct side of the threshold.

    A column is correct if score and target are both above `threshold`, or both are not, as in Mocha; NaN scores are
    wrong. For targets of 0 and 1 the threshold is 0.5 for probabilities and 0 for logits; 0 for targets of -1 and 1.
    All columns count equally, as in Mocha and Keras; Keras compares targets of 0 or 1 with the prediction. For a single
    column with an integer label see `classification_error`. Counts accumulate over the batches until they are reset;
    without samples the accuracy is NaN.
    """

    x = Input("N C...", "score or probability per label", seq=(0, 1, 2))
    label = Input("N C...", "binary targets: positive above `threshold`", seq=(0, 1, 2))
    threshold = Float("decision threshold of scores and targets", default=0.0)
    hits = Stat("N", "correct labels")
    answers = Stat("N", "labels of the sample")
    examples = (
        Example(x="3", label="3"),
        Example(x="2x3x2", label="2x3x2", threshold=0.5),
        Example(x="sequence of 1", label="sequence of 1", threshold=-0.25),
    )


@each(BinaryAccuracy.hits, BinaryAccuracy.answers)
def binary_accuracy_hits(n, x, label, C, threshold):
    hits = 0.0
    for c in range(C):
        # NaN fails both comparisons and is wrong.
        right = x[n, c] > threshold if label[n, c] > threshold else x[n, c] <= threshold
        hits += 1.0 if right else 0.0
    return hits, real(C)


@result(BinaryAccuracy, best="max")
def binary_accuracy_share(hits, answers):
    return ratio(hits, answers)


@layer(
    "classification_error",
    elsewhere={"Paddle": "classification_error"},
    terms=("classification error", "error rate"),
    since=1,
)
class ClassificationError:
    """Classification error rate: the fraction of labels whose class is not among the `top_k` scores.

    One minus `accuracy`, with the same rules for ties, `ignore_label` and labels of pixels, and two additions, as in
    Paddle: labels may have weights, and a single score predicts class 1 if it is above `threshold`. Counts accumulate
    over the batches until they are reset; without any weight the error is NaN.
    """

    x = Input("N C... ...", "score or probability per class", seq=(0, 1, 2))
    label = Input("N ...", "target class of each sample or pixel", kinds=("INT",), seq=(0, 1, 2))
    weight = Input("N ...", "sample weight of each label", optional=True, seq=(0, 1, 2))
    top_k = Int("number of top scores that count as correct", default=1, min=1)
    threshold = Float("decision threshold of a single score", default=0.5, aliases=("classification_threshold",))
    ignore_label = Int("labels of this class are ignored", optional=True)
    share = Temp("N ...", "weight of the label, 0 if it is ignored")
    miss = Temp("N ...", "weight of the label if it is misclassified")
    wrong = Stat("N", "misclassified labels, weighted")
    rows = Stat("N", "sum of the weights")
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
        # As in `accuracy`: ties and NaN are wrong.
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


@layer(
    "precision_recall",
    elsewhere={"Paddle": "precision_recall", "Keras": "Precision, Recall"},
    terms=("precision", "recall", "F1 score"),
    since=1,
)
class PrecisionRecall:
    """Precision, recall and F1 score of the class `positive_label`, or their macro average over all classes.

    Precision is the fraction of the predictions of a class that are correct, recall the fraction of the labels of the
    class that are predicted, `F1 = 2 * correct / (found + wanted)`. A sample has one label, or one for each of its last
    axes, such as the pixels of an image; `ignore_label` is ignored. The predicted class has the maximum score, the
    first of equal ones; there is no prediction if a score is NaN; a single score predicts class 1 if it is above
    `threshold`. Without `positive_label` each metric is the mean (macro average) over the classes for which it is
    defined: a class that is never predicted has no precision. For the micro average, which is the same for all three,
    see `accuracy`.
    """

    x = Input("N C... ...", "score or probability per class", seq=(0, 1, 2))
    label = Input("N ...", "target class of each sample or pixel", kinds=("INT",), seq=(0, 1, 2))
    weight = Input("N ...", "sample weight of each label", optional=True, seq=(0, 1, 2))
    positive_label = Int("the positive class; if absent, the mean over all classes", min=0, optional=True)
    threshold = Float("decision threshold of a single score", default=0.5, aliases=("classification_threshold",))
    ignore_label = Int("labels of this class are ignored", optional=True)
    share = Temp("N ...", "weight of the label, 0 if it is ignored")
    guess = Temp("N ...", "predicted class, -1 if a score is NaN", kind="INT")
    correct = Stat("K", "true positives of the class, weighted")
    found = Stat("K", "predictions of the class, weighted")
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
    # A maximum would depend on the position of NaN.
    for c in range(C):
        if math.isnan(x[n, c, i]):
            return -1
    if C == 1:
        # Not by a maximum, which a single score would always be.
        return 1 if x[n, 0, i] > threshold else 0
    best = 0
    for c in range(1, C):
        if x[n, c, i] > x[n, best, i]:
            best = c
    return best


@each(PrecisionRecall.correct, PrecisionRecall.found, PrecisionRecall.wanted)
def precision_recall_counts(k, guess, label, share, N, K):
    # In float64: a float32 sum stops growing at 2**24, fewer than the pixels of some batches.
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
    # A class that never occurs has no recall, and one that is never predicted no precision.
    known = [[number for number in column if not math.isnan(number)] for column in columns]
    return (*(ratio(sum(numbers), len(numbers)) for numbers in known), ratio(sum(correct), sum(wanted)))


@layer(
    "auc",
    elsewhere={"Paddle": "last-column-auc, auc, auc-validation", "Keras": "AUC"},
    terms=("area under the ROC curve", "ROC AUC"),
    since=1,
)
class Auc:
    """Area under the ROC curve (AUC) of binary classification.

    The fraction of the pairs of a positive and a negative sample in which the positive one has the higher score; ties
    count one half (Hanley and McNeil 1982), and with weights each pair counts as the product of both. The score is the
    last column, a probability. Scores are counted in `bins` of equal width, as in Paddle, so the pairs are those of all
    samples since the last reset. Samples in one bin are ties: the error is at most half the fraction of the pairs in
    one bin, `1 / (2 * bins)` for uniformly distributed scores. If any score is outside of 0 to 1 the AUC is NaN: add a
    `softmax` or a `sigmoid` after an `fc` without an activation.
    """

    x = Input("N C", "probabilities; the last column is the score of class 1", seq=(0, 1, 2), within=(0, 1))
    label = Input("N", "0 or 1", kinds=("INT",), seq=(0, 1, 2))
    weight = Input("N", "sample weight", optional=True, seq=(0, 1, 2))
    bins = Int("number of bins of the scores", default=4096, min=2, axis="B")
    place = Temp("N", "bin of the score, -1 if it is not a probability", kind="INT")
    positive = Stat("B", "positive samples in the bin, weighted")
    negative = Stat("B", "negative samples in the bin, weighted")
    outside = Stat("N", "samples whose score is not a probability")
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
    # A score of exactly 1 is in the last bin. NaN fails both comparisons.
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
        # Pairs within a bin are ties, and count one half.
        ordered += ours * (below + others / 2)
        below += others
    return math.nan if outside else ratio(ordered, sum(positive) * below)
