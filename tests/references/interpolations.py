"""Images in another size or at other positions, as products with a matrix for each axis."""

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


def cubic(distance):
    """The convolution kernel of Keys (1981), piecewise on the distances 0 to 1 and 1 to 2."""
    d, a = np.abs(distance), -0.75
    near, far = (a + 2) * d**3 - (a + 3) * d**2 + 1, a * (d**3 - 5 * d**2 + 8 * d - 4)
    return np.select([d <= 1, d < 2], [near, far], 0.0)


def mirrored(place, low, high):
    """A coordinate reflected at both ends until it is between them."""
    if high <= low:
        return 0.0
    while not low <= place <= high:
        place = 2 * low - place if place < low else 2 * high - place
    return place


def shares(places, extent, attributes):
    """What each pixel of an axis adds at each place: by the kernel on an axis that is longer at both ends."""
    mode, padding, aligned = (attributes[name] for name in ("mode", "padding_mode", "align_corners"))
    if mode == "NEAREST":
        if padding == "REFLECTION":
            low, high = (0, extent - 1) if aligned else (-0.5, extent - 0.5)
            places = np.vectorize(lambda place: mirrored(place, low, high))(places)
        if padding != "ZEROS":
            places = np.clip(places, 0, extent - 1)
        return 1.0 * (np.rint(places)[..., None] == np.arange(extent))
    reach = 2 * extent + 4
    styles = {"ZEROS": "constant", "BORDER": "edge", "REFLECTION": "reflect" if aligned else "symmetric"}
    settings = {"constant_values": -1} if padding == "ZEROS" else {}
    sources = np.pad(np.arange(extent), reach, mode=styles[padding], **settings)
    distance = places[..., None] - np.arange(-reach, extent + reach)
    weights = cubic(distance) if mode == "BICUBIC" else np.maximum(1 - np.abs(distance), 0)
    return weights @ (sources[:, None] == np.arange(extent))


def grid_sample(inputs, params, attributes):
    x, grid = inputs["x"], inputs["grid"]
    matrices = []
    for extent, at in zip(x.shape[2:], (1, 0), strict=True):
        if attributes["align_corners"]:
            places = (grid[..., at] + 1) / 2 * (extent - 1)
        else:
            places = ((grid[..., at] + 1) * extent - 1) / 2
        matrices.append(shares(places, extent, attributes))
    return {"y": np.einsum("nchw,npqh,npqw->ncpq", x, *matrices)}


REFERENCES = {"bilinear_interp": bilinear_interp, "nearest_interp": nearest_interp, "grid_sample": grid_sample}
