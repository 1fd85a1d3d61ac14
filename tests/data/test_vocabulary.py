"""Vocabularies of text: how it becomes words, and which of them get an id."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

import paddle_layers as pl
from paddle_layers.data import DataError, Dataset
from paddle_layers.data.fitted_preprocessing import encoded, learn
from paddle_layers.data.formats import text_lines
from paddle_layers.define import registries
from paddle_layers.runtime.memory.tensorfiles import read_header

LINES = ["The cat, the dog.", "A CAT sat: don't!", "क्या cat…"]


def opened(folder: Path, kind: str, **settings: object) -> Dataset:
    path = folder / "f"
    texts = LINES if kind == "text" else ["words", *(f'"{line}"' for line in LINES)]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    given = {"file": "f"} | ({"text": ["words"]} if kind == "csv" else {}) | settings
    source = registries["source"][kind]
    found: Dataset = source.create(source.bind(given)).open_fields(folder, None)
    return found


def words(dataset: Dataset) -> list[list[str]]:
    """Encoded and decoded; `None` for an unknown word."""
    learned = learn(dataset, np.arange(len(dataset)))
    known = [*learned.words["words"], "?"]
    sequences = encoded(dataset, learned, "here").rows(np.arange(len(dataset)))["words"]
    ids, starts = sequences.data, sequences.starts
    return [[known[id_] for id_ in ids[a:b]] for a, b in pairwise(starts)]


@pytest.mark.parametrize("limit", [2**28, 0])
@pytest.mark.parametrize("kind", ["text", "csv"])
def test_words(tmp_path, monkeypatch, kind, limit):
    monkeypatch.setattr(text_lines, "IN_MEMORY", limit)
    assert words(opened(tmp_path, kind))[0] == ["The", "cat,", "the", "dog."]
    found = words(opened(tmp_path, kind, lowercase=True, punctuation="remove"))
    assert found == [["the", "cat", "the", "dog"], ["a", "cat", "sat", "dont"], ["क्या", "cat"]]
    found = words(opened(tmp_path, kind, punctuation="separate"))
    assert found[1] == ["A", "CAT", "sat", ":", "don", "'", "t", "!"]
    assert found[2] == ["क्या", "cat", "…"], "vowel signs are no punctuation"


@pytest.mark.parametrize("kind", ["text", "csv"])
def test_rare_words_are_unknown(tmp_path, kind):
    settings = {"lowercase": True, "punctuation": "remove"}
    assert words(opened(tmp_path, kind, min_count=2, **settings)) == [
        ["the", "cat", "the", "?"],
        ["?", "cat", "?", "?"],
        ["?", "cat"],
    ]
    assert words(opened(tmp_path, kind, max_words=1, **settings))[0] == ["?", "cat", "?", "?"]


def test_a_dictionary_is_looked_up_with_the_same_words(tmp_path):
    (tmp_path / "words").write_text("the\ncat\nother\n")
    settings = {"dictionary": "words", "unknown": "other", "lowercase": True, "punctuation": "remove"}
    found = opened(tmp_path, "text", **settings)
    assert found.rows(np.arange(1))["words"].data.tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tokenizer": "t.json", "lowercase": True}, "`tokenizer` and `lowercase` are mutually exclusive"),
        ({"tokenizer": "t.json", "punctuation": "remove"}, "`tokenizer` and `punctuation` are mutually exclusive"),
        ({"tokenizer": "t.json", "dictionary": "d"}, "`tokenizer` and `dictionary` are mutually exclusive"),
        ({"dictionary": "d", "max_words": 5}, "`dictionary` and `max_words` are mutually exclusive"),
        ({"dictionary": "d", "min_count": 2}, "`dictionary` and `min_count` are mutually exclusive"),
        ({"unknown": "x"}, "`unknown` requires a `dictionary`"),
    ],
)
def test_settings_that_exclude_each_other(tmp_path, settings, message):
    with pytest.raises(DataError, match=message):
        opened(tmp_path, "text", **settings)


TRAINING = """
net {
  layer { name: "words" type: "data" data { data_type: INT size: 40 seq_nested_level: 1 } }
  layer { name: "label" type: "data" data { data_type: INT size: 2 } }
  layer { name: "vectors" type: "embedding" input: "words" embedding { size: 3 } }
  layer { name: "mean" type: "seq_avg_pool" input: "vectors" }
  layer { name: "scores" type: "fc" input: "mean" fc { size: 2 } }
  layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
}
batch_size: 2
steps: 1
optimizer { type: "sgd" learning_rate: 0.1 }
"""


@pytest.mark.parametrize(
    "settings", ["lowercase: true punctuation: remove", 'dictionary: "words.txt" unknown: "?"', 'tokenizer: "t.json"']
)
def test_strings_of_other_data_are_read_as_the_lines_of_the_source(tmp_path, settings):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    made = Tokenizer(models.WordLevel({"?": 0, "The": 1, "cat": 2, "a": 3, "CAT": 4}, "?"))
    made.normalizer, made.pre_tokenizer = normalizers.StripAccents(), pre_tokenizers.Whitespace()
    made.save(str(tmp_path / "t.json"))
    (tmp_path / "words.txt").write_text("The\n?\ncat,\nCAT\n")
    texts = [LINES[0], LINES[1], "a câT, cat"]
    (tmp_path / "a.txt").write_text("".join(f"x\t{line}\ny\t{line}\n" for line in LINES[:2]))
    (tmp_path / "b.txt").write_text("\n".join(texts), encoding="utf-8")
    file = tmp_path / "train.textproto"
    file.write_text(f'{TRAINING}source {{ type: "text" text {{ file: "a.txt" classes: ["x", "y"] {settings} }} }}')
    weights = pl.train(file, output=tmp_path / "out").weights
    wanted = pl.predict(file, tmp_path / "b.txt", weights=weights).values["scores"]
    table = arrow.table({"words": texts})
    parquet.write_table(table, tmp_path / "b.parquet")
    for data in ({"words": texts}, table, tmp_path / "b.parquet"):
        assert np.array_equal(pl.predict(file, data, weights=weights).values["scores"], wanted)
    (tmp_path / "b.csv").write_text("words\na\n")
    with pytest.raises(DataError, match="is a table, but the source `text` of the training reads lines"):
        pl.predict(file, tmp_path / "b.csv", weights=weights)


def test_strings_are_text_where_a_data_layer_reads_sequences(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"words": LINES[:2], "label": ["x", "y"]}
    parquet.write_table(arrow.table(columns), tmp_path / "a.parquet")
    file = tmp_path / "train.textproto"
    file.write_text(TRAINING + 'source { type: "parquet" parquet { file: "a.parquet" } }')
    first = pl.train(file, output=tmp_path / "out").weights
    second = pl.train(TRAINING, datasets={"train": columns}, output=tmp_path / "again").weights
    assert read_header(first)[1]["paddle_layers.data"] == read_header(second)[1]["paddle_layers.data"]
    assert json.loads((tmp_path / "out/data.json").read_text())["words"]["words"][:2] == ["A", "CAT"]
