"""Predictions of files and from stdin, and the share of unknown words."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.data import DataError
from paddle_layers.data.sinks.opening import open_sink
from paddle_layers.data.sinks.values import Values

pytestmark = pytest.mark.usefixtures("as_python")

TEXT = """
net {
  layer { name: "remark" type: "data" data { data_type: INT size: 3 seq_nested_level: 1 } }
  layer { name: "label" type: "data" data { data_type: INT size: 2 } }
  layer { name: "words" type: "embedding" input: "remark" embedding { size: 2 } }
  layer { name: "mean" type: "seq_avg_pool" input: "words" }
  layer { name: "scores" type: "fc" input: "mean" fc { size: 2 } }
  layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
}
batch_size: 2 steps: 2
source { type: "csv" csv { file: "t.csv" text: "remark" label: "label" columns: "features = label" } }
optimizer { type: "sgd" learning_rate: 0.1 }
output: "out"
"""
IMAGES = """
net {
  layer { name: "image" type: "data" data { shape: [1, 4, 4] } }
  layer { name: "label" type: "data" data { data_type: INT size: 2 } }
  layer { name: "scores" type: "fc" input: "image" fc { size: 2 } }
  layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
}
batch_size: 2 steps: 2
source { type: "image_folder" image_folder { folder: "images" color: "grey" height: 4 } on_error: "skip" }
optimizer { type: "sgd" learning_rate: 0.1 }
output: "out"
"""
NOTE = "words of `remark` outside of the vocabulary of the training: 3 of 7 (43 %)"


@pytest.fixture
def text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("remark,label\na b,0\nb,1\n")
    (tmp_path / "new.csv").write_text("remark,label\na c a,0\nb,1\nc d b,1\n")
    (tmp_path / "text.textproto").write_text(TEXT)
    pl.train("text.textproto")
    return "text.textproto"


def test_the_share_of_unknown_words_is_a_note(text):
    assert list(pl.predict(text, "new.csv").notes) == [NOTE]
    assert NOTE in pl.evaluate(text, "new.csv").notes
    assert list(pl.predict(text, "t.csv").notes) == []
    for command in ("predict", "evaluate"):
        result = CliRunner().invoke(commands, [command, text, "new.csv"])
        assert f"note: {NOTE}" in result.stderr
        assert "vocabulary" not in CliRunner().invoke(commands, [command, text, "t.csv"]).stderr


def test_rows_are_read_from_stdin(text, tmp_path):
    wanted = pl.predict(text, "new.csv").values["scores"]
    with (tmp_path / "new.csv").open() as rows:
        command = [sys.executable, "-m", "paddle_layers", "predict", text, "-", "--output", "found.npz"]
        subprocess.run(command, stdin=rows, check=True)
    assert np.allclose(np.load(tmp_path / "found.npz")["scores"], wanted, rtol=1e-5)


def test_predictions_of_images_have_their_files(tmp_path, monkeypatch):
    image = pytest.importorskip("PIL.Image")
    arrow = pytest.importorskip("pyarrow.parquet")
    monkeypatch.chdir(tmp_path)
    for name in ("a/1", "a/2", "b/1"):
        (tmp_path / "images" / name).parent.mkdir(parents=True, exist_ok=True)
        image.new("L", (4, 4), 9).save(tmp_path / "images" / f"{name}.png")
    (tmp_path / "images.textproto").write_text(IMAGES)
    pl.train("images.textproto")
    (tmp_path / "images" / "a" / "1.png").write_bytes(b"damaged")
    files = ["images/a/2.png", "images/b/1.png"]
    assert pl.predict("images.textproto").files == files
    for ending in ("csv", "jsonl", "parquet"):
        result = CliRunner().invoke(commands, ["predict", "images.textproto", "--output", f"found.{ending}"])
        assert result.exit_code == 0, result.output
    lines = (tmp_path / "found.csv").read_text().splitlines()
    assert [line.split(",")[:2] for line in lines] == [["row", "file"], ["1", files[0]], ["2", files[1]]]
    found = [json.loads(line) for line in (tmp_path / "found.jsonl").read_text().splitlines()]
    assert [(line["row"], line["file"]) for line in found] == [(1, files[0]), (2, files[1])]
    assert arrow.read_table("found.parquet").column("file").to_pylist() == files


def test_lines_of_sequences_have_the_row_and_the_file_of_their_sample(tmp_path):
    steps = Values({"y": np.zeros((3, 1), np.float32)}, starts={"y": (np.array([0, 2, 3]),)}, files=["a.png", "b.png"])
    with open_sink(tmp_path / "y.csv") as sink:
        sink.write(steps)
    assert (tmp_path / "y.csv").read_text() == "row,file,y\n0,a.png,0\n0,a.png,0\n1,b.png,0\n"
    named = Values({"file": np.zeros((1, 1), np.float32)}, files=["a.png"])
    with pytest.raises(DataError, match="a value is named `file`"), open_sink(tmp_path / "z.csv") as sink:
        sink.write(named)
