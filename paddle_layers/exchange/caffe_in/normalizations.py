"""Conversion of normalizations, and of learned scales and offsets."""

from __future__ import annotations

import math

import numpy as np

from .conversion import Use, converts
from .layers import Arrays, Fields, LayerDraft
from .parameters import set_vector


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


@converts("BN")
def bn(use: Use) -> None:
    """Batch normalization with gain and bias, which two forks define differently."""
    p, params = use.settings, len(use.message["param"])
    segnet = any(field in p for field in ("bn_mode", "scale_filler", "shift_filler"))
    pspnet = any(field in p for field in ("slope_filler", "bias_filler", "momentum", "eps", "frozen"))
    # Without settings, the number of parameters decides: 2 of SegNet, 4 of PSPNet.
    if segnet == pspnet and params not in (2, 4):
        text = "the fork of this BN is unknown: that of SegNet has statistics of the batch, that of PSPNet averages"
        help_ = "set `bn_param { bn_mode: ... }` as in SegNet, or `bn_param { momentum: ... }` as in PSPNet"
        use.refuse("bn_param", text, help_, of=use.message)
    elif segnet or (not pspnet and params == 2):
        _bn_of_segnet(use)
    else:
        _bn_of_pspnet(use)


def _bn_of_segnet(use: Use) -> None:
    """LEARN normalizes by the statistics of the batch, in the test as well; INFERENCE is a scale and an offset."""
    name = use.layer.name
    inference = use.settings["bn_mode"] == "INFERENCE"
    # The fork's epsilon is no field.
    attributes: Fields = {"bias": True} if inference else {"use_global_stats": False, "epsilon": 1e-9}
    draft = use.add("scale" if inference else "batch_norm", attributes)
    if draft is None:
        return
    for of, blob, filler in (("gain", 0, "scale_filler"), ("bias", 1, "shift_filler")):
        # Caffe's filler is the constant 0, which would be the gain of a network that is trained.
        set_vector(use, draft, of, blob, filler, 1.0 if of == "gain" else 0.0)
        _start_at_zero(use, draft, of, filler)
    count = (use.dims() or (1,))[0]
    # The averages are not used, but they are part of the layer's weights.
    unused = {} if inference else {"running_mean": np.zeros(count), "running_var": np.ones(count)}
    _store_vectors(use, [f"{name}.gain", f"{name}.bias"], {f"{name}.{of}": array for of, array in unused.items()})


def _bn_of_pspnet(use: Use) -> None:
    """Averages in the test, as in a `batch_norm`; `frozen` uses them in training as well, and trains nothing."""
    p, name = use.settings, use.layer.name
    attributes: Fields = {"momentum": p["momentum"], "epsilon": p["eps"]}
    draft = use.add("batch_norm", attributes | ({"use_global_stats": True} if p["frozen"] else {}))
    if draft is None:
        return
    for of, blob, filler in (("gain", 0, "slope_filler"), ("bias", 1, "bias_filler")):
        set_vector(use, draft, of, blob, filler, 1.0 if of == "gain" else 0.0)
        _start_at_zero(use, draft, of, filler)
        if p["frozen"]:
            draft.params.setdefault(of, {})["frozen"] = True
    _store_vectors(use, [f"{name}.{of}" for of in ("gain", "bias", "running_mean", "running_var")])
    if use.whole.trained and not p["frozen"]:
        use.note("the running variance starts at 1, in this fork of Caffe at 0")


def _store_vectors(use: Use, names: list[str], others: Fields | None = None) -> None:
    """Blobs of a BN are images of one pixel."""

    def make(blobs: Arrays) -> Fields:
        return {name: blob.ravel() for name, blob in zip(names, blobs, strict=True)} | (others or {})

    use.store([(1, (use.dims() or (1,))[0], 1, 1)] * len(names), make)


def _start_at_zero(use: Use, draft: LayerDraft, of: str, filler: str) -> None:
    """The gain of a layer without a filler starts at zero in Caffe."""
    if of == "gain" and filler not in use.settings and use.whole.trained:
        draft.params.setdefault(of, {})["init"] = {"type": "zero"}
        use.note(f"`{of}` has no {filler} and starts at zero, as in Caffe; add one before training")


@converts("Normalize")
def normalize(use: Use) -> None:
    """L2 normalization of SSD: across the channels of a pixel, or across all values of an image."""
    p, dims = use.settings, use.dims()
    if "norm_param" not in use.message:
        text = "a Normalize without `norm_param` is ambiguous: forks of Caffe differ in what it does"
        help_ = "add `norm_param { across_spatial: false channel_shared: false }`, or the settings that it was made for"
        use.refuse("norm_param", text, help_, of=use.message)
        return
    rates = [spec["lr_mult"] for spec in use.message["param"][:1]] or [1.0]
    if p["channel_shared"] and use.whole.trained and rates[0] != 0:
        text = "one scale for all channels (`channel_shared`) cannot be trained here"
        help_ = "write `channel_shared: false`, or `param { lr_mult: 0 }`"
        use.refuse("channel_shared", text, help_)
        return
    name, channels = use.layer.name, dims[0] if dims else 1
    if p["across_spatial"] and math.prod(dims[1:]) != 1:
        of, draft, ones = "gain", _normalize_image(use, dims), {f"{name}/norm.scale": math.prod(dims)}
    else:
        of, draft, ones = "scale", use.add("cross_channel_norm", {"epsilon": p["eps"]}), {}
    if draft is None:
        return
    set_vector(use, draft, of, 0, "scale_filler", 1.0)
    if p["channel_shared"]:
        draft.params.setdefault(of, {})["frozen"] = True

    def make(blobs: Arrays) -> Fields:
        scale = np.broadcast_to(blobs[0], channels)
        return {f"{name}.{of}": scale} | {one: np.ones(size, np.float32) for one, size in ones.items()}

    use.store([() if p["channel_shared"] else (channels,)], make)


def _normalize_image(use: Use, dims: tuple[int, ...]) -> LayerDraft | None:
    """The norm across an image is that across the channels of the flattened image; the scale is another layer."""
    flat = use.step("flatten", {}, [use.bottoms[0]])
    normalized = use.step("cross_channel_norm", {"epsilon": use.settings["eps"]}, [flat], "norm")
    if normalized.draft is not None:
        normalized.draft.params["scale"] = {"frozen": True}
    image = use.step("reshape", {"dims": list(dims)}, [normalized])
    return use.add("scale", {"bias": False}, inputs=[image])


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
