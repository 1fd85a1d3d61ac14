"""Pooling window by window: pixels are cut out, nothing is padded."""

import numpy as np

from .conv3d import places, pooled
from .convolutions import of_images


def pool(inputs, params, attributes):
    if attributes["global_pooling"]:
        reduce = np.max if attributes["pool_type"] == "MAX" else np.mean
        return {"y": reduce(inputs["x"], axis=(2, 3), keepdims=True)}
    return pooled(inputs, params, of_images(attributes))


def stochastic_pool(inputs, params, attributes):
    if attributes["training"]:
        return {"y": None}
    a, x = attributes, np.where(inputs["x"] < 0, 0, inputs["x"])
    rows = places(x.shape[2], a["pool_size_y"], a["stride_y"], 0, 0, a["rounding"])
    columns = places(x.shape[3], a["pool_size"], a["stride"], 0, 0, a["rounding"])
    y = np.zeros((*x.shape[:2], len(rows), len(columns)))
    for place in np.ndindex(y.shape):
        top, left = rows[place[2]], columns[place[3]]
        window = x[place[:2]][top : top + a["pool_size_y"], left : left + a["pool_size"]]
        if window.sum() != 0:
            y[place] = np.average(window, weights=window / window.sum())
    return {"y": y}


def evenly(values, counts, kind):
    """The last axes reduced to the given sizes, one after the other: what each window has, by enumeration."""
    for axis, count in zip(range(-len(counts), 0), counts, strict=True):
        extent, parts = values.shape[axis], []
        for p in range(count):  # an element is in a window if any part of it lies there
            inside = [i for i in range(extent) if (i + 1) * count > p * extent and i * count < (p + 1) * extent]
            window = np.take(values, inside, axis)
            parts.append(window.max(axis) if kind == "MAX" else window.mean(axis))
        values = np.stack(parts, axis)
    return values


def adaptive_pool(inputs, params, attributes):
    return {"y": evenly(inputs["x"], (attributes["size_y"], attributes["size"]), attributes["pool_type"])}


def adaptive_pool1d(inputs, params, attributes):
    return {"y": evenly(inputs["x"], (attributes["size"],), attributes["pool_type"])}


def adaptive_pool3d(inputs, params, attributes):
    sizes = attributes["size"]
    return {"y": evenly(inputs["x"], sizes * 3 if len(sizes) == 1 else sizes, attributes["pool_type"])}


def maxout(inputs, params, attributes):
    x, count = inputs["x"], attributes["groups"]
    return {"y": np.stack([x[:, k : k + count].max(axis=1) for k in range(0, x.shape[1], count)], axis=1)}


REFERENCES = {
    "maxout": maxout,
    "pool": pool, "stochastic_pool": stochastic_pool, "adaptive_pool": adaptive_pool,
    "adaptive_pool1d": adaptive_pool1d, "adaptive_pool3d": adaptive_pool3d,
}  # fmt: skip
