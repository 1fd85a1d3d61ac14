"""The examples on real text, with less of it and fewer steps: data are made, a network learns, a text is written on."""

from __future__ import annotations

import runpy
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import paddle_layers as pl
from tests.selection import later_unless_changed

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
TRANSLATION = later_unless_changed(__file__, *map(str, (EXAMPLES / "translation").iterdir()))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A copy of an example, as the working folder."""
    copied = tmp_path / request.param
    shutil.copytree(EXAMPLES / request.param, copied)
    monkeypatch.chdir(copied)
    monkeypatch.syspath_prepend(str(copied))
    sys.modules.pop("make_data", None)
    return copied


def run(monkeypatch: pytest.MonkeyPatch, script: str, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", [script, *arguments])
    runpy.run_path(script, run_name="__main__")


def train(name: str, epochs: str, steps: int) -> pl.training.TrainingReport:
    """Train for some steps only, with the data that lie beside the file."""
    path = Path(f"{name}.textproto")
    text = path.read_text(encoding="utf-8")
    assert epochs in text
    path.write_text(text.replace(epochs, f"steps: {steps}"), encoding="utf-8")
    return pl.train(path)


@pytest.mark.parametrize("folder", ["language"], indirect=True)
@pytest.mark.parametrize("name", ["lstm", "transformer"])
@pytest.mark.slow
def test_a_language_model_learns(folder, name, monkeypatch, capsys):
    run(monkeypatch, "make_data.py", "--length", "24", "--share", "0.05")
    data = np.load("train.npz")
    assert (data["next"][:-1] == data["characters"][1:]).all()
    report = train(name, "epochs: 8", 60)
    assert report.results["loss"] < 3.1, "the letters alone are foretold at 4.57 nats by chance, at 3.1 by their shares"
    capsys.readouterr()
    run(monkeypatch, "sample.py", f"{name}.textproto", str(report.weights), "The ", "--length", "12", "--window", "16")
    assert len(capsys.readouterr().out.rstrip("\n").replace("\n", " ")) >= 12


@pytest.mark.parametrize("folder", ["tagger"], indirect=True)
@pytest.mark.slow
def test_a_tagger_learns(folder, monkeypatch):
    run(monkeypatch, "make_data.py", "--files", "10")
    data = np.load("test.npz")
    assert data["characters.starts"][-1] == len(data["tags"]) > 1000
    report = train("tagger", "epochs: 2", 120)
    assert report.results["chunks.F1"] > 0.6


@pytest.mark.parametrize("folder", ["translation"], indirect=True)
@pytest.mark.parametrize(("name", "steps"), [pytest.param("numbers", 400, marks=TRANSLATION), ("transformer", 600)])
@pytest.mark.slow
def test_numbers_are_learned_and_written(folder, name, steps, monkeypatch, capsys):
    run(monkeypatch, "make_data.py", "--numbers", "8000")
    data = np.load("train.npz")
    assert (data["words"][:-1] == data["before"][1:])[data["words"][:-1] != 1].all()
    learned, held_out = (
        {tuple(part) for part in np.split(one["digits"], one["digits.starts"][1:-1])}
        for one in (data, np.load("test.npz"))
    )
    assert learned.isdisjoint(held_out)
    # After 400 steps, the loss of the transformer is 0.12 to 0.39, by the initial values; after 600 it is 0.03.
    train(name, "epochs: 8", steps)
    run(monkeypatch, "score.py", f"{name}.textproto", "test.npz", "--beam", "4")
    (shown,) = capsys.readouterr().out.splitlines()[-1:]
    assert float(shown.split(" right, ")[1].split(";")[0]) > 0.7


@pytest.mark.parametrize("folder", ["word_vectors"], indirect=True)
@pytest.mark.parametrize(("name", "most"), [("nce", 12.0), ("hsigmoid", 7.35)])
@pytest.mark.slow
def test_vectors_of_words_are_learned(folder, name, most, monkeypatch, capsys):
    run(monkeypatch, "make_data.py", "--share", "0.3")
    data = np.load("train.npz")
    assert data["context.starts"][-1] == len(data["context"]) > 5 * len(data["word"])
    report = train(name, "epochs: 10", 600)
    assert report.results["loss"] < most, "nats: by chance the tree costs 7.6, the drawn words more than 40"
    capsys.readouterr()
    run(monkeypatch, "nearest.py", f"{name}.textproto", str(report.weights), "float", "import")
    assert [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()] == ["float", "import"]
