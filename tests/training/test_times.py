"""When there are tests and checkpoints; batches whose loss is no number."""

from __future__ import annotations

import numpy as np
import pytest

from paddle_layers.runtime.memory.tensorfiles import read_tensors
from paddle_layers.training.checkpoints.files import checkpoints
from paddle_layers.training.problems import TrainingError
from paddle_layers.training.results.records import read_records
from tests.training.helpers import NETWORK, SOURCES, train, write

PLAIN = NETWORK.replace(" drop_rate: 0.25", "")
COMMON = 'batch_size: 8 epochs: 5 optimizer { type: "sgd" learning_rate: 0.02 }\n'
"""50 rows: an epoch has 7 steps."""


def steps_of_tests(folder):
    return [int(line["step"]) for line in read_records(folder / "output" / "log.csv") if line["phase"] == "test"]


@pytest.mark.parametrize(
    ("settings", "steps"),
    [
        ("", [35]),
        ("test { every_epochs: 2 }", [14, 28, 35]),
        ("test { every_epochs: 1 at_start: true }", [0, 7, 14, 21, 28, 35]),
        ("test { every: 10 every_epochs: 3 }", [10, 20, 21, 30, 35]),
        ("test { at_start: true }", [0, 35]),
    ],
)
def test_when_there_are_tests(tmp_path, settings, steps):
    train(write(tmp_path, PLAIN + SOURCES + COMMON + settings))
    assert steps_of_tests(tmp_path) == steps


def test_checkpoints_by_epochs(tmp_path):
    train(write(tmp_path, PLAIN + SOURCES + COMMON + "checkpoint { every_epochs: 2 keep: 9 }"))
    assert [path.name for path in checkpoints(tmp_path / "output" / "checkpoints")] == [
        f"step-{step:08d}" for step in (14, 28, 35)
    ]


def test_a_resumed_training_tests_at_the_same_steps(tmp_path):
    path = write(
        tmp_path, PLAIN + SOURCES + COMMON + "test { every_epochs: 1 at_start: true } checkpoint { every_epochs: 2 }"
    )
    train(path, output=tmp_path / "whole")
    train(path, stop_after=16)
    train(path, resume=True)
    assert steps_of_tests(tmp_path) == [0, 7, 14, 21, 28, 35]
    whole = [line["loss"] for line in read_records(tmp_path / "whole" / "log.csv") if line["phase"] == "test"]
    assert [line["loss"] for line in read_records(tmp_path / "output" / "log.csv") if line["phase"] == "test"] == whole


def test_a_limited_number_of_batches(tmp_path):
    report, _, _ = train(write(tmp_path, PLAIN + SOURCES + COMMON + "test { batches: 1 }"))
    data = np.load(tmp_path / "test.npz")
    path = write(tmp_path, PLAIN + SOURCES + COMMON)
    np.savez(tmp_path / "test.npz", x=data["x"][:8], label=data["label"][:8])
    other, _, _ = train(path, output=tmp_path / "other")
    assert report.results == other.results


NORMED = PLAIN.replace(
    'layer { name: "fc2"', 'layer { name: "bn" type: "batch_norm" input: "fc1" }\n  layer { name: "fc2"'
).replace('input: "fc1" fc { size: 3 }', 'input: "bn" fc { size: 3 }')


class Holes:
    """Batches, some of which have a loss that is no number."""

    def __init__(self, bad):
        rng = np.random.default_rng(0)
        self.batches = []
        for number in range(12):
            x = rng.normal(size=(4, 8)).astype(np.float32)
            if number in bad:
                x = np.copysign(np.float32(3e38), x)
            self.batches.append({"x": x, "label": rng.integers(0, 3, 4)})

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        return iter(self.batches)


SHORT = 'steps: 12 optimizer { type: "sgd" learning_rate: 0.02 } log { every: 1 }\n'


@pytest.mark.parametrize("accumulate", [1, 3])
def test_a_batch_without_a_loss_is_skipped(tmp_path, accumulate):
    text = NORMED + SHORT + f'on_nan: "skip" accumulate: {accumulate}\n'
    steps = 12 // accumulate
    path = write(tmp_path, text.replace("steps: 12", f"steps: {steps}"))
    report, _, shown = train(path, datasets={"train": Holes({3, 7})})
    assert shown.count("skipped a batch: the loss is nan at step ") == 2
    assert "the first layer whose output is not finite is `" in shown
    assert "2 batches were skipped: the loss or a gradient was not finite" in str(report)
    assert all(np.isfinite(values).all() for values in read_tensors(report.weights)[0].values())
    losses = [float(line["loss"]) for line in read_records(tmp_path / "output" / "log.csv")]
    assert np.isfinite(losses).all()
    assert len(losses) == (10 if accumulate == 1 else 4)


def test_without_being_asked_it_stops(tmp_path):
    path = write(tmp_path, NORMED + SHORT)
    with pytest.raises(TrainingError, match="at step 4: the first layer whose output is not finite is"):
        train(path, datasets={"train": Holes({3})})


def test_it_stops_when_all_are_bad(tmp_path):
    path = write(tmp_path, NORMED + SHORT.replace("12", "60") + 'on_nan: "skip"\n')
    with pytest.raises(TrainingError, match="20 consecutive batches were skipped"):
        train(path, datasets={"train": Holes(set(range(12)))})


class Rates:
    def __init__(self):
        self.rates = {}

    def on_step(self, run):
        self.rates[run.step] = run.rate


PLATEAU = """
batch_size: 8 steps: 12 optimizer { type: "sgd" learning_rate: 0.1 } test { every: 2 } checkpoint { every: 3 }
callback { type: "plateau" plateau { gamma: 0.5 patience: 1 margin: 100 floor: 0.2 } }
"""


def test_a_plateau_lowers_the_rate(tmp_path):
    """No test is better by the margin than the first one, after two steps."""
    path, seen = write(tmp_path, PLAIN + SOURCES + PLATEAU), Rates()
    _, losses, shown = train(path, callbacks=[seen], output=tmp_path / "whole")
    expected = [0.1] * 4 + [0.05] * 2 + [0.025] * 2 + [0.02] * 4
    assert list(seen.rates.values()) == pytest.approx(expected)
    assert shown.count("`loss` has not improved; the learning rate is") == 3
    train(path, stop_after=7)
    _, others, _ = train(path, resume=True)
    assert others == {step: losses[step] for step in others}


def test_the_rate_stays_where_tests_become_better(tmp_path):
    path, seen = write(tmp_path, PLAIN + SOURCES + PLATEAU.replace("margin: 100", "margin: 0 patience: 9")), Rates()
    path.write_text(path.read_text().replace("patience: 1 ", ""))
    train(path, callbacks=[seen])
    assert set(seen.rates.values()) == {0.1}
