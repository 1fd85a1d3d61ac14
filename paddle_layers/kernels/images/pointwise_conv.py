"""Pointwise (1x1) convolution of small images in the test phase: vectorized over filters, which are packed once.

A row of 7x7 pixels fills three vectors of sixteen lanes and one lane of the fourth. So here a tile has rows of pixels,
as factors, and vectors of filters; its sums are transposed when they are complete. The filters of a block are
contiguous: transposed as a whole, like those of `filter_vectorized_conv`, they reached 50 to 79 GFLOP/s, packed like
this 88 to 107.
"""

from __future__ import annotations

from paddle_layers.kernels.constants import MAX_CHUNKS
from paddle_layers.kernels.primitives.compile_options import also_in_python, compiled
from paddle_layers.kernels.primitives.epilogues import apply_epilogue
from paddle_layers.kernels.primitives.memory_ops import set_entry, transpose
from paddle_layers.kernels.primitives.microkernels import ENTRY, VECTOR, VECTORS, gemm_microkernel, vectors_of
from paddle_layers.kernels.primitives.scratch import scratch_of_chunk

from .conv_tiling import ConvProblem, one_pixel
from .direct_conv import divisor

# 7x7 pixels fill 49 of 64 lanes (77 %); filters of networks are mostly multiples of 16 and fill all.
FILLED = 0.9
"""Minimum fraction of the lanes filled by pixels for vectorizing over pixels."""
SHORTEST = 32
"""Minimum number of filters of an item, and of channels."""
PIXELS = 128
"""Maximum number of pixels of an image."""
LANES = VECTOR // 4
"""Lanes of a float32 vector."""


def small_images(problem: ConvProblem) -> bool:
    """Whether these kernels accept a convolution: pixels would leave lanes empty, and sums are long."""
    pixels = problem.P * problem.Q
    empty = pixels <= PIXELS and pixels < FILLED * LANES * -(-pixels // LANES)
    long = problem.groups == 1 and min(problem.K, problem.D) >= SHORTEST
    return not problem.training and empty and long and bool(one_pixel(problem.geometry, problem.P, problem.Q))


@also_in_python
def filter_parts(K):
    """Runs of the filters, which are work items; depends on shapes only."""
    return divisor(K, max(1, min(MAX_CHUNKS, K // SHORTEST)))


def packed_items(problem: ConvProblem) -> int:
    """Work items of both kernels."""
    return int(filter_parts(problem.K))


def packed_runs(problem: ConvProblem) -> int:
    """Planes of the output, where those of an item are contiguous."""
    return problem.K if problem.N == 1 else 0


def packed_numbers(problem: ConvProblem) -> int:
    """Elements of the packed filters; those of an item fill whole vectors."""
    parts = packed_items(problem)
    return parts * -(-problem.K // parts // LANES) * LANES * problem.D


def sums_of_pixels(problem: ConvProblem) -> int:
    """Scratch elements of a chunk of `pointwise_conv_small`: a table entry, and the sums of a block of filters."""
    return ENTRY + problem.P * problem.Q * (VECTORS + 1) * LANES


@also_in_python
def block_width(vectors):
    """Vectors of the next block of filters; a single one left over joins those before it."""
    return vectors if vectors <= VECTORS + 1 else VECTORS


@compiled
def pack_filters(first, last, prepared, weight):
    """Packs filters into blocks of some vectors, contiguous for each channel; an item is a run of filters."""
    K, D, _, _ = weight.shape
    size, one, parts = weight.itemsize, weight.dtype.type(1), filter_parts(K)
    filters, lanes = K // parts, VECTOR // size
    vectors = vectors_of(filters, size)
    for part in range(first, last):
        at = 0
        while at < vectors:
            wide = block_width(vectors - at)
            transpose(
                prepared.ctypes.data + (part * vectors + at) * VECTOR * D,
                weight.ctypes.data + (part * filters + at * lanes) * D * size,
                min(wide * lanes, filters - at * lanes), D, D, wide * lanes, 1, size, one,
            )  # fmt: skip
            at += wide


@compiled
def pointwise_conv_small(first, last, y, x, prepared, scratch, epilogue):
    """A work item is a run of filters of all images; `epilogue` is defined in `primitives.epilogues`."""
    N, K, P, Q = y.shape
    D, pixels = x.shape[1], P * Q
    size, one, parts = y.itemsize, y.dtype.type(1), filter_parts(K)
    filters, lanes = K // parts, VECTOR // size
    vectors = vectors_of(filters, size)
    for part in range(first, last):
        table = scratch_of_chunk(scratch, part, parts)
        sums = table + ENTRY * size
        set_entry(table, 0, 0, 0)
        for n in range(N):
            at = 0
            while at < vectors:
                wide = block_width(vectors - at)
                gemm_microkernel(
                    pixels, wide, 0, D, wide * VECTOR, pixels * size, 1, table,
                    x.ctypes.data + n * D * pixels * size, size,
                    prepared.ctypes.data + (part * vectors + at) * VECTOR * D, sums, wide * VECTOR, False, one,
                )  # fmt: skip
                k, count = part * filters + at * lanes, min(wide * lanes, filters - at * lanes)
                to = y.ctypes.data + (n * K + k) * pixels * size
                transpose(to, sums, pixels, count, wide * lanes, pixels, 1, size, one)
                for row in range(count if epilogue[0] != 0 else 0):
                    apply_epilogue(to + row * pixels * size, pixels, epilogue[0] + (k + row) * size, epilogue[1], one)
                at += wide
