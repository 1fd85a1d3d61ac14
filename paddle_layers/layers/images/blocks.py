"""Layers made of layers, for images: blocks with a way around them, groups of convolutions."""

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


@layer("residual_block", since=1)
class ResidualBlock:
    """Two convolutions with a way around them (He et al. 2015): `relu(two convolutions of x + shortcut of x)`.

    Each is a 3 by 3 `conv` without bias and a `batch_norm`, the first one with `relu`. The shortcut is `x` itself, or a
    1 by 1 `conv` and a `batch_norm` of it where the number of channels or the size of the image changes.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2))
    y = Output("N K P Q", "images of `num_filters` channels")
    num_filters = Int("channels of the output", min=1, axis="K")
    stride = Int("step of the first convolution; the image becomes smaller by it", default=1, min=1)
    examples = (
        Example(x="2x3x4", num_filters=2),
        Example(x="2x5x4", num_filters=3, stride=2),
    )


@body(ResidualBlock)
def residual_block_body(net, x, num_filters, stride, C):
    def conv_norm(image, name, filter_size, stride=1, act="linear"):
        padding = filter_size // 2
        image = net.conv(
            image, num_filters=num_filters, filter_size=filter_size, stride=stride, padding=padding, bias=False,
            name=name,
        )  # fmt: skip
        return net.batch_norm(image, act=act, name=f"{name}_norm")

    inner = conv_norm(x, "conv1", 3, stride, "relu")
    inner = conv_norm(inner, "conv2", 3)
    shortcut = x if stride == 1 and num_filters == C else conv_norm(x, "shortcut", 1, stride)
    return net.addto(inner, shortcut, act="relu", name="sum")


@layer("img_conv_group", elsewhere={"Paddle": "img_conv_group"}, since=1)
class ImgConvGroup:
    """Convolutions one after the other, then a pool: the stages of LeNet and of VGG networks.

    One number of filters makes Paddle's `simple_img_conv_pool`, or `img_conv_bn_pool` with `batch_norm`. Every
    convolution is `conv`, followed by `batch_norm` where `batch_norm` is set, and `act`.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2))
    y = Output("N K P Q", "images, made smaller by the pool")
    num_filters = Ints("filters of each convolution", min=1, min_items=1, aliases=("conv_num_filter",))
    filter_size = Int("rows and columns of the filters", default=3, min=1, aliases=("conv_filter_size",))
    padding = Int("zeros around the image before each convolution", default=1, min=0, aliases=("conv_padding",))
    act = String("elementwise layer applied to each convolution", default="relu", aliases=("conv_act",))
    batch_norm = Bool("a `batch_norm` in place of the bias", default=False, aliases=("conv_with_batchnorm",))
    pool_type = Choice("what the pool keeps", options={"MAX": "the largest", "AVERAGE": "the mean"}, default="MAX")
    pool_size = Int("rows and columns of the pool's window", min=1)
    pool_stride = Int("steps of the pool's window", min=1, default_from="pool_size")
    examples = (
        Example(x="1x6x6", num_filters=[2], filter_size=3, padding=0, pool_size=2),
        Example(x="2x4x5", num_filters=[2, 3], batch_norm=True, pool_type="AVERAGE", pool_size=3, pool_stride=1),
    )


@body(ImgConvGroup)
def img_conv_group_body(
    net, x, num_filters, filter_size, padding, act, batch_norm, pool_type, pool_size, pool_stride
):  # fmt: skip
    for number, filters in enumerate(num_filters, 1):
        own = {"bias": False} if batch_norm else {"act": act}
        x = net.conv(x, num_filters=filters, filter_size=filter_size, padding=padding, name=f"conv{number}", **own)
        if batch_norm:
            x = net.batch_norm(x, act=act, name=f"norm{number}")
    return net.pool(x, pool_type=pool_type, pool_size=pool_size, stride=pool_stride, name="pool")


@layer("maxout", elsewhere={"Paddle": "maxout"}, since=1)
class Maxout:
    """The largest of each run of neighbouring channels, at every pixel (Goodfellow et al. 2013).

    `y[n, k] = max of x[n, k * groups] to x[n, k * groups + groups - 1]`; equal maxima and NaN are as in `pool`. Behind
    a `conv` or an `fc` it is an activation that is learned, with `groups` straight pieces.
    """

    x = Input("N C ...", "rows or images", seq=(0, 1, 2), kinks=("ties",))
    y = Output("N K ...", "a channel for each run")
    groups = Int("channels of a run", min=2)
    examples = (
        Example(x="6x2x3", groups=2),
        Example(x="6", groups=3),
        Example(x="sequence of 4x2", groups=2),
    )


@infer(Maxout)
def maxout_channels(C, groups):
    require(C % groups == 0, "groups", f"runs of {groups} channels do not make {C}")
    return {"K": C // groups}


@body(Maxout)
def maxout_body(net, x, groups):
    channels, *rest = x.type.dims
    runs = net.reshape(x, dims=[channels // groups, groups, *rest], name="runs")
    return net.reduction(runs, operation="MAX", axes=[2], name="largest")
