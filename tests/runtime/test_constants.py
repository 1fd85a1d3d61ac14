"""What depends on parameters only is computed once in the phase test, and again whenever a parameter has changed.

As Python it is the statistics of `batch_norm` alone; with tuned kernels, filters of Winograd's convolution, too, and
tables of epilogues.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.config.training import AverageSettings
from paddle_layers.define import registries
from paddle_layers.kernels.tuned import point_functions_only, tuned_at_every_size
from paddle_layers.runtime.devices.cpu.interpreter import interpreted
from paddle_layers.runtime.optimise.updater import Updater
from paddle_layers.runtime.passes import without
from paddle_layers.runtime.plan.dry_run import explain_plan

TEXT = """
    layer { name: "x" type: "data" data { shape: [16, 12, 12] } }
    layer { name: "one" type: "conv" input: "x" conv { num_filters: 16 filter_size: 3 padding: 1 bias: false }
            param { of: "weight" share: "both" } }
    layer { name: "norm" type: "batch_norm" input: "one" batch_norm { act: "relu" } }
    layer { name: "two" type: "conv" input: "norm" conv { num_filters: 16 filter_size: 3 padding: 1 }
            param { of: "weight" share: "both" } }
    layer { name: "score" type: "fc" input: "two" fc { size: 3 } }
"""
NETWORK = pl.loads(TEXT)
SMALL = pl.loads(TEXT.replace("16", "4").replace("12, 12", "4, 4"))
SHAPES = {NETWORK: (2, 16, 12, 12), SMALL: (2, 4, 4, 4)}


@pytest.fixture(params=["Python", pytest.param("tuned kernels", marks=pytest.mark.slow)])
def net(request: pytest.FixtureRequest) -> Iterator[pl.Net]:
    tuned = request.param == "tuned kernels"
    with contextlib.ExitStack() as stack:
        for context in (tuned_at_every_size,) if tuned else (point_functions_only, interpreted):
            stack.enter_context(context())
        net = stack.enter_context(pl.Net(NETWORK if tuned else SMALL, dtype="float64", seed=1))
        score(net)
        yield net


def rows(net: pl.Net) -> Any:
    return np.random.default_rng(0).standard_normal(SHAPES[net.network])


def score(net: pl.Net) -> Any:
    return net.forward({"x": rows(net)}, phase="test")["score"]


def expected(net: pl.Net) -> Any:
    """The scores of a net that computes everything in each pass."""
    with without("parameter-only caching"), pl.Net(net.network, dtype="float64", seed=1) as other:
        for name, parameter in {**net.parameters, **net.states}.items():
            {**other.parameters, **other.states}[name].value = parameter.value
        return score(other)


def explained(net: pl.Net) -> list[tuple[str, str]]:
    return [(one.layer, one.kernel) for one in explain_plan(net.network, "test", 2, "float64", "cpu").launches]


def check(net: pl.Net, before: np.ndarray) -> None:
    found = score(net)
    assert np.abs(found - before).max() > 1e-3
    np.testing.assert_allclose(found, expected(net), rtol=1e-10, atol=1e-12)


def test_the_launches_come_first_and_run_once(net: pl.Net) -> None:
    plan = net.plan("test")
    begin = [(launch.op, launch.name) for launch in plan.launches[: plan.constants]]
    assert ("norm", "batch_norm_moments") in begin
    filters = ["one", "two"] if net.network is NETWORK else []
    assert [layer for layer, name in begin if name == "conv_y"] == filters
    assert [layer for layer, name in begin if name.endswith("_epilogue")] == filters
    started: list[int] = []
    run = plan.table.run

    def noted(start: int, stop: int) -> None:
        started.append(start)
        run(start, stop)

    plan.table.run = noted  # type: ignore[method-assign]
    score(net)
    assert 0 not in started
    net.parameters["score.bias"].value = 1
    score(net)
    assert started.count(0) == 1
    assert plan.constants > 0
    assert [layer for layer, kernel in explained(net) if kernel.endswith(", once")] == [layer for layer, _ in begin]
    with without("parameter-only caching"):
        assert not any(kernel.endswith(", once") for _, kernel in explained(net))
    assert net.plan("train").constants == 0


def test_a_batch_without_rows_runs(net: pl.Net) -> None:
    assert net.forward({"x": rows(net)[:0]}, phase="test")["score"].shape == (0, 3)


def test_an_assignment_is_noticed(net: pl.Net) -> None:
    before = score(net)
    weight = net.parameters["one.weight"]
    weight.value = np.random.default_rng(1).standard_normal(weight.shape)
    check(net, before)


@pytest.mark.parametrize("name", ["one.weight", "norm.running_mean"])
def test_writes_to_an_array_that_the_user_holds_are_noticed(net: pl.Net, name: str) -> None:
    held = {**net.parameters, **net.states}[name].value.reshape(-1)[1:].view()  # rests on what was given, not on memory
    for step in range(3):
        before = score(net)
        held -= 1 + step  # upwards, where the relu lets them through
        check(net, before)


def test_loaded_weights_are_noticed(net: pl.Net, tmp_path: Path) -> None:
    with pl.Net(net.network, dtype="float64", seed=9) as other:
        other.save(tmp_path / "w.safetensors")
    before = score(net)
    net.load(tmp_path / "w.safetensors")
    check(net, before)


def test_a_step_of_training_between_two_tests_is_noticed(net: pl.Net) -> None:
    sgd = registries["optimizer"]["sgd"]
    updater = Updater(sgd, sgd.bind({}), net)
    for _ in range(2):
        before = score(net)
        net.forward({"x": rows(net) + 3})  # moves the averages alone
        check(net, before)
        before = score(net)
        net.forward({"x": rows(net)})
        net.backward(gradients={"score": np.ones((2, 3))})
        updater.step(0.01, 1)
        check(net, before)


def test_averages_of_weights_are_used_and_given_back(net: pl.Net) -> None:
    sgd = registries["optimizer"]["sgd"]
    updater = Updater(sgd, sgd.bind({}), net, average=AverageSettings(decay=0.5))
    for count in (1, 2):
        net.forward({"x": rows(net)})
        net.backward(gradients={"score": np.ones((2, 3))})
        updater.step(0.05, count)
    before = score(net)
    with updater.averaged():
        check(net, before)
    np.testing.assert_array_equal(score(net), before)


def test_threads_that_share_a_net_see_what_one_of_them_changes(net: pl.Net) -> None:
    wrong: list[float] = []
    known = {}
    for bias in (0.0, 1.0):
        net.parameters["one.weight"].value = bias
        known[bias] = score(net)

    def work() -> None:
        for step in range(10):
            with net.lock.current:
                bias = float(step % 2)
                net.parameters["one.weight"].value = bias
            with net.lock.current:
                bias = float(net.parameters["one.weight"].value[0, 0, 0, 0])
                if not np.array_equal(score(net), known[bias]):
                    wrong.append(bias)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
