"""A pass over arrays like those of the pass before takes a shorter way: what it gives, and what leads back."""

import unittest.mock

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.runtime import FeedError

NETWORK = """
layer { name: "x" type: "data" data { shape: [2, 4, 4] } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "c" type: "conv" input: "x" conv { num_filters: 3 filter_size: 3 } }
layer { name: "n" type: "batch_norm" input: "c" }
layer { name: "scores" type: "fc" input: "n" fc { size: 3 } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
layer { name: "right" type: "accuracy" input: "scores" input: "label" }
"""


def batch(seed, rows=2):
    rng = np.random.default_rng(seed)
    return {"x": rng.standard_normal((rows, 2, 4, 4), np.float32), "label": rng.integers(0, 3, rows)}


@pytest.fixture
def net():
    with pl.Net(pl.loads(NETWORK), keep=["scores"]) as net:
        net.forward(batch(0), phase="test")
        assert net._repeated is not None
        yield net


def fresh(feeds, phase="test"):
    with pl.Net(pl.loads(NETWORK), keep=["scores"]) as other:
        return other.forward(feeds, phase=phase), other.loss, other.value("scores"), other.statistics()


def test_it_gives_what_a_net_gives_that_has_seen_nothing(net):
    before = net._repeated
    net.reset_statistics()
    outputs = net.forward(batch(1), phase="test")
    assert net._repeated is before, "the longer way was taken"
    wanted, loss, scores, counted = fresh(batch(1))
    np.testing.assert_equal(outputs, wanted)
    np.testing.assert_array_equal(net.value("scores"), scores)
    assert (net.loss, net.statistics()) == (loss, counted)
    assert net.find_non_finite() is None


def test_outputs_are_arrays_of_their_own(net):
    outputs = net.forward(batch(1), phase="test")
    kept = {name: array.copy() for name, array in outputs.items()}
    net.forward(batch(2), phase="test")
    np.testing.assert_equal(outputs, kept)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"x": np.full((2, 2, 4, 4), np.nan, np.float32)}, "contains nan in row 0"),
        ({"x": np.full((2, 2, 4, 4), -np.inf, np.float32)}, "contains -inf"),
        ({"label": np.array([0, 3])}, "contains id 3 in row 1"),
        ({"label": np.array([-1, 0])}, "contains id -1 in row 0"),
        ({"label": np.array([0, 1, 2])}, "has 3 samples, but"),
        ({"z": np.zeros(2)}, "unknown data layer `z`"),
    ],
)
def test_wrong_feeds_are_refused_as_ever_and_change_nothing(net, changed, message):
    net.forward(batch(1), phase="test")
    with pytest.raises(FeedError, match=message):
        net.forward(batch(2) | changed, phase="test")
    np.testing.assert_array_equal(net.value("x"), batch(1)["x"])


def test_arrays_in_place_of_feeds_and_phase_are_refused_as_ever(net):
    x, label = batch(1).values()
    with pytest.raises(TypeError, match="feeds must be a dict of arrays by data layer"):
        net.forward(x, label)
    with pytest.raises(TypeError, match="feeds must be a dict of arrays by data layer"):
        net.forward([x, label], phase="test")
    with pytest.raises(ValueError, match=r"phase must be \"train\" or \"test\", not a ndarray"):
        net.forward(batch(1), label)


def test_a_pass_that_fails_in_its_middle_leads_back(net):
    broken = unittest.mock.patch("paddle_layers.runtime.plan.plan.Plan.forward", side_effect=MemoryError)
    with broken, pytest.raises(MemoryError):
        net.forward(batch(1, rows=1), phase="test")  # the plan is laid out for one row
    np.testing.assert_equal(net.forward(batch(2), phase="test"), fresh(batch(2))[0])


@pytest.mark.parametrize(
    "other",
    [
        lambda x: x.astype(np.float64),
        lambda x: x.tolist(),
        np.asfortranarray,
        lambda x: x[:, :, ::-1],
        lambda x: np.concatenate([x, x]),
    ],
    ids=["float64", "list", "fortran", "view", "rows"],
)
def test_other_arrays_are_taken_as_ever(net, other):
    feeds = batch(1) | {"x": other(batch(1)["x"])}
    feeds["label"] = np.resize(feeds["label"], len(feeds["x"]))
    outputs = net.forward(feeds, phase="test")
    np.testing.assert_equal(outputs, fresh(feeds)[0])


def test_new_parameters_are_seen(net):
    net.parameters["c.weight"].value[:] = 0
    net.parameters["scores.bias"].value[:] = [3, 4, 5]
    net.forward(batch(1), phase="test")
    assert np.ptp(net.value("scores"), axis=0).max() < 1e-6


def test_training_between_two_passes_is_seen_and_states_are_not_taken_back(net):
    net.forward(batch(1))
    moved = {name: state.value.copy() for name, state in net.states.items()}
    net.forward(batch(1), phase="test")
    net.rollback_states()
    np.testing.assert_equal({name: state.value for name, state in net.states.items()}, moved)
    with pytest.raises(RuntimeError, match="before backward"):
        net.backward()
