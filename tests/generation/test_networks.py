"""Text generation with networks, word by word, against the whole network on whole texts."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.config import ConfigError
from paddle_layers.config.generate_settings import GenerateSettings
from paddle_layers.generation import decoding_state
from paddle_layers.generation.generator import Generator
from paddle_layers.runtime.plan.plan import Plan
from paddle_layers.testing.cases.trial import as_python
from paddle_layers.training.inference.outputs import part_for

WORDS = 4
END = 1

ATTENTION = """
layer { name: "source" type: "data" data { shape: 3 seq_nested_level: 1 } }
layer { name: "before" type: "data" data { data_type: INT size: 4 seq_nested_level: 1 } }
layer { name: "mean" type: "seq_avg_pool" input: "source" }
layer { name: "start" type: "fc" input: "mean" fc { size: 5 act: "tanh" } }
layer { name: "vectors" type: "embedding" input: "before" embedding { size: 3 } }
layer {
  name: "decoder" type: "recurrent_group" input: "vectors" input: "source" input: "start"
  recurrent_group { static: ["source", "start"] }
  step {
    layer { name: "past" type: "memory" input: "start" memory { of: "state" } }
    layer { name: "older" type: "memory" memory { of: "past" size: 5 value: 0.5 } }
    layer { name: "ids" type: "memory" memory { of: "word" size: 3 id: 2 } }
    layer { name: "word" type: "maxid" input: "vectors" }
    layer { name: "one_ago" type: "embedding" input: "ids" embedding { size: 3 } }
    layer { name: "keys" type: "fc" input: "source" fc { size: 5 } }
    layer { name: "query" type: "expand" input: "past" input: "keys" }
    layer { name: "matched" type: "addto" input: "keys" input: "query" addto { act: "tanh" } }
    layer { name: "score" type: "fc" input: "matched" fc { size: 1 bias: false } }
    layer { name: "share" type: "sequence_softmax" input: "score" }
    layer { name: "scaled" type: "scaling" input: "share" input: "source" }
    layer { name: "context" type: "seq_avg_pool" input: "scaled" seq_avg_pool { strategy: SUM } }
    layer { name: "sums" type: "fc" input: "vectors" input: "context" input: "older" input: "one_ago" fc { size: 15 } }
    layer { name: "state" type: "gru_step" input: "sums" input: "past" }
    output: "state"
    output: "context"
  }
}
layer { name: "both" type: "concat" input: "decoder" input: "decoder.context" }
layer { name: "scores" type: "fc" input: "both" fc { size: 4 } }
"""

BODIES = {
    "recurrent": 'layer { name: "h" type: "recurrent" input: "m" recurrent { act: "relu" } }',
    "lstmemory": 'layer { name: "h" type: "lstmemory" input: "m" lstmemory { gate_act: "tanh" } }',
    "lstmemory without peepholes": 'layer { name: "h" type: "lstmemory" input: "m" lstmemory { peepholes: false } }',
    "grumemory": 'layer { name: "h" type: "grumemory" input: "m" grumemory { reset_after: true } }',
    "lstmemory that begins with rows of the source": """
        layer { name: "i" type: "fc" input: "x" fc { size: 3 } }
        layer { name: "c" type: "fc" input: "x" fc { size: 3 } }
        layer { name: "h" type: "lstmemory" input: "m" input: "i" input: "c" }""",
    "grumemory that begins with a row of the source": """
        layer { name: "i" type: "fc" input: "x" fc { size: 4 } }
        layer { name: "h" type: "grumemory" input: "m" input: "i" }""",
    "recurrent that begins with a row of the source": """
        layer { name: "i" type: "fc" input: "x" fc { size: 12 } }
        layer { name: "h" type: "recurrent" input: "m" input: "i" }""",
    "simple_lstm": 'layer { name: "h" type: "simple_lstm" input: "m" simple_lstm { size: 3 } }',
    "a block": """
        block {
          name: "twice" input: "x"
          layer { name: "u" type: "simple_gru" input: "x" simple_gru { size: 2 } }
          layer { name: "v" type: "recurrent" input: "u" }
          output: "v"
        }
        layer { name: "h" type: "twice" input: "m" }""",
    "a transformer": """
        layer { name: "placed" type: "position_embedding" input: "m" position_embedding { max_length: 4 } }
        layer { name: "h" type: "transformer_block" input: "placed"
                transformer_block { num_heads: 3 causal: true } }""",
    "rows that are turned by their places": """
        layer { name: "waves" type: "sinusoidal_position" input: "m" }
        layer { name: "q" type: "rotary_position" input: "waves" rotary_position { num_heads: 3 } }
        layer { name: "k" type: "rotary_position" input: "m" rotary_position { num_heads: 3 pairs: NEIGHBOURS } }
        layer { name: "v" type: "fc" input: "m" fc { size: 6 } }
        layer { name: "h" type: "multi_head_attention" input: "q" input: "k" input: "v"
                multi_head_attention { num_heads: 3 causal: true } }""",
    "attention to the source": """
        layer { name: "s" type: "data" data { shape: 6 seq_nested_level: 1 } }
        layer { name: "q" type: "fc" input: "m" fc { size: 6 } }
        layer { name: "h" type: "multi_head_attention" input: "q" input: "s" input: "s"
                multi_head_attention { num_heads: 2 scale: 0.7 } }""",
    "a row of the source": """
        layer { name: "l" type: "expand" input: "x" input: "m" expand { act: "tanh" } }
        layer { name: "n" type: "batch_norm" input: "m" }
        layer { name: "h" type: "concat" input: "n" input: "l" }""",
}
BODY = """
layer {{ name: "x" type: "data" data {{ shape: 2 }} }}
layer {{ name: "before" type: "data" data {{ data_type: INT size: 4 seq_nested_level: 1 }} }}
layer {{ name: "e" type: "embedding" input: "before" embedding {{ size: 5 }} }}
layer {{ name: "y" type: "expand" input: "x" input: "e" }}
layer {{ name: "m" type: "fc" input: "e" input: "y" fc {{ size: 12 }} }}
{body}
layer {{ name: "scores" type: "fc" input: "h" fc {{ size: 4 act: "{act}" }} }}
"""


def settings(**given: Any) -> GenerateSettings:
    return GenerateSettings(**{"words": "before", "begin": 0, "end": END, "max_length": 4, **given})


def made(network: pl.Network, whole: pl.Net, asked: GenerateSettings, **more: Any) -> Generator:
    """A generator with the parameters of a net."""
    generator = Generator(part_for(network, ["scores"]), asked, "scores", dtype="float64", **more)
    for net in generator.nets:
        for name, parameter in net.parameters.items():
            parameter.value = whole.parameters[name].value
    return generator


def scale_up(net: pl.Net, seed: int, scale: float = 0.8) -> None:
    """Parameters that tell words apart."""
    rng = np.random.default_rng(seed)
    for parameter in net.parameters.values():
        parameter.value = rng.normal(scale=scale, size=parameter.shape)


def logarithms(net: pl.Net, feeds: dict[str, Any], texts: list[tuple[int, ...]], *, scores: bool = True) -> list[float]:
    """Sums of the logarithms of the words' probabilities by whole passes; each sample has one text, with its end."""
    found = net.forward({**feeds, "before": [[0, *text[:-1]] for text in texts]}, phase="test")["scores"]
    rows = np.asarray(found.data)
    rows = rows - np.log(np.exp(rows).sum(1, keepdims=True)) if scores else np.log(rows)
    return [
        sum(rows[begin + place, word] for place, word in enumerate(text))
        for begin, text in zip(found.starts[:-1], texts, strict=True)
    ]


def every_text(length: int) -> list[tuple[int, ...]]:
    """All texts: those that end, and those of full length."""
    others = [word for word in range(WORDS) if word != END]
    ended = [(*text, END) for count in range(length) for text in itertools.product(others, repeat=count)]
    return ended + list(itertools.product(others, repeat=length))


def source_of(lengths: list[int], seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {"source": pl.Sequences(rng.normal(size=(sum(lengths), 3)), np.cumsum([0, *lengths]))}


@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_the_best_texts_are_those_of_an_exhaustive_search(penalty: float) -> None:
    def run() -> None:
        network = pl.loads(ATTENTION)
        lengths = [2, 1, 3]
        feeds = source_of(lengths, 0)
        texts = every_text(3)
        with pl.Net(network, dtype="float64") as whole:
            scale_up(whole, 1)
            best = []
            for sample in range(len(lengths)):
                begin, end = feeds["source"].starts[sample : sample + 2]
                alone = pl.Sequences(
                    np.tile(feeds["source"].data[begin:end], (len(texts), 1)), np.arange(len(texts) + 1) * (end - begin)
                )
                found = logarithms(whole, {"source": alone}, texts)
                ranked = sorted(zip(found, texts, strict=True), key=lambda one: -one[0] / len(one[1]) ** penalty)
                best.append(
                    [(total / len(text) ** penalty, tuple(w for w in text if w != END)) for total, text in ranked]
                )
            asked = settings(beam_size=len(texts), results=5, max_length=3, length_penalty=penalty)
            with made(network, whole, asked) as generator:
                written = generator.write(feeds, [[0]] * len(lengths))
        for texts_found, wanted in zip(written, best, strict=True):
            assert [one.words for one in texts_found] == [words for _, words in wanted[:5]]
            np.testing.assert_allclose(
                [one.score for one in texts_found], [score for score, _ in wanted[:5]], rtol=1e-10
            )

    as_python(run)


@pytest.mark.parametrize("body", BODIES)
def test_word_by_word_is_the_whole_pass(body: str) -> None:
    def run() -> None:
        act = "softmax" if body == "grumemory" else "linear"
        network = pl.loads(BODY.format(body=BODIES[body], act=act))
        rng = np.random.default_rng(3)
        feeds: dict[str, Any] = {"x": rng.normal(size=(3, 2))}
        if "attention" in body:
            feeds["s"] = pl.Sequences(rng.normal(size=(6, 6)), np.array([0, 1, 4, 6]))
        with pl.Net(network, dtype="float64") as whole:
            scale_up(whole, 4, 0.4 if body == "a transformer" else 0.8)
            for state in whole.states.values():
                state.value = np.abs(rng.normal(size=state.shape)) + 0.5
            asked = settings(beam_size=3, results=2)
            with made(network, whole, asked, probabilities=act == "softmax") as generator:
                for net in generator.nets:
                    for name, state in net.states.items():
                        state.value = whole.states[name].value
                written = generator.write(feeds, [[0]] * 3)
            for place in range(2):
                texts = [(*one[place].words, END)[:4] for one in written]
                wanted = logarithms(whole, feeds, texts, scores=act == "linear")
                np.testing.assert_allclose([one[place].score for one in written], wanted, rtol=1e-10)

    as_python(run)


def test_the_cache_grows_with_the_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a device whose memory is read by copies is written what has changed."""

    def run() -> None:
        network = pl.loads(BODY.format(body=BODIES["a transformer"], act="linear"))
        feeds, written, read = {"x": np.zeros((2, 2))}, [], Plan.read
        with pl.Net(network, dtype="float64") as whole:
            scale_up(whole, 3)
            for capacity, copies in ((decoding_state.CAPACITY, False), (1, False), (decoding_state.CAPACITY, True)):
                monkeypatch.setattr(decoding_state, "CAPACITY", capacity)
                if copies:
                    monkeypatch.setattr(Plan, "read", lambda self, *given: read(self, *given).copy())
                with made(network, whole, settings(beam_size=3, results=3, end=None)) as generator:
                    assert generator.write({"x": np.zeros((0, 2))}, []) == []
                    written.append(generator.write(feeds, [[0]] * 2))
        assert written[0] == written[1] == written[2]

    as_python(run)


def test_scores_that_are_not_numbers_are_told() -> None:
    def run() -> None:
        network = pl.loads(BODY.format(body=BODIES["recurrent"], act="linear"))
        with pl.Net(network, dtype="float64") as whole:
            whole.parameters["scores.bias"].value = np.full(4, np.nan)
            with made(network, whole, settings()) as generator, pytest.raises(pl.FeedError, match="word 1 are NaN"):
                generator.write({"x": np.zeros((1, 2))}, [[0]])

    as_python(run)


def test_texts_go_on_from_beginnings_of_any_length() -> None:
    def run() -> None:
        network = pl.loads(ATTENTION)
        feeds = source_of([2, 4, 1], 5)
        beginnings = [[0], [0, 3, 2], [0, 2]]
        with pl.Net(network, dtype="float64") as whole:
            scale_up(whole, 6)
            with made(network, whole, settings(beam_size=3)) as generator:
                written = generator.write(feeds, beginnings)
                alone = [
                    generator.write({"source": [feeds["source"].data[a:b]]}, [words])[0]
                    for a, b, words in zip(
                        *(feeds["source"].starts[i : i + 3] for i in (0, 1)), beginnings, strict=True
                    )
                ]
            known = [
                (*words[1:], *texts[0].words, END)[: len(words) + 3]
                for words, texts in zip(beginnings, written, strict=True)
            ]
            both = logarithms(whole, feeds, known)
            before = logarithms(whole, feeds, [tuple(words[1:]) for words in beginnings])
        assert [one[0].words for one in written] == [one[0].words for one in alone]
        np.testing.assert_allclose([one[0].score for one in written], np.subtract(both, before), rtol=1e-9)

    as_python(run)


def test_what_is_drawn_has_the_score_of_the_whole_pass() -> None:
    def run() -> None:
        network = pl.loads(ATTENTION)
        feeds = source_of([2, 4], 7)
        asked = settings(temperature=1.5, top_k=3, results=4)
        with pl.Net(network, dtype="float64") as whole:
            scale_up(whole, 8)
            with made(network, whole, asked, seed=1) as generator:
                written = generator.write(feeds, [[0]] * 2)
                again = generator.write(feeds, [[0]] * 2)
            assert written == again
            for place in range(4):
                texts = [(*one[place].words, END)[:4] for one in written]
                wanted = logarithms(whole, feeds, texts)
                np.testing.assert_allclose([one[place].score for one in written], wanted, rtol=1e-10)
        assert len({one.words for texts in written for one in texts}) > 2

    as_python(run)


WRONG = {
    "attention to words that are still to be written": (
        'layer { name: "h" type: "transformer_block" input: "m" }',
        "layer `h` cannot generate word by word: it attends to words that are not generated yet",
    ),
    "the source up to the place of the word": (
        """layer { name: "s" type: "data" data { shape: 12 seq_nested_level: 1 } }
        layer { name: "h" type: "multi_head_attention" input: "m" input: "s" input: "s"
                multi_head_attention { causal: true } }""",
        "layer `h` cannot generate word by word: with `causal`, a word attends only to a prefix of the source",
    ),
    "keys of the source with values of the text": (
        """layer { name: "s" type: "data" data { shape: 12 seq_nested_level: 1 } }
        layer { name: "h" type: "multi_head_attention" input: "m" input: "s" input: "m" }""",
        "layer `h` cannot generate word by word: its keys and values belong to different sequences",
    ),
    "places that are given": (
        """layer { name: "p" type: "data" data { data_type: INT size: 9 } }
        layer { name: "h" type: "rotary_position" input: "m" input: "p" }""",
        "layer `h` cannot generate word by word: `first` sets the start position of its sequences",
    ),
    "a layer of the whole text": (
        'layer { name: "l" type: "seq_last" input: "m" } layer { name: "h" type: "expand" input: "l" input: "m" }',
        "layer `l` cannot generate word by word: `seq_last` needs more than one position",
    ),
    "backwards": (
        'layer { name: "h" type: "grumemory" input: "m" grumemory { reverse: true } }',
        "layer `h` cannot generate word by word: it runs backward over the sequence",
    ),
    "a group over something else": (
        """layer { name: "s" type: "data" data { shape: 2 seq_nested_level: 1 } }
        layer { name: "h" type: "recurrent_group" input: "m" input: "s" step {
        layer { name: "z" type: "fc" input: "m" input: "s" fc { size: 3 } } output: "z" } }""",
        "layer `h` cannot generate word by word: it steps through `s`, which does not depend on the words `before`",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_needs_more_than_a_position_is_refused(wrong: str) -> None:
    body, message = WRONG[wrong]
    network = pl.loads(BODY.format(body=body, act="linear"))
    with pytest.raises(ConfigError, match="E313") as caught:
        Generator(part_for(network, ["scores"]), settings(), "scores")
    assert message in str(caught.value)


def test_texts_that_are_longer_than_the_places_of_the_network_are_refused() -> None:
    network = pl.loads(BODY.format(body=BODIES["a transformer"], act="linear"))
    message = "exceed the 4 positions of layer `placed`; with a prompt of 2 words, set max_length to at most 3"
    generator = Generator(part_for(network, ["scores"]), settings(max_length=4), "scores")
    with generator, pytest.raises(pl.FeedError, match=message):
        generator.write({"x": np.zeros((2, 2))}, [[0, 2], [0]])


def test_scores_that_do_not_rest_on_the_words_are_refused() -> None:
    network = pl.loads(BODY.format(body=BODIES["recurrent"], act="linear"))
    with pytest.raises(ConfigError, match="`x` does not depend on the words `before`"):
        Generator(network, settings(), "x")
