"""3-D convolution and transposed convolution. Attributes are lists in the order depth, height, width."""

from paddle_layers.define import (
    Bias,
    Example,
    Input,
    Int,
    Ints,
    Numbers,
    Output,
    Param,
    each,
    gradient,
    infer,
    layer,
    onnx,
    with_names,
)
from paddle_layers.layers.axes import for_each_axis
from paddle_layers.layers.images.convolutions import check_groups, positions
from paddle_layers.layers.images.transposed_convolutions import EXCHANGED, enlarged

UNITS = ("planes", "rows", "columns")
"""What the axes of a volume count, in their order."""


@layer(
    "conv3d",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Paddle": "conv3d", "Caffe": "Convolution", "ONNX": "Conv", "Keras": "Conv3D", "PyTorch": "Conv3d"},
    terms=("3-D convolution", "volumetric convolution"),
    since=1,
)
class Conv3d:
    """3-D convolution (cross-correlation) over volumes: CT and MRI scans, video.

    `y[n, k, r, p, q] = bias[k] + sum over d, e, a, b of weight[k, d, e, a, b] * x[n, first(k) + d, z, h, w]` with
    `z = r * stride - padding + e * dilation` along the depth, and `h` and `w` in the same way along rows and columns:
    `conv` with one more axis. Elements outside are zero; `groups` divide channels and filters as in `conv`.

    Attributes per axis are lists in the order depth, height, width, such as `filter_size: [3, 5, 5]`, or one value for
    all three. The output size along an axis is rounded down:

    `R = (Z + padding + padding_end - ((filter_size - 1) * dilation + 1)) // stride + 1`

    `padding_end` is the padding at the end, if it differs. Paddle's lists begin with the width, it has no dilation, and
    its filter channels are those of a group, as here. For 1-D signals see `conv1d`.
    """

    x = Input("N C Z H W", "3-D volumes: channels, depth, height, width", seq=(0, 1, 2))
    weight = Param("K D E A B", "filters: channels per group, kernel depth, height and width", init="msra")
    bias = Bias("K", "one value per filter")
    y = Output("N K R P Q", "one channel per filter")
    num_filters = Int("number of filters", min=1, axis="K", aliases=("num_output",))
    filter_size = Ints("kernel size along each axis", min=1, min_items=1, max_items=3, aliases=("kernel_size",))
    stride = Ints("stride along each axis", default=(1,), min=1, min_items=1, max_items=3)
    padding = Ints("zero padding at both ends of each axis", default=(0,), min=0, min_items=1, max_items=3)
    padding_end = Ints(
        "zero padding at the end, if it differs from the start", min=0, min_items=1, max_items=3, default_from="padding"
    )
    dilation = Ints("dilation along each axis", default=(1,), min=1, min_items=1, max_items=3)
    groups = Int("number of groups of channels and filters", default=1, min=1)
    step = Numbers("stride along each axis")
    ahead = Numbers("zero padding at the start of each axis")
    behind = Numbers("zero padding at the end of each axis")
    gap = Numbers("dilation along each axis")
    examples = (
        Example(x="2x3x4x4", num_filters=3, filter_size=[2, 3, 3]),
        Example(x="1x4x3x5", num_filters=2, filter_size=[3, 2, 2], stride=[2, 1, 3], padding=[1, 0, 2], act="relu"),
        Example(x="4x3x4x5", num_filters=2, filter_size=[2], dilation=[1, 2, 3], padding_end=[1, 0, 2], groups=2),
        Example(x="sequence of 1x2x2x3", num_filters=2, filter_size=[1], bias=False),
    )


@infer(Conv3d)
def conv3d_numbers(C, Z, H, W, num_filters, filter_size, stride, padding, padding_end, dilation, groups):
    check_groups(C, num_filters, groups)
    sizes = each_axis(filter_size, "filter_size")
    step, gap = each_axis(stride, "stride"), each_axis(dilation, "dilation")
    ahead, behind = each_axis(padding, "padding"), each_axis(padding_end, "padding_end")
    counts = [
        positions(extent, sizes[at], step[at], ahead[at] + behind[at], gap[at], "filter_size", UNITS[at])
        for at, extent in enumerate((Z, H, W))
    ]
    return {
        **dict(zip("EAB", sizes, strict=True)), **dict(zip("RPQ", counts, strict=True)), "D": C // groups,
        "step": step, "ahead": ahead, "behind": behind, "gap": gap,
    }  # fmt: skip


def each_axis(values, attribute):
    """A number for depth, rows and columns each."""
    return for_each_axis(values, attribute, range(3), [0, 0, 0])


@each(Conv3d.y)
def conv3d_y(n, k, r, p, q, x, weight, Z, H, W, K, D, E, A, B, step, ahead, gap, groups):
    first = k // (K // groups) * D
    total = 0.0
    for d in range(D):
        for e in range(E):
            z = r * step[0] - ahead[0] + e * gap[0]
            # Elements outside are skipped, not multiplied by 0: an infinite weight would give NaN.
            if 0 <= z < Z:
                for a in range(A):
                    h = p * step[1] - ahead[1] + a * gap[1]
                    if 0 <= h < H:
                        for b in range(B):
                            w = q * step[2] - ahead[2] + b * gap[2]
                            if 0 <= w < W:
                                total += x[n, first + d, z, h, w] * weight[k, d, e, a, b]
    return total


@gradient(Conv3d.x)
def conv3d_dx(n, c, z, h, w, dy, weight, K, D, E, A, B, R, P, Q, step, ahead, gap, groups):
    filters = K // groups
    first = c // D * filters
    total = 0.0
    for e in range(E):
        back = z + ahead[0] - e * gap[0]
        # Between two strides there is no element at this distance.
        if back >= 0 and back % step[0] == 0 and back // step[0] < R:
            for a in range(A):
                top = h + ahead[1] - a * gap[1]
                if top >= 0 and top % step[1] == 0 and top // step[1] < P:
                    for b in range(B):
                        left = w + ahead[2] - b * gap[2]
                        if left >= 0 and left % step[2] == 0 and left // step[2] < Q:
                            for k in range(first, first + filters):
                                change = dy[n, k, back // step[0], top // step[1], left // step[2]]
                                total += change * weight[k, c % D, e, a, b]
    return total


@gradient(Conv3d.weight)
def conv3d_dweight(k, d, e, a, b, dy, x, N, Z, H, W, K, D, R, P, Q, step, ahead, gap, groups):
    c = k // (K // groups) * D + d
    total = 0.0
    for n in range(N):
        for r in range(R):
            z = r * step[0] - ahead[0] + e * gap[0]
            if 0 <= z < Z:
                for p in range(P):
                    h = p * step[1] - ahead[1] + a * gap[1]
                    if 0 <= h < H:
                        for q in range(Q):
                            w = q * step[2] - ahead[2] + b * gap[2]
                            if 0 <= w < W:
                                total += x[n, c, z, h, w] * dy[n, k, r, p, q]
    return total


@onnx(Conv3d)
def conv3d_onnx(graph, x, weight, bias, step, ahead, behind, gap, groups):
    return graph.Conv(
        x, weight, bias, strides=list(step), pads=[*ahead, *behind], dilations=list(gap), group=groups
    )  # fmt: skip


@layer(
    "conv3d_trans",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={
        "Paddle": "deconv3d",
        "Caffe": "Deconvolution",
        "ONNX": "ConvTranspose",
        "Keras": "Conv3DTranspose",
        "PyTorch": "ConvTranspose3d",
    },
    terms=("3-D transposed convolution", "3-D deconvolution"),
    since=1,
)
class Conv3dTrans:
    """3-D transposed convolution: the gradient of `conv3d` with respect to its input.

    `conv_trans` with one more axis: element `(z, h, w)` adds
    `weight[c, d, e, a, b] * x[n, c, z, h, w]` to the element with `r = z * stride - padding + e * dilation`, and `p`
    and `q` in the same way. A `conv3d` with the same attributes maps a volume of `R x P x Q` to one of the size of `x`,
    and

    `R = (Z - 1) * stride - 2 * padding + (filter_size - 1) * dilation + 1 + output_padding`

    Attributes per axis are lists in the order depth, height, width, or one value for all three. Paddle's lists begin
    with the width, and it has no dilation.
    """

    x = Input("N C Z H W", "3-D volumes: channels, depth, height, width", seq=(0, 1, 2))
    weight = Param(
        "C D E A B", "filters: input channels, filters per group, kernel depth, height and width", init="msra"
    )
    bias = Bias("K", "one value per filter")
    y = Output("N K R P Q", "one channel per filter")
    num_filters = Int("number of filters", min=1, axis="K", aliases=("num_output",))
    filter_size = Ints("kernel size along each axis", min=1, min_items=1, max_items=3, aliases=("kernel_size",))
    stride = Ints(
        "stride along each axis: elements of the output per element of the input",
        default=(1,),
        min=1,
        min_items=1,
        max_items=3,
    )
    padding = Ints(
        "padding: elements removed from the output at both ends", default=(0,), min=0, min_items=1, max_items=3
    )
    output_padding = Ints("additional elements of the output at the end", default=(0,), min=0, min_items=1, max_items=3)
    dilation = Ints("dilation along each axis", default=(1,), min=1, min_items=1, max_items=3)
    groups = Int("number of groups of channels and filters", default=1, min=1)
    step = Numbers("stride along each axis")
    ahead = Numbers("padding along each axis")
    more = Numbers("output padding along each axis")
    gap = Numbers("dilation along each axis")
    examples = (
        Example(x="2x2x3x2", num_filters=3, filter_size=[2, 3, 2], stride=[2, 1, 3], padding=[0, 1, 1], act="relu"),
        Example(x="4x2x2x2", num_filters=2, filter_size=[2], dilation=[1, 2, 3], groups=2, bias=False),
        Example(x="1x2x2x3", num_filters=1, filter_size=[2], stride=[2, 3, 2], output_padding=[1, 2, 0]),
        Example(x="sequence of 1x1x2x2", num_filters=2, filter_size=[2]),
    )


@infer(Conv3dTrans)
def conv3d_trans_numbers(C, Z, H, W, num_filters, filter_size, stride, padding, output_padding, dilation, groups):
    check_groups(C, num_filters, groups)
    sizes, step = each_axis(filter_size, "filter_size"), each_axis(stride, "stride")
    ahead = each_axis(padding, "padding")
    more, gap = each_axis(output_padding, "output_padding"), each_axis(dilation, "dilation")
    counts = [
        enlarged(
            extent, (sizes[at] - 1) * gap[at] + 1, step[at], ahead[at], more[at],
            "padding", "output_padding", UNITS[at],
        )
        for at, extent in enumerate((Z, H, W))
    ]  # fmt: skip
    return {
        **dict(zip("EAB", sizes, strict=True)), **dict(zip("RPQ", counts, strict=True)), "D": num_filters // groups,
        "step": step, "ahead": ahead, "more": more, "gap": gap,
    }  # fmt: skip


VOLUMES_EXCHANGED = {**EXCHANGED, "z": "r", "r": "z", "Z": "R", "R": "Z"}
each(Conv3dTrans.y)(with_names(conv3d_dx, "conv3d_trans_y", VOLUMES_EXCHANGED))
gradient(Conv3dTrans.x)(with_names(conv3d_y, "conv3d_trans_dx", VOLUMES_EXCHANGED))
gradient(Conv3dTrans.weight)(with_names(conv3d_dweight, "conv3d_trans_dweight", VOLUMES_EXCHANGED))


@onnx(Conv3dTrans)
def conv3d_trans_onnx(graph, x, weight, bias, step, ahead, more, gap, groups):
    return graph.ConvTranspose(
        x, weight, bias, strides=list(step), pads=[*ahead, *ahead], output_padding=list(more), dilations=list(gap),
        group=groups,
    )  # fmt: skip
