"""The first step of training in a new process, to its end: with an empty cache of kernels, and a filled one.

    python -m tests.benchmarks.bench_first_step FILE... [--rows 4] [--times 3]

FILE is a network file or a training file. A step is forward, backward and SGD with momentum on made-up data. Seconds of
the clock, and of all processors together, which a busy machine changes less; the least of all times.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

STEP = """
import sys
import paddle_layers as pl
from paddle_layers.config import network_of
from paddle_layers.define import registries
from paddle_layers.runtime.graph.building import build_graph
from paddle_layers.runtime.memory.parameters import ParameterSet
from paddle_layers.runtime.optimise.updater import Updater
from paddle_layers.runtime.profile.step import synthetic_feeds

network = network_of(sys.argv[1])
feeds = synthetic_feeds(build_graph(network.select("train"), ParameterSet("float32"), {}), int(sys.argv[2]))
net = pl.Net(network)
sgd = registries["optimizer"]["sgd"]
updater = Updater(sgd, sgd.bind({"momentum": 0.9}), net)
net.forward(feeds)
net.backward()
updater.step(1e-4, 1)
"""


class Spent(NamedTuple):
    """Seconds of a process and of those that it started."""

    clock: float
    processors: float


def first_step(file: str, rows: int, cache: str) -> Spent:
    """Run the first step with this cache folder."""
    environment = os.environ | {"PADDLE_LAYERS_CACHE": cache, "PYTHONDONTWRITEBYTECODE": ""}
    before, begin = os.times(), time.perf_counter()
    subprocess.run([sys.executable, "-c", STEP, file, str(rows)], env=environment, check=True)
    after, end = os.times(), time.perf_counter()
    children = sum(getattr(after, name) - getattr(before, name) for name in ("children_user", "children_system"))
    return Spent(end - begin, children)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--rows", type=int, default=4, help="rows of the batch")
    parser.add_argument("--times", type=int, default=3, help="how often each is measured")
    options = parser.parse_args()
    print(f"{'':40}{'cold':>10}{'CPU':>8}{'warm':>10}{'CPU':>8}   seconds")
    for file in options.files:
        cold, warm = [], []
        for _ in range(options.times):
            with tempfile.TemporaryDirectory() as cache:
                cold.append(first_step(file, options.rows, cache))
                warm.append(first_step(file, options.rows, cache))
        least = [Spent(*map(min, zip(*spent, strict=True))) for spent in (cold, warm)]
        print(f"{file[-40:]:40}" + "".join(f"{one.clock:10.2f}{one.processors:8.2f}" for one in least), flush=True)


if __name__ == "__main__":
    main()
