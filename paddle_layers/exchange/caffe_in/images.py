"""Conversion of image layers: convolution, pooling, normalization."""

from __future__ import annotations

import math

import numpy as np

from .conversion import MANY, Use, converts
from .layers import Arrays, Fields, LayerDraft
from .parameters import BlobLayout, set_vector, set_weight
from .reading import Message

Pair = tuple[int, int]


@converts("Convolution", "Deconvolution", bottoms=(1, MANY), tops=(1, MANY))
def convolution(use: Use) -> None:
    p, attributes = use.settings, _window_attributes(use)
    # Other axes would make this a convolution of another rank.
    if p["axis"] not in (1, -3):
        use.refuse("axis", "channels must be axis 1", "transpose the data before training")
    if len(use.bottoms) != len(use.tops):
        use.refuse(
            "top",
            f"expected {len(use.bottoms)} `top` blobs, one per `bottom`, got {len(use.tops)}",
            of=use.message,
            code="E205",
        )
    filters = use.required("num_output")
    attributes |= {"num_filters": filters, "groups": p["group"], "bias": p["bias_term"]}
    if use.refused:
        return
    drafts, type_ = [], "conv" if use.layer.type == "Convolution" else "conv_trans"
    for place, top in enumerate(use.tops):
        name = use.layer.name if place == 0 else f"{use.layer.name}_{place + 1}"
        draft = use.add(type_, attributes, inputs=[use.bottoms[place]], outputs=[top], name=name)
        if draft is None:
            return
        drafts.append(draft)
    channels, window = use.dims()[0], (attributes["filter_size_y"], attributes["filter_size"])
    if type_ == "conv":
        shape = (filters, channels // p["group"], *window)
        layout = BlobLayout(filters, math.prod(shape[1:]))
    else:
        # Caffe shares the blob layout of both directions: the first axis of a deconvolution counts its inputs.
        shape = (channels, filters // p["group"], *window)
        layout = BlobLayout(channels, math.prod(shape), swapped=True)
    for draft in drafts:
        set_weight(use, draft, "weight", 0, "weight_filler", layout)
        if p["bias_term"]:
            set_vector(use, draft, "bias", 1, "bias_filler", 0.0)
        # Several bottoms are several layers here; Caffe applies one set of weights to all.
        for of in ("weight", "bias")[: 1 + p["bias_term"]] if len(drafts) > 1 else ():
            draft.params.setdefault(of, {}).setdefault("share", f"{use.layer.name}.{of}")
    use.store(
        [shape, (filters,)][: 1 + p["bias_term"]],
        lambda blobs: dict(zip((f"{use.layer.name}.weight", f"{use.layer.name}.bias"), blobs, strict=False)),
    )


def _window_attributes(use: Use) -> Fields:
    """Sizes of a convolution's window, rows and columns."""
    found: Fields = {}
    sizes = {
        "filter_size": _pair(use, "kernel_size", "kernel", None),
        "stride": _pair(use, "stride", "stride", 1),
        "padding": _pair(use, "pad", "pad", 0),
        "dilation": _pair(use, "dilation", "", 1),
    }
    for name, pair in sizes.items():
        if pair is not None:
            found[f"{name}_y"], found[name] = pair
    return found


def _pair(use: Use, field: str, short: str, usual: int | None) -> Pair | None:
    """Rows and columns of one setting: by two fields, or by one that is given once, twice or not at all."""
    p: Message = use.settings
    # There are three ways to write a pair in Caffe: `kernel_size: 3`, twice `kernel_size`, or `kernel_h` and
    # `kernel_w`.
    if short and (f"{short}_h" in p or f"{short}_w" in p):
        if p[field] not in ([], None) and field in p:
            use.refuse(field, f"`{field}` and `{short}_h`, `{short}_w` are mutually exclusive", code="E102")
        return use.required(f"{short}_h") or 0, use.required(f"{short}_w") or 0
    given = p[field] if isinstance(p[field], list) else [p[field]] if field in p else []
    if len(given) > 2:
        use.refuse(field, f"got {len(given)} values, but only 2-D images (two spatial axes) are supported")
        return None
    if not given:
        if usual is None:
            use.required(field)
            return None
        return usual, usual
    return given[0], given[-1]


@converts("Pooling", tops=(1, 2))
def pooling(use: Use) -> None:
    p = use.settings
    if len(use.tops) > 1:
        help_ = "remove the second `top`"
        use.refuse("top", "the argmax indices of pooling (a second `top`) are not supported", help_, of=use.message)
    rounding = _rounding(use)
    attributes: Fields = {"pool_type": "AVERAGE" if p["pool"] == "AVE" else "MAX", "rounding": rounding}
    # Caffe divides by the part of the window inside image and padding.
    if p["pool"] == "AVE" and not p["global_pooling"]:
        attributes["divisor"] = "PADDED"
    if p["global_pooling"]:
        attributes |= {"global_pooling": True, "rounding": "CEIL"}
        for field in ("kernel_size", "kernel_h", "kernel_w"):
            if field in p:
                use.refuse(field, f"`{field}` cannot be combined with `global_pooling`", code="E102")
        if use.refused:
            return
        if p["pool"] == "STOCHASTIC":
            _stochastic(use, "CEIL", use.dims()[-2:], (1, 1), (0, 0))
        else:
            use.add("pool", attributes)
        return
    kernel = _pair(use, "kernel_size", "kernel", None)
    stride, pad = _pair(use, "stride", "stride", 1), _pair(use, "pad", "pad", 0)
    if kernel is None or stride is None or pad is None or use.refused:
        return
    if any(pad[i] >= kernel[i] > 0 for i in (0, 1)):
        use.refuse("pad", "padding must be smaller than the kernel, in Caffe too", code="E103")
        return
    if p["pool"] == "STOCHASTIC":
        _stochastic(use, rounding, kernel, stride, pad)
        return
    # Caffe removes a last window outside of the image only if there is padding.
    if pad == (0, 0) and rounding == "CEIL" and _beyond(use.dims(), kernel, stride):
        attributes["rounding"] = "CEIL_ALL"
        use.note("the last window is entirely outside of the image: its value is undefined in Caffe and 0 here")
    for name, (rows, columns) in {"pool_size": kernel, "stride": stride, "padding": pad}.items():
        attributes |= {name: columns, f"{name}_y": rows}
    use.add("pool", attributes)


def _rounding(use: Use) -> str:
    """Rounding of the output size: `round_mode` of Caffe since 2019, `ceil_mode` of forks from before."""
    p = use.settings
    ceil = "CEIL" if p["ceil_mode"] else "FLOOR"
    if "ceil_mode" in p and "round_mode" in p and ceil != p["round_mode"]:
        use.refuse("ceil_mode", "`ceil_mode` and `round_mode` contradict each other", "keep one of them", code="E102")
    return ceil if "ceil_mode" in p else str(p["round_mode"])


def _stochastic(use: Use, rounding: str, kernel: tuple[int, ...], stride: Pair, pad: Pair) -> None:
    if pad != (0, 0):
        use.refuse("pad", "stochastic pooling does not support padding, in Caffe either", code="E103")
        return
    (rows, columns), (down, across) = kernel, stride
    window = {"pool_size": columns, "pool_size_y": rows, "stride": across, "stride_y": down, "rounding": rounding}
    use.add("stochastic_pool", window)


@converts("SPP")
def spatial_pyramid(use: Use) -> None:
    """Spatial pyramid pooling: pools into 1x1, 2x2, 4x4 ... bins, flattened and concatenated."""
    p, height, dims = use.settings, use.required("pyramid_height"), use.dims()
    if p["pool"] == "STOCHASTIC":
        use.refuse("pool", "stochastic pooling is not supported in spatial pyramid pooling", "use MAX or AVE")
    if height is None or use.refused:
        return
    # The limit keeps 2**level small for a hostile height; such a pyramid is rejected below.
    levels = [_level(dims, 2**level) for level in range(min(height, 16))] if len(dims) == 3 else []
    if not levels or any(
        one["padding"] >= one["pool_size"] or one["padding_y"] >= one["pool_size_y"] for one in levels
    ):
        text = f"a pyramid of {height} levels is too large for an input of {'x'.join(map(str, dims))}"
        use.refuse(
            "pyramid_height", text, "the last level has 2 ** (pyramid_height - 1) bins in each direction", code="E209"
        )
        return
    # Every level as the pool that Caffe builds inside: with its own kernel and padding, rounded up.
    kind: Fields = {"pool_type": "AVERAGE" if p["pool"] == "AVE" else "MAX", "rounding": "CEIL"}
    if p["pool"] == "AVE":
        kind["divisor"] = "PADDED"
    # Caffe keeps the image axes of a single level.
    if height == 1:
        use.add("pool", kind | levels[0])
        return
    parts = []
    for level, window in enumerate(levels):
        pooled, part = use.inner(f"pool{level}"), use.inner(f"flatten{level}")
        use.add("pool", kind | window, outputs=[pooled], name=pooled.name)
        use.add("flatten", inputs=[pooled], outputs=[part], name=part.name)
        parts.append(part)
    use.add("concat", inputs=parts)


def _level(dims: tuple[int, ...], bins: int) -> Fields:
    """The pool of a level, as Caffe's SPPLayer makes it."""
    found: Fields = {}
    for axis, size in zip(("_y", ""), dims[1:], strict=True):
        kernel = -(-size // bins)
        found |= {
            f"pool_size{axis}": kernel,
            f"stride{axis}": kernel,
            f"padding{axis}": (kernel * bins - size + 1) // 2,
        }
    return found


def _beyond(dims: tuple[int, ...], kernel: Pair, stride: Pair) -> bool:
    """Whether the last window, rounded up, starts after the image: Caffe keeps it if there is no padding."""
    if len(dims) != 3 or min(*kernel, *stride) < 1:
        return False
    return any(-(-(size - k) // s) * s >= size for size, k, s in zip(dims[1:], kernel, stride, strict=True))


@converts("LRN")
def lrn(use: Use) -> None:
    p = use.settings
    if p["local_size"] % 2 == 0:
        use.refuse("local_size", f"`local_size` is {p['local_size']}, expected an odd number, as in Caffe", code="E103")
        return
    attributes: Fields = {"size": p["local_size"], "scale": p["alpha"], "power": p["beta"], "region": p["norm_region"]}
    # Within a channel, Caffe ignores `k` and uses 1.
    if p["norm_region"] == "ACROSS_CHANNELS":
        attributes["shift"] = p["k"]
    use.add("lrn", attributes)


@converts("MVN")
def mean_variance_norm(use: Use) -> None:
    p = use.settings
    axis = 1 if p["across_channels"] else 2
    use.add("mvn", {"axis": axis, "normalize_variance": p["normalize_variance"], "epsilon": p["eps"]})


@converts("BatchNorm")
def batch_norm(use: Use) -> None:
    """Mean and variance alone, of which a following Scale becomes the gain and bias; NVIDIA's fork may have both."""
    p = use.settings
    affine = p["scale_bias"] or "scale_filler" in p or "bias_filler" in p
    attributes: Fields = {
        "momentum": p["moving_average_fraction"],
        # NVIDIA's fork has a minimum.
        "epsilon": max(p["eps"], 1e-5) if affine else p["eps"],
        # Caffe multiplies the variance by m / (m - 1) in its running average, but not in the normalization.
        "unbiased": True,
        "bias": affine,
        # NVIDIA's fork has the averages in the test and statistics of the batch in training, whatever the file says.
        "use_global_stats": None if affine else p["use_global_stats"],
    }
    draft = use.add("batch_norm", attributes)
    if draft is None:
        return
    channels, name = use.type().dims[:1] or (1,), use.layer.name
    if affine:
        _own_gain(use, draft)
    else:
        # Caffe's layer has no affine part. This setting is also the marker by which a following Scale recognizes it.
        draft.params["gain"] = {"frozen": True}
    shapes = [channels, channels, (1,), *[channels] * (2 * affine)]
    use.store(shapes, lambda blobs: _averages(name, blobs))
    use.note(
        "running averages start at 0 and 1, in Caffe with the first batch; with a decay of 0.999 they agree "
        "after some thousand steps"
    )


def _own_gain(use: Use, draft: LayerDraft) -> None:
    """Gain and bias of a BatchNorm with `scale_bias`, which NVIDIA's fork trains at the rate 1 in every case."""
    for of, filler, usual in (("gain", "scale_filler", 1.0), ("bias", "bias_filler", 0.0)):
        set_vector(use, draft, of, len(use.message["param"]), filler, usual)


def _averages(name: str, blobs: Arrays) -> Fields:
    """Caffe keeps sums and their weight, and divides where it uses them."""
    mean, var, factor, *affine = blobs
    # Like Caffe: a factor of 0 belongs to a layer that has not seen a batch.
    scale = np.float32(0 if factor[0] == 0 else 1 / np.float64(factor[0]))
    own = zip(("gain", "bias"), affine or [np.ones_like(mean)], strict=False)
    return {
        f"{name}.running_mean": mean * scale,
        f"{name}.running_var": var * scale,
        **{f"{name}.{of}": array for of, array in own},
    }


@converts("Scale", bottoms=(1, 2))
def scale(use: Use) -> None:
    if len(use.bottoms) == 2:
        _by_second(use, "mul")
        return
    axes = _own_axes(use)
    # Gain and bias of our normalization are one number per channel: a Scale of other axes remains a layer.
    draft = _normalised(use) if axes == {"axis": 1} else None
    name, p = use.layer.name, use.settings
    if draft is not None:
        name, gained = draft.name, ("gain", "bias")
        _take_over(use, draft)
    else:
        gained = ("gain", "bias")
        draft = use.add("scale", {"bias": p["bias_term"], **axes})
    if draft is None or use.refused:
        return
    set_vector(use, draft, "gain", 0, "filler", 1.0)
    if p["bias_term"]:
        set_vector(use, draft, "bias", 1, "bias_filler", 0.0)
    shape = _own_shape(use, axes)
    names = [f"{name}.{one}" for one in gained]
    use.store([shape] * (1 + p["bias_term"]), lambda blobs: dict(zip(names, blobs, strict=False)))


def _own_axes(use: Use) -> Fields:
    """The axes with separate values."""
    p, first, rank = use.settings, use.axis("axis"), len(use.dims())
    if first == 0 or p["num_axes"] == 0:
        text = f"{use.layer.type} needs `axis` >= 1 and at least one axis (`num_axes`)"
        use.refuse("axis" if first == 0 else "num_axes", text)
        return {"axis": 1}
    last = rank if p["num_axes"] == -1 else first + p["num_axes"] - 1
    left = max(rank, 1) - first + 1
    if last > max(rank, 1):
        use.refuse(
            "num_axes",
            f"axis {first} leaves only {left} {'axis' if left == 1 else 'axes'}; `num_axes` asks for {p['num_axes']}",
            code="E209",
        )
    return {"axis": first} if last == first else {"axis": first, "end_axis": last}


def _own_shape(use: Use, axes: Fields) -> tuple[int, ...]:
    return use.type().dims[axes["axis"] - 1 : axes.get("end_axis", axes["axis"])] or (1,)


def _normalised(use: Use) -> LayerDraft | None:
    """The batch_norm whose gain and bias this Scale is: nothing else reads what it gives."""
    value = use.bottoms[0]
    draft = value.draft
    fits = draft is not None and draft.type == "batch_norm" and draft.params.get("gain") == {"frozen": True}
    # With another reader, or in another phase, the normalized values without gain are needed.
    return draft if fits and value.readers == [use.layer] and draft and draft.phases == use.layer.phases else None


def _take_over(use: Use, draft: LayerDraft) -> None:
    """Make the batch_norm give what the Scale gives."""
    bottom, top = use.bottoms[0], use.tops[0]
    # As with a fused activation, the name of the blob is kept.
    if use.layer.in_place:
        top.name = bottom.name
    top.type, top.draft, draft.outputs = bottom.type, draft, [top]
    del draft.params["gain"]
    draft.attributes.pop("bias", None)
    if not use.settings["bias_term"]:
        draft.attributes["bias"] = False
    use.whole.became[use.layer.name] = [f"gain and bias of {draft.name}"]


@converts("Bias", bottoms=(1, 2))
def bias(use: Use) -> None:
    if len(use.bottoms) == 2:
        _by_second(use, "add")
        return
    axes = _own_axes(use)
    if use.refused:
        return
    draft, name = use.add("shift", axes), use.layer.name
    set_vector(use, draft, "offset", 0, "filler", 0.0)
    use.store([_own_shape(use, axes)], lambda blobs: {f"{name}.offset": blobs[0]})


def _by_second(use: Use, type_: str) -> None:
    """Arithmetic with a second blob that begins with the rows."""
    p, dims, other = use.settings, use.dims(0), use.dims(1)
    if use.axis("axis") != 0 or other != dims[: len(other)]:
        text = "the shape of the second blob must match the first axes of the first blob, with `axis: 0`"
        use.refuse("axis", text)
        return
    if len(other) not in (0, 1, len(dims)):
        use.refuse(
            "bottom", "the second blob must have only the channel axis, or all axes of the first", of=use.message
        )
        return
    with_bias = type_ == "mul" and p["bias_term"]
    inner = use.inner("product") if with_bias else use.tops[0]
    use.add(type_, outputs=[inner], name=f"{use.layer.name}/product" if with_bias else "")
    if with_bias and not use.refused:
        draft, name = use.add("shift", inputs=[inner]), use.layer.name
        set_vector(use, draft, "offset", 0, "bias_filler", 0.0)
        use.store([dims[:1] or (1,)], lambda blobs: {f"{name}.offset": blobs[0]})
