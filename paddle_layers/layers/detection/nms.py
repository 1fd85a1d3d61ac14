"""Non-maximum suppression."""

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

from .boxes import CORNERS, box_numbers, jaccard, scale_of


@layer(
    "detection_output",
    elsewhere={"Paddle": "detection_output", "Caffe": "DetectionOutput"},
    terms=("non-maximum suppression", "NMS", "SSD detections"),
    since=1,
)
class DetectionOutput:
    """Detections of a single-shot detector (SSD, Liu et al. 2016): decoding and non-maximum suppression (NMS).

    The scores of a box become probabilities by a softmax. A default box with the center `(p, q)`, the sides `w` and `h`
    and the variances `v` is decoded from its locations `l`: the center is `(p + v[0] * l[0] * w, q + v[1] * l[1] * h)`
    and the sides are `w * exp(v[2] * l[2])` and `h * exp(v[3] * l[3])`.

    In each class but the background, the `nms_top_k` most probable boxes above `confidence_threshold` are processed in
    order; one whose IoU with a box kept before exceeds `nms_threshold` is dropped (non-maximum suppression). The
    `keep_top_k` most probable boxes of all classes are returned, clipped to the image.

    The detections of an image are a sequence, which may be empty, without padding. Inputs are those of `multibox_loss`
    without the ground truth. Paddle returns one row of seven values per box, first the index of the image, class by
    class. It has no gradient; `detection_map` evaluates it.
    """

    prior = Input("N B E", "default boxes and their variances, from `priorbox`", within=(0, 1), derivative=False)
    maps = Input(
        "N D_i H_i W_i",
        "location maps of all scales, then score maps of all scales",
        repeatable=True,
        derivative=False,
    )
    label = Output("R:N", "class of each detection", kind="INT", size="C")
    score = Output("R:N", "confidence of each detection")
    box = Output("R:N K", "corners `x1, y1, x2, y2` of each detection, relative to the image size")
    num_classes = Int("number of classes, including the background", min=2, axis="C")
    nms_threshold = Float("IoU threshold of the non-maximum suppression", default=0.45, above=0, max=1)
    nms_top_k = Int("maximum number of candidates per class", default=400, min=1)
    keep_top_k = Int("maximum number of detections per image", default=200, min=1)
    confidence_threshold = Float("minimum confidence of a detection", default=0.01, min=0, below=1)
    background_id = Int("background class", default=0, min=0)
    first = Numbers("index of the first box of each scale, and the total")
    cell = Numbers("number of boxes per cell of each scale")
    probability = Temp("N B C", "probability per class")
    corner = Temp("N B K", "decoded corners")
    order = Temp("N C M", "boxes kept per class in order of confidence, then -1", kind="INT")
    taken = Temp("N L", "detections, indexed class by class, then -1", kind="INT")
    count = Temp("N", "number of detections", kind="INT")
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
    # The softmax relative to the maximum, so that nothing overflows.
    peak = max(maps[at][n, slot * C + d, h, w] for d in range(C))
    total = sum(math.exp(maps[at][n, slot * C + d, h, w] - peak) for d in range(C))
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
            # Insertion into a list of the M best, which most boxes fail to enter with one comparison.
            if score > confidence_threshold and (found < M or score > probability[n, order[n, c, M - 1], c]):
                at = min(found, M - 1)
                found = at + 1
                while at > 0 and score > probability[n, order[n, c, at - 1], c]:
                    order[n, c, at] = order[n, c, at - 1]
                    at -= 1
                order[n, c, at] = b
        # In place: the boxes kept are never more than those that were visited.
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
        # A merge of the sorted lists of all classes.
        for c in range(C if place == 0 or taken[n, place - 1] >= 0 else 0):
            # The position in the list of a class is the number of its boxes that are taken.
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
    # Clipped at last: suppression compares whole boxes.
    return min(max(corner[n, taken[n, r - R_start[n]] % B, k], 0.0), 1.0)
