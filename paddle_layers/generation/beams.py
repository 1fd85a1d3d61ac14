"""Beam search: of each sample the texts that are most probable so far, and the best of those that ended."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Candidates(NamedTuple):
    """How each text may go on: words, best first, and the logarithms of their probabilities; both (texts, number)."""

    words: Ints
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
        self.size, self.end, self.max_length = size, end, max_length
        self.results, self.length_penalty = results, length_penalty
        self.sums: Floats = np.full((samples, size), -np.inf)
        self.sums[:, 0] = 0  # one text begins, so that none is found twice
        self.texts: Ints = np.zeros((samples, size, max_length), np.int64)
        self.lengths: Ints = np.zeros(samples, np.int64)
        self.whole: list[list[Written]] = [[] for _ in range(samples)]
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
        samples, size = self.sums.shape
        moving = self.open if free is None else self.open & free
        back = np.arange(samples * size).reshape(samples, size)
        words = found.words.reshape(samples, size, -1)[:, :, 0].copy()
        (rows,) = np.nonzero(moving)
        if len(rows):
            back[rows], words[rows] = self._grow(rows, found)
        return back.reshape(-1), words.reshape(-1)

    def _grow(self, rows: Ints, found: Candidates) -> tuple[Ints, Ints]:
        samples, size = self.sums.shape
        count = found.words.shape[1]
        words = found.words.reshape(samples, size * count)[rows]
        sums = self.sums[rows][:, :, None] + found.logarithms.reshape(samples, size, count)[rows]
        sums = sums.reshape(len(rows), size * count)
        best = np.argsort(-sums, axis=1, kind="stable")[:, : 2 * size]
        words, sums = np.take_along_axis(words, best, 1), np.take_along_axis(sums, best, 1)
        ends = words == self.end if self.end is not None else np.zeros(words.shape, bool)
        self.lengths[rows] += 1
        for at, place in zip(*np.nonzero(ends[:, :size] & (sums[:, :size] > -np.inf)), strict=True):
            self._finish(rows[at], best[at, place] // count, sums[at, place], end=True)
        going = np.argsort(ends, axis=1, kind="stable")[:, :size]  # in their order, without those that ended
        best, words, sums, ends = (np.take_along_axis(one, going, 1) for one in (best, words, sums, ends))
        sums[ends] = -np.inf
        if best.shape[1] < size:
            best, words, sums = _filled(best, 0, size), _filled(words, 0, size), _filled(sums, -np.inf, size)
        before = best // count
        self.texts[rows] = self.texts[rows[:, None], before]
        self.texts[rows, :, self.lengths[rows] - 1] = words
        self.sums[rows] = sums
        self._close(rows)
        return rows[:, None] * size + before, words

    def _finish(self, row: int, beam: int, total: float, *, end: bool) -> None:
        length = int(self.lengths[row])
        words = self.texts[row, beam, : length - end]
        self.whole[row].append(Written(tuple(words.tolist()), self._score(total, length)))
        self.whole[row] = sorted(self.whole[row], key=lambda text: -text.score)[: self.results]

    def _score(self, total: float, length: int) -> float:
        return float(total) / float(length**self.length_penalty)

    def _close(self, rows: Ints) -> None:
        """End samples where nothing better can come; every word makes the sum smaller."""
        for row, best in zip(rows.tolist(), self.sums[rows].max(axis=1).tolist(), strict=True):
            if self.lengths[row] == self.max_length:
                for beam in np.flatnonzero(self.sums[row] > -np.inf).tolist():
                    self._finish(row, beam, self.sums[row, beam], end=False)
                self.open[row] = False
                continue
            enough = len(self.whole[row]) == self.results
            if best == -np.inf or (enough and self.whole[row][-1].score >= self._score(best, self.max_length)):
                self.open[row] = False


def _filled(array: NDArray[Any], value: float, width: int) -> NDArray[Any]:
    return np.pad(array, [(0, 0), (0, width - array.shape[1])], constant_values=value)
