"""Pooling in two steps, each a loop of vectors: over the rows under a window, for all columns, then across.

A band of rows of windows is done at once: what the rows give lies in scratch memory, as far apart as `stride` allows to
go across all of them in one loop. Windows of two or three columns, one or two apart, go that way; others, and those
that hang over an edge, are done one by one.
"""

from __future__ import annotations

import numpy as np

from paddle_layers.kernels.primitives.compiling import compiled
from paddle_layers.kernels.primitives.scratch import part
from paddle_layers.kernels.primitives.vectors import total
from paddle_layers.kernels.tuned import tuned

from .pool_windows import (
    SLICES,
    WORTH_IT,
    across_windows,
    add_rows,
    bounds,
    highest_rows,
    largest_rows,
    maxima_across,
    operations,
    place_of_one,
    places_across,
    planes,
    slices,
    spread_across,
    spread_pairs,
    sums_across,
    three_bands,
    to_the_vector,
    two_rows,
    whole_windows,
    wins,
)


def is_maximum(pool_type: str, global_pooling: bool, H: int, W: int) -> bool:
    """Maxima of windows of a size of their own, in planes whose positions are exact as real numbers."""
    return pool_type == "MAX" and not global_pooling and H * W <= 1 << 24


@tuned(
    "pool", "pool_where", items=slices, runs=planes, work=operations, least=WORTH_IT,
    when=is_maximum, scratch=three_bands,
)  # fmt: skip
@compiled
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


@tuned(
    "pool", "pool_y", items=slices, runs=planes, work=operations, least=WORTH_IT,
    when=is_maximum, scratch=three_bands,
)  # fmt: skip
@compiled
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


@tuned("pool", "pool_dx", items=slices, runs=planes, work=operations, least=WORTH_IT, when=is_maximum)
@compiled
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


# ---- means


def is_mean_of_pixels(pool_type: str, global_pooling: bool, divisor: str, padding: int, padding_y: int) -> bool:
    """Means of the pixels under windows of a size of their own."""
    return pool_type == "AVERAGE" and not global_pooling and divisor == "VALID"


@tuned(
    "pool", "pool_y", items=slices, runs=planes, work=operations, least=WORTH_IT,
    when=is_mean_of_pixels, scratch=three_bands,
)  # fmt: skip
@compiled
def mean_y(first, last, y, x, scratch, pool_size, pool_size_y, stride, stride_y, padding, padding_y):
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
                    add_rows(v[r * pitch * stride :], pixels, (plane * H + top) * W, W, bottom - top)
            if inner and stride == 1 and pool_size == 3:
                sums_across(found, v, start, rows * pitch, 3, 1)
            elif inner and stride == 2 and pool_size == 3:
                sums_across(found, v, start, rows * pitch, 3, 2)
            elif inner and stride == 2:
                sums_across(found, v, start, rows * pitch, 2, 2)
            elif inner:
                sums_across(found, v, start, rows * pitch, 2, 1)
            for r in range(rows):
                to, base = (band + r) * Q, r * pitch * stride
                top, bottom = bounds((band + r) % P, stride_y, padding_y, pool_size_y, H)
                count = y.dtype.type((bottom - top) * pool_size)
                for q in range(to_the_vector(inner, stop - to - begin)):
                    result[np.uint64(to + begin + q)] = found[np.uint64(r * pitch + q)] / count
                for q in range(Q - inner):
                    edge = q if q < begin else q + inner
                    left, right = bounds(edge, stride, padding, pool_size, W)
                    added = zero
                    for w in range(base + left, base + right):
                        added += v[w]
                    result[np.uint64(to + edge)] = added / y.dtype.type(max(1, (bottom - top) * (right - left)))
                for q in range(Q if bottom <= top else 0):
                    result[np.uint64(to + q)] = zero


@tuned(
    "pool", "pool_dx", items=slices, runs=planes, work=operations, least=WORTH_IT,
    when=is_mean_of_pixels, scratch=two_rows,
)  # fmt: skip
@compiled
def mean_dx(first, last, dx, dy, scratch, accumulate, pool_size, pool_size_y, stride, stride_y, padding, padding_y):
    N, C, H, W = dx.shape
    P, Q = dy.shape[2], dy.shape[3]
    planes, pixels, deltas = N * C, dx.ravel(), dy.ravel()
    parts, zero = min(planes, SLICES), dx.dtype.type(0)
    begin, end = whole_windows(Q, W, pool_size, stride, padding)
    for item in range(first, last):
        own = part(scratch, item, parts)
        row, shares = own[: own.size // 2], own[own.size // 2 :]
        shares[0] = zero
        for plane in range(planes * item // parts, planes * (item + 1) // parts):
            if not accumulate:
                for i in range(H * W):
                    pixels[np.uint64(plane * H * W + i)] = zero
            for p in range(P):
                top, bottom = bounds(p, stride_y, padding_y, pool_size_y, H)
                source, count = (plane * P + p) * Q, dx.dtype.type(max(1, (bottom - top) * pool_size))
                for q in range(Q):
                    shares[np.uint64(q + 1)] = deltas[np.uint64(source + q)] / count
                for q in range(begin + Q - end):
                    edge = q if q < begin else q - begin + end
                    left, right = bounds(edge, stride, padding, pool_size, W)
                    covered = dx.dtype.type(max(1, (bottom - top) * (right - left)))
                    shares[np.uint64(edge + 1)] = deltas[np.uint64(source + edge)] / covered
                if stride == 1:
                    spread_across(row, shares, Q, W, pool_size, 1, padding)
                elif stride == 2:
                    spread_across(row, shares, Q, W, pool_size, 2, padding)
                else:
                    spread_across(row, shares, Q, W, pool_size, stride, padding)
                for h in range(top, bottom):
                    at = (plane * H + h) * W
                    for w in range(W):
                        pixels[np.uint64(at + w)] += row[np.uint64(padding + w)]


def is_global_mean(pool_type: str, global_pooling: bool) -> bool:
    """The mean of each plane."""
    return pool_type == "AVERAGE" and global_pooling


def pixels_of(N: int, C: int, H: int, W: int) -> int:
    """Pixels in all."""
    return N * C * H * W


@tuned("pool", "pool_y", items=slices, runs=planes, work=pixels_of, least=WORTH_IT, when=is_global_mean)
@compiled
def plane_means(first, last, y, x):
    planes, area = x.shape[0] * x.shape[1], x.shape[2] * x.shape[3]
    pixels, result, parts = x.ravel(), y.ravel(), min(x.shape[0] * x.shape[1], SLICES)
    zero, count = y.dtype.type(0), y.dtype.type(area)
    for plane in range(planes * first // parts, planes * last // parts):
        result[np.uint64(plane)] = total(pixels[plane * area : (plane + 1) * area], zero) / count


@tuned("pool", "pool_dx", items=slices, runs=planes, work=pixels_of, least=WORTH_IT, when=is_global_mean)
@compiled
def spread_over_planes(first, last, dx, dy, accumulate):
    planes, area = dx.shape[0] * dx.shape[1], dx.shape[2] * dx.shape[3]
    pixels, deltas, parts = dx.ravel(), dy.ravel(), min(dx.shape[0] * dx.shape[1], SLICES)
    count = dx.dtype.type(area)
    for plane in range(planes * first // parts, planes * last // parts):
        share, at = deltas[np.uint64(plane)] / count, plane * area
        if accumulate:
            for i in range(area):
                pixels[np.uint64(at + i)] += share
        else:
            for i in range(area):
                pixels[np.uint64(at + i)] = share
