"""Tuned kernels. This module alone imports numba, and it is imported when a layer of the plugin first runs."""

from __future__ import annotations

from numba import njit

import paddle_layers as pl

SLICES = 8
MIN_WORK = 1 << 17
"""Operations below which the point function stays: what a step gains does not pay the compiler."""


def numbers(N: int, C: int) -> int:
    """Operations: about eight for each number, whatever the width."""
    return 8 * N * C


def row_slices(N: int) -> int:
    """Slices of the rows; by shape only, so that results do not depend on the number of threads."""
    return min(N, SLICES)


def wide(width: int) -> bool:
    """Windows for which a running sum is less work than the sum."""
    return width >= 7


@pl.tuned("series_average", "average_y", items=row_slices, work=numbers, least=MIN_WORK, when=wide)
@njit(error_model="numpy")
def average_y(first, last, y, x, width, N, C):
    parts, half = min(N, SLICES), width // 2
    for n in range(N * first // parts, N * last // parts):
        total, count = 0.0, 0
        for c in range(-half, C):
            if c + half < C:
                total += x[n, c + half]
                count += 1
            if c - half > 0:
                total -= x[n, c - half - 1]
                count -= 1
            if c >= 0:
                y[n, c] = total / count


@pl.tuned("series_average", "average_dx", items=row_slices, work=numbers, least=MIN_WORK, when=wide)
@njit(error_model="numpy")
def average_dx(first, last, dx, dy, width, accumulate, N, C):
    parts, half = min(N, SLICES), width // 2
    for n in range(N * first // parts, N * last // parts):
        total = 0.0
        for c in range(-half, C):
            enter, leave = c + half, c - half - 1
            if enter < C:
                total += dy[n, enter] / (min(enter + half + 1, C) - max(enter - half, 0))
            if leave >= 0:
                total -= dy[n, leave] / (min(leave + half + 1, C) - max(leave - half, 0))
            if c >= 0:
                dx[n, c] = total + dx[n, c] if accumulate else total
