"""Products with the matrix of an image's windows, against sums over the windows."""

import numpy as np
import pytest

from paddle_layers.kernels.constants import MAX_CHUNKS
from paddle_layers.kernels.images import im2col_conv
from paddle_layers.kernels.primitives.microkernels import ENTRY
from paddle_layers.kernels.primitives.plane_codegen import MASKS
from tests.kernels.helpers import conv_problem, from_python
from tests.selection import COMPILER, files_of, later_unless_changed

pytestmark = later_unless_changed(__file__, *COMPILER, *files_of("conv"))

FORWARD, BACK = map(from_python, (im2col_conv.correlate_windows, im2col_conv.correlate_windows_back))
ROWS, CHANNELS, FILTERS, SIZES = MAX_CHUNKS + 1, 3, 5, (4, 3)
"""One image more than pieces: one of these has two."""


@pytest.mark.parametrize(("H", "W"), [(7, 8), (9, 21)])  # a vector and a part of one, several
def test_products_give_the_sums_over_windows_and_their_gradients(H, W):
    rng = np.random.default_rng(6)
    x, before = rng.standard_normal((2, ROWS, CHANNELS, H, W))
    weight = rng.standard_normal((FILTERS, CHANNELS, *SIZES))
    dy = rng.standard_normal((ROWS, FILTERS, H - SIZES[0] + 1, W - SIZES[1] + 1))
    windows = np.lib.stride_tricks.sliding_window_view(x, SIZES, axis=(2, 3))
    P, Q = dy.shape[2:]
    scratch = np.zeros(MAX_CHUNKS * (ENTRY + CHANNELS * SIZES[0] * SIZES[1] * P * Q))

    y = np.full(dy.shape, np.nan)
    FORWARD(0, ROWS, y, x, weight, scratch)
    np.testing.assert_allclose(y, np.einsum("ncpqab,kcab->nkpq", windows, weight), atol=1e-12)

    expected = np.zeros_like(x)
    for a, b in np.ndindex(SIZES):
        expected[:, :, a : a + P, b : b + Q] += np.einsum("nkpq,kc->ncpq", dy, weight[:, :, a, b])
    for accumulate in (False, True):
        dx = before.copy()
        BACK(0, ROWS, dx, dy, weight, accumulate, scratch)
        np.testing.assert_allclose(dx, expected + (before if accumulate else 0), atol=1e-12)


@pytest.mark.skipif(not MASKS, reason="this machine's loads have no masks: other kernels run")
@pytest.mark.parametrize(
    ("change", "forward", "back"),
    [
        ({}, True, True),  # LeNet's second convolution
        ({"ahead": (0, 0, 2), "Q": 10}, False, False),
        ({"A": 7, "B": 7, "P": 6, "Q": 6}, True, True),
        ({"A": 7, "B": 7, "P": 6}, False, False),  # padding at the end only: windows exceed the image
        ({"A": 7, "B": 7, "Q": 6}, False, False),
        ({"N": 1}, False, False),
        ({"K": 16}, False, False),
        ({"W": 36, "Q": 32}, False, False),  # long rows fill vectors
    ],
)
def test_small_images_without_padding_go_this_way(change, forward, back):
    sizes = {"N": 64, "K": 50, "H": 12, "W": 12, "P": 8, "Q": 8, "D": 20, "A": 5, "B": 5}
    problem = conv_problem(**{**sizes, **change})
    assert im2col_conv.matrix_pays(problem) == forward
    assert im2col_conv.matrix_pays_back(problem) == back
