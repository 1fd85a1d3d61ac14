"""Pools of 3x3 windows by masked vectors: every pixel may be the first of equal ones, NaN or infinite."""

import math

import numpy as np
import pytest
from kernel_helpers import from_python

from paddle_layers.kernels.images.poolings import small_maximum_y, small_where
from paddle_layers.kernels.primitives.windows import MASKS

SIZE = 3
WHERE, MAXIMUM = from_python(small_where), from_python(small_maximum_y)


def position_and_maximum(x, top, left):
    """Of a window, pixel by pixel."""
    place, best = -1, 0.0
    for h in range(max(0, top), min(len(x), top + SIZE)):
        for w in range(max(0, left), min(x.shape[1], left + SIZE)):
            if place < 0 or x[h, w] > best or (math.isnan(x[h, w]) and not math.isnan(best)):
                place, best = h * x.shape[1] + w, x[h, w]
    return place, best


@pytest.mark.skipif(not MASKS, reason="this machine's loads have no masks: other kernels run")
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("padding", [0, 1, 2])
def test_maxima_of_equal_infinite_and_missing_numbers(stride, padding):
    rng = np.random.default_rng(7)
    for H, W in ((9, 40), (5, 5), (3, 17)):
        P, Q = ((extent + 2 * padding - SIZE) // stride + 1 for extent in (H, W))
        x = rng.integers(-2, 2, (5, 1, H, W)).astype(np.float32)
        x[1:4][rng.random((3, 1, H, W)) < 0.5] = -np.inf
        x[2:5][rng.random((3, 1, H, W)) < 0.1] = np.nan
        x[3] = -np.inf
        where, y = np.zeros((5, 1, P, Q), np.int64), np.zeros((5, 1, P, Q), np.float32)
        WHERE(0, 5, where, x, stride, padding, padding)
        MAXIMUM(0, 5, y, x, stride, padding, padding)
        for n, p, q in np.ndindex(5, P, Q):
            place, best = position_and_maximum(x[n, 0], p * stride - padding, q * stride - padding)
            assert where[n, 0, p, q] == place
            np.testing.assert_array_equal(y[n, 0, p, q], best)
