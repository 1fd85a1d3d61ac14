"""References of parts of rows and of rows with something around them."""

import numpy as np


def spread(values, axes, rank, absent):
    """A number for each axis, the rows first."""
    found = [absent] * rank
    for axis, value in zip(axes, list(values) * (len(axes) if len(values) == 1 else 1), strict=True):
        found[axis] = value
    return found


def crop(inputs, params, attributes):
    x, like = inputs["x"], inputs["like"]
    axes = attributes["axes"] or range(1, x.ndim)
    begin, steps = (spread(attributes[n] or [i], axes, x.ndim, i) for i, n in enumerate(("begin", "steps")))
    sizes = [like.shape[axis] for axis in axes] if like is not None else attributes["sizes"]
    part = x[tuple(slice(first, None, step) for first, step in zip(begin, steps, strict=True))]
    return {"y": part if sizes is None else part[tuple(map(slice, spread(sizes, axes, x.ndim, None)))]}


def pad(inputs, params, attributes):
    x, begin = inputs["x"], attributes["begin"]
    axes = attributes["axes"] or range(1, x.ndim)
    before = spread(begin, axes, x.ndim, 0)
    behind = spread(begin if attributes["end"] is None else attributes["end"], axes, x.ndim, 0)
    options = {"constant_values": attributes["value"]} if attributes["mode"] == "CONSTANT" else {}
    return {"y": np.pad(x, list(zip(before, behind, strict=True)), attributes["mode"].lower(), **options)}


def random_crop(inputs, params, attributes):
    if attributes["training"]:
        return {"y": None}
    x = inputs["x"]
    rows, columns = (
        slice((extent - size) // 2, (extent - size) // 2 + size)
        for extent, size in zip(x.shape[2:], (attributes["size_y"], attributes["size"]), strict=True)
    )
    return {"y": x[:, :, rows, columns]}


REFERENCES = {"random_crop": random_crop, "crop": crop, "pad": pad}
