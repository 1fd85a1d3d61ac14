"""Confusion matrix, and mean intersection over union."""

from paddle_layers.define import Example, Float, Input, Int, Stat, Temp, double, each, infer, layer, real, result
from paddle_layers.layers.checks import check_labels_or_ignored

from .classification import precision_recall_counts, precision_recall_guess, precision_recall_share
from .sums import ratio


@layer(
    "confusion_matrix",
    terms=("confusion matrix", "balanced accuracy"),
    since=1,
)
class ConfusionMatrix:
    """Confusion matrix: the number of labels of each class predicted as each other class.

    `counts[k, j]` are the labels of class `k` that were predicted as class `j`, weighted. A sample has one label, or
    one for each of its last axes, such as the pixels of an image. The predicted class has the maximum score, the first
    of equal ones; there is no prediction if a score is NaN; a single score predicts class 1 if it is above `threshold`.
    Labels that are `ignore_label` or outside the classes are ignored. `accuracy` is the fraction on the diagonal,
    `balanced_accuracy` the mean of the recalls of the classes that have samples. `paddle-layers evaluate` prints and
    plots the counts, with precision, recall and F1 of every class, and adds this layer to classification losses
    automatically.
    """

    x = Input("N C... ...", "score or probability per class", seq=(0, 1, 2))
    label = Input("N ...", "target class of each sample or pixel", kinds=("INT",), seq=(0, 1, 2))
    weight = Input("N ...", "sample weight of each label", optional=True, seq=(0, 1, 2))
    threshold = Float("decision threshold of a single score", default=0.5)
    ignore_label = Int("labels of this class are ignored", optional=True)
    share = Temp("N ...", "weight of the label, 0 if it is ignored")
    guess = Temp("N ...", "predicted class, -1 if a score is NaN", kind="INT")
    counts = Stat("K J", "labels of class K predicted as class J, weighted")
    wanted = Stat("K", "labels of the class, including those without a prediction, weighted")
    examples = (
        Example(x="3", label="ids<3", ignore_label=1),
        Example(x="1", label="ids<2", weight="scalar", threshold=0.0),
        Example(x="sequence of 4", label="sequence of ids<5", ignore_label=4),
        Example(x="3x2x2", label="2x2 ids<3", weight="2x2"),
    )


@infer(ConfusionMatrix)
def confusion_matrix_classes(label, C, ignore_label):
    classes = max(C, 2)
    check_labels_or_ignored(label, classes, ignore_label)
    return {"K": classes, "J": classes}


each(ConfusionMatrix.share)(precision_recall_share)
each(ConfusionMatrix.guess)(precision_recall_guess)


@each(ConfusionMatrix.counts)
def confusion_matrix_counts(k, j, guess, label, share, N):
    # In float64: a float32 sum stops growing at 2**24.
    total = double(0)
    for n in range(N):
        for i in range(guess.shape[1]):
            if label[n, i] == k and guess[n, i] == j:
                total += double(share[n, i])
    return real(total)


@each(ConfusionMatrix.wanted)
def confusion_matrix_wanted(k, label, share, N):
    total = double(0)
    for n in range(N):
        for i in range(label.shape[1]):
            if label[n, i] == k:
                total += double(share[n, i])
    return real(total)


@result(ConfusionMatrix, "accuracy", "balanced_accuracy", best="max")
def confusion_matrix_measures(counts, wanted):
    correct = [row[k] for k, row in enumerate(counts)]
    # Classes without samples have no recall.
    recalls = [ratio(right, rows) for right, rows in zip(correct, wanted, strict=True) if rows]
    return ratio(sum(correct), sum(wanted)), ratio(sum(recalls), len(recalls))


@layer(
    "mean_iou",
    elsewhere={"Keras": "MeanIoU"},
    terms=("mean intersection over union", "mIoU", "segmentation metric", "Jaccard index"),
    since=1,
)
class MeanIou:
    """Mean intersection over union (mIoU) of the classes, for semantic segmentation.

    The IoU of a class is `correct / (found + wanted - correct)`, where the pixels predicted as the class and those of
    the class are counted over all images until the counts are reset; `mean_iou` is the mean over the classes that occur
    in labels or predictions, and `accuracy` the fraction of all labels that are correct. The predicted class has the
    maximum score, the first of equal ones; there is no prediction if a score is NaN; a single score predicts class 1 if
    it is above `threshold`. Labels that are `ignore_label` or outside the classes are ignored.
    """

    x = Input("N C... ...", "score or probability per class", seq=(0, 1, 2))
    label = Input("N ...", "target class of each sample or pixel", kinds=("INT",), seq=(0, 1, 2))
    weight = Input("N ...", "sample weight of each label", optional=True, seq=(0, 1, 2))
    threshold = Float("decision threshold of a single score", default=0.5)
    ignore_label = Int("labels of this class are ignored", optional=True)
    share = Temp("N ...", "weight of the label, 0 if it is ignored")
    guess = Temp("N ...", "predicted class, -1 if a score is NaN", kind="INT")
    correct = Stat("K", "true positives of the class, weighted")
    found = Stat("K", "predictions of the class, weighted")
    wanted = Stat("K", "labels of the class, weighted")
    examples = (
        Example(x="3x2x4", label="2x4 ids<3"),
        Example(x="3x2x2", label="2x2 ids<4", weight="2x2", ignore_label=3),
        Example(x="1x3", label="3 ids<2", threshold=0.0),
        Example(x="sequence of 4", label="sequence of ids<4", ignore_label=0),
    )


@infer(MeanIou)
def mean_iou_classes(label, C, ignore_label):
    # A single score decides between two classes.
    classes = max(C, 2)
    check_labels_or_ignored(label, classes, ignore_label)
    return {"K": classes}


each(MeanIou.share)(precision_recall_share)
each(MeanIou.guess)(precision_recall_guess)
each(MeanIou.correct, MeanIou.found, MeanIou.wanted)(precision_recall_counts)


@result(MeanIou, "mean_iou", "accuracy", best="max")
def mean_iou_measures(correct, found, wanted):
    unions = [mine + there - both for both, mine, there in zip(correct, found, wanted, strict=True)]
    # A class that never occurs has no union: as 0 it would lower the mean, as NaN it would hide all others.
    shares = [both / union for both, union in zip(correct, unions, strict=True) if union]
    return ratio(sum(shares), len(shares)), ratio(sum(correct), sum(wanted))
