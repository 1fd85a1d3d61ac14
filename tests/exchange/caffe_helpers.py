"""Caffe's files and numbers for the tests, independent of what reads them: wire bytes, and formulas in NumPy."""

from __future__ import annotations

import math
import struct

import numpy as np

from paddle_layers.define import Type
from paddle_layers.exchange.caffe_in.importing import import_prototxt

# ---- protobuf's wire format


def varint(number):
    number %= 1 << 64
    found = b""
    while number > 127:
        found += bytes([number % 128 + 128])
        number //= 128
    return found + bytes([number])


def entry(number, content):
    """A field with bytes, or with a whole number."""
    if isinstance(content, int):
        return varint(number * 8) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number * 8 + 2) + varint(len(content)) + content


def blob(array, *, legacy=False, packed=True, double=False):
    """A blob: of today, with a shape, or an old one with four axes; its numbers in one piece, or one by one."""
    array = np.asarray(array, np.float32)
    if legacy:
        sizes = (1, 1, 1, 1, *array.shape)[-4:]
        found = b"".join(entry(number, size) for number, size in enumerate(sizes, 1))
    else:
        found = entry(7, entry(1, b"".join(map(varint, array.shape))))
    number, kind = (8, "<f8") if double else (5, "<f4")
    if packed:
        return found + entry(number, array.astype(kind).tobytes())
    return found + b"".join(varint(number * 8 + 5) + struct.pack("<f", one) for one in array.flat)


def model(layers, *, old=False, **options):
    """A caffemodel: arrays of each layer by name."""
    found = entry(1, "made")
    for name, arrays in layers.items():
        blobs = b"".join(entry(6 if old else 7, blob(array, **options)) for array in arrays)
        found += entry(2 if old else 100, entry(4 if old else 1, name) + blobs)
    return found


# ---- what Caffe computes


def conv(x, weight, bias, stride=1, pad=0, groups=1):
    n, _, h, w = x.shape
    filters, depth, a, b = weight.shape
    padded = np.zeros((n, x.shape[1], h + 2 * pad, w + 2 * pad))
    padded[:, :, pad : pad + h, pad : pad + w] = x
    rows, columns = (h + 2 * pad - a) // stride + 1, (w + 2 * pad - b) // stride + 1
    y = np.zeros((n, filters, rows, columns))
    for f in range(filters):
        first = f // (filters // groups) * depth
        for p in range(rows):
            for q in range(columns):
                window = padded[:, first : first + depth, p * stride : p * stride + a, q * stride : q * stride + b]
                y[:, f, p, q] = (window * weight[f]).sum((1, 2, 3)) + bias[f]
    return y


def pool(x, kernel, stride, pad, kind):
    """Rounded up; a mean is divided by what of the window lies in the image and its padding."""
    n, c, h, w = x.shape
    sizes = []
    for size in (h, w):
        found = math.ceil((size + 2 * pad - kernel) / stride) + 1
        if pad and (found - 1) * stride >= size + pad:
            found -= 1
        sizes.append(found)
    y = np.zeros((n, c, *sizes))
    for p in range(sizes[0]):
        for q in range(sizes[1]):
            top, left = p * stride - pad, q * stride - pad
            bottom, right = min(top + kernel, h + pad), min(left + kernel, w + pad)
            count = (bottom - top) * (right - left)
            inside = x[:, :, max(top, 0) : min(bottom, h), max(left, 0) : min(right, w)]
            y[:, :, p, q] = inside.max((2, 3)) if kind == "MAX" else inside.sum((2, 3)) / count
    return y


def lrn(x, size, alpha, beta, k, region="ACROSS_CHANNELS"):
    y, half = np.zeros_like(x), (size - 1) // 2
    _, channels, h, w = x.shape
    for c in range(channels):
        if region == "ACROSS_CHANNELS":
            total = (x[:, max(0, c - half) : c + half + 1] ** 2).sum(1)
            y[:, c] = x[:, c] * (k + alpha / size * total) ** -beta
            continue
        for i in range(h):
            for j in range(w):
                window = x[:, c, max(0, i - half) : i + half + 1, max(0, j - half) : j + half + 1]
                mean = (window**2).sum((1, 2)) / size**2
                y[:, c, i, j] = x[:, c, i, j] * (1 + alpha * mean) ** -beta
    return y


def softmax(x):
    shifted = np.exp(x - x.max(1, keepdims=True))
    return shifted / shifted.sum(1, keepdims=True)


# ---- importing


def imported(tmp_path, text, *, weights=None, mean=None, name="net.prototxt", **shapes):
    """What the text of a prototxt becomes, with the bytes of a model and of a mean."""
    (tmp_path / name).write_text(text)
    files = {}
    for key, content, file in (("weights", weights, "x.caffemodel"), ("mean", mean, "x.binaryproto")):
        if content is not None:
            (tmp_path / file).write_bytes(content)
            files[key] = tmp_path / file
    types = {key: Type.parse(shape) for key, shape in shapes.items()}
    return import_prototxt(tmp_path / name, shapes=types, **files)
