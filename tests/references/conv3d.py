"""Convolutions and pools along any number of axes: lines and volumes. Products for each window, or for each element."""

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def of_axes(attributes, axes, *names):
    """A tuple for each name, with a number for each axis: lists of one number and numbers are for all."""
    found = []
    for name in names:
        numbers = np.atleast_1d(attributes[name])
        found.append(tuple(int(one) for one in np.broadcast_to(numbers, axes)))
    return found


def convolve(x, weight, a):
    axes = weight.ndim - 2
    size, stride, ahead, behind, gap = of_axes(a, axes, "filter_size", "stride", "padding", "padding_end", "dilation")
    x = np.pad(x, ((0, 0), (0, 0), *zip(ahead, behind, strict=True)))
    reach = [(one - 1) * apart + 1 for one, apart in zip(size, gap, strict=True)]
    windows = sliding_window_view(x, reach, axis=tuple(range(2, x.ndim)))
    every = [slice(None, None, step) for step in (*stride, *gap)]
    windows = windows[(slice(None), slice(None), *every)]
    summed = [1, *range(2 + axes, 2 + 2 * axes)]
    parts = [
        np.moveaxis(np.tensordot(part, filters, (summed, list(range(1, 2 + axes)))), -1, 1)
        for part, filters in zip(np.split(windows, a["groups"], 1), np.split(weight, a["groups"]), strict=True)
    ]
    return np.concatenate(parts, axis=1)


def spread(x, weight, a):
    """The transpose: what each element adds, into zeros."""
    axes = weight.ndim - 2
    size, stride, off, more, gap = of_axes(a, axes, "filter_size", "stride", "padding", "output_padding", "dilation")
    reach = [(one - 1) * apart + 1 for one, apart in zip(size, gap, strict=True)]
    extents = [(n - 1) * step + r + m for n, step, r, m in zip(x.shape[2:], stride, reach, more, strict=True)]
    whole = np.zeros((len(x), a["num_filters"], *extents))
    parts = zip(*(np.split(array, a["groups"], axis) for array, axis in ((x, 1), (weight, 0), (whole, 1))), strict=True)
    for elements, filters, result in parts:
        for at in np.ndindex(*x.shape[2:]):
            stamp = np.tensordot(elements[(slice(None), slice(None), *at)], filters, 1)
            under = [slice(i * s, i * s + r, g) for i, s, r, g in zip(at, stride, reach, gap, strict=True)]
            result[(slice(None), slice(None), *under)] += stamp
    kept = [slice(o, extent - o) for o, extent in zip(off, extents, strict=True)]
    return whole[(slice(None), slice(None), *kept)]


def with_bias(y, params, name, attributes):
    return {"y": y + params[name].reshape(-1, *[1] * (y.ndim - 2)) if attributes["bias"] else y}


def conv3d(inputs, params, attributes):
    return with_bias(convolve(inputs["x"], params["weight"], attributes), params, "bias", attributes)


def conv3d_trans(inputs, params, attributes):
    return with_bias(spread(inputs["x"], params["weight"], attributes), params, "bias", attributes)


def conv1d(inputs, params, attributes):
    y = convolve(inputs["x"], params["conv.weight"][:, :, 0], attributes)
    return with_bias(y, params, "conv.bias", attributes)


def conv1d_trans(inputs, params, attributes):
    y = spread(inputs["x"], params["conv_trans.weight"][:, :, 0], attributes)
    return with_bias(y, params, "conv_trans.bias", attributes)


def places(extent, size, stride, ahead, behind, rounding):
    """First element of every window along an axis, negative in the padding."""
    exact = (extent + ahead + behind - size) / stride
    first = [i * stride - ahead for i in range((math.floor(exact) if rounding == "FLOOR" else math.ceil(exact)) + 1)]
    return [start for start in first if start < extent] if rounding == "CEIL" else first


def pooled(inputs, params, attributes):
    """Window by window: elements are cut out, nothing is padded."""
    x, a = inputs["x"], attributes
    extents = x.shape[2:]
    size, stride, ahead, behind = of_axes(a, len(extents), "pool_size", "stride", "padding", "padding_end")
    starts = [places(*along, a["rounding"]) for along in zip(extents, size, stride, ahead, behind, strict=True)]
    y = np.zeros((*x.shape[:2], *map(len, starts)))
    for at in np.ndindex(*y.shape[2:]):
        first = [own[i] for own, i in zip(starts, at, strict=True)]
        window = x[(slice(None), slice(None), *(slice(max(f, 0), f + s) for f, s in zip(first, size, strict=True)))]
        window = window.reshape(*x.shape[:2], -1)
        if not window.size:
            continue
        count = window.shape[2]
        if a["divisor"] == "KERNEL":
            count = math.prod(size)
        elif a["divisor"] == "PADDED":
            count = math.prod(
                len(set(range(f, f + s)) & set(range(-b, n + e)))
                for f, s, n, b, e in zip(first, size, extents, ahead, behind, strict=True)
            )
        made = window.max(axis=2) if a["pool_type"] == "MAX" else window.sum(axis=2) / count
        y[(slice(None), slice(None), *at)] = made
    return {"y": y}


REFERENCES = {
    "conv1d": conv1d, "conv1d_trans": conv1d_trans, "pool1d": pooled,
    "conv3d": conv3d, "conv3d_trans": conv3d_trans, "pool3d": pooled,
}  # fmt: skip
