"""Tiled matrix product (GEMM) in shared memory: the main loop of the dense and convolution kernels.

A block computes a square tile of the result from slabs of both operands in shared memory. Both slabs have the same
layout, with `pitch` elements per step along the depth (K). Each thread accumulates 8 by 8 sums in registers; a group
consists of the threads that cover the tile, and the groups of a block split the depth of every slab. While a slab is
multiplied, the elements of the next one are loaded into registers. At the end the sums of the groups are reduced in
shared memory, in a fixed order.

The width of the tiles is chosen with the kernel, as a constant of its source, so that all offsets are immediate. Tiles
are 128 wide, with a single group, if there are enough of them for the multiprocessors of a large GPU. Otherwise
they are 64, 32 or 16 wide with 4, 16 or 64 groups, and slabs are deeper: a block then moves the same number of elements
per iteration. The sums of the largest tiles go from registers to the result: there is nothing to reduce.

For each step along the depth a thread reads 16 elements of shared memory, as four vectors, for 64 products. Its rows
and columns are two runs of 4, half a tile apart, so that the vectors of a warp are contiguous; the pitch is padded by 4
against bank conflicts. In float32 a warp takes 6 cycles of shared memory per step, where element by element it takes
24: 16 warps 384 cycles, more than the 256 of their products. A thread needs at most 128 registers, so that two blocks
share a multiprocessor: one fetches while one multiplies. Measured on an H200, where PyTorch multiplies large float32
matrices at 50.0 TFLOP/s, before shared memory was aligned for vectors: the forward pass of an MLP with 4096 samples
takes 0.69 ms, with tiles of 64 at most 0.77 ms; that of AlexNet with 128 images 12.4 and 13.9 ms.

Split-K: where the result is small and the depth is long, as in a filter gradient, several blocks also share the depth.
Each stores its tile in the scratch buffer, and a second kernel adds the tiles in a fixed order.

Arrays are indexed by `flat`, which avoids numba's check for negative indices: that check breaks vectorized accesses.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from numba import cuda

from paddle_layers.define.functions.point_functions import HELPERS, helper, real
from paddle_layers.kernels.tuned import tuned

F = TypeVar("F", bound=Callable[..., Any])

# 256 threads of at most 128 registers: two blocks fill the 65,536 registers of a multiprocessor.
THREADS = 256
LARGEST = 7
"""Maximum number of bits of the tile width, a power of two; such a tile takes all threads of a block."""
WIDEST = 6
"""The same where groups of threads share the depth."""
NARROWEST = 4
# Both slabs of float64, with padding, are 40 KiB: within the 48 KiB of static shared memory.
SLAB = 2048
"""Elements of a slab."""
LOADS = SLAB // THREADS
"""Elements of a slab that a thread moves."""
SUMS = 8
"""Rows and columns of results per thread."""
EPILOGUE_ROUNDS = 4
"""Rounds of the final reduction: the sums of a block are four times as large as shared memory."""
SECOND = 128 * 20
"""Offset of the second slab in shared memory: space for a slab of the narrowest tiles, which have the most padding."""
CAPACITY = 2 * SECOND
ALIGNMENT = 16
"""Bytes: with the alignment of one element, 16 loads instead of 4 vectors take longer than the products."""

LEFT = 0
RIGHT = 1
"""Operands of a product."""
ALONG = 1
ACROSS = 0
"""Whether contiguous elements of an operand run along the depth or across it."""

# About as many as a large GPU has (132 on an H100 or H200). A constant, so that results are the same on all GPUs.
MULTIPROCESSORS = 128
ENOUGH = MULTIPROCESSORS // 2
"""Minimum number of tiles; with fewer, narrower tiles (four times as many) are faster."""
ENOUGH_LARGEST = MULTIPROCESSORS
"""The same for the largest tiles, whose depth is not divided."""
PART = 8
"""Minimum number of slabs per block where blocks share the depth (split-K)."""
MIN_WORK = 1 << 20
"""Multiplications that point functions do while every multiprocessor does an iteration: 500 in each of 2100 cycles."""


def blocks(rows: int, columns: int, bits: int, matrices: int = 1) -> int:
    """Number of tiles that cover all matrices of the result."""
    return matrices * int(tiles(rows, columns, bits))


def work_per_iteration(rows: int, columns: int, depth: int, matrices: int = 1) -> int:
    """Multiplications per iteration: one slab on every multiprocessor; the epilogue of a tile costs two."""
    bits = int(bits_of(rows, columns))
    slabs = -(-depth * 2**bits // SLAB)
    iterations = -(-blocks(rows, columns, bits, matrices) // MULTIPROCESSORS) * (slabs + 2)
    return matrices * rows * columns * depth // max(iterations, 1)


def shared_blocks(rows: int, columns: int, depth: int, matrices: int = 1) -> int:
    """Number of blocks with split-K."""
    bits = wide_bits_of(rows, columns)
    found = matrices * int(tiles(rows, columns, bits))
    return found * int(parts_of(found, depth, bits))


def shared_work_per_iteration(rows: int, columns: int, depth: int, matrices: int = 1) -> int:
    """Multiplications per iteration with split-K."""
    bits = wide_bits_of(rows, columns)
    found = matrices * int(tiles(rows, columns, bits))
    parts = int(parts_of(found, depth, bits))
    slabs = -(-depth * 2**bits // SLAB)
    iterations = -(-found * parts // MULTIPROCESSORS) * (-(-slabs // parts) + 2)
    return matrices * rows * columns * depth // max(iterations, 1)


def of_product(shape: Callable[..., tuple[int, ...]], number: Callable[..., int]) -> Callable[..., int]:
    """A number of a product's rows, columns, depth and matrices, as a function of the sizes that `shape` requests."""

    @functools.wraps(shape)
    def of_sizes(*sizes: int) -> int:
        return int(number(*shape(*sizes)))

    return of_sizes


def blocks_of(shape: Callable[..., tuple[int, ...]]) -> Callable[..., int]:
    """The blocks of a product, as a function of the constant `bits` of its kernel and the sizes that `shape` requests.

    The width is that of the rows for which the kernel was selected: `bits_of` the rows of another batch may differ.
    """

    def of_sizes(bits: int, *sizes: int) -> int:
        rows, columns, _, *matrices = shape(*sizes)
        return blocks(rows, columns, bits, *matrices)

    requested = inspect.signature(of_sizes).parameters["bits"], *inspect.signature(shape).parameters.values()
    vars(of_sizes)["__signature__"] = inspect.Signature(requested)
    return of_sizes


def tuned_product(
    layer: str, function: str, shape: Callable[..., tuple[int, ...]], when: Callable[..., bool] | None = None
) -> Callable[[Any], Any]:
    """Registers a kernel that computes a tile per block.

    Args:
        layer: Layer type.
        function: Name of the point function.
        shape: Rows, columns and depth of the product, and the number of matrices if there are several, as a function of
            sizes and attributes.
        when: Condition on sizes and attributes.

    Returns:
        A decorator, as that of `tuned`.
    """
    return tuned(
        layer, function, device="cuda", items=blocks_of(shape), work=of_product(shape, work_per_iteration),
        least=MIN_WORK, when=when, threads=THREADS,
        folded={"bits": of_product(shape, lambda rows, columns, *_: bits_of(rows, columns))},
    )  # fmt: skip


@helper
def parts_of(count, depth, bits):
    """Blocks that share the depth of each tile: enough to occupy a large GPU, if each has enough slabs."""
    slabs = (depth * (1 << bits) + SLAB - 1) // SLAB
    # Two blocks per multiprocessor, as registers permit.
    return max(1, min(2 * MULTIPROCESSORS // max(count, 1), slabs // PART))


@helper
def wide_bits_of(rows, columns):
    """Bits of the tile width with split-K: narrower only where half of each tile would be empty."""
    bits = WIDEST
    while bits > NARROWEST and 2 * min(rows, columns) <= 1 << bits:
        bits -= 1
    return bits


@helper
def tiles(rows, columns, bits):
    """Number of tiles that cover a matrix."""
    return ((rows + (1 << bits) - 1) >> bits) * ((columns + (1 << bits) - 1) >> bits)


@helper
def bits_of(rows, columns):
    """Bits of the tile width of a matrix: narrower where there are few tiles, or where half of each would be empty."""
    bits = LARGEST
    # Narrower tiles read their operands more often, but with few wide ones most multiprocessors would be idle.
    while bits > NARROWEST and (
        2 * min(rows, columns) <= 1 << bits
        or tiles(rows, columns, bits) < (ENOUGH_LARGEST if bits == LARGEST else ENOUGH)
    ):
        bits -= 1
    return bits


@helper
def corner(block, rows, columns, bits):
    """Which matrix of a batch a block works on, and the first row and column of its tile."""
    down, across = (rows + (1 << bits) - 1) >> bits, (columns + (1 << bits) - 1) >> bits
    return block // across // down, block // across % down << bits, block % across << bits


@helper
def spot(thread, bits, along):
    """Depth and side of the first element that a thread moves; the others follow along the depth, 256 / width apart.

    Contiguous elements are loaded by adjacent threads (coalesced): runs of 4 along the depth (2 for the largest tiles),
    or a whole side.
    """
    if along:
        run = min(8 - bits, 2)
        return (thread & ((1 << run) - 1)) + (thread >> (bits + run) << run), (thread >> run) & ((1 << bits) - 1)
    return thread >> bits, thread & ((1 << bits) - 1)


@helper
def fetch(ahead, operand, matrix, first, start, thread, bits, along):
    """Reads a thread's part of a slab; zero beyond the depth.

    Beyond the side the last element is read again, for results that are not stored.
    """
    k, m = spot(thread, bits, along)
    k += start
    if along:
        at, step, depth = min(first + m, matrix.shape[0] - 1) * matrix.shape[1] + k, 1, matrix.shape[1]
    else:
        at, step, depth = k * matrix.shape[1] + min(first + m, matrix.shape[1] - 1), matrix.shape[1], matrix.shape[0]
    # All slabs but the last one are within the depth, where a thread compares nothing.
    if start + (SLAB >> bits) <= depth:
        for i in range(LOADS):
            ahead[operand, i] = matrix.flat[at]
            at += step << (8 - bits)
        return
    for i in range(LOADS):
        # Zeros on both sides beyond the depth: products of padding add nothing.
        ahead[operand, i] = matrix.flat[at] if k < depth else real(0)
        k += 1 << (8 - bits)
        at += step << (8 - bits)


@helper
def put(tile, operand, ahead, thread, bits, along):
    """Copies the fetched elements into shared memory."""
    k, m = spot(thread, bits, along)
    # 4 more elements per row: writes along the depth hit a bank at most twice, not four times; vectors stay aligned.
    pitch = (1 << bits) + 4
    at = operand * SECOND + k * pitch + m
    for i in range(LOADS):
        tile.flat[at] = ahead[operand, i]
        at += pitch << (8 - bits)


@helper
def clear(sums):
    """Initializes the sums with zero."""
    for i in range(SUMS):
        for j in range(SUMS):
            sums[i, j] = real(0)


@helper
def multiply(tile, sums, thread, bits):
    """Adds the products of a group's part of the slabs to the sums of a thread."""
    steps = 1 << (bits - 3)
    half, pitch = steps * 4, (2 * steps + 1) * 4
    group, lane = thread >> (2 * bits - 6), thread & (steps * steps - 1)
    row = group * steps * pitch + (lane >> (bits - 3)) * 4
    column = SECOND + group * steps * pitch + (lane & (steps - 1)) * 4
    # The bounds of the inner loops are constants: once they are unrolled, so are all indices of `sums`, which stay in
    # registers.
    # Two steps without a branch; the compiler does not unroll a loop of 64 products.
    for _ in range(steps // 2):
        add_products(tile, sums, row, column, half)
        add_products(tile, sums, row + pitch, column + pitch, half)
        row += 2 * pitch
        column += 2 * pitch


@helper
def add_products(tile, sums, row, column, half):
    """Adds the products of one step along the depth."""
    for i in range(SUMS):
        # Rows are two runs of 4, so that a warp loads contiguous vectors without bank conflicts.
        left = tile.flat[row + i // 4 * half + i % 4]
        for j in range(SUMS):
            sums[i, j] += left * tile.flat[column + j // 4 * half + j % 4]


@helper
def collect(tile, sums, first, thread, bits):
    """Adds the sums of a thread to those of other rounds; shared memory now has results of a quarter of the groups."""
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
    """An element of the result after all rounds."""
    pitch = (1 << bits) + 4
    total = real(0)
    # In the order of the groups, without atomics: the same bits on every run.
    for group in range(1 << (12 - 2 * bits)):
        total += tile.flat[((group << bits) + row) * pitch + column]
    return total


@helper
def store_sums(matrix, sums, top, left, accumulate, thread):
    """Writes the sums of a thread, for the largest tiles: there is nothing to reduce."""
    steps = 1 << (LARGEST - 3)
    for i in range(SUMS):
        row = top + thread // steps * 4 + i // 4 * (4 * steps) + i % 4
        for j in range(SUMS):
            column = left + thread % steps * 4 + j // 4 * (4 * steps) + j % 4
            if row < matrix.shape[0] and column < matrix.shape[1]:
                at = row * matrix.shape[1] + column
                matrix.flat[at] = matrix.flat[at] + sums[i, j] if accumulate else sums[i, j]


@helper
def keep(scratch, tile, block, thread, bits):
    """Stores the tile of a block in the scratch buffer."""
    for i in range(1 << (2 * bits - 8)):
        e = thread + i * THREADS
        scratch.flat[(block << 2 * bits) + e] = result(tile, e >> bits, e & ((1 << bits) - 1), bits)


@helper
def store(matrix, tile, top, left, accumulate, thread, bits):
    """Writes the tile's part of the result; adjacent threads write a run of columns."""
    for i in range(1 << (2 * bits - 8)):
        # Adjacent threads have adjacent columns: coalesced stores.
        e = thread + i * THREADS
        row, column = e >> bits, e & ((1 << bits) - 1)
        if top + row < matrix.shape[0] and left + column < matrix.shape[1]:
            at = (top + row) * matrix.shape[1] + left + column
            if accumulate:
                matrix.flat[at] += result(tile, row, column, bits)
            else:
                matrix.flat[at] = result(tile, row, column, bits)


def block_helper(function: F) -> F:
    """Registers a function that all threads of a block call together: with barriers, for CUDA only."""
    HELPERS[function] = function.__name__
    return function


@block_helper
def product(target, left, right, block, left_along, right_along, accumulate, bits):
    """Computes the tile `block` of a product of matrices, which run `ALONG` the depth or `ACROSS`."""
    tile = cuda.shared.array(CAPACITY, real, ALIGNMENT)
    ahead = cuda.local.array((2, LOADS), real)
    sums = cuda.local.array((SUMS, SUMS), real)
    thread, slab = cuda.threadIdx.x, SLAB >> bits
    depth = left.shape[1] if left_along else left.shape[0]
    _, top, first = corner(block, target.shape[0], target.shape[1], bits)
    clear(sums)
    # One iteration more than slabs: the first one only fetches, the last one only multiplies.
    for start in range(0, depth + slab, slab):
        if start > 0:
            put(tile, LEFT, ahead, thread, bits, left_along)
            put(tile, RIGHT, ahead, thread, bits, right_along)
        # The slab is complete before any thread multiplies it. The next one is fetched into registers meanwhile, so
        # that the latency of global memory overlaps with the products.
        cuda.syncthreads()
        fetch(ahead, LEFT, left, top, start, thread, bits, left_along)
        fetch(ahead, RIGHT, right, first, start, thread, bits, right_along)
        if start == 0:  # no slab has been loaded yet
            cuda.syncthreads()
            continue
        multiply(tile, sums, thread, bits)
        # No thread overwrites the slab while another one still reads it.
        cuda.syncthreads()
    if bits == LARGEST:
        store_sums(target, sums, top, first, accumulate, thread)
        return
    reduce_groups(tile, sums, thread, bits)
    store(target, tile, top, first, accumulate, thread, bits)


@block_helper
def reduce_groups(tile, sums, thread, bits):
    """Adds the sums of the groups in shared memory."""
    # A quarter of the threads per round (two warps), since their sums fill shared memory; a fixed order keeps the bits.
    for round_ in range(EPILOGUE_ROUNDS):
        if round_ == thread >> 6:
            collect(tile, sums, round_ == 0, thread, bits)
        cuda.syncthreads()
