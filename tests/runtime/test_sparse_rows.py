"""Gradients by rows and pending steps: nothing but time and memory differs from the dense way."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.config.training import ClipSettings, ComponentSettings
from paddle_layers.define import registries
from paddle_layers.define.definitions.elementwise import Elementwise
from paddle_layers.runtime import Csr
from paddle_layers.runtime.devices.cuda import launch_driver, simulated_device
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.memory.tensorfiles import read_tensors
from paddle_layers.runtime.optimise import pending_steps as lazy_updates
from paddle_layers.runtime.optimise.updater import Updater
from paddle_layers.testing.properties.cuda import ARCHITECTURES, Ptx
from tests.fuzz.target import as_python

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
SLOW = pytest.mark.slow


@pytest.fixture(autouse=True)
def compiled_if_slow(request: pytest.FixtureRequest) -> Iterator[None]:
    """The results are those of the dense way whoever computes them: only the slow tests compile all these kernels."""
    with contextlib.nullcontext() if request.node.get_closest_marker("slow") else as_python():
        yield


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
    attributes = {"l1": 0.1, "l2": 0.2} if name == "l1_l2" else attributes
    return ComponentSettings(definition, definition.bind(attributes))


def rates(steps: int) -> Iterator[float]:
    """A schedule that rises and falls, with a step without any move."""
    return iter([0.0 if step == 5 else 0.2 * (1 + np.sin(step)) / (1 + 0.1 * step) for step in range(steps)])


def make(dense: bool, dtype: str = "float64", device: Any = "cpu", **options: Any) -> pl.Net:
    net = pl.loads(NETWORK)
    if not dense:
        return pl.Net(net, dtype=dtype, device=device, seed=3, **options)
    with mock.patch("paddle_layers.runtime.net.mark_sparse_gradients"):
        return pl.Net(net, dtype=dtype, device=device, seed=3, **options)


def update(
    net: pl.Net, optimizer: str | Elementwise, penalty: str | None = None, clip: Any = None, **attributes: float
) -> Updater:
    definition = registries["optimizer"][optimizer] if isinstance(optimizer, str) else optimizer
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


@pytest.mark.parametrize("penalty", [None, *(pytest.param(p, marks=SLOW) for p in sorted(registries["regularizer"]))])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_result_is_that_of_the_dense_way(optimizer: str, penalty: str | None) -> None:
    compare(optimizer=optimizer, penalty=penalty)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.slow
def test_in_float32(optimizer: str) -> None:
    compare(optimizer=optimizer, dtype="float32", tolerance=2e-4)


def test_a_step_between_the_passes_of_a_batch() -> None:
    """It is pending for rows that the forward pass has just brought up to date."""
    found = []
    for dense in (False, True):
        with make(dense) as net:
            updater, rng = update(net, "sgd", momentum=0.9), np.random.default_rng(5)
            net.forward(feeds(rng, rows=30))  # the buffers that hold gradients are large enough from now on
            net.forward(feeds(rng))
            net.backward()
            for count in range(1, 12, 2):
                net.forward(feeds(rng))
                updater.step(0.1, count)
                net.backward()
                updater.step(0.1, count + 1)
            found.append({name: parameter.value.copy() for name, parameter in net.parameters.items()})
    for name, values in found[1].items():
        np.testing.assert_allclose(found[0][name], values, rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("clip", [ClipSettings(norm=0.5), ClipSettings(value=0.05)])
def test_clipping_knows_gradients_by_rows(clip: ClipSettings) -> None:
    compare(optimizer="sgd", clip=clip, penalty="l2")


ADAPTIVE = [
    ("adam", {"beta1": 0.9, "beta2": 0.9, "epsilon": 1e-3}),
    ("adam", {"beta1": 0.95, "beta2": 0.8}),  # its moves grow from step to step until they are as large as epsilon lets
    ("adamw", {"beta1": 0.0, "beta2": 0.0, "weight_decay": 0.5}),
    ("adamw", {"epsilon": 0.1, "weight_decay": 0.5}),
]


@pytest.mark.parametrize(("optimizer", "attributes"), ADAPTIVE)
def test_adaptive_steps_of_odd_settings(optimizer: str, attributes: dict[str, float]) -> None:
    compare(optimizer=optimizer, **attributes)


def test_a_mean_that_has_faded_moves_nothing() -> None:
    """So many steps that rows have waited for longer than the mean of the gradients takes to fade."""
    compare(optimizer="adamw", beta1=0.5, weight_decay=0.1, steps=300)


def test_all_rows_make_their_steps_when_the_history_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy_updates, "HISTORY", 8)
    monkeypatch.setattr(lazy_updates, "CHUNK", 3)
    compare(optimizer="adam")
    compare(optimizer="nesterov", penalty="l2")


@pytest.mark.parametrize("optimizer", ["sgd", *(pytest.param(o, marks=SLOW) for o in OPTIMIZERS if o != "sgd")])
def test_on_the_simulator(optimizer: str) -> None:
    compare(optimizer=optimizer, penalty="l2", device=simulated_device(), dtype="float32", tolerance=1e-4, steps=4)
    compare(optimizer=optimizer, device=simulated_device(), dtype="float32", tolerance=1e-4, steps=4)


LAZY = {
    **{name: {None, "l2"} for name in ("sgd", "nesterov", "torch_momentum")},
    **{name: set() for name in ("lamb", "lion")},
}
"""Regularizers with which an optimizer has a lazy update; the others: with none. The guide on data has this table."""


@pytest.mark.parametrize("penalty", [None, *sorted(registries["regularizer"])])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_which_updates_are_lazy(optimizer: str, penalty: str | None) -> None:
    with make(False) as net:
        updater = update(net, optimizer, penalty)
        steps(net, updater, [1, 2])
        table = net.parameters["found.table"]
        before = table.stored.copy()
        steps(net, updater, [3], 3)
        untouched = np.array_equal(np.delete(table.stored, 3, 0), np.delete(before, 3, 0))
    assert untouched is (penalty in LAZY.get(optimizer, {None}))


def test_plain_gradient_descent_has_no_pending_steps() -> None:
    with make(False) as net:
        steps(net, update(net, "sgd", momentum=0.0), [1, 2])
        assert all(parameter.before_read is None for parameter in net.parameters.values())
    compare(optimizer="sgd", momentum=0.0, penalty="l2")


def test_rows_of_the_gradient_and_the_dense_form() -> None:
    rng = np.random.default_rng(0)
    with make(False) as net, make(True) as dense:
        table = net.parameters["found.table"]
        assert table.gradient_rows is None
        assert not np.any(table.gradient)
        # The last one reaches the table alone: rows of an earlier pass must not remain in the others.
        for given in (None, {"scores": rng.normal(size=(4, 3))}, None, {"found": rng.normal(size=(4, 5))}):
            batch = feeds(rng)
            for one in (net, dense):
                one.forward(batch)
                one.backward(given)
                one.backward(given)
            ids, rows = table.gradient_rows or (None, None)
            np.testing.assert_array_equal(ids, np.unique(batch["ids"]))
            for name in BY_ROWS:
                np.testing.assert_allclose(net.parameters[name].gradient, dense.parameters[name].gradient, rtol=1e-12)
            np.testing.assert_array_equal(table.gradient[ids], rows)
        assert dense.parameters["found.table"].gradient_rows is None
        with pytest.raises(ValueError, match="read-only"):
            table.gradient[:] = 0  # would be lost
        dense.parameters["found.table"].gradient[:] = 0


def steps(net: pl.Net, updater: Updater, ids: list[int], first: int = 1) -> None:
    """A step for each id, with batches of rows that have no other."""
    for step, one in enumerate(ids, first):
        net.forward({**feeds(np.random.default_rng(step)), "ids": np.full(4, one)})
        net.backward()
        updater.step(0.1, step)


def test_whoever_asks_for_a_parameter_sees_all_steps(tmp_path: Path) -> None:
    with make(False) as net, make(True) as dense:
        ours, theirs = (update(one, "sgd", penalty="l2") for one in (net, dense))
        steps(net, ours, [1, 2, 3])
        steps(dense, theirs, [1, 2, 3])
        table, expected = net.parameters["found.table"], dense.parameters["found.table"]
        assert not np.allclose(table.stored, expected.value, rtol=1e-9)  # all rows but the last one are behind
        net.save(str(tmp_path / "weights"))
        np.testing.assert_allclose(read_tensors(tmp_path / "weights")[0]["found.table"], expected.value, rtol=1e-9)
        steps(net, ours, [4, 1], 4)
        steps(dense, theirs, [4, 1], 4)
        table.value = expected.value = np.ones(table.shape)  # velocities stay what they are
        steps(net, ours, [2, 5], 6)
        steps(dense, theirs, [2, 5], 6)
        np.testing.assert_allclose(table.value, expected.value, rtol=1e-9)


def test_a_new_optimizer_begins_where_the_old_one_stood() -> None:
    with make(False) as net, make(True) as dense:
        for one in (net, dense):
            steps(one, update(one, "nesterov"), [1, 2, 3])
            steps(one, update(one, "adam"), [4, 5, 1])
        found, expected = (one.parameters["found.table"].value for one in (net, dense))
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("other", ["adam", "rmsprop"])
def test_two_optimizers_in_turn(other: str) -> None:
    with make(False) as net, make(True) as dense:
        for one in (net, dense):
            updaters = [update(one, "sgd"), update(one, other, "l1" if other == "rmsprop" else None)]
            for step, row in enumerate((1, 2, 3, 1, 4, 2), 1):
                steps(one, updaters[step // 2 % 2], [row], step)
        found, expected = (one.parameters["found.table"].value for one in (net, dense))
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_to_go_on_from_what_was_saved_is_the_same_bits(optimizer: str) -> None:
    with make(False) as whole, make(False) as first, make(False) as second:
        at_once = update(whole, optimizer)
        steps(whole, at_once, [1, 2, 3, 4, 2, 1])
        before = update(first, optimizer)
        steps(first, before, [1, 2, 3])
        saved = {name: array.copy() for name, array in before.saved().items()}
        weights = {name: parameter.value.copy() for name, parameter in first.parameters.items()}
        after = update(second, optimizer)
        for name, parameter in second.parameters.items():
            parameter.value = weights[name]
        after.restore(saved)
        steps(second, after, [4, 2, 1], 4)
        for name, parameter in whole.parameters.items():
            np.testing.assert_array_equal(second.parameters[name].value, parameter.value, err_msg=name)


SHARED = """
layer { name: "a" type: "data" data { data_type: INT size: 9 } }
layer { name: "b" type: "data" data { data_type: INT size: 9 } }
layer { name: "y" type: "data" data { shape: 2 } }
layer { name: "one" type: "embedding" input: "a" embedding { size: 2 } param { of: "table" share: "t" } }
layer { name: "two" type: "embedding" input: "b" embedding { size: 2 } param { of: "table" share: "t" } }
layer { name: "frozen" type: "embedding" input: "b" embedding { size: 2 } param { of: "table" frozen: true } }
layer { name: "best" type: "maxid" input: "two" }
layer { name: "computed" type: "embedding" input: "best" embedding { size: 2 } }
layer { name: "sum" type: "addto" input: "one" input: "two" input: "computed" input: "frozen" }
layer { name: "cost" type: "square_error" input: "sum" input: "y" }
"""


def test_shared_tables_and_computed_ids_have_a_dense_gradient() -> None:
    rng = np.random.default_rng(0)
    with pl.Net(pl.loads(SHARED)) as net:
        assert not any(parameter.by_rows for parameter in net.parameters.values())
        updater = update(net, "adam")
        net.forward({"a": rng.integers(0, 9, 4), "b": rng.integers(0, 9, 4), "y": rng.normal(size=(4, 2))})
        net.backward()
        assert np.any(net.parameters["one.table"].gradient)
        updater.step(0.1, 1)


GROUP = """
layer { name: "words" type: "data" data { data_type: INT size: 30 seq_nested_level: 1 } }
layer { name: "label" type: "data" data { data_type: INT size: 3 seq_nested_level: 1 } }
layer { name: "outside" type: "embedding" input: "words" embedding { size: 3 } }
layer {
  name: "group" type: "recurrent_group" input: "words" input: "outside"
  step {
    layer { name: "before" type: "memory" memory { of: "h" size: 3 } }
    layer { name: "inside" type: "embedding" input: "words" embedding { size: 3 } }
    layer { name: "h" type: "fc" input: "inside" input: "before" input: "outside" fc { size: 3 act: "tanh" } }
    output: "h"
  }
}
layer { name: "cost" type: "softmax_with_loss" input: "group" input: "label" }
"""


def test_tables_in_and_before_a_recurrent_group() -> None:
    found = []
    for marking in (contextlib.nullcontext(), mock.patch("paddle_layers.runtime.net.mark_sparse_gradients")):
        rng = np.random.default_rng(0)
        with marking, pl.Net(pl.loads(GROUP), dtype="float64") as net:
            updater = update(net, "adam")
            for step in range(1, 9):
                starts = np.array([0, 2, 2, 5, 6])
                words, label = (pl.Sequences(rng.integers(0, size, 6), starts) for size in (30, 3))
                net.forward({"words": words, "label": label})
                net.backward()
                updater.step(0.1, step)
            found.append({name: parameter.value.copy() for name, parameter in net.parameters.items()})
            assert net.parameters["outside.table"].by_rows is (len(found) == 1)
    for name, values in found[1].items():
        np.testing.assert_allclose(found[0][name], values, rtol=1e-9, err_msg=name)


def test_it_says_so_when_every_step_goes_over_the_whole_table(caplog: pytest.LogCaptureFixture) -> None:
    with make(False) as net, caplog.at_level("INFO", "paddle_layers"):
        update(net, "adam")
        assert not caplog.messages
        update(net, "adam", "l2")
    assert "`found.table`: every step updates all 40 rows" in caplog.messages[0]
    assert "adam with l2" in caplog.messages[0]


def test_memory_does_not_grow_with_the_rows_of_the_table() -> None:
    def bytes_of(size: int) -> tuple[int, int]:
        with pl.Net(pl.loads(NETWORK.replace("size: 40", f"size: {size}"))) as net:
            steps(net, update(net, "adam"), [1, 2])
            return net.memory("train"), net.arena.gradients.size

    assert bytes_of(40) == bytes_of(4000)


def test_kernels_over_rows_are_machine_code_for_every_card(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Launch] = []
    device = simulated_device()
    table = device.table
    monkeypatch.setattr(device, "table", lambda launches, *rest: seen.extend(launches) or table(launches, *rest))
    for optimizer, penalty in (("adam", None), ("sgd", "l2"), ("sgd", "l1")):
        with make(False, "float32", device) as net:
            steps(net, update(net, optimizer, penalty), [1, 2])
    drivers = {launch.code.name: launch_driver(launch, "float32") for launch in seen}
    for name in ("adam_step_rows", "adaptive_steps", "linear_steps", "spread_rows", "l2_penalty_rows"):
        kernel = Ptx(drivers[name], ARCHITECTURES[0])
        assert kernel.link()[:4] == b"\x7fELF"
        assert not kernel.has_f64, name
