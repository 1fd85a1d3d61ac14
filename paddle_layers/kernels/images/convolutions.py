"""conv by BLAS: blocks of windows are laid out as columns, a product does the rest."""

from __future__ import annotations

from numba import njit

from paddle_layers.kernels.primitives.blas import matrix_product, vector_product
from paddle_layers.kernels.primitives.vectors import total
from paddle_layers.kernels.tuned import tuned

from .windows import add_back, lay_out

WORTH_IT = 1 << 17
"""Multiplications below which the point function stays: what a step gains does not pay the compiler's extra second."""
BIAS_WORTH_IT = 1 << 17
"""Numbers below which the point function stays, for the gradient of the bias."""
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


def whole_images(N: int, D: int, A: int, B: int, P: int, Q: int) -> int:
    """Runs of the output that the slices of blocks are made of: images, where no slice ends inside of one."""
    return 0 if N % block_slices(N, D, A, B, P, Q) and block_rows.py_func(D * A * B, P, Q) < P else N


def images(N: int) -> int:
    """Runs of the gradient that the slices of the batch are made of."""
    return N


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


@tuned("conv", "conv_y", items=block_slices, runs=whole_images, scratch=columns, work=multiplications, least=WORTH_IT)
@njit(error_model="numpy")
def conv_y(
    first, last, y, x, weight, scratch, stride, stride_y, padding, padding_y, dilation, dilation_y, groups
):  # fmt: skip
    N, K, P, Q = y.shape
    _, C, H, W = x.shape
    _, D, A, B = weight.shape
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    rows, filters, size, one = D * A * B, K // groups, y.itemsize, y.dtype.type(1)
    depth, as_it_is, pixels = block_rows(rows, P, Q), one_pixel(geometry), x.ravel()
    blocks = (P + depth - 1) // depth
    units = N * blocks
    parts = min(units, SLICES)
    for part in range(first, last):
        column = scratch[part * rows * depth * Q : (part + 1) * rows * depth * Q]
        for unit in range(units * part // parts, units * (part + 1) // parts):
            n, top = unit // blocks, unit % blocks * depth
            bottom = min(P, top + depth)
            wide = (bottom - top) * Q
            for group in range(groups):
                base, source, row = (n * C + group * D) * H * W, column.ctypes.data, wide
                if as_it_is:
                    source, row = x.ctypes.data + (base + top * W) * size, H * W
                else:
                    lay_out(column, pixels, base, D, top, bottom, Q, geometry)
                filter_ = weight.ctypes.data + group * filters * rows * size
                target = y.ctypes.data + ((n * K + group * filters) * P + top) * Q * size
                if filters == 1:
                    vector_product(0, rows, wide, source, row, filter_, False, target, one)
                else:
                    matrix_product(
                        0, 0, filters, wide, rows, filter_, rows, source, row, False, target, P * Q, one
                    )  # fmt: skip


@tuned("conv", "conv_dx", items=slices, runs=images, scratch=columns, work=multiplications, least=WORTH_IT)
@njit(error_model="numpy")
def conv_dx(
    first, last, dx, dy, weight, accumulate, scratch,
    stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
):  # fmt: skip
    N, K, P, Q = dy.shape
    _, C, H, W = dx.shape
    _, D, A, B = weight.shape
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    rows, filters, size, one = D * A * B, K // groups, dy.itemsize, dy.dtype.type(1)
    depth, as_it_is, pixels = block_rows(rows, P, Q), one_pixel(geometry), dx.ravel()
    parts = min(N, SLICES)
    for part in range(first, last):
        column = scratch[part * rows * depth * Q : (part + 1) * rows * depth * Q]
        for n in range(N * part // parts, N * (part + 1) // parts):
            if not accumulate and not as_it_is:
                pixels[n * C * H * W : (n + 1) * C * H * W] = dx.dtype.type(0)
            for group in range(groups):
                for top in range(0, P, depth):
                    bottom = min(P, top + depth)
                    wide = (bottom - top) * Q
                    base, target, row = (n * C + group * D) * H * W, column.ctypes.data, wide
                    if as_it_is:
                        target, row = dx.ctypes.data + (base + top * W) * size, H * W
                    matrix_product(
                        1, 0, rows, wide, filters,
                        weight.ctypes.data + group * filters * rows * size, rows,
                        dy.ctypes.data + ((n * K + group * filters) * P + top) * Q * size, P * Q,
                        accumulate and as_it_is, target, row, one,
                    )  # fmt: skip
                    if not as_it_is:
                        add_back(column, pixels, base, D, top, bottom, Q, geometry)


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
