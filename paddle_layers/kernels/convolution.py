"""conv by BLAS: windows of an image are laid out as columns (im2col), a product does the rest."""

from __future__ import annotations

import numpy as np
from numba import njit

from .blas import matrix_product
from .tuned import tuned

WORTH_IT = 1 << 14
"""Multiplications below which the point function is as fast and spares the compiler."""
SLICES = 8


def multiplications(N: int, K: int, D: int, A: int, B: int, P: int, Q: int) -> int:
    """Operations on the whole batch; laying out the windows counts like two filters."""
    return N * (K + 2) * D * A * B * P * Q


def slices(N: int) -> int:
    """Slices of the batch; by shape only."""
    return min(N, SLICES)


def columns(D: int, A: int, B: int, P: int, Q: int) -> int:
    """Numbers in the windows of one image and group."""
    return D * A * B * P * Q


def channel_parts(D: int, groups: int) -> int:
    """Parts of the channels, a group at a time; by shape only."""
    return groups * min(D, SLICES)


def part_columns(D: int, A: int, B: int, P: int, Q: int) -> int:
    """Numbers in the windows of one image and part of the channels."""
    return -(-D // min(D, SLICES)) * A * B * P * Q


@njit(error_model="numpy")
def lay_out(column, image, low, high, A, B, P, Q, stride, stride_y, padding, padding_y, dilation, dilation_y):
    """Windows of the channels `low` to `high` of an image: rows (channel, a, b), columns (p, q), zeros outside."""
    H, W = image.shape[1], image.shape[2]
    at = 0
    zero = column.dtype.type(0)
    for channel in range(low, high):
        for a in range(A):
            for b in range(B):
                left = b * dilation - padding
                start = max(0, -(left // stride))
                stop = max(start, min(Q, (W - left + stride - 1) // stride))
                for p in range(P):
                    h = p * stride_y - padding_y + a * dilation_y
                    row = column[at : at + Q]
                    at += Q
                    if h < 0 or h >= H:
                        row[:] = zero
                        continue
                    source = image[channel, h]
                    for q in range(start):
                        row[q] = zero
                    for q in range(start, stop):
                        row[q] = source[np.uint64(left + q * stride)]
                    for q in range(stop, Q):
                        row[q] = zero


@njit(error_model="numpy")
def gather(image, column, low, high, A, B, P, Q, stride, stride_y, padding, padding_y, dilation, dilation_y):
    """Add windows back to the pixels that they cover: the transpose of `lay_out`."""
    H, W = image.shape[1], image.shape[2]
    at = 0
    for channel in range(low, high):
        for a in range(A):
            for b in range(B):
                left = b * dilation - padding
                start = max(0, -(left // stride))
                stop = max(start, min(Q, (W - left + stride - 1) // stride))
                for p in range(P):
                    h = p * stride_y - padding_y + a * dilation_y
                    row = column[at : at + Q]
                    at += Q
                    if 0 <= h < H:
                        target = image[channel, h]
                        for q in range(start, stop):
                            target[np.uint64(left + q * stride)] += row[q]


@tuned("conv", "conv_y", items=slices, scratch=columns, work=multiplications, least=WORTH_IT)
@njit(error_model="numpy")
def conv_y(
    first, last, y, x, weight, scratch, A, B, P, Q,
    stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
):  # fmt: skip
    N, K, D = y.shape[0], y.shape[1], weight.shape[1]
    rows, filters, size, one = D * A * B, K // groups, y.itemsize, y.dtype.type(1)
    parts = min(N, 8)
    for part in range(first, last):
        column = scratch[part * rows * P * Q : (part + 1) * rows * P * Q]
        for n in range(N * part // parts, N * (part + 1) // parts):
            for group in range(groups):
                lay_out(
                    column, x[n], group * D, group * D + D, A, B, P, Q,
                    stride, stride_y, padding, padding_y, dilation, dilation_y,
                )  # fmt: skip
                matrix_product(
                    0, 0, filters, P * Q, rows,
                    weight.ctypes.data + group * filters * rows * size, rows, column.ctypes.data, P * Q, False,
                    y.ctypes.data + (n * K + group * filters) * P * Q * size, P * Q, one,
                )  # fmt: skip


@tuned("conv", "conv_dx", items=slices, scratch=columns, work=multiplications, least=WORTH_IT)
@njit(error_model="numpy")
def conv_dx(
    first, last, dx, dy, weight, accumulate, scratch, A, B, P, Q,
    stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
):  # fmt: skip
    N, K, D = dy.shape[0], dy.shape[1], weight.shape[1]
    rows, filters, size, one = D * A * B, K // groups, dy.itemsize, dy.dtype.type(1)
    parts = min(N, 8)
    for part in range(first, last):
        column = scratch[part * rows * P * Q : (part + 1) * rows * P * Q]
        for n in range(N * part // parts, N * (part + 1) // parts):
            if not accumulate:
                dx[n] = dx.dtype.type(0)
            for group in range(groups):
                matrix_product(
                    1, 0, rows, P * Q, filters,
                    weight.ctypes.data + group * filters * rows * size, rows,
                    dy.ctypes.data + (n * K + group * filters) * P * Q * size, P * Q, False,
                    column.ctypes.data, P * Q, one,
                )  # fmt: skip
                gather(
                    dx[n], column, group * D, group * D + D, A, B, P, Q,
                    stride, stride_y, padding, padding_y, dilation, dilation_y,
                )  # fmt: skip


@tuned("conv", "conv_dweight", items=channel_parts, scratch=part_columns, work=multiplications, least=WORTH_IT)
@njit(error_model="numpy")
def conv_dweight(
    first, last, dweight, dy, x, accumulate, scratch, A, B, P, Q,
    stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
):  # fmt: skip
    """Each item has its own columns of the gradient, and adds up the images in their order."""
    N, K, D = dy.shape[0], dy.shape[1], dweight.shape[1]
    filters, size, one, area = K // groups, dy.itemsize, dy.dtype.type(1), A * B
    parts = min(D, 8)
    room = (D + parts - 1) // parts * area * P * Q
    for item in range(first, last):
        group, part = item // parts, item % parts
        low, high = D * part // parts, D * (part + 1) // parts
        rows = (high - low) * area
        column = scratch[item * room : item * room + rows * P * Q]
        for n in range(N):
            lay_out(
                column, x[n], group * D + low, group * D + high, A, B, P, Q,
                stride, stride_y, padding, padding_y, dilation, dilation_y,
            )  # fmt: skip
            matrix_product(
                0, 1, filters, rows, P * Q,
                dy.ctypes.data + (n * K + group * filters) * P * Q * size, P * Q, column.ctypes.data, P * Q,
                accumulate or n > 0,
                dweight.ctypes.data + (group * filters * D + low) * area * size, D * area, one,
            )  # fmt: skip
