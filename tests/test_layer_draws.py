"""`sampling_id`: shares of what is drawn, and draws that depend on seed, step and row only."""

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.testing.engines import as_python

NETWORK = """
layer { name: "x" type: "data" data { shape: 4 } }
layer { name: "y" type: "sampling_id" input: "x" }
"""


def drawn(x, seed=0, phase="train", step=0):
    with pl.Net(pl.loads(NETWORK), dtype="float64", seed=seed) as net:
        return net.forward({"x": x}, phase=phase, step=step)["y"].copy()


@pytest.mark.parametrize("row", [[0.1, 0.0, 0.6, 0.3], [2.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]])
def test_ids_are_drawn_with_the_probabilities_of_their_row(row):
    shares = np.array(row) / np.sum(row)
    ids = as_python(lambda: drawn(np.tile(row, (4000, 1))))
    np.testing.assert_allclose(np.bincount(ids, minlength=4) / 4000, shares, atol=0.03)
    assert not np.isin(ids, np.flatnonzero(shares == 0)).any()


def test_rows_of_zeros_give_the_last_id():
    assert as_python(lambda: drawn(np.zeros((3, 4)))).tolist() == [3, 3, 3]


def test_draws_repeat_for_a_seed_and_a_step_and_differ_otherwise():
    rows = np.full((200, 4), 0.25)

    def run():
        first = drawn(rows, seed=1, step=2)
        assert np.array_equal(first, drawn(rows, seed=1, step=2))
        assert np.array_equal(first[:10], drawn(rows[:10], seed=1, step=2))
        for other in (drawn(rows, seed=2, step=2), drawn(rows, seed=1, step=3)):
            assert np.mean(first == other) == pytest.approx(0.25, abs=0.12)
        assert np.mean(drawn(rows, phase="test") == 0) == pytest.approx(0.25, abs=0.12), "in the test phase, too"

    as_python(run)
