"""Feature maps of detectors: locations and class scores of the default boxes of each cell, per scale."""

from collections.abc import Sequence
from typing import Any

from paddle_layers.define import helper, require

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
