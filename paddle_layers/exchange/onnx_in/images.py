"""Convolution, pooling and normalization of 1-D signals, images and volumes; RoI pooling."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from .layers import LayerOutput, Weight, weight
from .operators import OPERATORS, OperatorContext, RowView, operator
from .sequence_rows import one_row
from .symbolic_values import (
    BoxImageIndices,
    ConstantValue,
    Operand,
    PaddedView,
    SampleIndices,
    Statistic,
    View,
    atoms_of,
    axis_for,
)

Pads = list[tuple[int, int]]
SUFFIXES = {1: "1d", 2: "", 3: "3d"}
"""Suffixes of layer types by number of spatial axes."""


def image(step: OperatorContext, x: Any) -> tuple[RowView, LayerOutput, int]:
    """Rows as channels of 1-D signals, images or volumes; the number of axes after the channels."""
    rows = step.rows(step.view(x))
    dims = rows.value.dims
    alone = len(rows.lead) == 1
    step.refuse_unless(alone, "the time axis of sequences cannot be a spatial axis")
    usual = "channels and 1 to 3 spatial axes"
    step.refuse_unless(len(dims) in (2, 3, 4), f"input has {len(dims)} axes after the batch, expected {usual}")
    return rows, rows.value, len(dims) - 1


def parameters(found: dict[str, Weight], part: str, spatial: int) -> dict[str, Weight]:
    """Weights by their names: a layer of lines is one of images of a single row, which is a part of it."""
    return {f"{part}.{name}": one for name, one in found.items()} if spatial == 1 else found


def windows(
    step: OperatorContext, x: Any, kernel: list[int], sizes: tuple[int, ...], spread: list[int]
) -> tuple[Pads, list[int]]:
    """(before, after) of each axis and the strides, as the node and a Pad before it say."""
    count = len(kernel)
    strides = step.attribute("strides") or [1] * count
    pads = step.attribute("pads") or [0] * 2 * count
    fits = len(strides) == count and len(pads) == 2 * count == 2 * len(sizes)
    step.refuse_unless(fits, "`strides`, `pads`, kernel and image must have the same number of spatial axes")
    step.refuse_unless(
        min(pads) >= 0 and min([*strides, *kernel, *spread]) > 0, "negative padding and sizes of 0 are not supported"
    )
    auto = step.attribute("auto_pad", "NOTSET")
    pairs = list(zip(pads[:count], pads[count:], strict=True))
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        step.refuse_unless(not isinstance(x, PaddedView), f"`auto_pad: {auto}` after Pad is not supported")
        pairs = []
        for size, window, stride in zip(sizes, spread, strides, strict=True):
            total = max((-(-size // stride) - 1) * stride + window - size, 0)
            # The odd pixel goes after the image for SAME_UPPER (TensorFlow) and before it for SAME_LOWER.
            less = total // 2
            pairs.append((less, total - less) if auto == "SAME_UPPER" else (total - less, less))
    elif auto == "VALID":
        pairs = [(0, 0)] * count
    if isinstance(x, PaddedView):
        pairs = [(a + c, b + d) for (a, b), (c, d) in zip(pairs, x.pads, strict=True)]
    return pairs, strides


@operator("Conv")
def conv(step: OperatorContext, x: Any, filters: Any, bias: Any = None) -> Operand:
    """The filters as they are."""
    padded = x
    # A convolution pads with zeros only.
    if isinstance(x, PaddedView) and x.number != 0:
        padded = x = step.settled(x)
    elif isinstance(x, PaddedView):
        x = x.view
    given = step.numbers(filters, "weight")
    kernel = list(given.array.shape[2:])
    step.refuse_unless(given.array.ndim in (3, 4, 5), f"filters have {given.array.ndim} axes, expected 3 to 5")
    if isinstance(x, View) and [atom.name for atom in x.layout[-1]] == ["T"]:
        step.refuse_unless(padded is x, "Pad before a convolution along time steps is not supported")
        if len(x.layout) == 4 == given.array.ndim and not x.layout[2] and kernel[0] == 1:  # an image of a single row
            line = replace(x, layout=(*x.layout[:2], x.layout[3]))
            found = _over_steps(step, line, ConstantValue(given.array[:, :, 0], given.source), bias)
            return replace(found, layout=(*found.layout[:2], (), found.layout[2]))
        return _over_steps(step, x, given, bias)
    rows, value, spatial = image(step, x)
    step.refuse_unless(len(kernel) == spatial, "filters and image have different numbers of spatial axes")
    dilations = step.attribute("dilations") or [1] * spatial
    step.refuse_unless(len(dilations) == spatial, "`dilations` and image have different numbers of spatial axes")
    spread = [(size - 1) * gap + 1 for size, gap in zip(kernel, dilations, strict=True)]
    pads, strides = windows(step, padded, kernel, rows.value.dims[1:], spread)
    array = given.array if spatial > 1 else given.array[:, :, None]
    settings: dict[str, Any] = {
        "num_filters": int(array.shape[0]), **pair("filter_size", kernel),
        **pair("stride", strides), **around(pads), **pair("dilation", dilations),
    }  # fmt: skip
    weights: dict[str, Weight] = {"weight": weight(array, given.source)}
    if bias is not None:
        own = step.numbers(bias, "bias")
        weights["bias"] = weight(own.array.reshape(-1), own.source)
    weights = parameters(weights, "conv", spatial)
    groups, type_ = step.attribute("group", 1), f"conv{SUFFIXES[spatial]}"
    made = step.layer(type_, value, weights=weights, groups=groups, bias=bias is not None, **settings)
    return step.made(made.outputs[0], rows)


_PARAMETERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("Identity", "Relu", "Sigmoid", "Tanh"), ()), "HardSigmoid": ("alpha", "beta"),
    "LeakyRelu": ("alpha",), "Clip": ("min", "max"),
}  # fmt: skip
"""Activations of onnxruntime's fused operators, and the attributes that are their parameters."""


@operator("FusedConv", domain="com.microsoft")
def fused_conv(step: OperatorContext, x: Any, filters: Any, bias: Any = None, added: Any = None) -> Operand:
    """A convolution, to which another value may be added, and its activation."""
    name, numbers = step.attribute("activation", "Identity"), step.attribute("activation_params", [])
    names = _PARAMETERS.get(name)
    known = names is not None and len(names) == len(numbers)
    step.refuse_unless(known, f"activation `{name}` with {len(numbers)} parameters is not supported")
    assert names is not None
    found = conv(step, x, filters, bias)
    if added is not None:
        found = cast("Operand", OPERATORS["", "Add"](step, found, added))
    step.node = replace(step.node, operator=name, attributes=dict(zip(names, numbers, strict=True)))
    return cast("Operand", OPERATORS["", name](step, found))


def pair(name: str, sizes: list[int]) -> dict[str, Any]:
    """An attribute for columns, and one for rows where these differ; a list for a volume."""
    if len(sizes) == 3:
        return {name: sizes if len(set(sizes)) > 1 else sizes[:1]}
    return {name: sizes[-1]} if len(set(sizes)) == 1 else {name: sizes[1], f"{name}_y": sizes[0]}


def around(pads: Pads) -> dict[str, Any]:
    """The attributes for (before, after) of each axis."""
    found = pair("padding", [before for before, _ in pads])
    if all(before == after for before, after in pads):
        return found
    if len(pads) == 2:
        return found | {"padding_end": pads[1][1], "padding_end_y": pads[0][1]}
    return found | pair("padding_end", [after for _, after in pads])


def _over_steps(step: OperatorContext, x: View, given: ConstantValue, bias: Any) -> View:
    """1-D convolution along the steps of sequences: a context window and a fully connected layer.

    The node may go along an image of height 1 without vertical padding.
    """
    view = step.plain(x)
    fits = len(view.layout) == 3 == given.array.ndim and view.layout[1] == view.inside and len(view.value.dims) == 1
    step.refuse_unless(fits, "expected a batch of sequences with shape [N, C, T]")
    filters, _, length = given.array.shape
    high = [1] * (len(step.attribute("kernel_shape") or [length]) - 1)
    window = [*high, length]
    pads, strides = windows(step, x, window, tuple(window), window)
    before, behind = pads[-1]
    usual = set(strides) == {1} and set(step.attribute("dilations") or [1]) == {1} and step.attribute("group", 1) == 1
    usual = usual and not any(map(any, pads[:-1]))
    step.refuse_unless(usual, "strides, dilation and groups are not supported along time steps")
    step.refuse_unless(before + behind == length - 1, "convolution along time steps must preserve the number of steps")
    value = view.value
    if length > 1:
        value = step.layer("context", value, length=length, start=-before, suffix="context").outputs[0]
    # Context windows list the steps one after the other, each with its channels.
    array, source = (
        given.array.transpose(2, 1, 0).reshape(-1, filters),
        (*given.source, "steps") if given.source else (),
    )
    weights: dict[str, Weight] = {"weight": weight(array, source)}
    if bias is not None:
        own = step.numbers(bias, "bias")
        weights["bias"] = weight(own.array.reshape(-1), own.source)
    made = step.layer("fc", value, weights=weights, size=int(filters), bias=bias is not None).outputs[0]
    inside = axis_for(filters)
    return View((view.layout[0], inside, view.layout[2]), value=made, order=(*view.rows, *inside))


@operator("MaxPool", "AveragePool")
def pool(step: OperatorContext, x: Any) -> Operand:
    """Pooling; padding after the last pixel may be equivalent to rounding up."""
    average = step.node.operator == "AveragePool"
    padded, counted = x, bool(step.attribute("count_include_pad", 0))
    if isinstance(x, PaddedView):
        low = x.number < -1e30
        own = any(step.attribute("pads") or [0])
        # A pad of minus infinity never wins a maximum, so it is the same as a pool's own padding; an average counts its
        # zeros.
        fits = (x.number == 0 and not own) if average else low
        padded = x if fits else step.settled(x)
        x = x.view if fits else padded
    step.refuse_unless(not any(step.node.outputs[1:]), "the argmax output is not supported")
    rows, value, spatial = image(step, x)
    kernel = step.attribute("kernel_shape") or []
    step.refuse_unless(len(kernel) == spatial, "kernel and image have different numbers of spatial axes")
    step.refuse_unless(set(step.attribute("dilations") or [1]) == {1}, "`dilations` is not supported")
    pads, strides = windows(step, padded, kernel, rows.value.dims[1:], kernel)
    up = bool(step.attribute("ceil_mode", 0))
    before = [a for a, _ in pads]
    counts = [
        _count(size + a + b, window, stride, up, size + a)
        for size, (a, b), window, stride in zip(rows.value.dims[1:], pads, kernel, strides, strict=True)
    ]
    # The same number of windows may follow from padding after the image or from rounding up; the latter is the usual
    # form here.
    found = {
        name: [
            _count(size + 2 * a, window, stride, name == "CEIL", size + a)
            for size, a, window, stride in zip(rows.value.dims[1:], before, kernel, strides, strict=True)
        ]
        for name in ("FLOOR", "CEIL")
    }
    fitting = [name for name, sizes in found.items() if sizes == counts]
    divisor = None
    if average and any(map(any, pads)):
        if isinstance(padded, PaddedView):
            divisor = "PADDED"
        elif counted:
            divisor = "PADDED" if up else "KERNEL"
    if fitting and (divisor != "PADDED" or all(a == b for a, b in pads)):
        rounding, sides = "CEIL" if "CEIL" in fitting else "FLOOR", [(a, a) for a in before]
    else:
        rounding, sides = "CEIL" if up else "FLOOR", pads
    settings: dict[str, Any] = {**pair("pool_size", kernel), **pair("stride", strides), **around(sides)}
    kind = "AVERAGE" if average else None
    made = step.layer(f"pool{SUFFIXES[spatial]}", value, pool_type=kind, rounding=rounding, divisor=divisor, **settings)
    return step.made(made.outputs[0], rows)


def _count(size: int, window: int, stride: int, up: bool, edge: int) -> int:
    """The number of windows; none begins in the padding after the image."""
    left = size - window
    if left < 0:
        return 0
    found = (-(-left // stride) if up else left // stride) + 1
    # A window that begins in the padding after the image is dropped, as PyTorch and Caffe do.
    return found - 1 if up and (found - 1) * stride >= edge else found


def normalized(step: OperatorContext, x: Any) -> Statistic | None:
    """The mean over the last of three axes, as tf2onnx writes it for layer normalization of sequences."""
    layout = (*x.layout[:-1], ())
    if isinstance(x, Statistic) and x.kind == "square" and x.over == 1:
        return replace(x, kind="variance", layout=layout)
    if isinstance(x, View) and step.lead(x) == 2:
        return Statistic(layout, view=x, kind="mean", over=1)
    return None


@operator("GlobalAveragePool", "GlobalMaxPool")
def global_pool(step: OperatorContext, x: Any) -> Operand:
    """One window as large as the image, or as a sequence; of rows of sequences, a part of normalization."""
    average = step.node.operator == "GlobalAveragePool"
    if average and len(x.layout) == 3 and (squared := normalized(step, x)) is not None:
        return squared
    if not average and isinstance(x, View) and [atom.name for atom in atoms_of(x.layout[2:])] == ["T"]:
        place = next(place for place, axis in enumerate(x.layout) if place > 1 and axis)
        return one_row(step, x, place, "seq_max_pool", keep=True)
    rows, value, spatial = image(step, x)
    kind = "AVERAGE" if average else "MAX"
    if spatial != 2:
        operation = "MEAN" if kind == "AVERAGE" else kind
        axes = list(range(2, 2 + spatial))
        made = step.layer("reduction", value, operation=operation, axes=axes, keep_dims=True)
        return step.made(made.outputs[0], rows)
    made = step.layer("pool", value, pool_type=kind, global_pooling=True)
    return step.made(made.outputs[0], rows)


@operator("BatchNormalization")
def batch_norm(step: OperatorContext, x: Any, gain: Any, bias: Any, mean: Any, var: Any) -> Operand:
    """With the averages that it has: training moves them on."""
    step.refuse_unless(not step.attribute("training_mode", 0), "training mode is not supported")
    rows = step.rows(step.view(x))
    step.refuse_unless(len(rows.lead) == 1, "channels cannot be the time axis of sequences")
    names = {"gain": gain, "bias": bias, "running_mean": mean, "running_var": var}
    given = {name: step.numbers(one, name.replace("_", " ")) for name, one in names.items()}
    weights = {name: weight(one.array.reshape(-1), one.source) for name, one in given.items()}
    epsilon, momentum = step.attribute("epsilon", 1e-5), step.attribute("momentum", 0.9)
    made = step.layer("batch_norm", rows.value, weights=weights, epsilon=epsilon, momentum=momentum)
    return step.made(made.outputs[0], rows)


@operator("LRN")
def lrn(step: OperatorContext, x: Any) -> Operand:
    """Across channels."""
    rows = step.rows(step.view(x), 3)
    step.refuse_unless(len(rows.lead) == 1, "channels cannot be the time axis of sequences")
    size = step.attribute("size", 1)
    step.refuse_unless(size % 2 == 1, f"`size` is {size}, expected an odd number: engines disagree on even sizes")
    numbers = {"scale": "alpha", "power": "beta", "shift": "bias"}
    defaults = {"alpha": 1e-4, "beta": 0.75, "bias": 1.0}
    settings = {name: step.attribute(theirs, defaults[theirs]) for name, theirs in numbers.items()}
    return step.made(step.layer("lrn", rows.value, size=size, **settings).outputs[0], rows)


@operator("RoiAlign")
def roi_align(step: OperatorContext, x: Any, boxes: Any, images: Any) -> Operand:
    """Places in each bin, interpolated; before opset 16 a pixel's middle was at half a pixel."""
    step.refuse_unless(
        isinstance(images, BoxImageIndices) and not _counted_on(images),
        "computed batch indices are not supported; they must be an input of the model",
    )
    step.refuse_unless(step.attribute("mode", "avg") == "avg", "mode `max` is not supported")
    usual = "half_pixel" if step.opset >= 16 else "output_half_pixel"
    # The attribute was added in opset 16, with another default than what older models mean.
    middle = step.attribute("coordinate_transformation_mode", usual) == "half_pixel"
    window = step.attribute("output_width", 1), step.attribute("output_height", 1)
    ratio = step.attribute("sampling_ratio", 0)
    return _pooled(step, "roi_align", x, boxes, window, sampling_ratio=ratio, aligned=middle)


def _counted_on(images: BoxImageIndices) -> bool:
    return isinstance(images, SampleIndices) and (images.stride != 1 or bool(images.offsets.any()))


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
