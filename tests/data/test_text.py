"""The source `text`: lines of words by a dictionary, and what is said of wrong ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.data import DataError, Dataset
from paddle_layers.data.fitted_preprocessing import encoded, learn
from paddle_layers.data.formats import text_lines, tokenizers
from paddle_layers.define import registries

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
epochs: 1
source { type: "text" phase: "train"
         text { file: "lines.txt" dictionary: "words.txt" unknown: "?" classes: "good" classes: "bad" } }
optimizer { type: "sgd" learning_rate: 0.1 }
output: "out"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "words.txt").write_text("?\nthe\nsun\nrain\n", encoding="utf-8")
    (tmp_path / "lines.txt").write_text("good\tthe sun\n\nbad\tthe  rain  rain\ngood\tbeer\n", encoding="utf-8")
    return tmp_path


def opened(folder: Path, **settings: Any) -> Dataset:
    definition = registries["source"]["text"]
    given = {"file": "lines.txt", "dictionary": "words.txt", **settings}
    return definition.create(definition.bind(given)).open(folder)


def test_words_become_sequences_of_ids(folder):
    data = opened(folder, unknown="?", classes=["good", "bad"])
    rows = data.rows(np.arange(3))
    assert rows["words"].data.tolist() == [1, 2, 1, 3, 3, 0]
    assert rows["words"].starts.tolist() == [0, 2, 5, 6]
    assert rows["label"].tolist() == [0, 1, 0]
    assert data.place(1) == f"{folder / 'lines.txt'}:3"


def test_lines_without_labels(folder):
    (folder / "lines.txt").write_text("sun the\n", encoding="utf-8")
    data = opened(folder)
    assert list(data.fields) == ["words"]
    assert data.rows(np.array([0]))["words"].data.tolist() == [2, 1]


def test_a_training_reads_it(folder, capsys):
    (folder / "train.textproto").write_text(TRAINING, encoding="utf-8")
    report = pl.train(folder / "train.textproto", output=folder / "out")
    assert report.steps == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"classes": ["good", "bad"]}, "lines.txt:4: unknown word `beer`"),
        ({"classes": ["good"], "unknown": "?"}, "lines.txt:3: unknown class `bad`"),
        ({"unknown": "none"}, "missing word `none`, the value of `unknown`"),
        ({"file": "missing.txt"}, "missing.txt"),
        ({"dictionary": "lines.txt"}, "lines.txt:1: expected one word per line"),
        ({"dictionary": "twice.txt"}, "twice.txt:3: duplicate word `a`, first in line 1"),
        ({"dictionary": "latin.txt"}, "invalid UTF-8"),
        ({"file": "empty.txt"}, "has no words"),
        ({"file": "near.txt"}, "near.txt:1: unknown word `suns`; did you mean `sun`?"),
        ({"file": "words.txt", "classes": ["good"]}, "words.txt:1: missing label; write it before the words"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(folder, settings, message):
    (folder / "twice.txt").write_text("a\nb\na\n", encoding="utf-8")
    (folder / "latin.txt").write_bytes(b"caf\xe9\n")
    (folder / "empty.txt").write_text("\n\n", encoding="utf-8")
    (folder / "near.txt").write_text("suns\n", encoding="utf-8")
    with pytest.raises(DataError) as told:
        opened(folder, **settings)
    assert message in str(told.value)


def test_without_a_dictionary_the_training_data_make_one(tmp_path):
    (tmp_path / "t.txt").write_text("good\tthe sun the sea\n\nbad\train the\n")
    source = registries["source"]["text"]
    dataset = source.create(source.bind({"file": "t.txt", "classes": ["good", "bad"]})).open(tmp_path)
    learned = learn(dataset, np.array([0]))
    assert learned.words == {"label": ["good", "bad"], "words": ["the", "sea", "sun"]}, (
        "the most frequent first, of rows that teach"
    )
    words = encoded(dataset, learned, "here").fields["words"]
    assert (words.data.tolist(), words.starts.tolist()) == ([0, 2, 0, 1, 3, 0], [0, 4, 6])
    with pytest.raises(DataError, match=r"t.txt: `unknown` requires a `dictionary`"):
        source.create(source.bind({"file": "t.txt", "unknown": "x"})).open(tmp_path)


def test_a_dictionary_has_a_limit_as_a_whole(tmp_path, monkeypatch):
    (tmp_path / "words.txt").write_text("".join(f"word{k}\n" for k in range(20)))
    assert len(tokenizers.read_dictionary(tmp_path / "words.txt")) == 20
    monkeypatch.setattr(tokenizers, "LARGEST_DICTIONARY", 100)
    with pytest.raises(DataError, match=r"words.txt has more than 100 characters, the limit of a dictionary"):
        tokenizers.read_dictionary(tmp_path / "words.txt")


def test_a_line_without_an_end_is_not_read_whole(tmp_path, monkeypatch):
    """Zeros without a line break, as of a file that was never written; the limit holds for every text of lines."""
    (tmp_path / "words.txt").write_bytes(b"a\n" + b"\0" * 5000)
    monkeypatch.setattr(text_lines, "LONGEST", 1000)
    with pytest.raises(DataError, match=r"words.txt:2: the line exceeds 1000 bytes"):
        tokenizers.read_dictionary(tmp_path / "words.txt")


def test_messages_about_a_dictionary_are_short(tmp_path):
    for content in ("a " * 5000, "a" * 5000 + "\n" + "a" * 5000):
        (tmp_path / "words.txt").write_text(content)
        with pytest.raises(DataError) as caught:
            tokenizers.read_dictionary(tmp_path / "words.txt")
        assert len(str(caught.value)) < 400
