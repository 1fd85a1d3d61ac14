"""Average pooling (mean of windows) and its gradients.

Windows of 3 x 3 pixels, and non-overlapping windows of 2 x 2 and their gradients, are computed directly on the plane.
Others are separable, as for maxima: vertically over the rows under a window for all columns, then horizontally.
"""

from __future__ import annotations

import numpy as np

from paddle_layers.kernels.primitives.compile_options import compiled, inlined
from paddle_layers.kernels.primitives.plane_codegen import MASKS
from paddle_layers.kernels.primitives.plane_kernels import means as straight_means
from paddle_layers.kernels.primitives.plane_kernels import means_2 as straight_means_2
from paddle_layers.kernels.primitives.plane_kernels import means_of_4, scatter_quarters
from paddle_layers.kernels.primitives.scratch import part

from .pool_reductions import (
    MAX_TILES,
    across_windows,
    add_rows,
    bounds,
    spread_across,
    sums_across,
    to_the_vector,
    whole_windows,
)

# Still far below the 64-bit range, so that sums of it and a position cannot overflow.
ANYWHERE = 1 << 30
"""Larger than the reach of any window."""


@inlined
def counted(p, step, padding, size, extent, reach):
    """Divisor of window `p` along an axis: pixels plus the counted padding before and after; 1 if there is nothing."""
    start = p * step - padding
    return max(1, min(start + size, extent + reach[1]) - max(start, -reach[0]))


@inlined
def is_small(window, P, Q, H, W):
    """Whether masked vectors compute the windows: 3 x 3 pixels, each with at least one pixel."""
    pool_size_y, pool_size, stride_y, stride, padding_y, padding = window
    filled = (P - 1) * stride_y - padding_y < H and (Q - 1) * stride - padding < W
    return MASKS and pool_size == 3 and pool_size_y == 3 and stride == stride_y and stride <= 2 and filled


@compiled
def small_means(first, last, y, x, window, reach_y, reach):
    """Means of windows of 3 x 3 pixels."""
    N, C, H, W = x.shape
    P, Q = y.shape[2], y.shape[3]
    _, _, _, stride, padding_y, padding = window
    parts, size, one = min(N * C, MAX_TILES), x.itemsize, x.dtype.type(1)
    for plane in range(N * C * first // parts, N * C * last // parts):
        of, to = x.ctypes.data + plane * H * W * size, y.ctypes.data + plane * P * Q * size
        given = (of, H, W, to, P, Q, padding_y, padding, reach_y[0], reach_y[1], reach[0], reach[1])
        if stride == 1:
            straight_means(given, one)
        else:
            straight_means_2(given, one)


@compiled
def means_side_by_side(first, last, y, x):
    """Means of non-overlapping windows of 2 x 2 pixels, none across an edge."""
    N, C, H, W = x.shape
    P, Q = y.shape[2], y.shape[3]
    parts, size, one = min(N * C, MAX_TILES), x.itemsize, x.dtype.type(1)
    for plane in range(N * C * first // parts, N * C * last // parts):
        of, to = x.ctypes.data + plane * H * W * size, y.ctypes.data + plane * P * Q * size
        means_of_4((of, W, to, P, Q), one)


@compiled
def means(first, last, y, x, scratch, window, reach_y, reach):
    """Means of windows."""
    N, C, H, W = x.shape
    P, Q = y.shape[2], y.shape[3]
    pool_size_y, pool_size, stride_y, stride, padding_y, padding = window
    if is_small(window, P, Q, H, W):
        small_means(first, last, y, x, window, reach_y, reach)
        return
    if MASKS and window == (2, 2, 2, 2, 0, 0) and H >= 2 * P and W >= 2 * Q:
        means_side_by_side(first, last, y, x)
        return
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
                    add_rows(v[r * pitch * stride :], pixels, (plane * H + top) * W, W, bottom - top)
            # One call per size and stride: with literal strides LLVM makes shuffles of strided loads.
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
                high = counted((band + r) % P, stride_y, padding_y, pool_size_y, H, reach_y)
                count = y.dtype.type(high * pool_size)
                # Up to a whole vector: what it writes after the inner windows is overwritten by the edge windows and
                # the next rows.
                for q in range(to_the_vector(inner, stop - to - begin)):
                    result[np.uint64(to + begin + q)] = found[np.uint64(r * pitch + q)] / count
                for q in range(Q - inner):
                    edge = q if q < begin else q + inner
                    left, right = bounds(edge, stride, padding, pool_size, W)
                    added = zero
                    for w in range(base + left, base + right):
                        added += v[w]
                    wide = counted(edge, stride, padding, pool_size, W, reach)
                    result[np.uint64(to + edge)] = added / y.dtype.type(high * wide)
                # A window without rows has no pixel: its mean is 0.
                for q in range(Q if bottom <= top else 0):
                    result[np.uint64(to + q)] = zero


@compiled
def means_back(first, last, dx, dy, scratch, accumulate, window, reach_y, reach):
    """Gradients of means of windows."""
    N, C, H, W = dx.shape
    P, Q = dy.shape[2], dy.shape[3]
    pool_size_y, pool_size, stride_y, stride, padding_y, padding = window
    planes, pixels, deltas = N * C, dx.ravel(), dy.ravel()
    parts, zero = min(planes, MAX_TILES), dx.dtype.type(0)
    if MASKS and not accumulate and window == (2, 2, 2, 2, 0, 0) and H == 2 * P and W == 2 * Q:
        size = dx.itemsize
        for plane in range(planes * first // parts, planes * last // parts):
            of, to = dy.ctypes.data + plane * P * Q * size, dx.ctypes.data + plane * H * W * size
            scatter_quarters((of, P, Q, to), dx.dtype.type(1))
        return
    begin, end = whole_windows(Q, W, pool_size, stride, padding)
    for item in range(first, last):
        own = part(scratch, item, parts)
        row, shares = own[: own.size // 2], own[own.size // 2 :]
        # A share of zero before the first window: `spread_across` reads each window and the one before it.
        shares[0] = zero
        for plane in range(planes * item // parts, planes * (item + 1) // parts):
            if not accumulate:
                for i in range(H * W):
                    pixels[np.uint64(plane * H * W + i)] = zero
            for p in range(P):
                top, bottom = bounds(p, stride_y, padding_y, pool_size_y, H)
                source, high = (plane * P + p) * Q, counted(p, stride_y, padding_y, pool_size_y, H, reach_y)
                count = dx.dtype.type(high * pool_size)
                for q in range(Q):
                    shares[np.uint64(q + 1)] = deltas[np.uint64(source + q)] / count
                for q in range(begin + Q - end):
                    edge = q if q < begin else q - begin + end
                    covered = dx.dtype.type(high * counted(edge, stride, padding, pool_size, W, reach))
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
