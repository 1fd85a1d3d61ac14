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


def block(side: Timed, count: int) -> float:
    """Seconds of one run, over a block of `count`."""
    time.sleep(PAUSE)
    side.run()
    side.wait()
    start = time.perf_counter()
    for _ in range(count):
        side.run()
    side.wait()
    return (time.perf_counter() - start) / count


def compare(
    sides: Mapping[str, Timed],
    *,
    rounds: int,
    seconds: float,
    of: Callable[[Iterable[float]], float] = statistics.median,
) -> dict[str, float]:
    """Seconds of a run of each side: the median, or what `of` gives, over `rounds` blocks of about `seconds`."""
    counts = {name: max(1, round(seconds / block(side, 1))) for name, side in sides.items()}
    counts = {name: max(1, round(seconds / block(side, counts[name]))) for name, side in sides.items()}
    turns = [{name: block(side, counts[name]) for name, side in sides.items()} for _ in range(rounds)]
    return {name: of(turn[name] for turn in turns) for name in sides}
