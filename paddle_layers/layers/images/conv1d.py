"""1-D convolution, transposed convolution and pooling: composites of the 2-D layers on images of one row."""

from paddle_layers.define import Bool, Choice, Example, Input, Int, Output, body, layer
from paddle_layers.layers.images.pooling import DIVISORS, ROUNDINGS


@layer(
    "conv1d",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Caffe": "Convolution", "ONNX": "Conv", "Keras": "Conv1D", "PyTorch": "Conv1d"},
    terms=("1-D convolution", "temporal convolution"),
    since=1,
)
class Conv1d:
    """1-D convolution (cross-correlation) over signals of a fixed length: audio, sensor data, time series.

    `y[n, k, p] = bias[k] + sum over d, b of weight[k, d, b] * x[n, first(k) + d, p * stride - padding + b * dilation]`.
    It consists of a `conv` on images of one row: `param { of: "conv.weight" }` configures its filters, of shape
    `num_filters x channels x 1 x filter_size`. All signals have the same length; for sequences of varying length see
    `context` and `row_conv`.
    """

    x = Input("N C W", "1-D signals: channels, length", seq=(0, 1, 2))
    y = Output("N K Q", "one channel per filter")
    num_filters = Int("number of filters", min=1, axis="K", aliases=("num_output",))
    filter_size = Int("kernel size", min=1, aliases=("kernel_size",))
    stride = Int("step between adjacent windows", default=1, min=1)
    padding = Int("zero padding at both ends", default=0, min=0)
    padding_end = Int("zero padding at the end, if it differs from the start", min=0, default_from="padding")
    dilation = Int("spacing between the elements of a filter", default=1, min=1)
    groups = Int("number of groups of channels and filters", default=1, min=1)
    bias = Bool("add `conv.bias`, one value per filter", default=True)
    examples = (
        Example(x="3x7", num_filters=4, filter_size=3, padding=1, act="relu"),
        Example(x="2x8", num_filters=2, filter_size=2, stride=2, dilation=3, padding_end=2, groups=2, bias=False),
        Example(x="sequence of 1x4", num_filters=2, filter_size=2),
    )


@body(Conv1d)
def conv1d_body(net, x, num_filters, filter_size, stride, padding, padding_end, dilation, groups, bias):
    # Attributes of the height are set, since by default they equal those of the width; only the dilation does not
    # matter in a filter of one row.
    image = net.conv(
        as_image(net, x), num_filters=num_filters, filter_size=filter_size, filter_size_y=1, stride=stride, stride_y=1,
        padding=padding, padding_y=0, padding_end=padding_end, padding_end_y=0, dilation=dilation, groups=groups,
        bias=bias, name="conv",
    )  # fmt: skip
    return as_signal(net, image)


@layer(
    "conv1d_trans",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={
        "Caffe": "Deconvolution",
        "ONNX": "ConvTranspose",
        "Keras": "Conv1DTranspose",
        "PyTorch": "ConvTranspose1d",
    },
    terms=("1-D transposed convolution", "1-D deconvolution"),
    since=1,
)
class Conv1dTrans:
    """1-D transposed convolution: the gradient of `conv1d` with respect to its input.

    It consists of a `conv_trans` on images of one row: `param { of: "conv_trans.weight" }` configures its filters, of
    shape `channels x num_filters / groups x 1 x filter_size`. The output length is

    `Q = (W - 1) * stride - 2 * padding + (filter_size - 1) * dilation + 1 + output_padding`.
    """

    x = Input("N C W", "1-D signals: channels, length", seq=(0, 1, 2))
    y = Output("N K Q", "one channel per filter")
    num_filters = Int("number of filters", min=1, axis="K", aliases=("num_output",))
    filter_size = Int("kernel size", min=1, aliases=("kernel_size",))
    stride = Int("stride: elements of the output per element of the input", default=1, min=1)
    padding = Int("padding: elements removed from the output at both ends", default=0, min=0)
    output_padding = Int("additional elements of the output at the end", default=0, min=0)
    dilation = Int("spacing between the elements of a filter", default=1, min=1)
    groups = Int("number of groups of channels and filters", default=1, min=1)
    bias = Bool("add `conv_trans.bias`, one value per filter", default=True)
    examples = (
        Example(x="3x4", num_filters=2, filter_size=3, stride=2, padding=1, output_padding=1, act="relu"),
        Example(x="2x3", num_filters=4, filter_size=2, dilation=2, groups=2, bias=False),
        Example(x="sequence of 1x3", num_filters=2, filter_size=2),
    )


@body(Conv1dTrans)
def conv1d_trans_body(net, x, num_filters, filter_size, stride, padding, output_padding, dilation, groups, bias):
    image = net.conv_trans(
        as_image(net, x), num_filters=num_filters, filter_size=filter_size, filter_size_y=1, stride=stride, stride_y=1,
        padding=padding, padding_y=0, output_padding=output_padding, output_padding_y=0, dilation=dilation,
        groups=groups, bias=bias, name="conv_trans",
    )  # fmt: skip
    return as_signal(net, image)


@layer(
    "pool1d",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={
        "Mocha": "ChannelPoolingLayer",
        "ONNX": "MaxPool, AveragePool",
        "Keras": "MaxPooling1D, AveragePooling1D",
        "PyTorch": "MaxPool1d, AvgPool1d",
    },
    terms=("1-D pooling", "1-D max pooling", "1-D average pooling"),
    since=1,
)
class Pool1d:
    """1-D pooling: maximum or average of each window, per channel.

    It consists of a `pool` on images of one row; rounding, divisors and equal maxima are as described there. For global
    pooling see `reduction` with `axes: -1`. Mocha's ChannelPooling, which pools over windows of the channels of an
    image, is this layer between two `reshape` layers, with `divisor: KERNEL`.
    """

    x = Input("N C W", "1-D signals: channels, length", seq=(0, 1, 2), kinks=("ties",))
    y = Output("N C Q", "one value per window")
    pool_type = Choice("type of pooling", options={"MAX": "its maximum", "AVERAGE": "its mean"}, default="MAX")
    pool_size = Int("window size", min=1, aliases=("kernel_size",))
    stride = Int("step between adjacent windows", default=1, min=1)
    padding = Int("padding at both ends", default=0, min=0)
    padding_end = Int("padding at the end, if it differs from the start", min=0, default_from="padding")
    rounding = Choice("treatment of a last window that exceeds the input", options=ROUNDINGS, default="CEIL")
    divisor = Choice("divisor of average pooling", options=DIVISORS, default="VALID")
    examples = (
        Example(x="2x7", pool_size=2, stride=2),
        Example(x="1x6", pool_type="AVERAGE", pool_size=3, stride=2, padding=1, divisor="PADDED", rounding="FLOOR"),
        Example(x="1x5", pool_type="AVERAGE", pool_size=2, stride=3, padding=1, rounding="CEIL_ALL"),
        Example(x="sequence of 2x4", pool_type="AVERAGE", pool_size=2, padding_end=1, divisor="KERNEL", act="relu"),
    )


@body(Pool1d)
def pool1d_body(net, x, pool_type, pool_size, stride, padding, padding_end, rounding, divisor):
    image = net.pool(
        as_image(net, x), pool_type=pool_type, pool_size=pool_size, pool_size_y=1, stride=stride, stride_y=1,
        padding=padding, padding_y=0, padding_end=padding_end, padding_end_y=0, rounding=rounding, divisor=divisor,
        name="pool",
    )  # fmt: skip
    return as_signal(net, image)


def as_image(net, x):
    """1-D signals as images of one row."""
    return net.reshape(x, dims=[x.type.dims[0], 1, x.type.dims[1]], name="image")


def as_signal(net, image):
    """Images of one row as 1-D signals."""
    return net.reshape(image, dims=[image.type.dims[0], image.type.dims[2]], name="signal")
