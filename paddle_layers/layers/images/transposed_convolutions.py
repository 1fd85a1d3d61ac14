"""2-D transposed convolution."""

from paddle_layers.define import (
    Bias,
    Example,
    Input,
    Int,
    Output,
    Param,
    each,
    gradient,
    infer,
    layer,
    onnx,
    require,
    with_names,
)

from .convolutions import check_groups, conv_dweight, conv_dx, conv_y


@layer(
    "conv_trans",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={
        "Paddle": "exconvt, convt",
        "Caffe": "Deconvolution",
        "ONNX": "ConvTranspose",
        "Keras": "Conv2DTranspose",
        "PyTorch": "ConvTranspose2d",
    },
    terms=(
        "2-D transposed convolution",
        "transposed convolution",
        "deconvolution",
        "fractionally strided convolution",
        "upsampling convolution",
    ),
    since=1,
)
class ConvTrans:
    """2-D transposed convolution: the gradient of `conv` with respect to its input.

    `y[n, k, p, q] = bias[k] + sum over c, a, b of weight[c, k - first(k), a, b] * x[n, c, h, w]` over the pixels with
    `p = h * stride_y - padding_y + a * dilation_y` and `q = w * stride - padding + b * dilation`; `c` runs over the
    channels of the filter's group, and `first(k)` is the group's first filter.

    A `conv` with the same attributes maps an image of `P x Q` to one of `H x W`, and

    `P = (H - 1) * stride_y - 2 * padding_y + (filter_size_y - 1) * dilation_y + 1 + output_padding_y`

    and `Q` in the same way. With a stride, a `conv` maps several input sizes to the same `H`; `output_padding` adds
    rows and columns to the smallest of them, at the bottom and on the right. Paddle and Caffe use the smallest.

    Bilinear upsampling by a factor `s`, as is usual in Caffe: as many filters and groups as channels,
    `filter_size: 2 * s - s % 2`, `stride: s`, `padding: (s - 1) / 2` rounded up, no bias, and the initializer
    `bilinear` for `weight`.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2))
    weight = Param("C D A B", "filters: input channels, filters per group, kernel height, kernel width", init="msra")
    bias = Bias("K", "one value per filter")
    y = Output("N K P Q", "one channel per filter")
    num_filters = Int("number of filters", min=1, axis="K", aliases=("num_output",))
    filter_size = Int("kernel width", min=1, axis="B", aliases=("kernel_size",))
    filter_size_y = Int("kernel height", min=1, axis="A", default_from="filter_size")
    stride = Int("horizontal stride: columns of the output per column of the input", default=1, min=1)
    stride_y = Int("vertical stride: rows of the output per row of the input", min=1, default_from="stride")
    padding = Int("horizontal padding: columns removed from the output on the left and on the right", default=0, min=0)
    padding_y = Int(
        "vertical padding: rows removed from the output at the top and at the bottom", min=0, default_from="padding"
    )
    output_padding = Int("additional columns of the output on the right", default=0, min=0)
    output_padding_y = Int("additional rows of the output at the bottom", min=0, default_from="output_padding")
    dilation = Int("horizontal dilation", default=1, min=1)
    dilation_y = Int("vertical dilation", min=1, default_from="dilation")
    groups = Int("number of groups of channels and filters", default=1, min=1)
    examples = (
        Example(x="3x3x4", num_filters=2, filter_size=3, stride=2, padding=1, output_padding=1),
        Example(x="2x4x3", num_filters=3, filter_size=2, filter_size_y=3, stride_y=2, padding_y=1, act="relu"),
        Example(x="4x3x3", num_filters=4, filter_size=2, stride_y=2, dilation=2, groups=2, output_padding_y=1),
        Example(x="2x3x3", num_filters=2, filter_size=4, stride=2, padding=1, groups=2, bias=False),
        Example(x="sequence of 1x2x2", num_filters=2, filter_size=2),
    )


@infer(ConvTrans)
def conv_trans_sizes(
    C, H, W, num_filters, filter_size, filter_size_y, stride, stride_y,
    padding, padding_y, output_padding, output_padding_y, dilation, dilation_y, groups,
):  # fmt: skip
    check_groups(C, num_filters, groups)
    return {
        "D": num_filters // groups,
        "P": enlarged(
            H,
            (filter_size_y - 1) * dilation_y + 1,
            stride_y,
            padding_y,
            output_padding_y,
            "padding_y",
            "output_padding_y",
            "rows",
        ),
        "Q": enlarged(
            W, (filter_size - 1) * dilation + 1, stride, padding, output_padding, "padding", "output_padding", "columns"
        ),
    }


def enlarged(
    extent: int, spread: int, stride: int, padding: int, more: int, of_padding: str, of_more: str, unit: str
) -> int:
    """Output size along an axis; rejects padding that leaves nothing and a too large output padding."""
    require(
        more < stride,
        of_more,
        f"an output padding of {more} {unit} must be smaller than the stride, {stride}",
    )
    whole = (extent - 1) * stride + spread + more
    # Padding removes rows at both ends, and something must be left.
    require(whole > 2 * padding, of_padding, f"padding {padding} removes all {whole} {unit} of the output")
    return whole - 2 * padding


# The convolution with input and output exchanged.
EXCHANGED = {
    "x": "dy", "dy": "x", "c": "k", "k": "c", "h": "p", "p": "h", "w": "q", "q": "w", "filters": "channels",
    "C": "K", "K": "C", "H": "P", "P": "H", "W": "Q", "Q": "W",
}  # fmt: skip
each(ConvTrans.y)(with_names(conv_dx, "conv_trans_y", EXCHANGED))
gradient(ConvTrans.x)(with_names(conv_y, "conv_trans_dx", EXCHANGED))
gradient(ConvTrans.weight)(with_names(conv_dweight, "conv_trans_dweight", EXCHANGED))


@onnx(ConvTrans)
def conv_trans_onnx(
    graph, x, weight, bias, stride, stride_y, padding, padding_y,
    output_padding, output_padding_y, dilation, dilation_y, groups,
):  # fmt: skip
    return graph.ConvTranspose(
        x, weight, bias, strides=[stride_y, stride], pads=[padding_y, padding] * 2,
        output_padding=[output_padding_y, output_padding], dilations=[dilation_y, dilation], group=groups,
    )  # fmt: skip
