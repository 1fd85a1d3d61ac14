"""Pooling primitives: window bounds, vertical reduction over the rows of windows, horizontal reduction over a band."""

from __future__ import annotations

import math

import numpy as np

from paddle_layers.kernels.constants import MAX_TILES
from paddle_layers.kernels.primitives.compile_options import inlined

MIN_WORK = 1 << 15
"""Minimum number of operations for the tuned kernel; below it, the gain does not repay the compile time."""
# Lower than `MIN_WORK`: a batch of one of LeNet spent a third of its kernels' time in the point functions of two pools.
MIN_MAXIMA_WORK = 1 << 13
"""The same for maxima, whose point function computes each argmax first, though only the gradient needs it."""
# 8 KiB of float32: a band of values, one of indices and one of results together fit into an L1 cache of 32 KiB.
BAND = 2048
"""Elements of a band, which fits into the L1 cache."""
MARGIN = 64
"""Padding elements of the scratch buffer: loops run to the end of a vector."""


def operations(N: int, C: int, P: int, Q: int, pool_size: int | None, pool_size_y: int | None) -> int:
    """Four per pixel under a window: load, compare, select, store."""
    return 4 * N * C * P * Q * (pool_size or 1) * (pool_size_y or 1)


def planes(N: int, C: int) -> int:
    """Runs of the result that the tiles consist of."""
    return N * C


def tile_count(N: int, C: int) -> int:
    """Number of plane tiles; depends on the shape only."""
    return min(N * C, MAX_TILES)


def two_rows(W: int, Q: int, pool_size: int, stride: int, padding: int) -> int:
    """Scratch elements for two rows of pixels or windows, up to their reach."""
    return 2 * (max(W, Q * stride) + pool_size + 2 * padding + MARGIN)


def three_bands(W: int, pool_size: int, stride: int) -> int:
    """Scratch elements for three bands."""
    return 3 * (BAND + 3 * (W + stride) + pool_size + MARGIN)


@inlined
def bounds(p, step, padding, size, extent):
    """First pixel of window `p` along an axis, and one past its last."""
    start = p * step - padding
    return max(start, 0), min(start + size, extent)


@inlined
def whole_windows(Q, W, size, step, padding):
    """The first window that is inside a row of `W` pixels, and one past the last."""
    first = min(Q, (padding + step - 1) // step)
    return first, max(first, min(Q, (W + padding - size) // step + 1))


@inlined
def across_windows(Q, W, size, step, padding):
    """Windows that are reduced horizontally; how many fit between two rows of a band; rows of a band."""
    first, last = whole_windows(Q, W, size, step, padding)
    if not (2 <= size <= 3 and step <= 2):
        first, last = Q, Q
    pitch = (W + step - 1) // step
    return first, last, pitch, max(1, BAND // (pitch * step))


@inlined
def to_the_vector(count, capacity):
    """`count` rounded up to whole vectors, up to a capacity: the rest is not used."""
    return min((count + 15) // 16 * 16, capacity)


@inlined
def wins(v, best):
    """Whether `v` is the new maximum: the first of equal values and NaN win."""
    # `not <=` is true for NaN, and once the maximum is NaN nothing wins against it: the first NaN stays.
    return (not (v <= best)) & (not math.isnan(best))


@inlined
def highest_rows(v, k, pixels, at, W, top, rows):
    """Maximum of each column of some rows, and its position in the plane: the first of equal values."""
    start, one = v.dtype.type(top * W), v.dtype.type(W)
    two, count = one + one, to_the_vector(W, pixels.size - at - (rows - 1) * W)
    # The usual heights keep the maximum in a register; others store it after each row.
    if rows == 3:
        for w in range(count):
            # Unsigned indices: numba's check for negative ones would keep the loop from being vectorized, a factor of
            # ten.
            a, b = pixels[np.uint64(at + w)], pixels[np.uint64(at + W + w)]
            c, second = pixels[np.uint64(at + 2 * W + w)], wins(b, a)
            best, place = (b if second else a), start + v.dtype.type(np.int32(w))
            third = wins(c, best)
            v[w] = c if third else best
            k[w] = place + two if third else (place + one if second else place)
        return
    if rows == 2:
        for w in range(count):
            a, b = pixels[np.uint64(at + w)], pixels[np.uint64(at + W + w)]
            second, place = wins(b, a), start + v.dtype.type(np.int32(w))
            v[w] = b if second else a
            k[w] = place + one if second else place
        return
    for w in range(count):
        v[w] = pixels[np.uint64(at + w)]
        k[w] = start + v.dtype.type(np.int32(w))
    for row in range(1, rows):
        for w in range(count):
            pixel = pixels[np.uint64(at + row * W + w)]
            better = wins(pixel, v[w])
            v[w] = pixel if better else v[w]
            k[w] = start + v.dtype.type(row * W) + v.dtype.type(np.int32(w)) if better else k[w]


@inlined
def comes_first(b, place_b, a, place_a):
    """Whether pixel `b` replaces `a`: it is larger, or equal and before it in reading order."""
    return wins(b, a) | ((b == a) & (place_b < place_a))


@inlined
def places_across(found, v, k, start, count, size, stride):
    """Positions of the maxima of windows of two or three columns."""
    for q in range(count):
        j = start + q * stride
        a, place = v[np.uint64(j)], k[np.uint64(j)]
        b, place_b = v[np.uint64(j + 1)], k[np.uint64(j + 1)]
        second = comes_first(b, place_b, a, place)
        a, place = (b if second else a), (place_b if second else place)
        if size == 3:
            b, place_b = v[np.uint64(j + 2)], k[np.uint64(j + 2)]
            third = comes_first(b, place_b, a, place)
            place = place_b if third else place
        found[q] = place


@inlined
def place_of_one(v, k, left, right):
    """Position of the maximum of one window; -1 if it has no pixel."""
    if left >= right:
        return -1
    best, place = v[left], k[left]
    for w in range(left + 1, right):
        if comes_first(v[w], k[w], best, place):
            best, place = v[w], k[w]
    return np.int64(place)


@inlined
def largest_rows(v, pixels, at, W, rows):
    """Maximum of each column of some rows."""
    count = to_the_vector(W, pixels.size - at - (rows - 1) * W)
    if rows == 3:
        for w in range(count):
            a, b, c = pixels[np.uint64(at + w)], pixels[np.uint64(at + W + w)], pixels[np.uint64(at + 2 * W + w)]
            best = b if wins(b, a) else a
            v[w] = c if wins(c, best) else best
        return
    if rows == 2:
        for w in range(count):
            a, b = pixels[np.uint64(at + w)], pixels[np.uint64(at + W + w)]
            v[w] = b if wins(b, a) else a
        return
    for w in range(count):
        v[w] = pixels[np.uint64(at + w)]
    for row in range(1, rows):
        for w in range(count):
            pixel = pixels[np.uint64(at + row * W + w)]
            v[w] = pixel if wins(pixel, v[w]) else v[w]


@inlined
def maxima_across(found, v, start, count, size, stride):
    """Maxima of windows of two or three columns."""
    for q in range(count):
        j = start + q * stride
        best, b = v[np.uint64(j)], v[np.uint64(j + 1)]
        best = b if wins(b, best) else best
        if size == 3:
            b = v[np.uint64(j + 2)]
            best = b if wins(b, best) else best
        found[q] = best


@inlined
def spread_pairs(target, at, W, deltas, places, to, count, top, zero):
    """Deltas of whole windows of 2 x 2 pixels, 2 apart, in the two rows under them."""
    # Two loops, so that each one writes a single contiguous row.
    for q in range(count):
        delta, place = deltas[np.uint64(to + q)], places[np.uint64(to + q)] - top * W - 2 * q
        left = at + 2 * q
        target[np.uint64(left)] = delta if place == 0 else zero
        target[np.uint64(left + 1)] = delta if place == 1 else zero
    for q in range(count):
        delta, place = deltas[np.uint64(to + q)], places[np.uint64(to + q)] - top * W - 2 * q - W
        left = at + W + 2 * q
        target[np.uint64(left)] = delta if place == 0 else zero
        target[np.uint64(left + 1)] = delta if place == 1 else zero


@inlined
def add_rows(v, pixels, at, W, rows):
    """Sum of each column of some rows."""
    count = to_the_vector(W, pixels.size - at - (rows - 1) * W)
    if rows == 3:
        for w in range(count):
            two = pixels[np.uint64(at + w)] + pixels[np.uint64(at + W + w)]
            v[w] = two + pixels[np.uint64(at + 2 * W + w)]
        return
    if rows == 2:
        for w in range(count):
            v[w] = pixels[np.uint64(at + w)] + pixels[np.uint64(at + W + w)]
        return
    for w in range(count):
        v[w] = pixels[np.uint64(at + w)]
    for row in range(1, rows):
        for w in range(count):
            v[w] += pixels[np.uint64(at + row * W + w)]


@inlined
def sums_across(found, v, start, count, size, stride):
    """Sums of windows of two or three columns."""
    for q in range(count):
        j = start + q * stride
        added = v[np.uint64(j)] + v[np.uint64(j + 1)]
        if size == 3:
            added += v[np.uint64(j + 2)]
        found[q] = added


@inlined
def spread_across(row, shares, Q, W, size, stride, padding):
    """Adds the share of each window to the columns under it; `row` begins with the padding."""
    zero, wide = row.dtype.type(0), W + padding
    # Each column is under at most two windows: written once, without clearing the row first.
    if stride == 2 and size <= 3:
        for q in range(Q):
            row[np.uint64(2 * q)] = shares[np.uint64(q + 1)] + (shares[np.uint64(q)] if size == 3 else zero)
            row[np.uint64(2 * q + 1)] = shares[np.uint64(q + 1)] if size > 1 else zero
        row[np.uint64(2 * Q)] = shares[np.uint64(Q)] if size == 3 else zero
        for w in range(2 * Q + 1, wide):
            row[np.uint64(w)] = zero
        return
    for w in range(max(wide, (Q - 1) * stride + size)):
        row[np.uint64(w)] = zero
    for b in range(size):
        for q in range(Q):
            row[np.uint64(q * stride + b)] += shares[np.uint64(q + 1)]
