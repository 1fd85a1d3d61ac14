"""conv by tiles: products of filters and windows."""

from __future__ import annotations

import numpy
from numba import cuda

from paddle_layers.define.functions import real
from paddle_layers.kernels.tuned import tuned

from .tiles import DEPTH, LOADS, PITCH, SIDE, SLICES, SUMS, THREADS, clear, collect, multiply, put, tiles
from .windows import (
    OTHER,
    PARTS,
    fetch_filters,
    fetch_windows,
    place_pixel,
    place_tap,
    place_tap_back,
    place_window,
    store_windows,
)

WORTH_IT = 1 << 22


def multiplications(N: int, K: int, D: int, A: int, B: int, P: int, Q: int) -> int:
    """Operations on the whole batch."""
    return N * K * D * A * B * P * Q


def tiles_of_y(N: int, K: int, P: int, Q: int, groups: int) -> int:
    """Tiles of the output, a group at a time."""
    return groups * tiles(K // groups, N * P * Q)


def tiles_of_dx(N: int, D: int, H: int, W: int, groups: int) -> int:
    """Tiles of the input's gradient, a group at a time."""
    return groups * tiles(D, N * H * W)


def tiles_of_dweight(K: int, D: int, A: int, B: int, groups: int) -> int:
    """Tiles of the filters' gradient, a group at a time."""
    return groups * tiles(K // groups, D * A * B)


@tuned("conv", "conv_y", device="cuda", items=tiles_of_y, work=multiplications, least=WORTH_IT, threads=THREADS)
def conv_y(y, x, weight, stride, stride_y, padding, padding_y, dilation, dilation_y, groups):
    tile = cuda.shared.array((2, DEPTH, PITCH), real)
    inner = cuda.shared.array((PARTS, DEPTH), numpy.int64)
    outer = cuda.shared.array((PARTS, SIDE), numpy.int64)
    ahead = cuda.local.array((2, LOADS), real)
    sums = cuda.local.array((SUMS, SUMS), real)
    N, K, P, Q = y.shape
    _, C, H, W = x.shape
    _, D, A, B = weight.shape
    filters, depth, windows = K // groups, D * A * B, N * P * Q
    thread = cuda.threadIdx.x & 255
    across, down = (windows + SIDE - 1) // SIDE, (filters + SIDE - 1) // SIDE
    left, group = cuda.blockIdx.x % across * SIDE, cuda.blockIdx.x // across // down
    top, last = group * filters + cuda.blockIdx.x // across % down * SIDE, (group + 1) * filters
    if thread < SIDE:
        window = min(left + thread, windows - 1)
        place_window(outer, thread, window, C, H, W, K, P, Q, stride, stride_y, padding, padding_y)
    if thread < DEPTH:
        inner[OTHER, thread] = -1
        if thread < depth:
            place_tap(inner, thread, thread, group * D, H, W, A, B, dilation, dilation_y)
    cuda.syncthreads()
    clear(sums)
    fetch_filters(ahead, weight, top, last, depth, inner, thread)
    fetch_windows(ahead, x, H, W, outer, inner, thread, False)
    cuda.syncthreads()
    for start in range(DEPTH, depth + DEPTH, DEPTH):
        put(tile, 0, ahead, thread, True)
        put(tile, 1, ahead, thread, False)
        if thread < DEPTH:
            inner[OTHER, thread] = -1
            if start + thread < depth:
                place_tap(inner, thread, start + thread, group * D, H, W, A, B, dilation, dilation_y)
        cuda.syncthreads()
        fetch_filters(ahead, weight, top, last, depth, inner, thread)
        fetch_windows(ahead, x, H, W, outer, inner, thread, False)
        multiply(tile, sums, thread)
        cuda.syncthreads()
    for turn in range(SLICES):
        if turn == thread >> 6:
            collect(tile, sums, turn == 0, thread)
        cuda.syncthreads()
    store_windows(y, tile, top, last, P * Q, outer, windows - left, False, thread)


@tuned("conv", "conv_dx", device="cuda", items=tiles_of_dx, work=multiplications, least=WORTH_IT, threads=THREADS)
def conv_dx(dx, dy, weight, accumulate, stride, stride_y, padding, padding_y, dilation, dilation_y, groups):
    tile = cuda.shared.array((2, DEPTH, PITCH), real)
    inner = cuda.shared.array((PARTS, DEPTH), numpy.int64)
    outer = cuda.shared.array((PARTS, SIDE), numpy.int64)
    ahead = cuda.local.array((2, LOADS), real)
    sums = cuda.local.array((SUMS, SUMS), real)
    N, C, H, W = dx.shape
    _, K, P, Q = dy.shape
    _, D, A, B = weight.shape
    filters, depth, pixels = K // groups, K // groups * A * B, N * H * W
    thread = cuda.threadIdx.x & 255
    across, down = (pixels + SIDE - 1) // SIDE, (D + SIDE - 1) // SIDE
    left, group = cuda.blockIdx.x % across * SIDE, cuda.blockIdx.x // across // down
    top, last = cuda.blockIdx.x // across % down * SIDE, D
    if thread < SIDE:
        pixel = min(left + thread, pixels - 1)
        place_pixel(outer, thread, pixel, C, H, W, K, P, Q, stride, stride_y, padding, padding_y)
    if thread < DEPTH:
        inner[OTHER, thread] = -1
        if thread < depth:
            place_tap_back(
                inner, thread, thread, group * filters, D, A, B, P, Q, stride, stride_y, dilation, dilation_y
            )
    cuda.syncthreads()
    clear(sums)
    fetch_filters(ahead, weight, top, last, A * B, inner, thread)
    fetch_windows(ahead, dy, P, Q, outer, inner, thread, False)
    cuda.syncthreads()
    for start in range(DEPTH, depth + DEPTH, DEPTH):
        put(tile, 0, ahead, thread, True)
        put(tile, 1, ahead, thread, False)
        if thread < DEPTH:
            inner[OTHER, thread] = -1
            if start + thread < depth:
                place_tap_back(
                    inner, thread, start + thread, group * filters, D, A, B, P, Q,
                    stride, stride_y, dilation, dilation_y,
                )  # fmt: skip
        cuda.syncthreads()
        fetch_filters(ahead, weight, top, last, A * B, inner, thread)
        fetch_windows(ahead, dy, P, Q, outer, inner, thread, False)
        multiply(tile, sums, thread)
        cuda.syncthreads()
    for turn in range(SLICES):
        if turn == thread >> 6:
            collect(tile, sums, turn == 0, thread)
        cuda.syncthreads()
    store_windows(dx, tile, group * D + top, (group + 1) * D, H * W, outer, pixels - left, accumulate, thread)


@tuned(
    "conv", "conv_dweight", device="cuda", items=tiles_of_dweight, work=multiplications, least=WORTH_IT, threads=THREADS
)
def conv_dweight(dweight, dy, x, accumulate, stride, stride_y, padding, padding_y, dilation, dilation_y, groups):
    tile = cuda.shared.array((2, DEPTH, PITCH), real)
    inner = cuda.shared.array((PARTS, DEPTH), numpy.int64)
    outer = cuda.shared.array((PARTS, SIDE), numpy.int64)
    ahead = cuda.local.array((2, LOADS), real)
    sums = cuda.local.array((SUMS, SUMS), real)
    N, K, P, Q = dy.shape
    _, C, H, W = x.shape
    _, D, A, B = dweight.shape
    filters, taps, depth = K // groups, D * A * B, N * P * Q
    thread = cuda.threadIdx.x & 255
    across, down = (taps + SIDE - 1) // SIDE, (filters + SIDE - 1) // SIDE
    left, group = cuda.blockIdx.x % across * SIDE, cuda.blockIdx.x // across // down
    top, last = group * filters + cuda.blockIdx.x // across % down * SIDE, (group + 1) * filters
    if thread < SIDE:
        place_tap(outer, thread, min(left + thread, taps - 1), group * D, H, W, A, B, dilation, dilation_y)
    if thread < DEPTH:
        inner[OTHER, thread] = -1
        if thread < depth:
            place_window(inner, thread, thread, C, H, W, K, P, Q, stride, stride_y, padding, padding_y)
    cuda.syncthreads()
    clear(sums)
    fetch_filters(ahead, dy, top, last, P * Q, inner, thread)
    fetch_windows(ahead, x, H, W, outer, inner, thread, True)
    cuda.syncthreads()
    for start in range(DEPTH, depth + DEPTH, DEPTH):
        put(tile, 0, ahead, thread, True)
        put(tile, 1, ahead, thread, True)
        if thread < DEPTH:
            inner[OTHER, thread] = -1
            if start + thread < depth:
                place_window(inner, thread, start + thread, C, H, W, K, P, Q, stride, stride_y, padding, padding_y)
        cuda.syncthreads()
        fetch_filters(ahead, dy, top, last, P * Q, inner, thread)
        fetch_windows(ahead, x, H, W, outer, inner, thread, True)
        multiply(tile, sums, thread)
        cuda.syncthreads()
    for turn in range(SLICES):
        if turn == thread >> 6:
            collect(tile, sums, turn == 0, thread)
        cuda.syncthreads()
    store_windows(dweight, tile, top, last, taps, outer, taps - left, accumulate, thread)
