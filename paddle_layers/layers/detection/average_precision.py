"""Mean average precision of object detection."""

import math

from paddle_layers.define import (
    Bool,
    Choice,
    Example,
    Float,
    Input,
    Int,
    Stat,
    Temp,
    each,
    fill,
    infer,
    layer,
    real,
    require,
    result,
)
from paddle_layers.layers.metrics.sums import ratio

from .boxes import check_corners, jaccard

WRONG, IGNORED, LEFT = -1, -2, -3
"""Codes of detections without a match: wrong, ignored, not yet decided."""


@layer(
    "detection_map",
    elsewhere={"Paddle": "detection_map"},
    terms=("mean average precision", "mAP", "object detection metric"),
    since=1,
)
class DetectionMap:
    """Mean average precision (mAP) of object detection, between 0 and 1.

    In each image the detections are processed in order of confidence. A detection is correct if the ground-truth box of
    its class with the maximum IoU has an IoU above `overlap_threshold` and was not matched before; the IoU is the area
    of the intersection divided by the area of the union. From the most confident detection of all images on,
    `precision` is the fraction of the detections that are correct, and `recall` the fraction of the ground truth that
    was detected.

    The average precision of a class is the mean of the maximum precision at a recall of at least 0, 0.1, ... 1
    (`ELEVEN_POINT`, as in Pascal VOC 2007), or the sum of the precision times the increase of the recall (`INTEGRAL`).
    The mean is over the classes that have ground truth; without any it is NaN. A `difficult` box counts neither as
    ground truth nor, when it is detected, as correct or wrong, unless `evaluate_difficult` is set.

    Scores are counted in `bins` of equal width, since the detections of all images since the last reset count: those in
    one bin have equal confidence. If any score is outside of 0 to 1 the mean is NaN. Paddle keeps every score, ignores
    classes without detections, which count as 0 here, and reports percent.
    """

    label = Input("R:N", "class of each detection", kinds=("INT",), seq=(1,))
    score = Input("R:N 1", "confidence of each detection", seq=(1,), within=(0, 1))
    box = Input("R:N K", "corners `x1, y1, x2, y2` of each detection", seq=(1,), within=(0, 1))
    truth = Input("T:N", "class of each ground-truth box", kinds=("INT",), seq=(1,))
    truth_box = Input("T:N K", "corners of each ground-truth box", seq=(1,), within=(0, 1))
    difficult = Input("T:N", "1 for a difficult box, else 0", kinds=("INT",), seq=(1,), optional=True)
    overlap_threshold = Float("IoU threshold for a match", default=0.5, min=0, below=1)
    background_id = Int("background class, which is ignored", default=0, min=0)
    evaluate_difficult = Bool("include difficult boxes", default=False)
    ap_type = Choice(
        "definition of the average precision",
        options={
            "ELEVEN_POINT": "mean of the maximum precision at eleven recall levels (Pascal VOC 2007)",
            "INTEGRAL": "area under the precision-recall curve",
        },
        default="ELEVEN_POINT",
    )
    bins = Int("number of bins of the scores", default=1000, min=2, axis="M")
    hit = Temp("R:N", "index of the matched ground-truth box, or a code", kind="INT")
    place = Temp("R:N", "bin of the score, -1 if it is not between 0 and 1", kind="INT")
    right = Stat("C M", "true positives of the class with a score in the bin")
    wrong = Stat("C M", "false positives of the class with a score in the bin")
    there = Stat("C", "ground-truth boxes of the class")
    outside = Stat("R:N", "scores that are not between 0 and 1")
    examples = (
        Example(
            label="sequence of ids<3", score="sequence of scalar", box="sequence of 4",
            truth="sequence of ids<3", truth_box="sequence of 4", overlap_threshold=0.1, bins=3,
        ),
        Example(
            label="sequence of ids<2", score="sequence of 1", box="sequence of 4",
            truth="sequence of ids<2", truth_box="sequence of 4", difficult="sequence of ids<2",
            overlap_threshold=0.0, bins=2, ap_type="INTEGRAL", background_id=1, evaluate_difficult=True,
        ),
        Example(
            label="sequence of ids<2", score="sequence of 1", box="sequence of 4",
            truth="sequence of ids<2", truth_box="sequence of 4", difficult="sequence of ids<2",
            overlap_threshold=0.05, bins=10,
        ),
        Example(
            label="sequence of ids<2", score="sequence of 1", box="sequence of 4",
            truth="sequence of ids<2", truth_box="sequence of 4", overlap_threshold=0.05, ap_type="INTEGRAL",
        ),
    )  # fmt: skip


@infer(DetectionMap)
def detection_map_classes(label, truth, difficult, K):
    check_corners(K, "box")
    few = difficult is None or difficult.size <= 2
    require(few, "difficult", "`difficult` says 0 or 1 of each box: declare it with `size: 2`")
    return {"C": max(label.size, truth.size)}


@fill(DetectionMap.hit, per="N")
def detection_map_hit(
    n, hit, label, score, box, truth, truth_box, difficult, R_start, T_start, overlap_threshold, evaluate_difficult
):
    for r in range(R_start[n], R_start[n + 1]):
        hit[r] = LEFT
    for _ in range(R_start[n], R_start[n + 1]):
        # The most confident one of the rest: repeated selection needs no memory for a sorted list.
        first = -1
        for r in range(R_start[n], R_start[n + 1]):
            if hit[r] == LEFT and (first < 0 or score[r] > score[first]):
                first = r
        most = overlap_threshold
        best = WRONG
        for t in range(T_start[n], T_start[n + 1]):
            if truth[t] == label[first]:
                common = jaccard(
                    box[first, 0], box[first, 1], box[first, 2], box[first, 3],
                    truth_box[t, 0], truth_box[t, 1], truth_box[t, 2], truth_box[t, 3],
                )  # fmt: skip
                if common > most:
                    most = common
                    best = t
        # A difficult box counts neither for nor against the detector.
        if best >= 0 and difficult is not None and not evaluate_difficult and difficult[best] == 1:
            best = IGNORED
        elif best >= 0:
            # A ground-truth box is detected once: further detections of it are wrong.
            for r in range(R_start[n], R_start[n + 1]):
                best = WRONG if hit[r] == best else best
        hit[first] = best


@each(DetectionMap.place)
def detection_map_place(r, score, M):
    # A score of exactly 1 is in the last bin. NaN fails both comparisons.
    return min(int(score[r] * real(M)), M - 1) if score[r] >= 0.0 and score[r] <= 1.0 else -1


@each(DetectionMap.right, DetectionMap.wrong)
def detection_map_counts(c, m, label, hit, place, R):
    right = 0.0
    wrong = 0.0
    for r in range(R):
        if place[r] == m and label[r] == c:
            right += 1.0 if hit[r] >= 0 else 0.0
            wrong += 1.0 if hit[r] == WRONG else 0.0
    return right, wrong


@each(DetectionMap.there)
def detection_map_there(c, truth, difficult, evaluate_difficult, T):
    total = 0.0
    for t in range(T):
        if truth[t] == c and (difficult is None or evaluate_difficult or difficult[t] != 1):
            total += 1.0
    return total


@each(DetectionMap.outside)
def detection_map_outside(r, place):
    return 1.0 if place[r] < 0 else 0.0


@result(DetectionMap, best="max")
def detection_map_mean(right, wrong, there, outside, ap_type, background_id):
    areas = [
        average_precision(right[c], wrong[c], count, ap_type)
        for c, count in enumerate(there)
        if count and c != background_id
    ]
    return math.nan if outside else ratio(sum(areas), len(areas))


def average_precision(right: list[float], wrong: list[float], there: float, ap_type: str) -> float:
    """The area below the precision over the recall of a class, whose boxes are counted by bins of rising scores."""
    found, correct, area, points = 0.0, 0.0, 0.0, [0.0] * 11
    for hits, misses in zip(reversed(right), reversed(wrong), strict=True):
        correct, found = correct + hits, found + hits + misses
        precision = correct / found if found else 0.0
        # Each correct detection raises the recall by 1 / there.
        area += precision * hits / there
        for tenth in range(11):
            # Multiplied instead of divided: a recall of exactly 0.3 must not fail by rounding.
            if found and 10 * correct >= tenth * there:
                points[tenth] = max(points[tenth], precision)
    return area if ap_type == "INTEGRAL" else sum(points) / len(points)
