"""Fully connected layer (`fc`): kernels in the order in which they are asked for the sizes.

Many rows, and several rows of inference, multiply a packed weight (`packed_products`). A single row is split along the
reduction (split-K). A few rows of whole vectors use register tiles. The rest is left to BLAS, in tiles of rows or
columns, whichever are more.

A part of the sums of a row reads adjacent rows of the weight, so memory is read in order: 9216 to 4096 reaches 58 GB/s
on two cores in 8 parts, and 34 in 8 tiles of columns.

Skinny matrix products, of few rows with a large weight, read the weight once, with register tiles and without packing:
BLAS first packs the weight, which for few rows takes longer than the products.
"""

from __future__ import annotations

from paddle_layers.kernels.primitives.blas import matrix_product, vector_product
from paddle_layers.kernels.primitives.compile_options import also_in_python, compiled, copied
from paddle_layers.kernels.primitives.memory_ops import fetch_run, scatter_sums, set_entry, transpose, zeros
from paddle_layers.kernels.primitives.microkernels import ENTRY, LANES, VECTOR, VECTORS, gemm_microkernel, rounded
from paddle_layers.kernels.primitives.packed_panels import TILES
from paddle_layers.kernels.primitives.scratch import scratch_of_chunk
from paddle_layers.kernels.primitives.vector_functions import add_to, copy
from paddle_layers.kernels.tuned import tuned

from .packed_products import (
    MOST,
    chunk_numbers,
    packing_pays,
    panel_numbers,
    register_gradient,
    register_product,
    tiles,
)

# 64 rows of 48 float32 columns (three vectors) are 12 KiB, read by every row of the other factor.
BLOCK = 64
"""Weight rows of a block, whose columns for a tile stay in the L1 cache."""
HALF = BLOCK // 2
"""The same for half as many rows, whose products are faster than the loads of the block: it is prefetched."""
# BLAS also sums 512 products at a time, so that both paths round equally and results do not jump at `MOST` rows.
SUMMED = 512
"""Products per partial sum: limits the growth of rounding errors."""
MIN_WORK = 1 << 16
"""Minimum number of multiplications for the tuned kernel; below it, the gain does not repay the compile time."""
MIN_ONE_ROW_WORK = 1 << 12
"""The same for one row: there the point function reads the weight with a stride of one row."""
# With fewer multiplications BLAS is faster: 2x784 to 512 would take seven times as long for the input gradient.
MIN_FEW_ROWS_WORK = 1 << 23
"""The same for a few rows, compared to BLAS."""
# Measured: the MLP's batch of one 46 to 33 us, AlexNet's 17.6 to 14.6 ms on two threads. A split over columns would
# read 2 KiB of every 16 KiB row.
PART = 1 << 16
"""Minimum number of multiplications of a part of a row's sums."""


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


def multiplications(N: int, C_i: int, K: int) -> int:
    """Operations of a product."""
    return N * C_i * K


def one_row(N: int) -> bool:
    """Whether it is a vector-matrix product."""
    return N == 1


def parts_of_row(C_i: int, K: int) -> int:
    """Parts of the sums of one row; depends on the shape only."""
    return max(1, min(TILES, C_i * K // PART))


def one_long_row(N: int, C_i: int, K: int) -> bool:
    """Whether it is a vector-matrix product that is worth several parts."""
    return N == 1 and parts_of_row(C_i, K) > 1


def numbers_of_row(K: int) -> int:
    """Number of elements of a row of the output: the sums of a part, and the runs of one element of the row itself."""
    return K


def tiles_of_y(N: int, K: int) -> int:
    """Number of tiles of the output."""
    return int(tiles(N, K))


def tiles_of_dx(N: int, C_i: int) -> int:
    """Number of tiles of the input gradient."""
    return int(tiles(N, C_i))


def rows_of_y(N: int, K: int) -> int:
    """Runs of the output that the tiles consist of: its rows, where rows are split."""
    return N if N > K else 0


def rows_of_dx(N: int, C_i: int) -> int:
    """The same for the input gradient."""
    return N if C_i < N else 0


def tiles_of_dweight(C_i: int, K: int) -> int:
    """Number of tiles of the weight gradient."""
    return int(tiles(C_i, K))


@also_in_python
def runs_of_columns(K):
    """Runs of the output columns where rows are few, at least one vector each."""
    return max(1, min(TILES, K // LANES))


@also_in_python
def runs_of_inputs(C_i):
    """Runs of the weight rows where rows are few."""
    return max(1, min(TILES, C_i // LANES))


@compiled
def tile_bounds(tile, rows, columns):
    """Rows and columns of a tile: the longer side is split, so that little is packed twice."""
    count = tiles(rows, columns)
    if rows > columns:
        return rows * tile // count, rows * (tile + 1) // count, 0, columns
    return 0, rows, columns * tile // count, columns * (tile + 1) // count


def packing_repays(N: int, C_i: int, K: int, training: bool) -> bool:
    """Whether the weight is packed before it is multiplied by all rows."""
    return packing_pays(N, C_i, K, training)


def numbers_of_y(C_i: int, K: int) -> int:
    """Elements of the packed weight."""
    return int(panel_numbers(C_i, K))


def numbers_of_dx_panels(C_i: int, K: int) -> int:
    """Elements of the packed transpose of the weight."""
    return int(panel_numbers(K, C_i))


def numbers_of_dweight(N: int, K: int) -> int:
    """Scratch elements of a chunk of the weight gradient."""
    return int(chunk_numbers(N, K))


register_product(
    "fc", "fc_y", {"transposed": "0"}, tiles_of_y, rows_of_y, numbers_of_y, packing_repays, multiplications
)  # fmt: skip
register_product(
    "fc", "fc_dx", {"y": "dx", "x": "dy", "transposed": "1"}, tiles_of_dx, rows_of_dx, numbers_of_dx_panels,
    packing_repays, multiplications,
)  # fmt: skip
register_gradient("fc", "fc_dweight", {}, tiles_of_dweight, numbers_of_dweight, packing_repays, multiplications)


@tuned("fc", "fc_y", items=parts_of_row, scratch=numbers_of_row, when=one_long_row, work=multiplications)
@compiled
def parts_y(first, last, x, weight, scratch):
    C, K = weight.shape
    parts = scratch.size // K
    size, one = x.itemsize, weight.dtype.type(1)
    for part in range(first, last):
        # Rows `low` to `high` of the weight are contiguous, so that each part reads memory in order.
        low, high = C * part // parts, C * (part + 1) // parts
        vector_product(
            0, high - low, K, weight.ctypes.data + low * K * size, K, x.ctypes.data + low * size,
            False, scratch.ctypes.data + part * K * size, one,
        )  # fmt: skip


@tuned("fc", "fc_y", items=tiles_of_y, runs=numbers_of_row, after=parts_y)
@compiled
def row_y(first, last, y, scratch, accumulate):
    K = y.shape[1]
    low, high = K * first // tiles(1, K), K * last // tiles(1, K)
    sums = y[0, low:high]
    if accumulate:
        add_to(sums, scratch[low:high])
    else:
        copy(sums, scratch[low:high])
    # In the order of the parts, whichever thread was first: the same bits on every run.
    for part in range(1, scratch.size // K):
        add_to(sums, scratch[part * K + low : part * K + high])


@tuned(
    "fc", "fc_y", items=runs_of_columns, scratch=table_numbers, scratch_per_chunk=True, when=few_rows,
    work=multiplications, least=MIN_FEW_ROWS_WORK,
)  # fmt: skip
@compiled
def rows_y(first, last, y, x, weight, scratch, adding):
    size, one = y.itemsize, weight.dtype.type(1)
    C, K = weight.shape
    sizes, items = (x.shape[0], C, K), runs_of_columns(K)
    for item in range(first, last):
        left, right = K // LANES * item // items * LANES, K // LANES * (item + 1) // items * LANES
        multiply_rows(
            y.ctypes.data, x.ctypes.data, weight.ctypes.data, left, right, sizes, adding,
            scratch_of_chunk(scratch, item, items), size, one,
        )  # fmt: skip


@tuned(
    "fc", "fc_dx", items=runs_of_inputs, scratch=numbers_of_dx, scratch_per_chunk=True, when=few_rows,
    work=multiplications, least=MIN_FEW_ROWS_WORK,
)  # fmt: skip
@compiled
def rows_dx(first, last, dx, dy, weight, scratch, adding):
    size, one = dx.itemsize, weight.dtype.type(1)
    C, K = weight.shape
    sizes, items = (dy.shape[0], C, K), runs_of_inputs(C)
    for item in range(first, last):
        multiply_rows_back(
            dx.ctypes.data, dy.ctypes.data, weight.ctypes.data, C * item // items, C * (item + 1) // items, sizes,
            adding, scratch_of_chunk(scratch, item, items), size, one,
        )  # fmt: skip


@tuned(
    "fc", "fc_dweight", items=runs_of_inputs, scratch=table_numbers, scratch_per_chunk=True, when=few_rows,
    work=multiplications, least=MIN_FEW_ROWS_WORK,
)  # fmt: skip
@compiled
def rows_dweight(first, last, dweight, x, dy, scratch, adding):
    size, one = x.itemsize, x.dtype.type(1)
    C, K = dweight.shape
    sizes, items = (x.shape[0], C, K), runs_of_inputs(C)
    for item in range(first, last):
        add_outer_products(
            dweight.ctypes.data, x.ctypes.data, dy.ctypes.data, C * item // items, C * (item + 1) // items, sizes,
            adding, scratch_of_chunk(scratch, item, items), size, one,
        )  # fmt: skip


@tuned("fc", "fc_y", items=tiles_of_y, runs=rows_of_y, work=multiplications, least=MIN_WORK)
@tuned("fc", "fc_y", items=tiles_of_y, runs=rows_of_y, when=one_row, work=multiplications, least=MIN_ONE_ROW_WORK)
@compiled
def fc_y(first, last, y, x, weight, accumulate):
    size, one = y.itemsize, weight.dtype.type(1)
    C, K = weight.shape
    xs, ws, ys = x.ctypes.data, weight.ctypes.data, y.ctypes.data
    for tile in range(first, last):
        low, high, left, right = tile_bounds(tile, x.shape[0], K)
        # One row needs gemv: gemm with one thread took 830 us instead of 28 for 1x1024 to 1024.
        if x.shape[0] == 1:
            vector_product(0, C, right - left, ws + left * size, K, xs, accumulate, ys + left * size, one)
        else:
            matrix_product(
                0, 0, high - low, right - left, C,
                xs + low * C * size, C, ws + left * size, K, accumulate, ys + (low * K + left) * size, K, one,
            )  # fmt: skip


@tuned("fc", "fc_dx", items=tiles_of_dx, runs=rows_of_dx, work=multiplications, least=MIN_WORK)
@compiled
def fc_dx(first, last, dx, dy, weight, accumulate):
    size, one = dx.itemsize, weight.dtype.type(1)
    C, K = weight.shape
    ds, ws, dys = dx.ctypes.data, weight.ctypes.data, dy.ctypes.data
    for tile in range(first, last):
        low, high, left, right = tile_bounds(tile, dy.shape[0], C)
        if dy.shape[0] == 1:
            vector_product(1, right - left, K, ws + left * K * size, K, dys, accumulate, ds + left * size, one)
        else:
            matrix_product(
                0, 1, high - low, right - left, K,
                dys + low * K * size, K, ws + left * K * size, K, accumulate, ds + (low * C + left) * size, C, one,
            )  # fmt: skip


@tuned("fc", "fc_dweight", items=tiles_of_dweight, work=multiplications, least=MIN_WORK)
@compiled
def fc_dweight(first, last, dweight, x, dy, accumulate):
    C, K = dweight.shape
    size, one = x.itemsize, x.dtype.type(1)
    for tile in range(first, last):
        low, high, left, right = tile_bounds(tile, C, K)
        # The input is transposed by a flag of BLAS, without a copy.
        matrix_product(
            1, 0, high - low, right - left, x.shape[0],
            x.ctypes.data + low * size, C, dy.ctypes.data + left * size, K,
            accumulate, dweight.ctypes.data + (low * K + left) * size, K, one,
        )  # fmt: skip
