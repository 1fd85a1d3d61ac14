"""MultiBox loss of single-shot detectors."""

import math

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
    gradient,
    helper,
    infer,
    layer,
    require,
)
from paddle_layers.layers.checks import check_labels
from paddle_layers.layers.helpers import exceeds

from .boxes import CORNERS, box_numbers, check_corners, jaccard, scale_of

LEAST = 1e-6
"""Overlap up to which two boxes have nothing to do with each other."""
NOTHING, UNUSED = -1, -2
"""What a default box learns that matches no box: that nothing is there, or not anything."""


@layer(
    "multibox_loss",
    elsewhere={"Paddle": "multibox_loss", "Caffe": "MultiBoxLoss"},
    terms=("SSD loss", "MultiBox loss", "object detection loss"),
    since=1,
)
class MultiboxLoss:
    """MultiBox loss of a single-shot detector (SSD, Liu et al. 2016): localization loss and classification loss.

    The overlap (IoU) of two boxes is the area of their intersection divided by the area of their union. Each
    ground-truth box of an image is matched to the default box with the maximum IoU, in order of decreasing IoU, the
    first default box of equal ones. Then every remaining default box is matched to the ground-truth box with the
    maximum IoU, if that is at least `overlap_threshold`. Of the boxes without a match whose IoUs are below
    `neg_overlap`, the `neg_pos_ratio` per match with the highest confidence for any class are negatives (hard negative
    mining).

    The loss of an image is the sum over its matches of `smooth(l - t)` of each of four locations `l`, and over matches
    and negatives of the softmax cross-entropy of the class scores. `smooth(d)` is `d**2 / 2` up to 1 and `|d| - 1 / 2`
    above. For a default box with the center `(p, q)`, the sides `w` and `h` and the variances `v`, and a ground-truth
    box with the center `(a, b)` and the sides `c` and `d`, the four `t` are

    `(a - p) / w / v[0]`, `(b - q) / h / v[1]`, `log(c / w) / v[2]`, `log(d / h) / v[3]`

    The network's loss is the sum over the batch divided by the number of matches. An image without ground truth has
    loss 0.

    Boxes are two opposite corners `x1, y1, x2, y2`, relative to the image size. Of the maps, those with the locations
    come first, in the order of the scales in `prior`, then those with the scores, in the same order; for each box of a
    cell they have four channels, or one per class. Paddle has classes and boxes in one input, with an additional flag
    that it does not use here, and returns the loss of the batch for every sample.
    """

    prior = Input("N B E", "default boxes and their variances, from `priorbox`", within=(0, 1))
    label = Input("T:N", "class of each ground-truth box", kinds=("INT",), seq=(1,))
    box = Input("T:N K", "corners of each ground-truth box", seq=(1,), within=(0, 1))
    maps = Input("N D_i H_i W_i", "location maps of all scales, then score maps of all scales", repeatable=True)
    matches = Temp("N", "number of matched default boxes")
    cost = Output("N", "per-image loss", loss=True, divisor=matches)
    num_classes = Int("number of classes, including the background", min=2)
    overlap_threshold = Float("IoU threshold for a match", default=0.5, above=0, max=1)
    neg_pos_ratio = Float("ratio of negative to positive boxes (hard negative mining)", default=3.0, min=0)
    neg_overlap = Float("maximum IoU of a negative box", default=0.5, above=0, max=1)
    background_id = Int("background class", default=0, min=0)
    first = Numbers("index of the first box of each scale, and the total")
    cell = Numbers("number of boxes per cell of each scale")
    common = Temp("T:N B", "IoU of a ground-truth box and a default box")
    taken = Temp("T:N", "default box assigned to a ground-truth box, or -1", kind="INT")
    nearest = Temp("N B", "index of the ground-truth box matched by a default box, or -1", kind="INT")
    overlap = Temp("N B", "maximum IoU of a default box")
    peak = Temp("N B", "maximum score")
    total = Temp("N B", "sum of the exponentials relative to the maximum")
    sureness = Temp("N B", "maximum probability of a class other than the background")
    match = Temp("N B", "index of the matched ground-truth box, or a code for negative and ignored boxes", kind="INT")
    part = Temp("N B", "loss of a default box")
    examples = (
        Example(
            prior="16x8", label="sequence of ids<3", box="sequence of 4",
            maps=["8x2x3", "4x2x2", "6x2x3", "3x2x2"], num_classes=3, overlap_threshold=0.1, neg_overlap=0.2,
        ),
        Example(
            prior="8x8", label="sequence of ids<2", box="sequence of 4",
            maps=["8x2x2", "4x2x2"], num_classes=2, neg_pos_ratio=1.5, background_id=1,
        ),
    )  # fmt: skip


@infer(MultiboxLoss)
def multibox_loss_numbers(label, maps, num_classes, B, E, K, background_id):
    check_corners(K, "box")
    check_labels(label, num_classes)
    require(background_id < num_classes, "background_id", f"there is no class {background_id}: they count from 0")
    return box_numbers(maps, num_classes, B, E)


@each(MultiboxLoss.common)
def multibox_loss_common(t, b, n, prior, box):
    return jaccard(
        prior[n, b, 0], prior[n, b, 1], prior[n, b, 2], prior[n, b, 3], box[t, 0], box[t, 1], box[t, 2], box[t, 3]
    )


@fill(MultiboxLoss.taken, per="N")
def multibox_loss_taken(n, taken, common, B, T_start):
    for t in range(T_start[n], T_start[n + 1]):
        taken[t] = -1
    for _ in range(T_start[n], T_start[n + 1]):
        # Greedy bipartite matching: the pair with the largest overlap of all that are left.
        chosen = -1
        where = B
        most = LEAST
        for t in range(T_start[n], T_start[n + 1]):
            for b in range(B if taken[t] < 0 else 0):
                # Of equal overlaps the smaller index of the default box wins, so that the matching is reproducible.
                if common[t, b] > most or (common[t, b] == most and b < where and chosen >= 0):
                    free = True
                    for u in range(T_start[n], T_start[n + 1]):
                        free = free and taken[u] != b
                    if free:
                        most = common[t, b]
                        chosen = t
                        where = b
        if chosen >= 0:
            taken[chosen] = where


@each(MultiboxLoss.nearest, MultiboxLoss.overlap)
def multibox_loss_nearest(n, b, common, taken, T_start, overlap_threshold):
    most = LEAST
    best = -1
    given = -1
    for t in range(T_start[n], T_start[n + 1]):
        if common[t, b] > most:
            most = common[t, b]
            best = t
        if taken[t] == b:
            given = t
    # A default box that was assigned keeps its ground-truth box, whatever the overlap with another one.
    if given < 0 and most >= overlap_threshold:
        given = best
    return given, most


@each(MultiboxLoss.matches)
def multibox_loss_matches(n, nearest, B):
    return sum(1.0 for b in range(B) if nearest[n, b] >= 0)


@each(MultiboxLoss.peak, MultiboxLoss.total, MultiboxLoss.sureness)
def multibox_loss_scores(n, b, maps, first, cell, num_classes, background_id):
    scale = scale_of(b, first)
    at, slot = scale + len(cell), (b - first[scale]) % cell[scale]
    place = (b - first[scale]) // cell[scale]
    h, w = place // maps[at].shape[3], place % maps[at].shape[3]
    peak = -math.inf
    most = -math.inf
    for c in range(num_classes):
        # The softmax relative to the maximum, so that nothing overflows.
        peak = max(peak, maps[at][n, slot * num_classes + c, h, w])
        if c != background_id:
            most = max(most, maps[at][n, slot * num_classes + c, h, w])
    total = sum(math.exp(maps[at][n, slot * num_classes + c, h, w] - peak) for c in range(num_classes))
    return peak, total, math.exp(most - peak) / total


@fill(MultiboxLoss.match, per="N")
def multibox_loss_match(n, match, nearest, overlap, sureness, matches, B, neg_pos_ratio, neg_overlap):
    for b in range(B):
        match[n, b] = nearest[n, b] if nearest[n, b] >= 0 else UNUSED
    # Hard negative mining by repeated selection: few negatives compared to all default boxes.
    for _ in range(int(matches[n] * neg_pos_ratio)):
        hardest = -1
        for b in range(B):
            if match[n, b] == UNUSED and overlap[n, b] < neg_overlap:
                if hardest < 0 or exceeds(sureness[n, b], sureness[n, hardest]):
                    hardest = b
        if hardest >= 0:
            match[n, hardest] = NOTHING


@helper
def offset(k, low, high, box_low, box_high, variance):
    """What location `k` is to be, where a default box and a box reach from the low to the high numbers."""
    # The encoding of Faster R-CNN: centers relative to the size, sizes as logarithms, both divided by the variance.
    if k < 2:
        return 0.5 * (box_low + box_high - low - high) / abs(high - low) / variance
    return math.log(abs((box_high - box_low) / (high - low))) / variance


@each(MultiboxLoss.part)
def multibox_loss_part(n, b, match, peak, total, prior, label, box, maps, first, cell, num_classes, background_id):
    if match[n, b] == UNUSED:
        return 0.0
    t = match[n, b]
    scale = scale_of(b, first)
    scores, slot = scale + len(cell), (b - first[scale]) % cell[scale]
    place = (b - first[scale]) // cell[scale]
    h, w = place // maps[scale].shape[3], place % maps[scale].shape[3]
    right = background_id
    cost = 0.0
    if t >= 0:
        right = label[t]
        for k in range(CORNERS):
            low, high, variance = prior[n, b, k % 2], prior[n, b, k % 2 + 2], prior[n, b, 4 + k]
            away = maps[scale][n, slot * CORNERS + k, h, w]
            away -= offset(k, low, high, box[t, k % 2], box[t, k % 2 + 2], variance)
            cost += 0.5 * away * away if abs(away) < 1.0 else abs(away) - 0.5
    # Cross-entropy: log-sum-exp minus the score of the target class.
    return cost + math.log(total[n, b]) + peak[n, b] - maps[scores][n, slot * num_classes + right, h, w]


@each(MultiboxLoss.cost)
def multibox_loss_cost(n, part, B):
    return sum(part[n, b] for b in range(B))


@gradient(MultiboxLoss.maps)
def multibox_loss_dmaps(
    which, n, d, h, w, dcost, match, peak, total, prior, label, box, maps, first, cell, num_classes, background_id
):
    scales = len(cell)
    scale = which % scales
    channels = CORNERS if which < scales else num_classes
    part = d % channels
    b = first[scale] + (h * maps[which].shape[3] + w) * cell[scale] + d // channels
    t = match[n, b]
    if which >= scales:
        if t == UNUSED:
            return 0.0
        right = label[t] if t >= 0 else background_id
        probability = math.exp(maps[which][n, d, h, w] - peak[n, b]) / total[n, b]
        return dcost[n] * (probability - (1.0 if part == right else 0.0))
    if t < 0:
        return 0.0
    low, high, variance = prior[n, b, part % 2], prior[n, b, part % 2 + 2], prior[n, b, 4 + part]
    away = maps[which][n, d, h, w] - offset(part, low, high, box[t, part % 2], box[t, part % 2 + 2], variance)
    # The derivative of smooth L1, clipped to the slope of its linear part.
    return dcost[n] * min(max(away, -1.0), 1.0)
