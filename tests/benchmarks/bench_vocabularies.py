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
    "two tiers": "",
    "softmax": "",
}
FREQUENT = 20
"""One of so many classes is frequent where there are two tiers."""
TIERS = """
layer {{ name: "is_rare" type: "data" data {{ data_type: INT size: 2 }} }}
layer {{ name: "rare" type: "data" data {{ data_type: INT size: {rare} }} }}
layer {{ name: "head" type: "fc" input: "x" fc {{ size: {labels} bias: false }} }}
layer {{ name: "cost" type: "softmax_with_loss" input: "head" input: "label" }}
layer {{ name: "kept" type: "filter" input: "x" input: "is_rare" }}
layer {{ name: "rare_label" type: "filter_ids" input: "rare" input: "is_rare" }}
layer {{ name: "narrow" type: "fc" input: "kept" fc {{ size: 32 bias: false }} }}
layer {{ name: "tail" type: "fc" input: "narrow" fc {{ size: {rare} bias: false }} }}
layer {{ name: "rare_cost" type: "softmax_with_loss" input: "tail" input: "rare_label" loss_weight: 0 }}
layer {{ name: "column" type: "reshape" input: "rare_cost" reshape {{ dims: 1 }} }}
layer {{ name: "sum" type: "seq_avg_pool" input: "column" seq_avg_pool {{ strategy: SUM }} }}
layer {{ name: "tail_cost" type: "sum_cost" input: "sum" }}
"""


def network(name: str, classes: int) -> pl.Network:
    """A table of the classes as inputs, and the cost."""
    kind, labels = name.partition(",")[0], classes
    cost = f'layer {{ name: "cost" type: "{kind}" input: "x" input: "label" {SETTINGS[name]} }}'
    if name == "softmax":
        cost = f"""layer {{ name: "scores" type: "fc" input: "x" fc {{ size: {classes} }} }}
        layer {{ name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }}"""
    if name == "two tiers":
        labels = classes // FREQUENT + 1
        cost = TIERS.format(labels=labels, rare=classes - classes // FREQUENT)
    return pl.loads(f"""
    layer {{ name: "word" type: "data" data {{ data_type: INT size: {classes} }} }}
    layer {{ name: "label" type: "data" data {{ data_type: INT size: {labels} }} }}
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
            feeds = {"word": words[0], "label": words[1]}
            if name == "two tiers":
                first = classes // FREQUENT
                feeds |= {"label": words[1].clip(max=first), "rare": (words[1] - first).clip(0)}
                feeds["is_rare"] = (words[1] >= first).astype(int)
            begin = time.perf_counter()
            net.forward(feeds, step=step)
            net.backward()
            optimizer.step(0.05)
            times.append(time.perf_counter() - begin)
    return min(times[2:])


def main() -> None:
    """Print a line for each cost; those that look at all classes have the smaller vocabulary only."""
    print(f"{'milliseconds a step':20}" + "".join(f"{classes:>12,}" for classes in CLASSES))
    for name in SETTINGS:
        known, steps = (CLASSES[:1], 12) if name in {"softmax", "two tiers"} else (CLASSES, 60)
        found = [fastest(name, classes, steps) * 1000 for classes in known]
        print(f"{name:20}" + "".join(f"{one:12.2f}" for one in found))


if __name__ == "__main__":
    main()
