"""Convolutions by windows of the padded image and one sum of products."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def conv(inputs, params, attributes):
    a, weight, groups = attributes, params["weight"], attributes["groups"]
    x = np.pad(inputs["x"], ((0, 0), (0, 0), (a["padding_y"], a["padding_end_y"]), (a["padding"], a["padding_end"])))
    reach = ((a["filter_size_y"] - 1) * a["dilation_y"] + 1, (a["filter_size"] - 1) * a["dilation"] + 1)
    windows = sliding_window_view(x, reach, axis=(2, 3))
    windows = windows[:, :, :: a["stride_y"], :: a["stride"], :: a["dilation_y"], :: a["dilation"]]
    parts = [
        np.einsum("ncpqab,kcab->nkpq", part, filters)
        for part, filters in zip(np.split(windows, groups, axis=1), np.split(weight, groups), strict=True)
    ]
    y = np.concatenate(parts, axis=1)
    return {"y": y + params["bias"][:, None, None] if a["bias"] else y}


REFERENCES = {"conv": conv}
