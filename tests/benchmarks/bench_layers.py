"""Layers bound by memory and optimizers beside PyTorch on the CPU, forward and backward by themselves.

    python -m tests.benchmarks.bench_layers [--rounds 15] [--threads 1] [--best] [NAME ...]

PyTorch must be installed. Ours, torch's with its usual layout and with channels last take turns in short blocks of one
process; `torch` is the faster of the two layouts, a figure is the median over the blocks, a ratio above 1 says that
this library is faster. GB/s count what has to be moved: inputs, outputs, their gradients, what backward reads again.
Both sides give outputs and gradients as they lie on the device: no copies to NumPy.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

import paddle_layers as pl
from paddle_layers.define import registries
from paddle_layers.runtime.optimise.updater import Updater

from .bench_kernels import set_threads
from .layer_cases import LARGE, SMALL, Case, residual_texts
from .timing import Timed, compare

BLOCK = 0.004
"""Seconds of a block."""
OPTIMIZERS: list[tuple[str, dict[str, Any], Callable[..., torch.optim.Optimizer]]] = [
    ("sgd", {"momentum": 0.9}, lambda p, **how: torch.optim.SGD(p, 1e-4, momentum=0.9, **how)),
    ("adam", {}, lambda p, **how: torch.optim.Adam(p, 1e-4, **how)),
    ("adamw", {}, lambda p, **how: torch.optim.AdamW(p, 1e-4, **how)),
    ("rmsprop", {}, lambda p, **how: torch.optim.RMSprop(p, 1e-4, **how)),
    ("adagrad", {}, lambda p, **how: torch.optim.Adagrad(p, 1e-4, **how)),
]


class Measure(NamedTuple):
    """What is compared: ours, theirs in several ways, and the bytes to be moved."""

    name: str
    sides: dict[str, Callable[[], Any]]
    nbytes: int


def of_layer(case: Case) -> Iterator[Measure]:
    """The forward and the backward pass of a layer."""
    rng = np.random.default_rng(0)
    feeds = {"x": rng.standard_normal((case.rows, *case.shapes[0]), np.float32)}
    if case.classes:
        feeds["label"] = rng.integers(0, case.classes, case.rows)
    net = pl.Net(pl.loads(case.text))
    result = net.forward(feeds, step=0)["last"]
    slope = rng.standard_normal(result.shape, np.float32)
    net.backward(**({} if case.classes else {"gradients": {"last": slope}}))
    plan = net.plan("train")
    forward: dict[str, Callable[[], Any]] = {"ours": plan.forward}
    backward: dict[str, Callable[[], Any]] = {"ours": plan.backward}
    layouts = [torch.contiguous_format, *([torch.channels_last] if len(case.shapes[0]) == 3 else [])]
    for layout in layouts:
        forward[str(layout)], backward[str(layout)] = theirs(case, feeds, slope, layout)
    size = {"x": feeds["x"].nbytes, "y": result.nbytes if not case.classes else 0}
    again = sum(size.get(name, 0) for name in net.network["last"].definition.facts.back_reads)
    yield Measure(f"{case.name}, forward", forward, sum(size.values()))
    yield Measure(f"{case.name}, backward", backward, sum(size.values()) + again)


def theirs(case: Case, feeds: Any, slope: Any, layout: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """The passes of torch."""
    x = torch.from_numpy(feeds["x"]).contiguous(memory_format=layout).requires_grad_()
    leaves = [x, *(torch.rand(shape, requires_grad=True) for shape in case.shapes[1:])]
    inputs = [*leaves, *([torch.from_numpy(feeds["label"])] if case.classes else [])]
    y = case.compute(*inputs)
    delta = torch.ones_like(y) if case.classes else torch.from_numpy(slope).reshape(y.shape)
    if y.dim() == 4:
        delta = delta.contiguous(memory_format=layout)
    return lambda: case.compute(*inputs), lambda: torch.autograd.grad(y, leaves, delta, retain_graph=True)


def of_optimizers(width: int) -> Iterator[Measure]:
    """Steps over the parameters of a ResNet-50 of a width."""
    network = pl.loads(residual_texts(width))
    for name, settings, make in OPTIMIZERS:
        net = pl.Net(network)
        definition = registries["optimizer"][name]
        updater = Updater(definition, definition.bind(settings), net)
        net.arena.gradients.write(np.float32(1e-3))
        shapes = [parameter.shape for parameter in net.arena.trained]
        sides: dict[str, Callable[[], Any]] = {"ours": lambda updater=updater: updater.step(1e-4, 7)}
        for how in ({"foreach": True}, {"fused": True}):
            if "fused" in how and name == "rmsprop":
                continue
            values = [torch.zeros(shape, requires_grad=True) for shape in shapes]
            for value in values:
                value.grad = torch.full_like(value, 1e-3)
            sides[next(iter(how))] = make(values, **how).step
        numbers = sum(map(math.prod, shapes))
        yield Measure(f"{name}, {numbers} numbers", sides, 4 * numbers * (3 + 2 * len(definition.states)))


def measures(names: list[str]) -> Iterator[Measure]:
    """What is measured, one at a time: the large ones take some memory."""
    for case in (*SMALL, *LARGE):
        if not names or any(part in case.name for part in names):
            yield from of_layer(case)
    for width in (8, 64):
        for measure in of_optimizers(width):
            if not names or any(part in measure.name for part in names):
                yield measure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="cases whose name contains one of these; all if none")
    parser.add_argument("--rounds", type=int, default=15, help="blocks on each side")
    parser.add_argument("--threads", type=int, default=0, help="threads of both sides; what each chooses if 0")
    parser.add_argument("--best", action="store_true", help="the best block by processor time, of one thread")
    options = parser.parse_args()
    if options.threads or options.best:
        set_threads(1 if options.best else options.threads)
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads; microseconds\n")
    print(f"{'':48}{'ours':>10}{'torch':>10}{'ratio':>8}{'GB/s':>8}")
    for name, sides, nbytes in measures(options.names):
        timed = {side: Timed(run, lambda: None) for side, run in sides.items()}
        of, clock = (min, time.thread_time) if options.best else (statistics.median, time.perf_counter)
        found = compare(timed, rounds=options.rounds, seconds=BLOCK, of=of, clock=clock)
        mine, its = found.pop("ours"), min(found.values())
        print(f"{name:48}{mine * 1e6:10.0f}{its * 1e6:10.0f}{its / mine:8.2f}{nbytes / mine / 1e9:8.1f}", flush=True)


if __name__ == "__main__":
    main()
