"""Conversion of layers for object detection, from forks of Caffe."""

from __future__ import annotations

import math

from paddle_layers.define import Type

from .conversion import Unresolved, Use, converts

REGIONS = Type.dense(4, level=1)
"""Regions of interest of an image: a sequence of corners."""


@converts("ROIPooling", bottoms=(2, 2))
def roi_pooling(use: Use) -> None:
    """RoI max pooling of Fast R-CNN."""
    p, height, width = use.settings, use.required("pooled_h"), use.required("pooled_w")
    _take_regions(use, 1)
    use.add("roi_pool", {"pooled_height": height, "pooled_width": width, "spatial_scale": p["spatial_scale"]})


def _take_regions(use: Use, place: int) -> None:
    """Make an input of regions, in Caffe the rows of the batch, a sequence for each image. Raises `Unresolved`."""
    value = use.bottoms[place]
    if value.fault or value.type == REGIONS:
        return
    rows = value.type is None or (value.type.level == 0 and math.prod(value.type.dims) == 5)
    alone = all(reader.type in ("ROIPooling", "Silence") for reader in value.readers)
    if value.name not in use.whole.inputs or not rows or not alone:
        text = f"the regions of a {use.layer.type} must be an input of 5 values per region, which no other layer reads"
        help_ = "compute the regions outside of the network, and make them an input: `input_shape { dim: 1 dim: 5 }`"
        use.refuse("bottom", text, help_, of=use.message)
        raise Unresolved
    value.type = REGIONS
    use.whole.note(
        f"{value.name}: the regions `x1, y1, x2, y2` of an image are a sequence; the first of Caffe's five columns, "
        "the index of the image, is left out"
    )
