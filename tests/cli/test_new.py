"""`paddle-layers new`: a project that validates, and nothing that is there is touched."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from paddle_layers.cli.app import commands


@pytest.fixture
def project(tmp_path: Path) -> Path:
    result = CliRunner().invoke(commands, ["new", str(tmp_path / "first")])
    assert result.exit_code == 0, result.output
    return tmp_path / "first"


def test_files(project: Path) -> None:
    names = "README.md network.textproto test.csv test.npz train.csv train.npz train.textproto"
    assert sorted(path.name for path in project.iterdir()) == names.split()
    assert len((project / "README.md").read_text().splitlines()) == 10


def test_csv_and_npz_hold_the_same(project: Path) -> None:
    for part in ("train", "test"):
        rows = list(csv.DictReader((project / f"{part}.csv").read_text().splitlines()))
        with np.load(project / f"{part}.npz") as stored:
            arrays = dict(stored)
        assert [int(row["label"]) for row in rows] == arrays["label"].tolist()
        features = np.array([[row["x"], row["y"]] for row in rows], np.float32)
        assert np.array_equal(features, arrays["features"])
        assert not np.isnan(features).any()


def test_data_are_the_same_every_time(project: Path, tmp_path: Path) -> None:
    CliRunner().invoke(commands, ["new", str(tmp_path / "second")])
    assert (tmp_path / "second" / "train.csv").read_bytes() == (project / "train.csv").read_bytes()


def test_the_configs_are_valid(project: Path) -> None:
    files = [str(project / name) for name in ("network.textproto", "train.textproto")]
    result = CliRunner().invoke(commands, ["validate", *files])
    assert result.exit_code == 0, result.output


def test_an_existing_folder_is_left_alone(project: Path) -> None:
    (project / "train.csv").write_text("mine")
    result = CliRunner().invoke(commands, ["new", str(project)])
    assert result.exit_code == 1
    assert "already exists and is not an empty folder" in result.stderr
    assert (project / "train.csv").read_text() == "mine"


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "first").write_text("mine")
    result = CliRunner().invoke(commands, ["new", str(tmp_path / "first")])
    assert result.exit_code == 1
    assert "already exists" in result.stderr
