"""Mean intersection over union."""

from paddle_layers.define import Example, Float, Input, Int, Stat, Temp, each, infer, layer, result
from paddle_layers.layers.checks import check_labels_or_ignored

from .classification import precision_recall_counts, precision_recall_guess, precision_recall_share
from .ratios import ratio


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
