"""Batches from user code: a list, a generator, or an object that is iterated in every epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from typing import Any

import numpy as np

from ..dataset import Dataset
from ..problems import DataError
from ..sampling import RowRandom
from .batches import Position
from .feeds import DataFeed


class Stream:
    """Batches from an iterable: each a mapping of fields to arrays, converted to feeds by `make_feeds`.

    An epoch is one iteration of `source`; a generator has one epoch only. `position` counts epochs and batches; when it
    is set, the batches before it are skipped, so resuming needs a source that repeats itself. `training=False` uses no
    random numbers. Raises `DataError` for batches that do not fit, and when there are no more.
    """

    def __init__(
        self,
        source: Iterable[Mapping[str, Any]],
        make_feeds: Callable[[Dataset], tuple[DataFeed, ...]],
        *,
        name: str,
        batch_size: int,
        seed: int = 0,
        training: bool = True,
    ) -> None:
        self.name, self.batch_size, self.seed, self.training = name, batch_size, seed, training
        self._source, self._make_feeds = source, make_feeds
        self._position = Position(0, 0)
        self._items: Iterator[Mapping[str, Any]] | None = None
        self._next: Mapping[str, Any] | None = None
        if isinstance(source, (list, tuple)) and source:  # before the training writes anything
            self._check(source[0], 0)

    @property
    def once(self) -> bool:
        """Whether there is one epoch only, as of a generator."""
        return isinstance(self._source, Iterator)

    def __len__(self) -> int:
        """Batches in an epoch; 0 where the source does not say."""
        return len(self._source) if isinstance(self._source, Sized) else 0

    @property
    def count(self) -> int:
        """Rows in an epoch: not known."""
        return 0

    @property
    def position(self) -> Position:
        """Epoch and batch that come next, both counted from 0."""
        return self._position

    @position.setter
    def position(self, position: Position) -> None:
        self._position, self._items = position, None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The batches of one epoch; does not move `position`."""
        for number, item in enumerate(self._source):
            yield self._fed(item, Position(0, number))

    def take(self) -> dict[str, Any]:
        """The batch at `position`, which moves on."""
        if self._items is None:
            self._begin(self._position.batch)
        if self._next is None:
            raise self._empty()
        here, item = self._position, self._next
        values = self._fed(item, here)
        assert self._items is not None, "started before"
        self._next = next(self._items, None)
        self._position = Position(here.epoch, here.batch + 1)
        if self._next is None and not self.once:
            self._position = Position(here.epoch + 1, 0)
            self._items = None
        return values

    def close(self) -> None:
        """Nothing: batches are made when they are wanted."""

    def _begin(self, passed: int) -> None:
        self._items = iter(self._source)
        for _ in range(passed):
            next(self._items, None)
        self._next = next(self._items, None)

    def _empty(self) -> DataError:
        done = self._position.batch
        if self.once and done:
            return DataError(
                f"{self.name} ended after {done} batches: reduce the number of steps, or pass a re-iterable "
                "object, such as a list or an object whose `__iter__` is a generator"
            )
        return DataError(f"{self.name} has no batches")

    def _check(self, item: Any, number: int) -> str:
        """The origin of a batch, for messages. Raises `DataError` for one that is not a mapping."""
        origin = f"{self.name}, batch {number}"
        if not isinstance(item, Mapping):
            raise DataError(
                f"{origin} is {type(item).__name__}, expected a dict with one array per data layer, such as "
                '{"features": ..., "label": ...}; the `collate_fn` of a DataLoader can return it'
            )
        return origin

    def _fed(self, item: Mapping[str, Any], place: Position) -> dict[str, Any]:
        origin = self._check(item, place.batch)
        dataset = Dataset(item, origin=origin)
        rows = np.arange(len(dataset))
        feeds, random = self._make_feeds(dataset), None
        if self.training:
            step = place.epoch * 2**32 + place.batch
            streams = {stream for feed in feeds for stream in feed.streams}
            random = {stream: RowRandom(self.seed, step, stream, len(dataset)) for stream in streams}
        return {feed.layer: feed.take(rows, random) for feed in feeds}
