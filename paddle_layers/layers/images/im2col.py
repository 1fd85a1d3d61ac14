"""Image patches: im2col, patch sequences, spatial pyramid pooling."""

import numpy as np

from paddle_layers.define import (
    Choice,
    Example,
    Input,
    Int,
    Output,
    body,
    each,
    gradient,
    infer,
    layer,
    onnx,
    require,
)
from paddle_layers.layers.images.convolutions import positions


@layer(
    "im2col",
    elsewhere={"Caffe": "Im2col", "PyTorch": "Unfold"},
    terms=("im2col", "unfold"),
    since=1,
)
class Im2col:
    """Im2col (unfold): the elements of each window of an image as channels.

    `y[n, (c * A + a) * B + b, p, q] = x[n, c, p * stride_y - padding_y + a * dilation_y, q * stride - padding + b *
    dilation]`, zero outside the image, for windows of `A = filter_size_y` rows and `B = filter_size` columns: what the
    filters of a `conv` with the same attributes read. The gradient of an element is the sum over all windows that
    contain it (col2im). PyTorch's Unfold flattens the windows to one axis: add a `reshape`. For windows as steps of a
    sequence see `block_expand`.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2))
    y = Output("N K P Q", "the elements of each window as channels")
    filter_size = Int("window width", min=1, aliases=("kernel_size",))
    filter_size_y = Int("window height", min=1, default_from="filter_size")
    stride = Int("horizontal stride", default=1, min=1)
    stride_y = Int("vertical stride", min=1, default_from="stride")
    padding = Int("horizontal zero padding: columns added on the left and on the right", default=0, min=0)
    padding_y = Int("vertical zero padding: rows added at the top and at the bottom", min=0, default_from="padding")
    padding_end = Int("zero padding on the right, if it differs from the left", min=0, default_from="padding")
    padding_end_y = Int("zero padding at the bottom, if it differs from the top", min=0, default_from="padding_y")
    dilation = Int("horizontal dilation", default=1, min=1)
    dilation_y = Int("vertical dilation", min=1, default_from="dilation")
    examples = (
        Example(x="2x4x5", filter_size=2),
        Example(x="1x6x5", filter_size=2, filter_size_y=3, stride=2, stride_y=1, padding=1, dilation_y=2),
        Example(x="2x4x3", filter_size=2, stride=2, padding=0, padding_end=1, padding_end_y=2, dilation=2),
        Example(x="sequence of 1x3x3", filter_size=2),
    )


@infer(Im2col)
def im2col_sizes(
    C, H, W, filter_size, filter_size_y, stride, stride_y,
    padding, padding_y, padding_end, padding_end_y, dilation, dilation_y,
):  # fmt: skip
    return {
        "K": C * filter_size_y * filter_size,
        "P": positions(H, filter_size_y, stride_y, padding_y + padding_end_y, dilation_y, "filter_size_y", "rows"),
        "Q": positions(W, filter_size, stride, padding + padding_end, dilation, "filter_size", "columns"),
    }


@each(Im2col.y)
def im2col_y(
    n, k, p, q, x, H, W, filter_size, filter_size_y, stride, stride_y, padding, padding_y, dilation, dilation_y
):
    h = p * stride_y - padding_y + k // filter_size % filter_size_y * dilation_y
    w = q * stride - padding + k % filter_size * dilation
    if h < 0 or h >= H or w < 0 or w >= W:
        return 0.0
    return x[n, k // (filter_size_y * filter_size), h, w]


@gradient(Im2col.x)
def im2col_dx(
    n, c, h, w, dy, P, Q, filter_size, filter_size_y, stride, stride_y, padding, padding_y, dilation, dilation_y
):
    total = 0.0
    for a in range(filter_size_y):
        top = h + padding_y - a * dilation_y
        # Between two strides there is no window that begins at this distance.
        if top >= 0 and top % stride_y == 0 and top // stride_y < P:
            for b in range(filter_size):
                left = w + padding - b * dilation
                if left >= 0 and left % stride == 0 and left // stride < Q:
                    total += dy[n, (c * filter_size_y + a) * filter_size + b, top // stride_y, left // stride]
    return total


@onnx(Im2col)
def im2col_onnx(
    graph, x, C, filter_size, filter_size_y, stride, stride_y,
    padding, padding_y, padding_end, padding_end_y, dilation, dilation_y,
):  # fmt: skip
    return graph.Conv(
        x, single_elements(C, filter_size_y, filter_size), strides=[stride_y, stride],
        pads=[padding_y, padding, padding_end_y, padding_end], dilations=[dilation_y, dilation], group=C,
    )  # fmt: skip


def single_elements(channels, rows, columns):
    """Filters of each channel that take one element of a window each."""
    size = rows * columns
    return np.tile(np.eye(size).reshape(size, 1, rows, columns), (channels, 1, 1, 1))


@layer(
    "block_expand",
    elsewhere={"Paddle": "blockexpand"},
    terms=("patch extraction", "image patches", "patch embedding"),
    since=1,
)
class BlockExpand:
    """Patch extraction: divides images into patches that become the steps of a sequence, in row-major order.

    A step has the elements of a patch, channel by channel, as in `im2col`: columns of a line of text for a recurrent
    network, or patches for a `transformer_block` (vision transformer). The number of patches along an axis is rounded
    up, `1 + ceil((H + 2 * padding_y - block_y) / stride_y)`, and pixels outside the image are 0; an image smaller than
    a patch has one patch.

    Paddle's `stride` defaults to 0, which does not work; here patches are adjacent by default.
    """

    x = Input("N C H W", "images: channels, height, width")
    y = Output("T:N K", "one sequence of patches per image")
    block = Int("patch width", min=1, aliases=("block_x",))
    block_y = Int("patch height", min=1, default_from="block")
    stride = Int("horizontal stride", min=1, default_from="block", aliases=("stride_x",))
    stride_y = Int("vertical stride", min=1, default_from="block_y")
    padding = Int(
        "horizontal zero padding: columns on the left and on the right", default=0, min=0, aliases=("padding_x",)
    )
    padding_y = Int("vertical zero padding: rows at the top and at the bottom", min=0, default_from="padding")
    examples = (
        Example(x="2x4x6", block=2),
        Example(x="1x3x5", block=2, block_y=3, stride=1, padding_y=1),
        Example(x="1x2x2", block=3, block_y=1, padding=0, padding_y=2, stride_y=2),
    )


@body(BlockExpand)
def block_expand_body(net, x, block, block_y, stride, stride_y, padding, padding_y, C, H, W):
    patches = net.im2col(
        x, filter_size=block, filter_size_y=block_y, stride=stride, stride_y=stride_y, padding=padding,
        padding_y=padding_y, padding_end=rest(W, block, stride, padding),
        padding_end_y=rest(H, block_y, stride_y, padding_y), name="patches",
    )  # fmt: skip
    # Channels last: the elements of a patch become adjacent, and patches follow each other row by row.
    channels_last = net.permute(patches, order=[2, 3, 1], name="channels_last")
    return net.to_sequence(channels_last, size=C * block_y * block, name="steps")


def rest(extent, block, stride, padding):
    """Padding after an axis with which the number of patches equals the rounded-up one."""
    # Rounded up, and no step for an image that is smaller than a patch.
    more = -(-max(extent + 2 * padding - block, 0) // stride)
    return more * stride + block - extent - padding


@layer("spp", elsewhere={"Paddle": "spp", "Caffe": "SPP"}, terms=("spatial pyramid pooling",), since=1)
class SpatialPyramidPool:
    """Spatial pyramid pooling: pools an image into 1, 4, 16, ... bins, so that images of any size give equal widths.

    (He et al. 2014): level l has `2 ** l` bins along each axis, each of `ceil(H / 2 ** l)` rows and `ceil(W / 2 ** l)`
    columns, computed by a `pool` with the necessary padding around the image, an odd pixel at the start. A row of
    `C * (4 ** pyramid_height - 1) / 3` values contains level after level, each channel by channel.

    An average counts only the pixels in the bin, as in Paddle; Caffe also counts the padding. As in Caffe, an image
    whose bins would be inside the padding is rejected: use fewer levels.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2))
    y = Output("N K", "the bins of all levels, concatenated")
    pyramid_height = Int("number of levels", min=1, max=16)
    pool_type = Choice("type of pooling", options={"MAX": "its maximum", "AVERAGE": "its mean"}, default="MAX")
    examples = (
        Example(x="2x4x6", pyramid_height=2),
        Example(x="1x7x5", pyramid_height=2, pool_type="AVERAGE"),
        Example(x="sequence of 1x8x4", pyramid_height=3),
    )


@infer(SpatialPyramidPool)
def spp_sizes(C, H, W, pyramid_height):
    for level in range(pyramid_height):
        for extent, unit in ((H, "rows"), (W, "columns")):
            # A bin in the padding only would have no maximum.
            size, before, _ = bins(extent, 2**level)
            empty = f"{2**level} bins of level {level} are too many for {extent} {unit}: use fewer levels"
            require(before < size, "pyramid_height", empty)
    return {"K": C * (4**pyramid_height - 1) // 3}


@body(SpatialPyramidPool)
def spp_body(net, x, pyramid_height, pool_type, H, W):
    levels = []
    for level in range(pyramid_height):
        rows, above, below = bins(H, 2**level)
        columns, left, right = bins(W, 2**level)
        pooled = net.pool(
            x, pool_type=pool_type, rounding="FLOOR", pool_size=columns, pool_size_y=rows, stride=columns,
            stride_y=rows, padding=left, padding_y=above, padding_end=right, padding_end_y=below, name=f"level{level}",
        )  # fmt: skip
        levels.append(net.flatten(pooled, name=f"bins{level}"))
    return net.concat(*levels, name="concat") if len(levels) > 1 else levels[0]


def bins(extent, count):
    """Size of a bin, and the padding before and after the axis that yields `count` bins."""
    size = -(-extent // count)
    # Of an odd number the first half is larger, as in Caffe.
    lacks = size * count - extent
    return size, (lacks + 1) // 2, lacks // 2
