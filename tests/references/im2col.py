"""References of windows that are taken out of images: cut from the padded image, or pooled bin by bin."""

import math

import numpy as np


def cut(x, size, stride, gap, around):
    """The elements under each window, channels first: (rows, channels, window, windows along both axes)."""
    x = np.pad(x, ((0, 0), (0, 0), *around))
    counts = [
        (extent - (s - 1) * g - 1) // step + 1
        for extent, s, g, step in zip(x.shape[2:], size, gap, stride, strict=True)
    ]
    parts = []
    for a, b in np.ndindex(*size):
        top, left = a * gap[0], b * gap[1]
        part = x[:, :, top :: stride[0], left :: stride[1]]
        parts.append(part[:, :, : counts[0], : counts[1]])
    return np.stack(parts, axis=2)


def im2col(inputs, params, attributes):
    size, stride, gap, ahead, behind = (
        (attributes[f"{name}_y"], attributes[name])
        for name in ("filter_size", "stride", "dilation", "padding", "padding_end")
    )
    y = cut(inputs["x"], size, stride, gap, list(zip(ahead, behind, strict=True)))
    return {"y": y.reshape(len(y), -1, *y.shape[3:])}


def block_expand(inputs, params, attributes):
    x = inputs["x"]
    size, stride, padding = ((attributes[f"{name}_y"], attributes[name]) for name in ("block", "stride", "padding"))
    counts = [
        1 + max(math.ceil((extent + 2 * p - b) / s), 0)
        for extent, b, s, p in zip(x.shape[2:], size, stride, padding, strict=True)
    ]
    rows = []
    for image in x:
        for top, left in np.ndindex(*counts):
            block = np.zeros((len(image), *size))
            for (c, h, w), value in np.ndenumerate(image):
                a, b = h - top * stride[0] + padding[0], w - left * stride[1] + padding[1]
                if 0 <= a < size[0] and 0 <= b < size[1]:
                    block[c, a, b] = value
            rows.append(block.reshape(-1))
    width = x.shape[1] * math.prod(size)
    return {"y": np.array(rows).reshape(-1, width), "lengths": [math.prod(counts)] * len(x)}


def spp(inputs, params, attributes):
    x, parts = inputs["x"], []
    reduce = np.max if attributes["pool_type"] == "MAX" else np.mean
    for level in range(attributes["pyramid_height"]):
        runs = []
        for extent in x.shape[2:]:
            size = math.ceil(extent / 2**level)
            first = -((size * 2**level - extent + 1) // 2)
            runs.append([slice(max(first + i * size, 0), first + (i + 1) * size) for i in range(2**level)])
        bins = [[reduce(x[:, :, rows, columns], axis=(2, 3)) for columns in runs[1]] for rows in runs[0]]
        parts.append(np.array(bins).transpose(2, 3, 0, 1).reshape(len(x), -1))
    return {"y": np.hstack(parts)}


REFERENCES = {"im2col": im2col, "block_expand": block_expand, "spp": spp}
