"""Schedules and initializers against their formulas."""

import math

import numpy as np
import pytest

from paddle_layers.define import registries
from paddle_layers.layers.initializers import Fans
from paddle_layers.training.schedules import rate_at

STEPS, TOTAL, BASE = np.arange(11), 10, 0.2
SHARES = {
    "fixed": ({}, np.ones(11)),
    "warmup": ({"steps": 4}, np.minimum(1, (STEPS + 1) / 4)),
    "step": ({"gamma": 0.5, "every": 3}, 0.5 ** np.floor(STEPS / 3)),
    "multistep": ({"gamma": 0.5, "at": [7, 2]}, 0.5 ** ((STEPS >= 2) * 1.0 + (STEPS >= 7))),
    "exp": ({"gamma": 0.9}, 0.9**STEPS),
    "inv": ({"gamma": 0.1, "power": 0.5}, 1 / np.sqrt(1 + 0.1 * STEPS)),
    "poly": ({"power": 2.0}, (1 - STEPS / TOTAL) ** 2),
    "sigmoid": ({"gamma": -0.7, "middle": 4}, 1 / (1 + np.exp(0.7 * (STEPS - 4)))),
    "cosine": ({"floor": 0.1}, 0.1 + 0.9 * (1 + np.cos(np.pi * STEPS / TOTAL)) / 2),
}


def rates(name, attributes):
    schedule = registries["schedule"][name].create(attributes)
    return [rate_at(schedule, BASE, int(step), TOTAL) for step in STEPS]


def test_every_schedule_has_a_formula_here():
    assert set(SHARES) == set(registries["schedule"])


@pytest.mark.parametrize("name", SHARES)
def test_schedule(name):
    attributes, shares = SHARES[name]
    assert rates(name, attributes) == pytest.approx(BASE * shares, rel=1e-14, abs=1e-16)


@pytest.mark.parametrize("name", [name for name in SHARES if name != "warmup"])
def test_every_schedule_can_rise_first(name):
    attributes, shares = SHARES[name]
    expected = BASE * shares * np.minimum(1, (STEPS + 1) / 5)
    assert rates(name, {**attributes, "warmup": 5}) == pytest.approx(expected, rel=1e-14, abs=1e-16)


def test_without_a_schedule_the_rate_stays():
    assert rate_at(None, 0.3, 99, 100) == 0.3


def test_schedules_end_where_they_should():
    assert rate_at(registries["schedule"]["poly"].create({}), 1.0, 10, 10) == 0
    assert rate_at(registries["schedule"]["cosine"].create({}), 1.0, 10, 10) == pytest.approx(0)


FANS = Fans(fan_in=200, fan_out=50)
SPREADS = {
    "gaussian": 0.01,
    "uniform": 0.05 / math.sqrt(3),
    "xavier": math.sqrt(1 / 200),
    "msra": math.sqrt(2 / 200),
    "paddle": math.sqrt(1 / 200),
    "zero": 0,
    "one": 0,
    "constant": 0,
}
OTHERS = {"orthogonal", "identity", "positive_unitball", "bilinear"}


def draw(name, shape=(200, 50), fans=FANS, **attributes):
    return registries["initializer"][name].create(attributes).draw(shape, np.random.default_rng(1), fans)


def test_every_initializer_is_tested():
    assert set(SPREADS) | OTHERS == set(registries["initializer"])


@pytest.mark.parametrize("name", SPREADS)
def test_spread(name):
    values = draw(name)
    assert values.shape == (200, 50)
    assert values.std() == pytest.approx(SPREADS[name], rel=0.03)
    assert values.mean() == pytest.approx(float(name == "one"), abs=0.003)


def test_other_fans():
    for name, factor in (("xavier", 1), ("msra", 2)):
        assert draw(name, variance_norm="fan_out").std() == pytest.approx(math.sqrt(factor / 50), rel=0.03)
        assert draw(name, variance_norm="average").std() == pytest.approx(math.sqrt(factor / 125), rel=0.03)


def test_sparse_gaussian_keeps_a_few():
    assert np.count_nonzero(draw("gaussian", sparse=10)) == pytest.approx(10 / 200 * 10_000, rel=0.15)


@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (3, 2, 5)])
def test_orthogonal(shape):
    values = draw("orthogonal", shape, gain=2.0).reshape(shape[0], -1)
    small = values @ values.T if values.shape[0] <= values.shape[1] else values.T @ values
    assert np.allclose(small, 4 * np.eye(len(small)))


def test_identity():
    x = np.arange(3.0)
    np.testing.assert_array_equal(draw("identity", (3, 3)) @ x, x)
    np.testing.assert_array_equal(draw("identity", (2, 3)) @ x, x[:2])


def test_positive_unitball():
    values = draw("positive_unitball", (5, 3, 2))
    assert np.all(values > 0)
    assert np.allclose(values.sum(axis=(1, 2)), 1)


def test_bilinear_is_the_kernel_of_caffe():
    kernel = draw("bilinear", (2, 3, 4, 4))
    line = np.array([0.25, 0.75, 0.75, 0.25])
    assert np.allclose(kernel, np.outer(line, line))


@pytest.mark.parametrize(
    ("name", "shape", "attributes", "message"),
    [
        ("bilinear", (2, 3, 4, 5), {}, "needs square kernels"),
        ("orthogonal", (5,), {}, "at least two axes"),
        ("uniform", (5,), {"min": 1.0, "max": 0.0}, "above `max`"),
    ],
)
def test_shapes_that_do_not_fit(name, shape, attributes, message):
    with pytest.raises(ValueError, match=message):
        draw(name, shape, **attributes)
