"""Dynamic filter convolution: the filters are an input."""

from paddle_layers.define import Bool, Example, Input, Int, Output, each, gradient, infer, layer, onnx, require
from paddle_layers.layers.images.convolutions import positions
from paddle_layers.layers.images.im2col import single_elements
from paddle_layers.layers.images.transposed_convolutions import enlarged


@layer(
    "conv_operator",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Paddle": "conv_operator, conv_trans_operator"},
    terms=("dynamic filter convolution", "dynamic convolution"),
    since=1,
)
class ConvOperator:
    """Dynamic filter convolution: 2-D convolution of every image with its own filters, which are an input.

    `y[n, k, p, q] = sum over c, a, b of filter[n, k, c, a, b] * x[n, c, p * stride_y - padding_y + a, q * stride -
    padding + b]`, as `conv` without bias, zero outside the image. A row of `filter` has
    `num_filters * C * filter_size_y * filter_size` values in this order, computed by an `fc`, for example (Jia et al.,
    "Dynamic filter networks", 2016).

    With `trans` it is a transposed convolution, Paddle's `conv_trans_operator`: the first axes of a filter are then
    `C x num_filters`. In Paddle both are operators of `mixed` and run on GPUs only.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2))
    filter = Input("N F...", "filters of each image, flattened", seq=(0, 1, 2))
    y = Output("N K P Q", "one channel per filter")
    num_filters = Int("number of filters", min=1, axis="K")
    filter_size = Int("kernel width", min=1)
    filter_size_y = Int("kernel height", min=1, default_from="filter_size")
    stride = Int("horizontal stride", default=1, min=1)
    stride_y = Int("vertical stride", min=1, default_from="stride")
    padding = Int("horizontal zero padding: columns added on the left and on the right", default=0, min=0)
    padding_y = Int("vertical zero padding: rows added at the top and at the bottom", min=0, default_from="padding")
    trans = Bool("transposed convolution, as `conv_trans`", default=False)
    examples = (
        Example(x="2x4x5", filter="24", num_filters=3, filter_size=2),
        Example(x="1x5x4", filter="2x1x3x2", num_filters=2, filter_size=2, filter_size_y=3, stride=2, padding=1),
        Example(x="2x3x2", filter="24", num_filters=2, filter_size=3, filter_size_y=2, stride_y=2, trans=True),
        Example(x="sequence of 1x2x2", filter="sequence of 4", num_filters=1, filter_size=2, padding=1, act="relu"),
    )


@infer(ConvOperator)
def conv_operator_sizes(
    C, H, W, F, num_filters, filter_size, filter_size_y, stride, stride_y, padding, padding_y, trans
):
    numbers = num_filters * C * filter_size_y * filter_size
    wanted = f"{num_filters} filters of {C} x {filter_size_y} x {filter_size} have {numbers} values, not {F}"
    require(numbers == F, "filter", wanted)
    if trans:
        return {
            "P": enlarged(H, filter_size_y, stride_y, padding_y, 0, "padding_y", "stride_y", "rows"),
            "Q": enlarged(W, filter_size, stride, padding, 0, "padding", "stride", "columns"),
        }
    return {
        "P": positions(H, filter_size_y, stride_y, 2 * padding_y, 1, "filter_size_y", "rows"),
        "Q": positions(W, filter_size, stride, 2 * padding, 1, "filter_size", "columns"),
    }


@each(ConvOperator.y)
def conv_operator_y(
    n, k, p, q, x, filter, C, H, W, K, filter_size, filter_size_y, stride, stride_y, padding, padding_y, trans
):
    total = 0.0
    for a in range(filter_size_y):
        h = p + padding_y - a if trans else p * stride_y - padding_y + a
        # Between two strides there is no element of the input: -1 fails the test below.
        if trans:
            h = h // stride_y if h >= 0 and h % stride_y == 0 else -1
        if 0 <= h < H:
            for b in range(filter_size):
                w = q + padding - b if trans else q * stride - padding + b
                if trans:
                    w = w // stride if w >= 0 and w % stride == 0 else -1
                if 0 <= w < W:
                    for c in range(C):
                        # The filters of a transposed convolution have the input channels as their first axis.
                        of = c * K + k if trans else k * C + c
                        total += x[n, c, h, w] * filter[n, (of * filter_size_y + a) * filter_size + b]
    return total


@gradient(ConvOperator.x)
def conv_operator_dx(
    n, c, h, w, dy, filter, C, K, P, Q, filter_size, filter_size_y, stride, stride_y, padding, padding_y, trans
):
    total = 0.0
    for a in range(filter_size_y):
        p = h * stride_y - padding_y + a if trans else h + padding_y - a
        # As in `conv_operator_y`, with input and output exchanged.
        if not trans:
            p = p // stride_y if p >= 0 and p % stride_y == 0 else -1
        if 0 <= p < P:
            for b in range(filter_size):
                q = w * stride - padding + b if trans else w + padding - b
                if not trans:
                    q = q // stride if q >= 0 and q % stride == 0 else -1
                if 0 <= q < Q:
                    for k in range(K):
                        of = c * K + k if trans else k * C + c
                        total += dy[n, k, p, q] * filter[n, (of * filter_size_y + a) * filter_size + b]
    return total


@gradient(ConvOperator.filter)
def conv_operator_dfilter(
    n, f, dy, x, C, H, W, K, P, Q, filter_size, filter_size_y, stride, stride_y, padding, padding_y, trans
):
    a, b = f // filter_size % filter_size_y, f % filter_size
    of = f // (filter_size_y * filter_size)
    c, k = (of // K, of % K) if trans else (of % C, of // C)
    total = 0.0
    for i in range(H if trans else P):
        above = i * stride_y - padding_y + a
        if 0 <= above < (P if trans else H):
            for j in range(W if trans else Q):
                left = j * stride - padding + b
                if 0 <= left < (Q if trans else W):
                    if trans:
                        total += x[n, c, i, j] * dy[n, k, above, left]
                    else:
                        total += x[n, c, above, left] * dy[n, k, i, j]
    return total


@onnx(ConvOperator)
def conv_operator_onnx(
    graph, x, filter, C, H, W, K, P, Q, filter_size, filter_size_y, stride, stride_y, padding, padding_y, trans
):
    """A product of the filters with the elements under the windows; engines have filters of constants only."""
    size = filter_size_y * filter_size
    settings = {"strides": [stride_y, stride], "pads": [padding_y, padding] * 2}
    # Constant filters with a single 1 each: a convolution that copies the elements of windows.
    takes = single_elements(K if trans else C, filter_size_y, filter_size)
    if trans:
        turned = graph.Transpose(graph.Reshape(filter, [0, C, K * size]), perm=[0, 2, 1])
        stamps = graph.MatMul(turned, graph.Reshape(x, [0, C, H * W]))
        return graph.ConvTranspose(graph.Reshape(stamps, [0, K * size, H, W]), takes, group=K, **settings)
    windows = graph.Reshape(graph.Conv(x, takes, group=C, **settings), [0, C * size, P * Q])
    return graph.Reshape(graph.MatMul(graph.Reshape(filter, [0, K, C * size]), windows), [0, K, P, Q])
