"""The source `text` with a tokenizer: its ids are the library's, its texts come back, and odd files are refused."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

import paddle_layers as pl
from paddle_layers.data import DataError, Dataset
from paddle_layers.data.formats import text_lines
from paddle_layers.data.formats.tokenizers import read_words
from paddle_layers.define import registries
from paddle_layers.training.network_values import text_of, words_of_ids

LINES = ("the cat sees a dog", "a dög hears the cats", "dogs see", "the the  cat")


def byte_pairs() -> Tokenizer:
    made = Tokenizer(models.BPE(dropout=0.5))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    marks = ["<begin>", "<end>"]
    made.train_from_iterator(
        LINES * 5,
        trainers.BpeTrainer(vocab_size=300, special_tokens=marks, initial_alphabet=alphabet, show_progress=False),
    )
    made.post_processor = processors.TemplateProcessing("$A <end>", special_tokens=[("<end>", 1)])
    made.enable_truncation(3)
    made.enable_padding(length=9)
    return made


def word_pieces() -> Tokenizer:
    vocabulary = {piece: number for number, piece in enumerate(["[UNK]", "the", "dog", "##s", "cat", "see", "a"])}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()])
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.decoder = decoders.WordPiece()
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("tokenizers")
    byte_pairs().save(str(found / "tokenizer.json"))
    word_pieces().save(str(found / "pieces.json"))
    (found / "lines.txt").write_text("\n\n".join(LINES) + "\n", encoding="utf-8")
    (found / "labelled.txt").write_text("".join(f"b\t{line}\n" for line in LINES), encoding="utf-8")
    return found


def plain(file: Path) -> Tokenizer:
    """The library's own, without what would make other ids of a text."""
    found = Tokenizer.from_file(str(file))
    found.no_truncation()
    found.no_padding()
    if isinstance(found.model, models.BPE):
        found.model.dropout = None
    return found


def opened(folder: Path, **settings: Any) -> Dataset:
    definition = registries["source"]["text"]
    return definition.create(definition.bind({"file": "lines.txt", **settings})).open(folder)


@pytest.mark.parametrize("file", ["tokenizer.json", "pieces.json"])
@pytest.mark.parametrize("large", [False, True])
def test_ids_are_those_of_the_library(folder, file, large, monkeypatch):
    monkeypatch.setattr(text_lines, "IN_MEMORY", 0 if large else 2**28)
    own = plain(folder / file)
    wanted = [own.encode(line).ids for line in LINES]
    rows = opened(folder, file="labelled.txt", tokenizer=file, classes=["a", "b"]).rows(np.arange(4))
    assert rows["words"].data.tolist() == [number for ids in wanted for number in ids]
    assert rows["words"].starts.tolist() == [0, *np.cumsum([len(ids) for ids in wanted])]
    assert rows["label"].tolist() == [1] * 4


def test_ids_are_texts_again(folder):
    data = opened(folder, tokenizer="tokenizer.json")
    words, rows = data.words["words"], data.rows(np.arange(4))["words"]
    assert tuple(map(" ".join, words_of_ids(rows, words))) == LINES, "the mark of the end is left out"
    assert words == read_words(folder / "tokenizer.json")
    assert text_of([1, 10**9, -1], words) == "", "a network may have more classes than there are pieces"
    assert text_of([2, 3, 9], read_words(folder / "pieces.json")) == "dogs"


NET = """
net {
  layer { name: "words" type: "data" data { data_type: INT size: %d seq_nested_level: 1 } }
  layer { name: "label" type: "data" data { data_type: INT size: 2 } }
  layer { name: "vectors" type: "embedding" input: "words" embedding { size: 3 } }
  layer { name: "last" type: "seq_last" input: "vectors" }
  layer { name: "scores" type: "fc" input: "last" fc { size: 2 } }
  layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
}
batch_size: 2
epochs: 1
source { type: "text" phase: "train"
         text { file: "labelled.txt" tokenizer: "tokenizer.json" classes: "a" classes: "b" } }
optimizer { type: "sgd" learning_rate: 0.1 }
"""


def test_a_training_reads_it(folder):
    count = len(read_words(folder / "tokenizer.json"))
    (folder / "train.textproto").write_text(NET % count, encoding="utf-8")
    assert pl.train(folder / "train.textproto", output=folder / "out").steps == 2
    (folder / "train.textproto").write_text(NET % 40, encoding="utf-8")
    with pytest.raises(
        pl.ConfigError, match=f"field `words` has {count} words, but the data layer .*set `size: {count}`"
    ):
        pl.train(folder / "train.textproto", output=folder / "small")


WRITER = """
name: "writer"
layer { name: "before" type: "data" data { data_type: INT size: %d seq_nested_level: 1 } }
layer { name: "words" type: "data" data { data_type: INT size: %d seq_nested_level: 1 } }
layer { name: "scores" type: "embedding" input: "before" embedding { size: %d } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "words" }
"""


def test_texts_are_written_by_pieces(folder):
    words = read_words(folder / "tokenizer.json")
    own = plain(folder / "tokenizer.json")
    ids = [0, *own.encode("the", add_special_tokens=False).ids, *own.encode(" cat", add_special_tokens=False).ids, 1]
    assert len(set(ids)) == len(ids)
    count = len(words)
    (folder / "writer.textproto").write_text(WRITER % (count, count, count))
    (folder / "write.textproto").write_text(
        'network: "writer.textproto" steps: 1 optimizer { type: "sgd" learning_rate: 0.1 }'
        ' generate { words: "before" begin: 0 end: 1 max_length: 9 beam_size: 1 }'
    )
    table = np.zeros((count, count))
    table[ids[:-1], ids[1:]] = 9.0
    with pl.Net(pl.load(folder / "writer.textproto")) as net:
        net.parameters["scores.table"].value = table
        net.save(folder / "w.safetensors")
    found = pl.generate(
        folder / "write.textproto", weights=folder / "w.safetensors", dictionary=folder / "tokenizer.json"
    )
    assert found.texts[0][0].words == tuple(ids[1:-1])
    assert found.texts[0][0].text == "the cat", "with no spaces but those of the pieces"


def changed(folder: Path, **facts: Any) -> str:
    return json.dumps({**json.loads((folder / "tokenizer.json").read_bytes()), **facts})


REPLACE = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 2000}


def charsmap(units: dict[int, int], texts: bytes, count: int = 256) -> str:
    """A table as SentencePiece writes it: its size in bytes, the units of its trie, and replacements."""
    trie = np.zeros(count, "<u4")
    for place, unit in units.items():
        trie[place] = unit
    return base64.b64encode((4 * count).to_bytes(4, "little") + trie.tobytes() + texts).decode()


CHARSMAP = charsmap({}, b"x" * 10**6 + b"\0")
A, LEAF, VALUE = ord("a"), 2**8, 2**31
BEYOND = "refers to replacements that do not start within its strings"
CLAIMING = "////////////"  # a table of 2**32 bytes
FAR = {"type": "WordLevel", "vocab": {"a": 4 * 10**9}, "unk_token": "a"}


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"model": None}, "it has no `model`"),
        ({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}}, "Token `b` out of vocabulary"),
        ({"model": {"type": "WordLevel", "vocab": {}, "unk_token": "x"}, "added_tokens": []}, "empty vocabulary"),
        ({"normalizer": {"type": "Sequence", "normalizers": [REPLACE] * 3}}, "expand the input without limit"),
        ({"decoder": {"type": "Sequence", "decoders": [REPLACE] * 3}}, "expand the input without limit"),
        (
            {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}] * 40}},
            "expand the input without limit",
        ),
        (
            {
                "normalizer": {
                    "type": "Sequence",
                    "normalizers": [{"type": "Precompiled", "precompiled_charsmap": CHARSMAP}] * 2,
                }
            },
            "expand the input without limit",
        ),
        (
            {"normalizer": {"type": "Precompiled", "precompiled_charsmap": CLAIMING}},
            "declares 4294967295 bytes, but has 5",
        ),
        ({"normalizer": {"precompiled_charsmap": CLAIMING}}, "declares 4294967295 bytes, but has 5"),
        (
            {"normalizer": {"type": "Precompiled", "precompiled_charsmap": [8, 0, 0, 0, 1]}},
            "is a list, expected a base64 string",
        ),
        (
            {"normalizer": {"type": "Precompiled", "precompiled_charsmap": 2**40}},
            "is 1099511627776, expected a base64 string",
        ),
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAA="}}, "declares 0 bytes, but has 0"),
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AQAAAGEA"}}, "are not whole units of 4"),
        *(
            ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": table}}, message)
            for table, message in (
                (charsmap({}, b"b\0", count=0), "refers to units beyond the 0 of its trie"),
                (charsmap({A: A | 2**18}, b"b\0"), "refers to units beyond the 256 of its trie"),
                (charsmap({A: A | LEAF | 1 << 10, A ^ 1: VALUE | 2}, b"b\0"), BEYOND),
                (charsmap({A: A | LEAF | 1 << 10, A ^ 1: VALUE | 1}, "\u00e9\0".encode()), BEYOND),
            )
        ),
        ({"model": FAR, "added_tokens": []}, "1 tokens, but ids up to 4000000000"),
    ],
)
def test_odd_files_are_refused(folder, facts, message):
    (folder / "odd.json").write_text(changed(folder, **facts))
    with pytest.raises(DataError, match=message) as told:
        opened(folder, tokenizer="odd.json")
    assert str(folder / "odd.json") in str(told.value)


def test_a_table_of_sentencepiece_replaces_characters(folder):
    table = charsmap({A: A | LEAF | 1 << 10, A ^ 1: VALUE | 2}, b"x\0b\0")
    model = {"type": "WordLevel", "vocab": {"b": 0, "?": 1}, "unk_token": "?"}
    normalizer = {"type": "Precompiled", "precompiled_charsmap": table}
    (folder / "mapped.json").write_text(
        changed(folder, model=model, normalizer=normalizer, added_tokens=[], pre_tokenizer=None, post_processor=None)
    )
    (folder / "letters.txt").write_text("a\n\nx\n")
    rows = opened(folder, file="letters.txt", tokenizer="mapped.json").rows(np.arange(2))
    assert rows["words"].data.tolist() == [0, 1]


def test_what_else_is_wrong_is_told_with_its_place(folder, tmp_path):
    for settings, message in (
        ({"tokenizer": "none.json"}, r"none\.json"),
        ({"tokenizer": "lines.txt"}, "lines.txt is not a tokenizer file: "),
        (
            {"tokenizer": "pieces.json", "dictionary": "lines.txt"},
            "`tokenizer` and `dictionary` are mutually exclusive",
        ),
    ):
        with pytest.raises(DataError, match=message):
            opened(folder, **settings)
    (folder / "missing.json").write_text(
        changed(folder, model={"type": "WordLevel", "vocab": {"the": 2, "dogs": 3, "see": 4}, "unk_token": "none"})
    )
    (folder / "odd.txt").write_text("the\n\nzebra\n")
    with pytest.raises(DataError, match=r"odd\.txt:3: .* cannot tokenize this line: WordLevel error"):
        opened(folder, file="odd.txt", tokenizer="missing.json")
    (folder / "growing.json").write_text(changed(folder, normalizer=REPLACE | {"content": "a" * 10**7}))
    with pytest.raises(DataError, match=r"lines\.txt:1: the line has 18 characters, the limit of .* is 0"):
        opened(folder, tokenizer="growing.json")
