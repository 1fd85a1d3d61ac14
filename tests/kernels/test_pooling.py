"""Pools by vectors: every pixel may be the first of equal ones, NaN or infinite; means by every divisor."""

import math

import numpy as np
import pytest

from paddle_layers.kernels.images.average_pooling import ANYWHERE, means, means_back
from paddle_layers.kernels.images.pool_reductions import three_bands, two_rows
from paddle_layers.kernels.images.pooling import maximum_dx, small_maximum_y, small_where
from paddle_layers.kernels.primitives.plane_codegen import MASKS
from tests.kernels.helpers import from_python
from tests.selection import COMPILER, files_of, later_unless_changed

pytestmark = later_unless_changed(__file__, *COMPILER, *files_of("pool"))

WHERE, MAXIMUM, MAXIMUM_DX = map(from_python, (small_where, small_maximum_y, maximum_dx))
MEANS, MEANS_BACK = from_python(means), from_python(means_back)


def position_and_maximum(x, top, left, size):
    """Of a window, pixel by pixel."""
    place, best = -1, 0.0
    for h in range(max(0, top), min(len(x), top + size)):
        for w in range(max(0, left), min(x.shape[1], left + size)):
            if place < 0 or x[h, w] > best or (math.isnan(x[h, w]) and not math.isnan(best)):
                place, best = h * x.shape[1] + w, x[h, w]
    return place, best


@pytest.mark.skipif(not MASKS, reason="this machine's loads have no masks: other kernels run")
@pytest.mark.parametrize(
    ("size", "stride", "padding"),
    [*((3, stride, padding) for stride in (1, 2) for padding in (0, 1, 2)), (2, 2, 0)],
)
def test_maxima_of_equal_infinite_and_missing_numbers(size, stride, padding):
    rng = np.random.default_rng(7)
    for H, W in ((9, 40), (5, 5), (3, 17)):
        P, Q = ((extent + 2 * padding - size) // stride + 1 for extent in (H, W))
        x = rng.integers(-2, 2, (5, 1, H, W)).astype(np.float32)
        x[1:4][rng.random((3, 1, H, W)) < 0.5] = -np.inf
        x[2:5][rng.random((3, 1, H, W)) < 0.1] = np.nan
        x[3] = -np.inf
        where, y = np.zeros((5, 1, P, Q), np.int64), np.zeros((5, 1, P, Q), np.float32)
        WHERE(0, 5, where, x, size, stride, padding, padding)
        MAXIMUM(0, 5, y, x, size, stride, padding, padding)
        for n, p, q in np.ndindex(5, P, Q):
            place, best = position_and_maximum(x[n, 0], p * stride - padding, q * stride - padding, size)
            assert where[n, 0, p, q] == place
            np.testing.assert_array_equal(y[n, 0, p, q], best)


@pytest.mark.parametrize(("P", "Q"), [(3, 20), (2, 4)])  # a vector and a part of one, a part
def test_gradients_of_windows_side_by_side_go_to_the_largest_pixels(P, Q):
    rng = np.random.default_rng(8)
    dy, dx = rng.standard_normal((2, 2, P, Q)), np.full((2, 2, 2 * P, 2 * Q), np.nan)
    row, column = rng.integers(0, 2, (2, *dy.shape))
    p, q = np.indices(dy.shape)[2:]
    where, expected = (2 * p + row) * 2 * Q + 2 * q + column, np.zeros((4, 4 * P * Q))
    np.put_along_axis(expected, where.reshape(4, -1), dy.reshape(4, -1), axis=1)
    MAXIMUM_DX(0, 4, dx, dy, where, False, 2, 2, 2, 2, 0, 0)
    np.testing.assert_array_equal(dx, expected.reshape(dx.shape))


@pytest.mark.parametrize(("P", "Q"), [(3, 20), (2, 4)])
def test_gradients_of_means_of_windows_side_by_side_are_spread(P, Q):
    dy, dx = np.random.default_rng(9).standard_normal((2, 2, P, Q)), np.full((2, 2, 2 * P, 2 * Q), np.nan)
    scratch = np.zeros(4 * two_rows(2 * Q, Q, 2, 2, 0))
    MEANS_BACK(0, 4, dx, dy, scratch, False, (2, 2, 2, 2, 0, 0), (0, 0), (0, 0))
    np.testing.assert_array_equal(dx, np.kron(dy, np.full((2, 2), 0.25)))


def share(p, stride, padding, size, extent, reach):
    """Pixels of an axis under a window, and how many numbers it counts there."""
    start = p * stride - padding
    pixels = range(max(0, start), min(start + size, extent))
    return pixels, max(1, sum(-reach[0] <= at < extent + reach[1] for at in range(start, start + size)))


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("reach", [(0, 0), (1, 1), (ANYWHERE, ANYWHERE)], ids=["pixels", "padding", "all"])
def test_means_and_their_gradients(size, stride, reach):
    """The windows at the end hang over, even beyond the padding."""
    rng = np.random.default_rng(7)
    H, W, padding = 9, 40, 1
    P, Q = (-(-(extent + 2 * padding - size) // stride) + 1 for extent in (H, W))
    matrix = np.zeros((P, Q, H, W))
    for p, q in np.ndindex(P, Q):
        rows, high = share(p, stride, padding, size, H, reach)
        columns, wide = share(q, stride, padding, size, W, reach)
        matrix[p, q, rows.start : rows.stop, columns.start : columns.stop] = 1 / (high * wide)
    x, dy = rng.normal(size=(2, 3, H, W)), rng.normal(size=(2, 3, P, Q))
    y, dx = np.full((2, 3, P, Q), np.nan), rng.normal(size=(2, 3, H, W))
    window, before = (size, size, stride, stride, padding, padding), dx.copy()
    MEANS(0, 6, y, x, np.zeros(6 * three_bands(W, size, stride)), window, reach, reach)
    scratch = np.zeros(6 * two_rows(W, Q, size, stride, padding))
    MEANS_BACK(0, 6, dx, dy, scratch, True, window, reach, reach)
    np.testing.assert_allclose(y, np.einsum("pqhw,nchw->ncpq", matrix, x), atol=1e-12)
    np.testing.assert_allclose(dx, before + np.einsum("pqhw,ncpq->nchw", matrix, dy), atol=1e-12)
