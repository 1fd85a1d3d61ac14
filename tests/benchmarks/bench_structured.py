"""crf and ctc beside PyTorch on this machine's CPU, as ratios: above 1, this library is faster.

    python -m tests.benchmarks.bench_structured [--rounds 15] [--threads 1]

A step is forward and backward for 32 sequences of length 1 to 100, with the gradients of scores and weights. Both sides
take turns in short blocks. PyTorch must be installed; it has ctc itself, and crf is one recursion over a padded batch
with autograd.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import paddle_layers as pl
from paddle_layers.runtime import Sequences

from .bench_kernels import set_threads
from .timing import Timed, compare

BLOCK = 0.05
"""Seconds of a block."""
SEQUENCES = 32
LONGEST = 100
TAGS = 20
SYMBOLS = 30
LABELS = 20
"""Most labels of a sequence; shorter ones have one for every two rows."""
Step = Callable[[], float]
"""Gives the mean cost."""


def lengths() -> NDArray[np.int64]:
    """Rows of each sequence; one has a single row, one as many as there may be."""
    return np.random.default_rng(0).permutation(np.linspace(1, LONGEST, SEQUENCES).astype(np.int64))


def sequences(rows: NDArray[Any], counts: NDArray[np.int64]) -> Sequences:
    """The rows as sequences of these lengths."""
    return Sequences(rows, np.cumsum([0, *counts]))


def ours(config: str, feeds: dict[str, Any]) -> Step:
    """A step of a network of one cost."""
    net = pl.Net(pl.loads(config))

    def step() -> float:
        net.forward(feeds)
        net.backward()
        return net.loss

    return step


def padded(rows: NDArray[Any], counts: NDArray[np.int64]) -> torch.Tensor:
    """The rows as one tensor: time, sequence, ..."""
    pieces = [torch.from_numpy(piece) for piece in np.split(rows, np.cumsum(counts)[:-1])]
    return torch.nn.utils.rnn.pad_sequence(pieces)


# ---- crf

CRF = f"""
layer {{ name: "x" type: "data" data {{ shape: {TAGS} seq_nested_level: 1 }} }}
layer {{ name: "label" type: "data" data {{ data_type: INT size: {TAGS} seq_nested_level: 1 }} }}
layer {{ name: "cost" type: "crf" input: "x" propagate_down: true input: "label" propagate_down: false }}
"""


def crf() -> tuple[Step, Step]:
    """Both sides of crf."""
    counts, rng = lengths(), np.random.default_rng(1)
    x = rng.standard_normal((counts.sum(), TAGS), np.float32)
    label = rng.integers(0, TAGS, counts.sum())
    return ours(CRF, {"x": sequences(x, counts), "label": sequences(label, counts)}), torch_crf(x, label, counts)


def torch_crf(x: NDArray[Any], label: NDArray[Any], counts: NDArray[np.int64]) -> Step:
    """The same in PyTorch."""
    scores, tags, steps = padded(x, counts).requires_grad_(), padded(label, counts), torch.from_numpy(counts)
    inside = (torch.arange(LONGEST)[:, None] < steps).float()
    start, end, moves = (torch.zeros(shape, requires_grad=True) for shape in (TAGS, TAGS, (TAGS, TAGS)))

    def partition() -> torch.Tensor:
        alpha = start + scores[0]
        for t in range(1, LONGEST):
            following = torch.logsumexp(alpha[:, :, None] + moves, dim=1) + scores[t]
            alpha = torch.where(inside[t, :, None] > 0, following, alpha)
        return torch.logsumexp(alpha + end, dim=1)

    def score() -> torch.Tensor:
        rows = (scores.gather(2, tags[:, :, None])[:, :, 0] * inside).sum(0)
        between = (moves[tags[:-1], tags[1:]] * inside[1:]).sum(0)
        return rows + between + start[tags[0]] + end[tags[steps - 1, torch.arange(SEQUENCES)]]

    def step() -> float:
        for tensor in (scores, start, end, moves):
            tensor.grad = None
        cost = (partition() - score()).mean()
        cost.backward()
        return cost.item()

    return step


# ---- ctc

CTC = f"""
layer {{ name: "x" type: "data" data {{ shape: {SYMBOLS} seq_nested_level: 1 }} }}
layer {{ name: "label" type: "data" data {{ data_type: INT size: {SYMBOLS} seq_nested_level: 1 }} }}
layer {{
  name: "cost" type: "ctc" input: "x" propagate_down: true input: "label" propagate_down: false
  ctc {{ max_labels: {LABELS} }}
}}
"""


def ctc() -> tuple[Step, Step]:
    """Both sides of ctc."""
    counts, rng = lengths(), np.random.default_rng(2)
    wanted = np.minimum(counts // 2, LABELS)
    x = rng.standard_normal((counts.sum(), SYMBOLS), np.float32)
    label = np.tile(rng.permutation(SYMBOLS - 1) + 1, wanted.sum())[: wanted.sum()]  # no symbol twice running
    return ours(CTC, {"x": sequences(x, counts), "label": sequences(label, wanted)}), torch_ctc(
        x, label, counts, wanted
    )


def torch_ctc(x: NDArray[Any], label: NDArray[Any], counts: NDArray[np.int64], wanted: NDArray[np.int64]) -> Step:
    """The same in PyTorch."""
    scores = padded(x, counts).requires_grad_()
    labels, rows, words = (torch.from_numpy(array) for array in (label, counts, wanted))

    def step() -> float:
        scores.grad = None
        cost = torch.nn.functional.ctc_loss(scores.log_softmax(2), labels, rows, words, reduction="sum") / SEQUENCES
        cost.backward()
        return cost.item()

    return step


CASES = {f"crf, {TAGS} tags": crf, f"ctc, {SYMBOLS} symbols, up to {LABELS} labels": ctc}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="blocks on each side")
    parser.add_argument("--threads", type=int, default=0, help="threads of both sides; what each chooses if 0")
    options = parser.parse_args()
    if options.threads:
        set_threads(options.threads)
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads; microseconds\n")
    print(f"{'':44}{'ours':>10}{'torch':>10}{'ratio':>8}")
    for name, make in CASES.items():
        mine, its = make()
        assert abs(mine() - its()) < 1e-4 * abs(its()), "both sides compute the same cost"
        pair = {"ours": Timed(mine, lambda: None), "torch": Timed(its, lambda: None)}
        here, there = compare(pair, rounds=options.rounds, seconds=BLOCK).values()
        print(f"{name:44}{here * 1e6:10.0f}{there * 1e6:10.0f}{there / here:8.2f}", flush=True)


if __name__ == "__main__":
    main()
