"""Convolution (`conv`) as tiled implicit GEMM: products of filters and windows, one group at a time."""

from __future__ import annotations

import numpy
from numba import cuda

from paddle_layers.define.functions.point_functions import helper, real
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
    block_helper,
    clear,
    corner,
    keep,
    multiply,
    of_product,
    parts_of,
    put,
    reduce_groups,
    shared_blocks,
    shared_work_per_iteration,
    tiles,
    tuned_product,
    wide_bits_of,
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

OUTPUT = 0
INPUT_GRADIENT = 1
FILTER_GRADIENT = 2
"""Which product of filters and windows is computed."""


def fits(N: int, C: int, H: int, W: int, K: int, D: int, A: int, B: int, P: int, Q: int) -> bool:
    """Whether 32-bit index tables can address all elements."""
    # Offsets of a pixel and of a tap are added in 32 bits, where `OUTSIDE` must stay negative too.
    return max(N * C * H * W, N * K * P * Q, K * D * A * B) < 1 << 30


def shape_of_dweight(N: int, K: int, D: int, A: int, B: int, P: int, Q: int, groups: int) -> tuple[int, ...]:
    """Rows, columns, depth and number of the products for the filter gradient."""
    return K // groups, D * A * B, N * P * Q, groups


BITS_OF_DWEIGHT = of_product(shape_of_dweight, lambda rows, columns, *_: wide_bits_of(rows, columns))


@helper
def place_step(kind, table, at, step, depth, first, images, filters, results, strides, paddings, dilations):
    """Fills a column of a table for a step along the depth; `first` is the first channel or filter of the group."""
    if kind == OUTPUT:
        place_tap(table, at, step, depth, first, images, filters, dilations)
    elif kind == INPUT_GRADIENT:
        place_tap_back(table, at, step, depth, first, filters, results, strides, dilations)
    else:
        place_window(table, at, step, depth, images, results, strides, paddings)


@block_helper
def add_windows(
    kind, sums, tile, outer, rows, values, first, last, depth, start, images, filters, results,
    strides, paddings, dilations, bits,
):  # fmt: skip
    """Initializes the sums of a tile with the products of `rows` and windows of `values` in a part of the depth."""
    inner = cuda.shared.array(TABLE, numpy.int32)
    ahead = cuda.local.array((2, LOADS), real)
    thread, slab = cuda.threadIdx.x, SLAB >> bits
    along = ALONG if kind == FILTER_GRADIENT else ACROSS
    clear(sums)
    for step in range(first, last + slab, slab):
        if step > first:
            put(tile, LEFT, ahead, thread, bits, ALONG)
            put(tile, RIGHT, ahead, thread, bits, along)
        if thread < slab:
            place_step(
                kind, inner, thread, step + thread, depth, start, images, filters, results,
                strides, paddings, dilations,
            )  # fmt: skip
        # The table and the slab are complete before any thread reads them.
        cuda.syncthreads()
        fetch_rows(ahead, rows, outer, inner, thread, bits)
        fetch_windows(ahead, values, outer, inner, thread, bits, along, kind == INPUT_GRADIENT)
        # Other threads may still read the table, which the next iteration overwrites.
        if step == first:  # no slab has been loaded yet
            cuda.syncthreads()
            continue
        multiply(tile, sums, thread, bits)
        cuda.syncthreads()


@block_helper
def store_tile(values, sums, tile, outer, first, last, stride, columns, accumulate, bits):
    """Writes the tile's part of the result: rows `first` to `last` with the row stride `stride`."""
    if bits == LARGEST:
        store_row_sums(values, sums, first, last, stride, outer, columns, accumulate, cuda.threadIdx.x)
        return
    reduce_groups(tile, sums, cuda.threadIdx.x, bits)
    store_rows(values, tile, first, last, stride, outer, columns, accumulate, cuda.threadIdx.x, bits)


@tuned_product(
    "conv", "conv_y", lambda N, K, P, Q, D, A, B, groups: (K // groups, N * P * Q, D * A * B, groups), when=fits
)  # fmt: skip
def conv_y(y, x, weight, stride, stride_y, padding, padding_y, dilation, dilation_y, groups, bits):
    tile = cuda.shared.array(CAPACITY, real, ALIGNMENT)
    outer = cuda.shared.array(TABLE, numpy.int32)
    sums = cuda.local.array((SUMS, SUMS), real)
    N, K, P, Q = y.shape
    _, D, A, B = weight.shape
    filters, depth, windows = K // groups, D * A * B, N * P * Q
    strides, paddings, dilations = (stride_y, stride), (padding_y, padding), (dilation_y, dilation)
    thread = cuda.threadIdx.x
    group, top, left = corner(cuda.blockIdx.x, filters, windows, bits)
    # Divisions by the sizes of the image once per column of the tile, not once per loaded element.
    if thread < 1 << bits:
        outer.flat[LINE + thread] = (group * filters + min(top + thread, filters - 1)) * depth
        window = min(left + thread, windows - 1)
        place_window(outer, thread, window, windows, x.shape, y.shape, strides, paddings)
    add_windows(
        OUTPUT, sums, tile, outer, weight, x, 0, depth, depth, group * D, x.shape, weight.shape, y.shape,
        strides, paddings, dilations, bits,
    )  # fmt: skip
    store_tile(y, sums, tile, outer, group * filters + top, (group + 1) * filters, P * Q, windows - left, False, bits)


@tuned_product(
    "conv", "conv_dx", lambda N, K, D, A, B, H, W, groups: (D, N * H * W, K // groups * A * B, groups), when=fits
)  # fmt: skip
def conv_dx(dx, dy, weight, accumulate, stride, stride_y, padding, padding_y, dilation, dilation_y, groups, bits):
    tile = cuda.shared.array(CAPACITY, real, ALIGNMENT)
    outer = cuda.shared.array(TABLE, numpy.int32)
    sums = cuda.local.array((SUMS, SUMS), real)
    N, _, H, W = dx.shape
    K, D, A, B = weight.shape
    filters, depth, pixels = K // groups, K // groups * A * B, N * H * W
    strides, paddings, dilations = (stride_y, stride), (padding_y, padding), (dilation_y, dilation)
    thread = cuda.threadIdx.x
    group, top, left = corner(cuda.blockIdx.x, D, pixels, bits)
    if thread < 1 << bits:
        outer.flat[LINE + thread] = min(top + thread, D - 1) * A * B
        pixel = min(left + thread, pixels - 1)
        place_pixel(outer, thread, pixel, pixels, dx.shape, dy.shape, strides, paddings)
    add_windows(
        INPUT_GRADIENT, sums, tile, outer, weight, dy, 0, depth, depth, group * filters, dx.shape, weight.shape,
        dy.shape, strides, paddings, dilations, bits,
    )  # fmt: skip
    store_tile(dx, sums, tile, outer, group * D + top, (group + 1) * D, H * W, pixels - left, accumulate, bits)


@tuned(
    "conv", "conv_dweight", device="cuda", items=of_product(shape_of_dweight, shared_blocks),
    work=of_product(shape_of_dweight, shared_work_per_iteration), least=MIN_WORK, when=fits,
    # The elements of a tile, which a block stores for the reduction (split-K).
    scratch=of_product(shape_of_dweight, lambda rows, columns, *_: 1 << 2 * int(wide_bits_of(rows, columns))),
    threads=THREADS, folded={"bits": BITS_OF_DWEIGHT},
)  # fmt: skip
def conv_dweight(scratch, weight, dy, x, stride, stride_y, padding, padding_y, dilation, dilation_y, groups, bits):
    tile = cuda.shared.array(CAPACITY, real, ALIGNMENT)
    outer = cuda.shared.array(TABLE, numpy.int32)
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
    if thread < 1 << bits:
        outer.flat[LINE + thread] = (group * filters + min(top + thread, filters - 1)) * P * Q
        tap = min(left + thread, taps - 1)
        place_tap(outer, thread, tap, taps, group * D, x.shape, weight.shape, dilations)
    add_windows(
        FILTER_GRADIENT, sums, tile, outer, dy, x, first, last, depth, group * D, x.shape, weight.shape, dy.shape,
        strides, paddings, dilations, bits,
    )  # fmt: skip
    reduce_groups(tile, sums, thread, bits)
    # No atomics: tiles are stored, and a second kernel adds them in the order of the parts.
    keep(scratch, tile, cuda.blockIdx.x, thread, bits)


@tuned(
    "conv", "conv_dweight", device="cuda", items=lambda K, D, A, B: -(-K * D * A * B // THREADS), threads=THREADS,
    folded={"bits": BITS_OF_DWEIGHT}, after=conv_dweight,
)  # fmt: skip
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
