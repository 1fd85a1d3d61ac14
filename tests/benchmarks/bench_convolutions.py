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
    """A convolution of lines, square images or cubes, or a transposed one."""

    rows: int
    channels: int
    side: int
    filters: int
    size: int
    stride: int = 1
    padding: int = 0
    groups: int = 1
    transposed: bool = False
    rank: int = 2

    @property
    def name(self) -> str:
        """As the table shows it."""
        step = f" s{self.stride}" if self.stride > 1 else ""
        groups = f" g{self.groups}" if self.groups > 1 else ""
        size, kind = "x".join([str(self.size)] * self.rank), "^T" if self.transposed else ""
        return f"{size}{kind}{step}{groups} {self.channels}-{self.filters}, {'x'.join(map(str, self.shape))}"

    @property
    def shape(self) -> list[int]:
        """That of the batch, less its channels."""
        return [self.rows, *[self.side] * self.rank]

    @property
    def layer(self) -> str:
        """The type of the layer."""
        return f"conv{'' if self.rank == 2 else f'{self.rank}d'}{'_trans' if self.transposed else ''}"

    @property
    def layouts(self) -> list[torch.memory_format]:
        """Those that PyTorch has for it, the usual one first."""
        last = {2: [torch.channels_last], 3: [torch.channels_last_3d]}
        return [torch.contiguous_format, *last.get(self.rank, [])]


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
    Shape(4, 3, 224, 384, 16, stride=16),
    Shape(4, 3, 224, 96, 4, stride=4),
    Shape(4, 96, 56, 192, 2, stride=2),
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
    Shape(1, 3, 32, 32, 3, padding=1, rank=3),
    Shape(2, 32, 16, 64, 3, padding=1, rank=3),
    Shape(4, 64, 8, 128, 3, padding=1, rank=3),
    Shape(4, 64, 16, 64, 3, stride=2, padding=1, rank=3),
    Shape(4, 64, 16, 64, 1, rank=3),
    Shape(4, 3, 24, 32, 5, stride=2, padding=2, rank=3),
    Shape(4, 64, 8, 32, 2, stride=2, transposed=True, rank=3),
    Shape(4, 64, 8, 32, 4, stride=2, padding=1, transposed=True, rank=3),
    Shape(16, 64, 512, 64, 3, padding=1, rank=1),
    Shape(16, 64, 512, 128, 9, stride=4, padding=4, rank=1),
    Shape(16, 1, 4096, 32, 25, stride=4, padding=12, rank=1),
    Shape(16, 64, 256, 32, 4, stride=2, padding=1, transposed=True, rank=1),
]


def mine(shape: Shape) -> tuple[pl.Net, dict[str, Callable[[], Any]], Any, Any]:
    """A net, its launches by pass, and what was fed."""
    network = pl.loads(f"""
    layer {{ name: "x" type: "data" data {{ shape: {[shape.channels, *shape.shape[1:]]} }} }}
    layer {{ name: "c" type: "{shape.layer}" input: "x" propagate_down: true {shape.layer} {{
        num_filters: {shape.filters} filter_size: {shape.size} stride: {shape.stride} padding: {shape.padding}
        groups: {shape.groups} bias: false }} }}""")
    rng = np.random.default_rng(0)
    x = rng.standard_normal((shape.rows, shape.channels, *shape.shape[1:]), np.float32)
    net = pl.Net(network, dtype="float32")
    dy = rng.standard_normal(net.forward({"x": x}, phase="train")["c"].shape, np.float32)
    net.backward(gradients={"c": dy})
    plan = net.plan("train")
    spans: dict[str, tuple[int, int]] = {}
    for at, launch in enumerate(plan.launches):
        kind = launch.name.rpartition("_")[2]
        if launch.op.partition(".")[0] == "c" and kind in PASSES:
            spans[kind] = (spans.get(kind, (at, at))[0], at + 1)
    return net, {kind: lambda span=span: plan.table.run(*span) for kind, span in spans.items()}, x, dy


def theirs(shape: Shape, x: Any, dy: Any, kind: str, layout: Any) -> Callable[[], Any]:
    """The same pass of PyTorch's, with everything in its layout already."""
    rng = np.random.default_rng(1)
    outer, inner = (shape.filters, shape.channels)[:: -1 if shape.transposed else 1]
    weight = rng.standard_normal((outer, inner // shape.groups, *[shape.size] * shape.rank), np.float32)
    x, dy, weight = (torch.from_numpy(array).contiguous(memory_format=layout) for array in (x, dy, weight))
    step, border, none, ones = ([number] * shape.rank for number in (shape.stride, shape.padding, 0, 1))
    how = (step, border, ones, shape.transposed, none, shape.groups)
    if kind == "y":
        return torch.no_grad()(lambda: torch.convolution(x, weight, None, *how))
    wanted = [kind == "dx", kind == "dweight", False]
    return lambda: torch.ops.aten.convolution_backward(dy, x, weight, None, *how, wanted)


def measured(shape: Shape, rounds: int, best: bool) -> Iterator[str]:
    """A column for each pass: GF/s and the two ratios."""
    net, launches, x, dy = mine(shape)
    with net:
        pixels, depth = (x.size, shape.filters) if shape.transposed else (dy.size, shape.channels)
        operations = 2 * pixels * depth // shape.groups * shape.size**shape.rank
        for kind in PASSES:
            sides = {"ours": Timed(launches[kind], lambda: None)}
            for layout in shape.layouts:
                sides[str(layout)] = Timed(theirs(shape, x, dy, kind, layout), lambda: None)
            of, clock = (min, time.thread_time) if best else (statistics.median, time.perf_counter)
            own, *others = compare(sides, rounds=rounds, seconds=BLOCK, of=of, clock=clock).values()
            yield f"{operations / own / 1e9:8.0f}" + "".join(f"{other / own:7.2f}" for other in (others * 2)[:2])


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
    print(" " * 38 + "".join(f"{name:>22}" for name in PASSES.values()))
    for shape in SHAPES:
        if not options.names or any(part in shape.name for part in options.names):
            print(f"{shape.name:38}", *measured(shape, options.rounds, options.best), sep="", flush=True)


if __name__ == "__main__":
    main()
