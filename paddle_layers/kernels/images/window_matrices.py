"""Correlations of small planes as products with the matrix of an image's windows, and their gradients.

Where windows lie within the image, its rows are longer than those of the windows, and in small images much: of a row of
12 pixels, 8 have windows of 5x5 that begin there, and the gradient of the input reads three times as many numbers, most
of them zeros. So here the windows of an image, a row for each element of a filter, lie side by side in the cache:
vectors are full. To copy the windows, or to add the gradients to the pixels under them, costs as much as some filters.
"""

from __future__ import annotations

from paddle_layers.kernels.pieces import PIECES
from paddle_layers.kernels.primitives.compiling import compiled
from paddle_layers.kernels.primitives.moves import add_runs, copy_runs, zeros
from paddle_layers.kernels.primitives.scratch import place_of_piece

from .correlations import BAND, ENTRY, mix_channels
from .filter_vectors import LANES, rounded

FILTERS = 32
"""Filters from which on the copies pay."""


def whole_windows(N: int, P: int, Q: int, D: int, A: int, B: int, groups: int) -> bool:
    """Whether there are images for all pieces, and the matrix of one stays in a core's second cache."""
    return N >= PIECES and groups == 1 and A * B > 1 and P * Q >= LANES and D * A * B * P * Q <= BAND


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
def multiply_windows(first, last, y, x, weight, scratch):
    """y (N, K, P, Q) = x (N, C, H, W) under the filters; an item is an image."""
    N, K, P, Q = y.shape
    _, C, H, W = x.shape
    _, _, A, B = weight.shape
    size, one, elements = y.itemsize, y.dtype.type(1), C * A * B
    for n in range(first, last):
        place = place_of_piece(scratch, n, N)
        matrix = place + ENTRY * size
        to = matrix
        for c in range(C):
            for a in range(A):
                for b in range(B):
                    of = x.ctypes.data + (((n * C + c) * H + a) * W + b) * size
                    copy_runs(to, of, P, Q, Q * size, W * size, size, one)
                    to += P * Q * size
        mix_channels(
            K, elements, matrix, weight.ctypes.data, (elements * size, size),
            y.ctypes.data + n * K * P * Q * size, P * Q, place, size, one,
        )  # fmt: skip


@compiled
def multiply_windows_back(first, last, dx, dy, weight, accumulate, scratch):
    """dx (N, C, H, W) = the gradient of `multiply_windows`, or dx += where `accumulate`; an item is an image."""
    N, K, P, Q = dy.shape
    _, C, H, W = dx.shape
    _, _, A, B = weight.shape
    size, one, elements = dy.itemsize, dy.dtype.type(1), C * A * B
    for n in range(first, last):
        place = place_of_piece(scratch, n, N)
        matrix = place + ENTRY * size
        mix_channels(
            elements, K, dy.ctypes.data + n * K * P * Q * size, weight.ctypes.data, (size, elements * size),
            matrix, P * Q, place, size, one,
        )  # fmt: skip
        image = dx.ctypes.data + n * C * H * W * size
        if not accumulate:
            zeros(image, C * H * W, size, one)
        for a in range(A):
            for b in range(B):
                for c in range(C):
                    to, deltas = image + ((c * H + a) * W + b) * size, matrix + ((c * A + a) * B + b) * P * Q * size
                    add_runs(to, deltas, P, Q, W * size, Q * size, size, one)
