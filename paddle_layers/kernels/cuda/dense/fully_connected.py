"""Fully connected layer (`fc`) as a tiled matrix product (GEMM)."""

from __future__ import annotations

from numba import cuda

from paddle_layers.define.functions.point_functions import real
from paddle_layers.kernels.cuda.gemm import (
    ACROSS,
    ALIGNMENT,
    ALONG,
    CAPACITY,
    EPILOGUE_ROUNDS,
    LARGEST,
    LEFT,
    LOADS,
    MIN_WORK,
    RIGHT,
    SLAB,
    SUMS,
    THREADS,
    bits_of,
    blocks,
    clear,
    collect,
    corner,
    fetch,
    multiply,
    put,
    store,
    store_sums,
    work_per_iteration,
)
from paddle_layers.kernels.tuned import tuned


def bits_of_y(N: int, K: int) -> int:
    """Bits of the tile width of the output."""
    return int(bits_of(N, K))


def bits_of_dx(N: int, C_i: int) -> int:
    """Bits of the tile width of the input gradient."""
    return int(bits_of(N, C_i))


def bits_of_dweight(C_i: int, K: int) -> int:
    """Bits of the tile width of the weight gradient."""
    return int(bits_of(C_i, K))


def blocks_of_y(N: int, K: int, bits: int) -> int:
    """Number of tiles of the output."""
    return blocks(N, K, bits)


def blocks_of_dx(N: int, C_i: int, bits: int) -> int:
    """Number of tiles of the input gradient."""
    return blocks(N, C_i, bits)


def blocks_of_dweight(C_i: int, K: int, bits: int) -> int:
    """Number of tiles of the weight gradient."""
    return blocks(C_i, K, bits)


def work_of_y(N: int, C_i: int, K: int) -> int:
    """Multiplications for the output per iteration."""
    return work_per_iteration(N, K, C_i)


def work_of_dx(N: int, C_i: int, K: int) -> int:
    """Multiplications for the input gradient per iteration."""
    return work_per_iteration(N, C_i, K)


def work_of_dweight(N: int, C_i: int, K: int) -> int:
    """Multiplications for the weight gradient per iteration."""
    return work_per_iteration(C_i, K, N)


@tuned(
    "fc",
    "fc_y",
    device="cuda",
    items=blocks_of_y,
    work=work_of_y,
    least=MIN_WORK,
    threads=THREADS,
    folded={"bits": bits_of_y},
)
def fc_y(y, x, weight, accumulate, bits):
    tile = cuda.shared.array(CAPACITY, real, ALIGNMENT)
    ahead = cuda.local.array((2, LOADS), real)
    sums = cuda.local.array((SUMS, SUMS), real)
    thread = cuda.threadIdx.x
    depth = x.shape[1]
    slab = SLAB >> bits
    _, top, left = corner(cuda.blockIdx.x, y.shape[0], y.shape[1], bits)
    clear(sums)
    # One iteration more than slabs: the first one only fetches, the last one only multiplies.
    for start in range(0, depth + slab, slab):
        if start > 0:
            put(tile, LEFT, ahead, thread, bits, ALONG)
            put(tile, RIGHT, ahead, thread, bits, ACROSS)
        # The slab is complete before any thread multiplies it. The next one is fetched into registers meanwhile, so
        # that the latency of global memory overlaps with the products.
        cuda.syncthreads()
        fetch(ahead, LEFT, x, top, start, thread, bits, ALONG)
        fetch(ahead, RIGHT, weight, left, start, thread, bits, ACROSS)
        if start == 0:  # no slab has been loaded yet
            cuda.syncthreads()
            continue
        multiply(tile, sums, thread, bits)
        # No thread overwrites the slab while another one still reads it.
        cuda.syncthreads()
    if bits == LARGEST:
        store_sums(y, sums, top, left, accumulate, thread)
        return
    # A quarter of the threads per round (two warps), since their sums fill shared memory; a fixed order keeps the bits.
    for round_ in range(EPILOGUE_ROUNDS):
        if round_ == thread >> 6:
            collect(tile, sums, round_ == 0, thread, bits)
        cuda.syncthreads()
    store(y, tile, top, left, accumulate, thread, bits)


@tuned(
    "fc",
    "fc_dx",
    device="cuda",
    items=blocks_of_dx,
    work=work_of_dx,
    least=MIN_WORK,
    threads=THREADS,
    folded={"bits": bits_of_dx},
)
def fc_dx(dx, dy, weight, accumulate, bits):
    tile = cuda.shared.array(CAPACITY, real, ALIGNMENT)
    ahead = cuda.local.array((2, LOADS), real)
    sums = cuda.local.array((SUMS, SUMS), real)
    thread = cuda.threadIdx.x
    depth = dy.shape[1]
    slab = SLAB >> bits
    _, top, left = corner(cuda.blockIdx.x, dx.shape[0], dx.shape[1], bits)
    clear(sums)
    for start in range(0, depth + slab, slab):
        if start > 0:
            put(tile, LEFT, ahead, thread, bits, ALONG)
            put(tile, RIGHT, ahead, thread, bits, ALONG)
        cuda.syncthreads()
        fetch(ahead, LEFT, dy, top, start, thread, bits, ALONG)
        fetch(ahead, RIGHT, weight, left, start, thread, bits, ALONG)
        if start == 0:  # no slab has been loaded yet
            cuda.syncthreads()
            continue
        multiply(tile, sums, thread, bits)
        cuda.syncthreads()
    if bits == LARGEST:
        store_sums(dx, sums, top, left, accumulate, thread)
        return
    for round_ in range(EPILOGUE_ROUNDS):
        if round_ == thread >> 6:
            collect(tile, sums, round_ == 0, thread, bits)
        cuda.syncthreads()
    store(dx, tile, top, left, accumulate, thread, bits)


@tuned(
    "fc",
    "fc_dweight",
    device="cuda",
    items=blocks_of_dweight,
    work=work_of_dweight,
    least=MIN_WORK,
    threads=THREADS,
    folded={"bits": bits_of_dweight},
)
def fc_dweight(dweight, x, dy, accumulate, bits):
    tile = cuda.shared.array(CAPACITY, real, ALIGNMENT)
    ahead = cuda.local.array((2, LOADS), real)
    sums = cuda.local.array((SUMS, SUMS), real)
    thread = cuda.threadIdx.x
    depth = x.shape[0]
    slab = SLAB >> bits
    _, top, left = corner(cuda.blockIdx.x, dweight.shape[0], dweight.shape[1], bits)
    clear(sums)
    for start in range(0, depth + slab, slab):
        if start > 0:
            put(tile, LEFT, ahead, thread, bits, ACROSS)
            put(tile, RIGHT, ahead, thread, bits, ACROSS)
        cuda.syncthreads()
        fetch(ahead, LEFT, x, top, start, thread, bits, ACROSS)
        fetch(ahead, RIGHT, dy, left, start, thread, bits, ACROSS)
        if start == 0:  # no slab has been loaded yet
            cuda.syncthreads()
            continue
        multiply(tile, sums, thread, bits)
        cuda.syncthreads()
    if bits == LARGEST:
        store_sums(dweight, sums, top, left, accumulate, thread)
        return
    for round_ in range(EPILOGUE_ROUNDS):
        if round_ == thread >> 6:
            collect(tile, sums, round_ == 0, thread, bits)
        cuda.syncthreads()
    store(dweight, tile, top, left, accumulate, thread, bits)
