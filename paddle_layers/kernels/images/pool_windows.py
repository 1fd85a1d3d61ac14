"""What kernels of pooling share: which windows lie in a row, and scratch memory for bands of rows."""

from __future__ import annotations

from numba import njit

WORTH_IT = 1 << 18
"""Operations below which the point function stays: what a step gains does not pay the compiler."""
SLICES = 8
BAND = 2048
"""Numbers of a band; they stay in the first cache."""
MARGIN = 64
"""Numbers that scratch memory is longer: loops there go on to the end of a vector."""
inlined = njit(error_model="numpy", forceinline=True)


def operations(N: int, C: int, P: int, Q: int, pool_size: int | None, pool_size_y: int | None) -> int:
    """Four for each pixel under a window: load, compare, choose, store."""
    return 4 * N * C * P * Q * (pool_size or 1) * (pool_size_y or 1)


def planes(N: int, C: int) -> int:
    """Runs of the result that the slices are made of."""
    return N * C


def slices(N: int, C: int) -> int:
    """Slices of the planes; by shape only."""
    return min(N * C, SLICES)


def two_rows(W: int, Q: int, pool_size: int, stride: int, padding: int) -> int:
    """Scratch memory for two rows, of pixels or of windows, as far as these reach."""
    return 2 * (max(W, Q * stride) + pool_size + 2 * padding + MARGIN)


def three_bands(W: int, pool_size: int, stride: int) -> int:
    """Scratch memory for three bands."""
    return 3 * (BAND + 3 * (W + stride) + pool_size + MARGIN)


@inlined
def bounds(p, step, padding, size, extent):
    """First pixel of window `p` along an axis and the one behind its last."""
    start = p * step - padding
    return max(start, 0), min(start + size, extent)


@inlined
def whole_windows(Q, W, size, step, padding):
    """The first window that lies within a row of `W` pixels, and the one behind the last."""
    first = min(Q, (padding + step - 1) // step)
    return first, max(first, min(Q, (W + padding - size) // step + 1))


@inlined
def across_windows(Q, W, size, step, padding):
    """The windows that are done across; how many fit from a row of a band to the next; rows of a band."""
    first, last = whole_windows(Q, W, size, step, padding)
    if not (2 <= size <= 3 and step <= 2):
        first, last = Q, Q
    pitch = (W + step - 1) // step
    return first, last, pitch, max(1, BAND // (pitch * step))


@inlined
def to_the_vector(count, room):
    """The numbers of whole vectors that hold `count` numbers, if there is so much room: what is behind is not used."""
    return min((count + 15) // 16 * 16, room)
