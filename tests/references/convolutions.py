"""Convolutions by windows of the padded image and one sum of products; transposed ones filter by filter."""

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


def conv_trans(inputs, params, attributes):
    a, x, weight, groups = attributes, inputs["x"], params["weight"], attributes["groups"]
    rows, columns, stride_y, stride = x.shape[2], x.shape[3], a["stride_y"], a["stride"]
    spread = [(a[f"filter_size{end}"] - 1) * a[f"dilation{end}"] + 1 for end in ("_y", "")]
    whole = np.zeros((
        len(x), a["num_filters"],
        (rows - 1) * stride_y + spread[0] + a["output_padding_y"],
        (columns - 1) * stride + spread[1] + a["output_padding"],
    ))  # fmt: skip
    parts = zip(np.split(x, groups, 1), np.split(weight, groups), np.split(whole, groups, 1), strict=True)
    for pixels, filters, result in parts:
        for h, w in np.ndindex(rows, columns):
            top, left = h * stride_y, w * stride
            stamp = np.einsum("nc,cdab->ndab", pixels[:, :, h, w], filters)
            result[:, :, top : top + spread[0] : a["dilation_y"], left : left + spread[1] : a["dilation"]] += stamp
    y = whole[:, :, a["padding_y"] : whole.shape[2] - a["padding_y"], a["padding"] : whole.shape[3] - a["padding"]]
    return {"y": y + params["bias"][:, None, None] if a["bias"] else y}


REFERENCES = {"conv": conv, "conv_trans": conv_trans}
