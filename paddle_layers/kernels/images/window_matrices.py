"""Correlations of small planes as products with the matrix of an image's windows, and their gradients.

Where windows lie within the image, its rows are longer than those of the windows, and in small images much: of a row of
12 pixels, 8 have windows of 5x5 that begin there, and the gradient of the input reads three times as many numbers, most
of them zeros. So here the windows of an image, a row for each element of a filter, lie side by side in the cache:
vectors are full. To copy the windows, or to add the gradients to the pixels under them, costs as much as some filters.
"""

from __future__ import annotations

import numpy as np

from paddle_layers.kernels.pieces import NO_EPILOGUE, PIECES
from paddle_layers.kernels.primitives.compiling import compiled
from paddle_layers.kernels.primitives.moves import set_entry
from paddle_layers.kernels.primitives.plane_code import MASKS
from paddle_layers.kernels.primitives.scratch import place_of_piece
from paddle_layers.kernels.primitives.tiles import ENTRY, LANES, rounded
from paddle_layers.kernels.primitives.windows import lay_windows, sum_windows

from .correlations import BAND, mix_channels

FILTERS = 32
"""Filters from which on the copies pay."""


def whole_windows(N: int, P: int, Q: int, D: int, A: int, B: int, groups: int) -> bool:
    """Whether there are images for all pieces, and the matrix of one stays in the second cache of a core with masks."""
    return MASKS and N >= PIECES and groups == 1 and A * B > 1 and P * Q >= LANES and D * A * B * P * Q <= BAND


def side_by_side(
    stride: int, stride_y: int, padding: int, padding_y: int, dilation: int, dilation_y: int
) -> bool:  # fmt: skip
    """Whether windows begin at neighbouring pixels and lie within the image."""
    return stride * stride_y * dilation * dilation_y == 1 and padding == padding_y == 0


def matrix_pays(
    N: int, K: int, W: int, P: int, Q: int, D: int, A: int, B: int, groups: int,
    stride: int, stride_y: int, padding: int, padding_y: int, dilation: int, dilation_y: int,
) -> bool:  # fmt: skip
    """Whether a correlation saves a fourth of the vectors that go over whole rows of the image."""
    suits = side_by_side(stride, stride_y, padding, padding_y, dilation, dilation_y)
    saves = 4 * rounded(P * Q) <= 3 * rounded((P - 1) * W + Q)
    return suits and saves and K >= FILTERS and whole_windows(N, P, Q, D, A, B, groups)


def matrix_pays_back(
    N: int, K: int, H: int, W: int, P: int, Q: int, D: int, A: int, B: int, groups: int,
    stride: int, stride_y: int, padding: int, padding_y: int, dilation: int, dilation_y: int,
) -> bool:  # fmt: skip
    """Whether the gradient of the input saves half of the vectors that go over all pixels of the image."""
    suits = side_by_side(stride, stride_y, padding, padding_y, dilation, dilation_y)
    saves = 2 * rounded(P * Q) <= rounded(H * W)
    return suits and saves and K >= FILTERS and whole_windows(N, P, Q, D, A, B, groups)


def images(N: int) -> int:
    """Work items: an image each."""
    return N


def matrix_numbers(D: int, A: int, B: int, P: int, Q: int) -> int:
    """Numbers that a piece needs: an entry of a table, and the matrix."""
    return ENTRY + D * A * B * P * Q


@compiled
def correlate_windows(first, last, y, x, weight, scratch):
    """y (N, K, P, Q) = x (N, C, H, W) under the filters; an item is an image."""
    N, K, P, Q = y.shape
    _, C, H, W = x.shape
    _, _, A, B = weight.shape
    size, one, elements = y.itemsize, y.dtype.type(1), C * A * B
    for n in range(first, last):
        place = place_of_piece(scratch, n, N)
        matrix = place + ENTRY * size
        for c in range(C):
            of, to = x.ctypes.data + (n * C + c) * H * W * size, matrix + c * A * B * P * Q * size
            lay_windows((of, A, B, to, P, Q), one)
        set_entry(place, 0, 0, 0)
        mix_channels(
            K, (elements, P * Q * size, 1, place), matrix, weight.ctypes.data, (elements * size, size),
            y.ctypes.data + n * K * P * Q * size, P * Q * size, P * Q, 0, NO_EPILOGUE, size, one,
        )  # fmt: skip


@compiled
def correlate_windows_back(first, last, dx, dy, weight, accumulate, scratch):
    """dx (N, C, H, W) = the gradient of `correlate_windows`, or dx += where `accumulate`; an item is an image."""
    N, K, P, Q = dy.shape
    _, C, H, W = dx.shape
    _, _, A, B = weight.shape
    size, one, elements, adding = dy.itemsize, dy.dtype.type(1), C * A * B, np.int64(accumulate)
    for n in range(first, last):
        place = place_of_piece(scratch, n, N)
        matrix = place + ENTRY * size
        set_entry(place, 0, 0, 0)
        mix_channels(
            elements, (K, P * Q * size, 1, place), dy.ctypes.data + n * K * P * Q * size, weight.ctypes.data,
            (size, elements * size), matrix, P * Q * size, P * Q, 0, NO_EPILOGUE, size, one,
        )  # fmt: skip
        for c in range(C):
            of, to = matrix + c * A * B * P * Q * size, dx.ctypes.data + (n * C + c) * H * W * size
            sum_windows((of, A, B, P, Q, to, adding), one)
