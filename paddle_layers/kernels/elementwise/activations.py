"""softmax: a row, or the channels of some pixels, stay in the cache from the largest score to the last probability."""

from __future__ import annotations

from paddle_layers.kernels.primitives.compiling import compiled, reordered
from paddle_layers.kernels.primitives.elementary import exp, maximum
from paddle_layers.kernels.primitives.scratch import part
from paddle_layers.kernels.primitives.vectors import add_product, add_to, copy, multiply_by, total
from paddle_layers.kernels.tuned import tuned

WORTH_IT = 1 << 15
"""Numbers below which the point function stays: what a step gains does not pay the compiler."""
SLICES = 8
PIXELS = 256
"""Neighbours whose channels are computed side by side."""


def slices(N: int) -> int:
    """Slices of the rows; by shape only."""
    return min(N, SLICES)


def numbers(N: int, C: int) -> int:
    """Numbers of rows."""
    return N * C


def all_numbers(N: int, C: int, rest: int) -> int:
    """Numbers of images."""
    return N * C * rest


def plain(rest: int) -> bool:
    """Rows without pixels."""
    return rest == 1


def channels(rest: int) -> bool:
    """Channels of images."""
    return rest > 1


def block_slices(N: int, rest: int) -> int:
    """Slices of the blocks of pixels; by shape only."""
    return min(N * -(-rest // PIXELS), SLICES)


def of_row(C: int) -> int:
    """Scratch memory: exponentials of a row."""
    return C


def of_block() -> int:
    """Scratch memory: three numbers for each pixel of a block."""
    return 3 * PIXELS


@reordered
def dot(left, right, zero):
    """Sum of the products of two vectors."""
    result = zero
    for c in range(left.size):
        result += left[c] * right[c]
    return result


@tuned(
    "softmax", "softmax_y", items=slices, work=numbers, least=WORTH_IT, when=plain, scratch=of_row, in_place=True
)  # fmt: skip
@compiled
def softmax_y(first, last, y, x, scratch):
    N, C = x.shape[0], x.shape[1]
    parts, values, result = min(N, SLICES), x.ravel(), y.ravel()
    zero, one = x.dtype.type(0), x.dtype.type(1)
    for item in range(first, last):
        found = part(scratch, item, parts)  # the result may lie where the scores lie: no vectors from there to there
        for n in range(N * item // parts, N * (item + 1) // parts):
            row, into = values[n * C : n * C + C], result[n * C : n * C + C]
            peak = row[0]
            for c in range(C):
                peak = maximum(peak, row[c])
            for c in range(C):
                found[c] = exp(row[c] - peak)
            share = one / total(found, zero)
            for c in range(C):
                into[c] = found[c] * share


@tuned("softmax", "softmax_dx", items=slices, work=numbers, least=WORTH_IT, when=plain)
@compiled
def softmax_dx(first, last, dx, y, dy, accumulate):
    N, C = y.shape[0], y.shape[1]
    parts, values, deltas, target = min(N, SLICES), y.ravel(), dy.ravel(), dx.ravel()
    zero = y.dtype.type(0)
    for n in range(N * first // parts, N * last // parts):
        row, delta, into = values[n * C : n * C + C], deltas[n * C : n * C + C], target[n * C : n * C + C]
        mean = dot(row, delta, zero)
        for c in range(C):
            found = row[c] * (delta[c] - mean)
            into[c] = into[c] + found if accumulate else found


@tuned(
    "softmax", "softmax_y", items=block_slices, work=all_numbers, least=WORTH_IT, when=channels, scratch=of_block,
    in_place=True,
)  # fmt: skip
@compiled
def softmax_of_channels(first, last, y, x, scratch):
    N, C, rest = x.shape
    values, result, one = x.ravel(), y.ravel(), x.dtype.type(1)
    blocks = (rest + PIXELS - 1) // PIXELS
    parts = min(N * blocks, SLICES)
    for item in range(first, last):
        memory = part(scratch, item, parts)
        for block in range(N * blocks * item // parts, N * blocks * (item + 1) // parts):
            at = block // blocks * C * rest + block % blocks * PIXELS
            width = min(PIXELS, rest - block % blocks * PIXELS)
            peaks, shares, row = memory[:width], memory[width : 2 * width], memory[2 * width : 3 * width]
            copy(peaks, values[at : at + width])
            for c in range(1, C):
                raise_to(peaks, values[at + c * rest : at + c * rest + width])
            shares[:] = 0
            for c in range(C):
                begin, end = at + c * rest, at + c * rest + width
                exponentials(row, values[begin:end], peaks)
                add_to(shares, row)
                copy(result[begin:end], row)  # which may lie where the values lie
            for i in range(width):
                shares[i] = one / shares[i]
            for c in range(C):
                multiply_by(result[at + c * rest : at + c * rest + width], shares)


@compiled
def raise_to(peaks, values):
    """The larger one of each pair."""
    for i in range(peaks.size):
        peaks[i] = maximum(peaks[i], values[i])


@compiled
def exponentials(result, values, peaks):
    """Exponentials of the distances from the peaks."""
    for i in range(result.size):
        result[i] = exp(values[i] - peaks[i])


@tuned("softmax", "softmax_dx", items=block_slices, work=all_numbers, least=WORTH_IT, when=channels, scratch=of_block)
@compiled
def softmax_of_channels_dx(first, last, dx, y, dy, scratch, accumulate):
    N, C, rest = y.shape
    values, deltas, target = y.ravel(), dy.ravel(), dx.ravel()
    blocks = (rest + PIXELS - 1) // PIXELS
    parts = min(N * blocks, SLICES)
    for item in range(first, last):
        memory = part(scratch, item, parts)
        for block in range(N * blocks * item // parts, N * blocks * (item + 1) // parts):
            at = block // blocks * C * rest + block % blocks * PIXELS
            width = min(PIXELS, rest - block % blocks * PIXELS)
            means = memory[:width]
            means[:] = 0
            for c in range(C):
                begin, end = at + c * rest, at + c * rest + width
                add_product(means, values[begin:end], deltas[begin:end])
            for c in range(C):
                begin, end = at + c * rest, at + c * rest + width
                row, delta, into = values[begin:end], deltas[begin:end], target[begin:end]
                for i in range(width):
                    found = row[i] * (delta[i] - means[i])
                    into[i] = into[i] + found if accumulate else found
