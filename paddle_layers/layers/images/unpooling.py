"""Max pooling with indices, and max unpooling."""

from paddle_layers.define import Choice, Example, Input, Int, Output, each, fill, gradient, infer, layer, onnx, require
from paddle_layers.layers.helpers import exceeds

from .pooling import first_window, windows


@layer(
    "max_pool_with_mask",
    elsewhere={"Paddle": "max-pool-with-mask", "Caffe": "Pooling", "ONNX": "MaxPool", "PyTorch": "MaxPool2d"},
    terms=("max pooling with indices", "2-D max pooling"),
    since=1,
)
class MaxPoolWithMask:
    """2-D max pooling that also returns the indices of the maxima.

    `y` equals that of `pool` with `MAX`. `mask` is the index of each maximum in its channel, `h * W + w`, the first of
    equal ones; `upsample` reads it. It has integer values and no gradient. Caffe's second top stores the indices as
    floats, and ONNX counts them across all samples and channels.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2), kinks=("ties",))
    y = Output("N C P Q", "one value per window")
    mask = Output("N C P Q", "index of the maximum in the channel", kind="INT", size="M")
    pool_size = Int("window width", min=1, aliases=("kernel_size",))
    pool_size_y = Int("window height", min=1, default_from="pool_size")
    stride = Int("horizontal stride", default=1, min=1)
    stride_y = Int("vertical stride", min=1, default_from="stride")
    padding = Int("horizontal padding: columns added on the left and on the right", default=0, min=0)
    padding_y = Int("vertical padding: rows added at the top and at the bottom", min=0, default_from="padding")
    rounding = Choice(
        "treatment of a last window that exceeds the input",
        options={"CEIL": "it is kept, unless it starts after the last pixel", "FLOOR": "it is dropped"},
        default="CEIL",
    )
    examples = (
        Example(x="2x4x4", pool_size=2, stride=2),
        Example(x="1x5x6", pool_size=3, pool_size_y=2, stride=2, padding=1, rounding="FLOOR"),
        Example(x="sequence of 2x3x3", pool_size=2),
    )


@infer(MaxPoolWithMask)
def max_pool_with_mask_sizes(H, W, pool_size, pool_size_y, stride, stride_y, padding, padding_y, rounding):
    return {
        "P": windows(H, pool_size_y, stride_y, padding_y, padding_y, rounding, "pool_size_y", "rows"),
        "Q": windows(W, pool_size, stride, padding, padding, rounding, "pool_size", "columns"),
        "M": H * W,
    }


@each(MaxPoolWithMask.mask)
def max_pool_with_mask_mask(n, c, p, q, x, H, W, pool_size, pool_size_y, stride, stride_y, padding, padding_y):
    place, largest = -1, 0.0
    for h in range(max(0, p * stride_y - padding_y), min(H, p * stride_y - padding_y + pool_size_y)):
        for w in range(max(0, q * stride - padding), min(W, q * stride - padding + pool_size)):
            if place < 0 or exceeds(x[n, c, h, w], largest):
                place, largest = h * W + w, x[n, c, h, w]
    return place


@each(MaxPoolWithMask.y)
def max_pool_with_mask_y(n, c, p, q, x, mask, W):
    place = mask[n, c, p, q]
    return x[n, c, place // W, place % W]


@gradient(MaxPoolWithMask.x)
def max_pool_with_mask_dx(
    n, c, h, w, dy, mask, W, P, Q, pool_size, pool_size_y, stride, stride_y, padding, padding_y
):  # fmt: skip
    total = 0.0
    for p in range(first_window(h, pool_size_y, stride_y, padding_y), min(P, (h + padding_y) // stride_y + 1)):
        for q in range(first_window(w, pool_size, stride, padding), min(Q, (w + padding) // stride + 1)):
            if mask[n, c, p, q] == h * W + w:
                total += dy[n, c, p, q]
    return total


@onnx(MaxPoolWithMask)
def max_pool_with_mask_onnx(graph, x, H, W, P, Q, pool_size, pool_size_y, stride, stride_y, padding, padding_y):
    below = max((P - 1) * stride_y - padding_y + pool_size_y - H, 0)
    right = max((Q - 1) * stride - padding + pool_size - W, 0)
    y, places = graph.MaxPool(
        x,
        kernel_shape=[pool_size_y, pool_size],
        strides=[stride_y, stride],
        pads=[padding_y, padding, below, right],
        outputs=2,
    )
    # ONNX counts indices through all samples and channels.
    return y, graph.Mod(places, H * W)


@layer(
    "upsample",
    elsewhere={"Paddle": "upsample", "ONNX": "MaxUnpool", "PyTorch": "MaxUnpool2d"},
    terms=("max unpooling", "2-D max unpooling", "unpooling"),
    since=1,
)
class Upsample:
    """2-D max unpooling: writes every value to the index of a maximum, and zeros to all other pixels.

    `y[n, c, m] = sum of x[n, c, p, q]` over the windows with `mask[n, c, p, q] = m`, the index `h * W + w` in the
    output: `mask` is that of `max_pool_with_mask` on an image of that size. If windows overlap, one pixel may be the
    maximum of several: here their values are added, in other frameworks one of them is kept. For interpolation see
    `bilinear_interp` and `nearest_interp`, for learned upsampling `conv_trans`.
    """

    x = Input("N C P Q", "images: channels, height, width", seq=(0, 1, 2))
    mask = Input("N C P Q", "index in the channel of the output for each value", kinds=("INT",), seq=(0, 1, 2))
    y = Output("N C H W", "the values at their indices, zeros at all other pixels")
    scale = Int("horizontal scale factor", min=1, optional=True)
    scale_y = Int("vertical scale factor", min=1, optional=True, default_from="scale")
    upsample_size = Int("output width", min=1, optional=True)
    upsample_size_y = Int("output height", min=1, optional=True, default_from="upsample_size")
    examples = (
        Example(x="2x2x3", mask="2x2x3 ids<24", scale=2),
        Example(x="1x2x2", mask="1x2x2 ids<15", upsample_size=5, upsample_size_y=3),
        Example(x="1x2x2", mask="1x2x2 ids<24", scale=2, scale_y=3),
        Example(x="sequence of 2x1x2", mask="sequence of 2x1x2 ids<4", upsample_size=2),
    )


@infer(Upsample)
def upsample_sizes(P, Q, mask, scale, scale_y, upsample_size, upsample_size_y):
    both = "give `scale` or `upsample_size`"
    require((scale is None) != (upsample_size is None), "scale", both)
    require((scale_y is None) != (upsample_size_y is None), "scale_y", f"{both} for the rows")
    H = P * scale_y if scale_y is not None else upsample_size_y
    W = Q * scale if scale is not None else upsample_size
    wrong = f"indices are below {mask.size}, but the output has {H}x{W} = {H * W} pixels; `mask` must fit the output"
    require(mask.size == H * W, "mask", wrong)
    return {"H": H, "W": W}


@fill(Upsample.y, per="N")
def upsample_y(n, x, mask, y, C, P, Q, H, W):
    # Zeros first: most pixels are not the maximum of a window.
    for c in range(C):
        for h in range(H):
            for w in range(W):
                y[n, c, h, w] = 0.0
        for p in range(P):
            for q in range(Q):
                place = mask[n, c, p, q]
                # Overlapping windows may have the same maximum.
                y[n, c, place // W, place % W] += x[n, c, p, q]


@gradient(Upsample.x)
def upsample_dx(n, c, p, q, dy, mask, W):
    place = mask[n, c, p, q]
    return dy[n, c, place // W, place % W]


@onnx(Upsample)
def upsample_onnx(graph, x, mask, C, H, W):
    """ONNX's MaxUnpool counts places through all rows and keeps one of equal ones; these are added up."""
    empty = graph.Expand(0.0, graph.Concat(graph.Shape(x, start=0, end=1), [C, H * W], axis=0))
    flat = [graph.Reshape(values, [0, 0, -1]) for values in (mask, x)]
    return graph.Reshape(graph.ScatterElements(empty, *flat, axis=2, reduction="add"), [-1, C, H, W])
