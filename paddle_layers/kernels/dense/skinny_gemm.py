"""Skinny matrix products: few rows times a large weight that is read once, with register tiles and without packing.

BLAS first packs the weight, which for few rows takes longer than the products.
"""

from __future__ import annotations

from paddle_layers.kernels.primitives.compile_options import copied
from paddle_layers.kernels.primitives.memory_ops import fetch_run, scatter_sums, set_entry, transpose, zeros
from paddle_layers.kernels.primitives.microkernels import ENTRY, LANES, VECTOR, VECTORS, gemm_microkernel, rounded

# Speed relative to BLAS for 16 rows, 9216 to 4096: output 1.97, input gradient 2.91, weight gradient 1.72. For 256 rows
# BLAS is used, which packs the weight once for all of them.
MOST = 128
"""Maximum number of rows."""
# 64 rows of 48 float32 columns (three vectors) are 12 KiB, read by every row of the other factor.
BLOCK = 64
"""Weight rows of a block, whose columns for a tile stay in the L1 cache."""
HALF = BLOCK // 2
"""The same for half as many rows, whose products are faster than the loads of the block: it is prefetched."""
# BLAS also sums 512 products at a time, so that both paths round equally and results do not jump at `MOST` rows.
SUMMED = 512
"""Products per partial sum: limits the growth of rounding errors."""


def few_rows(N: int, K: int) -> bool:
    """Whether rows are few, and the weight's rows are whole vectors."""
    return 1 < N <= MOST and K % LANES == 0


def table_numbers() -> int:
    """Scratch elements for the output and for the weight gradient: a table of rows."""
    return max(BLOCK, MOST) * ENTRY


def numbers_of_dx(N: int, K: int) -> int:
    """Scratch elements for the input gradient: a table, the transposed gradients, two blocks of sums."""
    return LANES * ENTRY + (K + 2 * BLOCK) * int(rounded(N))


@copied
def multiply_rows(y, x, weight, left, right, sizes, adding, place, size, one):
    """Columns `left` to `right` of y (N, K) = x (N, C) weight (C, K), or of y += it; `place` is the scratch buffer."""
    N, C, K = sizes
    most, high = VECTORS * (VECTOR // size), HALF if N <= HALF else BLOCK
    for row in range(high):
        set_entry(place, row, row * K * size, row * size)
    for top in range(0, C, high):
        for column in range(left, right, most):
            wide, of = min(most, right - column), weight + (top * K + column) * size
            # The next block of the weight arrives in the cache while this one is multiplied.
            for row in range(high, min(2 * high, C - top)):
                fetch_run(of + row * K * size, wide, size)
            gemm_microkernel(
                N, wide * size // VECTOR, 0, 1, 0, 0, min(high, C - top), place, x + top * size, C * size,
                of, y + column * size, K * size, adding or top > 0, one,
            )  # fmt: skip


@copied
def multiply_rows_back(dx, dy, weight, first, last, sizes, adding, place, size, one):
    """Columns `first` to `last` of dx (N, C) = dy (N, K) times the transposed weight, or of dx += it."""
    N, C, K = sizes
    wide = rounded(N)
    transposed = place + LANES * ENTRY * size
    sums = transposed + K * wide * size
    spare = sums + BLOCK * wide * size
    # Vectors are multiplied whole: lanes without a row hold zeros, not what the buffer held before.
    if wide > N:
        zeros(transposed, K * wide, size, one)
    # The few gradients are transposed instead of the weight, which is read in its memory order.
    transpose(transposed, dy, N, K, K, wide, 1, size, one)
    for column in range(LANES):
        set_entry(place, column, column * wide * size, column * size)
    for top in range(first, last, BLOCK):
        count = min(BLOCK, last - top)
        # Sums of a block of inputs stay in the scratch buffer until all columns of the weight are added.
        for left in range(0, K, SUMMED):
            gemm_microkernel(
                count, wide * size // VECTOR, 0, min(SUMMED, K - left) // LANES, LANES * wide * size, LANES * size,
                LANES, place, weight + (top * K + left) * size, K * size, transposed + left * wide * size,
                sums, wide * size, left > 0, one,
            )  # fmt: skip
        scatter_sums(dx + top * size, C * size, sums, spare, count, N, wide, adding, size, one)


@copied
def add_outer_products(dweight, x, dy, first, last, sizes, adding, place, size, one):
    """Rows `first` to `last` of dweight (C, K) = the transposed x (N, C) times dy (N, K), or of dweight += it."""
    N, C, K = sizes
    for row in range(N):
        set_entry(place, row, row * K * size, row * C * size)
    gemm_microkernel(
        last - first, K * size // VECTOR, 0, 1, 0, 0, N, place, x + first * size, size, dy,
        dweight + first * K * size, K * size, adding, one,
    )  # fmt: skip
