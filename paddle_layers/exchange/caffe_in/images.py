"""Conversion of image layers: convolution and pooling."""

from __future__ import annotations

import math

from .conversion import MANY, Use, converts
from .layers import Fields
from .parameters import BlobLayout, set_vector, set_weight
from .reading import Message

Pair = tuple[int, int]


@converts("Convolution", "Deconvolution", bottoms=(1, MANY), tops=(1, MANY))
def convolution(use: Use) -> None:
    _convolve(use, use.settings["group"])


@converts("DepthwiseConvolution", "ConvolutionDepthwise")
def depthwise_convolution(use: Use) -> None:
    """One filter for each channel: a convolution whose groups are the channels."""
    p, filters, channels = use.settings, use.required("num_output"), (use.dims() or (1,))[0]
    # DepthwiseConvolution needs `group`, ConvolutionDepthwise ignores it.
    groups = p["group"] if use.layer.type == "DepthwiseConvolution" else channels
    if filters is not None and not filters == groups == channels:
        text = f"a depthwise convolution of {channels} channels needs `num_output` {channels}"
        text += f" and `group` {channels}" if use.layer.type == "DepthwiseConvolution" else ""
        field = "num_output" if filters != channels else "group"
        use.refuse(field, text, "use a Convolution with `group` for other numbers of filters", code="E209")
        return
    _convolve(use, groups)


def _convolve(use: Use, groups: int) -> None:
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
    attributes |= {"num_filters": filters, "groups": groups, "bias": p["bias_term"]}
    if use.refused:
        return
    drafts, type_ = [], "conv_trans" if use.layer.type == "Deconvolution" else "conv"
    for place, top in enumerate(use.tops):
        name = use.layer.name if place == 0 else f"{use.layer.name}_{place + 1}"
        draft = use.add(type_, attributes, inputs=[use.bottoms[place]], outputs=[top], name=name)
        if draft is None:
            return
        drafts.append(draft)
    channels, window = use.dims()[0], (attributes["filter_size_y"], attributes["filter_size"])
    if type_ == "conv":
        shape = (filters, channels // groups, *window)
        layout = BlobLayout(filters, math.prod(shape[1:]))
    else:
        # Caffe shares the blob layout of both directions: the first axis of a deconvolution counts its inputs.
        shape = (channels, filters // groups, *window)
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
    if len(use.tops) > 1 and (p["pool"] != "MAX" or p["global_pooling"]):
        text = "the argmax indices of pooling (a second `top`) are only supported for MAX without `global_pooling`"
        use.refuse("top", text, "remove the second `top`", of=use.message)
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
    if len(use.tops) > 1:
        del attributes["pool_type"]
        use.add("max_pool_with_mask", attributes)
    else:
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
