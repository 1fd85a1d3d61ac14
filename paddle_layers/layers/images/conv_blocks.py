"""Composite layers for images: residual blocks, groups of convolutions."""

from paddle_layers.define import (
    Bool,
    Choice,
    Example,
    Input,
    Int,
    Ints,
    Output,
    String,
    body,
    infer,
    layer,
    require,
)


@layer(
    "residual_block",
    terms=("residual block", "ResNet block", "skip connection"),
    since=1,
)
class ResidualBlock:
    """Residual block with two 3x3 convolutions and a skip connection (He et al. 2015).

    `y = relu(f(x) + shortcut(x))`, where `f` is two `conv` layers without bias, each followed by a `batch_norm`, the
    first one with `relu`. The shortcut is the identity, or a 1x1 `conv` and a `batch_norm` (projection shortcut) if the
    number of channels or the image size changes.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2))
    y = Output("N K P Q", "images with `num_filters` channels")
    num_filters = Int("number of output channels", min=1, axis="K")
    stride = Int("stride of the first convolution", default=1, min=1)
    examples = (
        Example(x="2x3x4", num_filters=2),
        Example(x="2x5x4", num_filters=3, stride=2),
    )


@body(ResidualBlock)
def residual_block_body(net, x, num_filters, stride, C):
    def conv_norm(image, name, filter_size, stride=1, act="linear"):
        padding = filter_size // 2
        # No bias: `batch_norm` subtracts the mean of each channel and with it any bias.
        image = net.conv(
            image, num_filters=num_filters, filter_size=filter_size, stride=stride, padding=padding, bias=False,
            name=name,
        )  # fmt: skip
        return net.batch_norm(image, act=act, name=f"{name}_norm")

    inner = conv_norm(x, "conv1", 3, stride, "relu")
    inner = conv_norm(inner, "conv2", 3)
    # A projection only where the shape changes: the identity passes gradients on unchanged.
    shortcut = x if stride == 1 and num_filters == C else conv_norm(x, "shortcut", 1, stride)
    return net.addto(inner, shortcut, act="relu", name="residual")


@layer(
    "img_conv_group",
    elsewhere={"Paddle": "img_conv_group"},
    terms=("VGG", "LeNet", "convolutions followed by pooling"),
    since=1,
)
class ImgConvGroup:
    """Convolutions followed by pooling: one stage of LeNet or VGG.

    With one number of filters it is Paddle's `simple_img_conv_pool`, or `img_conv_bn_pool` with `batch_norm`. Each
    convolution is a `conv`, followed by a `batch_norm` if `batch_norm` is set, and `act`.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2))
    y = Output("N K P Q", "the pooled images")
    num_filters = Ints("number of filters of each convolution", min=1, min_items=1, aliases=("conv_num_filter",))
    filter_size = Int("kernel size", default=3, min=1, aliases=("conv_filter_size",))
    padding = Int("zero padding of each convolution", default=1, min=0, aliases=("conv_padding",))
    act = String("activation of each convolution", default="relu", aliases=("conv_act",))
    batch_norm = Bool("batch normalization instead of the bias", default=False, aliases=("conv_with_batchnorm",))
    pool_type = Choice("type of pooling", options={"MAX": "the largest", "AVERAGE": "the mean"}, default="MAX")
    pool_size = Int("window size of the pooling", min=1)
    pool_stride = Int("stride of the pooling", min=1, default_from="pool_size")
    examples = (
        Example(x="1x6x6", num_filters=[2], filter_size=3, padding=0, pool_size=2),
        Example(x="2x4x5", num_filters=[2, 3], batch_norm=True, pool_type="AVERAGE", pool_size=3, pool_stride=1),
    )


@body(ImgConvGroup)
def img_conv_group_body(
    net, x, num_filters, filter_size, padding, act, batch_norm, pool_type, pool_size, pool_stride
):  # fmt: skip
    for number, filters in enumerate(num_filters, 1):
        # With `batch_norm` the activation follows the normalization.
        own = {"bias": False} if batch_norm else {"act": act}
        x = net.conv(x, num_filters=filters, filter_size=filter_size, padding=padding, name=f"conv{number}", **own)
        if batch_norm:
            x = net.batch_norm(x, act=act, name=f"norm{number}")
    return net.pool(x, pool_type=pool_type, pool_size=pool_size, stride=pool_stride, name="pool")


@layer("maxout", elsewhere={"Paddle": "maxout"}, terms=("maxout",), since=1)
class Maxout:
    """Maxout activation: the maximum of each group of adjacent channels, at every pixel (Goodfellow et al. 2013).

    `y[n, k] = max of x[n, k * groups] to x[n, k * groups + groups - 1]`; equal maxima and NaN are handled as in `pool`.
    After a `conv` or an `fc` it is a learned, piecewise linear activation with `groups` pieces.
    """

    x = Input("N C ...", "feature vectors or images", seq=(0, 1, 2), kinks=("ties",))
    y = Output("N K ...", "one channel per group")
    groups = Int("number of channels per group", min=2)
    examples = (
        Example(x="6x2x3", groups=2),
        Example(x="6", groups=3),
        Example(x="sequence of 4x2", groups=2),
    )


@infer(Maxout)
def maxout_channels(C, groups):
    require(C % groups == 0, "groups", f"{C} channels cannot be divided into groups of {groups}")
    return {"K": C // groups}


@body(Maxout)
def maxout_body(net, x, groups):
    channels, *rest = x.type.dims
    # `groups` adjacent channels become an axis of their group, over which `reduction` takes the maximum.
    grouped = net.reshape(x, dims=[channels // groups, groups, *rest], name="groups")
    return net.reduction(grouped, operation="MAX", axes=[2], name="max")
