"""Softmax cross-entropy (`softmax_with_loss`) over many classes: vectorized exponentials, row by row.

Their arguments are not positive. In float32 an exponential below the smallest normal number is flushed to zero: the
largest score contributes 1, so such a term is negligible. No other digits are lost.
"""

from __future__ import annotations

import math

from numba import njit

from paddle_layers.kernels.constants import MAX_TILES
from paddle_layers.kernels.primitives.compile_options import INNER, compiled
from paddle_layers.kernels.primitives.elementary import maximum
from paddle_layers.kernels.primitives.memory_ops import copy_run
from paddle_layers.kernels.primitives.vector_functions import exp_of_negative
from paddle_layers.kernels.tuned import tuned

MIN_WORK = 1 << 15
"""Minimum number of elements for the tuned kernel; below it, the gain does not repay the compile time."""


def tile_count(N: int) -> int:
    """Number of row tiles; depends on the shape only."""
    return min(N, MAX_TILES)


def numbers(N: int, C: int) -> int:
    """Number of scores."""
    return N * C


def one_label(rest: int) -> bool:
    """Whether each row has one label: its scores are then contiguous."""
    return rest == 1


def plain(rest: int, label_smoothing: float) -> bool:
    """Whether each row has one label and only the target class has a target."""
    return rest == 1 and label_smoothing == 0.0


@njit(error_model="numpy", fastmath={"reassoc", "contract"}, **INNER)
def norm_of(row, peak, one):
    """Logarithm of the sum of exponentials relative to the largest score, whose own term is exactly 1."""
    # log1p adds the 1 of the largest score, hence `ties` starts at -1: a loss near 0 keeps its digits.
    others, ties = one - one, -one
    for c in range(row.size):
        e = exp_of_negative(row[c] - peak)
        others += one - one if row[c] == peak else e
        ties += one if row[c] == peak else one - one
    return math.log1p(others + ties)


@tuned("softmax_with_loss", "softmax_with_loss_moments", items=tile_count, when=one_label, work=numbers, least=MIN_WORK)
@compiled
def softmax_with_loss_moments(first, last, peak, norm, x):
    N, C = x.shape[:2]
    parts, scores, one = min(N, MAX_TILES), x.ravel(), x.dtype.type(1)
    # Two passes over a row, which stays in the cache: its maximum, then the sum relative to it.
    for n in range(N * first // parts, N * last // parts):
        row = scores[n * C : n * C + C]
        best = row[0]
        for c in range(C):
            best = maximum(best, row[c])
        peak[n, 0], norm[n, 0] = best, norm_of(row, best, one)


@tuned(
    "softmax_with_loss",
    "softmax_with_loss_dx",
    items=tile_count,
    when=plain,
    work=numbers,
    least=MIN_WORK,
    in_place=True,
)
@compiled
def softmax_with_loss_dx(first, last, dx, dloss, x, label, weight, peak, norm, ignore_label, accumulate):
    N, C = x.shape[:2]
    parts, scores, target, zero = min(N, MAX_TILES), x.ravel(), dx.ravel(), x.dtype.type(0)
    for n in range(N * first // parts, N * last // parts):
        row, into, right = scores[n * C : n * C + C], target[n * C : n * C + C], label[n, 0]
        factor = dloss[n, 0] if weight is None else dloss[n, 0] * weight[n, 0]
        ignored = False if ignore_label is None else right == ignore_label
        if ignored:
            for c in range(0 if accumulate else C):
                into[c] = zero
            continue
        there = 0 <= right < C
        # Computed before the loop and stored after it: in place, the loop overwrites the score. No test per element
        # either, which with the exponential without overflow made the layer 1.2 to 2.5 times as fast.
        own = into[right] if there and accumulate else zero
        if there:  # probability minus 1, without cancellation where the probability is close to 1
            own += factor * math.expm1(row[right] - peak[n, 0] - norm[n, 0])
        if accumulate:
            for c in range(C):
                into[c] += factor * exp_of_negative(row[c] - peak[n, 0] - norm[n, 0])
        else:
            # One array, so that the loop is vectorized; with two, it would not be where both are the same memory.
            if into.ctypes.data != row.ctypes.data:
                copy_run(into.ctypes.data, row.ctypes.data, C, x.itemsize, x.dtype.type(1))
            for c in range(C):
                into[c] = factor * exp_of_negative(into[c] - peak[n, 0] - norm[n, 0])
        if there:
            into[right] = own
