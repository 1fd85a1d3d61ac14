"""Trainings that go on bit for bit where they stopped: images with random transforms, sequences of any length."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.data import Dataset
from paddle_layers.training.problems import TrainingError
from paddle_layers.training.progress import LineProgress
from paddle_layers.training.results.records import read_records
from tests.training import helpers as small
from tests.training.helpers import Losses

COMPILED = True

IMAGES = """
net {
  name: "images"
  layer { name: "image" type: "data" data { shape: [2, 6, 6] } }
  layer { name: "label" type: "data" data { data_type: INT size: 3 } }
  layer { name: "conv" type: "conv" input: "image" conv { num_filters: 4 filter_size: 3 } }
  layer { name: "norm" type: "batch_norm" input: "conv" batch_norm { act: "relu" drop_rate: 0.3 } }
  layer { name: "scores" type: "fc" input: "norm" fc { size: 3 } }
  layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
}
source {
  type: "npz" phase: "train" npz { file: "none.npz" }
  transform { type: "crop" input: "image" crop { size: 6 padding: 1 } }
  transform { type: "mirror" input: "image" mirror { } }
}
batch_size: 7 steps: 25
optimizer { type: "sgd" learning_rate: 0.05 sgd { momentum: 0.9 } }
schedule { type: "poly" poly { warmup: 4 } }
regularizer { type: "l2" l2 { rate: 0.001 } }
clip { norm: 2 }
"""
# A hidden layer over the words: how many there are in a batch decides which kernel multiplies.
SENTENCES = """
net {
  name: "sentences"
  layer { name: "words" type: "data" data { data_type: INT size: 20 seq_nested_level: 1 } }
  layer { name: "label" type: "data" data { data_type: INT size: 3 } }
  layer { name: "vectors" type: "embedding" input: "words" embedding { size: 16 } }
  layer { name: "hidden" type: "fc" input: "vectors" fc { size: 24 act: "tanh" drop_rate: 0.2 } }
  layer { name: "mean" type: "seq_avg_pool" input: "hidden" }
  layer { name: "scores" type: "fc" input: "mean" fc { size: 3 } }
  layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
}
source { type: "npz" phase: "train" npz { file: "none.npz" } }
batch_size: 3 steps: 25
optimizer { type: "nesterov" learning_rate: 0.05 }
"""


def images(rng):
    return {"image": rng.normal(size=(40, 2, 6, 6)).astype(np.float32), "label": rng.integers(0, 3, 40)}


def sentences(rng):
    lengths = rng.choice([0, 1, 2, 5, 30], 40)
    starts = np.cumsum([0, *lengths])
    return {"words": rng.integers(0, 20, starts[-1]), "words.starts": starts, "label": rng.integers(0, 3, 40)}


CASES = {"images": (IMAGES, images), "sentences": (SENTENCES, sentences)}


def train(folder, name, output, stop_after=None, **options):
    text, make = CASES[name]
    path = folder / "train.textproto"
    path.write_text(text)
    losses = Losses(stop_after)
    report = pl.train(
        path,
        output=folder / output,
        datasets={"train": Dataset(make(np.random.default_rng(2)))},
        callbacks=[losses],
        progress=LineProgress(io.StringIO()),
        **options,
    )
    return losses.losses, report.weights.read_bytes()


@pytest.mark.parametrize("name", CASES)
def test_every_place_to_stop(tmp_path, name):
    expected, weights = train(tmp_path, name, "whole")
    assert len(expected) == 25
    for stop in (1, 6, 12, 19):
        first, _ = train(tmp_path, name, str(stop), stop_after=stop)
        second, resumed = train(tmp_path, name, str(stop), resume=True)
        assert min(second) == stop + 1
        assert {**first, **second} == expected
        assert resumed == weights


@pytest.mark.parametrize("name", CASES)
def test_a_training_in_many_parts(tmp_path, name):
    expected, weights = train(tmp_path, name, "whole")
    found, _ = train(tmp_path, name, "parts", stop_after=4)
    for stop in (8, 13, 14, None):
        more, resumed = train(tmp_path, name, "parts", stop_after=stop, resume=True)
        found |= more
    assert found == expected
    assert resumed == weights


def test_going_on_from_a_checkpoint_of_a_training_that_went_on(tmp_path, monkeypatch):
    """Words that few batches use: what momentum does to the others is pending, but not in what is saved."""
    text = SENTENCES.replace("size: 20", "size: 400") + "checkpoint { every: 6 keep: 9 }"

    def words(rng):
        found = sentences(rng)
        return {**found, "words": rng.integers(0, 400, len(found["words"]))}

    monkeypatch.setitem(CASES, "sentences", (text, words))
    expected, weights = train(tmp_path, "sentences", "whole")
    for step in (6, 12, 18):
        shutil.copytree(tmp_path / "whole", tmp_path / str(step))
        for later in (tmp_path / str(step) / "checkpoints").iterdir():
            if int(later.name.removeprefix("step-")) > step:
                shutil.rmtree(later)
        found, resumed = train(tmp_path, "sentences", str(step), resume=True)
        assert found == {after: loss for after, loss in expected.items() if after > step}
        assert resumed == weights


def test_float64_too(tmp_path, monkeypatch):
    monkeypatch.setitem(CASES, "images", (IMAGES + 'dtype: "float64"', images))
    expected, _ = train(tmp_path, "images", "whole")
    train(tmp_path, "images", "parts", stop_after=11)
    second, _ = train(tmp_path, "images", "parts", resume=True)
    assert second == {step: expected[step] for step in range(12, 26)}


def test_a_checkpoint_without_all_facts_is_refused(tmp_path):
    train(tmp_path, "images", "parts", stop_after=3)
    (tmp_path / "parts" / "checkpoints" / "step-00000003" / "state.json").write_text('{"step": 3}')
    with pytest.raises(pl.training.TrainingError, match=r"state\.json is not a checkpoint; delete"):
        train(tmp_path, "images", "parts", resume=True)


def test_ctrl_c_in_a_process_of_its_own(tmp_path):
    """The signal comes from outside, at any moment of a step; the command ends in order and can be continued."""
    example = Path(__file__).parents[2] / "docs" / "examples" / "text" / "sparse.textproto"
    path = tmp_path / "train.textproto"
    path.write_text(example.read_text().replace("epochs: 10", "steps: 10000000").replace("every: 38", "every: 5"))
    for name in ("train.npz", "test.npz"):
        (tmp_path / name).write_bytes((example.parent / name).read_bytes())
    command = [sys.executable, "-m", "paddle_layers", "train", path.name, "--output", "out"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("step 10/"):
                process.send_signal(signal.SIGINT)
                break
        output, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    assert "Stopped after" in output
    assert "Ctrl-C" in output
    assert "--output out --resume" in output
    assert "Traceback" not in errors
    (checkpoint,) = (tmp_path / "out" / "checkpoints").iterdir()
    assert int(checkpoint.name.removeprefix("step-")) >= 10


class Killed(BaseException):
    """As a signal ends a process: nothing is tidied up."""


class Kill:
    """A callback that ends the training at an event of a step."""

    def __init__(self, event, step):
        self.event, self.step = event, step

    def on_step(self, run):
        self._at("step", run)

    def on_test(self, run):
        self._at("test", run)

    def on_end(self, run):
        self._at("end", run)

    def _at(self, event, run):
        if event == self.event and run.step >= self.step:
            raise Killed


def log(folder):
    return [{**line, "seconds": ""} for line in read_records(folder / "log.csv")]


TESTS = ["", "test { every: 5 }", "test { every: 7 }"]


@pytest.fixture(scope="module", params=TESTS)
def uninterrupted(request, tmp_path_factory):
    """A training file, and the log of its training without an interruption."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    path = small.write(folder, small.NETWORK + small.SOURCES + small.SETTINGS + request.param)
    small.train(path, output=folder / "whole")
    return path, log(folder / "whole")


@pytest.mark.parametrize(
    ("event", "step"),
    [("step", 11), ("step", 14), ("step", 15), ("step", 25), ("step", 30), ("test", 12), ("test", 29), ("end", 1)],
)
def test_the_log_after_a_kill_is_that_of_an_uninterrupted_training(tmp_path, uninterrupted, event, step):
    path, expected = uninterrupted
    with pytest.raises(Killed):
        small.train(path, output=tmp_path / "parts", callbacks=[Kill(event, step)])
    small.train(path, output=tmp_path / "parts", resume=True)
    assert log(tmp_path / "parts") == expected


@pytest.mark.parametrize("tests", TESTS)
def test_a_finished_training_that_is_resumed_leaves_its_log(tmp_path, tests):
    path = small.write(tmp_path, small.NETWORK + small.SOURCES + small.SETTINGS + tests)
    first, _, _ = small.train(path)
    before = first.log.read_bytes()
    again, losses, _ = small.train(path, resume=True)
    assert first.log.read_bytes() == before
    assert (again.results, losses) == (first.results, {})


@pytest.mark.parametrize("stop", [3, 5, 12, 14, 28])
def test_the_log_after_a_stop_too(tmp_path, uninterrupted, stop):
    path, expected = uninterrupted
    small.train(path, output=tmp_path / "parts", stop_after=stop)
    small.train(path, output=tmp_path / "parts", resume=True)
    assert log(tmp_path / "parts") == expected


@pytest.mark.parametrize(
    "statistics", ["accuracy", [1], [["accuracy", "hits", "many"]], [["accuracy", "hits", [1, 2]]]]
)
def test_statistics_of_a_checkpoint_that_are_none(tmp_path, statistics):
    path = small.write(tmp_path)
    report, _, _ = small.train(path, stop_after=12)
    facts = report.folder / "checkpoints" / "step-00000012" / "state.json"
    facts.write_text(json.dumps({**json.loads(facts.read_text()), "statistics": statistics}))
    with pytest.raises(pl.training.TrainingError, match=r"invalid metrics in .*; delete"):
        small.train(path, resume=True)


def test_other_parameters_that_learn_are_said(tmp_path):
    path = small.write(tmp_path)
    small.train(path, stop_after=15)
    text = path.read_text()
    path.write_text(text + 'param { of: "fc1.bias" frozen: true }')
    with pytest.raises(TrainingError, match=r"`fc1.bias` is no longer trained; to train other"):
        small.train(path, resume=True)
    facts = max(tmp_path.glob("output/checkpoints/*/state.json"))
    known = json.loads(facts.read_text())
    facts.write_text(json.dumps(known | {"trained": 3}))
    with pytest.raises(TrainingError, match="`trained` is 3, expected a list of names"):
        small.train(path, resume=True)
    path.write_text(text)
    facts.write_text(json.dumps(known | {"trained": known["trained"][::-1]}))  # of layers in another order
    with pytest.raises(TrainingError, match=r"`fc1\.weight` is where `fc2\.bias` was"):
        small.train(path, resume=True)
    facts.write_text(json.dumps({name: value for name, value in known.items() if name != "trained"}))
    assert small.train(path, resume=True)[0].steps == 30  # of an earlier version
