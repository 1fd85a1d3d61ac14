"""A step of several batches against the step of the batch that they are together, with losses of every kind."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.runtime.memory.tensorfiles import read_tensors
from tests.training.helpers import train

COMPILED = True

pytestmark = pytest.mark.usefixtures("as_python")

ROWS, NORMALIZATIONS = 12, ("VALID", "FULL", "BATCH_SIZE", "NONE")
NET = """
net {
  layer { name: "x" type: "data" data { shape: 4 seq_nested_level: 1 } }
  layer { name: "tag" type: "data" data { data_type: INT size: 3 seq_nested_level: 1 } }
  layer { name: "label" type: "data" data { data_type: INT size: 3 } }
  layer { name: "many" type: "data" data { shape: 3 } }
  layer {
    name: "h" type: "fc" input: "x" fc { size: 5 act: "tanh" error_clip: 0.004 } param { of: "weight" lr_mult: 2 }
  }
  layer { name: "mean" type: "seq_avg_pool" input: "h" }
  layer { name: "scores" type: "fc" input: "mean" fc { size: 3 } param { of: "weight" clip_norm: 0.5 } }
  layer { name: "weight" type: "class_weight" input: "label" class_weight { weights: [1, 2, 0.5] ignore_label: 1 } }
  MORE
  layer { name: "accuracy" type: "accuracy" input: "scores" input: "label" }
}
source { type: "npz" npz { file: "train.npz" } }
dtype: "float64" steps: 4 log { every: 1 } optimizer { type: "sgd" learning_rate: 0.2 sgd { momentum: 0.5 } }
regularizer { type: "l2" l2 { rate: 0.01 } } clip { norm: 0.8 }
"""
SCORED_STEPS = 'layer { name: "tags" type: "fc" input: "h" fc { size: 3 } } '
TAGS = """layer {{ name: "tagging" type: "softmax_with_loss" input: "tags" input: "tag" loss_weight: 0.5
  softmax_with_loss {{ normalization: {} ignore_label: 2 }} }}"""
LABELS = """layer {{ name: "cost" type: "softmax_with_loss" input: "scores" input: "label" input: "weight"
  softmax_with_loss {{ normalization: {} ignore_label: 1 }} }}"""
SEEN = """layer { name: "seen" type: "softmax_with_loss" input: "scores" input: "label" loss_weight: 0
  softmax_with_loss { ignore_label: 0 } }"""
CROSS = """layer {{ name: "p" type: "softmax" input: "tags" }}
layer {{ name: "cross" type: "cross_entropy" input: "p" input: "tag" cross_entropy {{ normalization: {} }} }}"""
SIGMOID = """layer {{ name: "answers" type: "sigmoid_cross_entropy" input: "scores" input: "many"
  sigmoid_cross_entropy {{ normalization: {} }} }}"""
CHAIN = 'layer { name: "chain" type: "crf" input: "tags" input: "tag" loss_weight: 0.1 }'
SQUARES = 'layer { name: "squares" type: "square_error" input: "scores" input: "many" loss_weight: 0.3 }'
COMBINATIONS = {
    "one, NONE": LABELS.format("NONE"),
    **{f"rows and sequences, {kind}": TAGS.format(kind) + LABELS.format("VALID") for kind in NORMALIZATIONS},
    "one that is only looked at": LABELS.format("VALID") + SEEN,
    "a mean and a sum": CROSS.format("FULL") + SIGMOID.format("NONE") + SEEN,
    "sequences of labels and rows": CHAIN + SQUARES + CROSS.format("NONE") + LABELS.format("BATCH_SIZE"),
}


@pytest.fixture
def data(tmp_path):
    """Sequences of unequal lengths, empty ones too; labels of one class lie in one batch."""
    rng = np.random.default_rng(4)
    lengths = np.array([1, 5, 0, 2, 3, 3, 1, 4, 2, 6, 1, 2])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    label = np.array([0, 1, 1, 1, 2, 0, 0, 2, 1, 1, 2, 0])
    many = rng.integers(0, 2, (ROWS, 3)).astype(float)
    ragged = {"x": rng.normal(size=(starts[-1], 4)), "tag": rng.integers(0, 3, starts[-1])}
    sequences = {**ragged, **{f"{name}.starts": starts for name in ragged}}
    np.savez(tmp_path / "train.npz", label=label, many=many, **sequences)
    return tmp_path


def run(folder, more, settings, name):
    """Weights, states of the optimizer and the lines of the log."""
    path = folder / f"{name}.textproto"
    more = (SCORED_STEPS if '"tags"' in more else "") + more
    path.write_text(NET.replace("MORE", more) + settings)
    report, _, _ = train(path, output=folder / name)
    states = read_tensors(next((folder / name / "checkpoints").iterdir()) / "optimizer.safetensors")[0]
    with (folder / name / "log.csv").open() as file:
        lines = [
            [float(one[key] or "nan") for key in one if key not in ("phase", "seconds")] for one in csv.DictReader(file)
        ]
    return read_tensors(report.weights)[0] | states, np.array(lines)


@pytest.mark.parametrize("name", COMBINATIONS)
def test_small_batches_are_a_large_one(data, name):
    """With error clipping, learning rates and norms of single parameters, a penalty and clipping by the norm of all.

    An epoch ends in the middle of a step: 12 rows are a step of 8 and one of 4.
    """
    expected, lines = run(data, COMBINATIONS[name], "batch_size: 8", "large")
    found, others = run(data, COMBINATIONS[name], "batch_size: 2 accumulate: 4", "small")
    np.testing.assert_allclose(others, lines, rtol=1e-9, err_msg="the log: losses, rates and metrics")
    for part, values in expected.items():
        np.testing.assert_allclose(found[part], values, rtol=1e-9, atol=1e-12, err_msg=part)


def test_the_divisors_of_a_batch_are_known_before_its_pass():
    """They are those of the pass, and nothing that outlives a pass changes: states, counts, the number of the step."""
    text = """
    layer { name: "x" type: "data" data { shape: 4 } }
    layer { name: "label" type: "data" data { data_type: INT size: 3 } }
    layer { name: "n" type: "batch_norm" input: "x" }
    layer { name: "s" type: "fc" input: "n" fc { size: 3 drop_rate: 0.5 } }
    layer { name: "a" type: "accuracy" input: "s" input: "label" }
    layer { name: "c" type: "softmax_with_loss" input: "s" input: "label" softmax_with_loss { ignore_label: 0 } }
    """
    rng = np.random.default_rng(1)
    batch = {"x": rng.normal(size=(5, 4)), "label": np.array([0, 1, 0, 2, 0])}
    with pl.Net(pl.loads(text)) as net, pl.Net(pl.loads(text)) as other:
        before = {name: state.value.copy() for name, state in net.states.items()}
        assert net.divisors(batch) == {"c": 2.0}
        assert net.statistics() == {}
        for name, state in net.states.items():
            np.testing.assert_array_equal(state.value, before[name])
        np.testing.assert_array_equal(net.forward(batch)["c"], other.forward(batch)["c"])
        assert {name: one.divisor for name, one in net.loss_sums().items()} == net.divisors(batch)


class Holes:
    """Batches, of which some have a loss that is not finite."""

    def __init__(self, bad):
        rng = np.random.default_rng(0)
        self.batches = [{"x": rng.normal(size=(4, 2)), "y": rng.normal(size=(4, 1))} for _ in range(6)]
        for number in bad:
            self.batches[number]["x"] = np.full((4, 2), 1e200)

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        return iter(self.batches)


HOLES = """
net {
  layer { name: "x" type: "data" data { shape: 2 } }
  layer { name: "y" type: "data" data { shape: 1 } }
  layer { name: "n" type: "batch_norm" input: "x" }
  layer { name: "s" type: "fc" input: "x" fc { size: 1 } }
  layer { name: "both" type: "add" input: "n" input: "n" }
  layer { name: "m" type: "sum_cost" input: "both" loss_weight: 0 }
  layer { name: "c" type: "square_error" input: "s" input: "y" }
}
dtype: "float64" on_nan: "skip" optimizer { type: "sgd" learning_rate: 0.1 sgd { momentum: 0 } } log { every: 1 }
"""


def test_a_step_without_its_bad_batch_is_the_step_of_the_others(tmp_path):
    """Running averages, too: the good batches are gone through once more, with divisors of their own."""
    path, without = tmp_path / "t.textproto", Holes(())
    path.write_text(HOLES + "steps: 2 accumulate: 3")
    report, _, shown = train(path, datasets={"train": Holes((1,))}, output=tmp_path / "skipped")
    assert shown.count("skipped a batch") == 1
    del without.batches[1]
    path.write_text(HOLES + "steps: 1 accumulate: 2")
    first, _, _ = train(path, datasets={"train": without}, output=tmp_path / "first")
    del without.batches[:2]
    path.write_text(HOLES + f'steps: 1 accumulate: 3 weights {{ file: "{first.weights}" }}')
    second, _, _ = train(path, datasets={"train": without}, output=tmp_path / "second")
    found = read_tensors(report.weights)[0]
    for name, values in read_tensors(second.weights)[0].items():
        np.testing.assert_allclose(found[name], values, rtol=1e-12, err_msg=name)
