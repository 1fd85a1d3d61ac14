"""Windows of images, taken out: as channels, as rows of a sequence, or pooled in several sizes."""

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


@layer("im2col", elsewhere={"Caffe": "Im2col", "PyTorch": "Unfold"}, since=1)
class Im2col:
    """Puts the elements under each window of an image side by side, as channels.

    `y[n, (c * A + a) * B + b, p, q] = x[n, c, p * stride_y - padding_y + a * dilation_y, q * stride - padding + b *
    dilation]`, 0 outside of the image, for windows of `A = filter_size_y` rows and `B = filter_size` columns: what the
    filters of a `conv` with the same settings see. An element of the image gets the sum of the gradients of all its
    places. PyTorch's Unfold has the windows as one axis: put a `reshape` behind. For windows as rows of a sequence see
    `block_expand`.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2))
    y = Output("N K P Q", "the elements under each window as channels")
    filter_size = Int("window width", min=1, aliases=("kernel_size",))
    filter_size_y = Int("window height", min=1, default_from="filter_size")
    stride = Int("horizontal stride", default=1, min=1)
    stride_y = Int("vertical stride", min=1, default_from="stride")
    padding = Int("horizontal zero padding: columns added on the left and on the right", default=0, min=0)
    padding_y = Int("vertical zero padding: rows added at the top and at the bottom", min=0, default_from="padding")
    padding_end = Int("zero padding on the right, if it differs from the left", min=0, default_from="padding")
    padding_end_y = Int("zero padding at the bottom, if it differs from the top", min=0, default_from="padding_y")
    dilation = Int("columns from one element of a window to the next", default=1, min=1)
    dilation_y = Int("rows from one element of a window to the next", min=1, default_from="dilation")
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


@layer("block_expand", elsewhere={"Paddle": "blockexpand"}, since=1)
class BlockExpand:
    """Cuts images into blocks that become the rows of a sequence, from left to right and from the top down.

    A row has the elements of a block, channel by channel, as `im2col` has them; so columns of a text line can be read
    by a recurrent network, and patches by a `transformer_block`. The number of blocks along an axis is rounded up,
    `1 + ceil((H + 2 * padding_y - block_y) / stride_y)`, and what lies outside of the image is 0; where the image is
    smaller than a block there is one.

    Paddle's `stride` is 0 unless set, and does not work so; here blocks lie side by side then.
    """

    x = Input("N C H W", "images: channels, height, width")
    y = Output("T:N K", "a sequence of blocks for each image")
    block = Int("columns of a block", min=1, aliases=("block_x",))
    block_y = Int("rows of a block", min=1, default_from="block")
    stride = Int("columns from one block to the next", min=1, default_from="block", aliases=("stride_x",))
    stride_y = Int("rows from one block to the next", min=1, default_from="block_y")
    padding = Int("columns of zeros on the left, and on the right", default=0, min=0, aliases=("padding_x",))
    padding_y = Int("rows of zeros above, and below", min=0, default_from="padding")
    examples = (
        Example(x="2x4x6", block=2),
        Example(x="1x3x5", block=2, block_y=3, stride=1, padding_y=1),
        Example(x="1x2x2", block=3, block_y=1, padding=0, padding_y=2, stride_y=2),
    )


@body(BlockExpand)
def block_expand_body(net, x, block, block_y, stride, stride_y, padding, padding_y, C, H, W):
    blocks = net.im2col(
        x, filter_size=block, filter_size_y=block_y, stride=stride, stride_y=stride_y, padding=padding,
        padding_y=padding_y, padding_end=rest(W, block, stride, padding),
        padding_end_y=rest(H, block_y, stride_y, padding_y), name="blocks",
    )  # fmt: skip
    last = net.permute(blocks, order=[2, 3, 1], name="order")
    return net.to_sequence(last, size=C * block_y * block, name="rows")


def rest(extent, block, stride, padding):
    """Zeros behind an axis with which as many blocks lie along it as rounding up gives."""
    more = -(-max(extent + 2 * padding - block, 0) // stride)
    return more * stride + block - extent - padding


@layer("spp", elsewhere={"Paddle": "spp", "Caffe": "SPP"}, since=1)
class SpatialPyramidPool:
    """Pools an image into 1, 4, 16, ... bins and puts all side by side: rows of one width from images of any size.

    (He et al. 2014): level l has `2 ** l` bins along each axis, each of `ceil(H / 2 ** l)` rows and
    `ceil(W / 2 ** l)` columns, pooled as by a `pool` whose padding, as much as lacks, lies around the image, the odd
    one before it. A row of `C * (4 ** pyramid_height - 1) / 3` numbers has level after level, each channel by channel.

    A mean is that of the pixels in the bin, as in Paddle; Caffe counts the padding, too. As in Caffe, an image whose
    bins would lie in the padding is refused: take fewer levels.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2))
    y = Output("N K", "the bins of all levels")
    pyramid_height = Int("number of levels", min=1, max=16)
    pool_type = Choice("what a bin gives", options={"MAX": "its maximum", "AVERAGE": "its mean"}, default="MAX")
    examples = (
        Example(x="2x4x6", pyramid_height=2),
        Example(x="1x7x5", pyramid_height=2, pool_type="AVERAGE"),
        Example(x="sequence of 1x8x4", pyramid_height=3),
    )


@infer(SpatialPyramidPool)
def spp_sizes(C, H, W, pyramid_height):
    for level in range(pyramid_height):
        for extent, unit in ((H, "rows"), (W, "columns")):
            size, before, _ = bins(extent, 2**level)
            empty = f"{2**level} bins of level {level} are too many for {extent} {unit}: take fewer levels"
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
    return net.concat(*levels, name="all") if len(levels) > 1 else levels[0]


def bins(extent, count):
    """Size of a bin, and how much padding before and behind the axis makes as many."""
    size = -(-extent // count)
    lacks = size * count - extent
    return size, (lacks + 1) // 2, lacks // 2
