"""Convolution (`conv`) as tiled implicit GEMM: products of filters and windows, one group at a time."""

from __future__ import annotations

import numpy
from numba import cuda

from paddle_layers.define.functions.point_functions import real
from paddle_layers.kernels.cuda.gemm import (
    ACROSS,
    ALIGNMENT,
    ALONG,
    CAPACITY,
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
    corner,
    keep,
    multiply,
    parts_of,
    put,
    reduce_groups,
    shared_blocks,
    shared_work_per_iteration,
    tile_size,
    tiles,
    wide_bits_of,
    work_per_iteration,
)
from paddle_layers.kernels.tuned import tuned

from .implicit_im2col import (
    LINE,
    TABLE,
    fetch_rows,
    fetch_windows,
    place_pixel,
    place_tap,
    place_tap_back,
    place_window,
    store_row_sums,
    store_rows,
)


def fits(N: int, C: int, H: int, W: int, K: int, D: int, A: int, B: int, P: int, Q: int) -> bool:
    """Whether 32-bit index tables can address all elements."""
    # Offsets of a pixel and of a tap are added in 32 bits, where `OUTSIDE` must stay negative too.
    return max(N * C * H * W, N * K * P * Q, K * D * A * B) < 1 << 30


def bits_of_y(N: int, K: int, P: int, Q: int, groups: int) -> int:
    """Bits of the tile width of the output."""
    return int(bits_of(K // groups, N * P * Q))


def bits_of_dx(N: int, D: int, H: int, W: int) -> int:
    """Bits of the tile width of the input gradient."""
    return int(bits_of(D, N * H * W))


def bits_of_dweight(K: int, D: int, A: int, B: int, groups: int) -> int:
    """Bits of the tile width of the filter gradient."""
    return int(wide_bits_of(K // groups, D * A * B))


def blocks_of_y(N: int, K: int, P: int, Q: int, groups: int, bits: int) -> int:
    """Number of tiles of the output."""
    return blocks(K // groups, N * P * Q, bits, groups)


def blocks_of_dx(N: int, D: int, H: int, W: int, groups: int, bits: int) -> int:
    """Number of tiles of the input gradient."""
    return blocks(D, N * H * W, bits, groups)


def blocks_of_dweight(N: int, K: int, D: int, A: int, B: int, P: int, Q: int, groups: int) -> int:
    """Number of tiles of the filter gradient."""
    return shared_blocks(K // groups, D * A * B, N * P * Q, groups)


def tile_of_dweight(K: int, D: int, A: int, B: int, groups: int) -> int:
    """Elements that a block stores for the reduction (split-K)."""
    return tile_size(K // groups, D * A * B)


def blocks_of_sum(K: int, D: int, A: int, B: int) -> int:
    """One thread per element of the filter gradient."""
    return -(-K * D * A * B // THREADS)


def work_of_y(N: int, K: int, D: int, A: int, B: int, P: int, Q: int, groups: int) -> int:
    """Multiplications for the output per iteration."""
    return work_per_iteration(K // groups, N * P * Q, D * A * B, groups)


def work_of_dx(N: int, K: int, D: int, A: int, B: int, H: int, W: int, groups: int) -> int:
    """Multiplications for the input gradient per iteration."""
    return work_per_iteration(D, N * H * W, K // groups * A * B, groups)


def work_of_dweight(N: int, K: int, D: int, A: int, B: int, P: int, Q: int, groups: int) -> int:
    """Multiplications for the filter gradient per iteration."""
    return shared_work_per_iteration(K // groups, D * A * B, N * P * Q, groups)


@tuned(
    "conv",
    "conv_y",
    device="cuda",
    items=blocks_of_y,
    work=work_of_y,
    least=MIN_WORK,
    when=fits,
    threads=THREADS,
    folded={"bits": bits_of_y},
)
def conv_y(y, x, weight, stride, stride_y, padding, padding_y, dilation, dilation_y, groups, bits):
    tile = cuda.shared.array(CAPACITY, real, ALIGNMENT)
    outer = cuda.shared.array(TABLE, numpy.int32)
    inner = cuda.shared.array(TABLE, numpy.int32)
    ahead = cuda.local.array((2, LOADS), real)
    sums = cuda.local.array((SUMS, SUMS), real)
    N, K, P, Q = y.shape
    _, D, A, B = weight.shape
    filters, depth, windows = K // groups, D * A * B, N * P * Q
    strides, paddings, dilations = (stride_y, stride), (padding_y, padding), (dilation_y, dilation)
    thread = cuda.threadIdx.x
    slab = SLAB >> bits
    group, top, left = corner(cuda.blockIdx.x, filters, windows, bits)
    clear(sums)
    # Divisions by the sizes of the image once per column of the tile, not once per loaded element.
    if thread < 1 << bits:
        outer.flat[LINE + thread] = (group * filters + min(top + thread, filters - 1)) * depth
        window = min(left + thread, windows - 1)
        place_window(outer, thread, window, windows, x.shape, y.shape, strides, paddings)
    for start in range(0, depth + slab, slab):
        if start > 0:
            put(tile, LEFT, ahead, thread, bits, ALONG)
            put(tile, RIGHT, ahead, thread, bits, ACROSS)
        if thread < slab:
            place_tap(inner, thread, start + thread, depth, group * D, x.shape, weight.shape, dilations)
        # The table and the slab are complete before any thread reads them.
        cuda.syncthreads()
        fetch_rows(ahead, weight, outer, inner, thread, bits)
        fetch_windows(ahead, x, outer, inner, thread, bits, ACROSS, False)
        # Other threads may still read the table, which the next iteration overwrites.
        if start == 0:  # no slab has been loaded yet
            cuda.syncthreads()
            continue
        multiply(tile, sums, thread, bits)
        cuda.syncthreads()
    if bits == LARGEST:
        store_row_sums(
            y, sums, group * filters + top, (group + 1) * filters, P * Q, outer, windows - left, False, thread
        )
        return
    reduce_groups(tile, sums, thread, bits)
    store_rows(y, tile, group * filters + top, (group + 1) * filters, P * Q, outer, windows - left, False, thread, bits)


@tuned(
    "conv",
    "conv_dx",
    device="cuda",
    items=blocks_of_dx,
    work=work_of_dx,
    least=MIN_WORK,
    when=fits,
    threads=THREADS,
    folded={"bits": bits_of_dx},
)
def conv_dx(dx, dy, weight, accumulate, stride, stride_y, padding, padding_y, dilation, dilation_y, groups, bits):
    tile = cuda.shared.array(CAPACITY, real, ALIGNMENT)
    outer = cuda.shared.array(TABLE, numpy.int32)
    inner = cuda.shared.array(TABLE, numpy.int32)
    ahead = cuda.local.array((2, LOADS), real)
    sums = cuda.local.array((SUMS, SUMS), real)
    N, _, H, W = dx.shape
    K, D, A, B = weight.shape
    filters, depth, pixels = K // groups, K // groups * A * B, N * H * W
    strides, paddings, dilations = (stride_y, stride), (padding_y, padding), (dilation_y, dilation)
    thread = cuda.threadIdx.x
    slab = SLAB >> bits
    group, top, left = corner(cuda.blockIdx.x, D, pixels, bits)
    clear(sums)
    if thread < 1 << bits:
        outer.flat[LINE + thread] = min(top + thread, D - 1) * A * B
        pixel = min(left + thread, pixels - 1)
        place_pixel(outer, thread, pixel, pixels, dx.shape, dy.shape, strides, paddings)
    for start in range(0, depth + slab, slab):
        if start > 0:
            put(tile, LEFT, ahead, thread, bits, ALONG)
            put(tile, RIGHT, ahead, thread, bits, ACROSS)
        if thread < slab:
            place_tap_back(
                inner, thread, start + thread, depth, group * filters, weight.shape, dy.shape, strides, dilations
            )
        cuda.syncthreads()
        fetch_rows(ahead, weight, outer, inner, thread, bits)
        fetch_windows(ahead, dy, outer, inner, thread, bits, ACROSS, True)
        if start == 0:  # no slab has been loaded yet
            cuda.syncthreads()
            continue
        multiply(tile, sums, thread, bits)
        cuda.syncthreads()
    if bits == LARGEST:
        store_row_sums(dx, sums, group * D + top, (group + 1) * D, H * W, outer, pixels - left, accumulate, thread)
        return
    reduce_groups(tile, sums, thread, bits)
    store_rows(dx, tile, group * D + top, (group + 1) * D, H * W, outer, pixels - left, accumulate, thread, bits)


@tuned(
    "conv",
    "conv_dweight",
    device="cuda",
    items=blocks_of_dweight,
    work=work_of_dweight,
    least=MIN_WORK,
    when=fits,
    scratch=tile_of_dweight,
    threads=THREADS,
    folded={"bits": bits_of_dweight},
)
def conv_dweight(scratch, weight, dy, x, stride, stride_y, padding, padding_y, dilation, dilation_y, groups, bits):
    tile = cuda.shared.array(CAPACITY, real, ALIGNMENT)
    outer = cuda.shared.array(TABLE, numpy.int32)
    inner = cuda.shared.array(TABLE, numpy.int32)
    ahead = cuda.local.array((2, LOADS), real)
    sums = cuda.local.array((SUMS, SUMS), real)
    N, K, P, Q = dy.shape
    _, D, A, B = weight.shape
    filters, depth, taps = K // groups, N * P * Q, D * A * B
    strides, paddings, dilations = (stride_y, stride), (padding_y, padding), (dilation_y, dilation)
    thread = cuda.threadIdx.x
    slab = SLAB >> bits
    count = groups * tiles(filters, taps, bits)
    parts = parts_of(count, depth, bits)
    # Parts begin at whole slabs, so that only the last one needs zeros beyond the depth.
    share = ((depth + slab - 1) // slab + parts - 1) // parts * slab
    first = cuda.blockIdx.x // count * share
    last = min(first + share, depth)
    group, top, left = corner(cuda.blockIdx.x % count, filters, taps, bits)
    clear(sums)
    if thread < 1 << bits:
        outer.flat[LINE + thread] = (group * filters + min(top + thread, filters - 1)) * P * Q
        tap = min(left + thread, taps - 1)
        place_tap(outer, thread, tap, taps, group * D, x.shape, weight.shape, dilations)
    for start in range(first, last + slab, slab):
        if start > first:
            put(tile, LEFT, ahead, thread, bits, ALONG)
            put(tile, RIGHT, ahead, thread, bits, ALONG)
        if thread < slab:
            place_window(inner, thread, start + thread, depth, x.shape, dy.shape, strides, paddings)
        cuda.syncthreads()
        fetch_rows(ahead, dy, outer, inner, thread, bits)
        fetch_windows(ahead, x, outer, inner, thread, bits, ALONG, False)
        if start == first:  # no slab has been loaded yet
            cuda.syncthreads()
            continue
        multiply(tile, sums, thread, bits)
        cuda.syncthreads()
    reduce_groups(tile, sums, thread, bits)
    # No atomics: tiles are stored, and a second kernel adds them in the order of the parts.
    keep(scratch, tile, cuda.blockIdx.x, thread, bits)


@tuned(
    "conv",
    "conv_dweight",
    device="cuda",
    items=blocks_of_sum,
    threads=THREADS,
    folded={"bits": bits_of_dweight},
    after=conv_dweight,
)
def conv_dweight_sum(dweight, scratch, dy, accumulate, groups, bits):
    N, K, P, Q = dy.shape
    _, D, A, B = dweight.shape
    filters, taps = K // groups, D * A * B
    mask, across = (1 << bits) - 1, (taps + (1 << bits) - 1) >> bits
    count = groups * tiles(filters, taps, bits)
    e = cuda.blockIdx.x * THREADS + cuda.threadIdx.x
    if e < K * taps:
        k, tap = e // taps, e % taps
        row = k % filters
        tile = k // filters * (count // groups) + (row >> bits) * across + (tap >> bits)
        at = (tile << 2 * bits) + ((row & mask) << bits) + (tap & mask)
        total = real(0)
        # In the order of the parts, so that the result has the same bits on every run.
        for _ in range(parts_of(count, N * P * Q, bits)):
            total += scratch.flat[at]
            at += count << 2 * bits
        dweight.flat[e] = dweight.flat[e] + total if accumulate else total
