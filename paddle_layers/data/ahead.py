"""Batches made ahead by threads, while the network works on the one before.

Threads, not processes: kernels, Pillow's decoders, zlib and files let go of Python's lock while they work, so threads
are as fast (`python -m tests.benchmarks.bench_sources` compares), need no copy of what they made, know the plugins
that are loaded, and do not run the user's script again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, TypeVar

P = TypeVar("P")
M = TypeVar("M")


def made_ahead(
    make: Callable[[P], M], places: Iterable[P], size: Callable[[M], int], *, workers: int, memory: int
) -> Generator[M]:
    """`make(place)` for each place, in their order, whatever the number of `workers`; with 0 nothing is made ahead.

    At most two for each worker are waiting or being made, and no more than fit into `memory` bytes by the `size` of
    the largest so far; one at least. An error comes when it is the turn of its place. Close the iterator to end the
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
