"""What a detector finds: boxes of every class, without those that lie over better ones."""

import math

import numpy as np

from paddle_layers.define import (
    Example,
    Float,
    Input,
    Int,
    Numbers,
    Output,
    Temp,
    each,
    fill,
    infer,
    layer,
    require,
    starts,
)

from .boxes import jaccard
from .maps import CORNERS, box_numbers, scale_of


@layer("detection_output", elsewhere={"Paddle": "detection_output", "Caffe": "DetectionOutput"}, since=1)
class DetectionOutput:
    """The boxes that a single-shot detector (Liu et al. 2016, SSD) finds in every image, from the most sure one on.

    The scores of a box become probabilities by a softmax. A default box with the middle `(p, q)`, the sides `w` and `h`
    and the variances `v` is moved by its locations `l`: to the middle `(p + v[0] * l[0] * w, q + v[1] * l[1] * h)` and
    the sides `w * exp(v[2] * l[2])` and `h * exp(v[3] * l[3])`.

    In each class but the background, the `nms_top_k` most probable boxes above `confidence_threshold` are taken one by
    one; one that overlaps another that was kept before by more than `nms_threshold` is left out (non-maximum
    suppression). The overlap is the area in common divided by the area that both cover together. Of the boxes of all
    classes, the `keep_top_k` most probable ones are given, cut off at the borders of the image.

    The boxes of an image are a sequence, which may be empty: no rows are filled up. Inputs are those of `multibox_loss`
    without what is there. Paddle gives one row of seven numbers for each box, first the number of the image, class by
    class. Nothing learns through it; `detection_map` judges it.
    """

    prior = Input("N B E", "default boxes and their variances, as `priorbox` gives", within=(0, 1))
    maps = Input("N D_i H_i W_i", "locations of all scales, then scores of all scales", repeatable=True)
    label = Output("R:N", "class of each box that is found", kind="INT", size="C")
    score = Output("R:N", "its probability")
    box = Output("R:N K", "its corners `x1, y1, x2, y2`, as shares of the image's width and height")
    num_classes = Int("classes, that of the background included", min=2, axis="C")
    nms_threshold = Float("overlap up to which two boxes of a class are kept", default=0.45, above=0, max=1)
    nms_top_k = Int("most boxes of a class that are looked at", default=400, min=1)
    keep_top_k = Int("most boxes of an image", default=200, min=1)
    confidence_threshold = Float("probability above which a box counts", default=0.01, min=0, below=1)
    background_id = Int("class of the background", default=0, min=0)
    first = Numbers("number of the first box of each scale, and of all behind the last")
    cell = Numbers("boxes of a cell of each scale")
    probability = Temp("N B C", "probability of each class")
    corner = Temp("N B K", "where the boxes lie")
    order = Temp("N C M", "boxes of a class that are kept, the most probable first; -1 behind them", kind="INT")
    taken = Temp("N L", "boxes that are given, counted class by class; -1 behind them", kind="INT")
    count = Temp("N", "how many these are", kind="INT")
    examples = (
        Example(prior="6x8", maps=["8x1x2", "4x1x2", "6x1x2", "3x1x2"], num_classes=3, nms_threshold=0.2),
        Example(
            prior="8x8", maps=["8x2x2", "8x2x2"],
            num_classes=4, nms_top_k=5, keep_top_k=4, confidence_threshold=0.2, background_id=3,
        ),
    )  # fmt: skip


@infer(DetectionOutput)
def detection_output_numbers(maps, num_classes, B, E, nms_top_k, keep_top_k, background_id):
    require(background_id < num_classes, "background_id", f"there is no class {background_id}: they count from 0")
    most = min(nms_top_k, B)
    sizes = {"K": CORNERS, "M": most, "L": min(keep_top_k, most * (num_classes - 1))}
    return box_numbers(maps, num_classes, B, E) | sizes


@each(DetectionOutput.probability)
def detection_output_probability(n, b, c, maps, first, cell, C):
    scale = scale_of(b, first)
    at, slot = scale + len(cell), (b - first[scale]) % cell[scale]
    place = (b - first[scale]) // cell[scale]
    h, w = place // maps[at].shape[3], place % maps[at].shape[3]
    peak = -math.inf
    for d in range(C):
        peak = max(peak, maps[at][n, slot * C + d, h, w])
    total = 0.0
    for d in range(C):
        total += math.exp(maps[at][n, slot * C + d, h, w] - peak)
    return math.exp(maps[at][n, slot * C + c, h, w] - peak) / total


@each(DetectionOutput.corner)
def detection_output_corner(n, b, k, prior, maps, first, cell):
    scale = scale_of(b, first)
    slot, place = (b - first[scale]) % cell[scale], (b - first[scale]) // cell[scale]
    h, w = place // maps[scale].shape[3], place % maps[scale].shape[3]
    axis = k % 2
    low, high = prior[n, b, axis], prior[n, b, axis + 2]
    move = prior[n, b, 4 + axis] * maps[scale][n, slot * CORNERS + axis, h, w]
    grow = prior[n, b, 6 + axis] * maps[scale][n, slot * CORNERS + axis + 2, h, w]
    middle = 0.5 * (low + high) + move * abs(high - low)
    reach = 0.5 * abs(high - low) * math.exp(grow)
    return middle - reach if k < 2 else middle + reach


@fill(DetectionOutput.order, per="N")
def detection_output_order(n, order, probability, corner, B, C, M, nms_threshold, confidence_threshold, background_id):
    for c in range(C):
        found = 0
        for b in range(B if c != background_id else 0):
            score = probability[n, b, c]
            if score > confidence_threshold and (found < M or score > probability[n, order[n, c, M - 1], c]):
                at = min(found, M - 1)
                found = at + 1
                while at > 0 and score > probability[n, order[n, c, at - 1], c]:
                    order[n, c, at] = order[n, c, at - 1]
                    at -= 1
                order[n, c, at] = b
        kept = 0
        for m in range(found):
            b = order[n, c, m]
            alone = True
            for j in range(kept):
                a = order[n, c, j]
                common = jaccard(
                    corner[n, a, 0], corner[n, a, 1], corner[n, a, 2], corner[n, a, 3],
                    corner[n, b, 0], corner[n, b, 1], corner[n, b, 2], corner[n, b, 3],
                )  # fmt: skip
                alone = alone and common <= nms_threshold
            if alone:
                order[n, c, kept] = b
                kept += 1
        for m in range(kept, M):
            order[n, c, m] = -1


@fill(DetectionOutput.taken, per="N")
def detection_output_taken(n, taken, order, probability, B, C, M, L):
    for place in range(L):
        best = -1
        next_box = -1
        most = -1.0
        for c in range(C if place == 0 or taken[n, place - 1] >= 0 else 0):
            given = 0
            for j in range(place):
                given += 1 if taken[n, j] // B == c else 0
            b = order[n, c, given] if given < M else -1
            if b >= 0 and probability[n, b, c] > most:
                most = probability[n, b, c]
                best = c
                next_box = b
        taken[n, place] = best * B + next_box if best >= 0 else -1


@each(DetectionOutput.count)
def detection_output_count(n, taken, L):
    count = 0
    for place in range(L):
        count += 1 if taken[n, place] >= 0 else 0
    return count


@starts(DetectionOutput)
def detection_output_starts(count):
    return np.concatenate([[0], np.cumsum(count)])


@each(DetectionOutput.label)
def detection_output_label(r, n, taken, R_start, B):
    return taken[n, r - R_start[n]] // B


@each(DetectionOutput.score)
def detection_output_score(r, n, taken, probability, R_start, B):
    return probability[n, taken[n, r - R_start[n]] % B, taken[n, r - R_start[n]] // B]


@each(DetectionOutput.box)
def detection_output_box(r, k, n, taken, corner, R_start, B):
    return min(max(corner[n, taken[n, r - R_start[n]] % B, k], 0.0), 1.0)
