"""Top-k selection (`top_k`) in one pass: the sorted best values so far; any other value costs one comparison."""

from __future__ import annotations

import math

from paddle_layers.kernels.primitives.compile_options import compiled, inlined
from paddle_layers.kernels.tuned import tuned

MIN_WORK = 1 << 13
"""Minimum number of comparisons of the point function for the tuned kernel."""


def rows(N: int) -> int:
    """Work items: one per row."""
    return N


def comparisons(N: int, C: int, B: int) -> int:
    """Operations of k passes along one axis of each row."""
    return N * C * B


@inlined
def is_ahead(v, best, largest):
    """Whether a value comes before another one; neither is NaN."""
    return v > best if largest else v < best


@tuned("top_k", "top_k_places", items=rows, work=comparisons, least=MIN_WORK)
@compiled
def top_k_places(first, last, places, x, largest):
    most = places.shape[1]
    for n in range(first, last):
        for i in range(x.shape[2]):
            count, broken, worst = 0, False, x[n, 0, i]
            for c in range(x.shape[1]):
                v = x[n, c, i]
                broken = broken or math.isnan(v)
                # Most values fail this comparison with the worst of the best, and cost nothing else.
                if count == most and not is_ahead(v, worst, largest):
                    continue
                at = min(count, most - 1)
                # Insertion sort. The comparison is strict, so that the first of equal values stays first.
                while at > 0 and is_ahead(v, x[n, int(places[n, at - 1, i]), i], largest):
                    places[n, at, i] = places[n, at - 1, i]
                    at -= 1
                places[n, at, i] = c
                count = min(count + 1, most)
                worst = x[n, int(places[n, count - 1, i]), i]
            # Values without an order have no best ones: indices are NaN if any value is.
            for b in range(most if broken else 0):
                places[n, b, i] = math.nan
