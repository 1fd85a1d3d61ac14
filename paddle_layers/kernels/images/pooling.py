"""Separable pooling (maximum and average): vectorized over the rows under a window for all columns, then horizontally.

A band of rows of windows is processed at once: the vertical results are in the scratch buffer, so spaced that `stride`
permits one horizontal loop over all of them. Windows of two or three columns, one or two apart, are processed that way;
others, and those that cross an edge, one by one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paddle_layers.kernels.primitives.compile_options import compiled
from paddle_layers.kernels.primitives.plane_codegen import MASKS
from paddle_layers.kernels.primitives.plane_kernels import (
    maxima,
    maxima_2,
    maxima_of_4,
    positions,
    positions_2,
    positions_of_4,
    scatter_to_argmax,
)
from paddle_layers.kernels.primitives.scratch import part
from paddle_layers.kernels.primitives.vector_functions import total
from paddle_layers.kernels.tuned import tuned

from .average_pooling import ANYWHERE, means, means_back
from .pool_reductions import (
    MAX_TILES,
    MIN_MAXIMA_WORK,
    MIN_WORK,
    across_windows,
    bounds,
    highest_rows,
    largest_rows,
    maxima_across,
    operations,
    place_of_one,
    places_across,
    planes,
    spread_pairs,
    three_bands,
    tile_count,
    to_the_vector,
    two_rows,
    wins,
)


def is_maximum(pool_type: str, global_pooling: bool, H: int, W: int) -> bool:
    """Maxima of windows with a fixed size, in planes whose positions are exact in floating point."""
    return pool_type == "MAX" and not global_pooling and H * W <= 1 << 24


def small_maxima(
    pool_type: str, global_pooling: bool, H: int, W: int, P: int, Q: int, pool_size: int | None,
    pool_size_y: int | None, stride: int, stride_y: int, padding: int, padding_y: int,
) -> bool:  # fmt: skip
    """Maxima of non-empty windows of 3 x 3 or, non-overlapping, 2 x 2 pixels, on a CPU with masked loads."""
    square = pool_size == pool_size_y and stride == stride_y
    beside = pool_size == stride == 2 and padding == padding_y == 0
    plain = square and ((pool_size == 3 and stride <= 2) or beside)
    filled = (P - 1) * stride_y - padding_y < H and (Q - 1) * stride - padding < W
    return MASKS and is_maximum(pool_type, global_pooling, H, W) and plain and filled


@tuned("pool", "pool_where", items=planes, runs=planes, work=operations, least=MIN_WORK, when=small_maxima)
@compiled
def small_where(first, last, where, x, pool_size, stride, padding, padding_y):
    _, _, H, W = x.shape
    _, _, P, Q = where.shape
    size, one = x.itemsize, x.dtype.type(1)
    for plane in range(first, last):
        of, to = x.ctypes.data + plane * H * W * size, where.ctypes.data + plane * P * Q * 8
        if pool_size == 2:
            positions_of_4((of, H, W, to, P, Q), one)
        elif stride == 1:
            positions((of, H, W, to, P, Q, padding_y, padding), one)
        else:
            positions_2((of, H, W, to, P, Q, padding_y, padding), one)


@tuned("pool", "pool_y", items=planes, runs=planes, work=operations, least=MIN_MAXIMA_WORK, when=small_maxima)
@compiled
def small_maximum_y(first, last, y, x, pool_size, stride, padding, padding_y):
    _, _, H, W = x.shape
    _, _, P, Q = y.shape
    size, one = x.itemsize, x.dtype.type(1)
    for plane in range(first, last):
        of, to = x.ctypes.data + plane * H * W * size, y.ctypes.data + plane * P * Q * size
        if pool_size == 2:
            maxima_of_4((of, H, W, to, P, Q), one)
        elif stride == 1:
            maxima((of, H, W, to, P, Q, padding_y, padding), one)
        else:
            maxima_2((of, H, W, to, P, Q, padding_y, padding), one)


@tuned(
    "pool", "pool_where", items=tile_count, runs=planes, work=operations, least=MIN_WORK,
    when=is_maximum, scratch=three_bands,
)  # fmt: skip
@compiled
def pool_where(first, last, where, x, scratch, pool_size, pool_size_y, stride, stride_y, padding, padding_y):
    N, C, H, W = x.shape
    P, Q = where.shape[2], where.shape[3]
    planes, pixels, places = N * C, x.ravel(), where.ravel()
    parts = min(planes, MAX_TILES)
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
                # Up to a whole vector; edge windows and the next rows overwrite what is written after the inner ones.
                for q in range(to_the_vector(inner, stop - to - begin)):
                    places[np.uint64(to + begin + q)] = np.int32(found[np.uint64(r * pitch + q)])
                for q in range(Q - inner):
                    edge = q if q < begin else q + inner
                    left, right = bounds(edge, stride, padding, pool_size, W)
                    places[np.uint64(to + edge)] = place_of_one(v[base:], k[base:], left, right)
                # A window in padding only has no position.
                for q in range(Q if bottom <= top else 0):
                    places[np.uint64(to + q)] = -1


@tuned(
    "pool", "pool_y", items=tile_count, runs=planes, work=operations, least=MIN_MAXIMA_WORK,
    when=is_maximum, scratch=three_bands,
)  # fmt: skip
@compiled
def maximum_y(first, last, y, x, scratch, pool_size, pool_size_y, stride, stride_y, padding, padding_y):
    N, C, H, W = x.shape
    P, Q = y.shape[2], y.shape[3]
    planes, pixels, result, zero = N * C, x.ravel(), y.ravel(), y.dtype.type(0)
    parts = min(planes, MAX_TILES)
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


@tuned("pool", "pool_dx", items=tile_count, runs=planes, work=operations, least=MIN_WORK, when=is_maximum)
@compiled
def maximum_dx(first, last, dx, dy, where, accumulate, pool_size, pool_size_y, stride, stride_y, padding, padding_y):
    N, C, H, W = dx.shape
    P, Q = dy.shape[2], dy.shape[3]
    planes, target, deltas, places = N * C, dx.ravel(), dy.ravel(), where.ravel()
    parts, zero = min(planes, MAX_TILES), dx.dtype.type(0)
    # Windows that cover each pixel once write zeros and gradients in one pass, without clearing the target.
    in_pairs = pool_size == 2 and pool_size_y == 2 and stride == 2 and stride_y == 2 and padding == 0 and padding_y == 0
    in_pairs = in_pairs and not accumulate and H == 2 * P and W == 2 * Q
    for item in range(first, last):
        for plane in range(planes * item // parts, planes * (item + 1) // parts):
            base, source = plane * H * W, plane * P * Q
            if in_pairs and MASKS:
                size = dx.itemsize
                scatter_to_argmax(
                    (
                        dy.ctypes.data + source * size, where.ctypes.data + source * 8, P, Q,
                        dx.ctypes.data + base * size,
                    ),
                    dx.dtype.type(1),
                )  # fmt: skip
                continue
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


def is_mean(wanted: str) -> Callable[..., bool]:
    """Whether windows with a fixed size are averaged by this divisor."""

    def accepts(pool_type: str, global_pooling: bool, divisor: str) -> bool:
        return pool_type == "AVERAGE" and not global_pooling and divisor == wanted

    return accepts


# The padding that counts as pixels, before and after, along both axes: none, what there is, or all of a window.
for _divisor, _reach_y, _reach in (
    ("VALID", "(0, 0)", "(0, 0)"),
    ("PADDED", "(padding_y, padding_end_y)", "(padding, padding_end)"),
    ("KERNEL", f"({ANYWHERE}, {ANYWHERE})", f"({ANYWHERE}, {ANYWHERE})"),
):
    for _target, _kernel, _scratch in (("y", means, three_bands), ("dx", means_back, two_rows)):
        tuned(
            "pool", f"pool_{_target}", items=tile_count, runs=planes, work=operations, least=MIN_WORK,
            when=is_mean(_divisor), scratch=_scratch, arguments={
                "window": "(pool_size_y, pool_size, stride_y, stride, padding_y, padding)",
                "reach_y": _reach_y, "reach": _reach,
            },
        )(_kernel)  # fmt: skip


def is_global_mean(pool_type: str, global_pooling: bool) -> bool:
    """Global average pooling: the mean of each plane."""
    return pool_type == "AVERAGE" and global_pooling


def pixels_of(N: int, C: int, H: int, W: int) -> int:
    """Number of pixels."""
    return N * C * H * W


@tuned("pool", "pool_y", items=tile_count, runs=planes, work=pixels_of, least=MIN_WORK, when=is_global_mean)
@compiled
def plane_means(first, last, y, x):
    planes, area = x.shape[0] * x.shape[1], x.shape[2] * x.shape[3]
    pixels, result, parts = x.ravel(), y.ravel(), min(x.shape[0] * x.shape[1], MAX_TILES)
    zero, count = y.dtype.type(0), y.dtype.type(area)
    for plane in range(planes * first // parts, planes * last // parts):
        result[np.uint64(plane)] = total(pixels[plane * area : (plane + 1) * area], zero) / count


@tuned("pool", "pool_dx", items=tile_count, runs=planes, work=pixels_of, least=MIN_WORK, when=is_global_mean)
@compiled
def spread_over_planes(first, last, dx, dy, accumulate):
    planes, area = dx.shape[0] * dx.shape[1], dx.shape[2] * dx.shape[3]
    pixels, deltas, parts = dx.ravel(), dy.ravel(), min(dx.shape[0] * dx.shape[1], MAX_TILES)
    count = dx.dtype.type(area)
    for plane in range(planes * first // parts, planes * last // parts):
        share, at = deltas[np.uint64(plane)] / count, plane * area
        if accumulate:
            for i in range(area):
                pixels[np.uint64(at + i)] += share
        else:
            for i in range(area):
                pixels[np.uint64(at + i)] = share
