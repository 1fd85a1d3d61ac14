"""Steps and layers side by side with PyTorch on this machine's CPU, as ratios: above 1, this library is faster.

    python -m tests.benchmarks.bench_kernels [--rounds 15] [NAME ...]

PyTorch must be installed. The two sides take turns in short blocks within one process, so that a busy machine slows
both; every figure is the median over the blocks. A step of training is forward, backward and SGD with momentum; a layer
is forward and backward with the gradients of weights and input.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch

from . import networks, ours, theirs
from .ours import Side
from .timing import Timed, compare
from .workloads import Workload, conv, layer, pool

BLOCK = 0.004
"""Seconds of a block."""
Pair = tuple[Side, Side]


def training(work: Workload) -> Pair:
    return ours.step(work, "cpu"), theirs.step(work, "cpu")


def outputs(work: Workload) -> Pair:
    return ours.outputs(work, "cpu"), theirs.outputs(work, "cpu")


def single(work: Workload) -> Pair:
    return ours.layer(work, "cpu", True), theirs.layer(work, "cpu", True)


NETWORKS = [networks.lenet(64), networks.lenet(1), networks.mlp(128), networks.mlp(1)]
LAYERS = [
    conv(64, 20, 12, 50, 5),
    conv(16, 64, 28, 64, 3, padding=1),
    conv(16, 256, 28, 64, 1),
    conv(16, 64, 28, 64, 3, padding=1, groups=64),
    conv(8, 3, 112, 32, 7, padding=3, stride=2),
    pool(64, 20, 24, 2, "MAX"),
    pool(16, 64, 55, 3, "MAX"),
    pool(64, 20, 24, 2, "AVERAGE"),
    layer("batch_norm 16x64x28x28", "batch_norm", "", (64, 28, 28), 16, lambda: torch.nn.BatchNorm2d(64)),
    layer("batch_norm 128x512", "batch_norm", "", (512,), 128, lambda: torch.nn.BatchNorm1d(512)),
]
CASES: list[tuple[str, Callable[[Workload], Pair], Workload]] = [
    *[(f"{work.name}, training", training, work) for work in NETWORKS if work.rows > 1],
    *[(f"{work.name}, outputs", outputs, work) for work in NETWORKS],
    *[(work.name, single, work) for work in LAYERS],
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="cases whose name contains one of these; all if none")
    parser.add_argument("--rounds", type=int, default=15, help="blocks on each side")
    parser.add_argument("--threads", type=int, default=0, help="threads of both sides; what each chooses if 0")
    options = parser.parse_args()
    if options.threads:
        set_threads(options.threads)
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads; microseconds\n")
    print(f"{'':44}{'ours':>10}{'torch':>10}{'ratio':>8}")
    for name, make, work in CASES:
        if not options.names or any(part in name for part in options.names):
            pair = {side: Timed(it.called, it.wait) for side, it in zip(("ours", "torch"), make(work), strict=True)}
            mine, its = compare(pair, rounds=options.rounds, seconds=BLOCK).values()
            print(f"{name:44}{mine * 1e6:10.0f}{its * 1e6:10.0f}{its / mine:8.2f}", flush=True)


def set_threads(count: int) -> None:
    """Threads of both sides."""
    import numba

    torch.set_num_threads(count)
    numba.set_num_threads(count)


if __name__ == "__main__":
    main()
