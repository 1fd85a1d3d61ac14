"""fc by tiles."""

from __future__ import annotations

from numba import cuda

from paddle_layers.define.functions import real
from paddle_layers.kernels.tuned import tuned

from .tiles import DEPTH, LOADS, PITCH, SIDE, SLICES, SUMS, THREADS, clear, collect, fetch, multiply, put, store, tiles

WORTH_IT = 1 << 22


def multiplications(N: int, C_i: int, K: int) -> int:
    """Operations of a product."""
    return N * C_i * K


def tiles_of_y(N: int, K: int) -> int:
    """Tiles of the output."""
    return tiles(N, K)


def tiles_of_dx(N: int, C_i: int) -> int:
    """Tiles of the input's gradient."""
    return tiles(N, C_i)


def tiles_of_dweight(C_i: int, K: int) -> int:
    """Tiles of the weight's gradient."""
    return tiles(C_i, K)


@tuned("fc", "fc_y", device="cuda", items=tiles_of_y, work=multiplications, least=WORTH_IT, threads=THREADS)
def fc_y(y, x, weight, accumulate):
    tile = cuda.shared.array((2, DEPTH, PITCH), real)
    ahead = cuda.local.array((2, LOADS), real)
    sums = cuda.local.array((SUMS, SUMS), real)
    thread = cuda.threadIdx.x & 255  # so that the compiler knows: no index is negative
    across = (y.shape[1] + SIDE - 1) // SIDE
    top, left = cuda.blockIdx.x // across * SIDE, cuda.blockIdx.x % across * SIDE
    clear(sums)
    fetch(ahead, 0, x, top, 0, thread, True)
    fetch(ahead, 1, weight, left, 0, thread, False)
    for start in range(0, x.shape[1], DEPTH):
        put(tile, 0, ahead, thread, True)
        put(tile, 1, ahead, thread, False)
        cuda.syncthreads()
        fetch(ahead, 0, x, top, start + DEPTH, thread, True)
        fetch(ahead, 1, weight, left, start + DEPTH, thread, False)
        multiply(tile, sums, thread)
        cuda.syncthreads()
    for turn in range(SLICES):
        if turn == thread >> 6:
            collect(tile, sums, turn == 0, thread)
        cuda.syncthreads()
    store(y, tile, top, left, accumulate, thread)


@tuned("fc", "fc_dx", device="cuda", items=tiles_of_dx, work=multiplications, least=WORTH_IT, threads=THREADS)
def fc_dx(dx, dy, weight, accumulate):
    tile = cuda.shared.array((2, DEPTH, PITCH), real)
    ahead = cuda.local.array((2, LOADS), real)
    sums = cuda.local.array((SUMS, SUMS), real)
    thread = cuda.threadIdx.x & 255
    across = (dx.shape[1] + SIDE - 1) // SIDE
    top, left = cuda.blockIdx.x // across * SIDE, cuda.blockIdx.x % across * SIDE
    clear(sums)
    fetch(ahead, 0, dy, top, 0, thread, True)
    fetch(ahead, 1, weight, left, 0, thread, True)
    for start in range(0, dy.shape[1], DEPTH):
        put(tile, 0, ahead, thread, True)
        put(tile, 1, ahead, thread, True)
        cuda.syncthreads()
        fetch(ahead, 0, dy, top, start + DEPTH, thread, True)
        fetch(ahead, 1, weight, left, start + DEPTH, thread, True)
        multiply(tile, sums, thread)
        cuda.syncthreads()
    for turn in range(SLICES):
        if turn == thread >> 6:
            collect(tile, sums, turn == 0, thread)
        cuda.syncthreads()
    store(dx, tile, top, left, accumulate, thread)


@tuned("fc", "fc_dweight", device="cuda", items=tiles_of_dweight, work=multiplications, least=WORTH_IT, threads=THREADS)
def fc_dweight(dweight, x, dy, accumulate):
    tile = cuda.shared.array((2, DEPTH, PITCH), real)
    ahead = cuda.local.array((2, LOADS), real)
    sums = cuda.local.array((SUMS, SUMS), real)
    thread = cuda.threadIdx.x & 255
    across = (dweight.shape[1] + SIDE - 1) // SIDE
    top, left = cuda.blockIdx.x // across * SIDE, cuda.blockIdx.x % across * SIDE
    clear(sums)
    fetch(ahead, 0, x, top, 0, thread, False)
    fetch(ahead, 1, dy, left, 0, thread, False)
    for start in range(0, x.shape[0], DEPTH):
        put(tile, 0, ahead, thread, False)
        put(tile, 1, ahead, thread, False)
        cuda.syncthreads()
        fetch(ahead, 0, x, top, start + DEPTH, thread, False)
        fetch(ahead, 1, dy, left, start + DEPTH, thread, False)
        multiply(tile, sums, thread)
        cuda.syncthreads()
    for turn in range(SLICES):
        if turn == thread >> 6:
            collect(tile, sums, turn == 0, thread)
        cuda.syncthreads()
    store(dweight, tile, top, left, accumulate, thread)
