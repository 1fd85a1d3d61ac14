"""Matrix products by tiles: what the kernels of products and convolutions have in common.

A block computes a square tile of the result from slabs of both operands in shared memory, which lie the same way for
both, `pitch` numbers for each step along the depth. Each thread has 8 by 8 sums in its registers; as many threads as
cover the tile are a group, and the groups of a block share out the depth of every slab. While a slab is multiplied,
the elements of the next one are on their way into registers. At the end the sums of the groups are added up in shared
memory, in an order that is always the same.

Tiles are 64 wide, by four groups, where there are enough of them for the multiprocessors of a large card. Otherwise
they are 32 or 16 wide, by 16 or 64 groups, and slabs are deeper in return: a block then moves and multiplies as
many numbers in an iteration.

For each step along the depth a thread reads 16 numbers of shared memory, as four vectors, for 64 products. Its rows
and columns are two runs of 4, half a tile apart, so that the vectors of a warp lie side by side; the pitch is padded by
4. A thread needs at most 128 registers, so that two blocks share a multiprocessor: one fetches while one multiplies.
In an iteration of 64 wide tiles 512 of some 1000 instructions multiply; of an H200's 67 TFLOP/s we expect 25 to 30.

Where the result is small and the depth is long, as in a gradient of filters, blocks share the depth, too: each leaves
its tile in scratch memory, and a second kernel adds them up in an order that is always the same.

Helpers do not see `cuda`, so arrays and barriers stand in the kernels. Arrays are indexed by `flat`, which saves
numba's check for negative indices: with it the vectors fall apart.
"""

from __future__ import annotations

from paddle_layers.define.functions.point_functions import helper, real

THREADS = 256
WIDEST = 6
"""The width of a tile is two to the power of its bits: this many at most."""
NARROWEST = 4
SLAB = 2048
"""Elements of a slab."""
LOADS = SLAB // THREADS
"""Elements of a slab that a thread moves."""
SUMS = 8
"""Rows and columns of results in a thread."""
EPILOGUE_ROUNDS = 4
"""Rounds in which sums are added up: a block has four times as many as shared memory has room for."""
SECOND = 128 * 20
"""Where the second slab begins in shared memory: room for a slab of the narrowest tiles, which are padded most."""
CAPACITY = 2 * SECOND

LEFT = 0
RIGHT = 1
"""Operands of a product."""
ALONG = 1
ACROSS = 0
"""Whether neighbours in an operand's memory follow each other along the depth or across it."""

MULTIPROCESSORS = 128
ENOUGH = MULTIPROCESSORS // 2
"""Tiles below which narrower ones, four times as many, are done sooner."""
PART = 8
"""Slabs that are worth a block of their own, where blocks share the depth."""
WORTH_IT = 1 << 20
"""Multiplications that point functions do while every multiprocessor does an iteration: 500 in each of 2100 cycles."""


def blocks(rows: int, columns: int, matrices: int = 1) -> int:
    """Tiles that cover all matrices of the result."""
    return matrices * int(tiles(rows, columns, bits_of(rows, columns)))


def work_per_iteration(rows: int, columns: int, depth: int, matrices: int = 1) -> int:
    """Multiplications in the time of an iteration: a slab on every multiprocessor; the ends of a tile cost two."""
    slabs = -(-depth * 2 ** bits_of(rows, columns) // SLAB)
    iterations = -(-blocks(rows, columns, matrices) // MULTIPROCESSORS) * (slabs + 2)
    return matrices * rows * columns * depth // max(iterations, 1)


def shared_blocks(rows: int, columns: int, depth: int, matrices: int = 1) -> int:
    """Blocks where they share the depth."""
    bits = wide_bits_of(rows, columns)
    found = matrices * int(tiles(rows, columns, bits))
    return found * int(parts_of(found, depth, bits))


def shared_work_per_iteration(rows: int, columns: int, depth: int, matrices: int = 1) -> int:
    """Multiplications in the time of an iteration, where blocks share the depth."""
    bits = wide_bits_of(rows, columns)
    found = matrices * int(tiles(rows, columns, bits))
    parts = int(parts_of(found, depth, bits))
    slabs = -(-depth * 2**bits // SLAB)
    iterations = -(-found * parts // MULTIPROCESSORS) * (-(-slabs // parts) + 2)
    return matrices * rows * columns * depth // max(iterations, 1)


def tile_size(rows: int, columns: int) -> int:
    """Numbers in a tile, where blocks share the depth."""
    return 1 << 2 * int(wide_bits_of(rows, columns))


@helper
def parts_of(count, depth, bits):
    """Blocks that share the depth of each tile: as many as keep a large card busy, if each has slabs enough."""
    slabs = (depth * (1 << bits) + SLAB - 1) // SLAB
    return max(1, min(2 * MULTIPROCESSORS // max(count, 1), slabs // PART))


@helper
def wide_bits_of(rows, columns):
    """Bits of a matrix's tiles where blocks share the depth: narrower only where half of each would be empty."""
    bits = WIDEST
    while bits > NARROWEST and 2 * min(rows, columns) <= 1 << bits:
        bits -= 1
    return bits


@helper
def tiles(rows, columns, bits):
    """Tiles that cover a matrix."""
    return ((rows + (1 << bits) - 1) >> bits) * ((columns + (1 << bits) - 1) >> bits)


@helper
def bits_of(rows, columns):
    """Bits of a matrix's tiles: narrower where there are few, or where half of each would be empty."""
    bits = WIDEST
    while bits > NARROWEST and (2 * min(rows, columns) <= 1 << bits or tiles(rows, columns, bits) < ENOUGH):
        bits -= 1
    return bits


@helper
def corner(block, rows, columns, bits):
    """Which of several matrices a block works on, and the first row and column of its tile."""
    down, across = (rows + (1 << bits) - 1) >> bits, (columns + (1 << bits) - 1) >> bits
    return block // across // down, block // across % down << bits, block % across << bits


@helper
def spot(thread, bits, along):
    """Depth and side of the first element that a thread moves; the others follow along the depth, 256 / width apart.

    Neighbours in memory go to neighbouring threads: runs of 4 along the depth, or a whole side.
    """
    if along:
        return (thread & 3) + (thread >> (bits + 2)) * 4, (thread >> 2) & ((1 << bits) - 1)
    return thread >> bits, thread & ((1 << bits) - 1)


@helper
def fetch(ahead, operand, matrix, first, start, thread, bits, along):
    """Read a thread's part of a slab; zero beyond the depth.

    Beyond the side the last element is read again, for results that are not stored.
    """
    k, m = spot(thread, bits, along)
    k += start
    if along:
        at, step, depth = min(first + m, matrix.shape[0] - 1) * matrix.shape[1] + k, 1, matrix.shape[1]
    else:
        at, step, depth = k * matrix.shape[1] + min(first + m, matrix.shape[1] - 1), matrix.shape[1], matrix.shape[0]
    for i in range(LOADS):
        ahead[operand, i] = matrix.flat[at] if k < depth else real(0)
        k += 1 << (8 - bits)
        at += step << (8 - bits)


@helper
def put(tile, operand, ahead, thread, bits, along):
    """Put what was fetched into shared memory."""
    k, m = spot(thread, bits, along)
    pitch = (1 << bits) + 4
    at = operand * SECOND + k * pitch + m
    for i in range(LOADS):
        tile.flat[at] = ahead[operand, i]
        at += pitch << (8 - bits)


@helper
def clear(sums):
    """Begin with zero."""
    for i in range(SUMS):
        for j in range(SUMS):
            sums[i, j] = real(0)


@helper
def multiply(tile, sums, thread, bits):
    """Add the products of a group's part of the slabs to a thread's sums."""
    steps = 1 << (bits - 3)
    half, pitch = steps * 4, (2 * steps + 1) * 4
    group, lane = thread >> (2 * bits - 6), thread & (steps * steps - 1)
    row = group * steps * pitch + (lane >> (bits - 3)) * 4
    column = SECOND + group * steps * pitch + (lane & (steps - 1)) * 4
    for _ in range(steps):
        for i in range(SUMS):
            left = tile.flat[row + i // 4 * half + i % 4]
            for j in range(SUMS):
                sums[i, j] += left * tile.flat[column + j // 4 * half + j % 4]
        row += pitch
        column += pitch


@helper
def collect(tile, sums, first, thread, bits):
    """Add a thread's sums to those of other rounds; shared memory now has results of a quarter of the groups."""
    steps = 1 << (bits - 3)
    half, pitch = steps * 4, (2 * steps + 1) * 4
    group, lane = (thread & 63) >> (2 * bits - 6), thread & (steps * steps - 1)
    corner = ((group << bits) + (lane >> (bits - 3)) * 4) * pitch + (lane & (steps - 1)) * 4
    for i in range(SUMS):
        for j in range(SUMS):
            at = corner + (i // 4 * half + i % 4) * pitch + j // 4 * half + j % 4
            if first:
                tile.flat[at] = sums[i, j]
            else:
                tile.flat[at] += sums[i, j]


@helper
def result(tile, row, column, bits):
    """An element of the result, once all rounds are over."""
    pitch = (1 << bits) + 4
    total = real(0)
    for group in range(1 << (12 - 2 * bits)):
        total += tile.flat[((group << bits) + row) * pitch + column]
    return total


@helper
def keep(scratch, tile, block, thread, bits):
    """Leave a block's tile in scratch memory."""
    for i in range(1 << (2 * bits - 8)):
        e = thread + i * THREADS
        scratch.flat[(block << 2 * bits) + e] = result(tile, e >> bits, e & ((1 << bits) - 1), bits)


@helper
def store(matrix, tile, top, left, accumulate, thread, bits):
    """Write the tile's part of the result, a run of columns by neighbouring threads."""
    for i in range(1 << (2 * bits - 8)):
        e = thread + i * THREADS
        row, column = e >> bits, e & ((1 << bits) - 1)
        if top + row < matrix.shape[0] and left + column < matrix.shape[1]:
            at = (top + row) * matrix.shape[1] + left + column
            if accumulate:
                matrix.flat[at] += result(tile, row, column, bits)
            else:
                matrix.flat[at] = result(tile, row, column, bits)
