"""Boxes, as corners `x1, y1, x2, y2`: the default ones of an image, and how far two of them overlap."""

import math
from collections.abc import Sequence
from typing import Any

from paddle_layers.define import (
    Example,
    Floats,
    Input,
    Numbers,
    Output,
    each,
    helper,
    infer,
    layer,
    onnx,
    real,
    require,
)

RATIO_OF_SQUARE = 1e-6
"""How near to 1 a ratio is that of a square, which there is anyway."""


@helper
def shared(a, b, c, d):
    """How far two boxes reach together along an axis: one from `a` to `b` or back, the other from `c` to `d`."""
    # Corners may be given in any order.
    return max(min(max(a, b), max(c, d)) - max(min(a, b), min(c, d)), 0.0)


@helper
def jaccard(x1, y1, x2, y2, u1, v1, u2, v2):
    """What two boxes have in common, as a share of what they cover together; boxes of no area have nothing."""
    common = shared(x1, x2, u1, u2) * shared(y1, y2, v1, v2)
    covered = abs((x2 - x1) * (y2 - y1)) + abs((u2 - u1) * (v2 - v1)) - common
    # Two boxes without area would give 0 / 0.
    return common / covered if common > 0.0 else 0.0


@layer(
    "priorbox",
    elsewhere={"Paddle": "priorbox", "Caffe": "PriorBox"},
    terms=("default boxes", "anchor boxes", "prior boxes"),
    since=1,
)
class PriorBox:
    """Default boxes (anchor boxes, priors) of a feature map, centered at each of its cells (Liu et al. 2016, SSD).

    The center of the cell in row `h` and column `w` is `((w + 0.5) * Q / W, (h + 0.5) * P / H)` in the image of
    `P` rows and `Q` columns. At each center there are, for each of `min_size` in order,

    * a square of side `s`,
    * if `max_size` has a `t` for it, a square of side `sqrt(s * t)`,
    * for each ratio `r` but 1, a box with the sides `s * sqrt(r)` and `s / sqrt(r)`, and one for `1 / r`.

    A box is a row of eight values: its corners `x1, y1, x2, y2`, relative to the image size and clipped to the image,
    then the four of `variance`. Boxes are ordered by cell, row by row, those of a cell in the order above. All images
    of a batch have the same boxes. Boxes of several feature maps are concatenated by `concat`, for `multibox_loss` and
    `detection_output`.

    Paddle accepts integers, applies the ratios only to the last size, first all `r` and then all `1 / r`, and with
    several sizes has more boxes than it allocates memory for. Caffe clips if `clip` is true.
    """

    x = Input("N C H W", "feature map, of which only the size is used")
    image = Input("N D P Q", "image, of which only the size is used")
    y = Output("N B E", "corners and variances of each default box")
    min_size = Floats("side lengths of the square boxes, in pixels of the image", above=0, min_items=1)
    max_size = Floats("side length of a larger square for each of `min_size`", above=0, min_items=1, optional=True)
    aspect_ratio = Floats("aspect ratios, width divided by height", above=0, min_items=1, optional=True)
    variance = Floats(
        "variances of the encoding: center x, center y, width, height",
        default=(0.1, 0.1, 0.2, 0.2), above=0, min_items=4, max_items=4,
    )  # fmt: skip
    each_size = Numbers("number of boxes per cell for one of `min_size`")
    examples = (
        Example(x="1x2x3", image="1x8x6", min_size=[2.0], max_size=[4.5], aspect_ratio=[2.0]),
        Example(
            x="2x2x2", image="3x10x20", min_size=[3.0, 6.0], aspect_ratio=[1.0, 3.0], variance=[0.1, 0.2, 0.3, 0.4]
        ),
        Example(x="1x1x1", image="1x4x4", min_size=[1.0, 2.0], max_size=[2.0, 8.0]),
    )


@infer(PriorBox)
def priorbox_sizes(H, W, min_size, max_size, aspect_ratio):
    count = len(min_size)
    some = max_size is None or len(max_size) == count
    require(some, "max_size", f"`max_size` has {len(max_size or ())} numbers, but `min_size` has {count}")
    for small, large in zip(min_size, max_size or (), strict=False):
        require(small < large, "max_size", f"{large:g} is to be larger than its `min_size`, {small:g}")
    ratios = [ratio for ratio in aspect_ratio or () if abs(ratio - 1) > RATIO_OF_SQUARE]
    boxes = 1 + (max_size is not None) + 2 * len(ratios)
    return {"B": H * W * count * boxes, "E": 8, "each_size": boxes}


@helper
def aspect(which, ratios):
    """The ratio of a cell's box number `which` of those that are no squares; 1 in `ratios` does not count."""
    at = 0
    for j in range(len(ratios)):
        if abs(ratios[j] - 1.0) > RATIO_OF_SQUARE:
            if which == at:
                return ratios[j]
            if which == at + 1:
                return 1.0 / ratios[j]
            at += 2
    return 1.0


@each(PriorBox.y)
def priorbox_y(n, b, e, H, W, P, Q, min_size, max_size, aspect_ratio, variance, each_size):
    if e >= 4:
        return variance[e - 4]
    boxes = len(min_size) * each_size
    cell = b // boxes
    size, which = b % boxes // each_size, b % each_size
    side = min_size[size]
    ratio = 1.0
    if max_size is not None and which == 1:
        side = math.sqrt(min_size[size] * max_size[size])
    elif which > 0 and aspect_ratio is not None:
        ratio = aspect(which - 1 if max_size is None else which - 2, aspect_ratio)
    if e % 2 == 0:
        middle, reach, whole = real(cell % W) + 0.5, side * math.sqrt(ratio) / real(Q), real(W)
    else:
        middle, reach, whole = real(cell // W) + 0.5, side / math.sqrt(ratio) / real(P), real(H)
    corner = middle / whole + (0.5 * reach if e >= 2 else -0.5 * reach)
    return min(max(corner, 0.0), 1.0)


@onnx(PriorBox)
def priorbox_onnx(graph, x, H, W, P, Q, B, E, min_size, max_size, aspect_ratio, variance, each_size):
    settings = (H, W, P, Q, min_size, max_size, aspect_ratio, variance, each_size)
    boxes = [[priorbox_y(0, b, e, *settings) for e in range(E)] for b in range(B)]
    return graph.Expand([boxes], graph.Concat(graph.Shape(x, start=0, end=1), [B, E], axis=0))


CORNERS = 4
"""Numbers that say where a box is."""
PRIOR = 8
"""Values of a default box: corners and variances."""


def box_numbers(maps: Sequence[Any], num_classes: int, boxes: int, prior: int) -> dict[str, Any]:
    """Index of the first box of each scale, and the total; number of boxes per cell of each scale."""
    scales = len(maps) // 2
    even = f"got {len(maps)} maps, but every scale has two: first all location maps, then all score maps"
    require(len(maps) % 2 == 0, "maps", even)
    require(prior == PRIOR, "prior", f"default boxes have {PRIOR} values, as `priorbox` returns, got {prior}")
    first, cell = [0], []
    for at in range(scales):
        where, what = maps[at].dims, maps[scales + at].dims
        count = what[0] // num_classes
        pair = f"scale {at + 1} has locations {maps[at]} and scores {maps[scales + at]}"
        require(where[1:] == what[1:], "maps", f"{pair}, which differ in height or width")
        fit = count > 0 and where[0] == CORNERS * count and what[0] == num_classes * count
        channels = f"{CORNERS} channels of locations and {num_classes} of scores"
        require(fit, "maps", f"{pair}: a box of a cell has {channels}")
        cell.append(count)
        first.append(first[-1] + count * where[1] * where[2])
    require(first[-1] == boxes, "prior", f"the maps have {first[-1]} boxes, but there are {boxes} default boxes")
    return {"first": first, "cell": cell}


def check_corners(corners: int, name: str) -> None:
    """Refuse boxes that have not four numbers."""
    require(corners == CORNERS, name, f"a box has {CORNERS} numbers, `x1, y1, x2, y2`, not {corners}")


@helper
def scale_of(b, first):
    """The scale that box `b` is of."""
    for scale in range(len(first) - 2, 0, -1):
        if b >= first[scale]:
            return scale
    return 0
