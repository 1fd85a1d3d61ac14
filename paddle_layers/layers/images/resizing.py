"""Image resizing by interpolation."""

from paddle_layers.define import (
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
