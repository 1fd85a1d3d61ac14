"""The callback `print`: values and gradients of the first rows while a network learns, as numbers, classes or words."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import paddle_layers as pl
from paddle_layers.data import DataError
from paddle_layers.data.sinks.formats import CsvSink
from paddle_layers.runtime import Sequences
from paddle_layers.training import TrainingError, make_callback
from paddle_layers.training.inference.prediction import Prediction, predict
from paddle_layers.training.network_values import LONGEST, value_text

pytestmark = pytest.mark.usefixtures("as_python")

TRAINING = """
net {
  layer { name: "words" type: "data" data { data_type: INT size: 4 seq_nested_level: 1 } }
  layer { name: "label" type: "data" data { data_type: INT size: 2 } }
  layer { name: "vectors" type: "embedding" input: "words" embedding { size: 3 } }
  layer { name: "last" type: "seq_last" input: "vectors" }
  layer { name: "scores" type: "fc" input: "last" fc { size: 2 } }
  layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
}
batch_size: 2
steps: 4
source { type: "text" phase: "train" shuffle: false
         text { file: "lines.txt" dictionary: "words.txt" unknown: "?" classes: "good" classes: "bad" } }
optimizer { type: "sgd" learning_rate: 0.1 }
output: "out"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("words.txt").write_text("?\nthe\nsun\nrain\n", encoding="utf-8")
    Path("lines.txt").write_text("good\tthe sun\nbad\tthe rain rain\n", encoding="utf-8")
    return tmp_path


def said(folder, capfd, callback="", callbacks=()) -> list[str]:
    """The lines that a training shows above its progress."""
    (folder / "train.textproto").write_text(TRAINING + callback, encoding="utf-8")
    pl.train(folder / "train.textproto", callbacks=callbacks, overwrite=True)
    return capfd.readouterr().err.splitlines()


def test_sequences_of_ids_are_text_by_the_dictionary(folder, capfd):
    lines = said(
        folder, capfd,
        'callback { type: "print" print { values: "words" dictionary: "words.txt" every: 4 rows: 2 } }',
    )  # fmt: skip
    at = lines.index("step 4: words")
    assert lines[at + 1 : at + 3] == ["  the sun", "  the rain rain"]
    assert sum("words" in line for line in lines) == 1, "it is shown in step 4 only"


def test_values_and_gradients_are_those_of_the_step(folder, capfd):
    class Witness:
        keep = ("scores", "vectors")
        seen: tuple[np.ndarray, np.ndarray] = ()

        def on_step(self, run):
            self.seen = run.net.value("scores"), run.net.gradient("vectors")

    witness = Witness()
    lines = said(
        folder, capfd,
        callbacks=[make_callback("print", values=["scores"], gradients=["vectors"], rows=2), witness],
    )  # fmt: skip
    assert not any("scores" in line for line in lines), "there are fewer than 100 steps"
    lines = said(
        folder, capfd,
        callbacks=[make_callback("print", values=["scores"], gradients=["vectors"], rows=2, every=2), witness],
    )  # fmt: skip
    for name, expected in zip(("scores", "gradient of vectors"), witness.seen, strict=True):
        at = lines.index(f"step 4: {name}")
        shown = [[float(number) for number in line.split()] for line in lines[at + 1 : at + 3]]
        np.testing.assert_allclose(shown, expected[:2], rtol=1e-3)
        assert np.abs(shown).max() > 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            'values: "score"',
            "Print reads `score`: no such value in the train phase; did you mean `scores`?",
        ),
        ('values: "words" dictionary: "word.txt"', "word.txt"),
    ],
)
def test_what_is_not_there_is_said_before_the_first_step(folder, capfd, settings, words):
    with pytest.raises(pl.ConfigError) as caught:
        said(folder, capfd, f'callback {{ type: "print" print {{ {settings} }} }}')
    (diagnostic,) = caught.value.diagnostics
    assert words in diagnostic.message
    assert diagnostic.line == TRAINING.count("\n") + 1


def test_a_gradient_that_nobody_computes_is_said(folder, capfd):
    with pytest.raises(TrainingError, match="whose gradient is not computed"):
        said(folder, capfd, callbacks=[make_callback("print", gradients=["words"], every=1)])


def test_the_best_columns_have_their_words():
    value = np.array([[0.1, 0.7, 0.2], [0.5, 0.5, 0.0], [9, 9, 9]])
    assert value_text(value, 2, 2, ("no", "yes")) == "  yes:0.7 2:0.2\n  no:0.5 yes:0.5"


def test_of_nested_sequences_the_innermost_are_lines():
    value = Sequences(np.array([1, 2, 3]), np.array([0, 1, 2]), np.array([0, 2, 3]))
    assert value_text(value, 5, None, ()) == "  1 2\n  3"


def test_of_sparse_rows_the_columns_that_are_set_are_shown():
    text = """
    layer { name: "x" type: "data" data { data_type: SPARSE size: 5 } }
    layer { name: "words" type: "data" data { data_type: SPARSE_INT size: 5 seq_nested_level: 1 } }
    layer { name: "y" type: "fc" input: "x" fc { size: 2 } }
    layer { name: "z" type: "fc" input: "words" fc { size: 2 } }
    """
    rows = scipy.sparse.csr_matrix([[0, 1.5, 0, 2, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, -3]])
    ones = abs(rows).sign()
    with pl.Net(pl.loads(text)) as net:
        net.forward({"x": rows, "words": [ones[:2], ones[:0], ones[2:]]})
        assert value_text(net.value("x"), 2, None, ()) == "  1:1.5 3:2\n  "
        assert value_text(net.value("words"), 3, None, ["a", "b", "c", "d", "e"]) == "  b d\n  \n  e"


def test_a_long_row_is_cut_in_its_middle():
    (line,) = value_text(np.arange(1000.0)[None], 3, None, ()).splitlines()
    assert line.split()[:3] == ["0", "1", "2"]
    assert line.endswith("998 999")
    assert "(1000 in total)" in line
    assert len(line.split()) <= LONGEST + 6


def test_a_batch_without_rows_is_no_line():
    assert value_text(np.zeros((0, 3)), 3, None, ()) == ""


def test_predicted_ids_are_text_by_a_dictionary(folder, capsys):
    """Every word is scored by its own vector, so the best score is an id again."""
    learning = 'include { phase: "train" } }'
    source = 'source { type: "text" phase: "test" text { file: "bare.txt" dictionary: "words.txt" } }'
    Path("bare.txt").write_text("the sun\nthe rain rain\n", encoding="utf-8")
    text = TRAINING + source
    for old, new in (
        ("size: 3 } }", 'size: 4 } }\nlayer { name: "next" type: "maxid" input: "vectors" }'),
        ('size: 2 } }\n  layer { name: "vectors"', "size: 2 } " + learning + '\n  layer { name: "vectors"'),
        ('input: "label" }', 'input: "label" ' + learning),
    ):
        assert old in text
        text = text.replace(old, new)
    (folder / "train.textproto").write_text(text, encoding="utf-8")
    report = pl.train(folder / "train.textproto")
    found = predict(folder / "train.textproto", dictionary="words.txt")
    with pl.Net(pl.load_training(folder / "train.textproto").network, keep=["vectors"]) as net:
        net.load(str(report.weights))
        best = net.parameters["vectors.table"].value.argmax(axis=1)
    names = ["?", "the", "sun", "rain"]
    expected = [" ".join(names[best[word]] for word in line) for line in ([1, 2], [1, 3, 3])]
    assert found.texts["next"] == expected
    capsys.readouterr()
    CsvSink(sys.stdout).write(found)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "row,next,scores.0,scores.1"
    assert [line.split(",")[1] for line in lines[1:]] == expected


def test_a_table_has_values_of_equally_many_lines_only():
    found = Prediction({"words": np.zeros((5, 2)), "scores": np.zeros((2, 3))}, {}, {})
    with pytest.raises(DataError, match="`words` 5, `scores` 2"):
        CsvSink(sys.stdout).write(found)
