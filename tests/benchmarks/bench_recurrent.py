"""Recurrent layers side by side with PyTorch on this machine's CPU, as ratios: above 1, this library is faster.

    python -m tests.benchmarks.bench_recurrent [--rounds 15] [--threads 2] [NAME ...]

A step is forward and backward with all gradients, the map of the input included: fc and the recurrent layer against
PyTorch's module. Batches have 64 sequences, packed in PyTorch where the lengths differ; the layers here never pad.
With one thread the processor's time counts, so that others may use the machine.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

import paddle_layers as pl
from paddle_layers.runtime import Sequences

from .bench_kernels import set_threads
from .timing import Timed, compare

SEQUENCES = 64
LENGTHS = {
    "1 to 200": np.random.default_rng(0).integers(1, 201, SEQUENCES),
    "all 100": np.full(SEQUENCES, 100),
}
UNITS = (128, 256)
LAYERS = {
    "lstmemory": (4, "peepholes: false", torch.nn.LSTM),
    "grumemory": (3, "reset_after: true", torch.nn.GRU),
    "recurrent": (1, "", torch.nn.RNN),
}
"""Gates, settings, PyTorch's module."""
SECONDS = 0.05
"""Of a block."""


def ours(kind: str, units: int, lengths: Any) -> Timed:
    """A step of fc and the layer."""
    gates, settings, _ = LAYERS[kind]
    text = f"""
    layer {{ name: "x" type: "data" data {{ shape: {units} seq_nested_level: 1 }} }}
    layer {{ name: "sums" type: "fc" input: "x" propagate_down: true fc {{ size: {gates * units} bias: false }} }}
    layer {{ name: "y" type: "{kind}" input: "sums" {kind} {{ {settings} }} }}
    """
    return stepped(text, units, lengths)


def stepped(text: str, units: int, lengths: Any) -> Timed:
    """A step of a network from the sequences `x` to the sequences `y`."""
    net, starts = pl.Net(pl.loads(text)), np.cumsum([0, *lengths])
    rows = np.random.default_rng(1).standard_normal((starts[-1], units), np.float32)
    feeds, slope = {"x": Sequences(rows, starts)}, {"y": np.ones_like(rows)}

    def step() -> None:
        net.forward(feeds, step=0)
        net.backward(gradients=slope)

    return Timed(step, net.synchronise)


def theirs(kind: str, units: int, lengths: Any) -> Timed:
    """A step of PyTorch's module; equal lengths need no packing."""
    module = LAYERS[kind][2](units, units)
    batch = torch.randn(int(lengths.max()), SEQUENCES, units, requires_grad=True)
    equal, sizes = bool((lengths == lengths[0]).all()), torch.from_numpy(lengths)

    def step() -> None:
        batch.grad = None
        module.zero_grad()
        if equal:
            y = module(batch)[0]
        else:
            y = module(torch.nn.utils.rnn.pack_padded_sequence(batch, sizes, enforce_sorted=False))[0].data
        y.backward(torch.ones_like(y))

    return Timed(step, lambda: None)


def our_group(units: int, lengths: Any) -> Timed:
    """The same unit as a recurrent group of lstm_step, as one would write a recurrent network of one's own."""
    text = f"""
    layer {{ name: "x" type: "data" data {{ shape: {units} seq_nested_level: 1 }} }}
    layer {{ name: "y" type: "recurrent_group" input: "x" propagate_down: true step {{
      layer {{ name: "h" type: "memory" memory {{ of: "new" size: {units} }} }}
      layer {{ name: "c" type: "memory" memory {{ of: "new.state" size: {units} }} }}
      layer {{ name: "sums" type: "fc" input: "x" input: "h" fc {{ size: {4 * units} bias: false }} }}
      layer {{ name: "new" type: "lstm_step" input: "sums" input: "c" lstm_step {{ peepholes: false }} }}
      output: "new"
    }} }}
    """
    return stepped(text, units, lengths)


def their_loop(units: int, lengths: Any) -> Timed:
    """PyTorch's cell in a loop over the steps of sequences sorted by length: no padding there either."""
    cell, ordered = torch.nn.LSTMCell(units, units), np.sort(lengths)[::-1]
    counts = [int((ordered > step).sum()) for step in range(int(ordered[0]))]
    batch = torch.randn(len(counts), SEQUENCES, units, requires_grad=True)

    def step() -> None:
        batch.grad = None
        cell.zero_grad()
        h = c = torch.zeros(SEQUENCES, units)
        outputs = []
        for rows, count in zip(batch, counts, strict=True):
            h, c = cell(rows[:count], (h[:count], c[:count]))
            outputs.append(h)
        y = torch.cat(outputs)
        y.backward(torch.ones_like(y))

    return Timed(step, lambda: None)


def cases() -> Iterator[tuple[str, Callable[[], dict[str, Timed]]]]:
    """Names, and what makes both sides."""
    for kind in LAYERS:
        for units, (words, lengths) in itertools.product(UNITS, LENGTHS.items()):
            given = (kind, units, lengths)
            yield f"{kind}, {units} units, lengths {words}", lambda g=given: {"ours": ours(*g), "torch": theirs(*g)}
    mixed = LENGTHS["1 to 200"]
    for units in UNITS:
        both = (units, mixed)
        yield (
            f"recurrent_group, {units} units, lengths 1 to 200",
            lambda b=both: {"ours": our_group(*b), "torch": their_loop(*b)},
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="cases whose name contains one of these; all if none")
    parser.add_argument("--rounds", type=int, default=15, help="blocks on each side")
    parser.add_argument("--threads", type=int, default=2, help="threads of both sides")
    options = parser.parse_args()
    set_threads(options.threads)
    clock = time.process_time if options.threads == 1 else time.perf_counter
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads; milliseconds\n")
    print(f"{'':44}{'ours':>10}{'torch':>10}{'ratio':>8}")
    for name, sides in cases():
        if not options.names or any(part in name for part in options.names):
            mine, its = compare(sides(), rounds=options.rounds, seconds=SECONDS, clock=clock).values()
            print(f"{name:44}{mine * 1e3:10.1f}{its * 1e3:10.1f}{its / mine:8.2f}", flush=True)


if __name__ == "__main__":
    main()
