"""Rotary position embedding (`rotary_position`): the angles of a step are computed once for all of its heads."""

from __future__ import annotations

import math

import numpy as np

from paddle_layers.kernels.constants import MAX_TILES
from paddle_layers.kernels.primitives.compile_options import compiled
from paddle_layers.kernels.primitives.scratch import part
from paddle_layers.kernels.tuned import tuned

MIN_WORK = 1 << 14
"""Minimum number of elements for the tuned kernel; below it, the gain does not repay the compile time."""


def tiles(T: int) -> int:
    """Runs of rows, which are work items; depends on the shape only."""
    return min(T, MAX_TILES)


def elements(T: int, C: int) -> int:
    """Number of elements of the result."""
    return T * C


def angles(T: int, C: int, num_heads: int) -> int:
    """Scratch elements of an item: cosines and sines of the pairs of a head, for each of its rows."""
    return -(-T // MAX_TILES) * (C // num_heads)


def of_halves(pairs: str) -> bool:
    """Whether a pair is a column of the first half of a head and one of the second."""
    return pairs == "HALVES"


@compiled
def compute_angles(table, low, high, begin, starts, base, sign):
    """Cosines, and sines times `sign`, of the rows `low` to `high`, with the rounding of the point function."""
    pairs = table.shape[1] // 2
    for pair in range(pairs):
        # A power per pair and not per element: it takes longer than the rotation of a head.
        frequency = np.float64(base) ** (-2.0 * pair / (2 * pairs))
        s = np.searchsorted(starts, low, side="right") - 1
        for t in range(low, high):
            while t >= starts[s + 1]:
                s += 1
            place = t - starts[s]
            if begin is not None:
                place += begin[s]
            angle = np.float64(place) * frequency
            table[t - low, pair] = math.cos(angle)
            table[t - low, pairs + pair] = sign * math.sin(angle)


@compiled
def rotate(first, last, y, x, begin, S_start, num_heads, base, neighbours, sign, accumulate, scratch):
    """Rotates the pairs of some rows; the inverse for the `sign` -1."""
    T, C = x.shape
    width, count = C // num_heads, min(T, MAX_TILES)
    pairs, apart = width // 2, 1 if neighbours else width // 2
    for item in range(first, last):
        low, high = T * item // count, T * (item + 1) // count
        table = part(scratch, item, count)[: (high - low) * width].reshape((high - low, width))
        compute_angles(table, low, high, begin, S_start, base, sign)
        for t in range(low, high):
            cosine, sine = table[t - low][:pairs], table[t - low][pairs:]
            for left in range(0, C, width):
                step = 2 if neighbours else 1
                us, vs = x[t][left : left + width], x[t][left + apart : left + width]
                into, other = y[t][left : left + width], y[t][left + apart : left + width]
                for pair in range(pairs):
                    at = pair * step
                    u, v = us[at], vs[at]
                    turned, moved = u * cosine[pair] + -v * sine[pair], v * cosine[pair] + u * sine[pair]
                    if accumulate:
                        into[at] += turned
                        other[at] += moved
                    else:
                        into[at] = turned
                        other[at] = moved


# Registered for both pairings, so that the stride between columns is a constant.
for neighbours, when in ((0, of_halves), (1, lambda pairs: not of_halves(pairs))):
    given = {"begin": "first", "neighbours": str(neighbours)}
    for function, arguments in (
        ("rotary_position_y", {**given, "sign": "1"}),
        ("rotary_position_dx", {**given, "y": "dx", "x": "dy", "sign": "-1"}),
    ):
        tuned(
            "rotary_position", function, items=tiles, work=elements, least=MIN_WORK, when=when, scratch=angles,
            arguments=arguments,
        )(rotate)  # fmt: skip
