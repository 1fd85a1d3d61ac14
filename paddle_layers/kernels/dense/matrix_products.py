"""Matrix products of two values (`matmul`) by BLAS: one call per matrix, or per run of rows of the result."""

from __future__ import annotations

from paddle_layers.kernels.primitives.blas import matrix_product
from paddle_layers.kernels.primitives.compile_options import also_in_python, compiled
from paddle_layers.kernels.tuned import tuned

# A constant, as the tiles of `fc`: results must not depend on the number of threads. On two threads, 512x512 times
# 512x512 took 2.4 ms in 2 runs, 2.7 in 8, 3.9 in 16 and 4.1 in one.
TILES = 8
"""Number of work items at which rows of a matrix are no longer divided."""
# BLAS packs the right matrix again for each run: 256x64 times 64x256 took 86 us with at least 64 rows, 123 us with 16.
ROWS = 64
"""Minimum number of rows of a run."""
NEITHER, LEFT, RIGHT = 0, 1, 2
"""Which matrix is transposed."""
# Eight products of 8x8 (4096 multiplications) took 7.8 us, by the point function 10.0 us; of 4x4 7.2 and 6.9 us.
MIN_WORK = 1 << 12
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


@compiled
def multiply(first, last, target, left, right, transposed, accumulate):
    """Runs of rows of `target` = `left` times `right`, of which the first or the second may be transposed."""
    N, B, rows, columns = target.shape
    size, one = target.itemsize, target.dtype.type(1)
    of_left, of_right = transposed == LEFT, transposed == RIGHT
    depth = left.shape[2] if of_left else left.shape[3]
    for item in range(first, last):
        matrix, low, high = bounds(item, N * B, rows)
        # A flag of BLAS transposes without a copy: the rows of a run are then columns of the left matrix.
        begin = low if of_left else low * depth
        matrix_product(
            of_left, of_right, high - low, columns, depth,
            left.ctypes.data + (matrix * rows * depth + begin) * size, rows if of_left else depth,
            right.ctypes.data + matrix * depth * columns * size, depth if of_right else columns,
            accumulate, target.ctypes.data + (matrix * rows + low) * columns * size, columns, one,
        )  # fmt: skip


@tuned("matmul", "matmul_y", items=runs_of_y, work=multiplications, least=MIN_WORK)
@compiled
def matmul_y(first, last, y, x, other, accumulate):
    multiply(first, last, y, x, other, NEITHER, accumulate)


@tuned("matmul", "matmul_dx", items=runs_of_y, work=multiplications, least=MIN_WORK)
@compiled
def matmul_dx(first, last, dx, dy, other, accumulate):
    multiply(first, last, dx, dy, other, RIGHT, accumulate)


@tuned("matmul", "matmul_dother", items=runs_of_dother, work=multiplications, least=MIN_WORK)
@compiled
def matmul_dother(first, last, dother, x, dy, accumulate):
    multiply(first, last, dother, x, dy, LEFT, accumulate)
