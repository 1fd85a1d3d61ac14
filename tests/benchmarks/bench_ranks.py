"""A training step in one process and in several, each with one thread: what adding up the gradients costs.

    python -m tests.benchmarks.bench_ranks FILE... [--rows 32] [--processes 2] [--rounds 15]

FILE is a network file or a training file; every process has so many rows. Milliseconds of a step, medians: of one
process alone; of several beside each other that add nothing up; of several that do. The efficiency is what several do
in a time, to so many times what one does. What several cost without adding up is the machine's: cores share its memory.
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


def worker(file: str, rows: int, rounds: int) -> dict[str, float]:
    """The medians of this process: of a step alone, and of one with the sums of all."""
    import paddle_layers as pl
    from paddle_layers.config import network_of
    from paddle_layers.define import registries
    from paddle_layers.runtime.graph.building import build_graph
    from paddle_layers.runtime.memory.parameters import ParameterSet
    from paddle_layers.runtime.optimise.updater import Updater
    from paddle_layers.runtime.passes import without
    from paddle_layers.runtime.profile.feeds import made_up_feeds
    from paddle_layers.training.ranks import join

    ranks, network = join(), network_of(file)
    feeds = made_up_feeds(build_graph(network.select("train"), ParameterSet("float32"), {}), rows)
    with without("row gradients"):
        net = pl.Net(network)
    sgd = registries["optimizer"]["sgd"]
    updater = Updater(sgd, sgd.bind({"momentum": 0.9}), net)

    def step(**sums: Any) -> None:
        net.forward(feeds, step=0)
        whole = ranks.sums(net.loss_sums()) if sums else net.loss_sums()
        net.backward(divisors={name: one.divisor for name, one in whole.items()}, **sums)
        ranks.wait()
        updater.step(1e-6, 1)

    ways: dict[str, Callable[[], None]] = {"alone": step, "together": lambda: step(ready=ranks.start_sum)}
    spent: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(rounds + WARM):
        for way, run in ways.items():
            ranks.any_of("")  # all begin at once
            begin = time.perf_counter()
            run()
            if number >= WARM:
                spent[way].append(time.perf_counter() - begin)
    found = {way: 1000 * statistics.median(times) for way, times in spent.items()}
    return found | {"bytes": float(net.arena.gradients.read().nbytes)} if ranks.first else {}


def measured(processes: int, file: str, rows: int, rounds: int) -> dict[str, float]:
    """What the first of several processes has measured."""
    own = [sys.executable, "-m", "tests.benchmarks.bench_ranks", file, "--rows", str(rows), "--rounds", str(rounds)]
    mpiexec = [str(Path(sys.executable).with_name("mpiexec")), "-n", str(processes)]
    environment = os.environ | {"NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [*mpiexec, *own, "--worker"], env=environment, check=True, capture_output=True, text=True, timeout=1200
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
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
    print(f"{'':40}{'one':>9}{'beside':>9}{'summing':>9}{'MiB':>8}  efficiency")
    for file in given.files:
        one = measured(1, file, given.rows, given.rounds)
        several = measured(given.processes, file, given.rows, given.rounds)
        times = "".join(f"{value:9.2f}" for value in (one["alone"], several["alone"], several["together"]))
        size = several["bytes"] / 2**20
        print(f"{file[-38:]:40}{times}{size:8.1f}  {one['alone'] / several['together']:.2f}", flush=True)


if __name__ == "__main__":
    main()
