"""RoI operators: regions of feature maps."""

from __future__ import annotations

from typing import Any

from .images import image
from .operators import OperatorContext, RowView, operator
from .symbolic_values import BoxImageIndices, Operand


@operator("RoiAlign")
def roi_align(step: OperatorContext, x: Any, boxes: Any, images: Any) -> Operand:
    """Places in each bin, interpolated; before opset 16 a pixel's middle was at half a pixel."""
    step.refuse_unless(
        isinstance(images, BoxImageIndices),
        "computed batch indices are not supported; they must be an input of the model",
    )
    step.refuse_unless(step.attribute("mode", "avg") == "avg", "mode `max` is not supported")
    usual = "half_pixel" if step.opset >= 16 else "output_half_pixel"
    # The attribute was added in opset 16, with another default than what older models mean.
    middle = step.attribute("coordinate_transformation_mode", usual) == "half_pixel"
    window = step.attribute("output_width", 1), step.attribute("output_height", 1)
    ratio = step.attribute("sampling_ratio", 0)
    return _pooled(step, "roi_align", x, boxes, window, sampling_ratio=ratio, aligned=middle)


@operator("MaxRoiPool")
def roi_pool(step: OperatorContext, x: Any, boxes: Any) -> Operand:
    """The largest value of each bin."""
    size = step.attribute("pooled_shape")
    step.refuse_unless(len(size) == 2, "`pooled_shape` must have 2 values")
    return _pooled(step, "roi_pool", x, boxes, (size[1], size[0]))


def _pooled(step: OperatorContext, type_: str, x: Any, boxes: Any, window: tuple[int, int], **settings: Any) -> Operand:
    _, value, spatial = image(step, x)
    step.refuse_unless(spatial == 2, "feature maps must be 2-D")
    rows: RowView = step.rows(step.view(boxes, "boxes"), 1)
    step.refuse_unless(len(rows.view.rows) == 2, "computed boxes are not supported; they must be an input of the model")
    # Boxes of an input are fed as one sequence per image, instead of with an index of the image for each box.
    width, height = window
    made = step.layer(
        type_, value, rows.value, pooled_width=width, pooled_height=height,
        spatial_scale=step.attribute("spatial_scale", 1.0), **settings,
    )  # fmt: skip
    return step.made(made.outputs[0], rows)
