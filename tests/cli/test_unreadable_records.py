"""`predict` and `evaluate` over records that cannot be read: an error that says what to write, or left out."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from click.testing import CliRunner

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.data import DataError
from paddle_layers.data.formats import text_lines
from paddle_layers.data.sinks.formats import CsvSink, JsonLinesSink
from paddle_layers.data.sinks.values import Values

pytestmark = pytest.mark.filterwarnings("ignore::paddle_layers.data.DataWarning")
"""The weights are made by hand, so they know no names of columns."""

TRAINING = """
net {
  layer { name: "features" type: "data" data { shape: 2 } }
  layer { name: "label" type: "data" data { data_type: INT size: 2 } }
  layer { name: "scores" type: "fc" input: "features" fc { size: 2 } }
  layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
  layer { name: "accuracy" type: "accuracy" input: "scores" input: "label" }
}
steps: 2
batch_size: 4
source { type: "csv" ON_ERROR csv { file: "train.csv" label: "side" } }
source { type: "csv" phase: "test" ON_ERROR csv { file: "test.csv" label: "side" } }
optimizer { type: "sgd" learning_rate: 0.1 }
output: "out"
"""
ROWS = [f"{n},{n % 3},{n % 2}" for n in range(11)]
BAD = {1: "x,1,1", 4: "4,y,0", 5: "5,z,1", 6: "6,?,0", 7: "7,?,1"}
"""Rows that hold no numbers: one of the first batch, all of the second."""
GOOD = [n for n in range(11) if n not in BAD]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A trained network, and data with damaged rows that are read when they are wanted."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(text_lines, "IN_MEMORY", 0)
    for name, on_error in (("stop", ""), ("skip", 'on_error: "skip"')):
        (tmp_path / f"{name}.textproto").write_text(TRAINING.replace("ON_ERROR", on_error))
    (tmp_path / "train.csv").write_text("\n".join(["a,b,side", *ROWS]))
    (tmp_path / "good.csv").write_text("\n".join(["a,b,side", *(ROWS[n] for n in GOOD)]))
    (tmp_path / "test.csv").write_text("\n".join(["a,b,side", *(BAD.get(n, row) for n, row in enumerate(ROWS))]))
    with pl.Net(pl.load_training("skip.textproto").network) as net:
        net.parameters["scores.weight"].value = np.array([[0.5, -1], [0.25, 2]])
        net.save("w.safetensors")
    return tmp_path


def run(*arguments):
    done = CliRunner().invoke(commands, [*arguments, "--weights", "w.safetensors"])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_the_error_says_how_to_go_on(folder, command):
    done = run(command, "stop.textproto")
    assert done.exit_code == 1
    assert done.stderr.count("\n") == 1
    assert "test.csv:3: column 1 (`a`): 'x' is not a number" in done.stderr
    assert 'set `on_error: "skip"` in the source to skip such records' in done.stderr
    with pytest.raises(DataError, match="to skip such records"):
        pl.predict("stop.textproto", weights="w.safetensors")


def test_rows_bear_the_numbers_of_their_records(folder):
    wanted = pl.predict("stop.textproto", "good.csv", weights="w.safetensors")
    assert (wanted.records, wanted.left_out) == (None, {})
    found = pl.predict("skip.textproto", weights="w.safetensors")
    assert found.records.tolist() == GOOD
    assert np.array_equal(found.values["scores"], wanted.values["scores"])
    assert {number: problem.split(": ")[0] for number, problem in found.left_out.items()} == {
        number: f"test.csv:{number + 2}" for number in BAD
    }


@pytest.mark.parametrize("ending", ["csv", "jsonl", "npz", "h5", "parquet"])
def test_files_bear_them_too_and_the_command_counts(folder, ending):
    done = run("predict", "skip.textproto", "--output", f"found.{ending}")
    assert done.exit_code == 0
    assert done.stderr.startswith("note: 5 records were skipped: test.csv:3: column 1 (`a`): 'x' is not a number")
    path = folder / f"found.{ending}"
    if ending == "csv":
        rows = [int(row["row"]) for row in csv.DictReader(path.read_text().splitlines())]
    elif ending == "jsonl":
        rows = [json.loads(line)["row"] for line in path.read_text().splitlines()]
    elif ending == "npz":
        rows = np.load(path)["row"].tolist()
    elif ending == "h5":
        with pytest.importorskip("h5py").File(path) as file:
            rows = file["row"][:].tolist()
    else:
        rows = pytest.importorskip("pyarrow.parquet").read_table(path)["row"].to_pylist()
    assert rows == GOOD


def test_evaluate_tests_the_others_and_says_so(folder):
    found, wanted = (
        pl.evaluate("skip.textproto", weights="w.safetensors"),
        pl.evaluate("stop.textproto", "good.csv", weights="w.safetensors"),
    )
    assert (found.rows, found.results) == (len(GOOD), wanted.results)
    assert [note for note in found.notes if note.startswith("5 records were skipped: test.csv:3")]
    assert "note: 5 records were skipped" in run("evaluate", "skip.textproto").stderr


def test_data_of_which_nothing_can_be_read(folder):
    (folder / "test.csv").write_text("a,b,side\n1,2,0\n" + "x,y,z\n" * 9)
    (folder / "none.csv").write_text("a,b,side\n" + "x,1,0\n" * 9)
    assert run("predict", "skip.textproto").exit_code == 0
    for command in ("predict", "evaluate"):
        done = run(command, "skip.textproto", "none.csv")
        assert done.exit_code == 1
        assert "none.csv: none of the 9 records can be read; the first error: none.csv:2" in done.stderr


def test_lines_of_sequences_bear_the_number_of_their_record():
    starts, inner = np.array([0, 1, 3]), np.array([0, 2, 3, 6])
    values = {"deep": np.arange(6.0)[:, None]}
    batch = Values(values, starts={"deep": (starts, inner)}, records=np.array([4, 7]))
    table, lines = io.StringIO(), io.StringIO()
    CsvSink(table).write(batch)
    assert [line.split(",")[0] for line in table.getvalue().splitlines()] == ["row", "4", "4", "7", "7", "7", "7"]
    JsonLinesSink(lines).write(batch)
    assert [json.loads(line)["row"] for line in lines.getvalue().splitlines()] == [4, 7]
    consecutive, table = Values(values, starts={"deep": (starts, inner)}), io.StringIO()
    sink = CsvSink(table)
    for _ in range(2):
        sink.write(consecutive)
    assert [line[0] for line in table.getvalue().splitlines()[1:]] == [*"001111", *"223333"]
    with pytest.raises(DataError, match="cannot match 3 rows of values to 2 records"):
        CsvSink(io.StringIO()).write(Values({"y": np.arange(3.0)}, records=np.array([4, 7])))
