"""2-D pooling."""

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
from paddle_layers.layers.helpers import exceeds

ROUNDINGS = {
    "CEIL": "it is kept, unless it starts after the last element",
    "CEIL_ALL": "it is kept, even if it contains no element",
    "FLOOR": "it is dropped",
}
DIVISORS = {
    "VALID": "number of elements in the window",
    "PADDED": "number of elements and padding in the window, without what exceeds the padded input",
    "KERNEL": "window size",
}


@layer(
    "pool",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={
        "Paddle": "pool",
        "Caffe": "Pooling",
        "Mocha": "PoolingLayer",
        "KUnet": "Pool",
        "ONNX": "MaxPool, AveragePool, GlobalMaxPool, GlobalAveragePool",
        "Keras": "MaxPooling2D, AveragePooling2D, GlobalAveragePooling2D",
        "PyTorch": "MaxPool2d, AvgPool2d",
    },
    terms=(
        *("2-D pooling", "max pooling", "average pooling", "AvgPool", "global pool"),
        *("global average pooling", "GlobalAvgPool", "subsampling"),
    ),
    since=1,
)
class Pool:
    """2-D pooling: maximum (max pooling) or average (average pooling) of each window, per channel.

    Window `(p, q)` covers the rows from `p * stride_y - padding_y` on and the columns from `q * stride - padding` on,
    `pool_size_y` and `pool_size` of them. `P` is `(H + padding_y + padding_end_y - pool_size_y) / stride_y + 1`,
    rounded according to `rounding`; `padding_end` is the padding on the right and at the bottom, if it differs. As in
    Paddle, attributes ending in `_y` are vertical and those without horizontal; an absent `_y` equals its horizontal
    counterpart.

    Padding is never the maximum, NaN always is. Of equal maxima the first in row-major order receives the whole
    gradient, as in Caffe; in Paddle each of them receives it. A window without a pixel, which only `CEIL_ALL` produces,
    gives 0. For a given output size see `adaptive_pool`, for stochastic pooling `stochastic_pool`.

    Equivalent attributes for other frameworks:

    | | `rounding` | `divisor` of a mean | `stride` when absent |
    |---|---|---|---|
    | this library | `CEIL` | `VALID` | 1 |
    | Paddle | `CEIL_ALL` at run time, regardless of `ceil_mode` | `VALID`; `KERNEL` by `exclude_mode = false` | 1 |
    | Caffe | `CEIL`; `FLOOR` by `round_mode: FLOOR` | `PADDED` | 1 |
    | Mocha | `CEIL` | `KERNEL` | 1 |
    | KUnet | `FLOOR` (cuDNN) | `KERNEL` or `VALID` by its mode | the window |
    | ONNX | `FLOOR`; `CEIL` by `ceil_mode = 1` | `VALID`; `PADDED` by `count_include_pad = 1` | 1 |

    `CEIL` and `CEIL_ALL` differ only if the last window contains no pixel: Paddle keeps it, returns the lowest float as
    its maximum and fails for its average.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2), kinks=("ties",))
    y = Output("N C P Q", "one value per window")
    pool_type = Choice("type of pooling", options={"MAX": "its maximum", "AVERAGE": "its mean"}, default="MAX")
    pool_size = Int("window width", min=1, optional=True, aliases=("kernel_size",))
    pool_size_y = Int("window height", min=1, optional=True, default_from="pool_size")
    stride = Int("horizontal stride", default=1, min=1)
    stride_y = Int("vertical stride", min=1, default_from="stride")
    padding = Int("horizontal padding: columns added on the left and on the right", default=0, min=0)
    padding_y = Int("vertical padding: rows added at the top and at the bottom", min=0, default_from="padding")
    padding_end = Int("padding on the right, if it differs from the left", min=0, default_from="padding")
    padding_end_y = Int("padding at the bottom, if it differs from the top", min=0, default_from="padding_y")
    rounding = Choice("treatment of a last window that exceeds the input", options=ROUNDINGS, default="CEIL")
    divisor = Choice("divisor of average pooling", options=DIVISORS, default="VALID")
    global_pooling = Bool("global pooling: one window of the size of the image", default=False)
    where = Temp("N C P Q", "index of the maximum, h * W + w, or -1", kind="INT")
    examples = (
        Example(x="2x6x6", pool_size=2, stride=2),
        Example(x="2x7x5", pool_size=3, pool_size_y=2, stride=2, padding=1, rounding="FLOOR"),
        Example(x="2x7x6", pool_type="AVERAGE", pool_size=3, stride=2, padding=2, divisor="PADDED"),
        Example(x="1x5x5", pool_type="AVERAGE", pool_size=2, stride=3, padding=1, rounding="CEIL_ALL"),
        Example(x="1x4x5", pool_type="AVERAGE", pool_size=3, stride=2, padding=1, divisor="KERNEL"),
        Example(x="sequence of 3x4x5", pool_type="AVERAGE", global_pooling=True),
        Example(x="1x6x6", pool_size=3, stride=2, padding=0, padding_end=1, rounding="FLOOR"),
        Example(
            x="2x4x5", pool_type="AVERAGE", pool_size=2, padding=1, padding_end=0, padding_end_y=1, divisor="PADDED"
        ),
    )


@infer(Pool)
def pool_sizes(
    H, W, pool_size, pool_size_y, stride, stride_y, padding, padding_y, padding_end, padding_end_y,
    rounding, global_pooling,
):  # fmt: skip
    if global_pooling:
        require(pool_size is None and pool_size_y is None, "pool_size", "global pooling sizes its window itself")
        require(stride == 1 and stride_y == 1, "stride", "global pooling has one window and no stride")
        unpadded = padding == 0 and padding_y == 0 and padding_end == 0 and padding_end_y == 0
        require(unpadded, "padding", "global pooling takes no padding")
        return {"P": 1, "Q": 1}
    require(pool_size is not None, "pool_size", "give `pool_size`, or `global_pooling: true`")
    return {
        "P": windows(H, pool_size_y, stride_y, padding_y, padding_end_y, rounding, "pool_size_y", "rows"),
        "Q": windows(W, pool_size, stride, padding, padding_end, rounding, "pool_size", "columns"),
    }


def windows(
    extent: int, size: int, stride: int, padding: int, padding_end: int, rounding: str, attribute: str, unit: str
) -> int:
    """Number of windows along an axis of `extent` pixels; rejects one that does not fit or contains only padding."""
    longest = max(padding, padding_end)
    require(longest < size, attribute, f"a window of {size} {unit} would contain only padding, which is {longest}")
    require(
        size <= extent + padding + padding_end,
        attribute,
        f"a window of {size} {unit} does not fit into {extent} {unit} and {padding + padding_end} of padding",
    )
    span = extent + padding + padding_end - size
    if rounding == "FLOOR":
        return span // stride + 1
    # Division rounded up.
    last = -(-span // stride)
    # The last window is dropped if it starts after the last pixel, in the padding at the end.
    return last if rounding == "CEIL" and last * stride >= extent + padding else last + 1


@each(Pool.where)
def pool_where(
    n, c, p, q, x, H, W, pool_size, pool_size_y, stride, stride_y, padding, padding_y, global_pooling
):  # fmt: skip
    rows = H if global_pooling else pool_size_y
    columns = W if global_pooling else pool_size
    # -1 marks that no pixel was read: a value such as minus infinity may itself be the maximum.
    where, largest = -1, 0.0
    for h in range(max(0, p * stride_y - padding_y), min(H, p * stride_y - padding_y + rows)):
        for w in range(max(0, q * stride - padding), min(W, q * stride - padding + columns)):
            if where < 0 or exceeds(x[n, c, h, w], largest):
                where, largest = h * W + w, x[n, c, h, w]
    return where


@each(Pool.y)
def pool_y(
    n, c, p, q, x, where, H, W, pool_type, pool_size, pool_size_y,
    stride, stride_y, padding, padding_y, padding_end, padding_end_y, divisor, global_pooling,
):  # fmt: skip
    # By the index, which the gradient also reads: both agree on the winner among equal pixels.
    if pool_type == "MAX":
        position = where[n, c, p, q]
        return x[n, c, position // W, position % W] if position >= 0 else 0.0
    rows = H if global_pooling else pool_size_y
    columns = W if global_pooling else pool_size
    total = 0.0
    for h in range(max(0, p * stride_y - padding_y), min(H, p * stride_y - padding_y + rows)):
        for w in range(max(0, q * stride - padding), min(W, q * stride - padding + columns)):
            total += x[n, c, h, w]
    if divisor == "KERNEL":
        return total / real(rows * columns)
    if divisor == "PADDED":
        high, wide = H + padding_end_y, W + padding_end
        return total / real(inside(p, rows, stride_y, padding_y, high) * inside(q, columns, stride, padding, wide))
    return total / real(pixels(p, rows, stride_y, padding_y, H) * pixels(q, columns, stride, padding, W))


@gradient(Pool.x)
def pool_dx(
    n, c, h, w, dy, where, H, W, P, Q, pool_type, pool_size, pool_size_y,
    stride, stride_y, padding, padding_y, padding_end, padding_end_y, divisor, global_pooling,
):  # fmt: skip
    rows = H if global_pooling else pool_size_y
    columns = W if global_pooling else pool_size
    total = 0.0
    # Only the windows that contain the pixel, instead of a scatter.
    for p in range(first_window(h, rows, stride_y, padding_y), min(P, (h + padding_y) // stride_y + 1)):
        for q in range(first_window(w, columns, stride, padding), min(Q, (w + padding) // stride + 1)):
            if pool_type == "MAX":
                if where[n, c, p, q] == h * W + w:
                    total += dy[n, c, p, q]
            elif divisor == "KERNEL":
                total += dy[n, c, p, q] / real(rows * columns)
            elif divisor == "PADDED":
                high, wide = H + padding_end_y, W + padding_end
                count = inside(p, rows, stride_y, padding_y, high) * inside(q, columns, stride, padding, wide)
                total += dy[n, c, p, q] / real(count)
            else:
                count = pixels(p, rows, stride_y, padding_y, H) * pixels(q, columns, stride, padding, W)
                total += dy[n, c, p, q] / real(count)
    return total


@onnx(Pool)
def pool_onnx(
    graph, x, H, W, P, Q, pool_type, pool_size, pool_size_y,
    stride, stride_y, padding, padding_y, padding_end, padding_end_y, divisor, global_pooling,
):  # fmt: skip
    if global_pooling:
        return graph.GlobalMaxPool(x) if pool_type == "MAX" else graph.GlobalAveragePool(x)
    return pool_nodes(
        graph, x, pool_type, divisor, [H, W], [P, Q], [pool_size_y, pool_size], [stride_y, stride],
        [padding_y, padding], [padding_end_y, padding_end],
    )  # fmt: skip


def pool_nodes(graph, x, pool_type, divisor, extents, counts, sizes, steps, ahead, behind):
    """Explicit padding after the last element gives the same number of windows in all engines."""
    # AveragePool of ONNX cannot count padding and exclude what exceeds it.
    if pool_type == "AVERAGE" and divisor == "PADDED" and any([*ahead, *behind]):
        x = graph.Pad(x, [0, 0, *ahead, 0, 0, *behind])
        extents = [sum(parts) for parts in zip(ahead, extents, behind, strict=True)]
        ahead = [0] * len(extents)
    along = list(zip(extents, counts, sizes, steps, ahead, strict=True))
    # Windows that contain a pixel; the others are added as zeros below.
    filled = [sum(at * step - before < extent for at in range(count)) for extent, count, _, step, before in along]
    after = [
        max((number - 1) * step - before + size - extent, 0)
        for number, (extent, _, size, step, before) in zip(filled, along, strict=True)
    ]
    settings = {"kernel_shape": list(sizes), "strides": list(steps), "pads": [*ahead, *after]}
    if pool_type == "MAX":
        y = graph.MaxPool(x, **settings)
    else:
        y = graph.AveragePool(x, **settings, count_include_pad=int(divisor == "KERNEL"))
    empty = [count - number for count, number in zip(counts, filled, strict=True)]  # windows without a pixel give 0
    return graph.Pad(y, [0] * (4 + len(empty)) + empty) if any(empty) else y


@helper
def first_window(h, size, stride, padding):
    """First window that covers pixel `h` of an axis."""
    return max(0, (h + padding - size + stride) // stride)


@helper
def pixels(p, size, stride, padding, extent):
    """Number of pixels of an axis in window `p`; at least 1, so that an empty window gives 0."""
    start = p * stride - padding
    return max(1, min(start + size, extent) - max(start, 0))


@helper
def inside(p, size, stride, padding, end):
    """Number of pixels and padding before `end` in window `p`; at least 1, so that an empty window gives 0."""
    start = p * stride - padding
    return max(1, min(start + size, end) - start)
