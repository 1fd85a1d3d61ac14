"""Gradients, weights and states that are not finite while the loss is: noticed, skipped where asked, never written."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.runtime.memory.tensorfiles import read_tensors
from paddle_layers.training.problems import TrainingError
from tests.training.helpers import train

pytestmark = pytest.mark.usefixtures("as_python")

ROOT = """
net {
  layer { name: "x" type: "data" data { shape: 1 } }
  layer { name: "s" type: "fc" input: "x" fc { size: 1 bias: false }
    param { of: "weight" init { type: "constant" constant { value: 0.5 } } } }
  layer { name: "n" type: "batch_norm" input: "s" }
  layer { name: "root" type: "power" input: "s" power { power: 0.5 } }
  layer { name: "cost" type: "sum_cost" input: "root" }
  layer { name: "seen" type: "sum_cost" input: "n" loss_weight: 0 }
}
optimizer { type: "sgd" learning_rate: 0.01 sgd { momentum: 0.5 } } log { every: 1 }
"""
TABLE = """
net {
  layer { name: "word" type: "data" data { data_type: INT size: 9 } }
  layer { name: "s" type: "embedding" input: "word" embedding { size: 1 } param { of: "table" init { type: "zero" } } }
  layer { name: "root" type: "power" input: "s" power { power: 0.5 } }
  layer { name: "cost" type: "sum_cost" input: "root" }
}
optimizer { type: "sgd" learning_rate: 0.01 }
"""


def batches(*values):
    return [{"x": np.full((2, 1), value)} for value in values]


def run(folder, text, data, name="run", by=train):
    """Train by the helper, whose callback reads the gradients, or by `pl.train` without callbacks."""
    path = folder / "train.textproto"
    path.write_text(text)
    return by(path, datasets={"train": data}, output=folder / name)


def written(folder):
    return sorted(path.name for path in folder.rglob("*.safetensors"))


@pytest.mark.parametrize(
    ("settings", "early"),
    [
        ("", True),
        ("", False),
        ("average { decay: 0.9 }", True),
        ("clip { norm: 1 }", False),
        ("clip { value: 1 } accumulate: 2", False),
    ],
)
def test_the_slope_of_a_root_at_zero(tmp_path, settings, early):
    """In the last step, too: the checkpoint of the step before stays. PyTorch has an infinite slope there as well.

    Where parameters are updated `early`, within the backward pass, it cannot be repeated to find the layer.
    """
    where = (
        "in backward order, `root` is the first layer whose gradient is not finite. "
        if not early
        else "the cause is one of the layers after it: `n`, `root`, `cost` and 1 more"
    )
    text = ROOT + f"steps: 3 checkpoint {{ every: 1 keep: 1 }} {settings}"
    data = batches(1, 2, 0) if "accumulate" not in settings else batches(1, 1, 2, 2, 0, 3)
    with pytest.raises(TrainingError) as raised:
        run(tmp_path, text, data, by=pl.train if early else train)
    assert "NaN or infinity in the gradient of `s.weight` at step 3, although the loss is " in str(raised.value)
    assert where in str(raised.value)
    assert written(tmp_path) == ["optimizer.safetensors", "weights.safetensors"]
    (checkpoint,) = (tmp_path / "run" / "checkpoints").iterdir()
    assert checkpoint.name == "step-00000002"
    for file in checkpoint.glob("*.safetensors"):
        assert all(np.isfinite(values).all() for values in read_tensors(file)[0].values())


@pytest.mark.parametrize("settings", ["", "clip { norm: 1 }", "average { decay: 0.9 }"])
def test_a_skipped_batch_leaves_nothing_behind(tmp_path, settings):
    """Weights, running averages, what the optimizer remembers and the average are those of the other batches."""
    text = ROOT + f'on_nan: "skip" {settings} '
    report, _, shown = run(tmp_path, text + "steps: 5", batches(1, 0, 2, 0, 3), "skipped")
    assert shown.count("skipped a batch: NaN or infinity in the gradient of `s.weight` at step ") == 2
    assert "2 batches were skipped" in str(report)
    other, _, _ = run(tmp_path, text + "steps: 3", batches(1, 2, 3), "without")
    for one, two in ((report, other),):
        for file in ("weights.safetensors", "optimizer.safetensors"):
            found, expected = (
                read_tensors(next((part.folder / "checkpoints").iterdir()) / file)[0] for part in (one, two)
            )
            assert found.keys() == expected.keys()
            for name, values in expected.items():
                np.testing.assert_array_equal(found[name], values, err_msg=name)


def test_twenty_skipped_batches_end_the_training(tmp_path):
    with pytest.raises(TrainingError, match="20 consecutive batches were skipped"):
        run(tmp_path, ROOT + 'on_nan: "skip" steps: 30', batches(*[0] * 30))
    assert not written(tmp_path)


@pytest.mark.parametrize("settings", ["", "clip { norm: 1 }", "accumulate: 2", 'on_nan: "skip"'])
def test_rows_of_a_table(tmp_path, settings):
    data = [{"word": np.array([1, 2])} for _ in range(30)]
    with pytest.raises(TrainingError, match=r"NaN or infinity in the gradient of `s\.table`"):
        run(tmp_path, TABLE + f"steps: 20 {settings}", data)
    assert not written(tmp_path)


LINE = """
net {
  layer { name: "x" type: "data" data { shape: 2 } }
  layer { name: "n" type: "batch_norm" input: "x" }
  layer { name: "s" type: "fc" input: "x" fc { size: 1 act: "tanh" } }
  layer { name: "cost" type: "sum_cost" input: "s" }
  layer { name: "seen" type: "sum_cost" input: "n" loss_weight: 0 }
}
"""


@pytest.mark.parametrize(
    ("x", "settings", "message"),
    [
        (
            0.5,
            'optimizer { type: "sgd" learning_rate: 3e38 sgd { momentum: 0 } }',
            "parameter `s.weight` contains NaN or infinity",
        ),
        (
            1e25,
            'optimizer { type: "sgd" learning_rate: 0.1 }',
            "running state `n.running_var` contains NaN or infinity",
        ),
        (
            1e-3,
            'optimizer { type: "adam" learning_rate: 0.1 }',
            "state `squares` of `s.weight` contains NaN or infinity",
        ),
    ],
)
def test_what_the_last_step_leaves(tmp_path, x, settings, message):
    """A rate too large for float32, a variance that overflows, squares of gradients: all with a loss of a few units."""
    weight = 1e26 if "adam" in settings else 100
    net = LINE.replace(
        '"cost" type: "sum_cost" input: "s"', f'"cost" type: "sum_cost" input: "s" loss_weight: {weight}'
    )
    with pytest.raises(TrainingError) as raised:
        run(tmp_path, net + settings + " steps: 1", [{"x": np.array([[x, 2 * x], [3 * x, x]])}])
    assert message in str(raised.value)
    assert "after step 1" in str(raised.value)
    assert not written(tmp_path)


def test_infinite_numbers_that_a_training_begins_with_stay(tmp_path):
    """Scores that are ruled out, such as transitions of a `crf`: here a row of a table that no batch uses."""
    net = TABLE.replace('{ type: "zero" }', '{ type: "constant" constant { value: 0.5 } }')
    values = np.full((9, 1), 0.5, np.float32)
    values[7] = -np.inf
    with pl.Net(_network(tmp_path, net)) as first:
        first.parameters["s.table"].value = values
        first.save(tmp_path / "w.safetensors")
    data = [{"word": np.array([1, 2])} for _ in range(2)]
    report, _, _ = run(tmp_path, net + f'steps: 2 weights {{ file: "{tmp_path / "w.safetensors"}" }}', data)
    assert read_tensors(report.weights)[0]["s.table"][7] == -np.inf


def _network(folder, text):
    path = folder / "first.textproto"
    path.write_text(text + "steps: 1")
    return pl.load_training(path, sources_needed=False).network


def test_a_loop_of_ones_own(tmp_path):
    """The step is refused, nothing changes, and the loop may go on."""
    with pl.Net(_network(tmp_path, ROOT)) as net:
        optimizer = pl.Optimizer(net, "adam", clip_norm=1.0)
        for x, ok in ((1.0, True), (0.0, False), (2.0, True)):
            net.forward({"x": np.full((2, 1), x)})
            net.backward()
            before = [
                array.copy()
                for array in (net.arena.values.read(), *(s.read() for s in optimizer._updater.states.values()))
            ]
            if ok:
                optimizer.step(0.1)
                continue
            with pytest.raises(
                TrainingError,
                match=r"at step 2: in backward order, `root` is the first layer .*. The parameters are unch",
            ):
                optimizer.step(0.1)
            after = [net.arena.values.read(), *(s.read() for s in optimizer._updater.states.values())]
            for one, two in zip(before, after, strict=True):
                np.testing.assert_array_equal(one, two)
        assert optimizer.steps == 2
