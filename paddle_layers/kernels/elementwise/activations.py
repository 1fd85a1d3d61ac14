"""Softmax: a row, or the channels of a block of pixels, stays in the cache from the maximum to the probabilities."""

from __future__ import annotations

from paddle_layers.kernels.constants import MAX_TILES
from paddle_layers.kernels.primitives.compile_options import compiled, reordered
from paddle_layers.kernels.primitives.elementary import exp, maximum
from paddle_layers.kernels.primitives.scratch import part
from paddle_layers.kernels.primitives.vector_functions import add_product, add_to, copy, multiply_by, total
from paddle_layers.kernels.tuned import tuned

MIN_WORK = 1 << 15
"""Minimum number of elements for the tuned kernel; below it, the gain does not repay the compile time."""
# 1 KiB of float32 per vector: the three vectors of a block and the channel in work stay in the L1 cache.
PIXELS = 256
"""Pixels whose channels are computed together."""


def tile_count(N: int) -> int:
    """Number of row tiles; depends on the shape only."""
    return min(N, MAX_TILES)


def numbers(N: int, C: int) -> int:
    """Number of elements of the rows."""
    return N * C


def all_numbers(N: int, C: int, rest: int) -> int:
    """Number of elements of the images."""
    return N * C * rest


def plain(rest: int) -> bool:
    """Whether rows have no pixels."""
    return rest == 1


def channels(rest: int) -> bool:
    """Number of channels of the images."""
    return rest > 1


def block_tiles(N: int, rest: int) -> int:
    """Number of tiles of the pixel blocks; depends on the shape only."""
    return min(N * -(-rest // PIXELS), MAX_TILES)


def of_row(C: int) -> int:
    """Scratch elements: the exponentials of a row."""
    return C


def of_block() -> int:
    """Scratch elements: three values per pixel of a block."""
    return 3 * PIXELS


@reordered
def dot(left, right, zero):
    """Dot product of two vectors."""
    result = zero
    for c in range(left.size):
        result += left[c] * right[c]
    return result


@tuned(
    "softmax", "softmax_y", items=tile_count, work=numbers, least=MIN_WORK, when=plain, scratch=of_row, in_place=True
)  # fmt: skip
@compiled
def softmax_y(first, last, y, x, scratch):
    N, C = x.shape[0], x.shape[1]
    parts, values, result = min(N, MAX_TILES), x.ravel(), y.ravel()
    zero, one = x.dtype.type(0), x.dtype.type(1)
    for item in range(first, last):
        found = part(scratch, item, parts)  # the result may alias the scores, so this copy is not vectorized
        for n in range(N * item // parts, N * (item + 1) // parts):
            row, into = values[n * C : n * C + C], result[n * C : n * C + C]
            peak = row[0]
            # The largest score is subtracted: no exponential overflows, and one of them is 1, so that the sum is never
            # 0.
            for c in range(C):
                peak = maximum(peak, row[c])
            for c in range(C):
                found[c] = exp(row[c] - peak)
            # One division per row; its elements are multiplied.
            share = one / total(found, zero)
            for c in range(C):
                into[c] = found[c] * share


@tuned("softmax", "softmax_dx", items=tile_count, work=numbers, least=MIN_WORK, when=plain)
@compiled
def softmax_dx(first, last, dx, y, dy, accumulate):
    N, C = y.shape[0], y.shape[1]
    parts, values, deltas, target = min(N, MAX_TILES), y.ravel(), dy.ravel(), dx.ravel()
    zero = y.dtype.type(0)
    for n in range(N * first // parts, N * last // parts):
        row, delta, into = values[n * C : n * C + C], deltas[n * C : n * C + C], target[n * C : n * C + C]
        # The Jacobian of softmax needs only its output, so that the scores need not be kept for the backward pass.
        mean = dot(row, delta, zero)
        for c in range(C):
            found = row[c] * (delta[c] - mean)
            into[c] = into[c] + found if accumulate else found


@tuned(
    "softmax", "softmax_y", items=block_tiles, work=all_numbers, least=MIN_WORK, when=channels, scratch=of_block,
    in_place=True,
)  # fmt: skip
@compiled
def softmax_of_channels(first, last, y, x, scratch):
    N, C, rest = x.shape
    values, result, one = x.ravel(), y.ravel(), x.dtype.type(1)
    blocks = (rest + PIXELS - 1) // PIXELS
    parts = min(N * blocks, MAX_TILES)
    for item in range(first, last):
        memory = part(scratch, item, parts)
        for block in range(N * blocks * item // parts, N * blocks * (item + 1) // parts):
            at = block // blocks * C * rest + block % blocks * PIXELS
            width = min(PIXELS, rest - block % blocks * PIXELS)
            # Channels of a pixel are `rest` elements apart, so that loops run over adjacent pixels, channel after
            # channel.
            peaks, shares, row = memory[:width], memory[width : 2 * width], memory[2 * width : 3 * width]
            copy(peaks, values[at : at + width])
            for c in range(1, C):
                raise_to(peaks, values[at + c * rest : at + c * rest + width])
            shares[:] = 0
            # Each exponential is computed once, for the sum and for the result: 669 to 485 us for 64x20x24x24 values on
            # one core of an AMD EPYC with AVX-512.
            for c in range(C):
                begin, end = at + c * rest, at + c * rest + width
                exponentials(row, values[begin:end], peaks)
                add_to(shares, row)
                copy(result[begin:end], row)  # which may alias the values
            for i in range(width):
                shares[i] = one / shares[i]
            for c in range(C):
                multiply_by(result[at + c * rest : at + c * rest + width], shares)


@compiled
def raise_to(peaks, values):
    """Elementwise maximum."""
    for i in range(peaks.size):
        peaks[i] = maximum(peaks[i], values[i])


@compiled
def exponentials(result, values, peaks):
    """Exponentials of the differences to the maxima."""
    for i in range(result.size):
        result[i] = exp(values[i] - peaks[i])


@tuned("softmax", "softmax_dx", items=block_tiles, work=all_numbers, least=MIN_WORK, when=channels, scratch=of_block)
@compiled
def softmax_of_channels_dx(first, last, dx, y, dy, scratch, accumulate):
    N, C, rest = y.shape
    values, deltas, target = y.ravel(), dy.ravel(), dx.ravel()
    blocks = (rest + PIXELS - 1) // PIXELS
    parts = min(N * blocks, MAX_TILES)
    for item in range(first, last):
        memory = part(scratch, item, parts)
        for block in range(N * blocks * item // parts, N * blocks * (item + 1) // parts):
            at = block // blocks * C * rest + block % blocks * PIXELS
            width = min(PIXELS, rest - block % blocks * PIXELS)
            means = memory[:width]
            means[:] = 0
            # Both loops over channels read the block, the second one from the cache: 221 to 194 us, measured as above.
            for c in range(C):
                begin, end = at + c * rest, at + c * rest + width
                add_product(means, values[begin:end], deltas[begin:end])
            for c in range(C):
                begin, end = at + c * rest, at + c * rest + width
                row, delta, into = values[begin:end], deltas[begin:end], target[begin:end]
                for i in range(width):
                    found = row[i] * (delta[i] - means[i])
                    into[i] = into[i] + found if accumulate else found
