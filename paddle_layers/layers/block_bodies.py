"""Layers made of layers: gates, blocks of deep networks with a way around them, groups of convolutions."""

from paddle_layers.define import Bool, Choice, Example, Float, Input, Int, Ints, Output, String, body, layer, require


@layer("gated_unit", elsewhere={"Paddle": "gated_unit"}, since=1)
class GatedUnit:
    """A map of every row times a gate: `y = act(x @ V + c) * sigmoid(x @ W + b)` (Dauphin et al. 2017).

    `V` and `c` are `value.weight` and `value.bias`, `W` and `b` those of `gate`. Images are taken as rows, as by `fc`.
    """

    x = Input("N C...", "rows of features", seq=(0, 1, 2))
    y = Output("N K", "`size` values per row")
    size = Int("number of outputs", min=1, axis="K")
    act = String("elementwise layer applied to the map, before the gate", default="linear")
    bias = Bool("add a bias to the map", default=True, aliases=("inproj_bias_attr",))
    gate_bias = Bool("add a bias to the gate", default=True)
    examples = (
        Example(x="4", size=3),
        Example(x="2x1x2", size=2, act="tanh", gate_bias=False),
        Example(x="sequence of 2", size=2, bias=False),
    )


@body(GatedUnit)
def gated_unit_body(net, x, size, act, bias, gate_bias):
    value = net.fc(x, size=size, act=act, bias=bias, name="value")
    gate = net.fc(x, size=size, act="sigmoid", bias=gate_bias, name="gate")
    return net.eltwise(value, gate, operation="PROD", name="product")


@layer("residual_block", since=1)
class ResidualBlock:
    """Two convolutions with a way around them (He et al. 2015): `relu(two convolutions of x + shortcut of x)`.

    Each is a 3 by 3 `conv` without bias and a `batch_norm`, the first one with `relu`. The shortcut is `x` itself, or a
    1 by 1 `conv` and a `batch_norm` of it where the number of channels or the size of the image changes.
    """

    x = Input("N C H W", "images: channels, rows, columns", seq=(0, 1, 2))
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


@layer("transformer_block", since=1)
class TransformerBlock:
    """Attention of a sequence to itself, then two maps of every row, each with a way around it (Vaswani et al. 2017).

    `s = x + merge(attention(norm(x)))`, `y = s + narrow(gelu(wide(norm(s))))`. The rows are brought to one size before
    the parts and not behind them, which trains more steadily. Places in the sequence are not known to it: put
    `position_embedding` or `sinusoidal_position` before the first block.
    """

    x = Input("T:S C", "rows of sequences", seq=(1,))
    y = Output("T:S C", "same shape as `x`")
    num_heads = Int("parts into which the columns are cut", default=1, min=1)
    hidden = Int("columns between the two maps; when absent: four times those of `x`", min=1, optional=True)
    causal = Bool("a row sees itself and the rows before it only", default=False)
    norm = Choice(
        "how rows are brought to one size",
        options={"LAYER_NORM": "mean 0 and variance 1", "RMS_NORM": "mean of the squares 1"},
        default="LAYER_NORM",
    )
    drop_rate = Float("share of what each part adds that is set to zero while training", default=0.0, min=0, below=1)
    examples = (
        Example(x="sequence of 4", num_heads=2),
        Example(x="sequence of 2", hidden=3, causal=True, norm="RMS_NORM"),
        Example(x="sequence of 2", hidden=2, drop_rate=0.5),
    )


@body(TransformerBlock)
def transformer_block_body(net, x, num_heads, hidden, causal, norm, drop_rate, C):
    require(C % num_heads == 0, "num_heads", f"{C} columns cannot be cut into {num_heads} heads")
    normed = net.layer_norm if norm == "LAYER_NORM" else net.rms_norm
    look = normed(x, name="look")
    query = net.fc(look, size=C, name="query")
    keys = net.fc(look, size=C, bias=False, name="keys")
    values = net.fc(look, size=C, bias=False, name="values")
    heads = net.multi_head_attention(query, keys, values, num_heads=num_heads, causal=causal, name="heads")
    merged = net.fc(heads, size=C, drop_rate=drop_rate, name="merge")
    seen = net.addto(x, merged, name="seen")
    think = normed(seen, name="think")
    wide = net.fc(think, size=4 * C if hidden is None else hidden, act="gelu", name="wide")
    narrow = net.fc(wide, size=C, drop_rate=drop_rate, name="narrow")
    return net.addto(seen, narrow, name="sum")


@layer("img_conv_group", elsewhere={"Paddle": "img_conv_group"}, since=1)
class ImgConvGroup:
    """Convolutions one after the other, then a pool: the stages of LeNet and of VGG networks.

    One number of filters makes Paddle's `simple_img_conv_pool`, or `img_conv_bn_pool` with `batch_norm`. Every
    convolution is `conv`, followed by `batch_norm` where `batch_norm` is set, and `act`.
    """

    x = Input("N C H W", "images: channels, rows, columns", seq=(0, 1, 2))
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
