"""Chunked cross-entropy: the values and gradients of formulas, in a fraction of the memory, and only where nothing else
reads the scores.
"""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.runtime.passes import chunked_cross_entropy, without
from paddle_layers.runtime.plan.dry_run import explain_plan

STARTS = np.array([0, 5, 5, 14])
ROWS, WIDTH, CLASSES = 14, 6, 11
READERS = 'input: "scores" input: "label"'
TEXT = """
layer {{ name: "x" type: "data" data {{ shape: [6] seq_nested_level: 1 }} }}
layer {{ name: "label" type: "data" data {{ data_type: INT size: 11 seq_nested_level: 1 }} }}
layer {{ name: "importance" type: "data" data {{ seq_nested_level: 1 }} }}
layer {{ name: "hidden" type: "fc" input: "x" fc {{ size: 6 bias: false }} }}
layer {{ name: "scores" type: "{layer}" input: "hidden" {layer} {{ size: 11 {attributes} }} {more} }}
layer {{ name: "cost" type: "softmax_with_loss" input: "{read}" input: "label" input: "importance"
        softmax_with_loss {{ ignore_label: -1 label_smoothing: 0.25 }} {loss} }}
"""


@pytest.fixture(autouse=True)
def tiny_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rows in a chunk, so that the last of five chunks has two."""
    monkeypatch.setattr(chunked_cross_entropy, "CHUNK_BYTES", 0)
    monkeypatch.setattr(chunked_cross_entropy, "FEWEST", 3)
    monkeypatch.setattr(chunked_cross_entropy, "LEAST", 4)


def network(
    layer: str = "fc", attributes: str = "", more: str = "", read: str = "scores", loss: str = "", others: str = ""
) -> pl.Network:
    text = TEXT.format(layer=layer, attributes=attributes, more=more, read=read, loss=loss)
    return pl.loads(text + others)


def feeds() -> dict[str, pl.Sequences]:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, CLASSES, ROWS)
    labels[[1, 7, 13]] = -1
    rows = {"x": rng.standard_normal((ROWS, WIDTH)), "label": labels, "importance": rng.uniform(0.5, 2, ROWS)}
    return {name: pl.Sequences(array, STARTS) for name, array in rows.items()}


def loss_of(parameters: dict[str, np.ndarray], transposed: bool) -> float:
    """The loss by its definition: a target distribution with a quarter of the uniform one, over labels that count."""
    x, label, importance = (feeds()[name].data for name in ("x", "label", "importance"))
    weight = parameters["scores.weight"].T if transposed else parameters["scores.weight"]
    scores = x @ parameters["hidden.weight"] @ weight + parameters["scores.bias"]
    logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    target = 0.75 * np.eye(CLASSES)[label] + 0.25 / CLASSES
    counted = label >= 0
    return float(-((target * logs).sum(axis=1) * importance)[counted].sum() / counted.sum())


def chunked(one: pl.Network, phase: str = "train") -> bool:
    """Whether the plan has a loop."""
    with pl.Net(one, dtype="float64") as net:
        net.forward(feeds(), phase=phase)
        return any(launch.loop is not None for launch in net.plan(phase).launches)


@pytest.mark.parametrize("layer", ["fc", "trans_fc"])
def test_loss_and_gradients_are_those_of_the_formula(layer: str) -> None:
    with pl.Net(network(layer), dtype="float64", seed=3) as net:
        net.parameters["scores.bias"].value[:] = np.linspace(-1, 1, CLASSES)
        net.forward(feeds())
        net.backward()
        assert any(launch.loop is not None for launch in net.plan("train").launches)
        values = {name: parameter.value.copy() for name, parameter in net.parameters.items()}
        assert net.loss == pytest.approx(loss_of(values, layer == "trans_fc"), rel=1e-12)
        for name, parameter in net.parameters.items():
            slopes = np.zeros_like(parameter.value)
            for place in np.ndindex(slopes.shape):
                steps = []
                for step in (1e-6, -1e-6):
                    moved = values | {name: values[name].copy()}
                    moved[name][place] += step
                    steps.append(loss_of(moved, layer == "trans_fc"))
                slopes[place] = (steps[0] - steps[1]) / 2e-6
            np.testing.assert_allclose(parameter.gradient, slopes, rtol=1e-6, atol=1e-8, err_msg=name)


def test_a_second_batch_adds_to_no_gradient_of_the_first() -> None:
    with pl.Net(network(), dtype="float64") as net:
        found = []
        for _ in range(2):
            net.forward(feeds())
            net.backward()
            found.append(net.parameters["scores.weight"].gradient.copy())
    np.testing.assert_array_equal(*found)


def test_tied_weights_have_the_gradients_of_both_uses() -> None:
    """The embedding adds to what the chunks have added up."""
    text = """
    layer { name: "word" type: "data" data { data_type: INT size: 11 seq_nested_level: 1 } }
    layer { name: "label" type: "data" data { data_type: INT size: 11 seq_nested_level: 1 } }
    layer { name: "x" type: "embedding" input: "word" embedding { size: 6 } param { of: "table" share: "w" } }
    layer { name: "scores" type: "trans_fc" input: "x" trans_fc { size: 11 } param { of: "weight" share: "w" } }
    layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
    """
    words = {name: pl.Sequences(np.arange(ROWS) * step % CLASSES, STARTS) for name, step in (("word", 3), ("label", 5))}
    found = []
    for off in (False, True):
        with (
            without("chunked cross-entropy") if off else contextlib.nullcontext(),
            pl.Net(pl.loads(text), dtype="float64", seed=1) as net,
        ):
            net.forward(words)
            net.backward()
            found.append(net.parameters["x.table"].gradient.copy())
    np.testing.assert_allclose(*found, rtol=1e-12)


def test_the_phase_test_has_chunks_too() -> None:
    assert chunked(network(), "test")


@pytest.mark.parametrize(
    "changes",
    [
        {"others": f'layer {{ name: "hits" type: "accuracy" {READERS} accuracy {{ ignore_label: -1 }} }}'},
        {"others": 'layer { name: "clip" type: "clip" input: "scores" clip { max: 2 } }', "read": "clip"},
        {"others": 'layer { name: "copy" type: "linear" input: "scores" }'},
        {"attributes": 'act: "tanh"'},
        {"attributes": "drop_rate: 0.5"},
        {"attributes": "error_clip: 1.0"},
        {"loss": "propagate_down: [true, false, false]"},
        {"more": "loss_weight: 1"},
    ],
)
def test_scores_that_something_else_reads_or_changes_are_materialized(changes: dict[str, str]) -> None:
    assert not chunked(network(**changes))


def test_kept_scores_are_materialized() -> None:
    with pl.Net(network(), dtype="float64", keep=["scores"]) as net:
        net.forward(feeds())
        assert net.value("scores").data.shape == (ROWS, CLASSES)


def test_scores_that_exist_in_chunks_cannot_be_read() -> None:
    with pl.Net(network(), dtype="float64") as net:
        net.forward(feeds())
        net.backward()
        with pytest.raises(KeyError, match=r"keep=\['scores'\]"):
            net.value("scores")
        with pytest.raises(KeyError, match="scores"):
            net.gradient("scores")


def test_infinite_scores_are_attributed_to_their_layer() -> None:
    with pl.Net(network(), dtype="float64") as net:
        net.parameters["scores.weight"].value[2, 4] = np.inf
        net.forward(feeds())
        assert net.find_non_finite() == "scores"


def test_few_rows_have_no_chunks() -> None:
    with pl.Net(network(), dtype="float64") as net:
        rows = {name: pl.Sequences(value.data[:5], STARTS[:2]) for name, value in feeds().items()}
        net.forward(rows)
        assert not any(launch.loop is not None for launch in net.plan("train").launches)


def test_scores_of_a_vocabulary_need_the_memory_of_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    text = """
    layer { name: "x" type: "data" data { shape: [8] } }
    layer { name: "label" type: "data" data { data_type: INT size: 50257 } }
    layer { name: "scores" type: "fc" input: "x" fc { size: 50257 } }
    layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
    """
    found = explain_plan(pl.loads(text), "train", 8192, "float32", "cpu").nbytes
    with without("chunked cross-entropy"):
        whole = explain_plan(pl.loads(text), "train", 8192, "float32", "cpu").nbytes
    assert whole > 8192 * 50257 * 4
    assert found < 70 << 20
