"""Pooling by whole planes: no division for a pixel, no branch for the common window, means count a window once."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from paddle_layers.kernels.tuned import tuned

WORTH_IT = 1 << 18
"""Operations below which the point function stays: what a step gains does not pay the compiler."""
SLICES = 8


def is_maximum(pool_type: str, global_pooling: bool) -> bool:
    """Maxima of windows of a size of their own."""
    return pool_type == "MAX" and not global_pooling


def operations(N: int, C: int, P: int, Q: int, pool_size: int | None, pool_size_y: int | None) -> int:
    """Four for each pixel under a window: load, compare, choose, store."""
    return 4 * N * C * P * Q * (pool_size or 1) * (pool_size_y or 1)


def planes(N: int, C: int) -> int:
    """Runs of the result that the slices are made of."""
    return N * C


def slices(N: int, C: int) -> int:
    """Slices of the planes; by shape only."""
    return min(N * C, SLICES)


@njit(error_model="numpy")
def pairs(places, upper, lower, top, W):
    """Maxima of a row of whole windows of 2 x 2 pixels, 2 apart: two matches and a final, so that vectors are used.

    `upper` and `lower` are the two rows of pixels, `top` the position of the first. The first of equal pixels wins,
    as everywhere; of several NaN in a window, another one may be the winner than by the point function.
    """
    for q in range(places.size):
        left = np.uint64(2) * np.uint64(q)
        right = left + np.uint64(1)
        high = (upper[right] > upper[left]) | math.isnan(upper[right])
        low = (lower[right] > lower[left]) | math.isnan(lower[right])
        best = upper[right] if high else upper[left]
        rival = lower[right] if low else lower[left]
        above, below = 1 if high else 0, W + 1 if low else W
        places[q] = top + 2 * q + (below if (rival > best) | math.isnan(rival) else above)


@tuned("pool", "pool_where", items=slices, runs=planes, work=operations, least=WORTH_IT, when=is_maximum)
@njit(error_model="numpy")
def pool_where(first, last, where, x, pool_size, pool_size_y, stride, stride_y, padding, padding_y):
    N, C, H, W = x.shape
    P, Q = where.shape[2], where.shape[3]
    planes, pixels, places = N * C, x.ravel(), where.ravel()
    parts = min(planes, SLICES)
    in_pairs = pool_size == 2 and pool_size_y == 2 and stride == 2 and padding == 0
    whole = min(Q, W // 2)
    for part in range(first, last):
        for plane in range(planes * part // parts, planes * (part + 1) // parts):
            for p in range(P):
                top, to, done = p * stride_y - padding_y, (plane * P + p) * Q, 0
                if in_pairs and top >= 0 and top + 1 < H:
                    at, done = (plane * H + top) * W, whole
                    pairs(places[to : to + done], pixels[at : at + W], pixels[at + W : at + 2 * W], top * W, W)
                for q in range(done, Q):
                    left = q * stride - padding
                    where_best = -1
                    best = pixels[0]
                    for h in range(max(0, top), min(H, top + pool_size_y)):
                        for w in range(max(0, left), min(W, left + pool_size)):
                            pixel = pixels[np.uint64((plane * H + h) * W + w)]
                            wins = (pixel > best) | (where_best < 0) | (math.isnan(pixel) & (not math.isnan(best)))
                            best = pixel if wins else best
                            where_best = h * W + w if wins else where_best
                    places[np.uint64(to + q)] = where_best


@tuned("pool", "pool_y", items=slices, runs=planes, work=operations, least=WORTH_IT, when=is_maximum)
@njit(error_model="numpy")
def maximum_y(first, last, y, x, where):
    N, C = x.shape[0], x.shape[1]
    planes = N * C
    parts = min(planes, SLICES)
    for part in range(first, last):
        for plane in range(planes * part // parts, planes * (part + 1) // parts):
            image = x[plane // C, plane % C].ravel()
            places, target = where[plane // C, plane % C].ravel(), y[plane // C, plane % C].ravel()
            for i in range(target.size):
                place = places[i]
                target[i] = image[np.uint64(place)] if place >= 0 else 0.0


@tuned("pool", "pool_dx", items=slices, runs=planes, work=operations, least=WORTH_IT, when=is_maximum)
@njit(error_model="numpy")
def maximum_dx(first, last, dx, dy, where, accumulate):
    N, C = dx.shape[0], dx.shape[1]
    planes = N * C
    parts = min(planes, SLICES)
    zero = dx.dtype.type(0)
    for part in range(first, last):
        for plane in range(planes * part // parts, planes * (part + 1) // parts):
            target = dx[plane // C, plane % C].ravel()
            places, source = where[plane // C, plane % C].ravel(), dy[plane // C, plane % C].ravel()
            if not accumulate:
                target[:] = zero
            for i in range(source.size):
                if places[i] >= 0:
                    target[np.uint64(places[i])] += source[i]


# ---- means


def is_mean_of_pixels(pool_type: str, global_pooling: bool, divisor: str) -> bool:
    """Means of the pixels under windows of a size of their own."""
    return pool_type == "AVERAGE" and not global_pooling and divisor == "VALID"


@njit(error_model="numpy")
def bounds(p, step, padding, size, extent):
    """First pixel of window `p` along an axis and the one behind its last."""
    start = p * step - padding
    return max(start, 0), min(start + size, extent)


@njit(error_model="numpy")
def quarters(means, upper, lower, quarter):
    """Means of a row of whole windows of 2 x 2 pixels, 2 apart."""
    for q in range(means.size):
        left = np.uint64(2) * np.uint64(q)
        right = left + np.uint64(1)
        means[q] = (upper[left] + upper[right] + lower[left] + lower[right]) * quarter


@njit(error_model="numpy")
def share_out(deltas, upper, lower, quarter):
    """Add a quarter of a row of deltas to the pixels of their windows of 2 x 2."""
    for q in range(deltas.size):
        left = np.uint64(2) * np.uint64(q)
        right = left + np.uint64(1)
        share = deltas[q] * quarter
        upper[left] += share
        upper[right] += share
        lower[left] += share
        lower[right] += share


@tuned("pool", "pool_y", items=slices, runs=planes, work=operations, least=WORTH_IT, when=is_mean_of_pixels)
@njit(error_model="numpy")
def mean_y(first, last, y, x, pool_size, pool_size_y, stride, stride_y, padding, padding_y):
    N, C, H, W = x.shape
    P, Q = y.shape[2], y.shape[3]
    planes, pixels, means, one_ = N * C, x.ravel(), y.ravel(), y.dtype.type(1)
    parts, quarter = min(planes, SLICES), y.dtype.type(0.25)
    whole = min(Q, W // 2) if pool_size == 2 and stride == 2 and padding == 0 else 0
    for part in range(first, last):
        for plane in range(planes * part // parts, planes * (part + 1) // parts):
            for p in range(P):
                top, bottom = bounds(p, stride_y, padding_y, pool_size_y, H)
                at, to = (plane * H + top) * W, (plane * P + p) * Q
                done = whole if bottom - top == 2 else 0
                quarters(means[to : to + done], pixels[at : at + W], pixels[at + W : at + 2 * W], quarter)
                for q in range(done, Q):
                    left, right = bounds(q, stride, padding, pool_size, W)
                    total = one_ - one_
                    for h in range(top, bottom):
                        for w in range(left, right):
                            total += pixels[np.uint64((plane * H + h) * W + w)]
                    count = max(1, (bottom - top) * (right - left))
                    means[np.uint64((plane * P + p) * Q + q)] = total / y.dtype.type(count)


@tuned("pool", "pool_dx", items=slices, runs=planes, work=operations, least=WORTH_IT, when=is_mean_of_pixels)
@njit(error_model="numpy")
def mean_dx(first, last, dx, dy, accumulate, pool_size, pool_size_y, stride, stride_y, padding, padding_y):
    N, C, H, W = dx.shape
    P, Q = dy.shape[2], dy.shape[3]
    planes, pixels, deltas = N * C, dx.ravel(), dy.ravel()
    parts, quarter = min(planes, SLICES), dx.dtype.type(0.25)
    whole = min(Q, W // 2) if pool_size == 2 and stride == 2 and padding == 0 else 0
    for part in range(first, last):
        for plane in range(planes * part // parts, planes * (part + 1) // parts):
            if not accumulate:
                pixels[plane * H * W : (plane + 1) * H * W] = dx.dtype.type(0)
            for p in range(P):
                top, bottom = bounds(p, stride_y, padding_y, pool_size_y, H)
                at, to = (plane * H + top) * W, (plane * P + p) * Q
                done = whole if bottom - top == 2 else 0
                share_out(deltas[to : to + done], pixels[at : at + W], pixels[at + W : at + 2 * W], quarter)
                for q in range(done, Q):
                    left, right = bounds(q, stride, padding, pool_size, W)
                    count = max(1, (bottom - top) * (right - left))
                    share = deltas[np.uint64((plane * P + p) * Q + q)] / dx.dtype.type(count)
                    for h in range(top, bottom):
                        for w in range(left, right):
                            pixels[np.uint64((plane * H + h) * W + w)] += share
