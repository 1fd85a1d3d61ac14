"""Time of a training step of costs over large vocabularies, against the number of classes.

python -m tests.benchmarks.bench_vocabularies
"""

from __future__ import annotations

import time

import numpy as np

import paddle_layers as pl

ROWS, WIDTH = 256, 128
CLASSES = (10_000, 1_000_000)
SETTINGS = {
    "nce": "nce { num_neg_samples: 20 }",
    "nce, shared": "nce { num_neg_samples: 20 shared: true }",
    "sampled_softmax": "sampled_softmax { num_neg_samples: 20 }",
    "hsigmoid": "",
    "softmax": "",
}


def network(name: str, classes: int) -> pl.Network:
    """A table of the classes as inputs, and the cost."""
    kind = name.partition(",")[0]
    cost = f'layer {{ name: "cost" type: "{kind}" input: "x" input: "label" {SETTINGS[name]} }}'
    if name == "softmax":
        cost = f"""layer {{ name: "scores" type: "fc" input: "x" fc {{ size: {classes} }} }}
        layer {{ name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }}"""
    return pl.loads(f"""
    layer {{ name: "word" type: "data" data {{ data_type: INT size: {classes} }} }}
    layer {{ name: "label" type: "data" data {{ data_type: INT size: {classes} }} }}
    layer {{ name: "x" type: "embedding" input: "word" embedding {{ size: {WIDTH} }} }}
    {cost}
    """)


def fastest(name: str, classes: int, steps: int) -> float:
    """Seconds of the fastest of some steps: both passes and the update."""
    rng, times = np.random.default_rng(0), []
    with pl.Net(network(name, classes), seed=1) as net:
        optimizer = pl.Optimizer(net, "adagrad")
        for step in range(steps):
            words = (classes ** rng.random((2, ROWS))).astype(np.int64) - 1  # frequent ones first, as in texts
            begin = time.perf_counter()
            net.forward({"word": words[0], "label": words[1]}, step=step)
            net.backward()
            optimizer.step(0.05)
            times.append(time.perf_counter() - begin)
    return min(times[2:])


def main() -> None:
    """Print a line for each cost; the full softmax has the smaller vocabulary only."""
    print(f"{'milliseconds a step':20}" + "".join(f"{classes:>12,}" for classes in CLASSES))
    for name in SETTINGS:
        known = CLASSES[:1] if name == "softmax" else CLASSES
        found = [fastest(name, classes, 12 if name == "softmax" else 60) * 1000 for classes in known]
        print(f"{name:20}" + "".join(f"{one:12.2f}" for one in found))


if __name__ == "__main__":
    main()
