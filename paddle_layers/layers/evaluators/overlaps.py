"""Statistics of regions: how far those that are found and those that are there lie over one another."""

from paddle_layers.define import Example, Float, Input, Int, Stat, Temp, each, infer, layer, result
from paddle_layers.layers.checks import check_labels_or_ignored

from .classification import precision_recall_counts, precision_recall_guess, precision_recall_share
from .ratios import ratio


@layer("mean_iou", elsewhere={"Keras": "MeanIoU"}, since=1)
class MeanIou:
    """Mean intersection over union of the classes, for labels of pixels.

    Of a class, it is the share of the pixels that are found to be of it or are of it where both are true:
    `correct / (found + wanted - correct)`, counted over all images until the counts are reset; `mean_iou` is the plain
    mean over the classes that are there or are found, and `accuracy` the share of all labels that are right. A pixel is
    found to be of the class with the best score, the first of equal ones, and of none where a score is not a number; a
    single score says yes (class 1) where it is above `threshold`. Labels that are `ignore_label` or outside the classes
    are not counted.
    """

    x = Input("N C... ...", "score or probability of every class", seq=(0, 1, 2))
    label = Input("N ...", "right class of every row, or of every place", kinds=("INT",), seq=(0, 1, 2))
    weight = Input("N ...", "importance of every label", optional=True, seq=(0, 1, 2))
    threshold = Float("where a single score says yes", default=0.5)
    ignore_label = Int("labels of this class are not counted", optional=True)
    share = Temp("N ...", "weight of the label, 0 where it is not counted")
    guess = Temp("N ...", "class that was found, -1 where a score is not a number", kind="INT")
    correct = Stat("K", "labels of the class rightly found, weighted")
    found = Stat("K", "labels found to be of the class, weighted")
    wanted = Stat("K", "labels of the class, weighted")
    examples = (
        Example(x="3x2x4", label="2x4 ids<3"),
        Example(x="3x2x2", label="2x2 ids<4", weight="2x2", ignore_label=3),
        Example(x="1x3", label="3 ids<2", threshold=0.0),
        Example(x="sequence of 4", label="sequence of ids<4", ignore_label=0),
    )


@infer(MeanIou)
def mean_iou_classes(label, C, ignore_label):
    classes = max(C, 2)
    check_labels_or_ignored(label, classes, ignore_label)
    return {"K": classes}


each(MeanIou.share)(precision_recall_share)
each(MeanIou.guess)(precision_recall_guess)
each(MeanIou.correct, MeanIou.found, MeanIou.wanted)(precision_recall_counts)


@result(MeanIou, "mean_iou", "accuracy", best="max")
def mean_iou_measures(correct, found, wanted):
    unions = [mine + there - both for both, mine, there in zip(correct, found, wanted, strict=True)]
    shares = [both / union for both, union in zip(correct, unions, strict=True) if union]
    return ratio(sum(shares), len(shares)), ratio(sum(correct), sum(wanted))
