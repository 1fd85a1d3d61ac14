"""Data from Python in place of sources: arrays by field, and batches of somebody else's making."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.data import DataError, Dataset
from paddle_layers.training import TrainingError
from tests.training.helpers import NETWORK, SETTINGS, SOURCES, train

SHORT = SETTINGS.replace("steps: 30", "steps: 10")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 8)).astype(np.float32)
LABEL = RNG.integers(0, 3, 20)
BATCHES = [{"x": X[first : first + 8], "label": LABEL[first : first + 8]} for first in (0, 8, 16)]


class Again:
    """Can be iterated again, and does not know how long it is."""

    def __iter__(self):
        yield from BATCHES


def path_of(folder: Path, text: str = NETWORK + SHORT) -> Path:
    path = folder / "train.textproto"
    path.write_text(text)
    return path


def test_dicts_of_arrays_and_no_source(tmp_path):
    path = path_of(tmp_path)
    data = {"x": X, "label": LABEL}
    report, losses, _ = train(path, datasets={"train": data, "test": data})
    assert len(losses) == 10
    same = train(path, datasets={"train": Dataset(data), "test": Dataset(data)}, output=tmp_path / "same")
    assert same[1] == losses
    found = pl.predict(path, {"x": X}, weights=report.weights)
    assert found.classes["fc2"].tolist() == found.values["fc2"].argmax(axis=1).tolist()
    evaluated = pl.evaluate(path, data, weights=report.weights)
    assert evaluated.results == pytest.approx(report.results)
    with pytest.raises(TrainingError, match="has no source to read files with: pass arrays"):
        pl.predict(path, "some.csv", weights=report.weights)


@pytest.mark.parametrize("make", [lambda: BATCHES, Again, lambda: (BATCHES[i % 3] for i in range(10))])
def test_batches_are_the_same_from_a_list_an_object_and_a_generator(tmp_path, make):
    path = path_of(tmp_path, NETWORK.replace("drop_rate: 0.25", "") + SHORT)
    whole = Dataset({"x": X, "label": LABEL})
    source = 'source { type: "npz" shuffle: false npz { file: "none.npz" } }'
    other = tmp_path / "other.textproto"
    other.write_text(NETWORK.replace("drop_rate: 0.25", "") + SHORT + source)
    expected = train(other, datasets={"train": whole}, output=tmp_path / "expected")[1]
    assert train(path, datasets={"train": make(), "test": Again()})[1] == expected


def test_epochs_of_a_list_end_and_are_told(tmp_path):
    class Epochs:
        ends: ClassVar[list[int]] = []

        def on_epoch(self, run):
            self.ends.append(run.step)

    path = path_of(tmp_path, NETWORK + SHORT.replace("steps: 10", "epochs: 3"))
    report = train(path, datasets={"train": BATCHES}, callbacks=[Epochs()])[0]
    assert (report.steps, Epochs.ends) == (9, [3, 6, 9])


@pytest.mark.parametrize("make", [lambda: BATCHES, Again, lambda: (BATCHES[i % 3] for i in range(10))])
def test_a_resumed_training_goes_on_in_the_stream(tmp_path, make):
    path = path_of(tmp_path)
    whole = train(path, datasets={"train": make()}, output=tmp_path / "whole")[1]
    train(path, datasets={"train": make()}, output=tmp_path / "parts", stop_after=5)
    rest = train(path, datasets={"train": make()}, output=tmp_path / "parts", resume=True)[1]
    assert rest == {step: whole[step] for step in range(6, 11)}


def test_transforms_and_feeds_hold_for_streams(tmp_path):
    source = (
        'source { type: "npz" npz { file: "none.npz" } transform { type: "scale" input: "x" scale { factor: 2 } } }'
    )
    feed = 'feed { input: "x" field: "pixels" }'
    path = path_of(tmp_path, NETWORK + SHORT + source + feed)
    renamed = [{"pixels": batch["x"] / 2, "label": batch["label"]} for batch in BATCHES]
    plain = path_of(tmp_path / "plain") if (tmp_path / "plain").mkdir() is None else path
    expected = train(plain, datasets={"train": BATCHES})[1]
    assert train(path, datasets={"train": renamed})[1] == expected


@pytest.mark.parametrize(
    ("datasets", "message"),
    [
        ({"training": {"x": X}}, "unknown phase 'training' in `datasets`"),
        ({"train": X}, r'datasets\["train"\] has type ndarray, expected a dict of arrays by field'),
        (
            {"train": BATCHES, "test": iter(BATCHES)},
            r'datasets\["test"\] can be iterated only once, but every test reads it',
        ),
        (
            {"train": (X, LABEL)},
            r'datasets\["train"\], batch 0 is ndarray, expected a dict with one array .* such as {"feat',
        ),
        ({"train": iter([X])}, r'datasets\["train"\], batch 0 is ndarray, expected a dict with one array'),
        ({"train": []}, r'datasets\["train"\] has no batches'),
        ({"train": iter(BATCHES)}, "ended after 3 batches: reduce the number of steps, or pass a re-iterable object"),
        ({"train": [{"x": X}]}, r'datasets\["train"\], batch 0 has no field `label` for the data layer `label`'),
        (
            {"train": [BATCHES[0], {"x": X * np.nan, "label": LABEL}]},
            r'datasets\["train"\], batch 1, row 0: field `x` is nan',
        ),
    ],
)
def test_mistakes(tmp_path, datasets, message):
    text = NETWORK + SHORT if "train" in datasets else NETWORK + SOURCES + SHORT
    with pytest.raises((TrainingError, DataError), match=message):
        train(path_of(tmp_path, text), datasets=datasets)
    untrained = "train" in datasets and "ended after" not in message and "batch 1" not in message
    assert not (untrained and [*tmp_path.rglob("weights.safetensors")]), "`predict` would use initial weights"


def test_epochs_need_a_length(tmp_path):
    path = path_of(tmp_path, NETWORK + SHORT.replace("steps: 10", "epochs: 3"))
    with pytest.raises(TrainingError, match="has no length: set `steps`"):
        train(path, datasets={"train": Again()})


def test_a_norm_cannot_be_measured_on_a_stream(tmp_path):
    text = NETWORK.replace('type: "fc" input: "x"', 'type: "fc" input: "norm"').replace(
        '  layer { name: "label"', '  layer { name: "norm" type: "data_norm" input: "x" }\n  layer { name: "label"'
    )
    path = path_of(tmp_path, text + SHORT)
    with pytest.raises(TrainingError, match="layer `norm` computes its statistics from all data before the first step"):
        train(path, datasets={"train": BATCHES})
    weights = train(path, datasets={"train": {"x": X, "label": LABEL}}, output=tmp_path / "measured")[0].weights
    assert train(path, datasets={"train": BATCHES}, weights=weights, overwrite=True)[0].steps == 10
