"""A loop that somebody writes: the optimizer and the schedule that `train` uses, and trainings made in Python."""

from __future__ import annotations

import doctest
import io
import math
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.config import ConfigError
from paddle_layers.data import Dataset
from paddle_layers.define.errors import InvalidAttributes, UnknownName
from paddle_layers.runtime import WeightsError
from paddle_layers.runtime.passes import without
from paddle_layers.training.progress import LineProgress

pytestmark = pytest.mark.usefixtures("as_python")

TEXT = """
name: "line"
layer { name: "x" type: "data" data { shape: 3 } }
layer { name: "y" type: "data" data { shape: 1 } }
layer { name: "guess" type: "fc" input: "x" fc { size: 1 } }
layer { name: "cost" type: "square_error" input: "guess" input: "y" }
"""
X = np.random.default_rng(0).normal(size=(8, 3))
Y = X @ np.array([[1.0], [-2.0], [0.5]])
ADAM = {"type": "adam", "learning_rate": 0.1, "adam": {"beta1": 0.8}}


def data() -> dict[str, Dataset]:
    return {"train": Dataset({"x": X, "y": Y})}


def loop(net: pl.Net, optimizer: pl.Optimizer, rates: list[float]) -> list[float]:
    losses = []
    for rate in rates:
        net.forward({"x": X, "y": Y})
        losses.append(net.loss)
        net.backward()
        optimizer.step(rate)
    return losses


def weights(net: pl.Net) -> np.ndarray:
    return np.array(net.parameters["guess.weight"].value)


class Losses:
    def __init__(self) -> None:
        self.losses: list[float] = []

    def on_step(self, run: Any) -> None:
        self.losses.append(run.loss)


def test_a_loop_makes_the_steps_of_train(tmp_path: Path) -> None:
    seen = Losses()
    training = pl.make_training(
        pl.loads(TEXT),
        optimizer=ADAM,
        schedule={"type": "poly", "poly": {"warmup": np.int64(2)}},
        regularizer={"type": "l2", "l2": {"rate": 0.01}},
        clip={"norm": 0.5},
        steps=6,
        batch_size=8,
        dtype="float64",
        seed=3,
    )
    report = pl.train(
        training, datasets=data(), output=tmp_path / "out", callbacks=[seen], progress=LineProgress(io.StringIO())
    )
    schedule = pl.Schedule("poly", learning_rate=0.1, steps=6, warmup=2)
    with pl.Net(pl.loads(TEXT), dtype="float64", seed=3) as net:
        optimizer = pl.Optimizer(net, "adam", beta1=0.8, clip_norm=0.5, regularizer=("l2", {"rate": 0.01}))
        losses = loop(net, optimizer, [schedule.rate(step) for step in range(6)])
        np.testing.assert_allclose(losses, seen.losses, rtol=1e-12)  # rows come in another order
        with pl.Net(pl.loads(TEXT), dtype="float64") as trained:
            trained.load(report.weights)
            np.testing.assert_allclose(weights(net), weights(trained), rtol=1e-9)
    assert report.commands == []


def test_clipping_by_value_and_plain_names() -> None:
    with pl.Net(pl.loads(TEXT), dtype="float64") as net:
        before = weights(net)
        loop(net, pl.Optimizer(net, "sgd", clip_value=0.25, momentum=0.0), [1.0])
        assert abs(weights(net) - before).max() == pytest.approx(0.25)


def test_a_loop_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    rates = [0.1] * 4
    with pl.Net(pl.loads(TEXT)) as net, pl.Net(pl.loads(TEXT), seed=9) as other:
        optimizer = pl.Optimizer(net, "adam")
        loop(net, optimizer, rates)
        with pytest.raises(RuntimeError, match="no backward pass since the last step"):
            optimizer.step(0.1)
        net.save(str(tmp_path / "w"))
        optimizer.save(tmp_path / "o")
        loop(net, optimizer, rates)
        other.load(tmp_path / "w")
        second = pl.Optimizer(other, "adam")
        second.load(tmp_path / "o")
        loop(other, second, rates)
        assert second.steps == optimizer.steps == 8
        np.testing.assert_array_equal(weights(net), weights(other))


def test_pending_steps_are_made_before_the_states_of_a_file_are_loaded(tmp_path: Path) -> None:
    """Rows of an embedding that no batch has used since have moved by the states before, not by those of the file."""
    text = """
    layer { name: "w" type: "data" data { data_type: INT size: 4 } }
    layer { name: "e" type: "embedding" input: "w" embedding { size: 2 } }
    layer { name: "c" type: "sum_cost" input: "e" }
    """
    found = []
    for passes in ((), ("sparse gradients",)):
        with without(*passes), pl.Net(pl.loads(text), dtype="float64") as net:
            optimizer = pl.Optimizer(net, "sgd", momentum=0.9)
            for word in range(4):
                net.forward({"w": np.array([word])})
                net.backward()
                optimizer.step(0.1)
                if word == 0:
                    optimizer.save(tmp_path / "o")
                if word == 2:
                    optimizer.load(tmp_path / "o")
            found.append(net.parameters["e.table"].value.copy())
    np.testing.assert_allclose(*found, rtol=1e-12)


def test_states_of_another_optimizer_are_refused(tmp_path: Path) -> None:
    # With 3 or 4 columns, the states have as many elements: those of each parameter are padded.
    with pl.Net(pl.loads(TEXT)) as net, pl.Net(pl.loads(TEXT.replace("shape: 3", "shape: 4"))) as wide:
        pl.Optimizer(net, "adam").save(tmp_path / "adam")
        net.save(str(tmp_path / "w"))
        for optimizer, file, message in (
            (pl.Optimizer(net, "sgd"), "adam", "has no state of the optimizer `sgd`"),
            (pl.Optimizer(net, "adam"), "w", "has no state of the optimizer `adam`"),
            (pl.Optimizer(wide, "adam"), "adam", "contains the optimizer state of another network"),
            (pl.Optimizer(net, "adam"), "none", "file not found"),
        ):
            with pytest.raises(WeightsError, match=re.escape(message)) as error:
                optimizer.load(tmp_path / file)
            assert "\n" not in str(error.value)


def one_line(kind: type[Exception], message: str, call: Callable[[], object]) -> None:
    with pytest.raises(kind, match=re.escape(message)) as error:
        call()
    assert "\n" not in str(error.value)


def test_wrong_arguments() -> None:
    network = pl.loads(TEXT)
    with pl.Net(network) as net:
        message = "expected a Net, got a Network: write Optimizer(Net(network), 'adam')"
        one_line(TypeError, message, lambda: pl.Optimizer(network, "adam"))
        one_line(UnknownName, "unknown optimizer `adm`; did you mean `adam`?", lambda: pl.Optimizer(net, "adm"))
        one_line(InvalidAttributes, "no attribute `beta`", lambda: pl.Optimizer(net, "adam", beta=0.9))
        one_line(ValueError, "clip_norm is -1, must be > 0", lambda: pl.Optimizer(net, "adam", clip_norm=-1))
        optimizer = pl.Optimizer(net, "adam")
        for rate in (-1, math.nan, math.inf):
            one_line(
                ValueError,
                f"learning_rate is {rate}, must be a finite number >= 0",
                lambda rate=rate: optimizer.step(rate),
            )
        one_line(RuntimeError, "no backward pass since the last step", lambda: optimizer.step(0.1))
        assert optimizer.steps == 0
        one_line(UnknownName, "`l3`", lambda: pl.Optimizer(net, "adam", regularizer="l3"))
    one_line(UnknownName, "`cosin`; did you mean `cosine`?", lambda: pl.Schedule("cosin", learning_rate=1, steps=2))
    one_line(InvalidAttributes, "needs `every`", lambda: pl.Schedule("step", learning_rate=1, steps=2))


def test_the_example_of_a_schedule() -> None:
    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder().find(pl.Schedule, "Schedule", globs={"pl": pl}):
        runner.run(example)
    assert runner.summarize().attempted == 3
    assert runner.summarize().failed == 0


# ---- trainings


def test_train_takes_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("line.npz", x=X, y=Y)
    text = f"""
        net {{ {TEXT} }}
        source {{ type: "npz" npz {{ file: "line.npz" }} }}
        optimizer {{ type: "sgd" learning_rate: 0.1 }}
        steps: 2 output: "out"
    """
    assert pl.train(text, progress=LineProgress(io.StringIO())).steps == 2
    with pytest.raises(ConfigError, match=r"<text>:\d+:9: .*`stepps`"):
        pl.train(text.replace("steps", "stepps"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (pl.loads(TEXT), "not a Network: write train(make_training(network, optimizer={"),
        (5, "training must be a file, its text, or the result of `make_training`, not 5"),
        ({"steps": 1}, "not a dict"),
    ],
)
def test_train_takes_nothing_else(given: Any, message: str) -> None:
    one_line(TypeError, message, lambda: pl.train(given))


def test_methods_of_other_frameworks_are_answered_with_what_to_use() -> None:
    with pl.Net(pl.loads(TEXT)) as net:
        for name, message in (("eval", 'phase="test"'), ("state_dict", "`save` writes"), ("cuda", 'device="cuda"')):
            one_line(AttributeError, message, partial(getattr, net, name))
        assert not hasattr(net, "other")


def test_make_training_tells_every_fault() -> None:
    network = pl.loads(TEXT)
    with pytest.raises(ConfigError) as error:
        pl.make_training(network, optimizer={"type": "adm", "learning_rate": 1}, steps=0, net={"name": "other"})
    codes = [fault.code for fault in error.value.diagnostics]
    assert len(codes) == 3, str(error.value)
    assert "did you mean `adam`" in str(error.value)
    assert "<training built in Python>:2:" in str(error.value)
    message = "network must be a Network, got 'net.textproto': write make_training(load('net.textproto'), ...)"
    one_line(TypeError, message, lambda: pl.make_training("net.textproto", optimizer=ADAM, steps=1))  # type: ignore[arg-type]


def test_without_data_there_is_an_error_that_says_so(tmp_path: Path) -> None:
    training = pl.make_training(pl.loads(TEXT), optimizer=ADAM, steps=1)
    with pytest.raises(ConfigError, match="missing source for the train phase"):
        pl.train(training, output=tmp_path / "out", progress=LineProgress(io.StringIO()))
