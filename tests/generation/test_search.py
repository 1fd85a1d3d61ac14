"""Beam search against plain Python on 1,000 random cases, and drawing against the probabilities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from paddle_layers.generation.beam_search import BeamSearch, Candidates
from paddle_layers.generation.sampling import Sampling, draw


class Case(NamedTuple):
    """Logarithms of probabilities by sample, place, word before, word."""

    table: np.ndarray
    size: int
    end: int | None
    max_length: int
    results: int
    penalty: float


def random_case(rng: np.random.Generator) -> Case:
    samples, words, length = rng.integers(1, 4), rng.integers(2, 7), rng.integers(1, 7)
    scores = rng.normal(scale=rng.choice([0.3, 1, 3]), size=(samples, length, words, words))
    table = scores - np.log(np.exp(scores).sum(-1, keepdims=True))
    size = int(rng.integers(1, 6))
    end = None if rng.random() < 0.1 else int(rng.integers(words))
    penalty = float(rng.choice([0, 0.5, 1, 2]))
    return Case(table, size, end, int(length), int(rng.integers(1, size + 1)), penalty)


def plain_search(case: Case, sample: int) -> list[tuple[float, tuple[int, ...]]]:
    """The definition, one text after the other; nothing stops before the longest text."""
    alive: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    whole = []
    for place in range(case.max_length):
        found = []
        for total, words in alive:
            last = words[-1] if words else 0
            found += [
                (total + case.table[sample, place, last, word], (*words, word)) for word in range(case.table.shape[3])
            ]
        found.sort(key=lambda one: -one[0])
        best = found[: case.size]
        whole += [(total / (place + 1) ** case.penalty, words[:-1]) for total, words in best if words[-1] == case.end]
        alive = [one for one in found if one[1][-1] != case.end][: case.size]
    whole += [(total / case.max_length**case.penalty, words) for total, words in alive]
    return sorted(whole, key=lambda one: -one[0])[: case.results]


def search(case: Case) -> list[list[tuple[float, tuple[int, ...]]]]:
    beams = BeamSearch(
        len(case.table),
        case.size,
        end=case.end,
        max_length=case.max_length,
        results=case.results,
        length_penalty=case.penalty,
    )
    samples = np.repeat(np.arange(len(case.table)), case.size)
    words = np.zeros(len(samples), np.int64)
    for place in range(case.max_length):
        if not beams.open.any():
            break
        rows = case.table[samples, place, words]
        best = np.argsort(-rows, axis=1)[:, : beams.candidates]
        back, words = beams.advance(Candidates(best, np.take_along_axis(rows, best, 1)))
        assert (back // case.size == samples).all(), "texts stay with their sample"
    assert not beams.open.any()
    return [[(text.score, text.words) for text in texts] for texts in beams.whole]


def test_beam_search_is_that_of_plain_python() -> None:
    rng = np.random.default_rng(0)
    stopped = 0
    for number in range(1000):
        case = random_case(rng)
        for sample, found in enumerate(search(case)):
            wanted = plain_search(case, sample)
            assert [words for _, words in found] == [words for _, words in wanted], (number, sample)
            np.testing.assert_allclose([score for score, _ in found], [score for score, _ in wanted], rtol=1e-9)
            stopped += any(len(words) < case.max_length for _, words in wanted)
    assert stopped > 300, "texts that end are among the results"


def test_a_beam_of_all_texts_is_the_exhaustive_search() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        case = random_case(rng)._replace(size=7**3, results=3, max_length=3)
        case = case._replace(table=np.resize(case.table, (1, 3, *case.table.shape[2:])))
        ((*found,),) = search(case)
        every = plain_search(case._replace(size=10**6), 0)
        assert [words for _, words in found] == [words for _, words in every]


def test_the_search_stops_where_nothing_better_can_come() -> None:
    table = np.log(np.full((1, 50, 2, 2), [0.9, 0.1]))
    beams = BeamSearch(1, 2, end=0, max_length=50, results=1, length_penalty=0.0)
    beams.advance(Candidates(np.tile([[0, 1]], (2, 1)), np.tile(table[0, 0, :1], (2, 1))))
    assert not beams.open.any(), "the end has 0.9, all else 0.1 together"
    assert beams.whole[0][0].words == ()


def test_words_are_drawn_with_their_probabilities() -> None:
    rng = np.random.default_rng(2)
    chances = np.array([0.5, 0.05, 0.3, 0.15])
    rows = np.tile(np.log(chances), (40_000, 1))

    def shares(**how: float) -> np.ndarray:
        settings = {"temperature": 1.0, **how}
        return np.bincount(draw(rows, rng, **settings), minlength=4) / len(rows)

    np.testing.assert_allclose(shares(), chances, atol=0.01)
    flat = chances**0.5 / (chances**0.5).sum()
    np.testing.assert_allclose(shares(temperature=2.0), flat, atol=0.01)
    np.testing.assert_allclose(shares(top_p=0.75), [0.625, 0, 0.375, 0], atol=0.01)
    np.testing.assert_allclose(shares(top_p=0.81), chances * [1, 0, 1, 1] / 0.95, atol=0.01)
    np.testing.assert_allclose(shares(top_p=0.01), [1, 0, 0, 0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("temperature", [1e-3, 1e-42, 5e-324])
def test_a_temperature_near_zero_takes_the_most_probable_word(temperature: float, dtype: type) -> None:
    rows = np.log(np.array([[0.5, 0.3, 0.2], [0.2, 0.6, 0.2]], dtype))
    rng = np.random.default_rng(4)
    assert draw(rows, rng, temperature).tolist() == [0, 1]
    assert draw(rows, rng, temperature, top_p=0.9).tolist() == [0, 1]


@pytest.mark.parametrize("top_k", [None, 1])
def test_texts_are_drawn_until_their_end(top_k: int | None) -> None:
    draws = Sampling(2, 3, end=1, max_length=4, temperature=1.0, top_k=top_k, top_p=None, seed=0)
    assert draws.candidates == top_k
    chances = np.log(np.tile([0.5, 0.2, 0.3], (6, 1)))
    found = Candidates(None, chances) if top_k is None else Candidates(np.zeros((6, 1), np.int64), chances[:, :1])
    while draws.open.any():
        back, _ = draws.advance(found)
        assert back.tolist() == list(range(6))
    for texts in draws.whole:
        assert len(texts) == 3
        assert [one.score for one in texts] == sorted((one.score for one in texts), reverse=True)
        for one in texts:
            ended = len(one.words) < 4
            expected = sum(chances[0, word] for word in one.words) + (chances[0, 1] if ended else 0)
            assert one.score == pytest.approx(expected)
    if top_k == 1:
        assert draws.whole[0][0].words == (0, 0, 0, 0)
