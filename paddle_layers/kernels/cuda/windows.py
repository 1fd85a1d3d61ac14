"""Elements of images under windows, found by adding two places: no image is laid out as columns.

A convolution is a product of matrices: filters by windows, where an element of a window stands at a pixel plus a tap, a
channel and an element of the filter. Each is a column of a table in shared memory: `outer` for the side of the tile,
made once, `inner` for the depth, made for each slab by one warp. So a division by the sizes of an image is made once
for what 64 threads fetch, not by each of them.
"""

from __future__ import annotations

from paddle_layers.define.functions import helper, real

from .tiles import LOADS, STORES, spot

PARTS = 5
"""Rows of a table."""
BASE = 0
"""Number of the element in the whole tensor; those of a pixel and a tap add up."""
ROW = 1
COLUMN = 2
PHASE = 3
"""Pixels between two strides are under taps of the same phase only."""
OTHER = 4
"""Number of the element in the tensor that shares the axis; -1 beyond the depth."""


@helper
def place(table, at, base, row, column, phase, other):
    """Fill a column of a table."""
    table[BASE, at] = base
    table[ROW, at] = row
    table[COLUMN, at] = column
    table[PHASE, at] = phase
    table[OTHER, at] = other


@helper
def place_window(table, at, window, C, H, W, K, P, Q, stride, stride_y, padding, padding_y):
    """First pixel of a window, in `x`; other: its result."""
    n, p, q = window // (P * Q), window // Q % P, window % Q
    row, column = p * stride_y - padding_y, q * stride - padding
    place(table, at, (n * C * H + row) * W + column, row, column, 0, n * K * P * Q + window % (P * Q))


@helper
def place_tap(table, at, tap, first, H, W, A, B, dilation, dilation_y):
    """Element `d, a, b` of a filter, as a step in `x` from a window's first pixel; other: the same of a weight."""
    d, a, b = tap // (A * B), tap // B % A, tap % B
    row, column = a * dilation_y, b * dilation
    place(table, at, ((first + d) * H + row) * W + column, row, column, 0, tap)


@helper
def place_pixel(table, at, pixel, C, H, W, K, P, Q, stride, stride_y, padding, padding_y):
    """Last window that begins at a pixel of `x` or before it, in `dy`; other: the pixel."""
    n, top, left = pixel // (H * W), pixel // W % H + padding_y, pixel % W + padding
    row, column, phase = top // stride_y, left // stride, top % stride_y * stride + left % stride
    place(table, at, (n * K * P + row) * Q + column, row, column, phase, n * C * H * W + pixel % (H * W))


@helper
def place_tap_back(table, at, tap, first, D, A, B, P, Q, stride, stride_y, dilation, dilation_y):
    """Element `k, a, b` of the filters, as a step back in `dy`; other: the weight of channel 0."""
    k, a, b = first + tap // (A * B), tap // B % A, tap % B
    above, before = a * dilation_y, b * dilation
    row, column, phase = -(above // stride_y), -(before // stride), above % stride_y * stride + before % stride
    place(table, at, (k * P + row) * Q + column, row, column, phase, k * D * A * B + tap % (A * B))


@helper
def fetch_windows(ahead, values, height, width, outer, inner, thread, along):
    """Read a thread's part of a slab of windows; zero outside of the image."""
    for i in range(LOADS):
        k, m = spot(thread, i, along)
        row, column = outer[ROW, m] + inner[ROW, k], outer[COLUMN, m] + inner[COLUMN, k]
        there = inner[OTHER, k] >= 0 and outer[PHASE, m] == inner[PHASE, k]
        at = outer[BASE, m] + inner[BASE, k]
        ahead[1, i] = values.flat[at] if there and 0 <= row < height and 0 <= column < width else real(0)


@helper
def fetch_filters(ahead, values, first, last, stride, inner, thread):
    """Read a thread's part of a slab of the other operand: rows `first` to `last`, `stride` numbers apart."""
    for i in range(LOADS):
        k, m = spot(thread, i, True)
        at = min(first + m, last - 1) * stride + inner[OTHER, k]
        ahead[0, i] = values.flat[at] if inner[OTHER, k] >= 0 else real(0)


@helper
def store_windows(values, tile, first, last, stride, outer, columns, accumulate, thread):
    """Write the tile's part of the result: rows `first` to `last`, `stride` numbers apart."""
    for i in range(STORES):
        row, low = first + i // 8 * 32 + (thread >> 6) + i % 8 * 4, (thread >> 6) + i % 8 * 4
        if row < last and (thread & 63) < columns:
            at = row * stride + outer[OTHER, thread & 63]
            if accumulate:
                values.flat[at] += tile[i // 8, low, thread & 63]
            else:
                values.flat[at] = tile[i // 8, low, thread & 63]
