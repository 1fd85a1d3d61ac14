"""States that go on from batch to batch: windows of long sequences against whole ones, and truncated gradients."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.config import ConfigError

pytestmark = pytest.mark.usefixtures("as_python")

WINDOW, SAMPLES, UNITS = 3, 2, 3
LAYERS = """
layer { name: "x" type: "data" data { shape: 2 seq_nested_level: 1 } }
layer { name: "goes_on" type: "data" data { } }
layer { name: "before" type: "data" data { shape: 3 carry: "last" } }
layer { name: "start" type: "scaling" input: "goes_on" input: "before" }
layer {
  name: "states" type: "recurrent_group" input: "x" input: "start"
  recurrent_group { static: "start" }
  step {
    layer { name: "past" type: "memory" input: "start" memory { of: "state" } }
    layer { name: "state" type: "fc" input: "x" input: "past" fc { size: 3 act: "tanh" bias: false } }
    output: "state"
  }
}
layer { name: "last" type: "seq_last" input: "states" }
layer { name: "y" type: "fc" input: "states" fc { size: 1 } }
layer { name: "target" type: "data" data { seq_nested_level: 1 } }
layer { name: "cost" type: "square_error" input: "y" input: "target" }
"""


def sequences(rows: np.ndarray) -> pl.Sequences:
    """Samples side by side, of equal lengths."""
    count, length = rows.shape[:2]
    return pl.Sequences(rows.reshape(count * length, *rows.shape[2:]), np.arange(count + 1) * length)


def windows(x: np.ndarray, target: np.ndarray, begins: tuple[int, ...] = (0,)) -> Iterator[dict[str, object]]:
    for number in range(x.shape[1] // WINDOW):
        part = slice(number * WINDOW, (number + 1) * WINDOW)
        goes_on = np.full(len(x), float(number not in begins))
        yield {"x": sequences(x[:, part]), "target": sequences(target[:, part]), "goes_on": goes_on}


def reference(x: np.ndarray, state: np.ndarray, weights: list[np.ndarray]) -> np.ndarray:
    """States of all rows, (samples, length, units)."""
    found = []
    for place in range(x.shape[1]):
        state = np.tanh(x[:, place] @ weights[0] + state @ weights[1])
        found.append(state)
    return np.stack(found, axis=1)


def test_windows_one_after_the_other_are_the_whole_sequence() -> None:
    rng = np.random.default_rng(0)
    x, target = rng.normal(size=(SAMPLES, 4 * WINDOW, 2)), rng.normal(size=(SAMPLES, 4 * WINDOW))
    with pl.Net(pl.loads(LAYERS), dtype="float64", keep=["states"]) as net:
        weights = [net.parameters[f"states.state.weight_{item}"].value for item in (0, 1)]
        for phase in ("train", "test", "test"):
            found = []
            for feeds in windows(x, target):
                net.forward(feeds, phase=phase)
                found.append(net.value("states").data.reshape(SAMPLES, WINDOW, UNITS))
            whole = reference(x, np.zeros((SAMPLES, UNITS)), weights)
            np.testing.assert_allclose(np.concatenate(found, axis=1), whole, atol=1e-12)
        for number, feeds in enumerate(windows(x, target, begins=(0, 2))):
            net.forward(feeds)
            if number == 2:
                anew = reference(x[:, 2 * WINDOW : 3 * WINDOW], np.zeros((SAMPLES, UNITS)), weights)
                np.testing.assert_allclose(net.value("states").data.reshape(anew.shape), anew, atol=1e-12)


def test_gradients_are_those_of_the_window() -> None:
    """Against finite differences of a loop in which only the steps of the last window have changed weights."""
    rng = np.random.default_rng(1)
    x, target = rng.normal(size=(SAMPLES, 2 * WINDOW, 2)), rng.normal(size=(SAMPLES, 2 * WINDOW))
    with pl.Net(pl.loads(LAYERS), dtype="float64") as net:
        names = ("states.state.weight_0", "states.state.weight_1", "y.weight", "y.bias")
        values = [net.parameters[name].value.copy() for name in names]
        for feeds in windows(x, target):
            net.forward(feeds)
        net.backward()
        gradients = [net.parameters[name].gradient for name in names]
        before = reference(x[:, :WINDOW], np.zeros((SAMPLES, UNITS)), values[:2])[:, -1]

        def loss(changed: list[np.ndarray]) -> float:
            states = reference(x[:, WINDOW:], before, changed[:2])
            wrong = (states @ changed[2])[:, :, 0] + changed[3] - target[:, WINDOW:]
            return float((wrong**2).mean())

        np.testing.assert_allclose(net.loss, loss(values), rtol=1e-12)
        for place, gradient in enumerate(gradients):
            for at in np.ndindex(*gradient.shape):
                ends = []
                for step in (1e-6, -1e-6):
                    changed = [value.copy() for value in values]
                    changed[place][at] += step
                    ends.append(loss(changed))
                assert gradient[at] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-8)


def test_a_second_backward_pass_goes_on_from_the_same_rows() -> None:
    rng = np.random.default_rng(2)
    x, target = rng.normal(size=(SAMPLES, 2 * WINDOW, 2)), rng.normal(size=(SAMPLES, 2 * WINDOW))
    with pl.Net(pl.loads(LAYERS), dtype="float64") as net:
        for feeds in windows(x, target):
            net.forward(feeds)
        net.backward()
        first = net.parameters["states.state.weight_1"].gradient.copy()
        net.backward()
        np.testing.assert_array_equal(net.parameters["states.state.weight_1"].gradient, first)


def test_what_is_fed_goes_before_what_is_carried() -> None:
    rng = np.random.default_rng(3)
    x, target = rng.normal(size=(SAMPLES, 2 * WINDOW, 2)), np.zeros((SAMPLES, 2 * WINDOW))
    with pl.Net(pl.loads(LAYERS), dtype="float64", keep=["states"]) as net:
        weights = [net.parameters[f"states.state.weight_{item}"].value for item in (0, 1)]
        first, second = windows(x, target)
        net.forward(first)
        own = rng.normal(size=(SAMPLES, UNITS))
        net.forward({**second, "before": own})
        wanted = reference(x[:, WINDOW:], own, weights)
        np.testing.assert_allclose(net.value("states").data.reshape(wanted.shape), wanted, atol=1e-12)
        fewer = next(windows(x[:1], target[:1]))
        message = "`before` continues the previous batch of 2 samples, but this batch has 1"
        with pytest.raises(pl.FeedError, match=message):
            net.forward(fewer)
        net.forward({**fewer, "before": own[:1]})


TRAINING = f"""
net {{ {LAYERS} }}
batch_size: 2
source {{ type: "npz" shuffle: false npz {{ file: "train.npz" }} }}
source {{ type: "npz" phase: "test" npz {{ file: "train.npz" }} }}
optimizer {{ type: "adam" learning_rate: 0.05 }}
checkpoint {{ every: 3 }}
log {{ every: 1 }}
"""


def write_data() -> None:
    """Rows of a batch are windows of the samples, and the next batch has the next windows."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(SAMPLES, 4 * WINDOW, 2))
    parts = list(windows(x, np.cumsum(x[:, :, 0], axis=1)))
    starts = np.arange(4 * SAMPLES + 1) * WINDOW
    fields = {name: np.concatenate([part[name].data for part in parts]) for name in ("x", "target")}
    goes_on = np.concatenate([part["goes_on"] for part in parts])
    np.savez("train.npz", goes_on=goes_on, **fields, **{"x.starts": starts, "target.starts": starts})


def test_a_training_that_is_resumed_goes_on_from_the_same_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_data()
    whole = pl.train(TRAINING + "steps: 6", output="whole")
    pl.train(TRAINING + "steps: 3", output="part")
    resumed = pl.train(TRAINING + "steps: 6", output="part", resume=True)
    assert resumed.results == whole.results
    first, second = (Path(folder, "weights.safetensors").read_bytes() for folder in ("whole", "part"))
    assert first == second
    found = pl.evaluate(TRAINING + 'steps: 6 output: "whole"')
    assert found.results["loss"] == pytest.approx(whole.results["loss"])
    predicted = pl.predict(TRAINING + 'steps: 6 output: "whole"', values=["y"]).values["y"]
    errors = (predicted[:, 0] - np.load("train.npz")["target"]) ** 2
    assert errors.mean() == pytest.approx(whole.results["loss"], rel=1e-5), "windows of one sequence go on, here too"


WRONG = {
    'carry: "lost"': "data layer `before` carries the unknown output `lost`",
    'carry: "states"': "`before` is 3, but the carried value `states` is sequence of 3",
    'carry: "goes_on"': "`before` is 3, but the carried value `goes_on` is scalar",
}


@pytest.mark.parametrize("written", WRONG)
def test_what_cannot_be_carried_is_told_before_anything_runs(written: str) -> None:
    with pytest.raises(ConfigError, match="E221") as caught:
        pl.loads(LAYERS.replace('carry: "last"', written))
    assert WRONG[written] in str(caught.value)
