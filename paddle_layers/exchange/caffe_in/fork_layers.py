"""Conversion of layers from forks of Caffe: object detection, image resizing."""

from __future__ import annotations

import math

from paddle_layers.define import Type

from .conversion import Unresolved, Use, converts
from .layers import Fields, LayerDraft

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


@converts("Interp")
def interpolation(use: Use) -> None:
    """Bilinear interpolation of DeepLab with aligned corners, after a crop by a negative padding."""
    p, dims = use.settings, use.dims()
    before, after = p["pad_beg"], p["pad_end"]
    if len(dims) != 3 or before > 0 or after > 0:
        text = "`pad_beg` and `pad_end` must be 0 or negative, in Caffe too" if len(dims) == 3 else "expected images"
        use.refuse("pad_beg", text, code="E103")
        return
    sizes = [size + before + after for size in dims[1:]]
    wanted = _interpolated(use, sizes)
    if wanted is None or min(*sizes, *wanted) < 1:
        if wanted is not None:
            use.refuse("pad_beg", f"nothing is left of an image of {dims[1]}x{dims[2]} pixels", code="E209")
        return
    image = use.bottoms[0]
    if before or after:
        image = use.step("crop", {"axes": [2, 3], "begin": [-before, -before], "sizes": sizes}, [image])
    use.add("bilinear_interp", {"out_size_y": wanted[0], "out_size": wanted[1]}, inputs=[image])


def _interpolated(use: Use, sizes: list[int]) -> list[int] | None:
    """The size of the output; None after a report."""
    p = use.settings
    shrink, zoom = p["shrink_factor"], p["zoom_factor"]
    if any(factor is not None and factor < 1 for factor in (shrink, zoom)):
        use.refuse("zoom_factor", "factors must be at least 1", code="E103")
        return None
    # Caffe prefers a single factor to a size, and a size to both factors.
    if (shrink is None) == (zoom is None) and None not in (p["height"], p["width"]):
        return [p["height"], p["width"]]
    if shrink is None and zoom is None:
        use.refuse("height", "missing `height` and `width`, or a factor", "add `zoom_factor: ...`", code="E105")
        return None
    sizes = [(size - 1) // (shrink or 1) + 1 for size in sizes]
    return [size + (size - 1) * ((zoom or 1) - 1) for size in sizes]


@converts("Upsample", bottoms=(2, 2))
def upsample(use: Use) -> None:
    """Max unpooling of SegNet, to the indices that a Pooling has in its second top."""
    p, pool = use.settings, use.bottoms[1].draft
    use.type(1)
    dims = use.dims()
    if pool is None or pool.type != "max_pool_with_mask" or _overlaps(pool):
        text = "the second blob of an Upsample must be the second `top` of a Pooling whose windows do not overlap"
        use.refuse("bottom", text, "windows overlap if the stride is below the kernel size", of=use.message)
        return
    if ("scale_h" in p) != ("scale_w" in p) or len(dims) != 3:
        use.refuse("scale_h", "expected an image, and both of `scale_h` and `scale_w` or none", code="E105")
        return
    found: Fields = {}
    for axis, size, suffix in (("h", dims[1], "_y"), ("w", dims[2], "")):
        scale = p[f"scale_{axis}"] or p["scale"]
        found[f"upsample_size{suffix}"] = p[f"upsample_{axis}"] or size * scale - p[f"pad_out_{axis}"]
    use.add("upsample", found)


def _overlaps(pool: LayerDraft) -> bool:
    """Whether windows overlap: then Caffe keeps one of the values of a pixel, and `upsample` adds them."""
    # Attributes with their default values are left out.
    stride, width = pool.attributes.get("stride") or 1, pool.attributes["pool_size"]
    height = pool.attributes.get("pool_size_y") or width
    return bool(stride < width or (pool.attributes.get("stride_y") or stride) < height)
