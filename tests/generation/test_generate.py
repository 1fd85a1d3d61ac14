"""The command `generate` and `pl.generate`: what they read, what they write, and what they refuse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.config import ConfigError
from paddle_layers.training import TrainingError
from tests.fuzz.target import as_python

TRAINING = """
net {
  layer { name: "topic" type: "data" data { shape: 2 } }
  layer { name: "before" type: "data" data { data_type: INT size: 5 seq_nested_level: 1 } }
  layer { name: "words" type: "data" data { data_type: INT size: 5 seq_nested_level: 1 } }
  layer { name: "vectors" type: "embedding" input: "before" embedding { size: 3 } }
  layer { name: "meant" type: "expand" input: "topic" input: "vectors" }
  layer { name: "sums" type: "fc" input: "vectors" input: "meant" fc { size: 4 } }
  layer { name: "states" type: "recurrent" input: "sums" }
  layer { name: "scores" type: "fc" input: "states" fc { size: 5 } }
  layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "words" }
}
epochs: 1
batch_size: 2
source { type: "npz" npz { file: "data.npz" } }
optimizer { type: "sgd" learning_rate: 0.1 }
"""
BLOCK = 'generate { words: "before" begin: 0 end: 1 max_length: 4 }\n'
WORDS = ("<begin>", "<end>", "a", "b", "c")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A trained network with data of three samples; all runs as Python, which needs no compiler."""
    monkeypatch.chdir(tmp_path)
    Path("train.textproto").write_text(TRAINING + BLOCK)
    Path("words.txt").write_text("\n".join(WORDS))
    rng = np.random.default_rng(0)
    Path("output/network").mkdir(parents=True)
    with pl.Net(pl.load_training("train.textproto").network) as net:
        for parameter in net.parameters.values():
            parameter.value = rng.normal(size=parameter.shape)
        net.save("output/network/weights.safetensors")
    np.savez("topics.npz", topic=rng.normal(size=(3, 2)))
    with as_python():
        yield tmp_path


def run(*arguments: Any, status: int = 0) -> Result:
    done = CliRunner().invoke(commands, ["generate", *map(str, arguments)])
    assert done.exit_code == status, done.output + repr(done.exception)
    return done


def test_a_line_for_each_text() -> None:
    shown = run("train.textproto", "topics.npz", "--dictionary", "words.txt", "--results", 2, "--beam-size", 3)
    found = pl.generate("train.textproto", "topics.npz", dictionary="words.txt", results=2, beam_size=3)
    assert [len(texts) for texts in found.texts] == [2, 2, 2]
    lines = [f"{row},{one.score:.4f},{one.text}" for row, texts in enumerate(found.texts) for one in texts]
    assert shown.stdout.splitlines() == ["row,score,text", *lines]
    for texts in found.texts:
        assert texts[0].score >= texts[1].score
        assert all(one.text.split() == [WORDS[word] for word in one.words] and len(one.words) <= 4 for one in texts)


def test_files_are_written_whole_and_never_over_another() -> None:
    run("train.textproto", "topics.npz", "--output", "texts.jsonl")
    (first, *_) = (json.loads(line) for line in Path("texts.jsonl").read_text().splitlines())
    assert first["row"] == 0
    assert first["text"] == " ".join(map(str, first["words"])), "without a dictionary, words are ids"
    run("train.textproto", "topics.npz", "--output", "texts.csv")
    assert Path("texts.csv").read_text().startswith("row,score,text\n0,")
    assert "already exists" in run("train.textproto", "topics.npz", "--output", "texts.csv", status=1).stderr
    assert (
        "unsupported extension; expected .csv, .jsonl"
        in run("train.textproto", "--output", "texts.npz", status=2).stderr
    )


def test_what_is_drawn_depends_on_the_seed() -> None:
    given = ("train.textproto", "topics.npz", "--temperature", 3, "--results", 4)
    assert run(*given, "--seed", 1).stdout == run(*given, "--seed", 1).stdout != run(*given, "--seed", 2).stdout
    assert "`seed` is for sampling" in run("train.textproto", "topics.npz", "--seed", 1, status=1).stderr
    best = run("train.textproto", "topics.npz", "--temperature", 3, "--top-k", 1).stdout
    assert best == run("train.textproto", "topics.npz", "--beam-size", 1).stdout


def test_batches_do_not_matter() -> None:
    text = Path("train.textproto").read_text()
    one_by_one = pl.generate(text.replace("batch_size: 2", "batch_size: 1"), "topics.npz")
    assert one_by_one.texts == pl.generate(text, "topics.npz").texts


def test_texts_go_on_from_the_data() -> None:
    data = {"topic": np.zeros((2, 2)), "before": np.array([0, 2, 0]), "before.starts": np.array([0, 2, 3])}
    found = pl.generate("train.textproto", data, begin=None)
    alone = pl.generate("train.textproto", {"topic": np.zeros((1, 2))})
    assert found.texts[1][0] == alone.texts[0][0]
    data["before.starts"] = np.array([0, 3, 3])
    with pytest.raises(TrainingError, match="sample 1 of a batch has an empty prompt `before`"):
        pl.generate("train.textproto", data, begin=None)


def test_a_training_that_says_how_texts_are_written_names_the_command() -> None:
    starts = np.array([0, 2, 4])
    ids = {name: np.array([0, 2, 3, 1]) for name in ("before", "words")}
    np.savez("data.npz", topic=np.zeros((2, 2)), **ids, **{f"{name}.starts": starts for name in ids})
    report = pl.train("train.textproto", output="learned")
    assert f"Generate: paddle-layers generate train.textproto --weights {report.weights}" in str(report)


def test_mistakes_are_told_in_a_line() -> None:
    shown = run("train.textproto", "topics.npz", "--top-k", 3, status=1).stderr
    assert "error[E312]: `top_k` is only for sampling" in shown
    Path("bare.textproto").write_text(TRAINING)
    shown = run("bare.textproto", "topics.npz", status=1).stderr
    assert "error[E312]: the training file has no `generate` block" in shown
    assert "add `generate { words: ... begin: ... end: ... }`" in shown
    found = pl.generate("bare.textproto", "topics.npz", words="before", begin=0, end=1, max_length=4)
    assert found.texts == pl.generate("train.textproto", "topics.npz").texts
    Path("words.txt").write_text("\n".join([*WORDS, "d"]))
    assert (
        "has 6 words, but `scores` has 5"
        in run("train.textproto", "topics.npz", "--dictionary", "words.txt", status=1).stderr
    )
    Path("output/network/weights.safetensors").unlink()
    assert "train the network first" in run("train.textproto", "topics.npz", status=1).stderr
    with pytest.raises(TypeError, match="generate has no setting 'beams'; did you mean `beam_size`"):
        pl.generate("train.textproto", "topics.npz", beams=3)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        *[("temperature", 0), ("temperature", float("nan")), ("top_p", 0.0), ("top_k", 2.5), ("beam_size", 0)],
        *[("length_penalty", float("nan")), ("length_penalty", -1.0), ("length_penalty", 1e6), ("max_length", 0)],
        *[("results", 0), ("begin", -1), ("end", -5), ("words", 3), ("scores", 3)],
    ],
)
def test_settings_from_python_are_checked_as_those_of_a_file(setting: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=rf"error\[E312\]: `{setting}` "):
        pl.generate("train.textproto", "topics.npz", **{setting: value})


def test_a_network_that_needs_the_whole_text_is_refused_where_it_does() -> None:
    text = Path("train.textproto").read_text().replace('input: "sums" }', 'input: "sums" recurrent { reverse: true } }')
    Path("back.textproto").write_text(text)
    shown = run("back.textproto", "topics.npz", status=1).stderr
    assert "back.textproto:9:17: error[E313]" in shown
    assert "layer `states` cannot generate word by word: it runs backward over the sequence" in shown


def test_the_value_of_the_scores_is_named_where_it_is_not_clear() -> None:
    text = Path("train.textproto").read_text()
    more = 'layer { name: "other" type: "softmax_with_loss" input: "sums" input: "topics" }\n}\nepochs'
    more = 'layer { name: "topics" type: "data" data { data_type: INT size: 4 seq_nested_level: 1 } }\n' + more
    text = text.replace("}\nepochs", more)
    with pytest.raises(TrainingError, match="candidates are `scores`, `sums`; set `generate"):
        pl.generate(text, "topics.npz")
    assert pl.generate(text, "topics.npz", scores="scores").texts == pl.generate("train.textproto", "topics.npz").texts
    with pytest.raises(ConfigError, match="`topic` does not depend on the words"):
        pl.generate(text, "topics.npz", scores="topic")
