"""The log as JSON lines and as events of TensorBoard, which TensorBoard's own reader reads back."""

from __future__ import annotations

import csv
import json
import math

import pytest

import paddle_layers as pl
from paddle_layers.config.trainingfiles import loads_training
from paddle_layers.training import TrainingError
from paddle_layers.training.results import logs
from tests.training.helpers import NETWORK, SETTINGS, SOURCES, train, write

TEXT = NETWORK + SOURCES + SETTINGS.replace(
    "log { every: 5 }", 'log { every: 5 format: "jsonl" format: "tensorboard" } test { every: 10 }'
)  # fmt: skip


def table(folder):
    with (folder / "log.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def lines(folder):
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def points(folder, phase):
    """The points of each curve, as TensorBoard shows them."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder / "tensorboard" / phase))
    found.Reload()
    return {tag: [(one.step, one.value) for one in found.Scalars(tag)] for tag in found.Tags()["scalars"]}


def check(folder):
    """All three say the same."""
    rows = table(folder)
    assert rows
    for row, line in zip(rows, lines(folder), strict=True):
        numbers = {name: float(text) for name, text in row.items() if text and name != "phase"}
        assert line == {**numbers, "phase": row["phase"]}
    for phase in ("train", "test"):
        shown = points(folder, phase)
        names = {"loss", "accuracy"} | ({"rate"} if phase == "train" else set())
        assert set(shown) == names
        for name in names:
            expected = [(int(row["step"]), float(row[name])) for row in rows if row["phase"] == phase]
            assert [step for step, _ in shown[name]] == [step for step, _ in expected]
            assert [value for _, value in shown[name]] == pytest.approx([value for _, value in expected], rel=1e-6)


def test_all_forms_say_the_same_also_after_an_interruption(tmp_path):
    path, output = write(tmp_path, TEXT), tmp_path / "output"
    report, _, _ = train(path)
    check(output)
    assert (f"tensorboard --logdir {output}/tensorboard", "Monitor") in report.commands
    whole = [{**row, "seconds": ""} for row in table(output)]
    train(path, overwrite=True, stop_after=17)
    check(output)
    train(path, resume=True)
    check(output)
    assert [{**row, "seconds": ""} for row in table(output)] == whole
    (output / "tensorboard" / "train" / "mine.txt").write_text("kept")
    pl.train(
        TEXT.replace('format: "jsonl" format: "tensorboard"', ""),
        datasets=data(tmp_path),
        output=output,
        overwrite=True,
    )
    assert not (output / "log.jsonl").exists(), "nothing of an earlier training is taken for this one's"
    assert [one.name for one in (output / "tensorboard").rglob("*") if one.is_file()] == ["mine.txt"]


def data(folder):
    import numpy as np

    with np.load(folder / "train.npz") as arrays:
        rows = dict(arrays)
    return {"train": rows, "test": rows}


def test_what_is_no_number_is_null(tmp_path):
    records = logs.CsvLog(tmp_path / "log.csv", ["auc"])
    (log,) = logs.open_logs(["jsonl"], tmp_path, records, None)
    log.add({"step": 1, "phase": "test", "loss": math.inf, "auc": math.nan, "rate": None})
    assert lines(tmp_path) == [{"step": 1, "phase": "test", "loss": None, "auc": None}]


def test_a_writer_that_is_not_installed_is_named_before_anything_is_done(tmp_path, monkeypatch):
    monkeypatch.setattr(logs.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(TrainingError, match=r"needs tensorboardX: pip install 'paddle-layers\[tensorboard\]'"):
        train(write(tmp_path, TEXT))
    assert not (tmp_path / "output").exists()


def test_an_unknown_form_is_refused():
    with pytest.raises(pl.ConfigError, match="jsonl") as caught:
        loads_training(TEXT.replace("tensorboard", "wandb"))
    (fault,) = caught.value.diagnostics
    assert "tensorboard" in f"{fault.message} {fault.help}"
