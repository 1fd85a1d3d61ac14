"""Batch normalization (`batch_norm`) and local response normalization (`lrn`).

Batch normalization sums over samples and pixels per channel; `lrn` works on blocks of pixels.

Rows without pixels are processed as a whole, since adjacent elements belong to different channels. Sums may be taken in
any order that lets the compiler vectorize; the order is fixed once compiled.
"""

from __future__ import annotations

import math

import numpy as np

from paddle_layers.kernels.constants import MAX_TILES
from paddle_layers.kernels.primitives.compile_options import compiled, inlined, reordered
from paddle_layers.kernels.primitives.elementary import exp, log
from paddle_layers.kernels.primitives.scratch import part as memory_of
from paddle_layers.kernels.primitives.vector_functions import copy, total
from paddle_layers.kernels.tuned import tuned

MIN_WORK = 1 << 17
"""Minimum number of elements for the tuned kernel; below it, the gain does not repay the compile time."""
# Without pixels the point function reads columns with a stride of a whole row, so that the tuned kernel pays earlier.
MIN_ROWS_WORK = 1 << 15
"""The same for rows without pixels."""


def numbers(N: int, C: int, rest: int) -> int:
    """Number of elements of the input."""
    return N * C * rest


def channel_tiles(C: int) -> int:
    """Number of channel tiles; depends on the shape only."""
    return min(C, MAX_TILES)


def tile_count(N: int) -> int:
    """Number of row tiles; depends on the shape only."""
    return min(N, MAX_TILES)


def by_the_batch(use_global_stats: bool | None, training: bool) -> bool:
    """Whether mean and variance are those of the batch."""
    return training if use_global_stats is None else not use_global_stats


@reordered
def moments(values, other, centre, zero):
    """Dot product of a vector with `other - centre`."""
    result = zero
    for i in range(values.size):
        result += values[i] * (other[i] - centre)
    return result


@reordered
def squares(values, centre, zero):
    """Sum of the squared distances to `centre`."""
    result = zero
    for i in range(values.size):
        result += (values[i] - centre) * (values[i] - centre)
    return result


@compiled
def add_up(sums, values, low, high):
    """Sums of the channels `low` to `high` of rows, channels and pixels; row by row where there are no pixels."""
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


@tuned("batch_norm", "batch_norm_moments", items=channel_tiles, work=numbers, least=MIN_WORK, when=by_the_batch)
@compiled
def batch_norm_moments(
    first, last, mean, var, scale, count, x, running_mean, running_var, epsilon, use_global_stats, training
):  # fmt: skip
    N, C, pixels = x.shape
    parts, one = min(C, MAX_TILES), x.dtype.type(1)
    zero, size = one - one, x.dtype.type(N * pixels)
    for part in range(first, last):
        low, high = C * part // parts, C * (part + 1) // parts
        # An empty batch has no moments: the running averages keep 0 / 0 out of the output.
        if N == 0 or (use_global_stats is None and not training):
            copy(mean[low:high], running_mean[low:high])
            copy(var[low:high], running_var[low:high])
        else:
            add_up(mean, x, low, high)
            for c in range(low, high):
                mean[c] /= size
            # Two passes: E[x**2] - E[x]**2 would cancel where the mean is large compared to the deviation.
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
                var[c] /= size
        for c in range(low, high):
            scale[c] = one / math.sqrt(var[c] + epsilon)
            count[c] = size


@tuned("batch_norm", "batch_norm_sums", items=channel_tiles, work=numbers, least=MIN_WORK)
@compiled
def batch_norm_sums(first, last, a, b, whole_a, whole_b, dy, x, mean, scale):
    N, C, pixels = x.shape
    parts, zero = min(C, MAX_TILES), x.dtype.type(0)
    for part in range(first, last):
        low, high = C * part // parts, C * (part + 1) // parts
        add_up(a, dy, low, high)
        b[low:high] = zero
        for n in range(N):
            if pixels == 1:
                row, delta, centre, into = x[n, low:high, 0], dy[n, low:high, 0], mean[low:high], b[low:high]
                for c in range(high - low):
                    into[c] += delta[c] * (row[c] - centre[c])
            else:
                for c in range(low, high):
                    # Centered before the product, for the same reason.
                    b[c] += moments(dy[n, c], x[n, c], mean[c], zero)
        for c in range(low, high):
            b[c] *= scale[c]
            # In distributed training the sums of all processes replace `whole_a` and `whole_b` before the input
            # gradient.
            whole_a[c], whole_b[c] = a[c], b[c]


@tuned("batch_norm", "batch_norm_bias_gradient", items=channel_tiles, work=numbers, least=MIN_WORK)
@compiled
def batch_norm_bias_gradient(first, last, dbias, dy, accumulate):
    N, C, pixels = dy.shape
    parts, zero = min(C, MAX_TILES), dy.dtype.type(0)
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


# ---- rows without pixels: adjacent elements belong to different channels, so a whole row is processed at once


def row_numbers(N: int, C: int, rest: int) -> int:
    """Number of elements of rows without pixels; 0 with pixels, where the point functions are fast enough."""
    return N * C if rest == 1 else 0


def plain(rest: int) -> bool:
    """Whether rows have no pixels."""
    return rest == 1


def uncorrected(rest: int, r_max: float | None, d_max: float | None) -> bool:
    """Whether rows have no pixels and there is no renormalization."""
    return rest == 1 and r_max is None and d_max is None


@tuned("batch_norm", "batch_norm_y", items=tile_count, work=row_numbers, least=MIN_ROWS_WORK, when=uncorrected)
@compiled
def batch_norm_y(first, last, y, x, mean, scale, gain):
    N, C = x.shape[0], x.shape[1]
    parts, values, target = min(N, MAX_TILES), x.ravel(), y.ravel()
    for n in range(N * first // parts, N * last // parts):
        row, result = values[n * C : n * C + C], target[n * C : n * C + C]
        for c in range(C):
            result[c] = (row[c] - mean[c]) * scale[c] * gain[c]


@tuned("batch_norm", "batch_norm_bias", items=tile_count, work=row_numbers, least=MIN_ROWS_WORK, when=plain)
@compiled
def batch_norm_bias(first, last, y, bias):
    N, C = y.shape[0], y.shape[1]
    parts, target = min(N, MAX_TILES), y.ravel()
    for n in range(N * first // parts, N * last // parts):
        result = target[n * C : n * C + C]
        for c in range(C):
            result[c] += bias[c]


@tuned("batch_norm", "batch_norm_dx", items=tile_count, work=row_numbers, least=MIN_ROWS_WORK, when=uncorrected)
@compiled
def batch_norm_dx(
    first, last, dx, dy, x, mean, scale, count, gain, whole_a, whole_b, accumulate, use_global_stats, training
):  # fmt: skip
    N, C = x.shape[0], x.shape[1]
    parts, one, zero = min(N, MAX_TILES), x.dtype.type(1), x.dtype.type(0)
    fixed = use_global_stats or (use_global_stats is None and not training)
    share = zero if fixed or N == 0 else one / count[0]
    values, deltas, target = x.ravel(), dy.ravel(), dx.ravel()
    for n in range(N * first // parts, N * last // parts):
        row, delta, result = values[n * C : n * C + C], deltas[n * C : n * C + C], target[n * C : n * C + C]
        if not accumulate:
            result[:] = zero
        for c in range(C):
            mean_part = (whole_a[c] + (row[c] - mean[c]) * scale[c] * whole_b[c]) * share
            result[c] += gain[c] * scale[c] * (delta[c] - mean_part)


# ---- lrn: blocks of contiguous pixels, channel by channel

# Channels of a pixel are far apart. Blocks of whole cache lines (128 float32 are 8 of them) use every loaded line, and
# 128 x 512 channels are 256 KiB.
PIXELS = 128
"""Pixels of a block: a block of all channels fits into the L2 cache."""


def across_channels(region: str) -> bool:
    """Whether neighborhoods are channels at the same pixel."""
    return region == "ACROSS_CHANNELS"


def window_work(N: int, C: int, H: int, W: int, size: int) -> int:
    """Number of elements of all neighborhoods."""
    return N * C * H * W * size


def pixel_tiles(N: int, H: int, W: int) -> int:
    """Number of tiles of the pixel blocks; depends on the shape only."""
    return min(N * -(-H * W // PIXELS), MAX_TILES)


def shares_of_channels(C: int) -> int:
    """Scratch elements of a block of all channels."""
    return C * PIXELS


@tuned("lrn", "lrn_y", items=pixel_tiles, work=window_work, least=MIN_WORK, when=across_channels)
@compiled
def lrn_y(first, last, y, x, base, power):
    parts = min(x.shape[0] * ((x.shape[2] * x.shape[3] + PIXELS - 1) // PIXELS), MAX_TILES)
    values, under, result = x.ravel(), base.ravel(), y.ravel()
    begin = x.size * first // parts
    for i in range(x.size * last // parts - begin):
        at = np.uint64(begin + i)
        # The base is positive: a power by exp and log is vectorized, unlike `pow`.
        result[at] = values[at] * exp(-power * log(under[at]))


@tuned(
    "lrn",
    "lrn_dx",
    items=pixel_tiles,
    work=window_work,
    least=MIN_WORK,
    when=across_channels,
    scratch=shares_of_channels,
)
@compiled
def lrn_dx(first, last, dx, dy, x, y, base, scratch, size, scale, power, accumulate):
    N, C, area = x.shape[0], x.shape[1], x.shape[2] * x.shape[3]
    # The gradient's neighborhood is the mirror image of the output's: they differ where the size is even.
    blocks, after = (area + PIXELS - 1) // PIXELS, size // 2
    parts, two = min(N * blocks, MAX_TILES), x.dtype.type(2)
    values, deltas, results, under, target = x.ravel(), dy.ravel(), y.ravel(), base.ravel(), dx.ravel()
    weight, count = two * scale * power, x.dtype.type(size)
    for item in range(first, last):
        shares = memory_of(scratch, item, parts)
        for block in range(N * blocks * item // parts, N * blocks * (item + 1) // parts):
            at = block // blocks * C * area + block % blocks * PIXELS
            width = min(PIXELS, area - block % blocks * PIXELS)
            for c in range(C):
                to = at + c * area
                for i in range(width):
                    place = np.uint64(to + i)
                    shares[np.uint64(c * PIXELS + i)] = deltas[place] * results[place] / under[place]
            for c in range(C):
                to, low, high = at + c * area, max(0, c - after), min(C, c - after + size)
                # The size of AlexNet and GoogLeNet, unrolled: with a loop over neighbors inside, that over pixels is
                # not vectorized.
                if size == 5 and high - low == 5:
                    add_five(target, to, shares, low, width, deltas, values, under, power, weight / count, accumulate)
                    continue
                for i in range(width):
                    place, added = np.uint64(to + i), shares[np.uint64(low * PIXELS + i)]
                    for d in range(low + 1, high):
                        added += shares[np.uint64(d * PIXELS + i)]
                    found = deltas[place] * exp(-power * log(under[place])) - weight * values[place] * (added / count)
                    target[place] = target[place] + found if accumulate else found


@inlined
def add_five(target, to, shares, low, width, deltas, values, under, power, weight, accumulate):
    """Gradient of a channel with all five neighbors inside."""
    for i in range(width):
        at, place = low * PIXELS + i, np.uint64(to + i)
        added = shares[np.uint64(at)] + shares[np.uint64(at + PIXELS)] + shares[np.uint64(at + 2 * PIXELS)]
        added += shares[np.uint64(at + 3 * PIXELS)] + shares[np.uint64(at + 4 * PIXELS)]
        found = deltas[place] * exp(-power * log(under[place])) - weight * values[place] * added
        target[place] = target[place] + found if accumulate else found
