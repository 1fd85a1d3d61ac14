"""The cost of a detector: default boxes are matched with those that are there, and learn offsets and classes."""

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

from .boxes import jaccard
from .maps import CORNERS, box_numbers, check_corners, scale_of

LEAST = 1e-6
"""Overlap up to which two boxes have nothing to do with each other."""
NOTHING, UNUSED = -1, -2
"""What a default box learns that matches no box: that nothing is there, or not anything."""


@layer("multibox_loss", elsewhere={"Paddle": "multibox_loss", "Caffe": "MultiBoxLoss"}, since=1)
class MultiboxLoss:
    """The cost of a single-shot detector (Liu et al. 2016, SSD): where boxes lie, and what is in them.

    The overlap of two boxes is the area they have in common, as a share of the area that they cover together. Each box
    of an image takes the default box that it overlaps most, the best of all pairs first, of equal ones that of the
    first default box. Then every default box that is left takes the box that it overlaps most, if that is by
    `overlap_threshold` or more. Of those that match none, and overlap none by `neg_overlap`, the ones that are most
    sure of being something count as background, `neg_pos_ratio` for each match of the image.

    The cost of an image adds up, for its matches, `smooth(l - t)` of each of four locations `l`, and for these and the
    background minus the logarithm of the softmax of the scores at the class. `smooth(d)` is `d**2 / 2` up to 1 and
    `|d| - 1 / 2` from there on. For a default box with the middle `(p, q)`, the sides `w` and `h` and the variances
    `v`, and a box with the middle `(a, b)` and the sides `c` and `d`, the four `t` are

    `(a - p) / w / v[0]`, `(b - q) / h / v[1]`, `log(c / w) / v[2]`, `log(d / h) / v[3]`

    The network's loss is the sum over the batch divided by the number of matches. An image without boxes costs nothing.

    Boxes are two opposite corners `x1, y1, x2, y2`, as shares of the image's width and height. Of the maps, those with
    the locations come first, in the order of the scales in `prior`, then those with the scores, in the same order; for
    each box of a cell they have four channels, or one for every class. Paddle has classes and boxes in one input,
    besides a mark that it does not use here, and the loss of the batch in every row.
    """

    prior = Input("N B E", "default boxes and their variances, as `priorbox` gives", within=(0, 1))
    label = Input("T:N", "class of each box that is there", kinds=("INT",), seq=(1,))
    box = Input("T:N K", "corners of each box that is there", seq=(1,), within=(0, 1))
    maps = Input("N D_i H_i W_i", "locations of all scales, then scores of all scales", repeatable=True)
    matches = Temp("N", "default boxes that match")
    cost = Output("N", "cost of every image", loss=True, divisor=matches)
    num_classes = Int("classes, that of the background included", min=2)
    overlap_threshold = Float("overlap from which on a default box matches", default=0.5, above=0, max=1)
    neg_pos_ratio = Float("background boxes for each match", default=3.0, min=0)
    neg_overlap = Float("overlap from which on a default box is no background", default=0.5, above=0, max=1)
    background_id = Int("class of the background", default=0, min=0)
    first = Numbers("number of the first box of each scale, and of all behind the last")
    cell = Numbers("boxes of a cell of each scale")
    common = Temp("T:N B", "how far a box and a default box overlap")
    taken = Temp("T:N", "default box that a box takes, or -1", kind="INT")
    nearest = Temp("N B", "row of the box that a default box matches, or -1", kind="INT")
    overlap = Temp("N B", "how far a default box overlaps any box")
    peak = Temp("N B", "largest score")
    total = Temp("N B", "sum of the exponentials of the scores less the largest")
    sureness = Temp("N B", "largest probability of a class besides the background")
    match = Temp("N B", "row of the box that a default box matches, or what else it learns", kind="INT")
    part = Temp("N B", "cost of a default box")
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
        chosen = -1
        where = B
        most = LEAST
        for t in range(T_start[n], T_start[n + 1]):
            for b in range(B if taken[t] < 0 else 0):
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
    if given < 0 and most >= overlap_threshold:
        given = best
    return given, most


@each(MultiboxLoss.matches)
def multibox_loss_matches(n, nearest, B):
    count = 0.0
    for b in range(B):
        if nearest[n, b] >= 0:
            count += 1.0
    return count


@each(MultiboxLoss.peak, MultiboxLoss.total, MultiboxLoss.sureness)
def multibox_loss_scores(n, b, maps, first, cell, num_classes, background_id):
    scale = scale_of(b, first)
    at, slot = scale + len(cell), (b - first[scale]) % cell[scale]
    place = (b - first[scale]) // cell[scale]
    h, w = place // maps[at].shape[3], place % maps[at].shape[3]
    peak = -math.inf
    most = -math.inf
    for c in range(num_classes):
        peak = max(peak, maps[at][n, slot * num_classes + c, h, w])
        if c != background_id:
            most = max(most, maps[at][n, slot * num_classes + c, h, w])
    total = 0.0
    for c in range(num_classes):
        total += math.exp(maps[at][n, slot * num_classes + c, h, w] - peak)
    return peak, total, math.exp(most - peak) / total


@fill(MultiboxLoss.match, per="N")
def multibox_loss_match(n, match, nearest, overlap, sureness, matches, B, neg_pos_ratio, neg_overlap):
    for b in range(B):
        match[n, b] = nearest[n, b] if nearest[n, b] >= 0 else UNUSED
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
    return cost + math.log(total[n, b]) + peak[n, b] - maps[scores][n, slot * num_classes + right, h, w]


@each(MultiboxLoss.cost)
def multibox_loss_cost(n, part, B):
    total = 0.0
    for b in range(B):
        total += part[n, b]
    return total


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
    return dcost[n] * min(max(away, -1.0), 1.0)
