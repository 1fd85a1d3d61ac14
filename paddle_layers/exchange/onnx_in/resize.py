"""Resizing of images, and sampling at given positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .images import SUFFIXES, image, pair, parameters
from .layers import LayerOutput, Weight, weight
from .operators import OperatorContext, operator
from .parts import constant_of_samples
from .selections import as_constant
from .symbolic_values import ConstantValue, Operand


@operator("ConvTranspose")
def conv_trans(step: OperatorContext, x: Any, filters: Any, bias: Any = None) -> Operand:
    """The filters as they are."""
    given = step.numbers(filters, "weight")
    step.refuse_unless(given.array.ndim in (3, 4, 5), f"filters have {given.array.ndim} axes, expected 3 to 5")
    rows, value, spatial = image(step, x)
    kernel = list(given.array.shape[2:])
    step.refuse_unless(len(kernel) == spatial, "filters and image have different numbers of spatial axes")
    sized = step.attribute("auto_pad", "NOTSET") == "NOTSET" and step.attribute("output_shape") is None
    step.refuse_unless(sized, "`auto_pad` and `output_shape` are not supported")
    strides, dilations = (step.attribute(name) or [1] * spatial for name in ("strides", "dilations"))
    pads, more = step.attribute("pads") or [0] * 2 * spatial, step.attribute("output_padding") or [0] * spatial
    fits = len(strides) == len(dilations) == len(more) == spatial and len(pads) == 2 * spatial
    step.refuse_unless(fits, "attributes and image have different numbers of spatial axes")
    more = [own + before - after for own, before, after in zip(more, pads[:spatial], pads[spatial:], strict=True)]
    step.refuse_unless(min(more) >= 0, f"`pads` {pads} are larger after than before the image")
    groups = step.attribute("group", 1)
    array = given.array if spatial > 1 else given.array[:, :, None]
    filters_ = int(array.shape[1]) * groups
    weights: dict[str, Weight] = {"weight": weight(array, given.source)}
    if bias is not None:
        own = step.numbers(bias, "bias")
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


@operator("Resize", "Upsample")
def resize(step: OperatorContext, x: Any, *given: Any) -> Operand:
    """Nearest-neighbor or bilinear interpolation of images, where every pixel is sampled where our layers sample it.

    Bicubic interpolation becomes products with a constant matrix for each axis.
    """
    rows = step.rows(step.view(x), 3)
    step.refuse_unless(len(rows.lead) == 1, "resizing along the time axis is not supported")
    kept = step.attribute("keep_aspect_ratio_policy", "stretch")
    step.refuse_unless(kept == "stretch", f"`keep_aspect_ratio_policy: {kept}` is not supported")
    step.refuse_unless(not step.attribute("antialias", 0), "`antialias` is not supported")
    image_size = rows.value.dims[1:]
    out = _output_size(step, given, rows.value.dims)
    settings: dict[str, Any] = pair("out_size", out)
    if all(size % own == 0 for size, own in zip(out, image_size, strict=True)):
        settings = pair("scale", [size // own for size, own in zip(out, image_size, strict=True)])
    axes = list(zip(image_size, out, strict=True))
    if step.attribute("mode", "nearest") == "nearest":
        fits = all(_samples_nearest(step, *sizes) for sizes in axes)
        step.refuse_unless(fits, f"unsupported nearest-neighbor sampling: {_sampling(step)}")
        return step.made(step.layer("nearest_interp", rows.value, **settings).outputs[0], rows)
    if step.attribute("mode") == "cubic":
        return step.made(_cubic(step, rows.value, axes), rows)
    step.refuse_unless(step.attribute("mode") == "linear", f"mode `{step.attribute('mode')}` is not supported")
    fitting = [name for name in ("HALF_PIXEL", "ALIGNED") if all(_samples_linear(step, name, *sizes) for sizes in axes)]
    step.refuse_unless(fitting, f"only half-pixel and align-corners sampling are supported, got {_sampling(step)}")
    made = step.layer("bilinear_interp", rows.value, corners=fitting[0], **settings)
    return step.made(made.outputs[0], rows)


@operator("GridSample")
def grid_sample(step: OperatorContext, x: Any, grid: Any) -> Operand:
    """Sampling at computed positions, or at the same positions of every image."""
    rows, view = step.rows(step.view(x), 3), step.view(x)
    other = step.rows(constant_of_samples(step, as_constant(grid), view))
    fits = len(rows.lead) == 1 and other.lead == rows.lead and len(other.value.dims) == 3
    step.refuse_unless(fits, "expected images, and a grid of positions for each of them")
    mode = _MODES.get(step.attribute("mode", "linear"))
    step.refuse_unless(mode, f"mode `{step.attribute('mode')}` is not supported")
    made = step.layer(
        "grid_sample", rows.value, other.value, mode=mode,
        padding_mode=str(step.attribute("padding_mode", "zeros")).upper(),
        align_corners=bool(step.attribute("align_corners", 0)) or None,
    )  # fmt: skip
    return step.made(made.outputs[0], rows)


_MODES = {"linear": "BILINEAR", "bilinear": "BILINEAR", "nearest": "NEAREST", "cubic": "BICUBIC", "bicubic": "BICUBIC"}
"""Interpolation of GridSample, whose names changed with opset 20."""


def _cubic(step: OperatorContext, value: LayerOutput, axes: list[tuple[int, int]]) -> LayerOutput:
    """Columns, then rows: the matrix of each axis is that of Keys' kernel at the sampling positions."""
    for name, (size, count) in zip(("columns", "rows"), reversed(axes), strict=True):
        step.budget.check(size * count)
        positions = _positions(step, size, count, np.float64)[:, None]
        pixel = np.floor(positions) + np.arange(-1, 3)
        distance, a = np.abs(positions - pixel), float(step.attribute("cubic_coeff_a", -0.75))
        near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
        factors = np.where(distance <= 1, near, a * (((distance - 5) * distance + 8) * distance - 4))
        if step.attribute("exclude_outside", 0):
            factors *= (pixel >= 0) & (pixel < size)
            factors /= factors.sum(1, keepdims=True)
        matrix = np.zeros((size, count))
        np.add.at(matrix, (np.clip(pixel, 0, size - 1).astype(int), np.arange(count)[:, None]), factors)
        weights = {"weight": Weight(matrix.astype(np.float32), fixed=True)}
        settings: dict[str, Any] = {"size": count, "bias": False, "axis": -1, "weights": weights}
        value = step.layer("fc", value, suffix=name, **settings).outputs[0]
        value = step.layer("permute", value, order=[1, 3, 2], suffix=f"{name}_last").outputs[0]
    return value


def _output_size(step: OperatorContext, given: tuple[Any, ...], dims: tuple[int, ...]) -> list[int]:
    """Rows and columns of the result, by its inputs `scales` and `sizes`."""
    resizes = step.node.operator == "Resize" and step.opset > 10
    inputs = [None if isinstance(one, ConstantValue) and not one.array.size else one for one in given]
    scales, sizes = [*(inputs[1:] if resizes else inputs), None, None][:2]
    axes = [step.axis(axis, 4) for axis in step.attribute("axes", [0, 1, 2, 3])]
    numbers: list[Any] = step.attribute("scales") or []
    if sizes is not None:
        numbers = step.integers(sizes, "sizes")
    elif scales is not None:
        numbers = step.numbers(scales, "scales").array.reshape(-1).tolist()
    step.refuse_unless(len(numbers) == len(axes), "sizes or scales of height and width are missing")
    by_axis = dict(zip(axes, numbers, strict=True))
    if sizes is not None:
        step.refuse_unless(by_axis.get(1, dims[0]) == dims[0], "resizing of channels is not supported")
        last = [by_axis.get(axis, dims[axis - 1]) for axis in (2, 3)]
    else:
        step.refuse_unless(
            by_axis.get(0, 1) == by_axis.get(1, 1) == 1, "resizing of channels or of the batch is not supported"
        )
        last = [dims[axis - 1] * float(by_axis.get(axis, 1.0)) for axis in (2, 3)]
    known = all(isinstance(one, (int, float)) and float(one).is_integer() and one >= 1 for one in last)
    step.refuse_unless(known, f"output sizes must be positive integers, got {last}")
    return [int(one) for one in last]


def _coordinates(step: OperatorContext) -> str:
    """The attribute `coordinate_transformation_mode`; the operators before opset 11 have no choice."""
    usual = "half_pixel" if step.node.operator == "Resize" and step.opset > 10 else "asymmetric"
    return str(step.attribute("coordinate_transformation_mode", usual))


def _sampling(step: OperatorContext) -> str:
    found = f"coordinates `{_coordinates(step)}`"
    nearest = step.attribute("mode", "nearest") == "nearest" and step.opset > 10
    return f"{found}, rounded by `{step.attribute('nearest_mode', 'round_prefer_floor')}`" if nearest else found


def _positions(step: OperatorContext, size: int, count: int, kind: Any) -> Any:
    """Sampling positions of `count` pixels along an axis of `size` pixels, by ONNX's formulas."""
    step.budget.check(count)
    pixel, scale, half = np.arange(count, dtype=kind), kind(count) / kind(size), kind(0.5)
    where = _coordinates(step)
    if where == "align_corners":
        return pixel * kind(size - 1) / kind(max(count - 1, 1))
    if where == "asymmetric":
        return pixel / scale
    if where == "tf_half_pixel_for_nn":
        return (pixel + half) / scale
    step.refuse_unless(where in _HALF_PIXELS, f"coordinate transformation `{where}` is not supported")
    if where == "pytorch_half_pixel" and count == 1:
        return np.zeros(1, kind)
    return (pixel + half) / scale - half


_HALF_PIXELS = ("half_pixel", "pytorch_half_pixel", "half_pixel_symmetric")
"""Modes with the same positions: the offset of `half_pixel_symmetric` is 0, up to rounding, for integral sizes."""


def _samples_nearest(step: OperatorContext, size: int, count: int) -> bool:
    """Whether the nearest pixels are those of `nearest_interp`.

    In float32 too, as engines compute: there a position between two pixels may be rounded to the other one.
    """
    rounded = _ROUNDINGS.get(step.attribute("nearest_mode", "round_prefer_floor"))
    if step.node.operator == "Upsample" or step.opset <= 10:
        # Old operators had no `nearest_mode`: enlarging rounded down, reducing rounded up.
        rounded = np.floor if count >= size else np.ceil
    if rounded is None or (_coordinates(step) == "half_pixel_symmetric" and count % size):
        return False
    ours = np.arange(count) * size // count
    # Every output pixel is compared, since combinations of modes agree with ours for some sizes only.
    theirs = [np.clip(rounded(_positions(step, size, count, kind)), 0, size - 1) for kind in (np.float32, np.float64)]
    return all((one == ours).all() for one in theirs)


_ROUNDINGS: dict[Any, Any] = {
    "floor": np.floor, "ceil": np.ceil, "round_prefer_floor": lambda at: np.ceil(at - at.dtype.type(0.5)),
    "round_prefer_ceil": lambda at: np.floor(at + at.dtype.type(0.5)),
}  # fmt: skip


def _samples_linear(step: OperatorContext, corners: str, size: int, count: int) -> bool:
    """Whether the positions are those of `bilinear_interp`, which stay inside of the image."""
    pixel = np.arange(count)
    ours = (pixel + 0.5) * size / count - 0.5 if corners == "HALF_PIXEL" else pixel * (size - 1) / max(count - 1, 1)
    theirs = _positions(step, size, count, np.float64)
    return bool(np.allclose(np.clip(ours, 0, size - 1), np.clip(theirs, 0, size - 1), rtol=0, atol=1e-9 * size))
