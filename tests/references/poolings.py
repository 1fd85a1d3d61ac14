"""Pooling window by window: pixels are cut out, nothing is padded."""

import math

import numpy as np


def starts(extent, size, stride, padding, end, rounding):
    """First pixel of every window along an axis, negative in the padding."""
    exact = (extent + padding + end - size) / stride
    count = (math.floor(exact) if rounding == "FLOOR" else math.ceil(exact)) + 1
    first = [i * stride - padding for i in range(count)]
    if rounding == "CEIL":
        first = [start for start in first if start < extent]
    return first


def counted(start, size, padding, end, extent, divisor):
    if divisor == "KERNEL":
        return size
    low, high = (-padding, extent + end) if divisor == "PADDED" else (0, extent)
    return len(set(range(start, start + size)) & set(range(low, high)))


def pool(inputs, params, attributes):
    a, x = attributes, inputs["x"]
    height, width = x.shape[2:]
    if a["global_pooling"]:
        reduce = np.max if a["pool_type"] == "MAX" else np.mean
        return {"y": reduce(x, axis=(2, 3), keepdims=True)}
    above, below, before, behind = a["padding_y"], a["padding_end_y"], a["padding"], a["padding_end"]
    rows = starts(height, a["pool_size_y"], a["stride_y"], above, below, a["rounding"])
    columns = starts(width, a["pool_size"], a["stride"], before, behind, a["rounding"])
    y = np.zeros((*x.shape[:2], len(rows), len(columns)))
    for p, top in enumerate(rows):
        for q, left in enumerate(columns):
            window = x[:, :, max(top, 0) : top + a["pool_size_y"], max(left, 0) : left + a["pool_size"]]
            if not window.size:
                continue
            if a["pool_type"] == "MAX":
                y[:, :, p, q] = window.max(axis=(2, 3))
                continue
            count = counted(top, a["pool_size_y"], above, below, height, a["divisor"])
            count *= counted(left, a["pool_size"], before, behind, width, a["divisor"])
            y[:, :, p, q] = window.sum(axis=(2, 3)) / count
    return {"y": y}


REFERENCES = {"pool": pool}
