"""Batches of a data set, in an order that seed and epoch fix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .columns import Rows
from .dataset import Dataset
from .feeds import Feed
from .random import RowRandom, generator

STREAMS_OF_A_FEED = 64


class Position(NamedTuple):
    """Where training stands in the data: epoch and batch, both counted from 0."""

    epoch: int
    batch: int


class Batches:
    """Cuts a data set into batches of `batch_size` rows; the last batch of an epoch has the rows that are left.

    A batch size above the number of rows gives one batch of all rows in each epoch. With `shuffle` the order of the
    rows depends on `seed` and the epoch alone, and so do the random numbers of the transforms (for each row), so a
    training that is resumed at a saved `position` sees what it would have seen. `training=False` draws nothing. `part`
    are the rows that are used, by default all.
    """

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int,
        *,
        seed: int = 0,
        shuffle: bool = True,
        training: bool = True,
        feeds: Sequence[Feed] | None = None,
        part: Rows | None = None,
    ) -> None:
        if batch_size < 1:
            raise ValueError(f"`batch_size` is {batch_size}, must be at least 1")
        self.dataset, self.part = dataset, np.arange(len(dataset)) if part is None else part
        self.batch_size = min(batch_size, self.count)
        self.seed, self.shuffle, self.training, self.feeds = seed, shuffle, training, feeds
        self.position = Position(0, 0)
        self._epoch = -1
        self._order: Rows = np.empty(0, np.int64)
        self._random: list[list[RowRandom]] = []

    @property
    def count(self) -> int:
        """Rows in an epoch."""
        return len(self.part)

    def __len__(self) -> int:
        """Batches in an epoch."""
        return 1 + (self.count - 1) // self.batch_size

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The batches of the current epoch from its start; does not move `position`."""
        for batch in range(len(self)):
            yield self.batch(self.position.epoch, batch)

    def take(self) -> dict[str, Any]:
        """The batch at `position`, which moves on."""
        epoch, batch = self.position
        values = self.batch(epoch, batch)
        self.position = Position(epoch, batch + 1) if batch + 1 < len(self) else Position(epoch + 1, 0)
        return values

    def batch(self, epoch: int, batch: int) -> dict[str, Any]:
        """One batch by number: a value for each data layer, or for each field when there are no feeds."""
        rows = self.rows(epoch, batch)
        if self.feeds is None:
            return self.dataset.rows(rows)
        random = self._random if self.training else [None] * len(self.feeds)
        return {feed.layer: feed.take(rows, source) for feed, source in zip(self.feeds, random, strict=True)}

    def rows(self, epoch: int, batch: int) -> Rows:
        """Numbers of the rows of a batch."""
        self._start(epoch)
        return self._order[batch * self.batch_size : (batch + 1) * self.batch_size]

    def _start(self, epoch: int) -> None:
        if epoch == self._epoch:
            return
        count = len(self.dataset)
        self._order = generator(self.seed, epoch, 0).permutation(self.part) if self.shuffle else self.part
        self._random = [
            [
                RowRandom(self.seed, epoch, 1 + number * STREAMS_OF_A_FEED + place, count)
                for place in range(len(feed.transforms))
            ]
            for number, feed in enumerate(self.feeds or ())
        ]
        self._epoch = epoch
