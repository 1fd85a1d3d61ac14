"""Adaptive pooling: pooling to a given output size."""

from paddle_layers.define import (
    Choice,
    Example,
    Input,
    Int,
    Ints,
    Output,
    Temp,
    body,
    each,
    gradient,
    helper,
    infer,
    layer,
    onnx,
    real,
)
from paddle_layers.layers.helpers import exceeds
from paddle_layers.layers.images.conv1d import as_image, as_signal
from paddle_layers.layers.images.conv3d import each_axis

KINDS = {"MAX": "its maximum", "AVERAGE": "its mean"}


@layer(
    "adaptive_pool",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={
        "PyTorch": "AdaptiveMaxPool2d, AdaptiveAvgPool2d",
        "Keras": "AdaptiveMaxPooling2D, AdaptiveAveragePooling2D",
    },
    terms=("2-D adaptive pooling", "adaptive average pooling", "adaptive max pooling"),
    since=1,
)
class AdaptivePool:
    """2-D adaptive pooling: maximum or average pooling to a given output size.

    Of `H` rows, window `p` of `P` contains those from `floor(p * H / P)` up to, but not including,
    `ceil((p + 1) * H / P)`, columns likewise, as in PyTorch: every pixel is in a window, and if `P` does not divide
    `H`, neighboring windows share a row. There may be more windows than rows. NaN and equal maxima are handled as in
    `pool`, which is equivalent if the sizes divide evenly, and with `global_pooling` for a single window.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2), kinks=("ties",))
    y = Output("N C P Q", "one value per window")
    size = Int("output width", min=1, axis="Q")
    size_y = Int("output height", min=1, default_from="size", axis="P")
    pool_type = Choice("type of pooling", options=KINDS, default="MAX")
    where = Temp("N C P Q", "index of the maximum, h * W + w", kind="INT")
    examples = (
        Example(x="2x5x7", size=3, size_y=2),
        Example(x="1x4x6", size=3, size_y=2, pool_type="AVERAGE"),
        Example(x="2x3x5", size=4, pool_type="AVERAGE", act="relu"),
        Example(x="2x3x2", size=1),
        Example(x="sequence of 1x3x4", size=1, pool_type="AVERAGE"),
    )


@helper
def window_start(p, count, extent):
    """First pixel of window `p` of `count` along an axis; for `p = count`, the end of the axis."""
    return p * extent // count


@helper
def window_end(p, count, extent):
    """End (exclusive) of window `p` of `count` along an axis."""
    # Rounded up in integers: a float quotient may round to the wrong pixel.
    return ((p + 1) * extent + count - 1) // count


@each(AdaptivePool.where)
def adaptive_pool_where(n, c, p, q, x, H, W, P, Q):
    where, largest = -1, 0.0
    for h in range(window_start(p, P, H), window_end(p, P, H)):
        # -1 marks that no pixel was read: a value such as minus infinity may itself be the maximum.
        for w in range(window_start(q, Q, W), window_end(q, Q, W)):
            if where < 0 or exceeds(x[n, c, h, w], largest):
                where, largest = h * W + w, x[n, c, h, w]
    return where


@each(AdaptivePool.y)
def adaptive_pool_y(n, c, p, q, x, where, H, W, P, Q, pool_type):
    if pool_type == "MAX":
        return x[n, c, where[n, c, p, q] // W, where[n, c, p, q] % W]
    total = 0.0
    rows = window_end(p, P, H) - window_start(p, P, H)
    columns = window_end(q, Q, W) - window_start(q, Q, W)
    for h in range(window_start(p, P, H), window_end(p, P, H)):
        for w in range(window_start(q, Q, W), window_end(q, Q, W)):
            total += x[n, c, h, w]
    return total / real(rows * columns)


@gradient(AdaptivePool.x)
def adaptive_pool_dx(n, c, h, w, dy, where, H, W, P, Q, pool_type):
    total = 0.0
    # windows that have a pixel are to the pixels what pixels of a window are to the windows
    for p in range(window_start(h, H, P), window_end(h, H, P)):
        for q in range(window_start(w, W, Q), window_end(w, W, Q)):
            if pool_type == "MAX":
                if where[n, c, p, q] == h * W + w:
                    total += dy[n, c, p, q]
            else:
                rows = window_end(p, P, H) - window_start(p, P, H)
                columns = window_end(q, Q, W) - window_start(q, Q, W)
                total += dy[n, c, p, q] / real(rows * columns)
    return total


@onnx(AdaptivePool)
def adaptive_pool_onnx(graph, x, H, W, P, Q, pool_type):
    """A single pooling node if all windows have equal sizes; otherwise slices of rows, then of columns."""
    if P == Q == 1:
        return graph.GlobalMaxPool(x) if pool_type == "MAX" else graph.GlobalAveragePool(x)
    if H % P == 0 and W % Q == 0:
        window = {"kernel_shape": [H // P, W // Q], "strides": [H // P, W // Q]}
        return graph.MaxPool(x, **window) if pool_type == "MAX" else graph.AveragePool(x, **window)
    for axis, count, extent in ((2, P, H), (3, Q, W)):
        parts = [(window_start(p, count, extent), window_end(p, count, extent)) for p in range(count)]
        cuts = [graph.Slice(x, [start], [end], [axis]) for start, end in parts]
        reduced = [
            graph.ReduceMax(cut, [axis], keepdims=1)
            if pool_type == "MAX"
            else graph.ReduceMean(cut, [axis], keepdims=1)
            for cut in cuts
        ]
        x = graph.Concat(*reduced, axis=axis)
    return x


@layer(
    "adaptive_pool1d",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={
        "PyTorch": "AdaptiveMaxPool1d, AdaptiveAvgPool1d",
        "Keras": "AdaptiveMaxPooling1D, AdaptiveAveragePooling1D",
    },
    terms=("1-D adaptive pooling",),
    since=1,
)
class AdaptivePool1d:
    """1-D adaptive pooling: maximum or average pooling to a given output length.

    It consists of an `adaptive_pool` on images of one row.
    """

    x = Input("N C W", "1-D signals: channels, length", seq=(0, 1, 2), kinks=("ties",))
    y = Output("N C Q", "one value per window")
    size = Int("output length", min=1, axis="Q")
    pool_type = Choice("type of pooling", options=KINDS, default="MAX")
    examples = (
        Example(x="2x7", size=3),
        Example(x="1x6", size=4, pool_type="AVERAGE", act="relu"),
        Example(x="sequence of 2x4", size=2),
    )


@body(AdaptivePool1d)
def adaptive_pool1d_body(net, x, size, pool_type):
    return as_signal(net, net.adaptive_pool(as_image(net, x), size=size, size_y=1, pool_type=pool_type, name="pool"))


@layer(
    "adaptive_pool3d",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={
        "PyTorch": "AdaptiveMaxPool3d, AdaptiveAvgPool3d",
        "Keras": "AdaptiveMaxPooling3D, AdaptiveAveragePooling3D",
    },
    terms=("3-D adaptive pooling",),
    since=1,
)
class AdaptivePool3d:
    """3-D adaptive pooling: maximum or average pooling to a given output size.

    It consists of an `adaptive_pool` of every plane and one along the depth: maxima of maxima, means of means. `size`
    is a list in the order depth, height, width, or one value for all.
    """

    x = Input("N C Z H W", "3-D volumes: channels, depth, height, width", seq=(0, 1, 2), kinks=("ties",))
    y = Output("N C R P Q", "one value per window")
    size = Ints("output size along each axis", min=1, min_items=1, max_items=3)
    pool_type = Choice("type of pooling", options=KINDS, default="MAX")
    examples = (
        Example(x="2x3x5x4", size=[2, 3, 2]),
        Example(x="1x4x3x2", size=[3, 2, 4], pool_type="AVERAGE", act="relu"),
        Example(x="sequence of 1x3x2x3", size=[2]),
    )


@infer(AdaptivePool3d)
def adaptive_pool3d_sizes(size):
    return dict(zip("RPQ", each_axis(size, "size"), strict=True))


@body(AdaptivePool3d)
def adaptive_pool3d_body(net, x, size, pool_type):
    channels, depth, height, width = x.type.dims
    planes, rows, columns = each_axis(size, "size")
    # Windows are products of ranges, so that planes and depth are pooled one after the other.
    x = net.reshape(x, dims=[channels * depth, height, width], name="planes")
    x = net.adaptive_pool(x, size=columns, size_y=rows, pool_type=pool_type, name="plane_pool")
    x = net.reshape(x, dims=[channels, depth, rows * columns], name="pooled_planes")
    x = net.adaptive_pool(x, size=rows * columns, size_y=planes, pool_type=pool_type, name="depth_pool")
    return net.reshape(x, dims=[channels, planes, rows, columns], name="volume")
