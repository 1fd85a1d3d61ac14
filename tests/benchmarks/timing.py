"""Sides that take turns in short blocks, so that what disturbs one disturbs the others as much."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

PAUSE = 0.004
"""Seconds before a block, in which the threads of the side before go to sleep."""


Summary = Callable[[Iterable[float]], float]


class Timed(NamedTuple):
    """What is measured: `run` may only order work, `wait` waits until it is done."""

    run: Callable[[], Any]
    wait: Callable[[], Any]


def block(side: Timed, count: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of one run by a clock, over a block of `count`."""
    time.sleep(PAUSE)
    side.run()
    side.wait()
    start = clock()
    for _ in range(count):
        side.run()
    side.wait()
    return (clock() - start) / count


def compare(
    sides: Mapping[str, Timed],
    *,
    rounds: int,
    seconds: float,
    of: Callable[[Iterable[float]], float] = statistics.median,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Seconds of a run of each side: the median, or what `of` gives, over `rounds` blocks of about `seconds`.

    With `clock` the processor's time of a thread, what other processes take does not count; it is for one thread only.
    """
    counts = {name: max(1, round(seconds / block(side, 1, clock))) for name, side in sides.items()}
    counts = {name: max(1, round(seconds / block(side, counts[name], clock))) for name, side in sides.items()}
    turns = [{name: block(side, counts[name], clock) for name, side in sides.items()} for _ in range(rounds)]
    return {name: of(turn[name] for turn in turns) for name in sides}


def undisturbed(sides: Mapping[str, Timed], *, rounds: int, seconds: float) -> dict[str, float]:
    """The tenth percentile of the seconds of single runs: a virtual machine is slow for seconds at times."""
    found: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            block(side, 1)
            end = time.perf_counter() + seconds
            while (start := time.perf_counter()) < end:
                side.run()
                side.wait()
                found[name].append(time.perf_counter() - start)
    return {name: sorted(taken)[len(taken) // 10] for name, taken in found.items()}
