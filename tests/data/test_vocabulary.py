"""Vocabularies of text: how it becomes words, and which of them get an id."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from paddle_layers.data import DataError, Dataset
from paddle_layers.data.fitted_preprocessing import encoded, learn
from paddle_layers.data.formats import text_lines
from paddle_layers.define import registries

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
