"""`predict` follows the outputs of a network: what it gives, what it does without, and how it is written."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.data import DataError
from paddle_layers.data.sinks.formats import JsonLinesSink
from paddle_layers.training import Prediction, TrainingError
from paddle_layers.training.inference.outputs import part_for, predicted
from tests.training.helpers import NETWORK, SETTINGS, SOURCES, train, write

pytestmark = pytest.mark.usefixtures("as_python")

DATA = """
layer { name: "x" type: "data" data { shape: 4 } }
layer { name: "z" type: "data" data { shape: 4 } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "weight" type: "data" data { } }
layer { name: "target" type: "data" data { shape: 3 } }
layer { name: "y" type: "fc" input: "x" fc { size: 3 } }
"""
CASES = {
    "labels and weights": (
        'layer { name: "cost" type: "softmax_with_loss" input: "y" input: "label" input: "weight" }'
        'layer { name: "a" type: "accuracy" input: "y" input: "label" }',
        ["y"],
        ["x"],
    ),
    "a target that is computed, but not learned": (
        'layer { name: "half" type: "power" input: "target" power { scale: 0.5 } }'
        'layer { name: "cost" type: "square_error" input: "y" input: "half" }',
        ["y"],
        ["x"],
    ),
    "two towers": (
        'layer { name: "other" type: "fc" input: "z" fc { size: 3 } }'
        'layer { name: "cost" type: "square_error" input: "y" input: "other" }',
        ["y", "other"],
        ["x", "z"],
    ),
    "scores that another layer reads are not the output": (
        'layer { name: "p" type: "softmax" input: "y" }'
        'layer { name: "cost" type: "cross_entropy" input: "p" input: "label" }'
        'layer { name: "also" type: "softmax_with_loss" input: "y" input: "label" }',
        ["p"],
        ["x"],
    ),
    "an output that nobody judges": (
        'layer { name: "free" type: "fc" input: "z" fc { size: 2 bias: false } param { of: "weight" frozen: true } }'
        'layer { name: "cost" type: "softmax_with_loss" input: "y" input: "label" }',
        ["y", "free"],
        ["x", "z"],
    ),
    "any layer may be a cost": (
        'layer { name: "l" type: "square_error" input: "y" input: "target" loss_weight: 0 }'
        'layer { name: "c" type: "row_l2_norm" input: "y" loss_weight: 1 }',
        ["y"],
        ["x"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_outputs_are_what_costs_judge_and_not_what_they_judge_by(case):
    layers, outputs, feeds = CASES[case]
    network = pl.loads(DATA + layers)
    assert predicted(network) == outputs
    part = part_for(network, outputs)
    assert [node.name for node in part.nodes if not node.definition.inputs] == feeds


def test_a_network_of_costs_alone_has_no_output():
    network = pl.loads('layer { name: "x" type: "data" data { } } layer { name: "c" type: "sum_cost" input: "x" }')
    with pytest.raises(TrainingError, match="no output besides its costs and metrics; select a value with --value"):
        predicted(network)


CHAIN = """
layer { name: "x" type: "data" data { shape: 2 seq_nested_level: 1 } }
layer { name: "tags" type: "data" data { data_type: INT size: 3 seq_nested_level: 1 } }
layer { name: "scores" type: "fc" input: "x" fc { size: 3 } }
layer { name: "cost" type: "crf" input: "scores" input: "tags" param { of: "transitions" share: "chain" } }
layer { name: "best" type: "crf_decoding" input: "scores" input: "tags" output: "path" output: "errors"
        param { of: "transitions" share: "chain" } include { phase: "test" } }
"""


def test_decoding_needs_no_labels_and_tells_no_errors():
    network = pl.loads(CHAIN).select("test")
    assert predicted(network) == ["path"]
    part = part_for(network, ["path"])
    assert [node.name for node in part.nodes] == ["x", "scores", "best"]
    with pl.Net(part, keep=["path"]) as net:
        net.forward({"x": [np.ones((2, 2)), np.zeros((1, 2))]}, phase="test")
        assert net.value("path").starts.tolist() == [0, 2, 3]


def run(*arguments: object, status: int = 0) -> Result:
    done = CliRunner().invoke(commands, [str(one) for one in arguments], catch_exceptions=False)
    assert done.exit_code == status, done.output
    return done


@pytest.fixture
def trained(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, NETWORK + SOURCES + SETTINGS.replace("steps: 30", "steps: 2"))
    train(path)
    return ("predict", path.name), ("--weights", "output/weights.safetensors")


def test_each_ending_holds_the_same_numbers(trained):
    start, weights = trained
    for ending in ("csv", "jsonl", "npz"):
        run(*start, *weights, "--output", f"out.{ending}", "--value", "fc2", "--value", "fc1")
    with np.load("out.npz") as arrays, open("out.csv", newline="") as table:
        assert set(arrays.files) == {"fc2", "fc2.class", "fc1"}
        rows = list(csv.DictReader(table))
        lines = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
        assert len(rows) == len(lines) == len(arrays["fc2"]) == 20
        for row, line, scores, best, hidden in zip(
            rows, lines, arrays["fc2"], arrays["fc2.class"], arrays["fc1"], strict=True
        ):
            assert np.float32(line["fc2"]).tolist() == scores.tolist(), "they read back exactly"
            assert [float(row[f"fc2.{c}"]) for c in range(3)] == pytest.approx(scores, rel=1e-5)
            assert int(row["fc2.class"]) == int(line["fc2.class"]) == best == scores.argmax()
            assert sum(scores) == pytest.approx(1, rel=1e-5)
            assert np.float32(line["fc1"]).tolist() == hidden.tolist()


@pytest.mark.parametrize(
    ("names", "heads"),
    [("a\nb b\nc", None), ("low\nmid\nhigh", "low mid high"), ("x\nclass\ny", "0 1 2"), ("x\ny", "x y 2")],
)
def test_columns_of_a_table_are_called_as_the_classes_are(trained, names, heads):
    start, weights = trained
    Path("names.txt").write_text(names)
    done = run(*start, *weights, "--dictionary", "names.txt", status=1 if heads is None else 0)
    if heads is not None:
        assert done.stdout.splitlines()[0] == ",".join(["row", "fc2.class", *(f"fc2.{one}" for one in heads.split())])


def test_hdf5_and_parquet_hold_what_npz_holds(trained):
    h5py, parquet = pytest.importorskip("h5py"), pytest.importorskip("pyarrow.parquet")
    start, weights = trained
    for ending in ("npz", "h5", "parquet"):
        run(*start, *weights, "--output", f"out.{ending}")
    columns = parquet.read_table("out.parquet").to_pydict()
    with np.load("out.npz") as arrays, h5py.File("out.h5") as file:
        assert set(file) == set(arrays.files) == {"fc2", "fc2.class"}
        for name in file:
            np.testing.assert_array_equal(file[name], arrays[name])
        assert columns["fc2"] == arrays["fc2"].tolist()
        assert columns["fc2.class"] == list(map(str, arrays["fc2.class"].tolist()))
    assert columns["row"] == list(range(20))


def test_labels_and_all_other_fields_may_be_missing(trained):
    start, weights = trained
    whole = run(*start, *weights).stdout
    with np.load("test.npz") as arrays:
        np.savez("bare.npz", x=arrays["x"])
        np.save("any name.npy", arrays["x"])
    assert run(*start, "bare.npz", *weights).stdout == whole
    assert run(*start, "any name.npy", *weights).stdout == whole, "one field for one data layer"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("--value", "fc"), 1, "the network has no value `fc` in the test phase; did you mean `fc2`?"),
        (("--value", "qqq"), 1, "expected one of `x`, `label`, `fc1`, `fc2`, `cost`"),
        (("--output", "a.json"), 2, "a.json: unsupported extension; expected .csv, .jsonl"),
        (("--output", "no/a.csv"), 1, "no such folder"),
        (("data.bin",), 1, "data.bin"),
    ],
)
def test_mistakes(trained, arguments, status, message):
    start, weights = trained
    assert message in run(*start, *weights, *arguments, status=status).stderr


def test_the_costs_of_rows_are_a_value_and_need_labels(trained):
    start, weights = trained
    rows = run(*start, *weights, "--value", "cost").stdout.splitlines()
    assert (rows[0], len(rows)) == ("row,cost", 21)
    np.savez("bare.npz", x=np.zeros((2, 8)))
    assert "has no field `label`" in run(*start, "bare.npz", *weights, "--value", "cost", status=1).stderr


TEXT = """
net {
  layer { name: "words" type: "data" data { data_type: INT size: 4 seq_nested_level: 1 } }
  layer { name: "label" type: "data" data { data_type: INT size: 2 } }
  layer { name: "vectors" type: "embedding" input: "words" embedding { size: 2 } }
  layer { name: "mean" type: "seq_avg_pool" input: "vectors" }
  layer { name: "scores" type: "fc" input: "mean" fc { size: 2 } }
  layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
}
batch_size: 2 steps: 2
source { type: "text" text { file: "lines.txt" dictionary: "words.txt" unknown: "?" classes: ["good", "bad"] } }
optimizer { type: "sgd" learning_rate: 0.1 }
"""


def test_text_with_and_without_labels_and_values_in_sequences(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("words.txt").write_text("?\nthe\nsun\nrain\n")
    Path("lines.txt").write_text("good\tthe sun\nbad\tthe rain rain\ngood\tsun\n")
    Path("train.textproto").write_text(TEXT)
    weights = ("--weights", train(tmp_path / "train.textproto")[0].weights)
    labelled = run("predict", "train.textproto", *weights).stdout
    assert {line.split(",")[1] for line in labelled.splitlines()[1:]} <= {"good", "bad"}
    Path("bare.txt").write_text("the sun\nthe rain rain\nsun\n")
    assert run("predict", "train.textproto", "bare.txt", *weights).stdout == labelled
    values = ("--value", "words", "--value", "vectors", "--value", "mean")
    shown = run("predict", "train.textproto", "bare.txt", *weights, *values, status=1).stderr
    assert "`words` 2, `vectors` 5, `mean` 2. Select some with --value, or write to .jsonl" in shown
    run("predict", "train.textproto", "bare.txt", *weights, *values, "--output", "a.jsonl")
    run("predict", "train.textproto", "bare.txt", *weights, *values, "--output", "a.npz")
    lines = [json.loads(line) for line in Path("a.jsonl").read_text().splitlines()]
    assert [line["words"] for line in lines] == [["the", "sun"], ["the", "rain", "rain"], ["sun"]]
    with np.load("a.npz") as arrays:
        assert arrays["words"].tolist() == [1, 2, 1, 3, 3, 2]
        assert arrays["vectors.starts"].tolist() == arrays["words.starts"].tolist() == [0, 2, 5, 6], "over two batches"
        vectors = arrays["vectors"]
    for line, rows in zip(lines, (vectors[:2], vectors[2:5], vectors[5:]), strict=True):
        assert np.float32(line["vectors"]).tolist() == rows.tolist()
        assert line["mean"] == pytest.approx(rows.mean(axis=0), rel=1e-5)


def test_nested_sequences_are_nested_lists_and_nan_is_null():
    values = {"y": np.array([1.0, np.nan, 2, np.inf], np.float32)}
    found = Prediction(values, {}, {}, {"y": (np.array([0, 1, 3]), np.array([0, 2, 3, 4]))}, Path("none"))
    JsonLinesSink(text := io.StringIO()).write(found)
    lines = [json.loads(line)["y"] for line in text.getvalue().splitlines()]
    assert lines == [[[1.0, None]], [[2.0], [None]]]
    with pytest.raises(
        DataError,
        match=r"samples per batch, which one line cannot represent: `y` 2, `x` 4.*npz, which stores them separately",
    ):
        JsonLinesSink(text).write(Prediction(values | {"x": np.zeros(4)}, {}, {}, found.starts, Path("none")))


def test_a_training_made_in_python_predicts_and_evaluates(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    network = pl.loads(NETWORK[NETWORK.index("{") + 1 : NETWORK.rindex("}")])
    training = pl.make_training(network, optimizer={"type": "adam", "learning_rate": 0.02}, steps=3, output="out")
    random = np.random.default_rng(0)
    rows = {"x": random.normal(size=(8, 8)), "label": random.integers(0, 3, 8)}
    with pytest.raises(TrainingError, match=r"file not found: .*; train the network first, or name a weights file"):
        pl.predict(training, rows)
    report = pl.train(training, datasets={"train": rows})
    assert report.commands == []
    assert pl.predict(training, {"x": rows["x"]}).values["fc2"].shape == (8, 3)
    assert pl.evaluate(training, rows).rows == 8
    with pytest.raises(TrainingError, match=r"`evaluate\(training, arrays\)`"):
        pl.evaluate(training)
    for call in (pl.predict, pl.evaluate):
        with pytest.raises(
            TypeError, match="training must be a file, its text, or the result of `make_training`, not a Network"
        ):
            call(network, rows)


def test_softmax_of_scores_that_a_cost_reads_gives_classes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    area = """
      layer { name: "chances" type: "softmax" input: "fc2" include { phase: "test" } }
      layer { name: "area" type: "precision_recall" input: "chances" input: "label" include { phase: "test" } }
    }
    """
    path = write(tmp_path, NETWORK[: NETWORK.rindex("}")] + area + SOURCES + SETTINGS + 'output: "output"')
    train(path, stop_after=1)
    found = pl.predict(path)
    assert list(found.values) == ["chances"]
    np.testing.assert_array_equal(found.classes["chances"], found.values["chances"].argmax(axis=1))
    of_scores = pl.predict(path, values=["fc2"]).values["fc2"]  # of which the cost makes probabilities, too
    np.testing.assert_allclose(found.values["chances"], of_scores, rtol=1e-5)


def test_a_dictionary_of_other_classes_is_refused(trained):
    Path("words.txt").write_text("a\nb\nc\nd\n")
    for command in ("predict", "evaluate"):
        result = run(command, "train.textproto", *trained[1], "--dictionary", "words.txt", status=1)
        assert "words.txt has 4 words, but `fc2` has 3 classes: write one word per line" in result.output


def test_the_command_that_is_advised_names_the_plugins(tmp_path):
    (tmp_path / "my plugin.py").write_text("")
    path = write(tmp_path)
    output = tmp_path / "output"
    done = run("train", path, "--output", output, "--plugins", tmp_path / "my plugin.py")
    weights = output / "weights.safetensors"
    assert f"paddle-layers predict {path} --plugins '{tmp_path}/my plugin.py' --weights {weights}\n" in done.output


def test_a_dictionary_that_names_nothing_is_refused(tmp_path):
    """Of numbers, it would be ignored."""
    text = """
    net {
      layer { name: "x" type: "data" data { shape: 2 } }
      layer { name: "t" type: "data" data { shape: 1 } }
      layer { name: "y" type: "fc" input: "x" fc { size: 1 } }
      layer { name: "cost" type: "square_error" input: "y" input: "t" }
    }
    optimizer { type: "sgd" learning_rate: 0.1 } steps: 1
    """
    data = {"x": np.zeros((2, 2)), "t": np.zeros((2, 1))}
    weights = pl.train(text, datasets={"train": data}, output=tmp_path / "out").weights
    (tmp_path / "words.txt").write_text("a\n")
    for use, message in ((pl.predict, "`y` has neither; remove it"), (pl.evaluate, "has no class scores; remove it")):
        with pytest.raises(TrainingError, match=message):
            use(text, data, weights=weights, dictionary=tmp_path / "words.txt")
