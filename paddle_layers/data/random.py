"""Counter-based random numbers that depend on seed, epoch and row alone, so that a resumed training gets the same."""

from __future__ import annotations

import copy

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.fork_locks import ForkSafeLock

_MASK = 2**64 - 1


def generator(seed: int, epoch: int, stream: int) -> np.random.Generator:
    """A generator for one purpose in one epoch; `stream` 0 is the order of the rows, the last are further orders."""
    key = np.array([seed & _MASK, (epoch << 16 | stream) & _MASK], np.uint64)
    return np.random.Generator(np.random.Philox(key=key))


class RowRandom:
    """Random numbers for the rows of a batch: `random()` returns one in [0, 1) per row.

    A row gets the same numbers in any batch. Successive calls give independent numbers. Threads may call it
    concurrently, each for separate rows.
    """

    def __init__(self, seed: int, epoch: int, stream: int, count: int) -> None:
        self._generator = generator(seed, epoch, stream)
        self._count = count
        self._tables: list[NDArray[np.float64]] = []
        self._drawing = ForkSafeLock()
        self._offset = 0
        self._rows: NDArray[np.int64] = np.empty(0, np.int64)
        self._next = 0

    def at(self, rows: NDArray[np.int64]) -> RowRandom:
        """The numbers of these rows from the first call on."""
        own = copy.copy(self)
        own._rows, own._next = rows + self._offset, 0
        return own

    def behind(self, offset: int) -> RowRandom:
        """For rows that have the numbers of those so many rows later."""
        own = copy.copy(self)
        own._offset = offset
        return own

    def random(self) -> NDArray[np.float64]:
        """One number in [0, 1) for every row."""
        with self._drawing.current:
            if self._next == len(self._tables):
                self._tables.append(self._generator.random(self._count))
        self._next += 1
        return self._tables[self._next - 1][self._rows]
