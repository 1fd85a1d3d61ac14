"""What a step of many processes should take: a formula, beside a simulation of every process, beside measurements.

    python -m tests.benchmarks.model_ranks FILE [--rows 32] [--rounds 15]

FILE is a network file or a training file. It is measured in one process and in two on this machine, each with one
thread: when each part of the gradients is done, and what a sum over both takes, the least of all tries. The table then
has what a step should take with 2, 8, 64 and 1,000 processes, and the efficiency, which is the time of a step alone to
that.

The formula. A sum of b bytes over N processes takes, by halving and doubling (Rabenseifner 2004), which is what MPI
does with long messages,

    2 * log2(N) * latency + 2 * (N - 1) / N * b / bandwidth

where N is a power of two; else those beyond fold into others first and get the sums last, which is two messages of all
b bytes more. Parts are summed one behind the other, none before it is done; with `overlap` the link works while the
processes do, without it none begins before the backward pass has ended, as with an MPI that moves on only when it is
called. Every step also waits for the sum of the costs, and for the slowest process: of N times with a standard
deviation s the largest is expected about s * sqrt(2 * ln(N)) above their mean.

The simulation knows no such formula: every process has a time of its own in each part of its step, and in each round of
a sum waits for the partner of this round.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .bench_ranks import measured

Array = NDArray[np.float64]
MEBIBYTE = 2**20


class Link(NamedTuple):
    """Between two processes: milliseconds of a message without content, bytes a millisecond."""

    latency: float
    bandwidth: float


class Step(NamedTuple):
    """A step of one process alone, in milliseconds."""

    forward: float
    """When the forward pass is done, and costs are summed."""
    parts: Sequence[tuple[float, int]]
    """When gradients are done, counted from the begin of the step, and their bytes."""
    backward: float
    """When the backward pass is done."""
    whole: float
    """When the optimizer has made its step, too."""


LINKS = {
    "Ethernet of 25 Gbit/s": Link(0.03, 25e9 / 8 / 1000 * 0.9),
    "InfiniBand of 200 Gbit/s": Link(0.003, 200e9 / 8 / 1000 * 0.9),
}
"""Usual figures of data sheets; nine tenths of the bits carry numbers."""


def in_buckets(parts: Sequence[tuple[float, int]], least: int) -> list[tuple[float, int]]:
    """Neighbours together until they have so many bytes: done when the last of them is."""
    found: list[tuple[float, int]] = []
    open_bytes = 0
    for at, (done, size) in enumerate(parts):
        open_bytes += size
        if open_bytes >= least or at == len(parts) - 1:
            found.append((done, open_bytes))
            open_bytes = 0
    return found


def sum_time(size: float, count: int, link: Link) -> float:
    """Milliseconds of a sum of so many bytes over so many processes."""
    if count == 1:
        return 0.0
    core = 1 << (count.bit_length() - 1)
    fold = 2 * (link.latency + size / link.bandwidth) if core < count else 0.0
    return fold + 2 * math.log2(core) * link.latency + 2 * (core - 1) / core * size / link.bandwidth


def predicted(step: Step, count: int, link: Link, *, jitter: float = 0.0, overlap: bool = True) -> float:
    """Milliseconds of a step by the formula; `jitter` is the standard deviation of a process's step, as a share."""
    slowest = 1 + jitter * math.sqrt(2 * math.log(count))
    costs = sum_time(16, count, link)
    free = 0.0
    for done, size in step.parts:
        ready = slowest * (done if overlap else step.backward) + costs
        free = max(free, ready) + sum_time(size, count, link)
    return max(slowest * step.backward + costs, free) + slowest * (step.whole - step.backward)


def simulated(
    step: Step, count: int, link: Link, rng: np.random.Generator, *, jitter: float = 0.0, overlap: bool = True
) -> float:
    """Milliseconds of a step in which each of `count` processes takes its own time and waits for its partners."""
    scale = 1 + rng.normal(0, jitter, count)
    costs = _sum(step.forward * scale, 16, link)

    def at(done: float) -> Array:
        return costs + (done - step.forward) * scale

    free = np.zeros(count)
    for done, size in step.parts:
        free = _sum(np.maximum(free, at(done if overlap else step.backward)), size, link)
    return float(np.max(np.maximum(free, at(step.backward)) + (step.whole - step.backward) * scale))


def _sum(ready: Array, size: float, link: Link) -> Array:
    """When each process has the sum, by halving and doubling; those beyond a power of two fold into others first."""
    count = len(ready)
    if count == 1:
        return ready
    core = 1 << (count.bit_length() - 1)
    rest = count - core
    clock = ready[:core].copy()
    if rest:
        clock[:rest] = np.maximum(clock[:rest], ready[core:]) + link.latency + size / link.bandwidth
    rounds = [1 << number for number in range(core.bit_length() - 1)]
    shares = [size / 2 ** (number + 1) for number in range(len(rounds))]
    for distance, share in [*zip(rounds, shares, strict=True), *reversed([*zip(rounds, shares, strict=True)])]:
        clock = np.maximum(clock, clock[np.arange(core) ^ distance]) + link.latency + share / link.bandwidth
    if not rest:
        return clock
    return np.concatenate([clock, clock[:rest] + link.latency + size / link.bandwidth])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--rows", type=int, default=32, help="rows of each process")
    parser.add_argument("--rounds", type=int, default=15, help="steps that are measured of each kind")
    parser.add_argument("--jitter", type=float, default=0.02, help="standard deviation of a process's step, a share")
    given = parser.parse_args()
    one, two = (measured(count, given.file, given.rows, given.rounds) for count in (1, 2))
    (forward, _), *parts, (backward, _) = one["stamps"]
    step = Step(forward, parts, backward, max(one["least"]["alone"], backward))
    here = two["links"]
    shared = Link(here["latency"] / 1000 / 2, 1e6 * here["bandwidth"])
    slower = two["least"]["alone"] / one["least"]["alone"]
    late = [(slower * done, size) for done, size in parts]
    beside = Step(slower * forward, late, slower * backward, slower * step.whole)
    summed = sum(size for _, size in parts) / MEBIBYTE
    print(f"{given.file}, {given.rows} rows: {step.whole:.2f} ms alone, {summed:.1f} MiB in {len(parts)} parts")
    print(f"a sum over 2 processes here: {here['latency']:.0f} us and {here['bandwidth']:.1f} GB/s")
    for overlap in (True, False):
        own, how = predicted(beside, 2, shared, overlap=overlap), "with" if overlap else "without"
        print(f"2 processes here, {how} overlap: {own:.2f} ms, measured {two['least']['together']:.2f}")
    rng = np.random.default_rng(0)
    for name, link in LINKS.items():
        print(f"\n{name}{'bucket':>20}{'processes':>11}{'formula':>9}{'simulated':>11}{'no overlap':>12}  efficiency")
        for bucket in (1, 4, 16):
            taken = step._replace(parts=in_buckets(parts, bucket * MEBIBYTE))
            for count in (2, 8, 64, 1000):
                formula = predicted(taken, count, link, jitter=given.jitter)
                plain = predicted(taken, count, link, jitter=given.jitter, overlap=False)
                tries = [simulated(taken, count, link, rng, jitter=given.jitter) for _ in range(20)]
                numbers = f"{formula:9.2f}{np.mean(tries):11.2f}{plain:12.2f}{step.whole / formula:12.2f}"
                print(f"{bucket:>{len(name) + 16}} MiB{count:11}{numbers}")


if __name__ == "__main__":
    main()
