"""Mean pooling by whole planes: the pixels of a window are counted once, not for each of them."""

from __future__ import annotations

import numpy as np
from numba import njit

from .pooling import SLICES, WORTH_IT, operations, slices
from .tuned import tuned


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
def share_out(slopes, upper, lower, quarter):
    """Add a quarter of a row of slopes to the pixels of their windows of 2 x 2."""
    for q in range(slopes.size):
        left = np.uint64(2) * np.uint64(q)
        right = left + np.uint64(1)
        share = slopes[q] * quarter
        upper[left] += share
        upper[right] += share
        lower[left] += share
        lower[right] += share


@tuned("pool", "pool_y", items=slices, work=operations, least=WORTH_IT, when=is_mean_of_pixels)
@njit(error_model="numpy")
def pool_y(first, last, y, x, pool_size, pool_size_y, stride, stride_y, padding, padding_y):
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


@tuned("pool", "pool_dx", items=slices, work=operations, least=WORTH_IT, when=is_mean_of_pixels)
@njit(error_model="numpy")
def pool_dx(first, last, dx, dy, accumulate, pool_size, pool_size_y, stride, stride_y, padding, padding_y):
    N, C, H, W = dx.shape
    P, Q = dy.shape[2], dy.shape[3]
    planes, pixels, slopes = N * C, dx.ravel(), dy.ravel()
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
                share_out(slopes[to : to + done], pixels[at : at + W], pixels[at + W : at + 2 * W], quarter)
                for q in range(done, Q):
                    left, right = bounds(q, stride, padding, pool_size, W)
                    count = max(1, (bottom - top) * (right - left))
                    share = slopes[np.uint64((plane * P + p) * Q + q)] / dx.dtype.type(count)
                    for h in range(top, bottom):
                        for w in range(left, right):
                            pixels[np.uint64((plane * H + h) * W + w)] += share
