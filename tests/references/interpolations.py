"""Images in another size, as products with a matrix for each axis."""

import numpy as np


def count(extent, attributes, end):
    size = attributes[f"out_size{end}"]
    return size if size is not None else extent * attributes[f"scale{end}"]


def hats(places, extent):
    """How much of each pixel a place takes: a hat function around the pixel."""
    return np.maximum(1.0 - np.abs(places[:, None] - np.arange(extent)), 0.0)


def bilinear_interp(inputs, params, attributes):
    x, matrices = inputs["x"], []
    for extent, end in zip(x.shape[2:], ("_y", ""), strict=True):
        size = count(extent, attributes, end)
        if attributes["corners"] == "ALIGNED":
            places = np.linspace(0.0, extent - 1.0, size)
        else:
            places = np.clip((np.arange(size) * 2 + 1) / (2 * size) * extent - 0.5, 0, extent - 1)
        matrices.append(hats(places, extent))
    return {"y": np.einsum("nchw,ph,qw->ncpq", x, *matrices)}


def nearest_interp(inputs, params, attributes):
    y = inputs["x"]
    for axis, end in ((2, "_y"), (3, "")):
        extent = y.shape[axis]
        y = np.take(
            y, [p * extent // count(extent, attributes, end) for p in range(count(extent, attributes, end))], axis
        )
    return {"y": y}


REFERENCES = {"bilinear_interp": bilinear_interp, "nearest_interp": nearest_interp}
