"""Sums over all rows and pixels of a channel, and what they are for: batch_norm and the gradients of biases.

Sums may be taken in any order that the compiler likes, which lets it use vectors; the order is fixed once compiled.
"""

from __future__ import annotations

import math

from numba import njit

from .tuned import tuned

WORTH_IT = 1 << 17
"""Numbers below which the point function stays: what a step gains does not pay the compiler."""
SLICES = 8


def numbers(N: int, C: int, rest: int) -> int:
    """Numbers in the input."""
    return N * C * rest


def outputs(N: int, K: int, P: int, Q: int) -> int:
    """Numbers in the output of a convolution."""
    return N * K * P * Q


def channel_slices(C: int) -> int:
    """Slices of the channels; by shape only."""
    return min(C, SLICES)


def filter_slices(K: int) -> int:
    """Slices of the filters; by shape only."""
    return min(K, SLICES)


def row_slices(N: int) -> int:
    """Slices of the rows; by shape only."""
    return min(N, SLICES)


def by_the_batch(use_global_stats: bool | None) -> bool:
    """Mean and variance of the batch in training; a plan for the test phase says so by `training`."""
    return not use_global_stats


@njit(error_model="numpy", fastmath={"reassoc"})
def total(values, zero):
    """Sum of a vector."""
    result = zero
    for i in range(values.size):
        result += values[i]
    return result


@njit(error_model="numpy", fastmath={"reassoc"})
def moments(values, other, centre, zero):
    """Sum of a vector's products with `other`'s distance from `centre`."""
    result = zero
    for i in range(values.size):
        result += values[i] * (other[i] - centre)
    return result


@njit(error_model="numpy", fastmath={"reassoc"})
def squares(values, centre, zero):
    """Sum of the squared distances from `centre`."""
    result = zero
    for i in range(values.size):
        result += (values[i] - centre) * (values[i] - centre)
    return result


@njit(error_model="numpy")
def add_up(sums, values, low, high):
    """Sums of the channels `low` to `high` of rows, channels and pixels; row after row where there are no pixels."""
    zero = sums.dtype.type(0)
    sums[low:high] = zero
    for n in range(values.shape[0]):
        if values.shape[2] == 1:
            into, row = sums[low:high], values[n, low:high, 0]
            for c in range(high - low):
                into[c] += row[c]
        else:
            for c in range(low, high):
                sums[c] += total(values[n, c], zero)


@tuned("conv", "conv_bias_gradient", items=filter_slices, work=outputs, least=WORTH_IT)
@njit(error_model="numpy")
def conv_bias_gradient(first, last, dbias, dy, accumulate):
    N, K, P, Q = dy.shape
    parts, zero, slopes = min(K, SLICES), dy.dtype.type(0), dy.ravel()
    for part in range(first, last):
        for k in range(K * part // parts, K * (part + 1) // parts):
            result = dbias[k] if accumulate else zero
            for n in range(N):
                result += total(slopes[(n * K + k) * P * Q : (n * K + k + 1) * P * Q], zero)
            dbias[k] = result


@tuned("batch_norm", "batch_norm_moments", items=channel_slices, work=numbers, least=WORTH_IT, when=by_the_batch)
@njit(error_model="numpy")
def batch_norm_moments(
    first, last, mean, var, scale, x, running_mean, running_var, epsilon, use_global_stats, training
):  # fmt: skip
    N, C, pixels = x.shape
    parts, one = min(C, SLICES), x.dtype.type(1)
    zero, count = one - one, x.dtype.type(N * pixels)
    for part in range(first, last):
        low, high = C * part // parts, C * (part + 1) // parts
        if N == 0 or (use_global_stats is None and not training):
            mean[low:high] = running_mean[low:high]
            var[low:high] = running_var[low:high]
        else:
            add_up(mean, x, low, high)
            for c in range(low, high):
                mean[c] /= count
            var[low:high] = zero
            for n in range(N):
                if pixels == 1:
                    row, centre, into = x[n, low:high, 0], mean[low:high], var[low:high]
                    for c in range(high - low):
                        into[c] += (row[c] - centre[c]) * (row[c] - centre[c])
                else:
                    for c in range(low, high):
                        var[c] += squares(x[n, c], mean[c], zero)
            for c in range(low, high):
                var[c] /= count
        for c in range(low, high):
            scale[c] = one / math.sqrt(var[c] + epsilon)


@tuned("batch_norm", "batch_norm_sums", items=channel_slices, work=numbers, least=WORTH_IT)
@njit(error_model="numpy")
def batch_norm_sums(first, last, a, b, dy, x, mean, scale):
    N, C, pixels = x.shape
    parts, zero = min(C, SLICES), x.dtype.type(0)
    for part in range(first, last):
        low, high = C * part // parts, C * (part + 1) // parts
        add_up(a, dy, low, high)
        b[low:high] = zero
        for n in range(N):
            if pixels == 1:
                row, slope, centre, into = x[n, low:high, 0], dy[n, low:high, 0], mean[low:high], b[low:high]
                for c in range(high - low):
                    into[c] += slope[c] * (row[c] - centre[c])
            else:
                for c in range(low, high):
                    b[c] += moments(dy[n, c], x[n, c], mean[c], zero)
        for c in range(low, high):
            b[c] *= scale[c]


@tuned("batch_norm", "batch_norm_bias_gradient", items=channel_slices, work=numbers, least=WORTH_IT)
@njit(error_model="numpy")
def batch_norm_bias_gradient(first, last, dbias, dy, accumulate):
    N, C, pixels = dy.shape
    parts, zero = min(C, SLICES), dy.dtype.type(0)
    for part in range(first, last):
        low, high = C * part // parts, C * (part + 1) // parts
        if not accumulate:
            dbias[low:high] = zero
        for n in range(N):
            if pixels == 1:
                into, row = dbias[low:high], dy[n, low:high, 0]
                for c in range(high - low):
                    into[c] += row[c]
            else:
                for c in range(low, high):
                    dbias[c] += total(dy[n, c], zero)
