"""Words drawn from their probabilities: temperature, the `top_k` best, those that make up `top_p`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .beams import Candidates, Ints, Written


class Draws:
    """Texts of samples while they are drawn, `results` of each, independent of each other.

    A word is drawn with the probabilities raised to 1 / `temperature`; of the `top_k` most probable words only where
    that is given, and of the fewest that have the probability `top_p` together. A text's score is the sum of the
    logarithms of its words' probabilities, as the network has them.
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
        self.temperature, self.top_k, self.top_p = temperature, top_k, top_p
        self._rng = np.random.Generator(np.random.Philox(seed))
        self._texts: list[list[int]] = [[] for _ in range(samples * results)]
        self._sums = np.zeros(samples * results)
        self._ended = np.zeros(samples * results, bool)

    candidates = None
    """All words are needed."""

    @property
    def open(self) -> NDArray[np.bool_]:
        """Whether texts of a sample are still written."""
        return np.asarray(~self._ended.reshape(-1, self.size).all(axis=1))

    @property
    def whole(self) -> list[list[Written]]:
        """The texts of each sample, those with the best score first."""
        texts = [Written(tuple(words), float(total)) for words, total in zip(self._texts, self._sums, strict=True)]
        parts = (texts[at : at + self.size] for at in range(0, len(texts), self.size))
        return [sorted(part, key=lambda text: -text.score) for part in parts]

    def advance(self, found: Candidates, free: NDArray[np.bool_] | None = None) -> tuple[Ints, Ints]:
        """Add a word to the texts of open samples, those that are `free` where given; as `Beams.advance`."""
        words = draw(found.logarithms, self._rng, self.temperature, self.top_k, self.top_p)
        moving = ~self._ended if free is None else ~self._ended & np.repeat(free, self.size)
        for row in np.flatnonzero(moving).tolist():
            word = int(words[row])
            self._sums[row] += float(found.logarithms[row, word])
            if word != self.end:
                self._texts[row].append(word)
            self._ended[row] = word == self.end or len(self._texts[row]) == self.max_length
        return np.arange(len(words)), words


def draw(
    logarithms: NDArray[Any],
    rng: np.random.Generator,
    temperature: float,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Ints:
    """A word for each row of logarithms of probabilities (rows, words)."""
    order = np.argsort(-logarithms, axis=1, kind="stable")[:, :top_k]
    scores = np.take_along_axis(logarithms, order, 1).astype(np.float64) / temperature
    chances = np.exp(scores - scores[:, :1])
    chances /= chances.sum(axis=1, keepdims=True)
    if top_p is not None:
        chances[np.cumsum(chances, axis=1) - chances >= top_p] = 0
    reached = np.cumsum(chances, axis=1)
    drawn = rng.random(len(reached))[:, None] * reached[:, -1:]
    places = np.minimum((reached <= drawn).sum(axis=1), np.count_nonzero(chances, axis=1) - 1)
    return np.asarray(order[np.arange(len(order)), places], np.int64)
