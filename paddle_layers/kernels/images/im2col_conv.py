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

from .conv_tiling import ConvProblem
from .direct_conv import BAND, pointwise_conv

# The matrix is written once and read by every tile of filters. LeNet's second convolution (12x12 pixels, 8x8 outputs,
# 50 filters): from 70 to 91 GFLOP/s forward, from 45 to 85 for the input gradient.
FILTERS = 32
"""Minimum number of filters for im2col."""


def matrix_suits(problem: ConvProblem) -> bool:
    """Whether windows have stride 1 and no padding, and one matrix fits into a core's L2 cache, with masked loads."""
    plain = {*problem.step, *problem.gap} == {1} and not any(problem.ahead) and problem.groups == 1
    # The padding at the end may be another one.
    plain = plain and (problem.P + problem.A - 1, problem.Q + problem.B - 1) == (problem.H, problem.W)
    # A whole image is one item, so that fewer images would leave threads idle.
    fills = problem.N >= MAX_CHUNKS and problem.P * problem.Q >= LANES and problem.K >= FILTERS
    return MASKS and plain and fills and problem.filter_elements > 1 and matrix_numbers(problem) <= BAND + ENTRY


def matrix_pays(problem: ConvProblem) -> bool:
    """Whether im2col saves a fourth of the vectors of a convolution over whole rows of the image."""
    P, Q = problem.P, problem.Q
    return matrix_suits(problem) and bool(4 * rounded(P * Q) <= 3 * rounded((P - 1) * problem.W + Q))


def matrix_pays_back(problem: ConvProblem) -> bool:
    """Whether col2im saves half of the vectors of the input gradient over all pixels of the image."""
    saves = 2 * rounded(problem.P * problem.Q) <= rounded(problem.H * problem.W)
    return matrix_suits(problem) and bool(saves)


def images(problem: ConvProblem) -> int:
    """Work items: one per image."""
    return problem.N


def matrix_numbers(problem: ConvProblem) -> int:
    """Scratch elements of a chunk: a table entry, and the matrix."""
    return ENTRY + problem.D * problem.filter_elements * problem.P * problem.Q


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
