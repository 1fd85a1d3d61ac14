"""A training step in one process and in several, each with one thread: what adding up the gradients costs.

    python -m tests.benchmarks.bench_ranks FILE... [--rows 32] [--processes 2] [--rounds 15]

FILE is a network file or a training file; every process has so many rows. Milliseconds of a step, medians: of one
process alone; of several beside each other that add nothing up; of several that do, and what of it comes behind the
backward pass. The efficiency is what several do in a time, to so many times what one does. What several cost without
adding up is the machine's: cores share its memory. MiB are those that a process hands over in a step, of so many that
all gradients have: of tables it is rows.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WARM = 3


def worker(file: str, rows: int, rounds: int) -> dict[str, Any]:
    """The medians of this process: of a step alone, and of one with the sums of all; when which gradients are done."""
    import paddle_layers as pl
    from paddle_layers.config import network_of
    from paddle_layers.define import registries
    from paddle_layers.runtime.graph.building import build_graph
    from paddle_layers.runtime.memory.parameters import ParameterSet
    from paddle_layers.runtime.optimise.updater import Updater
    from paddle_layers.runtime.profile.step import synthetic_feeds
    from paddle_layers.training.processes.ranks import join

    ranks, network = join(), network_of(file)
    feeds = synthetic_feeds(build_graph(network.select("train"), ParameterSet("float32"), {}), rows)
    net = pl.Net(network, gradient_memory=ranks.gradient_memory)
    ranks.share(net)
    sgd = registries["optimizer"]["sgd"]
    updater = Updater(sgd, sgd.bind({"momentum": 0.9}), net)

    behind: list[float] = []

    def alone() -> None:
        net.forward(feeds, step=0)
        net.backward()
        updater.step(1e-6, 1)

    def together() -> None:
        net.forward(feeds, step=0)
        divisors = {name: one.divisor for name, one in ranks.sums(net.loss_sums()).items()}
        net.backward(divisors=divisors, ready=ranks.start_sum)
        begin = time.perf_counter()
        ranks.wait()
        behind.append(time.perf_counter() - begin)
        ranks.join_rows(net)
        updater.step(1e-6, 1)

    ways: dict[str, Callable[[], None]] = {"alone": alone, "together": together}
    spent: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(rounds + WARM):
        for way, run in ways.items():
            run()  # the optimizer finds gradients by rows where the other way has not left them
            ranks.any_of("")  # all begin at once
            begin = time.perf_counter()
            run()
            if number >= WARM:
                spent[way].append(time.perf_counter() - begin)
    found: dict[str, Any] = {way: 1000 * statistics.median(times) for way, times in spent.items()}
    found["least"] = {way: 1000 * min(times) for way, times in spent.items()}
    found["behind"] = 1000 * statistics.median(behind[2 * WARM + 1 :: 2])
    before = getattr(ranks, "moved", 0)
    together()
    found["moved"] = getattr(ranks, "moved", 0) - before
    found["whole"] = sum(one.size * 4 for one in net.arena.trained)
    found["stamps"] = stamps_of(net, feeds, rounds)
    found["links"] = links(ranks, net) if ranks.count > 1 else {}
    return found if ranks.first else {}


def stamps_of(net: Any, feeds: dict[str, Any], rounds: int) -> list[tuple[float, int]]:
    """Milliseconds until the forward pass, each part of the gradients and the backward pass are done, and the bytes.

    The least of all tries, as for `links`.
    """
    found: list[list[tuple[float, int]]] = []
    for _ in range(rounds):
        begin, own = time.perf_counter(), []

        def note(size: int, begin: float = begin, own: list[tuple[float, int]] = own) -> None:
            own.append((1000 * (time.perf_counter() - begin), size))

        net.forward(feeds, step=0)
        note(0)
        net.backward(ready=lambda part, note=note: note(part.nbytes))
        note(0)
        found.append(own)
    return [(min(done for done, _ in one), one[0][1]) for one in zip(*found, strict=True)]


def links(ranks: Any, net: Any, rounds: int = 40) -> dict[str, float]:
    """What a sum over all processes takes: microseconds for one number, gigabytes a second of at most a mebibyte.

    The least of all tries: what else the machine does only adds to it.
    """
    from paddle_layers.runtime.schedule.all_reduce import GradientPart

    least, gradients = {}, net.arena.gradients
    most = min(2**18, gradients.size)
    for size in (1, most):
        spent = []
        for _ in range(rounds):
            ranks.any_of("")
            begin = time.perf_counter()
            ranks.start_sum(GradientPart(0, gradients.block, 0, size, gradients.dtype))
            ranks.wait()
            spent.append(time.perf_counter() - begin)
        least[size] = min(spent)
    return {"latency": 1e6 * least[1], "bandwidth": 4 * most / (least[most] - least[1]) / 1e9}


def measured(processes: int, file: str, rows: int, rounds: int) -> dict[str, Any]:
    """What the first of several processes has measured."""
    own = [sys.executable, "-m", "tests.benchmarks.bench_ranks", file, "--rows", str(rows), "--rounds", str(rounds)]
    mpiexec = [str(Path(sys.executable).with_name("mpiexec")), "-n", str(processes)]
    environment = os.environ | {"NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [*mpiexec, *own, "--worker"], env=environment, check=True, capture_output=True, text=True, timeout=1200
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--rows", type=int, default=32, help="rows of each process")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15, help="blocks of each way")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        found = worker(given.files[0], given.rows, given.rounds)
        if found:
            print(json.dumps(found))
        return
    print(f"{'':40}{'one':>9}{'beside':>9}{'summing':>9}{'behind':>9}{'MiB':>8}{'of':>8}  efficiency")
    for file in given.files:
        one = measured(1, file, given.rows, given.rounds)
        several = measured(given.processes, file, given.rows, given.rounds)
        values = [one["alone"], *(several[way] for way in ("alone", "together", "behind"))]
        times = "".join(f"{value:9.2f}" for value in values)
        sizes = "".join(f"{several[name] / 2**20:8.1f}" for name in ("moved", "whole"))
        print(f"{file[-38:]:40}{times}{sizes}  {one['alone'] / several['together']:.2f}", flush=True)


if __name__ == "__main__":
    main()
