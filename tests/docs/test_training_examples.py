"""The example trainings in docs/examples."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import paddle_layers as pl

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


@pytest.mark.parametrize("name", ["sequence", "sparse"])
def test_text(name, tmp_path):
    report = pl.train(EXAMPLES / "text" / f"{name}.textproto", output=tmp_path)
    assert report.results["accuracy"] > 0.85


def test_the_script_of_the_text_example_writes_the_files_beside_it(tmp_path):
    subprocess.run([sys.executable, EXAMPLES / "text" / "make_data.py", tmp_path], check=True, capture_output=True)
    for name in ("train.npz", "test.npz"):
        with np.load(tmp_path / name) as made, np.load(EXAMPLES / "text" / name) as stored:
            assert sorted(made) == sorted(stored)
            assert all(np.array_equal(made[field], stored[field]) for field in made)


@pytest.mark.slow
def test_digits(tmp_path):
    results = [
        pl.train(EXAMPLES / "digits" / "train.textproto", output=tmp_path / str(seed), seed=seed).results["accuracy"]
        for seed in range(5)
    ]
    assert np.mean(results) >= 0.98
    assert min(results) >= 0.972


@pytest.mark.slow
def test_fine_tuning_beats_first_values_that_know_nothing(tmp_path, monkeypatch):
    """With the figures of the guide, in percent: mean, lowest and highest of five seeds."""
    folder = shutil.copytree(EXAMPLES / "fine-tuning", tmp_path / "example")
    monkeypatch.chdir(folder)
    subprocess.run([sys.executable, "make_data.py"], check=True)
    pl.train("eight.textproto")
    page = (EXAMPLES.parent / "how-to" / "fine-tuning.md").read_text()
    results = {}
    for name in ("scratch", "ten"):
        reports = [pl.train(f"{name}.textproto", output=f"{name}-{seed}", seed=seed) for seed in range(5)]
        results[name] = 100 * np.array([report.results["accuracy"] for report in reports])
        (row,) = re.findall(rf"`{name}.textproto` \|(.*)\|$", page, re.MULTILINE)
        told = [float(cell.removesuffix(" % ")) for cell in row.split("|")]
        np.testing.assert_allclose([results[name].mean(), results[name].min(), results[name].max()], told, atol=4)
    assert min(results["ten"]) > max(results["scratch"]) + 5


@pytest.mark.slow
def test_a_detector_finds_digits(tmp_path, monkeypatch):
    """Fewer pictures and steps than the example has: boxes for each picture, and a picture of them."""
    pytest.importorskip("PIL")
    folder = shutil.copytree(EXAMPLES / "detection", tmp_path / "example")
    monkeypatch.chdir(folder)
    subprocess.run([sys.executable, "make_data.py", "--train", "600", "--test", "60"], check=True)
    with np.load("train.npz") as data:
        assert data["boxes.starts"][-1] == len(data["classes"]) > 600
        assert (data["boxes"][:, :2] < data["boxes"][:, 2:]).all()
    path = Path("detector.textproto")
    text = path.read_text()
    assert "epochs: 5" in text
    path.write_text(text.replace("epochs: 5", "steps: 180"))
    report = pl.train(path)
    assert report.results["map"] > 0.3
    subprocess.run([sys.executable, "-m", "paddle_layers", "predict", path, "--output", "boxes.npz"], check=True)
    with np.load("boxes.npz") as found:
        assert found["found.box"].shape == (found["found.starts"][-1], 4)
        assert len(found["found.starts"]) == 61
        assert found["found"].min() >= 1, "the background is not found"
    subprocess.run([sys.executable, "draw.py", "test.npz", "boxes.npz", "found.png", "--count", "3"], check=True)
    assert Path("found.png").stat().st_size > 1000
