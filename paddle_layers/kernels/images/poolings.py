"""Pooling in two steps, each a loop of vectors: over the rows under a window, for all columns, then across.

A band of rows of windows is done at once: what the rows give lies in scratch memory, as far apart as `stride` allows to
go across all of them in one loop. Windows of two or three columns, one or two apart, go that way; others, and those
that hang over an edge, are done one by one.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from paddle_layers.kernels.primitives.scratch import part
from paddle_layers.kernels.tuned import tuned

from . import mean_poolings  # noqa: F401  a pool's kernels, too
from .pool_windows import (
    SLICES,
    WORTH_IT,
    across_windows,
    bounds,
    inlined,
    operations,
    planes,
    slices,
    three_bands,
    to_the_vector,
)


def is_maximum(pool_type: str, global_pooling: bool, H: int, W: int) -> bool:
    """Maxima of windows of a size of their own, in planes whose positions are exact as real numbers."""
    return pool_type == "MAX" and not global_pooling and H * W <= 1 << 24


@inlined
def wins(v, best):
    """Whether `v` is the new maximum: the first of equal ones stays, and NaN once it came."""
    return (not (v <= best)) & (not math.isnan(best))


@inlined
def highest_rows(v, k, pixels, at, W, top, rows):
    """The largest pixel of each column of some rows, and its position in the plane: the first of equal ones."""
    start, one = v.dtype.type(top * W), v.dtype.type(W)
    two, count = one + one, to_the_vector(W, pixels.size - at - (rows - 1) * W)
    if rows == 3:
        for w in range(count):
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
    """Whether the pixel `b` takes the place of `a`: it is larger, or as large and before it in reading order."""
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
    """Where the maximum of one window is; -1 where it has no pixel."""
    if left >= right:
        return -1
    best, place = v[left], k[left]
    for w in range(left + 1, right):
        if comes_first(v[w], k[w], best, place):
            best, place = v[w], k[w]
    return np.int64(place)


@tuned(
    "pool", "pool_where", items=slices, runs=planes, work=operations, least=WORTH_IT,
    when=is_maximum, scratch=three_bands,
)  # fmt: skip
@njit(error_model="numpy")
def pool_where(first, last, where, x, scratch, pool_size, pool_size_y, stride, stride_y, padding, padding_y):
    N, C, H, W = x.shape
    P, Q = where.shape[2], where.shape[3]
    planes, pixels, places = N * C, x.ravel(), where.ravel()
    parts = min(planes, SLICES)
    begin, end, pitch, height = across_windows(Q, W, pool_size, stride, padding)
    start, inner = begin * stride - padding, end - begin
    for item in range(first, last):
        own = part(scratch, item, parts)
        size, stop = own.size // 3, planes * (item + 1) // parts * P * Q
        v, k, found = own[:size], own[size : 2 * size], own[2 * size :]
        for band in range(planes * item // parts * P, planes * (item + 1) // parts * P, height):
            rows = min(height, planes * (item + 1) // parts * P - band)
            for r in range(rows):
                plane, p = (band + r) // P, (band + r) % P
                top, bottom = bounds(p, stride_y, padding_y, pool_size_y, H)
                at = r * pitch * stride
                if top < bottom:
                    highest_rows(v[at:], k[at:], pixels, (plane * H + top) * W, W, top, bottom - top)
            if inner and stride == 1 and pool_size == 3:
                places_across(found, v, k, start, rows * pitch, 3, 1)
            elif inner and stride == 2 and pool_size == 3:
                places_across(found, v, k, start, rows * pitch, 3, 2)
            elif inner and stride == 2:
                places_across(found, v, k, start, rows * pitch, 2, 2)
            elif inner:
                places_across(found, v, k, start, rows * pitch, 2, 1)
            for r in range(rows):
                to, base = (band + r) * Q, r * pitch * stride
                top, bottom = bounds((band + r) % P, stride_y, padding_y, pool_size_y, H)
                for q in range(to_the_vector(inner, stop - to - begin)):
                    places[np.uint64(to + begin + q)] = np.int32(found[np.uint64(r * pitch + q)])
                for q in range(Q - inner):
                    edge = q if q < begin else q + inner
                    left, right = bounds(edge, stride, padding, pool_size, W)
                    places[np.uint64(to + edge)] = place_of_one(v[base:], k[base:], left, right)
                for q in range(Q if bottom <= top else 0):
                    places[np.uint64(to + q)] = -1


@inlined
def largest_rows(v, pixels, at, W, rows):
    """The largest pixel of each column of some rows."""
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
    """The maxima of windows of two or three columns."""
    for q in range(count):
        j = start + q * stride
        best, b = v[np.uint64(j)], v[np.uint64(j + 1)]
        best = b if wins(b, best) else best
        if size == 3:
            b = v[np.uint64(j + 2)]
            best = b if wins(b, best) else best
        found[q] = best


@tuned(
    "pool", "pool_y", items=slices, runs=planes, work=operations, least=WORTH_IT,
    when=is_maximum, scratch=three_bands,
)  # fmt: skip
@njit(error_model="numpy")
def maximum_y(first, last, y, x, scratch, pool_size, pool_size_y, stride, stride_y, padding, padding_y):
    N, C, H, W = x.shape
    P, Q = y.shape[2], y.shape[3]
    planes, pixels, result, zero = N * C, x.ravel(), y.ravel(), y.dtype.type(0)
    parts = min(planes, SLICES)
    begin, end, pitch, height = across_windows(Q, W, pool_size, stride, padding)
    start, inner = begin * stride - padding, end - begin
    for item in range(first, last):
        own = part(scratch, item, parts)
        size, stop = own.size // 3, planes * (item + 1) // parts * P * Q
        v, found = own[:size], own[2 * size :]
        for band in range(planes * item // parts * P, planes * (item + 1) // parts * P, height):
            rows = min(height, planes * (item + 1) // parts * P - band)
            for r in range(rows):
                plane, p = (band + r) // P, (band + r) % P
                top, bottom = bounds(p, stride_y, padding_y, pool_size_y, H)
                if top < bottom:
                    largest_rows(v[r * pitch * stride :], pixels, (plane * H + top) * W, W, bottom - top)
            if inner and stride == 1 and pool_size == 3:
                maxima_across(found, v, start, rows * pitch, 3, 1)
            elif inner and stride == 2 and pool_size == 3:
                maxima_across(found, v, start, rows * pitch, 3, 2)
            elif inner and stride == 2:
                maxima_across(found, v, start, rows * pitch, 2, 2)
            elif inner:
                maxima_across(found, v, start, rows * pitch, 2, 1)
            for r in range(rows):
                to, base = (band + r) * Q, r * pitch * stride
                top, bottom = bounds((band + r) % P, stride_y, padding_y, pool_size_y, H)
                for q in range(to_the_vector(inner, stop - to - begin)):
                    result[np.uint64(to + begin + q)] = found[np.uint64(r * pitch + q)]
                for q in range(Q - inner):
                    edge = q if q < begin else q + inner
                    left, right = bounds(edge, stride, padding, pool_size, W)
                    best = v[base + left] if left < right else zero
                    for w in range(base + left + 1, base + right):
                        best = v[w] if wins(v[w], best) else best
                    result[np.uint64(to + edge)] = best
                for q in range(Q if bottom <= top else 0):
                    result[np.uint64(to + q)] = zero


@inlined
def spread_pairs(target, at, W, deltas, places, to, count, top, zero):
    """Deltas of whole windows of 2 x 2 pixels, 2 apart, in the two rows under them."""
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


@tuned("pool", "pool_dx", items=slices, runs=planes, work=operations, least=WORTH_IT, when=is_maximum)
@njit(error_model="numpy")
def maximum_dx(first, last, dx, dy, where, accumulate, pool_size, pool_size_y, stride, stride_y, padding, padding_y):
    N, C, H, W = dx.shape
    P, Q = dy.shape[2], dy.shape[3]
    planes, target, deltas, places = N * C, dx.ravel(), dy.ravel(), where.ravel()
    parts, zero = min(planes, SLICES), dx.dtype.type(0)
    in_pairs = pool_size == 2 and pool_size_y == 2 and stride == 2 and stride_y == 2 and padding == 0 and padding_y == 0
    in_pairs = in_pairs and not accumulate and H == 2 * P and W == 2 * Q
    for item in range(first, last):
        for plane in range(planes * item // parts, planes * (item + 1) // parts):
            base, source = plane * H * W, plane * P * Q
            if in_pairs:
                for p in range(P):
                    spread_pairs(target, base + 2 * p * W, W, deltas, places, source + p * Q, Q, 2 * p, zero)
                continue
            if not accumulate:
                for i in range(H * W):
                    target[np.uint64(base + i)] = zero
            for i in range(P * Q):
                place = places[np.uint64(source + i)]
                if place >= 0:
                    target[np.uint64(base + place)] += deltas[np.uint64(source + i)]
