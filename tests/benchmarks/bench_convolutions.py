"""Each pass of convolutions side by side with PyTorch's, eager and channels_last: above 1, this library is faster.

    python -m tests.benchmarks.bench_convolutions [--rounds 15] [--threads 1] [--best] [NAME ...]

PyTorch must be installed. Only the kernels are timed: forward, the gradient of the input, that of the filters; sides
take turns in short blocks. GF/s are useful operations, so that Winograd's may be beyond the peak of the machine.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

import paddle_layers as pl

from .bench_kernels import set_threads
from .timing import Timed, compare

BLOCK = 0.004
"""Seconds of a block."""
PASSES = {"y": "forward", "dx": "input", "dweight": "filters"}
"""What a launch's name ends in, and what the table calls it."""


class Shape(NamedTuple):
    """A convolution of square images, or a transposed one."""

    rows: int
    channels: int
    side: int
    filters: int
    size: int
    stride: int = 1
    padding: int = 0
    groups: int = 1
    transposed: bool = False

    @property
    def name(self) -> str:
        """As the table shows it."""
        step = f" s{self.stride}" if self.stride > 1 else ""
        groups = f" g{self.groups}" if self.groups > 1 else ""
        kind = "^T" if self.transposed else ""
        channels = f"{self.channels}-{self.filters}"
        return f"{self.size}x{self.size}{kind}{step}{groups} {channels}, {self.rows}x{self.side}x{self.side}"

    @property
    def layer(self) -> str:
        """The type of the layer."""
        return "conv_trans" if self.transposed else "conv"


SHAPES = [
    Shape(4, 64, 56, 64, 3, padding=1),
    Shape(4, 128, 28, 128, 3, padding=1),
    Shape(4, 256, 14, 256, 3, padding=1),
    Shape(4, 512, 7, 512, 3, padding=1),
    Shape(4, 64, 56, 128, 3, stride=2, padding=1),
    Shape(4, 64, 56, 128, 1, stride=2),
    Shape(4, 64, 56, 256, 1),
    Shape(4, 256, 56, 64, 1),
    Shape(4, 256, 14, 1024, 1),
    Shape(4, 2048, 7, 512, 1),
    Shape(4, 3, 224, 64, 7, stride=2, padding=3),
    Shape(4, 3, 227, 96, 11, stride=4),
    Shape(4, 96, 27, 256, 5, padding=2, groups=2),
    Shape(64, 20, 12, 50, 5),
    Shape(4, 64, 56, 64, 3, padding=1, groups=64),
    Shape(4, 512, 14, 512, 3, padding=1, groups=512),
    Shape(4, 64, 112, 64, 3, stride=2, padding=1, groups=64),
    Shape(1, 64, 56, 64, 3, padding=1),
    Shape(1, 256, 14, 256, 3, padding=1),
    Shape(1, 512, 7, 2048, 1),
    Shape(4, 128, 28, 64, 2, stride=2, transposed=True),
    Shape(4, 64, 56, 32, 2, stride=2, transposed=True),
    Shape(16, 100, 1, 512, 4, transposed=True),
    Shape(16, 512, 4, 256, 4, stride=2, padding=1, transposed=True),
    Shape(16, 256, 8, 128, 4, stride=2, padding=1, transposed=True),
    Shape(16, 128, 16, 64, 4, stride=2, padding=1, transposed=True),
    Shape(16, 64, 32, 3, 4, stride=2, padding=1, transposed=True),
    Shape(4, 64, 28, 64, 3, padding=1, transposed=True),
    Shape(4, 21, 28, 21, 4, stride=2, padding=1, groups=21, transposed=True),
]


def mine(shape: Shape) -> tuple[pl.Net, dict[str, Callable[[], Any]], Any, Any]:
    """A net, its launches by pass, and what was fed."""
    network = pl.loads(f"""
    layer {{ name: "x" type: "data" data {{ shape: [{shape.channels}, {shape.side}, {shape.side}] }} }}
    layer {{ name: "c" type: "{shape.layer}" input: "x" propagate_down: true {shape.layer} {{
        num_filters: {shape.filters} filter_size: {shape.size} stride: {shape.stride} padding: {shape.padding}
        groups: {shape.groups} bias: false }} }}""")
    rng = np.random.default_rng(0)
    x = rng.standard_normal((shape.rows, shape.channels, shape.side, shape.side), np.float32)
    net = pl.Net(network, dtype="float32")
    dy = rng.standard_normal(net.forward({"x": x}, phase="train")["c"].shape, np.float32)
    net.backward(gradients={"c": dy})
    plan = net.plan("train")
    spans: dict[str, tuple[int, int]] = {}
    for at, launch in enumerate(plan.launches):
        kind = launch.name.rpartition("_")[2]
        if launch.op == "c" and kind in PASSES:
            spans[kind] = (spans.get(kind, (at, at))[0], at + 1)
    return net, {kind: lambda span=span: plan.table.run(*span) for kind, span in spans.items()}, x, dy


def theirs(shape: Shape, x: Any, dy: Any, kind: str, layout: Any) -> Callable[[], Any]:
    """The same pass of PyTorch's, with everything in its layout already."""
    rng = np.random.default_rng(1)
    outer, inner = (shape.filters, shape.channels)[:: -1 if shape.transposed else 1]
    weight = rng.standard_normal((outer, inner // shape.groups, shape.size, shape.size), np.float32)
    x, dy, weight = (torch.from_numpy(array).contiguous(memory_format=layout) for array in (x, dy, weight))
    step, border = [shape.stride] * 2, [shape.padding] * 2
    if kind == "y" and shape.transposed:
        return torch.no_grad()(lambda: torch.conv_transpose2d(x, weight, None, step, border, 0, shape.groups))
    if kind == "y":
        return torch.no_grad()(lambda: torch.conv2d(x, weight, None, step, border, 1, shape.groups))
    wanted = [kind == "dx", kind == "dweight", False]
    backward = torch.ops.aten.convolution_backward
    return lambda: backward(dy, x, weight, None, step, border, [1, 1], shape.transposed, [0, 0], shape.groups, wanted)


def measured(shape: Shape, rounds: int, best: bool) -> Iterator[str]:
    """A column for each pass: GF/s and the two ratios."""
    net, launches, x, dy = mine(shape)
    with net:
        pixels, others = (x.size, shape.filters) if shape.transposed else (dy.size, shape.channels)
        operations = 2 * pixels * others // shape.groups * shape.size**2
        for kind in PASSES:
            sides = {"ours": Timed(launches[kind], lambda: None)}
            for layout in (torch.contiguous_format, torch.channels_last):
                sides[str(layout)] = Timed(theirs(shape, x, dy, kind, layout), lambda: None)
            of, clock = (min, time.thread_time) if best else (statistics.median, time.perf_counter)
            own, eager, last = compare(sides, rounds=rounds, seconds=BLOCK, of=of, clock=clock).values()
            yield f"{operations / own / 1e9:8.0f}{eager / own:7.2f}{last / own:7.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="shapes whose name contains one of these; all if none")
    parser.add_argument("--rounds", type=int, default=15, help="blocks on each side")
    parser.add_argument("--threads", type=int, default=0, help="threads of both sides; what each chooses if 0")
    parser.add_argument("--best", action="store_true", help="the best block by processor time, of one thread")
    options = parser.parse_args()
    if options.threads or options.best:
        set_threads(1 if options.best else options.threads)
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads; GF/s, ratios to eager and channels_last\n")
    print(" " * 34 + "".join(f"{name:>22}" for name in PASSES.values()))
    for shape in SHAPES:
        if not options.names or any(part in shape.name for part in options.names):
            print(f"{shape.name:34}", *measured(shape, options.rounds, options.best), sep="", flush=True)


if __name__ == "__main__":
    main()
