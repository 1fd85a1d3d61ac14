"""Gradients by rows and steps that are put off: nothing but time and memory differs from the dense way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.config.training import ClipSettings, ComponentSettings
from paddle_layers.define import registries
from paddle_layers.runtime import Csr, catchup
from paddle_layers.runtime.cuda import simulated_device
from paddle_layers.runtime.elementwise import Updater

NETWORK = """
layer { name: "ids" type: "data" data { data_type: INT size: 40 } }
layer { name: "columns" type: "data" data { data_type: SPARSE_INT size: 30 } }
layer { name: "weighted" type: "data" data { data_type: SPARSE size: 30 } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "found" type: "embedding" input: "ids" embedding { size: 5 }
        param { of: "table" lr_mult: 0.5 decay_mult: 2 } }
layer { name: "seen" type: "fc" input: "columns" input: "weighted" input: "found" fc { size: 4 act: "tanh" }
        param { of: "weight_1" clip: 0.01 } }
layer { name: "scores" type: "fc" input: "seen" fc { size: 3 } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
"""
BY_ROWS = {"found.table", "seen.weight_0", "seen.weight_1"}
OPTIMIZERS = sorted(registries["optimizer"])


def feeds(rng: np.random.Generator, rows: int = 4) -> dict[str, Any]:
    """A batch that uses few ids, some of them twice."""
    counts = rng.integers(0, 3, (2, rows))
    starts = [np.cumsum([0, *count]) for count in counts]
    return {
        "ids": np.minimum(rng.geometric(0.15, rows), 40) - 1,
        "columns": Csr(starts[0], rng.integers(0, 30, starts[0][-1])),
        "weighted": Csr(starts[1], rng.integers(0, 30, starts[1][-1]), rng.normal(size=starts[1][-1])),
        "label": rng.integers(0, 3, rows),
    }


def component(kind: str, name: str, **attributes: float) -> ComponentSettings:
    definition = registries[kind][name]
    return ComponentSettings(definition, definition.bind(attributes))


def rates(steps: int) -> Iterator[float]:
    """A schedule that rises and falls, with a step without any move."""
    return iter([0.0 if step == 5 else 0.2 * (1 + np.sin(step)) / (1 + 0.1 * step) for step in range(steps)])


def make(dense: bool, dtype: str = "float64", device: Any = "cpu", **options: Any) -> pl.Net:
    net = pl.loads(NETWORK)
    if not dense:
        return pl.Net(net, dtype=dtype, device=device, seed=3, **options)
    with mock.patch("paddle_layers.runtime.net.mark_row_gradients"):
        return pl.Net(net, dtype=dtype, device=device, seed=3, **options)


def update(net: pl.Net, optimizer: str, penalty: str | None = None, clip: Any = None, **attributes: float) -> Updater:
    definition = registries["optimizer"][optimizer]
    regularizer = component("regularizer", penalty, rate=0.1) if penalty else None
    return Updater(definition, definition.bind(attributes), net, regularizer=regularizer, clip=clip)


def train(net: pl.Net, updater: Updater, steps: int = 60) -> dict[str, Any]:
    """Losses of the steps and what there is at the end, on batches that are the same every time."""
    rng, losses = np.random.default_rng(1), []
    for step, rate in enumerate(rates(steps), 1):
        batch = feeds(rng)
        if step % 7 == 0:
            net.forward(feeds(rng), phase="test")
            losses.append(net.loss)
        net.forward(batch)
        net.backward()
        losses.append(net.loss)
        updater.step(rate, step)
    found = {name: parameter.value.copy() for name, parameter in net.parameters.items()}
    states = {name: state.read().copy() for name, state in updater.states.items()}
    return {"losses": np.array(losses), **found, **_by_parameter(net, states)}


def _by_parameter(net: pl.Net, states: dict[str, Any]) -> dict[str, Any]:
    size = np.dtype(net.dtype).itemsize
    return {
        f"{state} of {p.name}": array[p.offset // size :][: p.size]
        for state, array in states.items()
        for p in net.parameters.values()
    }


def compare(tolerance: float = 1e-9, dtype: str = "float64", device: Any = "cpu", steps: int = 60, **how: Any) -> None:
    """Train both ways."""
    found = []
    for dense in (False, True):
        with make(dense, dtype, device) as net:
            assert {name for name, p in net.parameters.items() if p.by_rows} == (set() if dense else BY_ROWS)
            found.append(train(net, update(net, **how), steps))
    for name, values in found[1].items():
        np.testing.assert_allclose(found[0][name], values, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("penalty", [None, *sorted(registries["regularizer"])])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_result_is_that_of_the_dense_way(optimizer: str, penalty: str | None) -> None:
    compare(optimizer=optimizer, penalty=penalty)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_in_float32(optimizer: str) -> None:
    compare(optimizer=optimizer, dtype="float32", tolerance=2e-4)


@pytest.mark.parametrize("clip", [ClipSettings(norm=0.5), ClipSettings(value=0.05)])
def test_clipping_knows_gradients_by_rows(clip: ClipSettings) -> None:
    compare(optimizer="sgd", clip=clip, penalty="l2")


def test_a_state_that_has_faded_is_forgotten_after_its_turns() -> None:
    """So many steps that rows have been idle for longer than the mean of the gradients takes to fade."""
    compare(optimizer="adamw", beta1=0.5, weight_decay=0.1, steps=300)


def test_all_rows_catch_up_when_the_history_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catchup, "HISTORY", 8)
    monkeypatch.setattr(catchup, "CHUNK", 3)
    compare(optimizer="adam")
    compare(optimizer="nesterov", penalty="l2")


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_on_the_simulator(optimizer: str) -> None:
    compare(optimizer=optimizer, penalty="l2", device=simulated_device(), dtype="float32", tolerance=1e-4, steps=4)
    compare(optimizer=optimizer, device=simulated_device(), dtype="float32", tolerance=1e-4, steps=4)
