"""Noise in a network: its distribution, and that it depends on seed, step and position only."""

import math

import numpy as np
import pytest

import paddle_layers as pl

NETWORK = pl.loads("""
layer { name: "x" type: "data" data { shape: [100] } }
layer { name: "y" type: "random_normal" input: "x" }
""")


def draw(seed=0, step=0, rows=400, phase="train", value=1.0):
    with pl.Net(NETWORK, dtype="float64", seed=seed) as net:
        return net.forward({"x": np.full((rows, 100), value)}, phase=phase, step=step)["y"].copy()


def test_the_numbers_are_normal():
    """Every share of them is within five standard errors of what the distribution has."""
    values = np.sort(draw().ravel())
    count = len(values)
    for place in np.linspace(-3, 3, 25):
        share = 0.5 * (1 + math.erf(place / math.sqrt(2)))
        found = np.searchsorted(values, place) / count
        assert found == pytest.approx(share, abs=5 * math.sqrt(share * (1 - share) / count))


def test_neighbours_rows_and_steps_are_independent():
    values, other = draw(), draw(step=1)
    for one, another in ((values[:, :-1], values[:, 1:]), (values[:-1], values[1:]), (values, other)):
        for power in (1, 2):
            found = np.corrcoef((one**power).ravel(), (another**power).ravel())[0, 1]
            assert abs(found) < 5 / math.sqrt(one.size)


def test_they_repeat_for_a_seed_and_step_whatever_the_rows_hold():
    first = draw(seed=3, step=5)
    assert np.array_equal(first, draw(seed=3, step=5, value=-7.0))
    assert np.array_equal(first[:10], draw(seed=3, step=5, rows=10))
    assert not np.array_equal(first, draw(seed=4, step=5))


def test_there_is_noise_in_the_test_phase_too():
    assert draw(phase="test").std() == pytest.approx(1, abs=0.03)
