"""Region of interest (RoI) pooling."""

from paddle_layers.define import (
    Bool,
    Example,
    Float,
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
)
from paddle_layers.layers.helpers import exceeds

from .boxes import CORNERS, check_corners

FAR = 1e6
"""Limit of pixel coordinates: boxes beyond it are outside of any image."""
MOST = 1024
"""Maximum number of adaptive sampling points per bin and axis, which bounds the time for boxes of any size."""
FLOAT = 1
"""FLOAT as a target type of ONNX's Cast."""


@helper
def nearest_pixel(v):
    """Rounds to the nearest integer, halves away from zero."""
    # Beyond the range of integers a conversion is undefined.
    v = min(max(v, -FAR), FAR)
    return int(v + 0.5) if v >= 0.0 else -int(0.5 - v)


@helper
def bin_start(p, count, first, last, extent):
    """First pixel of bin `p` of `count` between two pixels, within an axis of `extent` pixels."""
    # A box whose end is before its start has one pixel, as in Fast R-CNN.
    return min(max(first + p * max(last - first + 1, 1) // count, 0), extent)


@helper
def bin_end(p, count, first, last, extent):
    """End (exclusive) of a bin; adjacent bins share the pixel that contains their border."""
    return min(max(first + ((p + 1) * max(last - first + 1, 1) + count - 1) // count, 0), extent)


@layer(
    "roi_pool",
    elsewhere={"Paddle": "roi_pool", "ONNX": "MaxRoiPool"},
    terms=("RoI max pooling", "region of interest pooling", "RoI"),
    since=1,
)
class RoiPool:
    """Region of interest (RoI) max pooling: pools each box to a grid of fixed size (Girshick 2015, Fast R-CNN).

    The corners `x1, y1, x2, y2` of a box times `spatial_scale` are rounded to pixels of the feature map, inclusive. Of
    its `h` rows, bin `p` of `P` contains those from `floor(p * h / P)` up to, but not including,
    `ceil((p + 1) * h / P)`, columns likewise. Every value is the maximum of its bin, 0 if the bin is outside of the
    map.

    The boxes of an image are a sequence, where Paddle and ONNX have the index of the image in a column before the
    corners. Paddle returns 0 for a bin of negative values. Boxes have no gradient. `roi_align` does not round
    coordinates.
    """

    x = Input("N C H W", "feature map")
    box = Input("R:N K", "corners of each region of interest, in pixels divided by `spatial_scale`", seq=(1,))
    y = Output("R:N C P Q", "pooled features of each region")
    pooled_width = Int("output width", min=1, axis="Q")
    pooled_height = Int("output height", min=1, default_from="pooled_width", axis="P")
    spatial_scale = Float("scale from box coordinates to the feature map", default=1.0, above=0)
    where = Temp("R:N C P Q", "index of the maximum, `h * W + w`, or -1", kind="INT")
    examples = (
        Example(x="2x3x5", box="sequence of 4", pooled_width=2, pooled_height=1, spatial_scale=2.0),
        Example(x="1x3x2", box="sequence of 4", pooled_width=2),
    )


@infer(RoiPool)
def roi_pool_box(K):
    check_corners(K, "box")
    return {}


@each(RoiPool.y, RoiPool.where)
def roi_pool_y(r, c, p, q, n, x, box, H, W, P, Q, spatial_scale):
    left, right = nearest_pixel(box[r, 0] * spatial_scale), nearest_pixel(box[r, 2] * spatial_scale)
    top, bottom = nearest_pixel(box[r, 1] * spatial_scale), nearest_pixel(box[r, 3] * spatial_scale)
    # A bin outside of the map has no pixel, and its value is 0.
    best = 0.0
    where = -1
    for h in range(bin_start(p, P, top, bottom, H), bin_end(p, P, top, bottom, H)):
        for w in range(bin_start(q, Q, left, right, W), bin_end(q, Q, left, right, W)):
            if where < 0 or exceeds(x[n, c, h, w], best):
                best = x[n, c, h, w]
                where = h * W + w
    return best, where


@gradient(RoiPool.x)
def roi_pool_dx(n, c, h, w, dy, where, box, R_start, H, W, P, Q, spatial_scale):
    total = 0.0
    for r in range(R_start[n], R_start[n + 1]):
        left, right = nearest_pixel(box[r, 0] * spatial_scale), nearest_pixel(box[r, 2] * spatial_scale)
        top, bottom = nearest_pixel(box[r, 1] * spatial_scale), nearest_pixel(box[r, 3] * spatial_scale)
        for p in range(P):
            if bin_start(p, P, top, bottom, H) <= h < bin_end(p, P, top, bottom, H):
                for q in range(Q):
                    if bin_start(q, Q, left, right, W) <= w < bin_end(q, Q, left, right, W):
                        total += dy[r, c, p, q] if where[r, c, p, q] == h * W + w else 0.0
    return total


@layer(
    "roi_align",
    elsewhere={"ONNX": "RoiAlign", "PyTorch": "RoIAlign"},
    terms=("RoI align", "region of interest align"),
    since=1,
)
class RoiAlign:
    """RoI align: pools each box to a grid of fixed size by bilinear interpolation (He et al. 2017, Mask R-CNN).

    The corners `x1, y1, x2, y2` of a box times `spatial_scale` are coordinates in the feature map; with `aligned`, half
    a pixel is subtracted from them, so that pixel centers are at integers. The box is divided into `P` rows of `Q`
    bins. Each value is the mean over `sampling_ratio` by `sampling_ratio` points, evenly spaced in a bin; 0 uses as
    many as a bin has pixels, rounded up, but at most 1024. A point has the bilinear interpolation of the four pixels
    around it; less than a pixel outside the map it has the value of the border, further away 0. Without `aligned` no
    box is smaller than a pixel, as in the first version of the layer.

    The boxes of an image are a sequence; PyTorch and ONNX have the index of the image with each. Boxes have no
    gradient.
    """

    x = Input("N C H W", "feature map")
    box = Input("R:N K", "corners of each region of interest, in pixels divided by `spatial_scale`", seq=(1,))
    y = Output("R:N C P Q", "pooled features of each region")
    pooled_width = Int("output width", min=1, axis="Q")
    pooled_height = Int("output height", min=1, default_from="pooled_width", axis="P")
    spatial_scale = Float("scale from box coordinates to the feature map", default=1.0, above=0)
    sampling_ratio = Int("number of sampling points per bin and axis; 0: adaptive", default=0, min=0)
    aligned = Bool("align pixel centers with integer coordinates", default=True)
    rows = Temp("R:N P H", "vertical interpolation weights")
    columns = Temp("R:N Q W", "horizontal interpolation weights")
    examples = (
        Example(x="2x3x4", box="sequence of 4", pooled_width=2, pooled_height=1, spatial_scale=2.0, sampling_ratio=2),
        Example(x="1x3x2", box="sequence of 4", pooled_width=1, pooled_height=2, aligned=False),
    )


infer(RoiAlign)(roi_pool_box)


@helper
def bin_size(low, high, count, scale, aligned):
    """How many pixels a bin has along an axis."""
    size = (high - low) * scale
    # The first version of the layer has no box smaller than a pixel; an aligned one may vanish.
    return (size if aligned else max(size, 1.0)) / real(count)


@helper
def places_of(size, ratio):
    """How many places of a bin count along an axis."""
    whole = int(min(max(size, 0.0), real(MOST)))
    # Rounded up.
    return ratio if ratio > 0 else min(whole + (1 if size > real(whole) else 0), MOST)


@helper
def place_of_bin(p, j, places, low, size, scale, aligned):
    """Coordinate of sampling point `j` of bin `p` along an axis of the map."""
    return low * scale - (0.5 if aligned else 0.0) + (real(p) + (real(j) + 0.5) / real(places)) * size


@helper
def is_near(place, extent):
    """Whether a coordinate is inside the map, or less than a pixel outside."""
    # As in torchvision: up to one pixel outside, the border counts.
    return place >= -1.0 and place <= real(extent)


@helper
def within(place, extent):
    """The place, brought between the middles of the first and the last pixel."""
    return min(max(place, 0.0), real(extent - 1))


@helper
def share_of_bin(p, h, low, high, count, extent, scale, ratio, aligned):
    """How much of pixel `h` of an axis bin `p` takes on the average."""
    size = bin_size(low, high, count, scale, aligned)
    places = places_of(size, ratio)
    total = 0.0
    for j in range(places):
        place = place_of_bin(p, j, places, low, size, scale, aligned)
        if is_near(place, extent):
            # Linear interpolation: the weight of a pixel falls to 0 at its neighbors.
            total += max(1.0 - abs(within(place, extent) - real(h)), 0.0)
    return total / real(max(places, 1))


@each(RoiAlign.y)
def roi_align_y(r, c, p, q, n, x, box, H, W, P, Q, spatial_scale, sampling_ratio, aligned):
    tall = bin_size(box[r, 1], box[r, 3], P, spatial_scale, aligned)
    wide = bin_size(box[r, 0], box[r, 2], Q, spatial_scale, aligned)
    down, across = places_of(tall, sampling_ratio), places_of(wide, sampling_ratio)
    total = 0.0
    for i in range(down):
        u = place_of_bin(p, i, down, box[r, 1], tall, spatial_scale, aligned)
        for j in range(across):
            v = place_of_bin(q, j, across, box[r, 0], wide, spatial_scale, aligned)
            if is_near(u, H) and is_near(v, W):
                h, w = int(within(u, H)), int(within(v, W))
                s, t = within(u, H) - real(h), within(v, W) - real(w)
                # At the border the next pixel is the border itself.
                below, right = min(h + 1, H - 1), min(w + 1, W - 1)
                upper = (1.0 - t) * x[n, c, h, w] + t * x[n, c, h, right]
                lower = (1.0 - t) * x[n, c, below, w] + t * x[n, c, below, right]
                total += (1.0 - s) * upper + s * lower
    return total / real(max(down * across, 1))


@each(RoiAlign.rows)
def roi_align_rows(r, p, h, box, H, P, spatial_scale, sampling_ratio, aligned):
    return share_of_bin(p, h, box[r, 1], box[r, 3], P, H, spatial_scale, sampling_ratio, aligned)


@each(RoiAlign.columns)
def roi_align_columns(r, q, w, box, W, Q, spatial_scale, sampling_ratio, aligned):
    return share_of_bin(q, w, box[r, 0], box[r, 2], Q, W, spatial_scale, sampling_ratio, aligned)


@gradient(RoiAlign.x)
def roi_align_dx(n, c, h, w, dy, rows, columns, R_start, P, Q):
    # Weights of rows and columns are computed once per box: bilinear interpolation is separable.
    total = 0.0
    for r in range(R_start[n], R_start[n + 1]):
        for p in range(P):
            if rows[r, p, h] != 0.0:
                for q in range(Q):
                    total += rows[r, p, h] * columns[r, q, w] * dy[r, c, p, q]
    return total


@onnx(RoiPool)
def roi_pool_onnx(graph, x, box, C, P, Q, spatial_scale):
    rows, images, shape = rows_of_boxes(graph, box)
    rows = graph.Concat(graph.Unsqueeze(graph.Cast(images, to=FLOAT), [1]), rows, axis=1)
    y = graph.MaxRoiPool(x, rows, pooled_shape=[P, Q], spatial_scale=spatial_scale)
    return graph.Reshape(y, graph.Concat(shape, [C, P, Q], axis=0))


@onnx(RoiAlign)
def roi_align_onnx(graph, x, box, C, P, Q, spatial_scale, sampling_ratio, aligned):
    rows, images, shape = rows_of_boxes(graph, box)
    y = graph.RoiAlign(
        x, rows, images, output_height=P, output_width=Q, spatial_scale=spatial_scale, sampling_ratio=sampling_ratio,
        mode="avg", coordinate_transformation_mode="half_pixel" if aligned else "output_half_pixel",
    )  # fmt: skip
    return graph.Reshape(y, graph.Concat(shape, [C, P, Q], axis=0))


def rows_of_boxes(graph, box):
    """Boxes one after the other, the number of the image of each, and how many images and boxes of each there are."""
    shape = graph.Shape(box, start=0, end=2)
    count = graph.Squeeze(graph.Shape(box, start=0, end=1))
    images = graph.Reshape(graph.Expand(graph.Unsqueeze(graph.Range(0, count, 1), [1]), shape), [-1])
    return graph.Reshape(box, [-1, CORNERS]), images, shape
