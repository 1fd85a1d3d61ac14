"""What makes images larger, or rows longer."""

from __future__ import annotations

from typing import Any

from .images import SUFFIXES, image, pair, parameters
from .layers import Weight, weight
from .meanings import Anything
from .operators import Step, operator


@operator("ConvTranspose")
def conv_trans(step: Step, x: Any, filters: Any, bias: Any = None) -> Anything:
    """The filters as they are."""
    given = step.numbers(filters, "weight")
    step.refuse_unless(given.array.ndim in (3, 4, 5), f"its filters have {given.array.ndim} axes")
    rows, value, spatial = image(step, x)
    kernel = list(given.array.shape[2:])
    step.refuse_unless(len(kernel) == spatial, "its filters have other axes than the image")
    sized = step.attribute("auto_pad", "NOTSET") == "NOTSET" and step.attribute("output_shape") is None
    step.refuse_unless(sized, "it pads as its output's size says (`auto_pad`, `output_shape`)")
    strides, dilations = (step.attribute(name) or [1] * spatial for name in ("strides", "dilations"))
    pads, more = step.attribute("pads") or [0] * 2 * spatial, step.attribute("output_padding") or [0] * spatial
    fits = len(strides) == len(dilations) == len(more) == spatial and len(pads) == 2 * spatial
    step.refuse_unless(fits, "its attributes have other axes than the image")
    more = [own + before - after for own, before, after in zip(more, pads[:spatial], pads[spatial:], strict=True)]
    step.refuse_unless(min(more) >= 0, f"it takes off {pads}, behind more than before")
    groups = step.attribute("group", 1)
    array = given.array if spatial > 1 else given.array[:, :, None]
    filters_ = int(array.shape[1]) * groups
    step.refuse_unless(
        array.shape[0] == value.dims[0], f"its filters have {array.shape[0]} channels, not {value.dims[0]}"
    )
    weights: dict[str, Weight] = {"weight": weight(array, given.source)}
    if bias is not None:
        own = step.numbers(bias, "bias")
        step.refuse_unless(own.array.size == filters_, "its bias does not fit the filters")
        weights["bias"] = weight(own.array.reshape(-1), own.source)
    settings: dict[str, Any] = {
        **pair("filter_size", kernel), **pair("stride", strides), **pair("padding", pads[:spatial]),
        **pair("output_padding", more), **pair("dilation", dilations),
    }  # fmt: skip
    made = step.layer(
        f"conv{SUFFIXES[spatial]}_trans", value, weights=parameters(weights, "conv_trans", spatial),
        num_filters=filters_, groups=groups, bias=bias is not None, **settings,
    )  # fmt: skip
    return step.made(made.outputs[0], rows)


@operator("Tile")
def tile(step: Step, x: Any, repeats: Any) -> Anything:
    """A layer for each axis along which something is repeated."""
    rows = step.rows(step.view(x))
    counts, lead = step.integers(repeats, "repeats"), len(rows.lead)
    fits = len(counts) == lead + len(rows.value.dims) and counts[:lead] == [1] * lead
    step.refuse_unless(fits, "it repeats rows of the batch or of sequences")
    value = rows.value
    for axis, count in enumerate(counts[lead:], 1):
        if count != 1:
            value = step.layer("repeat", value, num_repeats=count, axis=axis if axis > 1 else None).outputs[0]
    return step.made(value, rows)


CORNERS = {"align_corners": "ALIGNED", "half_pixel": "HALF_PIXEL", "pytorch_half_pixel": "HALF_PIXEL"}


@operator("Resize", "Upsample")
def resize(step: Step, x: Any, *given: Any) -> Anything:
    """Images in another size, by the nearest pixel or by the four around a place."""
    rows = step.rows(step.view(x), 3)
    step.refuse_unless(len(rows.lead) == 1, "its channels are the steps of sequences")
    kept = step.attribute("keep_aspect_ratio_policy", "stretch")
    step.refuse_unless(kept == "stretch", f"it keeps the ratio of sides (`{kept}`)")
    height, width = rows.value.dims[1:]
    resizes = step.node.operator == "Resize" and step.opset > 10
    scales, sizes = [*(given[1:] if resizes else given), None, None][:2]
    axes = step.attribute("axes", [0, 1, 2, 3])
    numbers: list[Any] = step.attribute("scales") or []
    if sizes is not None:
        numbers = step.integers(sizes, "sizes")
    elif scales is not None:
        numbers = step.numbers(scales, "scales").array.reshape(-1).tolist()
    by_axis = dict(zip(axes, numbers, strict=False))
    last: list[Any] = [by_axis.get(axis) for axis in (2, 3)]
    step.refuse_unless(len(numbers) == len(axes) and None not in last, "it names no size for rows and columns")
    if sizes is not None:
        step.refuse_unless(by_axis.get(1, rows.value.dims[0]) == rows.value.dims[0], "it enlarges channels")
    else:
        step.refuse_unless(by_axis.get(0, 1) == by_axis.get(1, 1) == 1, "it enlarges channels or the batch")
        last = [size * float(scale) for size, scale in zip((height, width), last, strict=True)]
    whole = all(isinstance(one, (int, float)) and float(one).is_integer() and one >= 1 for one in last)
    step.refuse_unless(whole, f"its sizes are {last}, no whole numbers")
    out = [int(one) for one in last]
    mode, where = step.attribute("mode", "nearest"), step.attribute("coordinate_transformation_mode", "half_pixel")
    settings: dict[str, Any] = pair("out_size", out)
    if out[0] % height == 0 == out[1] % width:
        settings = pair("scale", [out[0] // height, out[1] // width])
    if mode == "linear":
        step.refuse_unless(where in CORNERS, f"its places are `{where}`")
        even = where != "pytorch_half_pixel" or min(out) > 1
        step.refuse_unless(even and not step.attribute("antialias", 0), "it smooths, or has one pixel in the middle")
        made = step.layer("bilinear_interp", rows.value, corners=CORNERS[where], **settings)
    else:
        step.refuse_unless(mode == "nearest", f"its mode is `{mode}`")
        floor = step.attribute("nearest_mode", "round_prefer_floor") == "floor" and where == "asymmetric"
        doubled = "scale" in settings and where == "half_pixel" and step.attribute("nearest_mode") != "ceil"
        step.refuse_unless(floor or doubled or not resizes, f"its places are `{where}`, rounded otherwise than down")
        made = step.layer("nearest_interp", rows.value, **settings)
    return step.made(made.outputs[0], rows)
