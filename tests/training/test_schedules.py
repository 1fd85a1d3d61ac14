"""Schedules and initializers against their formulas."""

import math

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.config.trainingfiles import read_training
from paddle_layers.define import InvalidAttributes, registries
from paddle_layers.layers.initializers import Fans
from paddle_layers.runtime.optimise.updater import Updater
from paddle_layers.training.problems import TrainingError
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
    "linear": ({"to": 0.2, "steps": 8}, 1 - 0.8 * np.minimum(1, STEPS / 8)),
    "piecewise": ({"at": [2, 7], "factor": [0.5, 0.125]}, np.select([STEPS < 2, STEPS < 7], [1, 0.5], 0.125)),
    "one_cycle": (
        {"rise": 0.4, "start": 0.1, "end": 0.01},  # the top is at step 0.4 * 10 - 1
        np.where(
            STEPS < 3,
            0.55 - 0.45 * np.cos(np.pi * STEPS / 3),
            0.505 + 0.495 * np.cos(np.pi * np.minimum(STEPS - 3, 6) / 6),
        ),
    ),
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


@pytest.mark.parametrize("name", [name for name in SHARES if name not in ("warmup", "one_cycle")])
def test_every_schedule_can_rise_first(name):
    attributes, shares = SHARES[name]
    expected = BASE * shares * np.minimum(1, (STEPS + 1) / 5)
    assert rates(name, {**attributes, "warmup": 5}) == pytest.approx(expected, rel=1e-14, abs=1e-16)


def test_without_a_schedule_the_rate_stays():
    assert rate_at(None, 0.3, 99, 100) == 0.3


def test_schedules_end_where_they_should():
    assert rate_at(registries["schedule"]["linear"].create({"to": 0.5}), 1.0, 10, 10) == 0.5
    one_cycle = registries["schedule"]["one_cycle"].create({})
    assert rate_at(one_cycle, 1.0, 0, 1) == 1  # a training of one step, and the shortest rise
    assert rate_at(one_cycle, 1.0, 0, 3) == 1
    assert rate_at(registries["schedule"]["poly"].create({}), 1.0, 10, 10) == 0
    assert rate_at(registries["schedule"]["cosine"].create({}), 1.0, 10, 10) == pytest.approx(0)


def test_pieces_of_a_schedule_that_do_not_fit():
    piecewise = registries["schedule"]["piecewise"]
    with pytest.raises(InvalidAttributes, match="expected one factor per step in `at` \\(2\\), got 1"):
        piecewise.create({"at": [1, 2], "factor": [0.5]})
    with pytest.raises(InvalidAttributes, match="steps must be in ascending order"):
        piecewise.create({"at": [2, 2], "factor": [0.5, 0.1]})


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


NET = """
net {
  layer { name: "x" type: "data" data { shape: [2] } }
  layer { name: "y" type: "fc" input: "x" fc { size: 2 } }
  layer { name: "cost" type: "square_error" input: "y" input: "x" }
}
steps: 12
"""
STAGES = """
optimizer { type: "sgd" learning_rate: 0.5 sgd { momentum: 0.4 } }
schedule { type: "warmup" warmup { steps: 3 } until: 3 }
schedule { type: "linear" linear { to: 0.5 } base: 1 until: 7 }
schedule { type: "exp" exp { gamma: 0.5 } }
momentum_schedule { type: "linear" linear { to: 2 steps: 4 } until: 6 }
momentum_schedule { type: "fixed" base: 0.9 }
"""
DATA = {"train": {"x": np.random.default_rng(0).normal(size=(12, 2)).astype(np.float32)}}


class Seen:
    def __init__(self):
        self.rates, self.values, self.gradients = [], [], []

    def on_step(self, run):
        self.rates.append(run.rate)
        self.values.append(run.net.parameters["y.weight"].value.copy())
        self.gradients.append(run.net.parameters["y.weight"].gradient.copy())


def test_stages_of_rate_and_momentum(tmp_path):
    seen = Seen()
    pl.train(NET + STAGES, datasets=DATA, output=tmp_path / "out", callbacks=[seen])
    rates = [0.5 / 3, 1 / 3, 0.5, 1, 0.875, 0.75, 0.625, *(0.5 * 0.5**step for step in range(5))]
    momenta = [0.4, 0.5, 0.6, 0.7, 0.8, 0.8, *[0.9] * 6]
    assert seen.rates == pytest.approx(rates)
    velocity = 0
    for step in range(1, 12):  # the first step is not seen from its start
        before, after = seen.values[step - 1 : step + 1]
        if step == 1:
            velocity = rates[0] * seen.gradients[0]
        velocity = momenta[step] * velocity + rates[step] * seen.gradients[step]
        np.testing.assert_allclose(before - after, velocity, rtol=1e-3, atol=1e-6)


def faults(text):
    return [(fault.code, fault.message) for fault in read_training(NET + text, "t", sources_needed=False)[1].faults]


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ('schedule { type: "fixed" } schedule { type: "cosine" }', "E315", "this schedule has no `until`"),
        ('schedule { type: "fixed" until: 5 }', "E315", "the last schedule has `until`"),
        (
            2 * 'schedule { type: "fixed" until: 5 } ' + 'schedule { type: "exp" exp { gamma: 1 } }',
            "E315",
            "`until` must be greater than that of the previous schedule, 5",
        ),
        (
            'schedule { type: "piecewise" piecewise { at: 3 factor: [1, 2] } }',
            "E103",
            "expected one factor per step in `at` (1), got 2",
        ),
    ],
)
def test_schedules_that_do_not_go_together(text, code, message):
    ((found, said),) = faults('optimizer { type: "sgd" learning_rate: 1 }' + text)
    assert found == code
    assert message in said


def test_a_momentum_that_is_none(tmp_path):
    ((code, said),) = faults('optimizer { type: "adam" learning_rate: 1 } momentum_schedule { type: "fixed" }')
    assert (code, said) == ("E311", "the optimizer `adam` has no `momentum`")
    text = NET + 'optimizer { type: "sgd" learning_rate: 1 }\nmomentum_schedule { type: "linear" linear { to: 1.2 } }'
    with pytest.raises(pl.ConfigError, match=r"the momentum is 1.005 at step 7, must be below 1"):
        pl.train(text, datasets=DATA, output=tmp_path / "out")


def test_tables_follow_a_scheduled_momentum(monkeypatch):
    found = []
    for dense in (False, True):
        if dense:
            monkeypatch.setattr("paddle_layers.runtime.net.mark_sparse_gradients", lambda _: None)
        net = pl.Net(pl.loads(TABLE), dtype="float64", seed=1)
        table, rng = net.parameters["row.table"], np.random.default_rng(2)
        assert table.by_rows is not dense
        definition = registries["optimizer"]["sgd"]
        updater = Updater(definition, definition.bind({}), net, momentum_scheduled=True)
        for step in range(1, 9):
            net.forward({"id": rng.integers(0, 9, 2), "x": rng.normal(size=(2, 2))})
            net.backward()
            updater.step(0.1, step, 0.1 * step)
        found.append(table.value.copy())
    np.testing.assert_allclose(*found, rtol=1e-12)


TABLE = """
layer { name: "id" type: "data" data { data_type: INT size: 9 } }
layer { name: "x" type: "data" data { shape: [2] } }
layer { name: "row" type: "embedding" input: "id" embedding { size: 2 } }
layer { name: "cost" type: "square_error" input: "row" input: "x" }
"""


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("exp", {"gamma": 2.0}),
        ("step", {"gamma": 10.0, "every": 1}),
        ("multistep", {"gamma": 1e200, "at": [1, 2]}),
        ("linear", {"to": 1e308, "steps": 5}),
        ("one_cycle", {"start": 1e308, "rise": 1.0}),
    ],
)
def test_an_infinite_rate_is_an_error_in_one_line(name, attributes):
    schedule = pl.Schedule(name, learning_rate=100.0, training_steps=10**7, **attributes)
    with pytest.raises(TrainingError, match="the learning rate is infinite at step 1000001: reduce the factor"):
        schedule.rate(10**6)


def test_what_steps_of_a_schedule_from_python_are():
    """The attribute where there is one, else the length of the training."""
    warmup = pl.Schedule("warmup", learning_rate=0.1, steps=5)
    assert [warmup.rate(at) for at in (0, 3, 4, 9)] == pytest.approx([0.02, 0.08, 0.1, 0.1])
    linear = pl.Schedule("linear", learning_rate=0.1, steps=4, training_steps=8)
    assert (linear.rate(2), linear.steps) == (0.05, 8)
    assert pl.Schedule("linear", learning_rate=0.1, training_steps=8).rate(2) == pytest.approx(0.075)
    assert pl.Schedule("cosine", learning_rate=0.1, steps=8).rate(4) == pytest.approx(0.05)
    with pytest.raises(TypeError, match="depends on the length of the training: set training_steps"):
        pl.Schedule("linear", learning_rate=0.1)
    with pytest.raises(TypeError, match="has no attribute `steps`; write either steps or training_steps"):
        pl.Schedule("cosine", learning_rate=0.1, steps=8, training_steps=9)
