"""pool by whole planes: rows of windows side by side instead of one window after the other."""

from __future__ import annotations

import numpy as np
from numba import njit

from .tuned import tuned

WORTH_IT = 1 << 16
"""Pixels under windows below which the point function is as fast and spares the compiler."""
SLICES = 8


def is_maximum(pool_type: str, global_pooling: bool) -> bool:
    """Maxima of windows of a size of their own."""
    return pool_type == "MAX" and not global_pooling


def pixels_seen(N: int, C: int, P: int, Q: int, pool_size: int | None, pool_size_y: int | None) -> int:
    """Pixels under all windows."""
    return N * C * P * Q * (pool_size or 1) * (pool_size_y or 1)


def slices(N: int, C: int) -> int:
    """Slices of the planes; by shape only."""
    return min(N * C, SLICES)


def best_of_a_row(Q: int) -> int:
    """One number for each window of a row."""
    return Q


@njit(error_model="numpy")
def widen(best, where, source, place, start, stop, left, step):
    """Let pixel `left + q * step` of a row of the image compete for window `q`, for all windows that have it.

    Steps of 1 and 2 are written out: the compiler turns a loop with a known step into vector instructions.
    """
    count = max(stop - start, 0)
    most, at, pixels = best[start : start + count], where[start : start + count], source[left + start * step :]
    base = place + left + start * step
    if step == 2:
        for q in range(count):
            value = pixels[2 * np.uint64(q)]
            wins = (value > most[q]) | (at[q] < 0)
            most[q] = value if wins else most[q]
            at[q] = base + 2 * q if wins else at[q]
    elif step == 1:
        for q in range(count):
            value = pixels[q]
            wins = (value > most[q]) | (at[q] < 0)
            most[q] = value if wins else most[q]
            at[q] = base + q if wins else at[q]
    else:
        for q in range(count):
            value = pixels[np.uint64(q * step)]
            wins = (value > most[q]) | (at[q] < 0)
            most[q] = value if wins else most[q]
            at[q] = base + q * step if wins else at[q]


@tuned(
    "pool", "pool_where", items=slices, scratch=best_of_a_row, work=pixels_seen, least=WORTH_IT, when=is_maximum
)  # fmt: skip
@njit(error_model="numpy")
def pool_where(
    first, last, where, x, scratch, pool_size, pool_size_y, stride, stride_y, padding, padding_y
):  # fmt: skip
    N, C, H, W = x.shape
    P, Q = where.shape[2], where.shape[3]
    planes = N * C
    parts = min(planes, 8)
    for part in range(first, last):
        best = scratch[part * Q : part * Q + Q]
        for plane in range(planes * part // parts, planes * (part + 1) // parts):
            image, places = x[plane // C, plane % C], where[plane // C, plane % C]
            for p in range(P):
                places[p] = -1
                top = p * stride_y - padding_y
                for h in range(max(0, top), min(H, top + pool_size_y)):
                    for b in range(pool_size):
                        left = b - padding
                        start = max(0, -(left // stride))
                        stop = min(Q, (W - left + stride - 1) // stride)
                        widen(best, places[p], image[h], h * W, start, stop, left, stride)


@tuned("pool", "pool_y", items=slices, work=pixels_seen, least=WORTH_IT, when=is_maximum)
@njit(error_model="numpy")
def pool_y(first, last, y, x, where):
    N, C = x.shape[0], x.shape[1]
    planes = N * C
    parts = min(planes, 8)
    for part in range(first, last):
        for plane in range(planes * part // parts, planes * (part + 1) // parts):
            image = x[plane // C, plane % C].ravel()
            places, target = where[plane // C, plane % C].ravel(), y[plane // C, plane % C].ravel()
            for i in range(target.size):
                place = places[i]
                target[i] = image[np.uint64(place)] if place >= 0 else 0.0


@tuned("pool", "pool_dx", items=slices, work=pixels_seen, least=WORTH_IT, when=is_maximum)
@njit(error_model="numpy")
def pool_dx(first, last, dx, dy, where, accumulate):
    N, C = dx.shape[0], dx.shape[1]
    planes = N * C
    parts = min(planes, 8)
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
