"""Steps and layers side by side with PyTorch on this machine's CPU, as ratios: above 1, this library is faster.

    python tests/benchmarks/bench_kernels.py [--rounds 15] [NAME ...]

PyTorch must be installed; nothing else here needs it. The two sides take turns in short blocks within one process, so
that a busy machine slows both; every figure is the median over the blocks. A step of training is forward, backward
and SGD with momentum; a layer is forward and backward with the gradients of weights and input.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

import paddle_layers as pl
from paddle_layers.define import registries
from paddle_layers.runtime.elementwise import Updater

F = torch.nn.functional
Run = Callable[[], object]
BLOCK = 0.004
"""Seconds of a block."""
PAUSE = 0.004
"""Seconds before a block, in which the other side's threads go to sleep."""


class Figure(NamedTuple):
    """Median microseconds of a run on both sides."""

    ours: float
    theirs: float


def block(run: Run) -> float:
    """Seconds of one run, over a short block of them."""
    time.sleep(PAUSE)
    run()
    count, start = 0, time.perf_counter()
    while (passed := time.perf_counter() - start) < BLOCK or count == 0:
        run()
        count += 1
    return passed / count


def compare(ours: Run, theirs: Run, rounds: int) -> Figure:
    """Both sides in turns."""
    block(ours)
    block(theirs)
    pairs = [(block(ours), block(theirs)) for _ in range(rounds)]
    return Figure(*(statistics.median(times) * 1e6 for times in zip(*pairs, strict=True)))


# ---- whole networks

DATA = """
layer {{ name: "x" type: "data" data {{ shape: {shape} }} }}
layer {{ name: "label" type: "data" data {{ data_type: INT size: 10 }} }}
"""
LOSS = 'layer { name: "cost" type: "softmax_with_loss" input: "last" input: "label" }\n'
LENET = """
layer { name: "conv1" type: "conv" input: "x" conv { num_filters: 20 filter_size: 5 } }
layer { name: "pool1" type: "pool" input: "conv1" pool { pool_size: 2 stride: 2 } }
layer { name: "conv2" type: "conv" input: "pool1" conv { num_filters: 50 filter_size: 5 } }
layer { name: "pool2" type: "pool" input: "conv2" pool { pool_size: 2 stride: 2 } }
layer { name: "fc1" type: "fc" input: "pool2" fc { size: 500 act: "relu" } }
layer { name: "last" type: "fc" input: "fc1" fc { size: 10 } }
"""
MLP = """
layer { name: "fc1" type: "fc" input: "x" fc { size: 1024 act: "relu" } }
layer { name: "fc2" type: "fc" input: "fc1" fc { size: 1024 act: "relu" } }
layer { name: "last" type: "fc" input: "fc2" fc { size: 10 } }
"""


def torch_lenet() -> torch.nn.Module:
    nn = torch.nn
    first = [nn.Conv2d(1, 20, 5), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5), nn.MaxPool2d(2), nn.Flatten()]
    return nn.Sequential(*first, nn.Linear(800, 500), nn.ReLU(), nn.Linear(500, 10))


def torch_mlp() -> torch.nn.Module:
    nn = torch.nn
    return nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))


def network(layers: str, module: torch.nn.Module, shape: tuple[int, ...], rows: int, train: bool) -> tuple[Run, Run]:
    """A step of training, or the outputs of a batch, on both sides."""
    rng = np.random.default_rng(0)
    x, label = rng.standard_normal((rows, *shape), np.float32), rng.integers(0, 10, rows)
    text = DATA.format(shape=list(shape)) + layers + (LOSS if train else "")
    net = pl.Net(pl.loads(text), batch_size=rows)
    sgd = registries["optimizer"]["sgd"]
    updater = Updater(sgd, sgd.bind({"momentum": 0.9}), net)
    other = torch.optim.SGD(module.parameters(), 0.01, momentum=0.9, fused=True)
    given, wanted = torch.from_numpy(x), torch.from_numpy(label)
    count = 0

    def our_step() -> None:
        nonlocal count
        count += 1
        net.forward({"x": x, "label": label}, step=count)
        net.backward()
        updater.step(1e-4, count)

    def their_step() -> None:
        other.zero_grad(set_to_none=True)
        loss: Any = F.cross_entropy(module(given), wanted)
        loss.backward()
        other.step()

    def our_outputs() -> None:
        net.forward({"x": x, "label": label}, phase="test")

    def their_outputs() -> None:
        with torch.inference_mode():
            module(given)

    return (our_step, their_step) if train else (our_outputs, their_outputs)


# ---- single layers


def single(layer: str, shape: tuple[int, ...], rows: int, module: torch.nn.Module) -> tuple[Run, Run]:
    """Forward and backward of one layer on both sides, with the gradient of the input."""
    x = np.random.default_rng(0).standard_normal((rows, *shape), np.float32)
    text = (
        f'layer {{ name: "x" type: "data" data {{ shape: {list(shape)} }} }}\nlayer {{ name: "it" input: "x" {layer} }}'
    )
    net = pl.Net(pl.loads(text.replace('name: "it"', 'name: "it" propagate_down: true')), batch_size=rows)
    slope = {"it": np.ones_like(net.forward({"x": x}, step=0)["it"])}
    given = torch.from_numpy(x).requires_grad_()
    theirs = torch.ones_like(module(given))

    def our_layer() -> None:
        net.forward({"x": x}, step=0)
        net.backward(gradients=slope)

    def their_layer() -> None:
        given.grad = None
        module.zero_grad(set_to_none=True)
        module(given).backward(theirs)

    return our_layer, their_layer


def conv(rows: int, channels: int, side: int, filters: int, size: int, **more: int) -> tuple[Run, Run]:
    attributes = " ".join(f"{name}: {value}" for name, value in more.items())
    text = f'type: "conv" conv {{ num_filters: {filters} filter_size: {size} {attributes} }}'
    make: Any = torch.nn.Conv2d
    return single(text, (channels, side, side), rows, make(channels, filters, size, **more))


def pool(rows: int, channels: int, side: int, size: int, kind: str) -> tuple[Run, Run]:
    text = f'type: "pool" pool {{ pool_type: {kind} pool_size: {size} stride: 2 rounding: FLOOR }}'
    module = torch.nn.MaxPool2d(size, 2) if kind == "MAX" else torch.nn.AvgPool2d(size, 2)
    return single(text, (channels, side, side), rows, module)


CASES: dict[str, Callable[[], tuple[Run, Run]]] = {
    "LeNet 28x28, batch 64, training": lambda: network(LENET, torch_lenet(), (1, 28, 28), 64, True),
    "LeNet 28x28, batch 64, outputs": lambda: network(LENET, torch_lenet(), (1, 28, 28), 64, False),
    "LeNet 28x28, batch 1, outputs": lambda: network(LENET, torch_lenet(), (1, 28, 28), 1, False),
    "MLP 784-1024-1024-10, batch 128, training": lambda: network(MLP, torch_mlp(), (784,), 128, True),
    "MLP 784-1024-1024-10, batch 128, outputs": lambda: network(MLP, torch_mlp(), (784,), 128, False),
    "MLP 784-1024-1024-10, batch 1, outputs": lambda: network(MLP, torch_mlp(), (784,), 1, False),
    "conv 5x5 20-50, 64x12x12": lambda: conv(64, 20, 12, 50, 5),
    "conv 3x3 64-64, 16x28x28": lambda: conv(16, 64, 28, 64, 3, padding=1),
    "conv 1x1 256-64, 16x28x28": lambda: conv(16, 256, 28, 64, 1),
    "conv 3x3 depthwise 64, 16x28x28": lambda: conv(16, 64, 28, 64, 3, padding=1, groups=64),
    "conv 7x7 stride 2 3-32, 8x112x112": lambda: conv(8, 3, 112, 32, 7, padding=3, stride=2),
    "maximum pool 2x2, 64x20x24x24": lambda: pool(64, 20, 24, 2, "MAX"),
    "maximum pool 3x3, 16x64x55x55": lambda: pool(16, 64, 55, 3, "MAX"),
    "average pool 2x2, 64x20x24x24": lambda: pool(64, 20, 24, 2, "AVERAGE"),
    "batch norm 16x64x28x28": lambda: single('type: "batch_norm"', (64, 28, 28), 16, torch.nn.BatchNorm2d(64)),
    "batch norm 128x512": lambda: single('type: "batch_norm"', (512,), 128, torch.nn.BatchNorm1d(512)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="cases whose name contains one of these; all if none")
    parser.add_argument("--rounds", type=int, default=15, help="blocks on each side")
    parser.add_argument("--threads", type=int, default=0, help="threads of both sides; what each chooses if 0")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
        pl_threads(options.threads)
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads; microseconds\n")
    print(f"{'':44}{'ours':>10}{'torch':>10}{'ratio':>8}")
    for name, make in CASES.items():
        if not options.names or any(part in name for part in options.names):
            figure = compare(*make(), options.rounds)
            print(f"{name:44}{figure.ours:10.0f}{figure.theirs:10.0f}{figure.theirs / figure.ours:8.2f}", flush=True)


def pl_threads(count: int) -> None:
    """Threads of this library."""
    import numba

    numba.set_num_threads(count)


if __name__ == "__main__":
    main()
