"""The examples that draw or segment images, with less of the data and fewer steps."""

from __future__ import annotations

import runpy
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

import paddle_layers as pl
from paddle_layers.cli.app import commands

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A copy of an example, as the working folder."""
    copied = tmp_path / request.param
    shutil.copytree(EXAMPLES / request.param, copied)
    monkeypatch.chdir(copied)
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


@pytest.mark.parametrize("folder", ["segmentation"], indirect=True)
@pytest.mark.slow
def test_a_network_segments(folder, monkeypatch):
    run(monkeypatch, "make_data.py", "--train", "128", "--test", "8")
    with np.load("train.npz") as data:
        shares = np.bincount(data["label"].ravel(), minlength=11) / data["label"].size
    report = train("segmentation", "epochs: 14", 120)
    assert report.results["loss"] < -(shares * np.log(shares)).sum(), "shares of the classes alone cost more"
    found = CliRunner().invoke(commands, ["predict", "segmentation.textproto", "--output", "found.npz"])
    assert not found.exit_code, found.output
    run(monkeypatch, "draw.py", "found.npz", "found.svg")
    with np.load("found.npz") as arrays:
        assert arrays["scores.class"].shape == (8, 32, 32)
    assert ElementTree.parse("found.svg").getroot().tag.endswith("svg")


@pytest.mark.parametrize("folder", ["generation"], indirect=True)
@pytest.mark.slow
def test_a_network_draws_digits(folder, monkeypatch, capsys):
    run(monkeypatch, "make_data.py")
    plain = float(capsys.readouterr().out.split("independent pixels: ")[1].split()[0])
    report = train("generation", "epochs: 200", 600)
    assert report.results["loss"] < plain - 2
    run(monkeypatch, "sample.py", str(report.weights), "drawn.svg")
    assert ElementTree.parse("drawn.svg").getroot().tag.endswith("svg")


@pytest.mark.parametrize("folder", ["adversarial"], indirect=True)
@pytest.mark.slow
def test_two_networks_learn_from_each_other(folder, monkeypatch, capsys):
    distances = []
    for steps in (1, 250):
        run(monkeypatch, "train.py", "--steps", str(steps))
        distances.append(float(capsys.readouterr().out.split("the generator: distance ")[1]))
    assert distances[1] < distances[0] / 3
    assert ElementTree.parse("output/adversarial/samples.svg").getroot().tag.endswith("svg")
    with pl.Net(pl.load("generator.textproto")) as net:
        net.load("output/adversarial/generator.safetensors")
        drawn = net.forward({"code": np.zeros((1, 24), np.float32)}, phase="test")["pixels"]
    assert drawn.std() > 0.1
