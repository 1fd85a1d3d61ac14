"""conv by BLAS: blocks of windows are laid out as columns, a product does the rest."""

from __future__ import annotations

from numba import njit
from numba.extending import register_jitable

from paddle_layers.kernels.pieces import PIECES
from paddle_layers.kernels.primitives.blas import matrix_product, vector_product
from paddle_layers.kernels.primitives.scratch import place_of_piece
from paddle_layers.kernels.primitives.tiles import VECTOR
from paddle_layers.kernels.primitives.vectors import total
from paddle_layers.kernels.tuned import tuned

from .correlations import backward_numbers, correlate, correlate_back, forward_numbers, mix_channels
from .windows import lay_out

WORTH_IT = 1 << 17
"""Multiplications below which the point function stays: what a step gains does not pay the compiler's extra second."""
BIAS_WORTH_IT = 1 << 17
"""Numbers below which the point function stays, for the gradient of the bias."""
SHORTEST = 16
"""Filters of an item at least."""
LARGEST = 1 << 18
"""Numbers of an item's result at most, if it has more filters than `SHORTEST`."""
SLICES = 8
BLOCK = 1 << 16
"""Numbers in a block of columns, which should stay in a core's cache."""


@njit(error_model="numpy")
def block_rows(rows, P, Q):
    """Rows of windows in a block, the blocks of an image equally high; by shape only."""
    most = max(1, min(P, BLOCK // (rows * Q)))
    blocks = (P + most - 1) // most
    return (P + blocks - 1) // blocks


def multiplications(N: int, K: int, D: int, A: int, B: int, P: int, Q: int) -> int:
    """Operations on the whole batch; laying out the windows counts like two filters."""
    return N * (K + 2) * D * A * B * P * Q


def block_slices(N: int, D: int, A: int, B: int, P: int, Q: int) -> int:
    """Slices of the blocks of the batch; by shape only."""
    return min(N * -(-P // block_rows.py_func(D * A * B, P, Q)), SLICES)


def slices(N: int) -> int:
    """Slices of the batch; by shape only."""
    return min(N, SLICES)


def columns(D: int, A: int, B: int, P: int, Q: int) -> int:
    """Numbers in a block of windows of a group."""
    return D * A * B * int(block_rows.py_func(D * A * B, P, Q)) * Q


def channel_parts(D: int, groups: int) -> int:
    """Parts of the channels, a group at a time; by shape only."""
    return groups * min(D, SLICES)


def part_columns(D: int, A: int, B: int, P: int, Q: int) -> int:
    """Numbers in a block of windows of a part of the channels."""
    return columns(-(-D // min(D, SLICES)), A, B, P, Q)


@njit(error_model="numpy")
def one_pixel(geometry):
    """Whether the columns are the image itself: windows of one pixel, side by side."""
    _, _, A, B, stride, stride_y, padding, padding_y, _, _ = geometry
    return A * B * stride * stride_y == 1 and padding + padding_y == 0


@register_jitable
def image_items(N, rows, numbers):
    """Runs of `rows` planes of `numbers` pixels of `N` images: equally many for all, by shape only.

    An image is cut where there are few, or where a run would not stay in a core's cache, but not into short runs:
    each of them lays the other side's planes out anew.
    """
    parts = 1
    for count in range(2, rows // SHORTEST + 1):
        if (N * parts < PIECES or rows // parts * numbers > LARGEST) and rows % count == 0:
            parts = count
    return N * parts


@register_jitable
def forward_items(N, K, P, Q):
    """Work items of `conv_y`."""
    return image_items(N, K, P * Q)


@register_jitable
def backward_items(N, C, H, W):
    """Work items of `conv_dx`."""
    return image_items(N, C, H * W)


def output_planes(N: int, K: int) -> int:
    """Planes of the output, of which an item writes some."""
    return N * K


def input_planes(N: int, C: int) -> int:
    """Planes of the input's gradient, of which an item writes some."""
    return N * C


def forward_scratch(
    D: int, H: int, W: int, P: int, Q: int, A: int, B: int,
    stride: int, stride_y: int, padding: int, padding_y: int, dilation: int, dilation_y: int,
) -> int:  # fmt: skip
    """Numbers that a piece of `conv_y` needs."""
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    return int(forward_numbers(D, P, Q, geometry))


def backward_scratch(
    K: int, H: int, W: int, Q: int, A: int, B: int, groups: int,
    stride: int, stride_y: int, padding: int, padding_y: int, dilation: int, dilation_y: int,
) -> int:  # fmt: skip
    """Numbers that a piece of `conv_dx` needs."""
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    return int(backward_numbers(K // groups, Q, geometry))


@tuned(
    "conv", "conv_y", items=forward_items, runs=output_planes, scratch=forward_scratch, scratch_of_pieces=True,
    work=multiplications, least=WORTH_IT,
)  # fmt: skip
@njit(error_model="numpy")
def conv_y(
    first, last, y, x, weight, scratch, stride, stride_y, padding, padding_y, dilation, dilation_y, groups
):  # fmt: skip
    """An item is a run of filters of an image, or of all filters of some images."""
    N, K, P, Q = y.shape
    _, C, H, W = x.shape
    _, D, A, B = weight.shape
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    filters, size, one, items = K // groups, y.itemsize, y.dtype.type(1), forward_items(N, K, P, Q)
    steps = (D * A * B * size, A * B * size)
    direct = one_pixel(geometry) and P * Q * size >= VECTOR
    for item in range(first, last):
        place = place_of_piece(scratch, item, items)
        row, stop = N * K * item // items, N * K * (item + 1) // items
        while row < stop:
            n, k = row // K, row % K
            count = min(stop - row, filters - k % filters)
            image = x.ctypes.data + (n * C + k // filters * D) * H * W * size
            of, to = weight.ctypes.data + k * steps[0], y.ctypes.data + row * P * Q * size
            if direct:
                mix_channels(count, D, image, of, steps, to, P * Q, place, size, one)
            else:
                correlate(count, D, image, of, steps, to, P, Q, geometry, place, size, one)
            row += count


@tuned(
    "conv", "conv_dx", items=backward_items, runs=input_planes, scratch=backward_scratch, scratch_of_pieces=True,
    work=multiplications, least=WORTH_IT,
)  # fmt: skip
@njit(error_model="numpy")
def conv_dx(
    first, last, dx, dy, weight, accumulate, scratch,
    stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
):  # fmt: skip
    """An item is a run of channels of an image, or of all channels of some images."""
    N, K, P, Q = dy.shape
    _, C, H, W = dx.shape
    _, D, A, B = weight.shape
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    filters, size, one, items = K // groups, dy.itemsize, dy.dtype.type(1), backward_items(N, C, H, W)
    steps = (A * B * size, D * A * B * size)
    direct = one_pixel(geometry) and not accumulate and P * Q * size >= VECTOR
    for item in range(first, last):
        place = place_of_piece(scratch, item, items)
        row, stop = N * C * item // items, N * C * (item + 1) // items
        while row < stop:
            n, c = row // C, row % C
            count, k = min(stop - row, D - c % D), c // D * filters
            deltas = dy.ctypes.data + (n * K + k) * P * Q * size
            of = weight.ctypes.data + k * steps[1] + c % D * steps[0]
            to = dx.ctypes.data + row * H * W * size
            if direct:
                mix_channels(count, filters, deltas, of, steps, to, P * Q, place, size, one)
            else:
                correlate_back(
                    count, filters, deltas, of, steps, to, P, Q, geometry, place, accumulate, size, one
                )  # fmt: skip
            row += count


@tuned("conv", "conv_dweight", items=channel_parts, scratch=part_columns, work=multiplications, least=WORTH_IT)
@njit(error_model="numpy")
def conv_dweight(
    first, last, dweight, dy, x, accumulate, scratch,
    stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
):  # fmt: skip
    """Each item has its own columns of the gradient, and adds up the images in their order."""
    N, K, P, Q = dy.shape
    _, C, H, W = x.shape
    _, D, A, B = dweight.shape
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    filters, size, one, area, pixels = K // groups, dy.itemsize, dy.dtype.type(1), A * B, x.ravel()
    parts, as_it_is = min(D, SLICES), one_pixel(geometry)
    most = (D + parts - 1) // parts * area
    depth = block_rows(most, P, Q)
    for item in range(first, last):
        group, part = item // parts, item % parts
        low, high = D * part // parts, D * (part + 1) // parts
        rows = (high - low) * area
        column = scratch[item * most * depth * Q : (item + 1) * most * depth * Q]
        target = dweight.ctypes.data + (group * filters * D + low) * area * size
        for n in range(N):
            for top in range(0, P, depth):
                bottom = min(P, top + depth)
                wide = (bottom - top) * Q
                base, source, row = (n * C + group * D + low) * H * W, column.ctypes.data, wide
                if as_it_is:
                    source, row = x.ctypes.data + (base + top * W) * size, H * W
                else:
                    lay_out(column, pixels, base, high - low, top, bottom, Q, geometry)
                dy_block = dy.ctypes.data + ((n * K + group * filters) * P + top) * Q * size
                adds = accumulate or n + top > 0
                if filters == 1:
                    vector_product(1, rows, wide, source, row, dy_block, adds, target, one)
                else:
                    matrix_product(
                        0, 1, filters, rows, wide, dy_block, P * Q, source, row, adds, target, D * area, one
                    )  # fmt: skip


def outputs(N: int, K: int, P: int, Q: int) -> int:
    """Numbers in the output of a convolution."""
    return N * K * P * Q


def filter_slices(K: int) -> int:
    """Slices of the filters; by shape only."""
    return min(K, SLICES)


@tuned("conv", "conv_bias_gradient", items=filter_slices, work=outputs, least=BIAS_WORTH_IT)
@njit(error_model="numpy")
def conv_bias_gradient(first, last, dbias, dy, accumulate):
    N, K, P, Q = dy.shape
    parts, zero, deltas = min(K, SLICES), dy.dtype.type(0), dy.ravel()
    for part in range(first, last):
        for k in range(K * part // parts, K * (part + 1) // parts):
            result = dbias[k] if accumulate else zero
            for n in range(N):
                result += total(deltas[(n * K + k) * P * Q : (n * K + k + 1) * P * Q], zero)
            dbias[k] = result
