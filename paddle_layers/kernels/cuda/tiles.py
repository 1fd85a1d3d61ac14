"""Matrix products by tiles: what the kernels of products and convolutions have in common.

A block computes a square tile of the result, 64 by 64, from slabs of both operands in shared memory. A slab is 32 deep
and lies the same way for both: `tile[operand, depth, side]`. 64 threads share out the results, 8 by 8 sums in the
registers of each; four such teams, the slices, take a quarter of every slab each, so that a block keeps a
multiprocessor busy where there are few tiles. At the end the slices add up their sums in the tile, one after another.
While a slab is multiplied, the elements of the next one are on their way into registers.

For each step along the depth a thread reads 16 numbers of shared memory as four vectors for its 64 products. Its rows
and columns are two runs of 4, 32 apart: a warp's vectors then lie side by side. Rows of the tile are padded by 4, so
that elements fetched along the depth are put down without bank conflicts, too.
"""

from __future__ import annotations

from paddle_layers.define.functions import helper, real

SIDE = 64
"""Rows and columns of a tile."""
DEPTH = 32
PITCH = SIDE + 4
THREADS = 256
SLICES = 4
STEPS = DEPTH // SLICES
"""Steps of a slab along the depth that a slice takes."""
SUMS = 8
"""Rows and columns of results in a thread."""
LOADS = SIDE * DEPTH // THREADS
"""Elements of a slab that a thread moves."""
STORES = SIDE * SIDE // THREADS


def tiles(rows: int, columns: int) -> int:
    """Tiles that cover a matrix."""
    return -(-rows // SIDE) * -(-columns // SIDE)


@helper
def spot(thread, i, along):
    """Depth and side of the element that a thread moves in its turn `i`.

    Neighbours in memory go to neighbouring threads: runs of 8 along the depth, or a whole side.
    """
    if along:
        return (thread & 7) + i % 4 * 8, (thread >> 3) + i // 4 * 32
    return (thread >> 6) + i * 4, thread & 63


@helper
def fetch(ahead, operand, matrix, first, start, thread, along):
    """Read a thread's part of a slab; rows of the matrix lie along the depth or across it. Zero beyond the depth.

    Beyond the side the last elements are read again, for results that are not stored.
    """
    for i in range(LOADS):
        k, m = spot(thread, i, along)
        if along:
            row, column = min(first + m, matrix.shape[0] - 1), start + k
            ahead[operand, i] = matrix[row, column] if 0 <= column < matrix.shape[1] else real(0)
        else:
            row, column = start + k, min(first + m, matrix.shape[1] - 1)
            ahead[operand, i] = matrix[row, column] if 0 <= row < matrix.shape[0] else real(0)


@helper
def put(tile, operand, ahead, thread, along):
    """Put what was fetched into the tile."""
    for i in range(LOADS):
        k, m = spot(thread, i, along)
        tile[operand, k, m] = ahead[operand, i]


@helper
def clear(sums):
    """Begin with zero."""
    for i in range(SUMS):
        for j in range(SUMS):
            sums[i, j] = real(0)


@helper
def multiply(tile, sums, thread):
    """Add the products of a slice's part of the slab to a thread's sums."""
    first, row, column = (thread >> 6) * STEPS, (thread >> 3 & 7) * 4, (thread & 7) * 4
    for step in range(STEPS):
        for i in range(SUMS):
            left = tile[0, first + step, row + i // 4 * 32 + i % 4]
            for j in range(SUMS):
                sums[i, j] += left * tile[1, first + step, column + j // 4 * 32 + j % 4]


@helper
def collect(tile, sums, first, thread):
    """Bring a thread's sums into the tile, whose two slabs now are the upper and the lower half of the result."""
    row, column = (thread >> 3 & 7) * 4, (thread & 7) * 4
    for i in range(SUMS):
        for j in range(SUMS):
            at = column + j // 4 * 32 + j % 4
            if first:
                tile[i // 4, row + i % 4, at] = sums[i, j]
            else:
                tile[i // 4, row + i % 4, at] += sums[i, j]


@helper
def store(matrix, tile, top, left, accumulate, thread):
    """Write the tile's part of the result, a run of columns by neighbouring threads."""
    column = left + (thread & 63)
    for i in range(STORES):
        low = (thread >> 6) + i % 8 * 4
        row = top + i // 8 * 32 + low
        if row < matrix.shape[0] and column < matrix.shape[1]:
            if accumulate:
                matrix[row, column] += tile[i // 8, low, thread & 63]
            else:
                matrix[row, column] = tile[i // 8, low, thread & 63]
