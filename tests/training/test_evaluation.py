"""The loss on held-out data is that of all rows in one batch, however the source cuts them."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.runtime import Sequences
from paddle_layers.training.evaluation import evaluate

pytestmark = pytest.mark.usefixtures("as_python")

SEQUENCES = """
layer { name: "x" type: "data" data { seq_nested_level: 1 } }
layer { name: "target" type: "data" data { seq_nested_level: 1 } }
layer { name: "y" type: "fc" input: "x" fc { size: 1 bias: false } param { of: "weight" init { type: "one" } } }
layer { name: "cost" type: "square_error" input: "y" input: "target" }
"""
LABELS = """
layer { name: "x" type: "data" data { shape: [3] } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "cost" type: "softmax_with_loss" input: "x" input: "label"
        softmax_with_loss { ignore_label: 1 normalization: NORMALIZATION } }
layer { name: "half" type: "square_error" input: "x" input: "x" loss_weight: 0.5 }
"""


@pytest.mark.parametrize("batch_size", [1, 2])
def test_long_sequences_count_as_many_rows_as_they_have(batch_size: int) -> None:
    target = [np.ones(1), np.zeros(99)]
    batches = [
        {"x": [np.zeros(len(t)) for t in part], "target": part}
        for part in (target[at : at + batch_size] for at in range(0, 2, batch_size))
    ]
    with pl.Net(pl.loads(SEQUENCES), dtype="float64") as net:
        assert evaluate(net, batches, {}) == {"loss": pytest.approx(0.01)}


@pytest.mark.parametrize("normalization", ["VALID", "BATCH_SIZE", "NONE"])
@pytest.mark.parametrize("batch_size", [1, 8, 37])
def test_ignored_rows_do_not_count(normalization: str, batch_size: int) -> None:
    rng = np.random.default_rng(0)
    x, label = rng.standard_normal((37, 3)), rng.integers(0, 3, 37)
    batches = [{"x": x[at : at + batch_size], "label": label[at : at + batch_size]} for at in range(0, 37, batch_size)]
    with pl.Net(pl.loads(LABELS.replace("NORMALIZATION", normalization)), dtype="float64") as net:
        found = evaluate(net, batches, {})["loss"]
    counts = label != 1
    costs = (np.logaddexp.reduce(x, axis=1) - x[np.arange(37), label])[counts]
    assert found == pytest.approx(costs.sum() / {"VALID": counts.sum(), "BATCH_SIZE": 37, "NONE": 1}[normalization])


def test_gradients_are_those_of_the_loss() -> None:
    rng = np.random.default_rng(0)
    x, label = rng.standard_normal((7, 3)), np.array([0, 1, 1, 2, 1, 0, 1])
    for normalization, divisor in {"VALID": 3, "BATCH_SIZE": 7, "NONE": 1}.items():
        text = LABELS.replace("NORMALIZATION", normalization).replace(
            'input: "label"\n', 'input: "label" propagate_down: [true, false]\n'
        )
        with pl.Net(pl.loads(text), dtype="float64") as net:
            net.forward({"x": x, "label": label})
            net.backward()
            shares = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True) - np.eye(3)[label]
            np.testing.assert_allclose(net.gradient("x"), shares * (label != 1)[:, None] / divisor, atol=1e-15)


def test_nothing_but_ignored_rows_costs_nothing() -> None:
    with pl.Net(pl.loads(LABELS.replace("NORMALIZATION", "VALID")), dtype="float64") as net:
        assert evaluate(net, [{"x": np.ones((2, 3)), "label": np.array([1, 1])}], {}) == {"loss": 0.0}


def test_an_empty_sequence_trains_on() -> None:
    text = """
    layer { name: "x" type: "data" data { shape: [2] seq_nested_level: 1 } }
    layer { name: "label" type: "data" data { data_type: INT size: 2 seq_nested_level: 1 } }
    layer { name: "norm" type: "batch_norm" input: "x" }
    layer { name: "scores" type: "fc" input: "norm" fc { size: 2 } }
    layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
    """
    empty = Sequences(np.zeros((0, 2)), np.array([0, 0])), Sequences(np.zeros(0, np.int64), np.array([0, 0]))
    full = Sequences(np.array([[1.0, 2], [3, 5]]), np.array([0, 2])), Sequences(np.array([0, 1]), np.array([0, 2]))
    with pl.Net(pl.loads(text)) as net:
        for x, label in (empty, full):
            before = {name: state.value.copy() for name, state in net.states.items()}
            net.forward({"x": x, "label": label})
            net.backward()
            moved = any((before[name] != state.value).any() for name, state in net.states.items())
            assert np.isfinite(net.loss)
            assert moved == (len(x.data) > 0)
            assert all(np.isfinite(p.gradient).all() for p in net.parameters.values())
