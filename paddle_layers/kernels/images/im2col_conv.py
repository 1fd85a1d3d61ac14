"""Convolution of small planes by im2col: products with the matrix of an image's windows, and their gradients.

Without padding, the rows of an image are longer than those of the windows, in small images considerably: of a row of 12
pixels, 8 are the start of a 5x5 window, and the gradient of the input reads three times as many elements, most of them
zeros. With the im2col matrix, one row per filter element, in the cache, all vectors are full. im2col, and col2im of the
gradients, cost as much as some filters.
"""

from __future__ import annotations

import numpy as np

from paddle_layers.kernels.constants import MAX_CHUNKS, NO_EPILOGUE
from paddle_layers.kernels.primitives.compile_options import compiled
from paddle_layers.kernels.primitives.memory_ops import set_entry
from paddle_layers.kernels.primitives.microkernels import ENTRY, LANES, rounded
from paddle_layers.kernels.primitives.plane_codegen import MASKS
from paddle_layers.kernels.primitives.plane_kernels import pack_windows, sum_windows
from paddle_layers.kernels.primitives.scratch import scratch_of_chunk

from .direct_conv import BAND, pointwise_conv

# The matrix is written once and read by every tile of filters. LeNet's second convolution (12x12 pixels, 8x8 outputs,
# 50 filters): from 70 to 91 GFLOP/s forward, from 45 to 85 for the input gradient.
FILTERS = 32
"""Minimum number of filters for im2col."""


def whole_windows(N: int, P: int, Q: int, D: int, A: int, B: int, groups: int) -> bool:
    """Whether there are images for all chunks and one matrix fits into a core's L2 cache, with masked loads."""
    # A whole image is one item, so that fewer images would leave threads idle.
    return MASKS and N >= MAX_CHUNKS and groups == 1 and A * B > 1 and P * Q >= LANES and D * A * B * P * Q <= BAND


def side_by_side(
    stride: int, stride_y: int, padding: int, padding_y: int, dilation: int, dilation_y: int
) -> bool:  # fmt: skip
    """Whether windows have stride 1 and are inside the image (no padding)."""
    return stride * stride_y * dilation * dilation_y == 1 and padding == padding_y == 0


def matrix_pays(
    N: int, K: int, W: int, P: int, Q: int, D: int, A: int, B: int, groups: int,
    stride: int, stride_y: int, padding: int, padding_y: int, dilation: int, dilation_y: int,
) -> bool:  # fmt: skip
    """Whether im2col saves a fourth of the vectors of a convolution over whole rows of the image."""
    suits = side_by_side(stride, stride_y, padding, padding_y, dilation, dilation_y)
    saves = 4 * rounded(P * Q) <= 3 * rounded((P - 1) * W + Q)
    return suits and saves and K >= FILTERS and whole_windows(N, P, Q, D, A, B, groups)


def matrix_pays_back(
    N: int, K: int, H: int, W: int, P: int, Q: int, D: int, A: int, B: int, groups: int,
    stride: int, stride_y: int, padding: int, padding_y: int, dilation: int, dilation_y: int,
) -> bool:  # fmt: skip
    """Whether col2im saves half of the vectors of the input gradient over all pixels of the image."""
    suits = side_by_side(stride, stride_y, padding, padding_y, dilation, dilation_y)
    saves = 2 * rounded(P * Q) <= rounded(H * W)
    return suits and saves and K >= FILTERS and whole_windows(N, P, Q, D, A, B, groups)


def images(N: int) -> int:
    """Work items: one per image."""
    return N


def matrix_numbers(D: int, A: int, B: int, P: int, Q: int) -> int:
    """Scratch elements of a chunk: a table entry, and the matrix."""
    return ENTRY + D * A * B * P * Q


@compiled
def correlate_windows(first, last, y, x, weight, scratch):
    """Convolution `y` (N, K, P, Q) of `x` (N, C, H, W) with the filters; an item is an image."""
    N, K, P, Q = y.shape
    _, C, H, W = x.shape
    _, _, A, B = weight.shape
    size, one, elements = y.itemsize, y.dtype.type(1), C * A * B
    for n in range(first, last):
        place = scratch_of_chunk(scratch, n, N)
        matrix = place + ENTRY * size
        for c in range(C):
            of, to = x.ctypes.data + (n * C + c) * H * W * size, matrix + c * A * B * P * Q * size
            pack_windows((of, A, B, to, P, Q), one)
        set_entry(place, 0, 0, 0)
        pointwise_conv(
            K, (elements, P * Q * size, 1, place), matrix, weight.ctypes.data, (elements * size, size),
            y.ctypes.data + n * K * P * Q * size, P * Q * size, P * Q, 0, NO_EPILOGUE, size, one,
        )  # fmt: skip


@compiled
def correlate_windows_back(first, last, dx, dy, weight, accumulate, scratch):
    """Gradient `dx` (N, C, H, W) of `correlate_windows`, added to `dx` where `accumulate`; an item is an image."""
    N, K, P, Q = dy.shape
    _, C, H, W = dx.shape
    _, _, A, B = weight.shape
    size, one, elements, adding = dy.itemsize, dy.dtype.type(1), C * A * B, np.int64(accumulate)
    for n in range(first, last):
        place = scratch_of_chunk(scratch, n, N)
        matrix = place + ENTRY * size
        set_entry(place, 0, 0, 0)
        pointwise_conv(
            elements, (K, P * Q * size, 1, place), dy.ctypes.data + n * K * P * Q * size, weight.ctypes.data,
            (size, elements * size), matrix, P * Q * size, P * Q, 0, NO_EPILOGUE, size, one,
        )  # fmt: skip
        for c in range(C):
            of, to = matrix + c * A * B * P * Q * size, dx.ctypes.data + (n * C + c) * H * W * size
            sum_windows((of, A, B, P, Q, to, adding), one)
