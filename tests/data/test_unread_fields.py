"""Fields that no layer reads may have any type: every source opens only those that the network reads."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
from click.testing import CliRunner

from paddle_layers.cli.app import commands

NET = """
net {
  layer { name: "x" type: "data" data { shape: 2 } }
  layer { name: "label" type: "data" data { data_type: INT size: 2 } }
  layer { name: "scores" type: "fc" input: "x" fc { size: 2 } }
  layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
}
batch_size: 8 steps: 2
optimizer { type: "sgd" learning_rate: 0.1 }
output: "out"
"""
X = np.random.default_rng(0).normal(size=(20, 2)).astype(np.float32)
LABEL = np.arange(20) % 2


def write_npz(path):
    """As `mnist.npz` of Keras, with arrays of other lengths, and with arrays that need pickle or are strings."""
    others = {"x_test": X[:3], "name": np.array(["a"] * 20), "object": np.array([{}], object)}
    np.savez(path, x=X, label=LABEL, **others)


def write_compressed(path):
    np.savez_compressed(path, x=X, label=LABEL, name=np.array(["a"] * 20), scalar=np.array(3))


def write_hdf5(path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["x"], file["label"], file["name"], file["scalar"] = X, LABEL, ["a"] * 20, 3
        file["x_test"], file["table"], file["link"] = X[:3], np.zeros(20, [("a", "i4")]), h5py.SoftLink("/label")
        file.create_group("group")["x"] = X


def write_parquet(path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {
        "x": arrow.FixedSizeListArray.from_arrays(arrow.array(X.ravel()), 2),
        "label": LABEL,
        "day": [datetime.datetime(2026, 1, 1)] * 20,
        "struct": [{"a": 1}] * 20,
        "bytes": [b"a"] * 20,
        "nothing": [None] * 20,
        "gap": [1, None] * 10,
    }
    parquet.write_table(arrow.table(columns), path)


def write_csv(path):
    rows = [f"{a},{b},{kind},a b" for (a, b), kind in zip(X.tolist(), LABEL.tolist(), strict=True)]
    path.write_text("\n".join(["a,b,label,name", *rows]) + "\n")


SOURCES = {
    "npz": (write_npz, 'npz { file: "data.npz" }'),
    "compressed": (write_compressed, 'npz { file: "data.compressed" }'),
    "hdf5": (write_hdf5, 'hdf5 { file: "data.hdf5" }'),
    "parquet": (write_parquet, 'parquet { file: "data.parquet" }'),
    "csv": (write_csv, 'csv { file: "data.csv" columns: "x = a, b" columns: "unread = name" label: "label" }'),
}


def written(folder, kind, feed=""):
    write, source = SOURCES[kind]
    path = folder / f"data.{kind}"
    with path.open("wb") as file:
        write(file if "npz" in source and kind == "compressed" else path)
    split = 'split { test: 0.2 stratify: "label" }'
    file = folder / "train.textproto"
    file.write_text(f'{NET}{feed} source {{ type: "{source.split()[0]}" {source} {split} }}')
    return file


@pytest.mark.parametrize("kind", SOURCES)
def test_every_command_reads_only_the_fields_of_the_network(tmp_path, kind, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = written(tmp_path, kind)
    for command in ("validate", "train", "evaluate", "predict"):
        result = CliRunner().invoke(commands, [command, str(file)])
        assert result.exit_code == 0, result.output


@pytest.mark.parametrize("kind", ["npz", "hdf5", "parquet"])
def test_fields_that_are_not_opened_are_named(tmp_path, kind, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = written(tmp_path, kind, 'feed { input: "label" field: "labels" }')
    file.write_text(file.read_text().replace('split { test: 0.2 stratify: "label" }', ""))
    result = CliRunner().invoke(commands, ["train", str(file)])
    assert "has no field `labels` for the data layer `label`; available: `x`, " in result.output
    assert 'write feed { input: "label" field: "label" } in the training file' in result.output
    file.write_text(file.read_text() + 'feed { input: "x" field: "z" }')
    result = CliRunner().invoke(commands, ["train", str(file)])
    assert "of the required fields; available: `" in result.output
