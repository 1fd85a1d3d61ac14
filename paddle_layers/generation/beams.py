"""Beam search: of each sample the texts that are most probable so far, and the best of those that ended."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paddle_layers.runtime.generate.library import kept

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Candidates(NamedTuple):
    """How each text may go on: words, best first, and the logarithms of their probabilities; both (texts, number).

    Without `words` the columns are all words in the order of their ids.
    """

    words: Ints | None
    logarithms: NDArray[Any]


class Written(NamedTuple):
    """A text as ids without that of the end, and its score."""

    words: tuple[int, ...]
    score: float


class Beams:
    """The texts of `samples` samples while they are written, `size` of each.

    At every position the best continuations of the texts of a sample are found together. Of the best `size` those with
    the word `end` are whole; the best `size` others are written on. A text's score is the sum of the logarithms of its
    words' probabilities, that of the end too, divided by `length ** length_penalty`. It is over when no text can become
    better than the best `results`, or at `max_length` words, where texts end as they are.
    """

    def __init__(
        self, samples: int, size: int, *, end: int | None, max_length: int, results: int, length_penalty: float
    ) -> None:
        self.size, self.max_length = size, max_length
        self.results, self.length_penalty = results, length_penalty
        self._end = -1 if end is None else end
        self.sums: Floats = np.full((samples, size), -np.inf)
        self.sums[:, 0] = 0  # one text begins, so that none is found twice
        self._steps: list[tuple[Ints, Ints]] = []
        """What `advance` gave: a text is read from its last word back."""
        self.lengths: Ints = np.zeros(samples, np.int64)
        self.whole: list[list[Written]] = [[] for _ in range(samples)]
        self._least = np.full(samples, -np.inf)
        """The score that a text of a sample has to beat, where there are as many as are asked for."""
        self._ended, self._totals = np.zeros((samples, size), np.int64), np.zeros((samples, size))
        self.open = np.ones(samples, bool)
        """Whether texts of a sample are still written."""

    @property
    def candidates(self) -> int:
        """How many continuations of each text have to be known: the end may be one that is not written on."""
        return self.size + 1

    def advance(self, found: Candidates, free: NDArray[np.bool_] | None = None) -> tuple[Ints, Ints]:
        """Add a word to the texts of open samples, those that are `free` where given.

        Gives, for all texts (samples * size), the text that each goes on from and its new word; of samples that are not
        written on, each goes on from itself with its first candidate.
        """
        assert found.words is not None
        moving = self.open if free is None else self.open & free
        back, words = np.arange(self.sums.size), found.words[:, 0].copy()
        self.lengths += moving
        ended = go_on(
            self.sums, found.words, found.logarithms, moving, self._end, back, words, self._ended, self._totals
        )
        if ended:
            for row, place in zip(*np.nonzero(self._ended >= 0), strict=True):
                self._finish(row, self._ended[row, place], self._totals[row, place], self.lengths[row] - 1)
        self._steps.append((back, words))
        self._close(moving)
        return back, words

    def _finish(self, row: int, beam: int, total: float, words: int) -> None:
        """A text is whole: the last `words` words that led to a beam."""
        text, at = [], row * self.size + beam
        for back, chosen in self._steps[: -words - 1 : -1]:
            text.append(int(chosen[at]))
            at = back[at]
        score = float(total) / float(self.lengths[row] ** self.length_penalty)
        whole = [*self.whole[row], Written(tuple(text[::-1]), score)]
        self.whole[row] = sorted(whole, key=lambda one: -one.score)[: self.results]
        if len(self.whole[row]) == self.results:
            self._least[row] = self.whole[row][-1].score

    def _close(self, moving: NDArray[np.bool_]) -> None:
        """End samples where nothing better can come; every word makes the sum smaller."""
        for row in np.flatnonzero(moving & (self.lengths == self.max_length)).tolist():
            for beam in np.flatnonzero(self.sums[row] > -np.inf).tolist():
                self._finish(row, beam, self.sums[row, beam], self.max_length)
            self.open[row] = False
        best = self.sums.max(axis=1)
        better = (best > -np.inf) & (best / float(self.max_length**self.length_penalty) > self._least)
        self.open &= better | ~moving


@kept
@njit(nogil=True)
def go_on(
    sums: Floats,
    words: Ints,
    logarithms: NDArray[Any],
    moving: NDArray[np.bool_],
    end: int,
    back: Ints,
    chosen: Ints,
    ended: Ints,
    totals: Floats,
) -> int:
    """Choose the best continuations of the samples that are `moving`, into `back`, `chosen` and `sums`.

    `ended` has the texts that have the word `end` now, with their `totals`, or -1; how many there are is given back.
    Of equal sums the first text comes first, and then the better candidate.
    """
    samples, size = sums.shape
    most, wholes = 2 * size, 0
    best, texts, ids = np.empty(most), np.empty(most, np.int64), np.empty(most, np.int64)
    ended[:] = -1
    for row in range(samples):
        if not moving[row]:
            continue
        count = 0
        for beam in range(size):
            for place in range(words.shape[1]):
                total = sums[row, beam] + logarithms[row * size + beam, place]
                if not total > (best[most - 1] if count == most else -math.inf):
                    break  # the candidates behind it are no better
                at = min(count, most - 1)
                while at > 0 and total > best[at - 1]:
                    best[at], texts[at], ids[at] = best[at - 1], texts[at - 1], ids[at - 1]
                    at -= 1
                best[at], texts[at], ids[at] = total, beam, words[row * size + beam, place]
                count = min(count + 1, most)
        taken = 0
        for rank in range(count):
            if ids[rank] != end and taken < size:
                at = row * size + taken
                sums[row, taken], back[at], chosen[at] = best[rank], row * size + texts[rank], ids[rank]
                taken += 1
            elif ids[rank] == end and rank < size:
                ended[row, rank], totals[row, rank] = texts[rank], best[rank]
                wholes += 1
        sums[row, taken:] = -math.inf
    return wholes
