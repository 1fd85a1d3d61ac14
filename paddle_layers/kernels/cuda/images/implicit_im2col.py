"""Implicit im2col: elements of images under windows are addressed by the sum of two offsets, without storing columns.

A convolution is a product of filters and windows. The address of a window element is that of a pixel plus that of a tap
(channel and filter element). Both are columns of a table in shared memory: `outer` for the side of the tile, computed
once, `inner` for the depth, computed per slab. So the index divisions are done once for elements that many threads
fetch.
"""

from __future__ import annotations

from paddle_layers.define.functions.point_functions import helper, real
from paddle_layers.kernels.cuda.gemm import ALONG, LARGEST, LEFT, LOADS, RIGHT, SUMS, THREADS, result, spot

TABLE = 768
"""Entries of a table: six rows, as many columns as the deepest slab has."""
BASE = 0
"""Index of the element in the whole tensor; the indices of a pixel and of a tap are added."""
ROW = 128
COLUMN = 256
PHASE = 384
"""Phase of a pixel: pixels between two strides are only under taps of the same phase."""
OTHER = 512
"""Index of the element in the tensor that shares the axis."""
LINE = 640
"""Index of the first element of a row of the other operand; in `outer` only."""
OUTSIDE = -(1 << 30)
"""Row and index beyond the depth."""


@helper
def place(table, at, inside, base, row, column, phase, other):
    """Fills a column of a table."""
    table.flat[BASE + at] = base
    # Beyond the depth the row is far outside of the image, so that the bounds check yields zero without a separate
    # test.
    table.flat[ROW + at] = row if inside else OUTSIDE
    table.flat[COLUMN + at] = column
    table.flat[PHASE + at] = phase
    table.flat[OTHER + at] = other if inside else OUTSIDE


@helper
def place_window(table, at, window, windows, images, results, stride, padding):
    """First pixel of a window; other: its result."""
    _, C, H, W = images
    _, K, P, Q = results
    n, p, q = window // (P * Q), window // Q % P, window % Q
    row, column = p * stride[0] - padding[0], q * stride[1] - padding[1]
    other = n * K * P * Q + window % (P * Q)
    place(table, at, window < windows, (n * C * H + row) * W + column, row, column, 0, other)


@helper
def place_tap(table, at, tap, taps, first, images, filters, dilation):
    """Filter element `d, a, b` as an offset from the first pixel of a window; other: the same element of a weight."""
    _, _, H, W = images
    _, _, A, B = filters
    channel, row, column = first + tap // (A * B), tap // B % A * dilation[0], tap % B * dilation[1]
    place(table, at, tap < taps, (channel * H + row) * W + column, row, column, 0, tap)


@helper
def place_pixel(table, at, pixel, pixels, images, results, stride, padding):
    """Last window that begins at or before a pixel; other: the pixel."""
    _, C, H, W = images
    _, K, P, Q = results
    n, h, w = pixel // (H * W), pixel // W % H + padding[0], pixel % W + padding[1]
    # Only taps of the same phase, modulo the stride, have a window at the pixel: others would fall between two windows.
    row, column, phase = h // stride[0], w // stride[1], h % stride[0] * stride[1] + w % stride[1]
    other = n * C * H * W + pixel % (H * W)
    place(table, at, pixel < pixels, (n * K * P + row) * Q + column, row, column, phase, other)


@helper
def place_tap_back(table, at, tap, taps, first, filters, results, stride, dilation):
    """Filter element `k, a, b` as an offset back to a window; other: the weight of its channel 0."""
    _, D, A, B = filters
    _, _, P, Q = results
    k, h, w = first + tap // (A * B), tap // B % A * dilation[0], tap % B * dilation[1]
    row, column, phase = -(h // stride[0]), -(w // stride[1]), h % stride[0] * stride[1] + w % stride[1]
    other = k * D * A * B + tap % (A * B)
    place(table, at, tap < taps, (k * P + row) * Q + column, row, column, phase, other)


@helper
def fetch_windows(ahead, values, outer, inner, thread, bits, along, strided):
    """Reads a thread's part of a slab of windows; zero outside of the image and, where `strided`, between windows."""
    _, _, height, width = values.shape
    k, m = spot(thread, bits, along)
    base, top, left, phase = outer.flat[BASE + m], outer.flat[ROW + m], outer.flat[COLUMN + m], outer.flat[PHASE + m]
    for i in range(LOADS):
        row, column = top + inner.flat[ROW + k], left + inner.flat[COLUMN + k]
        met = inner.flat[PHASE + k] if strided else phase
        there = met == phase and 0 <= row < height and 0 <= column < width
        ahead[RIGHT, i] = values.flat[base + inner.flat[BASE + k]] if there else real(0)
        k += 1 << (8 - bits)


@helper
def fetch_rows(ahead, values, outer, inner, thread, bits):
    """Reads a thread's part of a slab of the other operand."""
    k, m = spot(thread, bits, ALONG)
    line = outer.flat[LINE + m]
    for i in range(LOADS):
        other = inner.flat[OTHER + k]
        ahead[LEFT, i] = values.flat[line + other] if other >= 0 else real(0)
        k += 1 << (8 - bits)


@helper
def store_rows(values, tile, first, last, stride, outer, columns, accumulate, thread, bits):
    """Writes the tile's part of the result: rows `first` to `last` with the row stride `stride`."""
    for i in range(1 << (2 * bits - 8)):
        e = thread + i * THREADS
        row, column = e >> bits, e & ((1 << bits) - 1)
        if first + row < last and column < columns:
            at = (first + row) * stride + outer.flat[OTHER + column]
            if accumulate:
                values.flat[at] += result(tile, row, column, bits)
            else:
                values.flat[at] = result(tile, row, column, bits)


@helper
def store_row_sums(values, sums, first, last, stride, outer, columns, accumulate, thread):
    """Writes the sums of a thread, for the largest tiles."""
    steps = 1 << (LARGEST - 3)
    for i in range(SUMS):
        row = first + thread // steps * 4 + i // 4 * (4 * steps) + i % 4
        for j in range(SUMS):
            column = thread % steps * 4 + j // 4 * (4 * steps) + j % 4
            if row < last and column < columns:
                at = row * stride + outer.flat[OTHER + column]
                values.flat[at] = values.flat[at] + sums[i, j] if accumulate else sums[i, j]
