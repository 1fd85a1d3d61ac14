"""Resizing of images, and sampling at given positions, by interpolation."""

import math

from paddle_layers.define import (
    Bool,
    Choice,
    Example,
    Input,
    Int,
    Output,
    each,
    gradient,
    helper,
    infer,
    layer,
    onnx,
    real,
    require,
)

CORNERS = {
    "ALIGNED": "align the centers of the corner pixels: pixel `p` is at `p * (H - 1) / (P - 1)`, from 0 if `P` is 1",
    "HALF_PIXEL": "align the edges: pixel `p` is at `(p + 0.5) * H / P - 0.5`, within the image",
}
"""Vertical coordinate in the input of a pixel of the output; horizontal likewise."""


@layer(
    "bilinear_interp",
    elsewhere={
        "Paddle": "bilinear_interp",
        "ONNX": "Resize",
        "Keras": "UpSampling2D, Resizing",
        "PyTorch": "Upsample",
    },
    terms=("bilinear interpolation", "resize", "upsampling", "interpolate"),
    since=1,
)
class BilinearInterp:
    """Bilinear interpolation: resizes images to a given size or by a scale factor.

    A pixel `(p, q)` of the output corresponds to the coordinates `(u, v)` of the input, depending on `corners`. With
    `h = floor(u)`, `w = floor(v)`, `s = u - h` and `t = v - w`

    `y[p, q] = (1 - s) * ((1 - t) * x[h, w] + t * x[h, w + 1]) + s * ((1 - t) * x[h + 1, w] + t * x[h + 1, w + 1])`

    `ALIGNED` is Paddle's rule and PyTorch's `align_corners=True`, `HALF_PIXEL` the default of PyTorch, Keras and ONNX.
    Downscaling applies no antialiasing filter.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2))
    y = Output("N C P Q", "the resized images")
    out_size = Int("output width", min=1, optional=True, aliases=("out_size_x",))
    out_size_y = Int("output height", min=1, optional=True, default_from="out_size")
    scale = Int("horizontal scale factor", min=1, optional=True)
    scale_y = Int("vertical scale factor", min=1, optional=True, default_from="scale")
    corners = Choice("coordinate transformation", options=CORNERS, default="ALIGNED")
    examples = (
        Example(x="2x3x4", out_size=7, out_size_y=5),
        Example(x="1x5x4", out_size=3, corners="HALF_PIXEL"),
        Example(x="2x2x3", scale=2, scale_y=3, corners="HALF_PIXEL"),
        Example(x="sequence of 1x4x4", out_size=1, out_size_y=2),
    )


@infer(BilinearInterp)
def bilinear_interp_sizes(H, W, out_size, out_size_y, scale, scale_y):
    return {
        "P": resized(H, out_size_y, scale_y, "out_size_y", "scale_y", "rows"),
        "Q": resized(W, out_size, scale, "out_size", "scale", "columns"),
    }


def resized(extent: int, size: int | None, scale: int | None, of_size: str, of_scale: str, unit: str) -> int:
    """Pixels along an axis of the result, by one of the two attributes."""
    both = f"give `{of_size}` or `{of_scale}` for the {unit}"
    require(size is not None or scale is not None, of_size, both)
    require(size is None or scale is None, of_scale, f"{both}, not both")
    return extent * scale if scale is not None else size or 1


@helper
def place(p, extent, count, aligned):
    """Coordinate of pixel `p` of `count` along an axis of `extent` pixels."""
    if aligned:
        # A single pixel of the result is at 0 instead of 0 / 0.
        return real(p) * (real(extent - 1) / real(max(count - 1, 1)))
    # Positions before the first and after the last pixel center take the edge.
    return min(max((real(p) + 0.5) * (real(extent) / real(count)) - 0.5, 0.0), real(extent - 1))


@helper
def below(place, extent):
    """The pixel at a place or before it; rounding never leads out of the image."""
    return min(int(place), extent - 1)


@helper
def share(p, h, extent, count, aligned):
    """What pixel `h` of the image adds to pixel `p` of the result, along an axis."""
    at = place(p, extent, count, aligned)
    first = below(at, extent)
    s = at - real(first)
    total = 0.0
    # At the edge both terms are the same pixel, and their weights add up.
    if h == first:
        total += 1.0 - s
    if h == min(first + 1, extent - 1):
        total += s
    return total


@helper
def first_reached(h, extent, count, aligned):
    """A pixel of the result before all that pixel `h` adds to; rounding is made up for by two pixels more."""
    if aligned:
        return max(int(real(h - 1) * (real(count - 1) / real(max(extent - 1, 1)))) - 2, 0)
    return max(int((real(h) - 0.5) * (real(count) / real(extent)) - 0.5) - 2, 0)


@helper
def last_reached(h, extent, count, aligned):
    """End (exclusive) of the output pixels that read pixel `h`."""
    if aligned:
        return min(int(real(h + 1) * (real(count - 1) / real(max(extent - 1, 1)))) + 3, count)
    return min(int((real(h) + 1.5) * (real(count) / real(extent)) - 0.5) + 3, count)


@each(BilinearInterp.y)
def bilinear_interp_y(n, c, p, q, x, H, W, P, Q, corners):
    u = place(p, H, P, corners == "ALIGNED")
    v = place(q, W, Q, corners == "ALIGNED")
    h, w = below(u, H), below(v, W)
    s, t = u - real(h), v - real(w)
    after, right = min(h + 1, H - 1), min(w + 1, W - 1)
    above = (1.0 - t) * x[n, c, h, w] + t * x[n, c, h, right]
    under = (1.0 - t) * x[n, c, after, w] + t * x[n, c, after, right]
    return (1.0 - s) * above + s * under


@gradient(BilinearInterp.x)
def bilinear_interp_dx(n, c, h, w, dy, H, W, P, Q, corners):
    total = 0.0
    aligned = corners == "ALIGNED"
    for p in range(first_reached(h, H, P, aligned), last_reached(h, H, P, aligned)):
        s = share(p, h, H, P, aligned)
        if s != 0.0:
            for q in range(first_reached(w, W, Q, aligned), last_reached(w, W, Q, aligned)):
                total += s * share(q, w, W, Q, aligned) * dy[n, c, p, q]
    return total


@onnx(BilinearInterp)
def bilinear_interp_onnx(graph, x, P, Q, corners):
    mode = "align_corners" if corners == "ALIGNED" else "half_pixel"
    return graph.Resize(
        x, None, None, graph.constant([P, Q]), axes=[2, 3], mode="linear", coordinate_transformation_mode=mode
    )


@layer(
    "nearest_interp",
    elsewhere={"ONNX": "Resize, Upsample", "Keras": "UpSampling2D", "PyTorch": "Upsample, UpsamplingNearest2d"},
    terms=("nearest-neighbor interpolation", "resize", "upsampling", "interpolate"),
    since=1,
)
class NearestInterp:
    """Nearest-neighbor interpolation: resizes images to a given size or by a scale factor.

    `y[p, q] = x[floor(p * H / P), floor(q * W / Q)]`

    as `nearest` in PyTorch and Keras. With `scale: 2` every pixel becomes a square of four.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2))
    y = Output("N C P Q", "the resized images")
    out_size = Int("output width", min=1, optional=True, aliases=("out_size_x",))
    out_size_y = Int("output height", min=1, optional=True, default_from="out_size")
    scale = Int("horizontal scale factor", min=1, optional=True)
    scale_y = Int("vertical scale factor", min=1, optional=True, default_from="scale")
    examples = (
        Example(x="2x2x3", scale=2),
        Example(x="1x5x4", out_size=3, out_size_y=7),
        Example(x="sequence of 1x3x2", out_size=1),
    )


infer(NearestInterp)(bilinear_interp_sizes)


@each(NearestInterp.y)
def nearest_interp_y(n, c, p, q, x, H, W, P, Q):
    return x[n, c, p * H // P, q * W // Q]


@gradient(NearestInterp.x)
def nearest_interp_dx(n, c, h, w, dy, H, W, P, Q):
    total = 0.0
    # Rounded up: the first pixel of the result whose floor reaches this pixel, and the first beyond.
    for p in range((h * P + H - 1) // H, ((h + 1) * P + H - 1) // H):
        for q in range((w * Q + W - 1) // W, ((w + 1) * Q + W - 1) // W):
            total += dy[n, c, p, q]
    return total


@onnx(NearestInterp)
def nearest_interp_onnx(graph, x, P, Q):
    return graph.Resize(
        x, None, None, graph.constant([P, Q]), axes=[2, 3],
        mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric",
    )  # fmt: skip


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
