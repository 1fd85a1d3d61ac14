"""`sampling_id`: shares of what is drawn, and draws that depend on seed, step and row only."""

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.testing.cases.trial import as_python

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


POOL = """
layer { name: "x" type: "data" data { shape: [2, 3, 4] } }
layer { name: "y" type: "stochastic_pool" input: "x" propagate_down: true stochastic_pool { pool_size: 2 stride: 2 } }
"""


def pooled(x, phase="train", seed=0, step=0):
    """Values, and while training the gradient of ones."""
    with pl.Net(pl.loads(POOL), dtype="float64", seed=seed) as net:
        y = net.forward({"x": x}, phase=phase, step=step)["y"].copy()
        if phase == "test":
            return y, None
        net.backward(gradients={"y": np.ones_like(y)})
        return y, net.gradient("x").copy()


def test_pools_draw_with_the_shares_of_the_values():
    image = np.array([[1.0, 4.0, -3.0, 0.0], [2.0, 3.0, -1.0, -2.0], [0.0, 7.0, 5.0, 6.0]])
    x = np.tile(np.stack([image, image[:, ::-1]]), (3000, 1, 1, 1))
    y, gradient = as_python(lambda: pooled(x))
    for value in (1, 2, 3, 4):
        assert np.mean(y[:, 0, 0, 0] == value) == pytest.approx(value / 10, abs=0.03)
    assert np.mean(y[:, 0, 1, 1] == 5) == pytest.approx(5 / 11, abs=0.03), "a window that hangs over"
    assert not np.any(y[:, 0, 0, 1]), "no value is positive"
    assert np.mean(y[:, 0, 0, 0] == y[:, 1, 0, 1]) == pytest.approx(0.3, abs=0.04), "channels are drawn for themselves"
    drawn = np.where(y > 0, y, 0).sum(axis=(2, 3))
    np.testing.assert_array_equal(drawn, (x * gradient).sum(axis=(2, 3)), err_msg="the gradient goes where y is from")
    assert set(np.unique(gradient)) == {0, 1}
    for other in ({"seed": 1}, {"step": 1}):
        assert (as_python(lambda other=other: pooled(x[:50], **other))[0] != y[:50]).any()
    np.testing.assert_array_equal(as_python(lambda: pooled(x[:50]))[0], y[:50])
    mean, _ = as_python(lambda: pooled(x[:1], phase="test"))
    np.testing.assert_allclose(mean[0, 0], [[3.0, 0.0], [7.0, 61 / 11]])
