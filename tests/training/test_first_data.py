"""What a training starts from beside weights: words, means and norms of the data that these were trained with."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pyarrow
import pytest
from click.testing import CliRunner

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.config import ConfigError
from paddle_layers.config.trainingfiles import load_training
from paddle_layers.data.fitted_preprocessing import NOTHING, read_fitted
from paddle_layers.training import evaluate, predict
from tests.training.helpers import train

pytestmark = pytest.mark.usefixtures("as_python")

LABELS = """
net {
  layer { name: "x" type: "data" data { shape: 2 } }
  layer { name: "label" type: "data" data { data_type: INT size: SIZE } }
  layer { name: "y" type: "fc" input: "x" fc { size: SIZE } }
  layer { name: "cost" type: "softmax_with_loss" input: "y" input: "label" }
}
steps: 2 batch_size: 4
optimizer { type: "sgd" learning_rate: 0.1 }
source { type: "csv" csv { file: "table.csv" columns: "x = a, b" ids: "label = kind" } }
"""
KEPT = 'weights { file: "first/weights.safetensors" }'
ANEW = 'weights { file: "first/weights.safetensors" leave_out: "y.*" }'


def started(folder, words, more=""):
    """Train with these classes, in a folder of its own, or anew from the first weights."""
    rows = [f"{number},{number % 3},{words[number % len(words)]}" for number in range(12)]
    (folder / "table.csv").write_text("\n".join(["a,b,kind", *rows]) + "\n")
    path = folder / "train.textproto"
    path.write_text(LABELS.replace("SIZE", str(max(3, len(words)))) + more)
    return train(path, output=folder / ("second" if more else "first"))[0]


def test_new_classes_are_not_taken_for_one_class(tmp_path):
    started(tmp_path, ["cat", "dog"])
    for words, first in ((["car", "bus", "van"], "bus"), (["cat", "dog", "van"], "van")):
        with pytest.raises(
            ConfigError, match=f"unknown '{first}' in .* trained with cat, dog; .*`label` and `classes`"
        ):
            started(tmp_path, words, KEPT)
    assert started(tmp_path, ["dog", "cat"], KEPT).steps == 2


@pytest.mark.parametrize("words", [["car", "bus", "van"], ["dog", "van", "cat"]])
def test_new_scores_have_the_classes_of_their_own_training(tmp_path, words):
    started(tmp_path, ["cat", "dog"])
    report = started(tmp_path, words, ANEW)
    assert read_fitted(report.folder / "data.json").words == {"label": sorted(words)}


def test_somebody_elses_file_beside_the_weights_is_left_alone(tmp_path):
    (tmp_path / "data.json").write_text('{"mine": 1}')
    assert read_fitted(tmp_path / "data.json") == NOTHING


NORM = """
net {
  layer { name: "x" type: "data" data { shape: 2 } }
  layer { name: "n" type: "data_norm" input: "x" MORE }
  layer { name: "other" type: "data_norm" input: "x" include { stage: "other" } }
  layer { name: "y" type: "fc" input: "n" fc { size: 1 } }
  layer { name: "cost" type: "sum_cost" input: "y" }
}
steps: 2 batch_size: 4
optimizer { type: "sgd" learning_rate: 0.1 }
"""


def test_a_norm_is_measured_unless_the_weights_have_brought_it(tmp_path):
    path, x = tmp_path / "train.textproto", 100 + np.arange(8.0).reshape(4, 2)
    path.write_text(NORM.replace("MORE", ""))
    first = train(path, datasets={"train": {"x": x}}, output=tmp_path / "first")[0]
    again = {"train": [{"x": x}] * 4}
    assert train(path, datasets=again, weights=first.weights, output=tmp_path / "again")[0].steps == 2
    path.write_text(path.read_text() + f'weights {{ file: "{first.weights}" leave_out: "n.*" }}')
    with pytest.raises(Exception, match="layer `n` computes its statistics from all data before the first step"):
        train(path, datasets=again, output=tmp_path / "batches")
    assert train(path, datasets={"train": {"x": x}}, output=tmp_path / "arrays")[0].steps == 2


def test_a_norm_of_data_that_only_the_test_has(tmp_path):
    path = tmp_path / "train.textproto"
    text = NORM.replace("MORE", "").replace(
        '"data" data { shape: 2 } }', '"data" data { shape: 2 } include { phase: "test" } }'
    )
    text = text.replace('input: "n" fc', 'input: "z" fc').replace(
        "net {", 'net {\n  layer { name: "z" type: "data" data { shape: 2 } }'
    )
    path.write_text(
        text.replace('input: "x"  }', 'input: "x" include { phase: "test" } }').replace(
            'include { stage: "other" }', 'include { stage: "other" phase: "test" }'
        )
    )
    with pytest.raises(ConfigError, match="`x` exists only in the test phase, but `data_norm` computes"):
        train(path, datasets={"train": {"z": np.zeros((4, 2))}, "test": {"z": np.zeros((4, 2)), "x": np.zeros((4, 2))}})


TWO = """
net {
  layer { name: "x" type: "data" data { shape: 2 } }
  layer { name: "a" type: "data" data { shape: 1 } }
  layer { name: "b" type: "data" data { shape: 1 } }
  layer { name: "w" type: "data" }
  layer { name: "label" type: "data" data { data_type: INT size: 2 } }
  layer { name: "y" type: "fc" input: "x" fc { size: 1 } }
  layer { name: "first" type: "square_error" input: "y" input: "a" }
  layer { name: "second" type: "square_error" input: "y" input: "b" }
  layer { name: "scores" type: "fc" input: "x" fc { size: 2 } }
  layer { name: "third" type: "softmax_with_loss" input: "scores" input: "label" input: "w" }
}
steps: 2 batch_size: 4
optimizer { type: "sgd" learning_rate: 0.1 }
"""


def test_two_costs_of_one_value_have_errors_of_their_own(tmp_path):
    path = tmp_path / "train.textproto"
    path.write_text(TWO)
    data = {"x": np.zeros((4, 2)), "a": np.full((4, 1), 1.0), "b": np.full((4, 1), 5.0), "w": np.ones(4)}
    data["label"] = np.array([0, 1, 0, 1])
    made = train(path, datasets={"train": data}, output=tmp_path / "out")[0]
    found = evaluate(path, data, weights=made.weights)
    errors = sorted(value for name, value in found.results.items() if name.endswith(".MAE"))
    assert len(errors) == 2
    assert sum(errors) == pytest.approx(4), "what is predicted lies between 1 and 5"
    assert found.notes == ["the confusion matrix of `scores` ignores the sample weights of `third`"]


TARGETS = """
net {
  layer { name: "x" type: "data" data { shape: 2 } }
  layer { name: "price" type: "data" data { shape: 2 } }
  layer { name: "score" type: "fc" input: "x" fc { size: 2 } }
  layer { name: "norm" type: "target_norm" input: "score" input: "price" output: "found" output: "z" }
  layer { name: "cost" type: "square_error" input: "score" input: "z" }
}
epochs: 300 batch_size: 10
optimizer { type: "adam" learning_rate: 0.05 }
"""


def test_predictions_are_in_the_units_of_the_targets(tmp_path):
    """Of two targets of very different scales, in predict, evaluate, ONNX models and a training from the weights."""
    random = np.random.default_rng(0)
    x = random.normal(size=(40, 2))
    price = x @ [[3e4, 0.002], [-1e4, 0.001]] + [2e5, 5] + random.normal(size=(40, 2)) * [300, 2e-5]
    path = tmp_path / "train.textproto"
    path.write_text(TARGETS)
    made = train(path, datasets={"train": {"x": x, "price": price}}, output=tmp_path / "first")[0]
    found = predict(path, {"x": x}, weights=made.weights)
    assert list(found.values) == ["found"]
    np.testing.assert_allclose(found.values["found"], price, rtol=1e-2)
    report = evaluate(path, {"x": x, "price": price}, weights=made.weights)
    mean_error = np.abs(found.values["found"] - price).mean()
    assert report.results["found.MAE"] == pytest.approx(mean_error, rel=0.01)
    assert report.results["found.R2"] > 0.999

    with pl.Net(load_training(path, sources_needed=False).network) as net:
        net.load(made.weights)
        pl.export_onnx(net, tmp_path / "net.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "net.onnx")
    assert [one.name for one in session.get_outputs()] == ["found"]
    np.testing.assert_allclose(session.run(None, {"x": x.astype(np.float32)})[0], found.values["found"], rtol=1e-5)

    # In other units: the statistics are those of the weights, and predictions follow the new targets all the same.
    anew = train(
        path, datasets={"train": {"x": x, "price": price * 0.9}}, weights=made.weights, output=tmp_path / "anew"
    )[0]
    again = predict(path, {"x": x}, weights=anew.weights).values["found"]
    np.testing.assert_allclose(again[:, 0], price[:, 0] * 0.9, rtol=0.02)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('"score" input: "z"', '"score" input: "price"', "`score` and `price` have different units"),
        ('"score" input: "z"', '"z" input: "found"', "`z` and `found` have different units"),
        ('"score" input: "price" output', '"score" output', "the target is missing, the second input"),
        ('"score" input: "price" output', '"score" input: "score" output', "`score` is computed by a layer, but"),
    ],
)
def test_units_are_not_mixed(tmp_path, before, after, message):
    path, zeros = tmp_path / "train.textproto", np.zeros((4, 2))
    path.write_text(TARGETS.replace(before, after))
    with pytest.raises(ConfigError, match=message):
        train(path, datasets={"train": {"x": zeros, "price": zeros}})


@pytest.mark.parametrize(("scale", "prediction", "noted"), [(100, "fc", True), (1, "fc", False), (100, "slope", False)])
def test_a_large_target_is_noted(tmp_path, scale, prediction, noted):
    path, x = tmp_path / "train.textproto", np.arange(8.0).reshape(4, 2)
    slope = 'layer { name: "scaled" type: "slope_intercept" input: "score" slope_intercept { slope: 100 } }'
    cost = f'"{"score" if prediction == "fc" else "scaled"}" input: "price"'
    text = TARGETS.replace('"score" input: "z"', cost).replace("300", "1")
    path.write_text("\n".join(slope if '"norm"' in line else line for line in text.splitlines()))
    said = train(path, datasets={"train": {"x": x, "price": scale * x}}, output=tmp_path / "out")[2]
    assert ("standardize it with the layer `target_norm`" in said) == noted


def test_a_large_scalar_target_is_noted(tmp_path):
    path, text = tmp_path / "train.textproto", TARGETS.replace('"score" input: "z"', '"score" input: "price"')
    scalar = text.replace('"price" type: "data" data { shape: 2 }', '"price" type: "data" data { shape: [] }')
    scalar = scalar.replace("fc { size: 2 }", "fc { size: 1 }").replace("300", "1")
    scalar = "\n".join(line for line in scalar.splitlines() if '"norm"' not in line)
    path.write_text(scalar)
    said = train(
        path, datasets={"train": {"x": np.ones((4, 2)), "price": 1e3 * np.arange(4)}}, output=tmp_path / "out"
    )[2]
    assert "the target `price` has the mean 1500" in said


UNSIZED = """
net {
  layer { name: "word" type: "data" data { data_type: INT } }
  layer { name: "remark" type: "data" data { data_type: INT seq_nested_level: 1 } }
  layer { name: "label" type: "data" data { data_type: INT } }
  layer { name: "vector" type: "embedding" input: "word" embedding { size: 2 } }
  layer { name: "vectors" type: "embedding" input: "remark" embedding { size: 2 } }
  layer { name: "mean" type: "seq_avg_pool" input: "vectors" }
  layer { name: "scores" type: "fc" input: "vector" input: "mean" set: "size = label" }
  layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
}
steps: 2 batch_size: 4
output: "out"
optimizer { type: "sgd" learning_rate: 0.1 }
source { type: "csv" csv { file: "t.csv" ids: "word" ids: "label" text: "remark" columns: "features = n" } }
"""


@pytest.fixture
def unsized(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("word,remark,label,n\nsun,a b,x,1\nrain,b,y,2\nsnow,c d b,z,3\nsun,a,x,4\n")
    (tmp_path / "new.csv").write_text("word,remark,label,n\nhail,a e,y,1\nsun,b,x,2\n")
    (tmp_path / "t.textproto").write_text(UNSIZED)
    return tmp_path


def sizes_of(network):
    return {node.name: node.output_types[0].size for node in network.nodes if not node.inputs}


def test_sizes_that_a_file_lacks_are_the_numbers_of_words(unsized, capsys):
    report = pl.train("t.textproto")
    assert "note: sizes from the data: word 4, remark 5, label 3\n" in capsys.readouterr().err
    assert CliRunner().invoke(commands, ["export", "t.textproto", "-o", "t.onnx"]).exit_code == 0
    # 3 words and 4 words, and one id each for those that the training lacks; 3 classes, which are always known.
    known = {"word": 4, "remark": 5, "label": 3}
    assert sizes_of(load_training(report.folder / "run" / "train.textproto").network) == known
    scores = pl.predict("t.textproto", "new.csv").values["scores"]
    given = UNSIZED.replace('set: "size = label"', "fc { size: 3 }")
    for name, size in known.items():
        head, name_, rest = given.partition(f'"{name}" type: "data" data {{ data_type: INT')
        given = f"{head}{name_} size: {size}{rest}"
    (unsized / "given.textproto").write_text(given)
    pl.train("given.textproto", output="given")
    assert np.array_equal(
        scores, pl.predict("given.textproto", "new.csv", weights="given/weights.safetensors").values["scores"]
    )
    assert (
        pl.evaluate("t.textproto", "new.csv").results
        == pl.evaluate("given.textproto", "new.csv", weights="given/weights.safetensors").results
    )


def test_sizes_stay_those_of_the_training(unsized):
    """Where the data have changed since; a resumed training keeps its words, a new one has those of its data."""
    pl.train("t.textproto")
    (unsized / "t.csv").write_text("word,remark,label,n\nsun,a b,x,1\nhail,f,y,2\nfog,c d b,z,3\nrain,a,x,4\n")
    assert pl.predict("t.textproto", "new.csv").values["scores"].shape == (2, 3)
    report = pl.train("t.textproto", resume=True, settings=["steps=4"])
    assert report.steps == 4
    assert read_fitted(report.folder / "data.json").words["word"] == ["rain", "snow", "sun"]
    report = pl.train("t.textproto", output="new")
    assert sizes_of(load_training(report.folder / "run" / "train.textproto").network)["word"] == 5


def test_a_single_class_has_no_confusion_matrix(unsized):
    (unsized / "t.csv").write_text("word,remark,label,n\nsun,a b,x,1\nrain,b,x,2\n")
    pl.train("t.textproto")
    found = pl.evaluate("t.textproto", "t.csv")
    assert (found.rows, found.confusions) == (2, [])
    assert found.notes == ["no confusion matrix of `scores`: `label` has a single class"]


def test_a_network_file_and_overrides_have_sizes_from_the_data(unsized):
    net, _, rest = UNSIZED.removeprefix("\nnet {").partition("\n}\n")
    (unsized / "net.textproto").write_text(net)
    (unsized / "t.textproto").write_text(f'network: "net.textproto"\n{rest}')
    report = pl.train("t.textproto", settings=["net.layer[word].data.size=9"])
    kept = load_training(report.folder / "run" / "train.textproto").network
    assert sizes_of(kept) == {"word": 9, "remark": 5, "label": 3}
    frame = {"word": ["sun", "rain"], "remark": ["a", "b c"], "label": ["x", "y"]}
    table = pyarrow.table(frame)
    stream = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches())  # which can be read only once
    report = pl.train("t.textproto", datasets={"train": stream}, output="frame")
    assert sizes_of(load_training(report.folder / "run" / "train.textproto").network) == {
        "word": 3,
        "remark": 4,
        "label": 2,
    }


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("", "", ""),
        ("t.csv", "none.csv", "without these data, the size of `word`, `remark`, `label` is unknown"),
        ('ids: "word"', 'columns: "word = n"', "data layer `word` has no `size`, and the field `word` has no words"),
        ('ids: "label"', 'label: "n"', "data layer `label` has no `size`, and the field `label` has no words"),
        ("output:", 'weights { file: "none.safetensors" } output:', "error[E308]: file not found: none.safetensors"),
        ('set: "size = label"', "fc { size: 3 }", "layer `label`: a value of type INT needs its size"),
        ('set: "size = label"', 'set: "size = lable"', "write its attributes in `fc { ... }`"),
        ('set: "size = label"', 'set: "size = label + lable"', "unknown setting `lable`"),
        ('set: "size = label"', 'set: "size = label, bias = false"', "`bias` reads no size of a data layer"),
    ],
)
def test_validate_says_which_size_is_unknown(unsized, old, new, wanted):
    (unsized / "t.textproto").write_text(UNSIZED.replace(old, new))
    done = CliRunner().invoke(commands, ["validate", "t.textproto"])
    assert wanted in done.output
    assert str(10**6 + 3) not in done.output
    assert (done.exit_code == 0) == (not wanted)


def test_an_error_elsewhere_is_not_about_sizes(unsized):
    (unsized / "t.textproto").write_text(UNSIZED.replace("learning_rate", "lerning_rate"))
    done = CliRunner().invoke(commands, ["validate", "t.textproto"])
    assert "did you mean `learning_rate`?" in done.output
    assert "needs its size" not in done.output
