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
    terms=("2-D convolution", "convolution", "grouped convolution", "depthwise convolution", "cross-correlation"),
    since=1,
)
class Conv:
    """2-D convolution (cross-correlation) with strides, padding, dilation and groups.

    `y[n, k, p, q] = bias[k] + sum over d, a, b of weight[k, d, a, b] * x[n, first(k) + d, h, w]` with
    `h = p * stride_y - padding_y + a * dilation_y`, `w = q * stride - padding + b * dilation`; elements outside the
    image are zero. `first(k)` is the first channel of the filter's group: filters and channels are divided into
    `groups` equal groups, and a filter reads the channels of its group (grouped convolution). With as many groups as
    channels this is the depthwise convolution.

    The filter is not flipped (cross-correlation), as in all frameworks named here. The output size is rounded down:

    `spread = (filter_size_y - 1) * dilation_y + 1`, `P = (H + padding_y + padding_end_y - spread) // stride_y + 1`

    and `Q` in the same way. `padding_end` is the padding on the right and at the bottom if it differs, as the second
    half of ONNX's `pads`. With stride 1 Keras' "same" is a `padding` of `(spread - 1) // 2` and a `padding_end` of
    `spread // 2`; with longer strides the total is `max((P - 1) * stride + spread - H, 0)` with `P = ceil(H / stride)`,
    and an odd pixel goes to the end. Paddle's `caffe_mode = false` rounds up; its helpers never set it. As in Paddle,
    attributes ending in `_y` are vertical and those without horizontal; an absent `_y` equals its horizontal
    counterpart.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2))
    weight = Param("K D A B", "filters: channels per group, kernel height, kernel width", init="msra")
    bias = Bias("K", "one value per filter")
    y = Output("N K P Q", "one channel per filter")
    num_filters = Int("number of filters", min=1, axis="K", aliases=("num_output",))
    filter_size = Int("kernel width", min=1, axis="B", aliases=("kernel_size",))
    filter_size_y = Int("kernel height", min=1, axis="A", default_from="filter_size")
    stride = Int("horizontal stride", default=1, min=1)
    stride_y = Int("vertical stride", min=1, default_from="stride")
    padding = Int("horizontal zero padding: columns added on the left and on the right", default=0, min=0)
    padding_y = Int("vertical zero padding: rows added at the top and at the bottom", min=0, default_from="padding")
    padding_end = Int("zero padding on the right, if it differs from the left", min=0, default_from="padding")
    padding_end_y = Int("zero padding at the bottom, if it differs from the top", min=0, default_from="padding_y")
    dilation = Int("horizontal dilation", default=1, min=1)
    dilation_y = Int("vertical dilation", min=1, default_from="dilation")
    groups = Int("number of groups of channels and filters", default=1, min=1)
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
    check_groups(C, num_filters, groups)
    return {
        "D": C // groups,
        "P": positions(H, filter_size_y, stride_y, padding_y + padding_end_y, dilation_y, "filter_size_y", "rows"),
        "Q": positions(W, filter_size, stride, padding + padding_end, dilation, "filter_size", "columns"),
    }


def check_groups(channels: int, filters: int, groups: int) -> None:
    """Rejects groups that are not of one size."""
    require(channels % groups == 0, "groups", f"{groups} groups do not divide the number of channels, {channels}")
    require(filters % groups == 0, "groups", f"{groups} groups do not divide the number of filters, {filters}")


def positions(extent: int, size: int, stride: int, padding: int, dilation: int, attribute: str, unit: str) -> int:
    """Number of filter positions along an axis of pixels and padding; rejects a filter that does not fit."""
    reach = (size - 1) * dilation + 1
    if reach > extent + padding:
        spread = f"{size} {unit} spread over {reach}" if dilation > 1 else f"{size} {unit}"
        message = f"a filter of {spread} does not fit into {extent} {unit} and {padding} of padding"
        require(False, attribute, message)
    return (extent + padding - reach) // stride + 1


@each(Conv.y)
def conv_y(n, k, p, q, x, weight, H, W, K, D, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y, groups):
    first = k // (K // groups) * D
    total = 0.0
    for d in range(D):
        for a in range(A):
            h = p * stride_y - padding_y + a * dilation_y
            # Elements outside are skipped, not multiplied by 0: an infinite weight would give NaN.
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
        # Between two strides there is no element at this distance.
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
