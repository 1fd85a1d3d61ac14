"""Convolutions of images."""

from paddle_layers.define import Bias, Example, Input, Int, Output, Param, each, gradient, infer, layer, onnx, require


@layer(
    "conv",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={
        "Paddle": "exconv, depthwise_conv",
        "Caffe": "Convolution",
        "Mocha": "ConvolutionLayer",
        "KUnet": "Conv",
        "ONNX": "Conv",
        "Keras": "Conv2D",
        "PyTorch": "Conv2d",
    },
    since=1,
)
class Conv:
    """Slides `num_filters` filters over an image and sums the products under each.

    `y[n, k, p, q] = bias[k] + sum over d, a, b of weight[k, d, a, b] * x[n, first(k) + d, h, w]` with
    `h = p * stride_y - padding_y + a * dilation_y`, `w = q * stride - padding + b * dilation`; elements outside the
    image count as zero. `first(k)` is the first channel of the filter's group: filters and channels are cut into
    `groups` equal runs, and a filter sees the channels of its own run. With as many groups as channels this is the
    depthwise convolution.

    The filter is not flipped (a cross-correlation), as in all the systems named here. The number of windows is
    rounded down:

    `spread = (filter_size_y - 1) * dilation_y + 1`, `P = (H + padding_y + padding_end_y - spread) // stride_y + 1`

    and `Q` in the same way. `padding_end` is that on the right and below where it is another one, as the second half of
    ONNX's `pads`. With stride 1 Keras' "same" is a `padding` of `(spread - 1) // 2` and a `padding_end` of
    `spread // 2`; with longer strides the sum is `max((P - 1) * stride + spread - H, 0)`, with `P = ceil(H / stride)`,
    and the end has the odd one. Paddle's `caffe_mode = false` rounds up; its helpers never set it. As in Paddle, the
    attributes that end in `_y` speak of rows and those without of columns, and a `_y` that is absent equals the other.
    """

    x = Input("N C H W", "images: channels, rows, columns", seq=(0, 1, 2))
    weight = Param("K D A B", "filters: channels of a group, rows, columns", init="msra")
    bias = Bias("K", "one number per filter")
    y = Output("N K P Q", "one channel per filter")
    num_filters = Int("number of filters", min=1, axis="K", aliases=("num_output",))
    filter_size = Int("columns of a filter", min=1, axis="B", aliases=("kernel_size",))
    filter_size_y = Int("rows of a filter", min=1, axis="A", default_from="filter_size")
    stride = Int("columns from one window to the next", default=1, min=1)
    stride_y = Int("rows from one window to the next", min=1, default_from="stride")
    padding = Int("columns of zeros added on the left, and on the right", default=0, min=0)
    padding_y = Int("rows of zeros added above, and below", min=0, default_from="padding")
    padding_end = Int("columns of zeros on the right, where they are others", min=0, default_from="padding")
    padding_end_y = Int("rows of zeros below, where they are others", min=0, default_from="padding_y")
    dilation = Int("columns from one element of a filter to the next", default=1, min=1)
    dilation_y = Int("rows from one element of a filter to the next", min=1, default_from="dilation")
    groups = Int("runs that channels and filters are cut into", default=1, min=1)
    examples = (
        Example(x="3x6x7", num_filters=4, filter_size=3),
        Example(x="2x7x5", num_filters=3, filter_size=2, filter_size_y=3, stride=2, padding=1, act="relu"),
        Example(x="4x6x6", num_filters=6, filter_size=3, padding=2, dilation=2, stride_y=2, groups=2),
        Example(x="3x5x5", num_filters=3, filter_size=3, padding=1, groups=3, bias=False),
        Example(x="sequence of 1x4x4", num_filters=2, filter_size=1),
        Example(x="2x5x4", num_filters=2, filter_size=2, padding=0, padding_end=1, padding_end_y=2, stride=2),
        Example(x="2x4x4", num_filters=2, filter_size=3, padding=2, padding_end=0, padding_end_y=1),
    )


@infer(Conv)
def conv_sizes(
    C, H, W, num_filters, filter_size, filter_size_y, stride, stride_y,
    padding, padding_y, padding_end, padding_end_y, dilation, dilation_y, groups,
):  # fmt: skip
    require(C % groups == 0, "groups", f"{groups} groups do not divide the number of channels, {C}")
    require(num_filters % groups == 0, "groups", f"{groups} groups do not divide the number of filters, {num_filters}")
    return {
        "D": C // groups,
        "P": positions(H, filter_size_y, stride_y, padding_y + padding_end_y, dilation_y, "filter_size_y", "rows"),
        "Q": positions(W, filter_size, stride, padding + padding_end, dilation, "filter_size", "columns"),
    }


def positions(extent: int, size: int, stride: int, padding: int, dilation: int, attribute: str, unit: str) -> int:
    """In how many places a filter lies along an axis of pixels and padding; refuses one that does not fit."""
    reach = (size - 1) * dilation + 1
    spread = f"{size} {unit} spread over {reach}" if dilation > 1 else f"{size} {unit}"
    require(
        (size - 1) * dilation + 1 <= extent + padding,
        attribute,
        f"a filter of {spread} does not fit into {extent} {unit} and {padding} of padding",
    )
    return (extent + padding - reach) // stride + 1


@each(Conv.y)
def conv_y(n, k, p, q, x, weight, H, W, K, D, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y, groups):
    first = k // (K // groups) * D
    total = 0.0
    for d in range(D):
        for a in range(A):
            h = p * stride_y - padding_y + a * dilation_y
            if 0 <= h < H:
                for b in range(B):
                    w = q * stride - padding + b * dilation
                    if 0 <= w < W:
                        total += x[n, first + d, h, w] * weight[k, d, a, b]
    return total


@gradient(Conv.x)
def conv_dx(
    n, c, h, w, dy, weight, K, D, A, B, P, Q, stride, stride_y, padding, padding_y, dilation, dilation_y, groups
):
    filters = K // groups
    first = c // D * filters
    total = 0.0
    for a in range(A):
        top = h + padding_y - a * dilation_y
        if top >= 0 and top % stride_y == 0 and top // stride_y < P:
            for b in range(B):
                left = w + padding - b * dilation
                if left >= 0 and left % stride == 0 and left // stride < Q:
                    for k in range(first, first + filters):
                        total += dy[n, k, top // stride_y, left // stride] * weight[k, c % D, a, b]
    return total


@gradient(Conv.weight)
def conv_dweight(
    k, d, a, b, dy, x, N, H, W, K, D, P, Q, stride, stride_y, padding, padding_y, dilation, dilation_y, groups
):
    c = k // (K // groups) * D + d
    total = 0.0
    for n in range(N):
        for p in range(P):
            h = p * stride_y - padding_y + a * dilation_y
            if 0 <= h < H:
                for q in range(Q):
                    w = q * stride - padding + b * dilation
                    if 0 <= w < W:
                        total += x[n, c, h, w] * dy[n, k, p, q]
    return total


@onnx(Conv)
def conv_onnx(
    graph, x, weight, bias, stride, stride_y, padding, padding_y, padding_end, padding_end_y,
    dilation, dilation_y, groups,
):  # fmt: skip
    return graph.Conv(
        x, weight, bias, strides=[stride_y, stride], pads=[padding_y, padding, padding_end_y, padding_end],
        dilations=[dilation_y, dilation], group=groups,
    )  # fmt: skip
