"""Targets, labels and weights are never made up, whichever layers carry them to a loss, in files of every kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as arrow
import pytest
from click.testing import CliRunner
from pyarrow import parquet

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.config import ConfigError
from paddle_layers.data import Dataset
from paddle_layers.data.formats import text_lines
from paddle_layers.training.inference.outputs import target_fields
from tests.training.helpers import train

TRAINING = """
net {
  layer { name: "features" type: "data" data { shape: %s } }
  layer { name: "label" type: "data" data { %s } }
  %s
}
steps: 4 batch_size: 20 optimizer { type: "sgd" learning_rate: 0.001 } output: "out"
source { type: "%s" %s { %s } on_error: "%s" shuffle: false }
"""
FOUND = 'layer { name: "found" type: "fc" input: "features" fc { size: 1 } }'
SQUARE = FOUND + 'layer { name: "cost" type: "square_error" input: "found" input: "label" }'


def training(folder: Path, *, layers: str = SQUARE, shape: int = 1, label: str = "shape: 1", **source: str) -> Path:
    kind = source.get("kind", "csv")
    file = folder / "t.textproto"
    skip = source.get("on_error", "stop")
    file.write_text(TRAINING % (shape, label, layers, kind, kind, source["settings"], skip))
    return file


CARRIED = {
    "directly": SQUARE,
    "scaled": FOUND
    + 'layer { name: "small" type: "slope_intercept" input: "label" slope_intercept { slope: 0.1 } }'
    + 'layer { name: "cost" type: "square_error" input: "found" input: "small" }',
    "normalized": FOUND
    + 'layer { name: "plain" type: "data_norm" input: "label" }'
    + 'layer { name: "cost" type: "square_error" input: "found" input: "plain" }',
    "as a difference": FOUND
    + 'layer { name: "less" type: "slope_intercept" input: "label" slope_intercept { slope: -1 } }'
    + 'layer { name: "off" type: "addto" input: "found" input: "less" }'
    + 'layer { name: "square" type: "power" input: "off" power { power: 2 } }'
    + 'layer { name: "cost" type: "sum_cost" input: "square" }',
    "in the other order": FOUND + 'layer { name: "cost" type: "square_error" input: "label" input: "found" }',
    "as a weight": FOUND + 'layer { name: "cost" type: "square_error" input: "found" input: "found" input: "label" }',
    "in a metric": FOUND
    + 'layer { name: "cost" type: "sum_cost" input: "found" }'
    + 'layer { name: "m" type: "regression_error" input: "found" input: "label" }',
}


@pytest.mark.parametrize("way", CARRIED)
def test_targets_are_found_by_the_layers_that_read_them(tmp_path, way):
    label = "" if way == "as a weight" else "shape: 1"
    file = training(tmp_path, layers=CARRIED[way], label=label, settings='file: "d.csv"')
    assert target_fields(pl.load_training(file)) == {"label"}


@pytest.mark.parametrize("limit", [2**28, 0])
@pytest.mark.parametrize("empty", ["mean", "mark", "refuse"])
def test_an_empty_target_is_an_error_or_leaves_its_row_out(tmp_path, monkeypatch, limit, empty):
    monkeypatch.setattr(text_lines, "IN_MEMORY", limit)
    (tmp_path / "d.csv").write_text("x,y\n1,10\n2,20\n3,\n4,40\n")
    settings = f'file: "d.csv" columns: "features = x" columns: "label = y" empty: {empty}'
    file = training(tmp_path, shape=2 if empty == "mark" else 1, settings=settings)
    with pytest.raises((ConfigError, ValueError)) as caught:
        train(file)
    assert "d.csv:4: column 2 (`y`): empty cell" in str(caught.value)
    assert "empty: mean" not in str(caught.value).splitlines()[0]
    file.write_text(file.read_text().replace('on_error: "stop"', 'on_error: "skip"'))
    report = train(file, overwrite=True)[0]
    assert report.left_out.startswith("1 record was skipped: ")
    assert "d.csv:4: column 2 (`y`): empty cell" in report.left_out


def test_gaps_of_features_and_strict_targets_in_one_source(tmp_path):
    (tmp_path / "d.csv").write_text("x,y\n1,10\n,20\n3,\n4,40\n")
    settings = 'file: "d.csv" columns: "features = x" columns: "label = y" empty: mean'
    file = training(tmp_path, settings=settings, on_error="skip")
    seen = []

    class Watch:
        keep = ("features", "label")

        def on_step(self, run: object) -> None:
            seen.append({name: run.net.value(name).ravel().tolist() for name in self.keep})

    train(file, callbacks=[Watch()])
    mean = np.float32((1 + 4) / 2)
    assert seen[0]["label"] == [10, 20, 40]
    assert seen[0]["features"] == [1, mean, 4], "the mean is that of the rows that are trained with"


CLASSES = FOUND.replace("size: 1", "size: 2") + (
    'layer { name: "cost" type: "softmax_with_loss" input: "found" input: "label" }'
)


@pytest.mark.parametrize("limit", [2**28, 0])
@pytest.mark.parametrize(
    "label", ['ids: "label = kind"', 'label: "kind" classes: ["a", "b"]', 'text: "label = kind"'], ids=str
)
def test_an_empty_label_is_no_class(tmp_path, monkeypatch, limit, label):
    monkeypatch.setattr(text_lines, "IN_MEMORY", limit)
    (tmp_path / "d.csv").write_text("x,kind\n1,a\n2,b\n3,\n4,b\n")
    settings = f'file: "d.csv" columns: "features = x" {label} empty: mark'
    text = "text" in label
    layers = CLASSES
    if text:
        layers = (
            'layer { name: "same" type: "expand" input: "features" input: "label" }'
            'layer { name: "found" type: "fc" input: "same" fc { size: 2 } }'
            'layer { name: "cost" type: "crf" input: "found" input: "label" }'
        )
    kind = "data_type: INT size: 2" + (" seq_nested_level: 1" if text else "")
    file = training(tmp_path, layers=layers, shape=2, label=kind, settings=settings)
    with pytest.raises((ConfigError, ValueError), match=r"d\.csv:4: "):
        train(file)
    file.write_text(file.read_text().replace('on_error: "stop"', 'on_error: "skip"'))
    report = train(file, overwrite=True)[0]
    assert report.left_out.startswith("1 record was skipped: ")
    if "ids" in label:
        assert '"label": [\n   "a",\n   "b"\n  ]' in (report.folder / "data.json").read_text()


def test_features_keep_their_gaps(tmp_path):
    """What a layer with parameters reads is a feature, also where it reaches the loss on another way, too."""
    (tmp_path / "d.csv").write_text("x,y\n1,10\n,20\n3,30\n")
    residual = FOUND + (
        'layer { name: "sum" type: "addto" input: "found" input: "features" }'
        'layer { name: "cost" type: "square_error" input: "sum" input: "label" }'
    )
    own = 'layer { name: "cost" type: "hsigmoid" input: "features" input: "kind"  }'
    settings = 'file: "d.csv" columns: "features = x" columns: "label = y" empty: mean'
    file = training(tmp_path, layers=residual, settings=settings)
    assert target_fields(pl.load_training(file)) == {"label"}
    train(file)
    text = file.read_text().replace(
        residual, 'layer { name: "kind" type: "data" data { data_type: INT size: 3 } }' + own
    )
    file.write_text(text)
    assert target_fields(pl.load_training(file)) == {"kind"}


def test_a_target_that_is_a_feature_too_is_a_target(tmp_path):
    layers = SQUARE.replace('input: "label"', 'input: "features"')
    assert target_fields(pl.load_training(training(tmp_path, layers=layers, settings='file: "d.csv"'))) == {"features"}


def test_evaluate_counts_no_made_up_targets(tmp_path):
    (tmp_path / "d.csv").write_text("x,y\n1,10\n2,20\n3,30\n")
    settings = 'file: "d.csv" columns: "features = x" columns: "label = y" empty: mean'
    file = training(tmp_path, settings=settings)
    train(file)
    weights = tmp_path / "output" / "weights.safetensors"
    (tmp_path / "e.csv").write_text("x,y\n1,10\n2,\n")
    with pytest.raises(ValueError, match=r"e\.csv:3: column 2 \(`y`\): empty cell"):
        pl.evaluate(file, tmp_path / "e.csv", weights=weights)
    assert len(pl.predict(file, tmp_path / "e.csv", weights=weights).values["found"]) == 2, (
        "predictions need no targets"
    )


@pytest.mark.parametrize("kind", ["npz", "parquet"])
@pytest.mark.parametrize("label", ["shape: 1", "data_type: INT size: 50"])
def test_missing_targets_of_other_files(tmp_path, kind, label):
    layers = SQUARE if "shape" in label else CLASSES.replace("size: 2", "size: 50")
    y = [10.0, float("nan"), 30.0, 40.0]
    if kind == "npz":
        np.savez(tmp_path / "d.npz", features=np.arange(4.0)[:, None], label=np.array(y))
    else:
        columns = {
            "features": arrow.array(np.arange(4.0)),
            "label": arrow.array([None if np.isnan(v) else v for v in y]),
        }
        parquet.write_table(arrow.table(columns), tmp_path / "d.parquet", row_group_size=2)
    file = training(tmp_path, layers=layers, label=label, kind=kind, settings=f'file: "d.{kind}"')
    with pytest.raises((ConfigError, ValueError), match="row 1: "):
        train(file)
    file.write_text(file.read_text().replace('on_error: "stop"', 'on_error: "skip"'))
    assert train(file, overwrite=True)[0].left_out.startswith("1 record was skipped: ")


def test_a_null_leaves_out_its_row_and_no_other(tmp_path):
    values = [None if row == 17 else row % 2 for row in range(40)]
    columns = {"features": arrow.array(np.arange(40.0)), "label": arrow.array(values), "more": arrow.array([None] * 40)}
    parquet.write_table(
        arrow.table({**columns, "more": arrow.array([None] * 40, arrow.int64())}),
        tmp_path / "d.parquet",
        row_group_size=10,
    )
    file = training(
        tmp_path,
        layers=CLASSES,
        label="data_type: INT size: 2",
        kind="parquet",
        settings='file: "d.parquet"',
        on_error="skip",
    )
    report = train(file)[0]
    assert report.left_out.startswith("1 record was skipped: ")
    assert "d.parquet, row 17: column `label` has a missing value" in report.left_out


def test_records_are_counted_and_not_messages(tmp_path):
    (tmp_path / "d.csv").write_text("x,y\n" + "1,\n" * 3 + "1,2\n")
    settings = 'file: "d.csv" columns: "features = x" columns: "label = y"'
    report = train(training(tmp_path, settings=settings, on_error="skip"))[0]
    assert report.left_out.startswith("3 records were skipped: ")


def test_nothing_but_empty_targets_is_an_error(tmp_path):
    (tmp_path / "d.csv").write_text("x,y\n1,\n2,\n")
    settings = 'file: "d.csv" columns: "features = x" columns: "label = y"'
    with pytest.raises((ConfigError, ValueError), match="none of the 2 rows can be read"):
        train(training(tmp_path, settings=settings, on_error="skip"))


def test_bad_rows_of_mixed_sources_are_counted_once(tmp_path):
    (tmp_path / "d.csv").write_text("x,y\n1,\n2,3\n")
    (tmp_path / "e.csv").write_text("x,y\n1,2\n2,3\n3,4\n4,5\n5,6\n6,\n")
    settings = 'file: "e.csv" columns: "features = x" columns: "label = y"'
    file = training(tmp_path, settings=settings, on_error="skip")
    text = file.read_text().replace("shuffle: false", "ratio: 1")
    second = 'source { type: "csv" csv { file: "d.csv" columns: "features = x" columns: "label = y" } ratio: 3 }'
    file.write_text(text + second)
    report = train(file)[0]
    assert report.left_out.startswith("2 records were skipped: ")


def test_a_norm_is_measured_without_bad_rows(tmp_path):
    data = Dataset({"x": np.arange(3.0)})
    assert data.bad == {}
    (tmp_path / "d.csv").write_text("x,y\n1,10\n3,30\n100,\n")
    layers = 'layer { name: "plain" type: "data_norm" input: "features" }' + SQUARE.replace(
        'input: "features" fc', 'input: "plain" fc'
    )
    settings = 'file: "d.csv" columns: "features = x" columns: "label = y"'
    file = training(tmp_path, layers=layers, settings=settings, on_error="skip")
    report = train(file)[0]
    with pl.Net(pl.load_training(file).network) as net:
        net.load(str(report.weights))
        assert net.states["plain.mean"].value.ravel() == [2]


@pytest.mark.parametrize(
    ("kind", "settings", "field"),
    [
        ("csv", 'file: "none.csv" ids: "label = kind"', "label"),
        ("csv", 'file: "none.csv" label: "kind" classes: ["a", "b"]', "label"),
        ("text", 'file: "none.txt" classes: ["a", "b"]', "label"),
    ],
)
def test_words_for_numbers_are_told_before_the_data_are_opened(tmp_path, kind, settings, field):
    file = training(tmp_path, kind=kind, settings=settings)
    done = CliRunner().invoke(commands, ["validate", str(file)])
    assert done.exit_code == 1
    message = f"{kind}: field `{field}` contains words, but the data layer `{field}` expects 1; set `data_type: INT` "
    assert message in done.output
    file.write_text(
        file.read_text()
        .replace("data { shape: 1 }", "data { data_type: INT size: 2 }")
        .replace('"features" type: "data" data { data_type: INT size: 2 }', '"features" type: "data" data { shape: 1 }')
    )
    assert "contains words" not in CliRunner().invoke(commands, ["validate", str(file)]).output
