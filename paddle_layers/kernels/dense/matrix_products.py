"""Matrix products of two values (`matmul`) by BLAS: one call per matrix, or per run of rows of the result."""

from __future__ import annotations

from paddle_layers.kernels.primitives.blas import matrix_product
from paddle_layers.kernels.primitives.compile_options import also_in_python, compiled
from paddle_layers.kernels.tuned import tuned

# A constant, as the tiles of `fc`: results must not depend on the number of threads.
TILES = 8
"""Number of work items at which rows of a matrix are no longer divided."""
ROWS = 16
"""Minimum number of rows of a run: BLAS packs the right matrix again for each."""
MIN_WORK = 1 << 14
"""Minimum number of multiplications; below it, the point function stays."""


@also_in_python
def runs(matrices, rows):
    """Runs of rows into which each matrix of the result is divided."""
    return max(1, min(TILES // max(matrices, 1), rows // ROWS))


def multiplications(N: int, B: int, M: int, K: int, P: int) -> int:
    """Operations of all products."""
    return N * B * M * K * P


def runs_of_y(N: int, B: int, M: int) -> int:
    """Runs of rows of the output."""
    return N * B * int(runs(N * B, M))


def runs_of_dother(N: int, B: int, K: int) -> int:
    """Runs of rows of the gradient of the right matrices."""
    return N * B * int(runs(N * B, K))


@compiled
def bounds(item, matrices, rows):
    """Matrix of a work item, and the first and last row of its run."""
    parts = runs(matrices, rows)
    part = item % parts
    return item // parts, rows * part // parts, rows * (part + 1) // parts


@tuned("matmul", "matmul_y", items=runs_of_y, work=multiplications, least=MIN_WORK)
@compiled
def matmul_y(first, last, y, x, other, accumulate):
    N, B, M, P = y.shape
    K, size, one = x.shape[3], y.itemsize, y.dtype.type(1)
    for item in range(first, last):
        matrix, low, high = bounds(item, N * B, M)
        matrix_product(
            0, 0, high - low, P, K,
            x.ctypes.data + (matrix * M + low) * K * size, K, other.ctypes.data + matrix * K * P * size, P,
            accumulate, y.ctypes.data + (matrix * M + low) * P * size, P, one,
        )  # fmt: skip


@tuned("matmul", "matmul_dx", items=runs_of_y, work=multiplications, least=MIN_WORK)
@compiled
def matmul_dx(first, last, dx, dy, other, accumulate):
    N, B, M, K = dx.shape
    P, size, one = dy.shape[3], dx.itemsize, dx.dtype.type(1)
    for item in range(first, last):
        matrix, low, high = bounds(item, N * B, M)
        matrix_product(
            0, 1, high - low, K, P,
            dy.ctypes.data + (matrix * M + low) * P * size, P, other.ctypes.data + matrix * K * P * size, P,
            accumulate, dx.ctypes.data + (matrix * M + low) * K * size, K, one,
        )  # fmt: skip


@tuned("matmul", "matmul_dother", items=runs_of_dother, work=multiplications, least=MIN_WORK)
@compiled
def matmul_dother(first, last, dother, x, dy, accumulate):
    N, B, K, P = dother.shape
    M, size, one = dy.shape[2], dother.itemsize, dother.dtype.type(1)
    for item in range(first, last):
        matrix, low, high = bounds(item, N * B, K)
        # The left matrix is transposed by a flag of BLAS, without a copy.
        matrix_product(
            1, 0, high - low, P, M,
            x.ctypes.data + (matrix * M * K + low) * size, K, dy.ctypes.data + matrix * M * P * size, P,
            accumulate, dother.ctypes.data + (matrix * K + low) * P * size, P, one,
        )  # fmt: skip
