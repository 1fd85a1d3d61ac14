"""References of maxima with their places, and of what puts values back there."""

import numpy as np


def max_pool_with_mask(inputs, params, attributes):
    """Windows are cut out of an image padded by minus infinity, next to one of the places."""
    x = inputs["x"]
    rows, columns = x.shape[2:]
    high, wide = attributes["pool_size_y"], attributes["pool_size"]
    down, right = attributes["stride_y"], attributes["stride"]
    above, left = attributes["padding_y"], attributes["padding"]
    borders = ((0, 0), (0, 0), (above, above + down + high), (left, left + right + wide))
    padded = np.pad(x, borders, constant_values=-np.inf)
    places = np.pad(np.arange(rows * columns).reshape(rows, columns), borders[2:], constant_values=-1)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (high, wide), axis=(2, 3))[:, :, ::down, ::right]
    places = np.lib.stride_tricks.sliding_window_view(places, (high, wide))[::down, ::right]
    counts = [
        count(extent, size, step, border, attributes["rounding"])
        for extent, size, step, border in ((rows, high, down, above), (columns, wide, right, left))
    ]
    windows, places = windows[:, :, : counts[0], : counts[1]], places[: counts[0], : counts[1]]
    flat = windows.reshape(*windows.shape[:4], -1)
    best = flat.argmax(axis=-1)
    mask = np.take_along_axis(np.broadcast_to(places.reshape(*counts, -1), flat.shape), best[..., None], axis=-1)
    return {"y": np.take_along_axis(flat, best[..., None], axis=-1)[..., 0], "mask": mask[..., 0]}


def count(extent, size, step, border, rounding):
    room = (extent + 2 * border - size) / step
    found = int(np.floor(room) if rounding == "FLOOR" else np.ceil(room)) + 1
    return found - 1 if rounding == "CEIL" and (found - 1) * step >= extent + border else found


def upsample(inputs, params, attributes):
    x, mask = inputs["x"], inputs["mask"]
    rows = attributes["upsample_size_y"] or x.shape[2] * attributes["scale_y"]
    columns = attributes["upsample_size"] or x.shape[3] * attributes["scale"]
    one_hot = mask.reshape(*mask.shape[:2], -1, 1) == np.arange(rows * columns)
    y = np.einsum("ncp,ncpm->ncm", x.reshape(*x.shape[:2], -1), one_hot)
    return {"y": y.reshape(*x.shape[:2], rows, columns)}


REFERENCES = {"max_pool_with_mask": max_pool_with_mask, "upsample": upsample}
