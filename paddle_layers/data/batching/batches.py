"""Batches of a data set, in an order determined by seed and epoch, prefetched by threads.

Threads, not processes: kernels, Pillow's decoders, zlib and files release the GIL while they work, so threads are as
fast (`python -m tests.benchmarks.bench_sources` compares), need no copy of their results, know the loaded plugins, and
do not run the user's script again.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np

from paddle_layers.define.concurrency import ForkSafeLock

from ..columns import Rows, size_of
from ..dataset import Dataset
from ..lazy_columns import BadRecords
from ..problems import DataError
from ..sampling import RowRandom, shuffled
from .feeds import DataFeed

P = TypeVar("P")
M = TypeVar("M")

MEMORY = 2**28
"""Default memory limit of prefetched batches, in bytes."""


def prefetched(
    make: Callable[[P], M], places: Iterable[P], size: Callable[[M], int], *, workers: int, memory: int
) -> Generator[M]:
    """Results of `make(place)` for each place, in order, for any number of `workers`; with 0 nothing is prefetched.

    At most two results per worker are waiting or in progress, and no more than fit into `memory` bytes by the `size` of
    the largest so far, but at least one. An error is raised at the turn of its place. Close the iterator to end the
    threads.
    """
    if not workers:
        yield from map(make, places)
        return
    left, waiting, largest = iter(places), deque[Future[M]](), memory
    pool = ThreadPoolExecutor(workers, thread_name_prefix="batches")

    def fill() -> None:
        most = max(1, min(2 * workers, memory // max(largest, 1)))
        waiting.extend(pool.submit(make, place) for place in itertools.islice(left, max(0, most - len(waiting))))

    try:
        fill()
        largest = 0
        while waiting:
            made = waiting.popleft().result()
            largest = max(largest, size(made))
            fill()
            yield made
    finally:
        pool.shutdown(cancel_futures=True)


class Position(NamedTuple):
    """Position of the training in the data: epoch and batch, both counted from 0."""

    epoch: int
    batch: int


class _Epoch(NamedTuple):
    """The order of the rows, and random numbers by stream."""

    order: Rows
    random: Mapping[int, RowRandom]


class _Made(NamedTuple):
    """A batch of rows, None where none of its records can be read; and what is wrong with those that cannot, by row."""

    values: dict[str, Any] | None
    rows: Rows
    bad: Mapping[int, str]


class Batches:
    """Splits a data set into batches of `batch_size` rows; the last batch of an epoch has the remaining rows.

    A batch size above the number of rows gives one batch of all rows in each epoch. With `shuffle` the order of the
    rows depends on `seed` and the epoch alone, and so do the random numbers of the transforms (for each row), so a
    training that is resumed at a saved `position` sees the same data. `training=False` uses no random numbers. `part`
    are the rows that are used, by default all.

    `workers` threads prefetch batches, which take at most `memory` bytes; the batches are the same with any number of
    threads. With `skip` unreadable records are skipped and noted in `bad`, by row; a batch without any other record is
    skipped. Otherwise they raise `DataError`.
    """

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int,
        *,
        seed: int = 0,
        shuffle: bool = True,
        training: bool = True,
        feeds: Sequence[DataFeed] | None = None,
        part: Rows | None = None,
        workers: int = 0,
        memory: int = MEMORY,
        skip: bool = False,
    ) -> None:
        if batch_size < 1:
            raise ValueError(f"`batch_size` is {batch_size}, expected at least 1")
        self.dataset, self.part = dataset, np.arange(len(dataset)) if part is None else part
        self.origin = dataset.origin
        self.batch_size = min(batch_size, self.count)
        self.seed, self.shuffle, self.training, self.feeds = seed, shuffle, training, feeds
        self.workers, self.memory, self.skip = workers, memory, skip
        self.bad: dict[int, str] = {}
        self._number, self._count = 0, 1
        self._numbers = len(dataset)
        """Number of numbered samples, each with its random stream."""
        self._streams = {stream for feed in feeds or () for stream in feed.streams}
        self._position = Position(0, 0)
        self._stream: Generator[_Made] | None = None
        self.unreadable: dict[int, str] = dict(dataset.bad)
        """Unreadable records by row, which are not tried again."""
        self._epochs: dict[int, _Epoch] = {}
        self._starting = ForkSafeLock()

    @property
    def count(self) -> int:
        """Rows in an epoch."""
        return len(self.part)

    def __len__(self) -> int:
        """Batches in an epoch."""
        return 1 + (self.count - 1) // self.batch_size

    @property
    def position(self) -> Position:
        """Epoch and batch that come next, both counted from 0."""
        return self._position

    @position.setter
    def position(self, position: Position) -> None:
        self.close()
        self._position = position

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The batches of the current epoch from its start; does not move `position`."""
        return (values for _, values in self.with_rows())

    def with_rows(self) -> Generator[tuple[Rows, dict[str, Any]]]:
        """As iteration, with the numbers of the rows. Raises `DataError` if no record can be read."""
        made = self._made(Position(self.position.epoch, batch) for batch in range(len(self)))
        read = False
        try:
            for one in made:
                self.bad.update(one.bad)
                if one.values is not None:
                    read = True
                    yield one.rows, one.values
        finally:
            made.close()
        if not read:
            raise self._nothing()

    def take(self) -> dict[str, Any]:
        """The batch at `position`, which moves on."""
        for _ in range(len(self)):
            made = self._next()
            if made.values is not None:
                return made.values
        raise self._nothing()

    def _nothing(self) -> DataError:
        return DataError(
            f"{self.origin}: none of the {self.count} records can be read; the first error: "
            f"{next(iter(self.bad.values()))}"
        )

    def close(self) -> None:
        """End the threads, which begin anew with the next batch."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()

    def share(self, number: int, count: int) -> None:
        """From now on, give part `number` of `count` parts of every batch, of which some may have no rows."""
        self.close()
        self._number, self._count = number, count

    def fed(self, layer: str, rows: Rows) -> Any:
        """The values of a data layer, without what changes them by chance."""
        return next(feed for feed in self.feeds or () if feed.layer == layer).take(rows, None)

    def fed_readable(self, layer: str, rows: Rows) -> Any:
        """As `fed`; with `skip` without unreadable records."""
        while self.skip:
            rows = rows[~np.isin(rows, list(self.unreadable))]
            try:
                return self.fed(layer, rows)
            except BadRecords as error:
                self.unreadable |= error.problems
        return self.fed(layer, rows)

    def left_out(self) -> dict[tuple[str, int], str]:
        """The records that were left out, by the origin of their data and the row there."""
        return {(self.dataset.origin, row): problem for row, problem in self.bad.items()}

    def rows(self, epoch: int, batch: int) -> Rows:
        """Numbers of the rows of a batch."""
        rows = self._epoch(epoch).order[batch * self.batch_size : (batch + 1) * self.batch_size]
        return rows[len(rows) * self._number // self._count : len(rows) * (self._number + 1) // self._count]

    def _next(self) -> _Made:
        if self._stream is None:
            self._stream = self._made(self._places(self._position))
        try:
            made = next(self._stream)
        except BaseException:
            self.close()
            raise
        self._position = self._behind(self._position)
        self.bad.update(made.bad)
        return made

    def _made(self, places: Iterator[Position]) -> Generator[_Made]:
        return prefetched(
            self._make, places, lambda made: size_of(made.values), workers=self.workers, memory=self.memory
        )

    def _places(self, first: Position) -> Iterator[Position]:
        return itertools.accumulate(itertools.repeat(first), lambda place, _: self._behind(place))

    def _behind(self, place: Position) -> Position:
        epoch, batch = place
        return Position(epoch, batch + 1) if batch + 1 < len(self) else Position(epoch + 1, 0)

    def _make(self, place: Position) -> _Made:
        """The batch of a place; in any thread the same."""
        rows = self.rows(*place)
        if not self.skip:
            return _Made(self._values(place.epoch, rows), rows, {})
        bad = {row: self.unreadable[row] for row in rows.tolist() if row in self.unreadable} if self.unreadable else {}
        while len(bad) < len(rows):
            good = rows[~np.isin(rows, list(bad))] if bad else rows
            try:
                return _Made(self._values(place.epoch, good), good, bad)
            except BadRecords as error:
                bad |= error.problems
                self.unreadable.update(error.problems)
        return _Made(None, rows[:0], bad)

    def _values(self, epoch: int, rows: Rows) -> dict[str, Any]:
        self.dataset.check_unchanged()
        if self.feeds is None:
            return self.dataset.rows(rows)
        random = self._epoch(epoch).random if self.training else None
        return {feed.layer: feed.take(rows, random) for feed in self.feeds}

    def _epoch(self, epoch: int) -> _Epoch:
        with self._starting.current:
            if epoch not in self._epochs:
                for old in [old for old in self._epochs if abs(old - epoch) > 1]:
                    del self._epochs[old]
                self._epochs[epoch] = _Epoch(self._order(epoch), self._random(epoch))
            return self._epochs[epoch]

    def _order(self, epoch: int) -> Rows:
        return shuffled(self.part, self.dataset.blocks, self.seed, epoch) if self.shuffle else self.part

    def _random(self, epoch: int) -> Mapping[int, RowRandom]:
        return {stream: RowRandom(self.seed, epoch, stream, self._numbers) for stream in self._streams}
