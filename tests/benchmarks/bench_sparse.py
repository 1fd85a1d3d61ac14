"""fc over sparse rows of many columns: what a training step costs, and the same in PyTorch on this machine's CPU.

    python -m tests.benchmarks.bench_sparse [--rounds 15] [--threads 1] [--columns 10000 100000 1000000 10000000]

128 rows with 100 columns each, 64 outputs, another batch in every step. The first table has milliseconds of a step and
the bytes of the plan by the number of columns: neither depends on it, apart from caches that hold a small parameter.
The second has ratios to PyTorch's `EmbeddingBag(sparse=True)`, above 1 this library is faster; PyTorch must be
installed. Its SparseAdam leaves unused rows alone, while `adam` here gives what the dense optimizer gives.
"""

from __future__ import annotations

import argparse
import itertools
from typing import Any

import numpy as np

import paddle_layers as pl
from paddle_layers.define import registries
from paddle_layers.runtime import Csr
from paddle_layers.runtime.optimise.updater import Updater

from .bench_kernels import set_threads
from .timing import Timed, compare

ROWS, ENTRIES, SIZE, BATCHES = 128, 100, 64, 100
RATE = 0.01
BLOCK = 0.2
"""Seconds of a block."""
CASES = {"sgd, no momentum": ("sgd", {"momentum": 0.0}), "sgd": ("sgd", {}), "adam": ("adam", {})}
COMPARED = {"sgd, no momentum": "SGD", "adam": "SparseAdam"}
"""Cases with an optimizer of PyTorch that takes sparse gradients."""

CONFIG = """
layer { name: "x" type: "data" data { data_type: SPARSE_INT size: COLUMNS } }
layer { name: "label" type: "data" data { data_type: INT size: 64 } }
layer { name: "scores" type: "fc" input: "x" fc { size: 64 } param { of: "weight" init { type: "constant" } } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
"""


def batches(columns: int) -> list[tuple[Any, Any]]:
    """Columns of the entries, and labels."""
    rng = np.random.default_rng(0)
    return [(rng.integers(0, columns, ROWS * ENTRIES), rng.integers(0, SIZE, ROWS)) for _ in range(BATCHES)]


class Ours:
    """A net that trains, after a round of the batches."""

    def __init__(self, columns: int, optimizer: str, attributes: dict[str, float]) -> None:
        definition = registries["optimizer"][optimizer]
        self.net = pl.Net(pl.loads(CONFIG.replace("COLUMNS", str(columns))), batch_size=ROWS)
        self.updater = Updater(definition, definition.bind(attributes), self.net)
        start = np.arange(ROWS + 1) * ENTRIES
        self.feeds = itertools.cycle([{"x": Csr(start, ids), "label": label} for ids, label in batches(columns)])
        self.count = 0
        for _ in range(BATCHES):
            self.step()

    def step(self) -> None:
        """Forward, backward, update."""
        self.count += 1
        self.net.forward(next(self.feeds))
        self.net.backward()
        self.updater.step(RATE, self.count)


def theirs(columns: int, optimizer: str) -> Timed:
    """The same in PyTorch."""
    import torch

    bag = torch.nn.EmbeddingBag(columns, SIZE, mode="sum", sparse=True, _weight=torch.zeros(columns, SIZE))
    bias = torch.zeros(SIZE, requires_grad=True)
    steps = [getattr(torch.optim, optimizer)(bag.parameters(), RATE), torch.optim.SGD([bias], RATE)]
    feeds = itertools.cycle([tuple(map(torch.from_numpy, batch)) for batch in batches(columns)])
    offsets = torch.arange(ROWS) * ENTRIES

    def step() -> None:
        ids, label = next(feeds)
        for one in steps:
            one.zero_grad()
        torch.nn.functional.cross_entropy(bag(ids, offsets) + bias, label).backward()
        for one in steps:
            one.step()

    return Timed(step, lambda: None)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--columns", type=int, nargs="+", default=[10**4, 10**5, 10**6, 10**7])
    options = parser.parse_args()
    set_threads(options.threads)
    print(f"{'columns':>10} {'plan':>10}" + "".join(f"{case:>20}" for case in CASES))
    for columns in options.columns:
        row = []
        for optimizer, attributes in CASES.values():
            side = Ours(columns, optimizer, attributes)
            seconds = compare({"": Timed(side.step, side.net.synchronise)}, rounds=options.rounds, seconds=BLOCK)[""]
            row.append(f"{1e3 * seconds:17.2f} ms")
            nbytes = side.net.memory("train")
            side.net.close()
            del side
        print(f"{columns:10d} {nbytes / 2**20:6.1f} MiB" + "".join(row), flush=True)
    columns = 10**6
    for case, optimizer in COMPARED.items():
        ours = Ours(columns, *CASES[case])
        sides = {"ours": Timed(ours.step, ours.net.synchronise), "torch": theirs(columns, optimizer)}
        seconds = compare(sides, rounds=options.rounds, seconds=BLOCK)
        print(f"{case:>20} beside torch.optim.{optimizer}: {seconds['torch'] / seconds['ours']:.2f}", flush=True)


if __name__ == "__main__":
    main()
