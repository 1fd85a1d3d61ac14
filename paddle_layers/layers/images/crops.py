"""Crops, rotation, and sampling of images at given positions."""

import math

from paddle_layers.define import (
    Bool,
    Choice,
    Example,
    Input,
    Int,
    Output,
    Temp,
    each,
    gradient,
    helper,
    infer,
    layer,
    onnx,
    real,
    require,
)
from paddle_layers.layers.helpers import uniform


@layer(
    "random_crop",
    elsewhere={"Mocha": "CropLayer", "Keras": "RandomCrop"},
    terms=("random crop", "data augmentation"),
    since=1,
)
class RandomCrop:
    """Random crop: a random window of every image in training, the central window in the test phase.

    Each image has its own position, and with `mirror` half of the images are flipped horizontally, depending on the
    seed, the step and the position in the batch; Mocha samples once per batch. Images that are fed can be cropped and
    flipped before they enter the network, by the transforms `crop` and `mirror`, which need no GPU memory; this layer
    is for images computed by a network. For windows at a given position see `crop`.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2))
    y = Output("N C P Q", "one crop per image")
    size = Int("crop width", min=1, axis="Q")
    size_y = Int("crop height", min=1, axis="P", default_from="size")
    mirror = Bool("flip half of the images horizontally in training", default=True)
    top = Temp("N", "first row of the window", kind="INT")
    left = Temp("N", "first column of the window", kind="INT")
    turned = Temp("N", "1 where the window is mirrored", kind="INT")
    examples = (
        Example(x="2x5x6", size=3),
        Example(x="1x4x4", size=2, size_y=4, mirror=False),
        Example(x="sequence of 1x3x2", size=2),
    )


@infer(RandomCrop)
def random_crop_check(H, W, size, size_y):
    require(size_y <= H, "size_y", f"a crop of {size_y} rows is larger than the image, which has {H}")
    require(size <= W, "size", f"a crop of {size} columns is larger than the image, which has {W}")
    return {}


@each(RandomCrop.top)
def random_crop_top(n, key, training, H, P):
    # Three independent random numbers per image: row, column, flip. A product may round up to the number of rows.
    return min(int(uniform(key, 3 * n) * real(H - P + 1)), H - P) if training else (H - P) // 2


@each(RandomCrop.left)
def random_crop_left(n, key, training, W, Q):
    return min(int(uniform(key, 3 * n + 1) * real(W - Q + 1)), W - Q) if training else (W - Q) // 2


@each(RandomCrop.turned)
def random_crop_turned(n, key, training, mirror):
    return 1 if training and mirror and uniform(key, 3 * n + 2) < 0.5 else 0


@each(RandomCrop.y)
def random_crop_y(n, c, p, q, x, top, left, turned, Q):
    return x[n, c, top[n] + p, left[n] + (Q - 1 - q if turned[n] == 1 else q)]


@gradient(RandomCrop.x)
def random_crop_dx(n, c, h, w, dy, top, left, turned, P, Q):
    # Each pixel looks up its place in the window: those outside of it have to become 0 as well.
    p, q = h - top[n], w - left[n]
    if p < 0 or p >= P or q < 0 or q >= Q:
        return 0.0
    return dy[n, c, p, Q - 1 - q if turned[n] == 1 else q]


@onnx(RandomCrop)
def random_crop_onnx(graph, x, H, W, P, Q):
    # ONNX models are of the test phase, where the window is central.
    top, left = (H - P) // 2, (W - Q) // 2
    return graph.Slice(x, [top, left], [top + P, left + Q], [2, 3])


@layer(
    "rotate",
    elsewhere={"Paddle": "rotate", "PyTorch": "rot90"},
    terms=("rotation", "rotation by 90 degrees"),
    since=1,
)
class Rotate:
    """Rotation of images by 90 degrees clockwise: `y[w, h] = x[H - 1 - h, w]`.

    `H` rows and `W` columns become `W` rows and `H` columns. Paddle requires `height` and `width`, which are derived
    from the input here. The transform `rotate` of a data source rotates images by a random angle.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2))
    y = Output("N C W H", "the rotated images")
    examples = (Example(x="2x3x4"), Example(x="sequence of 1x2x1"))


@each(Rotate.y)
def rotate_y(n, c, w, h, x, H):
    return x[n, c, H - 1 - h, w]


@gradient(Rotate.x)
def rotate_dx(n, c, h, w, dy, H):
    return dy[n, c, w, H - 1 - h]


@onnx(Rotate)
def rotate_onnx(graph, x, H):
    # A negative step reverses the rows; -H - 1 is the end before the first one.
    turned = graph.Slice(x, [-1], [-H - 1], [2], [-1])
    return graph.Transpose(turned, perm=[0, 1, 3, 2])


PADDINGS = {
    "ZEROS": "pixels outside of the image are 0",
    "BORDER": "pixels outside of the image equal the nearest pixel",
    "REFLECTION": "the image is mirrored at its edges: at the border pixels with `align_corners`, else at their edges",
}
FAR = 1e6
"""Limit of pixel coordinates: conversion of larger ones to integers is undefined."""
KEYS = -0.75
"""Coefficient of the bicubic kernel, as in PyTorch and ONNX."""


@helper
def floor_of(v):
    """The largest integer that is not above a coordinate."""
    whole = int(v)
    return whole - 1 if real(whole) > v else whole


@helper
def pixel_place(g, extent, align_corners):
    """Pixel coordinate of a normalized coordinate: -1 and 1 are the middles or the edges of the border pixels."""
    v = (g + 1.0) * 0.5 * real(extent - 1) if align_corners else ((g + 1.0) * real(extent) - 1.0) * 0.5
    return min(max(v, -FAR), FAR)


@helper
def padded_place(v, extent, padding_mode, align_corners):
    """The coordinate in the image that has the value of one outside."""
    if padding_mode == "ZEROS":
        return v
    if padding_mode == "REFLECTION":
        low = 0.0 if align_corners else -0.5
        span = real(extent - 1) if align_corners else real(extent)
        distance = abs(v - low)
        # An image of one pixel between aligned corners has nothing to mirror.
        turns = floor_of(distance / span) if span > 0.0 else 0
        rest = distance - real(turns) * span
        v = low + (rest if turns % 2 == 0 else span - rest) if span > 0.0 else 0.0
    return min(max(v, 0.0), real(extent - 1))


@helper
def first_tap(v, extent, mode, padding_mode, align_corners):
    """The first pixel that is read for a coordinate."""
    if mode == "NEAREST":
        near = padded_place(v, extent, padding_mode, align_corners)
        whole = floor_of(near + 0.5)
        # Half to even.
        return whole - 1 if real(whole) - near == 0.5 and whole % 2 != 0 else whole
    return floor_of(v) - (1 if mode == "BICUBIC" else 0)


@helper
def tap(i, extent, padding_mode, align_corners):
    """The pixel of the image that a pixel outside equals; -1 for zero."""
    at = padded_place(real(i), extent, padding_mode, align_corners)
    # Rounded, since a mirrored integer is one up to rounding.
    return int(at + 0.5) if at > -0.5 and at < real(extent) - 0.5 else -1


@helper
def tap_weight(d, mode):
    """Interpolation weight of a pixel at a distance."""
    d = abs(d)
    if mode == "NEAREST":
        return 1.0
    if mode == "BILINEAR":
        return max(1.0 - d, 0.0)
    if d <= 1.0:
        return ((KEYS + 2.0) * d - (KEYS + 3.0)) * d * d + 1.0
    return KEYS * (((d - 5.0) * d + 8.0) * d - 4.0)


@helper
def tap_slope(d, mode):
    """Derivative of the weight with respect to the signed distance."""
    sign = 1.0 if d >= 0.0 else -1.0
    d = abs(d)
    if mode == "NEAREST":
        return 0.0
    if mode == "BILINEAR":
        return -sign if d <= 1.0 else 0.0
    if d <= 1.0:
        return sign * (3.0 * (KEYS + 2.0) * d - 2.0 * (KEYS + 3.0)) * d
    return sign * KEYS * ((3.0 * d - 10.0) * d + 8.0)


@layer(
    "grid_sample",
    elsewhere={"ONNX": "GridSample", "PyTorch": "grid_sample"},
    terms=("spatial transformer", "bilinear sampling", "warping", "deformation"),
    since=1,
)
class GridSample:
    """Sampling of images at given positions, as in spatial transformer networks (Jaderberg et al. 2015).

    Every pixel of the output has a position in the grid, `(x, y)`, where -1 and 1 are the borders of the image: the
    middles of its border pixels with `align_corners`, otherwise their edges. In pixels, `v = (x + 1) * (W - 1) / 2` or
    `v = ((x + 1) * W - 1) / 2`, likewise `u` for `y` and `H`, and

    `y[n, c, p, q] = sum over i, j of k(u - i) * k(v - j) * x[n, c, i, j]`

    with the kernel `k` of `mode`. Both inputs have gradients; that of the grid is 0 for `NEAREST`.
    """

    x = Input("N C H W", "images: channels, height, width")
    grid = Input("N P Q K", "horizontal and vertical position of each pixel of the output", within=(-1.5, 1.5))
    y = Output("N C P Q", "the sampled images")
    mode = Choice(
        "interpolation",
        options={
            "BILINEAR": "linear between two pixels of each axis",
            "NEAREST": "the nearest pixel, half to even",
            "BICUBIC": "cubic between four pixels of each axis (Keys 1981, coefficient -0.75)",
        },
        default="BILINEAR",
    )
    padding_mode = Choice("values outside of the image", options=PADDINGS, default="ZEROS")
    align_corners = Bool("positions -1 and 1 are the middles of the border pixels, not their edges", default=False)
    examples = (
        Example(x="2x3x4", grid="2x3x2"),
        Example(x="1x4x3", grid="3x1x2", mode="NEAREST", padding_mode="BORDER"),
        Example(x="2x4x5", grid="2x2x2", mode="BICUBIC", padding_mode="REFLECTION"),
        Example(x="1x3x3", grid="1x4x2", padding_mode="REFLECTION", align_corners=True),
    )


@infer(GridSample)
def grid_sample_positions(K):
    require(K == 2, "grid", f"a position has 2 coordinates, got {K}")
    return {}


@each(GridSample.y)
def grid_sample_y(n, c, p, q, x, grid, H, W, mode, padding_mode, align_corners):
    if math.isnan(grid[n, p, q, 0] + grid[n, p, q, 1]):
        return math.nan
    u = pixel_place(grid[n, p, q, 1], H, align_corners)
    v = pixel_place(grid[n, p, q, 0], W, align_corners)
    count = 4 if mode == "BICUBIC" else 2 if mode == "BILINEAR" else 1
    top = first_tap(u, H, mode, padding_mode, align_corners)
    left = first_tap(v, W, mode, padding_mode, align_corners)
    total = 0.0
    for i in range(top, top + count):
        h = tap(i, H, padding_mode, align_corners)
        if h >= 0:
            for j in range(left, left + count):
                w = tap(j, W, padding_mode, align_corners)
                if w >= 0:
                    total += tap_weight(u - real(i), mode) * tap_weight(v - real(j), mode) * x[n, c, h, w]
    return total


@helper
def share_of_pixel(g, h, extent, mode, padding_mode, align_corners):
    """What pixel `h` of an axis adds to a pixel of the output."""
    u = pixel_place(g, extent, align_corners)
    top = first_tap(u, extent, mode, padding_mode, align_corners)
    total = 0.0
    for i in range(top, top + (4 if mode == "BICUBIC" else 2 if mode == "BILINEAR" else 1)):
        if tap(i, extent, padding_mode, align_corners) == h:
            total += tap_weight(u - real(i), mode)
    return total


@gradient(GridSample.x)
def grid_sample_dx(n, c, h, w, dy, grid, H, W, P, Q, mode, padding_mode, align_corners):
    total = 0.0
    for p in range(P):
        for q in range(Q):
            s = share_of_pixel(grid[n, p, q, 1], h, H, mode, padding_mode, align_corners)
            if s != 0.0:
                total += s * share_of_pixel(grid[n, p, q, 0], w, W, mode, padding_mode, align_corners) * dy[n, c, p, q]
    return total


@gradient(GridSample.grid)
def grid_sample_dgrid(n, p, q, k, x, grid, dy, C, H, W, mode, padding_mode, align_corners):
    u = pixel_place(grid[n, p, q, 1], H, align_corners)
    v = pixel_place(grid[n, p, q, 0], W, align_corners)
    count = 4 if mode == "BICUBIC" else 2 if mode == "BILINEAR" else 1
    top = first_tap(u, H, mode, padding_mode, align_corners)
    left = first_tap(v, W, mode, padding_mode, align_corners)
    total = 0.0
    for i in range(top, top + count):
        h = tap(i, H, padding_mode, align_corners)
        for j in range(left, left + count):
            w = tap(j, W, padding_mode, align_corners)
            if h >= 0 and w >= 0:
                down, across = u - real(i), v - real(j)
                part = tap_weight(down, mode) * tap_slope(across, mode)
                if k == 1:
                    part = tap_slope(down, mode) * tap_weight(across, mode)
                for c in range(C):
                    total += part * x[n, c, h, w] * dy[n, c, p, q]
    extent = W if k == 0 else H
    return total * 0.5 * real(extent - 1 if align_corners else extent)


@onnx(GridSample)
def grid_sample_onnx(graph, x, grid, mode, padding_mode, align_corners):
    kind = {"BILINEAR": "linear", "NEAREST": "nearest", "BICUBIC": "cubic"}[mode]
    return graph.GridSample(x, grid, mode=kind, padding_mode=padding_mode.lower(), align_corners=int(align_corners))
