"""Prefetching: threads prepare batches while the network processes the previous one.

Threads, not processes: kernels, Pillow's decoders, zlib and files release the GIL while they work, so threads are as
fast (`python -m tests.benchmarks.bench_sources` compares), need no copy of their results, know the loaded plugins, and
do not run the user's script again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, TypeVar

P = TypeVar("P")
M = TypeVar("M")


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
        waiting.extend(pool.submit(make, place) for place in islice(left, max(0, most - len(waiting))))

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


def size_of(value: Any) -> int:
    """Bytes of the arrays of a batch: of an array, of sequences, of sparse rows, of a mapping of these."""
    if value is None or isinstance(value, (int, str)):
        return 0
    if hasattr(value, "nbytes"):
        return int(value.nbytes)
    return sum(map(size_of, value.values() if isinstance(value, dict) else vars(value).values()))
