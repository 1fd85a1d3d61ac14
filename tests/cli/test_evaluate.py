"""`evaluate`: what it says of saved weights, against scikit-learn's definitions written in NumPy, and its mistakes."""

from __future__ import annotations

import csv
import json
import math
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.cli.evaluation_report import confusion_picture
from paddle_layers.data import DataWarning
from paddle_layers.training.inference.confusion import Confusion
from tests.training.helpers import NETWORK, SETTINGS, SOURCES, train, write

pytestmark = pytest.mark.usefixtures("as_python")

SHORT = SETTINGS.replace("steps: 30", "steps: 6")


def run(*arguments: object, status: int = 0) -> Result:
    done = CliRunner().invoke(commands, [str(one) for one in arguments], catch_exceptions=False)
    assert done.exit_code == status, done.output
    return done


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """A training file with its weights in `output`; the sources name no classes."""
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, NETWORK + SOURCES + SHORT)
    train(path)
    return path.name, "output/weights.safetensors"


def outputs(path, weights, data="test.npz"):
    """Scores and labels, by the net itself."""
    with pl.Net(pl.load_training(path).network, keep=["fc2"]) as net, np.load(data) as arrays:
        net.load(weights)
        net.forward({"x": arrays["x"] * 1.5, "label": arrays["label"]}, phase="test")
        return net.value("fc2"), arrays["label"]


def test_every_number_against_its_definition(trained):
    found = pl.evaluate(trained[0], weights=trained[1])
    scores, label = outputs(*trained)
    said = scores.argmax(axis=1)
    assert found.rows == len(label) == 20
    assert list(found.results) == ["loss", "accuracy"]
    assert found.results["accuracy"] == pytest.approx((said == label).mean())
    picked = np.logaddexp.reduce(scores, axis=1) - scores[np.arange(20), label]
    assert found.results["loss"] == pytest.approx(picked.mean(), rel=1e-5)
    (confusion,) = found.confusions
    assert (confusion.value, confusion.label) == ("fc2", "label")
    expected = np.array([[np.sum((label == k) & (said == j)) for j in range(3)] for k in range(3)])
    assert (expected == confusion.counts).all()
    assert 0 < expected.trace() < 20, "some are right, some are not"
    for k, measures in enumerate(confusion.classes()):
        right, named, there = expected[k, k], (said == k).sum(), (label == k).sum()
        precision = right / named if named else math.nan
        assert measures[1:] == pytest.approx(
            (precision, right / there, 2 * right / (named + there), there, right / (named + there - right)), nan_ok=True
        )
    macro, weighted = confusion.means()
    recalls = [expected[k, k] / (label == k).sum() for k in range(3)]
    assert macro.recall == pytest.approx(np.mean(recalls))
    assert weighted.recall == pytest.approx((said == label).mean()), "the mean by rows of the recalls is the accuracy"
    assert weighted.recall != pytest.approx(macro.recall)


def test_unequal_batches_change_nothing(trained):
    path, weights = trained
    whole = pl.evaluate(path, weights=weights)
    Path("one.textproto").write_text(Path(path).read_text().replace("batch_size: 8", "batch_size: 3"))
    parts = pl.evaluate("one.textproto", weights=weights)
    assert parts.results == pytest.approx(whole.results)
    assert (parts.confusions[0].counts == whole.confusions[0].counts).all()


def test_other_data_and_the_same_as_csv(trained):
    path, weights = trained
    with np.load("train.npz") as arrays:
        x, label = arrays["x"], arrays["label"]
    found = pl.evaluate(path, "train.npz", weights=weights)
    assert found.data == "train.npz"
    assert (found.rows, found.confusions[0].wanted.tolist()) == (50, np.bincount(label).tolist())
    rows = [",".join([*(f"c{i}" for i in range(8)), "label"])]
    rows += [",".join([*map(repr, map(float, row)), f"class {name}"]) for row, name in zip(x, label, strict=True)]
    Path("rows.csv").write_text("\n".join(rows) + "\n")
    source = """source { type: "csv" phase: "test" csv { file: "none.csv" label: "label"
        classes: ["class 0", "class 1", "class 2"] columns: "x = 1-8" }
        transform { type: "scale" input: "x" scale { factor: 1.5 } } }
    source { type: "npz" npz { file: "train.npz" } transform { type: "scale" input: "x" scale { factor: 1.5 } } }"""
    Path("csv.textproto").write_text(NETWORK + source + SHORT)
    with pytest.warns(
        DataWarning, match="has no names for `label`, the columns of `x`: the values of rows.csv are matched by"
    ):
        same = pl.evaluate("csv.textproto", "rows.csv", weights=weights)
    assert same.results == pytest.approx(found.results)
    assert [measures.name for measures in same.confusions[0].classes()] == ["class 0", "class 1", "class 2"]


def test_text_json_and_csv_say_the_same(trained):
    path, weights = trained
    command = ("evaluate", path, "--weights", weights)
    text, facts = run(*command).stdout, json.loads(run(*command, "--format", "json").stdout)
    lines = list(csv.DictReader(run(*command, "--format", "csv").stdout.splitlines()))
    (classifier,) = facts["classifiers"]
    assert f"small: {weights} on test.npz, 20 samples" in text
    for measures in (*classifier["classes"], *classifier["means"]):
        for name in ("precision", "recall", "F1", "support"):
            (line,) = [one for one in lines if one["class"] == measures["name"] and one["measure"] == name]
            told = measures[name]
            assert float(line["value"]) == pytest.approx(math.nan if told is None else told, nan_ok=True)
        shown = "-" if measures["precision"] is None else f"{measures['precision']:.4f}"
        assert re.search(rf"^{measures['name']} +{re.escape(shown)} ", text, re.MULTILINE)
    counts = [
        [float(one["value"]) for one in lines if one["class"] == f"{k}" and one["measure"] == "rows"] for k in range(3)
    ]
    assert counts == classifier["confusion"]
    assert [line["value"] for line in lines[:2]] == [f"{facts['results'][name]:.9g}" for name in ("loss", "accuracy")]
    assert "pred. 0  pred. 1  pred. 2" in text


def test_files_are_written_as_their_endings_say(trained):
    path, weights = trained
    run("evaluate", path, "--weights", weights, "--output", "a.json", "--svg", "a.svg")
    assert json.loads(Path("a.json").read_text())["rows"] == 20
    assert ET.parse("a.svg").getroot().tag.endswith("svg")
    before = Path("a.json").read_bytes()
    refused = run("evaluate", path, "--weights", weights, "--output", "a.json", status=1)
    assert "a.json: already exists" in refused.stderr
    assert Path("a.json").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--output", "a.pdf"), "a.pdf: unsupported extension; expected .txt, .json, .csv"),
        (("--output", "a.csv", "--format", "json"), "--format json contradicts the extension of a.csv"),
        (("--svg", "a.png"), "a.png: unsupported extension; expected .svg"),
    ],
)
def test_a_file_that_is_not_what_it_is_called(trained, arguments, message):
    assert message in run("evaluate", trained[0], *arguments, status=2).stderr
    assert not list(Path().glob("a.*"))


def test_mistakes_are_answered_before_anything_runs(trained):
    path, weights = trained
    Path("none.textproto").write_text((NETWORK + SOURCES + SHORT).replace('phase: "test" npz', 'phase: "train" npz', 1))
    text = NETWORK + SOURCES[: SOURCES.index("source", 9)] + SHORT
    Path("none.textproto").write_text(text)
    shown = run("evaluate", "none.textproto", "--weights", weights, status=1).stderr
    assert "none.textproto has no source for the test or validation phase" in shown
    assert "`paddle-layers evaluate none.textproto DATA`" in shown
    assert run("evaluate", "none.textproto", "test.npz", "--weights", weights).stdout
    assert "file not found" in run("evaluate", path, "nothing.csv", "--weights", weights, status=1).stderr
    assert "nothing.safetensors" in run("evaluate", path, "--weights", "nothing.safetensors", status=1).stderr
    np.savez("bare.npz", x=np.zeros((3, 8)))
    assert "has no field `label`" in run("evaluate", path, "bare.npz", "--weights", weights, status=1).stderr


REGRESSION = """
net {
  layer { name: "x" type: "data" data { shape: 2 } }
  layer { name: "price" type: "data" data { shape: 1 } }
  layer { name: "guess" type: "fc" input: "x" fc { size: 1 } }
  layer { name: "cost" type: "square_error" input: "guess" input: "price" square_error { coeff: 0.5 } }
}
source { type: "npz" npz { file: "rows.npz" } }
source { type: "npz" phase: "test" npz { file: "rows.npz" } }
batch_size: 7 steps: 3
optimizer { type: "sgd" learning_rate: 0.01 }
output: "out"
"""


def test_numbers_get_mae_rmse_and_r2(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 2))
    np.savez("rows.npz", x=x, price=x @ [1, -2] + 10)
    Path("train.textproto").write_text(REGRESSION)
    train(tmp_path / "train.textproto")
    found = pl.evaluate("train.textproto", weights="output/weights.safetensors").results
    guess = pl.predict("train.textproto", weights="output/weights.safetensors").values["guess"][:, 0]
    error, target = guess - (x @ [1, -2] + 10), x @ [1, -2] + 10
    assert list(found) == ["loss", "guess.MAE", "guess.RMSE", "guess.R2"]
    assert found["guess.MAE"] == pytest.approx(abs(error).mean(), rel=1e-5)
    assert found["guess.RMSE"] == pytest.approx(math.sqrt((error**2).mean()), rel=1e-5)
    assert found["guess.R2"] == pytest.approx(1 - (error**2).sum() / ((target - target.mean()) ** 2).sum(), rel=1e-4)
    assert found["loss"] == pytest.approx((error**2).mean() / 2, rel=1e-5)
    nothing = run("evaluate", "train.textproto", "--weights", "output/weights.safetensors", "--svg", "a.svg", status=1)
    assert "no confusion matrix to draw" in nothing.stderr


def test_layers_of_the_network_are_not_doubled_and_ignored_labels_do_not_count(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = NETWORK.replace(
        'input: "label" }\n  layer { name: "acc',
        'input: "label" softmax_with_loss { ignore_label: 2 } }\n  layer { name: "acc',
    )
    own = text.replace('type: "accuracy"', 'type: "confusion_matrix"')
    path = write(tmp_path, text + SOURCES + SHORT)
    weights = train(path)[0].weights
    (ours,) = pl.evaluate(path, weights=weights).confusions
    assert ours.wanted[2] == 0 < ours.wanted[0]
    assert math.isnan(ours.classes()[2].recall)
    path.write_text(own + SOURCES + SHORT)
    found = pl.evaluate(path, weights=weights)
    (theirs,) = found.confusions
    assert theirs.wanted[2] > 0, "the network's own layer ignores nothing"
    assert list(found.results) == ["loss", "accuracy.accuracy", "accuracy.balanced_accuracy"]


def test_many_classes_are_mistakes_and_a_picture():
    counts = np.diag(np.full(40, 5.0))
    counts[3, 7], counts[30, 2] = 9, 4
    names = [f"<{i}>" for i in range(40)]
    confusion = Confusion("y", "label", names, counts, counts.sum(axis=1))
    assert confusion.mistakes(10) == [("<3>", "<7>", 9.0), ("<30>", "<2>", 4.0)]
    root = ET.fromstring(confusion_picture("many", [confusion]))
    titles = [one.text for one in root.iter("{http://www.w3.org/2000/svg}title")]
    assert len(titles) == 42, "empty squares are left out"
    assert "<3> predicted as <7>: 9 (64.3%)" in titles


def test_above_a_limit_there_is_a_note_instead_of_a_square(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("paddle_layers.training.inference.evaluation_report.MOST_CLASSES", 2)
    path = write(tmp_path, NETWORK + SOURCES + SHORT)
    weights = train(path)[0].weights
    done = run("evaluate", path, "--weights", weights)
    assert "note: no confusion matrix of `fc2`: 3 classes exceed the limit of 2" in done.stderr
    assert "precision" not in done.stdout


def test_weights_of_classes_weigh_the_loss_and_predict_needs_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = "class_weight { weights: [1, 0, 2.5] ignore_label: -1 }"
    layer = f'  layer {{ name: "w" type: "class_weight" input: "label" {settings} }}'
    cost = 'input: "fc2" input: "label" input: "w" softmax_with_loss { ignore_label: -1 normalization: BATCH_SIZE }'
    text = NETWORK.replace('input: "fc2" input: "label" }\n  layer { name: "acc', cost + ' }\n  layer { name: "acc')
    text = text.replace(
        'type: "accuracy" input: "fc2" input: "label"',
        'type: "accuracy" input: "fc2" input: "label" accuracy { ignore_label: -1 }',
    )
    path = write(
        tmp_path, text.replace('  layer { name: "cost"', f'{layer}\n  layer {{ name: "cost"') + SOURCES + SHORT
    )
    for name in ("train", "test"):
        with np.load(f"{name}.npz") as arrays:
            fields = dict(arrays)
        fields["label"][:3] = -1
        np.savez(f"{name}.npz", **fields)
    weights = train(path)[0].weights
    scores, label = outputs(path, str(weights))
    weight = np.where(label < 0, 0, np.array([1, 0, 2.5])[label])
    costs = weight * (np.logaddexp.reduce(scores, axis=1) - scores[np.arange(20), label])
    assert pl.evaluate(path, weights=weights).results["loss"] == pytest.approx(costs.mean(), rel=1e-5)
    assert pl.predict(path, {"x": np.zeros((2, 8))}, weights=weights).values["fc2"].shape == (2, 3)


def test_a_network_without_costs_in_the_test(trained):
    path, weights = trained
    text = Path(path).read_text()
    for old in (
        'type: "softmax_with_loss" input: "fc2" input: "label"',
        'type: "accuracy" input: "fc2" input: "label"',
    ):
        text = text.replace(old, old + ' include { phase: "train" }')
    Path(path).write_text(text)
    shown = run("evaluate", path, "--weights", weights, status=1).stderr
    assert "the network has neither costs nor metrics in the test phase" in shown
