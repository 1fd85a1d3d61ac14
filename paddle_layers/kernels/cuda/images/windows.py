"""Elements of images under windows, found by adding two places: no image is laid out as columns.

A convolution is a product of filters and windows. An element of a window stands at a pixel plus a tap: a step by a
channel and an element of a filter. Both are columns of a table in shared memory: `outer` for the side of the tile, made
once, `inner` for the depth, made for each slab. So the sizes of an image divide once what many threads fetch.
"""

from __future__ import annotations

from paddle_layers.define.functions.point_functions import helper, real
from paddle_layers.kernels.cuda.tiles import ALONG, LEFT, LOADS, RIGHT, THREADS, result, spot

TABLE = 768
"""Numbers in a table: six rows, for as many columns as the deepest slab has."""
BASE = 0
"""Number of the element in the whole tensor; those of a pixel and a tap add up."""
ROW = 128
COLUMN = 256
PHASE = 384
"""Pixels between two strides are under taps of the same phase only."""
OTHER = 512
"""Number of the element in the tensor that shares the axis."""
LINE = 640
"""Number of the first element of a row of the other operand; in `outer` only."""
OUTSIDE = -(1 << 30)
"""Row and number beyond the depth."""


@helper
def place(table, at, inside, base, row, column, phase, other):
    """Fill a column of a table."""
    table.flat[BASE + at] = base
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
    """Element `d, a, b` of a filter, as a step from a window's first pixel; other: the same element of a weight."""
    _, _, H, W = images
    _, _, A, B = filters
    channel, row, column = first + tap // (A * B), tap // B % A * dilation[0], tap % B * dilation[1]
    place(table, at, tap < taps, (channel * H + row) * W + column, row, column, 0, tap)


@helper
def place_pixel(table, at, pixel, pixels, images, results, stride, padding):
    """Last window that begins at a pixel or before it; other: the pixel."""
    _, C, H, W = images
    _, K, P, Q = results
    n, h, w = pixel // (H * W), pixel // W % H + padding[0], pixel % W + padding[1]
    row, column, phase = h // stride[0], w // stride[1], h % stride[0] * stride[1] + w % stride[1]
    other = n * C * H * W + pixel % (H * W)
    place(table, at, pixel < pixels, (n * K * P + row) * Q + column, row, column, phase, other)


@helper
def place_tap_back(table, at, tap, taps, first, filters, results, stride, dilation):
    """Element `k, a, b` of the filters, as a step back to a window; other: the weight of its channel 0."""
    _, D, A, B = filters
    _, _, P, Q = results
    k, h, w = first + tap // (A * B), tap // B % A * dilation[0], tap % B * dilation[1]
    row, column, phase = -(h // stride[0]), -(w // stride[1]), h % stride[0] * stride[1] + w % stride[1]
    other = k * D * A * B + tap % (A * B)
    place(table, at, tap < taps, (k * P + row) * Q + column, row, column, phase, other)


@helper
def fetch_windows(ahead, values, outer, inner, thread, bits, along, strided):
    """Read a thread's part of a slab of windows; zero outside of the image, and where `strided` between windows."""
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
    """Read a thread's part of a slab of the other operand."""
    k, m = spot(thread, bits, ALONG)
    line = outer.flat[LINE + m]
    for i in range(LOADS):
        other = inner.flat[OTHER + k]
        ahead[LEFT, i] = values.flat[line + other] if other >= 0 else real(0)
        k += 1 << (8 - bits)


@helper
def store_rows(values, tile, first, last, stride, outer, columns, accumulate, thread, bits):
    """Write the tile's part of the result: rows `first` to `last`, `stride` numbers apart."""
    for i in range(1 << (2 * bits - 8)):
        e = thread + i * THREADS
        row, column = e >> bits, e & ((1 << bits) - 1)
        if first + row < last and column < columns:
            at = (first + row) * stride + outer.flat[OTHER + column]
            if accumulate:
                values.flat[at] += result(tile, row, column, bits)
            else:
                values.flat[at] = result(tile, row, column, bits)
