"""Means under windows, in two steps as maxima are taken, and means of whole planes."""

from __future__ import annotations

import numpy as np
from numba import njit

from paddle_layers.kernels.primitives.scratch import part
from paddle_layers.kernels.primitives.vectors import total
from paddle_layers.kernels.tuned import tuned

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
    two_rows,
    whole_windows,
)


def is_mean_of_pixels(pool_type: str, global_pooling: bool, divisor: str, padding: int, padding_y: int) -> bool:
    """Means of the pixels under windows of a size of their own."""
    return pool_type == "AVERAGE" and not global_pooling and divisor == "VALID"


@inlined
def add_rows(v, pixels, at, W, rows):
    """The sum of each column of some rows."""
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
    """The sums of windows of two or three columns."""
    for q in range(count):
        j = start + q * stride
        added = v[np.uint64(j)] + v[np.uint64(j + 1)]
        if size == 3:
            added += v[np.uint64(j + 2)]
        found[q] = added


@tuned(
    "pool", "pool_y", items=slices, runs=planes, work=operations, least=WORTH_IT,
    when=is_mean_of_pixels, scratch=three_bands,
)  # fmt: skip
@njit(error_model="numpy")
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


@inlined
def spread_across(row, shares, Q, W, size, stride, padding):
    """Add each window's share to the columns under it; `row` begins with the padding."""
    zero, wide = row.dtype.type(0), W + padding
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


@tuned(
    "pool", "pool_dx", items=slices, runs=planes, work=operations, least=WORTH_IT,
    when=is_mean_of_pixels, scratch=two_rows,
)  # fmt: skip
@njit(error_model="numpy")
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


# ---- one window as large as the image


def is_global_mean(pool_type: str, global_pooling: bool) -> bool:
    """The mean of each plane."""
    return pool_type == "AVERAGE" and global_pooling


def pixels_of(N: int, C: int, H: int, W: int) -> int:
    """Pixels in all."""
    return N * C * H * W


@tuned("pool", "pool_y", items=slices, runs=planes, work=pixels_of, least=WORTH_IT, when=is_global_mean)
@njit(error_model="numpy")
def plane_means(first, last, y, x):
    planes, area = x.shape[0] * x.shape[1], x.shape[2] * x.shape[3]
    pixels, result, parts = x.ravel(), y.ravel(), min(x.shape[0] * x.shape[1], SLICES)
    zero, count = y.dtype.type(0), y.dtype.type(area)
    for plane in range(planes * first // parts, planes * last // parts):
        result[np.uint64(plane)] = total(pixels[plane * area : (plane + 1) * area], zero) / count


@tuned("pool", "pool_dx", items=slices, runs=planes, work=pixels_of, least=WORTH_IT, when=is_global_mean)
@njit(error_model="numpy")
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
