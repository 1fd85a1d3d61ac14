"""Sampling of words: temperature, top-k and nucleus (top-p) sampling."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .beam_search import Candidates, Hypothesis, Ints


class Sampling:
    """Sequences of samples during sampling, `results` per sample, independent of each other.

    A word is sampled with the probabilities raised to 1 / `temperature`; with `top_k` only from the most probable
    words, and with `top_p` only from the smallest set with at least this total probability. The score of a sequence is
    the sum of the log-probabilities of its words, as computed by the network.
    """

    def __init__(
        self,
        samples: int,
        results: int,
        *,
        end: int | None,
        max_length: int,
        temperature: float,
        top_k: int | None,
        top_p: float | None,
        seed: int,
    ) -> None:
        self.size, self.end, self.max_length = results, end, max_length
        self.temperature, self.top_p = temperature, top_p
        self.candidates = top_k
        """How many continuations of each text have to be known, the best ones; None: all, in the order of their ids."""
        # A fixed bit generator: the default of NumPy may change between versions, and with it the words of a seed.
        self._rng = np.random.Generator(np.random.Philox(seed))
        self._texts = np.zeros((samples * results, max_length), np.int64)
        self._lengths = np.zeros(samples * results, np.int64)
        self._sums = np.zeros(samples * results)
        self._ended = np.zeros(samples * results, bool)

    @property
    def open(self) -> NDArray[np.bool_]:
        """Which samples are still active."""
        return np.asarray(~self._ended.reshape(-1, self.size).all(axis=1))

    @property
    def whole(self) -> list[list[Hypothesis]]:
        """The finished sequences of each sample, best score first."""
        rows = zip(self._texts.tolist(), self._lengths.tolist(), self._sums.tolist(), strict=True)
        texts = [Hypothesis(tuple(words[:length]), total) for words, length, total in rows]
        parts = (texts[at : at + self.size] for at in range(0, len(texts), self.size))
        return [sorted(part, key=lambda text: -text.score) for part in parts]

    def advance(self, found: Candidates, free: NDArray[np.bool_] | None = None) -> tuple[Ints, Ints]:
        """Appends a word to the active sequences, those that are `free` if given; as `BeamSearch.advance`."""
        places = draw(found.logarithms, self._rng, self.temperature, self.top_p)
        rows = np.arange(len(places))
        words = places if found.words is None else found.words[rows, places]
        moving = ~self._ended if free is None else ~self._ended & np.repeat(free, self.size)
        # The probabilities of the network, not those after temperature and top-p, which depend on the settings.
        self._sums[moving] += found.logarithms[rows, places][moving]
        going = moving & (words != self.end)
        self._texts[rows[going], self._lengths[going]] = words[going]
        self._lengths += going
        self._ended |= (moving & ~going) | (self._lengths == self.max_length)
        return rows, words


def draw(logarithms: NDArray[Any], rng: np.random.Generator, temperature: float, top_p: float | None = None) -> Ints:
    """Samples an index in each row of log-probabilities (rows, words)."""
    # The maximum first: divided by a small temperature, all logarithms would overflow.
    below = logarithms - logarithms.max(axis=1, keepdims=True)
    with np.errstate(over="ignore"):  # a low temperature leaves only the best words
        weights = np.exp(below / max(temperature, float(np.finfo(below.dtype).tiny)))
    if top_p is not None:
        weights = _most_probable(weights / weights.sum(axis=1, keepdims=True), top_p)
    # In float64: in a float32 sum over a large vocabulary small probabilities vanish.
    sums = np.cumsum(weights, axis=1, dtype=np.float64)
    # Rounded up to the total, the place would be after the last word.
    drawn = np.minimum(rng.random(len(sums)) * sums[:, -1], np.nextafter(sums[:, -1], 0))
    return np.array([row.searchsorted(one, "right") for row, one in zip(sums, drawn, strict=True)], np.int64)


def _most_probable(probabilities: NDArray[Any], share: float) -> NDArray[Any]:
    """The largest probabilities of each row with the given total, and zeros instead of the others."""
    # Stable, so that ties do not depend on the sort of the machine.
    order = np.argsort(-probabilities, axis=1, kind="stable")
    falling = np.take_along_axis(probabilities, order, 1)
    # The sum before the word: the one that reaches the share is kept, so at least one is.
    falling[np.cumsum(falling, axis=1) - falling >= share] = 0
    np.put_along_axis(probabilities, order, falling, 1)
    return probabilities
