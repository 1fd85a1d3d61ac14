"""Beam search: the most probable partial sequences of each sample, and the best finished ones."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paddle_layers.runtime.generate.cache import kept

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Candidates(NamedTuple):
    """Candidate continuations of each sequence: words, best first, and their log-probabilities.

    Both have the shape (sequences, candidates). Without `words` the columns are all words in the order of their ids.
    """

    words: Ints | None
    logarithms: NDArray[Any]


class Hypothesis(NamedTuple):
    """A finished sequence as ids without the end token, and its score."""

    words: tuple[int, ...]
    score: float


class BeamSearch:
    """Beam search over `samples` samples during generation, `size` per sample.

    At every position the best continuations of all beams of a sample are selected together. Of the best `size` those
    with the token `end` are finished; the best `size` others are continued. The score of a sequence is the sum of the
    log-probabilities of its words, including the end token, divided by `length ** length_penalty`. Generation stops
    when no beam can become better than the best `results`, or at `max_length` words, where sequences are truncated.
    """

    def __init__(
        self, samples: int, size: int, *, end: int | None, max_length: int, results: int, length_penalty: float
    ) -> None:
        self.size, self.max_length = size, max_length
        self.results, self.length_penalty = results, length_penalty
        self._end = -1 if end is None else end
        self.sums: Floats = np.full((samples, size), -np.inf)
        self.sums[:, 0] = 0  # one beam starts, so that there are no duplicates
        self._steps: list[tuple[Ints, Ints]] = []
        """Results of `advance` by position: sequences are reconstructed from the last word back."""
        self.lengths: Ints = np.zeros(samples, np.int64)
        self.whole: list[list[Hypothesis]] = [[] for _ in range(samples)]
        self._least = np.full(samples, -np.inf)
        """The score that a new sequence of a sample has to exceed, once the requested number is finished."""
        self._ended, self._totals = np.zeros((samples, size), np.int64), np.zeros((samples, size))
        self.open = np.ones(samples, bool)
        """Whether a sample is still generated."""

    @property
    def candidates(self) -> int:
        """Number of candidates required per beam: one of them may be the end token."""
        return self.size + 1

    def advance(self, found: Candidates, free: NDArray[np.bool_] | None = None) -> tuple[Ints, Ints]:
        """Appends a word to the beams of active samples, those that are `free` if given.

        Returns, for all beams (samples * size), the index of the beam that each continues and its new word; in inactive
        samples, each continues itself with its first candidate.
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
        """Reconstructs a finished sequence: the last `words` words that led to a beam."""
        text, at = [], row * self.size + beam
        # From the last word back: copying the words of all beams at every position would be quadratic in the length.
        for back, chosen in self._steps[: -words - 1 : -1]:
            text.append(int(chosen[at]))
            at = back[at]
        score = float(total) / float(self.lengths[row] ** self.length_penalty)
        whole = [*self.whole[row], Hypothesis(tuple(text[::-1]), score)]
        self.whole[row] = sorted(whole, key=lambda one: -one.score)[: self.results]
        if len(self.whole[row]) == self.results:
            self._least[row] = self.whole[row][-1].score

    def _close(self, moving: NDArray[np.bool_]) -> None:
        """Deactivates samples that cannot improve; every word decreases the sum."""
        for row in np.flatnonzero(moving & (self.lengths == self.max_length)).tolist():
            for beam in np.flatnonzero(self.sums[row] > -np.inf).tolist():
                self._finish(row, beam, self.sums[row, beam], self.max_length)
            self.open[row] = False
        best = self.sums.max(axis=1)
        # An upper bound: the sum can only decrease, and dividing a negative sum by the largest length gives the best
        # score.
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
    """Selects the best continuations of the samples that are `moving`, into `back`, `chosen` and `sums`.

    `ended` gets the beams that end now, with their `totals`, or -1; returns their number. Ties are resolved by the
    first beam, then by the better candidate.
    """
    samples, size = sums.shape
    # At most `size` of the best ones can end, so twice as many leave `size` that continue.
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
                    break  # later candidates are no better
                at = min(count, most - 1)
                while at > 0 and total > best[at - 1]:
                    best[at], texts[at], ids[at] = best[at - 1], texts[at - 1], ids[at - 1]
                    at -= 1
                best[at], texts[at], ids[at] = total, beam, words[row * size + beam, place]
                count = min(count + 1, most)
        taken = 0
        for rank in range(count):
            # An end token beyond the best `size` is dropped, as a beam of that rank would be.
            if ids[rank] != end and taken < size:
                at = row * size + taken
                sums[row, taken], back[at], chosen[at] = best[rank], row * size + texts[rank], ids[rank]
                taken += 1
            elif ids[rank] == end and rank < size:
                ended[row, rank], totals[row, rank] = texts[rank], best[rank]
                wholes += 1
        sums[row, taken:] = -math.inf
    return wholes
