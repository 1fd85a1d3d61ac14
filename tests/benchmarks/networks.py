"""Whole networks for both sides: `module` has the parameters in the order of the text."""

from __future__ import annotations

from typing import Any

from .workloads import Workload


def stack(*layers: str) -> str:
    """The text of layers that follow each other, from `x` to `last`; each is a type and its settings."""
    names = ["x", *(f"layer{place}" for place in range(1, len(layers))), "last"]
    lines = []
    for before, name, described in zip(names, names[1:], layers, strict=False):
        kind, _, settings = described.partition(" ")
        lines.append(f'layer {{ name: "{name}" type: "{kind}" input: "{before}" {kind} {{ {settings} }} }}')
    return "\n".join(lines)


def mlp(rows: int, inputs: int = 784, hidden: int = 1024) -> Workload:
    """Two hidden layers."""

    def module() -> Any:
        from torch import nn

        first = [nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()]
        return nn.Sequential(*first, nn.Linear(hidden, 10))

    text = stack(*[f'fc size: {hidden} act: "relu"'] * 2, "fc size: 10")
    return Workload(f"MLP {inputs}-{hidden}-{hidden}-10, batch {rows}", text, ((inputs,),), rows, module, 10)


def lenet(rows: int, filters: tuple[int, int] = (20, 50), hidden: int = 500, side: int = 28) -> Workload:
    """Caffe's LeNet."""
    left = ((side - 4) // 2 - 4) // 2

    def module() -> Any:
        from torch import nn

        first = [nn.Conv2d(1, filters[0], 5), nn.MaxPool2d(2), nn.Conv2d(*filters, 5), nn.MaxPool2d(2), nn.Flatten()]
        return nn.Sequential(*first, nn.Linear(filters[1] * left**2, hidden), nn.ReLU(), nn.Linear(hidden, 10))

    pool = "pool pool_size: 2 stride: 2"
    convs = [f"conv num_filters: {count} filter_size: 5" for count in filters]
    text = stack(convs[0], pool, convs[1], pool, f'fc size: {hidden} act: "relu"', "fc size: 10")
    return Workload(f"LeNet {side}x{side}, batch {rows}", text, ((1, side, side),), rows, module, 10)


def alexnet(rows: int, divide: int = 1, side: int = 227, classes: int = 1000) -> Workload:
    """AlexNet with groups and local response normalisation; `divide` makes all layers thinner."""
    a, b, c, d, e, hidden = (max(2, count // divide // 2 * 2) for count in (96, 256, 384, 384, 256, 4096))
    left = side // 4
    for _ in range(3):
        left = (left - 3) // 2 + 1

    def module() -> Any:
        from torch import nn

        def lrn() -> Any:
            return nn.LocalResponseNorm(5, 1e-4, 0.75)

        return nn.Sequential(
            *[nn.Conv2d(3, a, 11, 4, 1), nn.ReLU(), lrn(), nn.MaxPool2d(3, 2)],
            *[nn.Conv2d(a, b, 5, padding=2, groups=2), nn.ReLU(), lrn(), nn.MaxPool2d(3, 2)],
            *[nn.Conv2d(b, c, 3, padding=1), nn.ReLU()],
            *[nn.Conv2d(c, d, 3, padding=1, groups=2), nn.ReLU()],
            *[nn.Conv2d(d, e, 3, padding=1, groups=2), nn.ReLU(), nn.MaxPool2d(3, 2)],
            *[nn.Flatten(), nn.Linear(e * left**2, hidden), nn.ReLU(), nn.Dropout()],
            *[nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(), nn.Linear(hidden, classes)],
        )

    lrn, pool = "lrn size: 5 scale: 1e-4", "pool pool_size: 3 stride: 2 rounding: FLOOR"
    same = 'filter_size: 3 padding: 1 act: "relu"'
    text = stack(
        *[f'conv num_filters: {a} filter_size: 11 stride: 4 padding: 1 act: "relu"', lrn, pool],
        *[f'conv num_filters: {b} filter_size: 5 padding: 2 groups: 2 act: "relu"', lrn, pool],
        f"conv num_filters: {c} {same}",
        *[f"conv num_filters: {count} groups: 2 {same}" for count in (d, e)],
        *[pool, *[f'fc size: {hidden} act: "relu" drop_rate: 0.5'] * 2, f"fc size: {classes}"],
    )
    return Workload(f"AlexNet {side}x{side}, batch {rows}", text, ((3, side, side),), rows, module, classes)


RESIDUAL = """
layer {{ name: "conv1" type: "conv" input: "x" conv {{ {conv} }} }}
layer {{ name: "norm1" type: "batch_norm" input: "conv1" batch_norm {{ act: "relu" }} }}
layer {{ name: "conv2" type: "conv" input: "norm1" conv {{ {conv} }} }}
layer {{ name: "norm2" type: "batch_norm" input: "conv2" }}
layer {{ name: "sum" type: "addto" input: "norm2" input: "x" addto {{ act: "relu" }} }}
layer {{ name: "mean" type: "pool" input: "sum" pool {{ pool_type: AVERAGE global_pooling: true }} }}
layer {{ name: "last" type: "fc" input: "mean" fc {{ size: 10 }} }}
"""


def residual(rows: int, channels: int = 64, side: int = 56) -> Workload:
    """A block of a ResNet with two convolutions, and a classifier behind it."""

    def module() -> Any:
        import torch
        from torch import nn

        class Block(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                parts = [nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels), nn.ReLU()]
                again = [nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)]
                self.body, self.last = nn.Sequential(*parts, *again), nn.Linear(channels, 10)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return self.last(torch.relu(self.body(x) + x).mean((2, 3)))

        return Block()

    shape = (channels, side, side)
    name = f"ResNet block {channels}x{side}x{side}, batch {rows}"
    conv = f"num_filters: {channels} filter_size: 3 padding: 1 bias: false"
    return Workload(name, RESIDUAL.format(conv=conv), (shape,), rows, module, 10)
