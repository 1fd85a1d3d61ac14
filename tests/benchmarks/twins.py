"""The same network for PyTorch: every operation of a config as torch's own, with parameters in the same order.

A twin computes what the config says, so that both sides are compared on one definition; `distance` proves it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import paddle_layers as pl
from paddle_layers.config.network import Network
from paddle_layers.runtime.graph.building import build_graph
from paddle_layers.runtime.graph.graph import Op
from paddle_layers.runtime.memory.parameters import ParameterSet

Step = tuple[Callable[..., torch.Tensor], tuple[str, ...], str]
"""A function, the names of the values that it takes, and of the one that it gives."""


class Twin(nn.Module):
    """The network up to the scores that its cost takes, as one torch operation after the other."""

    def __init__(self, network: Network, scores: str) -> None:
        super().__init__()
        graph = build_graph(network, ParameterSet("float32"), {})
        self.steps: list[Step] = []
        for op in graph.ops:
            layer = MAKERS[op.layer.name](op)
            if isinstance(layer, nn.Module):
                self.add_module(op.name.replace(".", "_"), layer)
            self.steps.append((layer, tuple(value.name for value in op.inputs), op.outputs[0].name))
            if op.outputs[0].name == scores:
                break
        self.feed, self.scores = next(iter(graph.feeds)), scores

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values = {self.feed: x}
        for function, inputs, output in self.steps:
            values[output] = function(*[values[name] for name in inputs])
        return values[self.scores]


def _both(op: Op, name: str) -> tuple[int, int]:
    """An attribute for rows and columns."""
    return op.attributes[f"{name}_y"], op.attributes[name]


def _conv(op: Op) -> nn.Module:
    (weight,) = op.params["weight"]
    filters, depth, *size = weight.shape
    groups, bias = op.attributes["groups"], op.attributes["bias"]
    steps = (_both(op, "stride"), _both(op, "padding"), _both(op, "dilation"))
    return nn.Conv2d(depth * groups, filters, tuple(size), *steps, groups, bias)


def _pool(op: Op) -> Callable[..., torch.Tensor]:
    kind = op.attributes
    if kind["global_pooling"]:
        pool = functional.adaptive_avg_pool2d if kind["pool_type"] == "AVERAGE" else functional.adaptive_max_pool2d
        return lambda x: pool(x, 1)
    windows: dict[str, Any] = {"kernel_size": _both(op, "pool_size"), "stride": _both(op, "stride")}
    windows |= {"padding": _both(op, "padding"), "ceil_mode": kind["rounding"] == "CEIL"}
    if kind["pool_type"] == "MAX":
        return nn.MaxPool2d(**windows)
    return nn.AvgPool2d(**windows, count_include_pad=kind["divisor"] != "VALID")


def _batch_norm(op: Op) -> nn.Module:
    (gain,) = op.params["gain"]
    images = len(op.inputs[0].type.dims) == 3
    kind = nn.BatchNorm2d if images else nn.BatchNorm1d
    return kind(gain.shape[0], op.attributes["epsilon"], 1 - op.attributes["momentum"])


def _fc(op: Op) -> nn.Module:
    (weight,) = op.params["weight"]
    linear = nn.Linear(*weight.shape, op.attributes["bias"])
    return linear if len(op.inputs[0].type.dims) == 1 else nn.Sequential(nn.Flatten(), linear)


def _lrn(op: Op) -> nn.Module:
    kind = op.attributes
    return nn.LocalResponseNorm(kind["size"], kind["scale"], kind["power"], kind["shift"])


def _add(*values: torch.Tensor) -> torch.Tensor:
    total = values[0] + values[1]
    for value in values[2:]:
        total = total + value
    return total


MAKERS: dict[str, Callable[[Op], Any]] = {
    "conv": _conv,
    "pool": _pool,
    "batch_norm": _batch_norm,
    "fc": _fc,
    "lrn": _lrn,
    "relu": lambda _: nn.ReLU(inplace=True),
    "relu6": lambda _: nn.ReLU6(inplace=True),
    "dropout": lambda op: nn.Dropout(op.attributes["drop_rate"]),
    "addto": lambda _: _add,
    "concat": lambda _: lambda *values: torch.cat(values, 1),
    "flatten": lambda _: nn.Flatten(),
}


def copy_weights(net: pl.Net, twin: Twin) -> None:
    """Give the twin the parameters and states of the net; torch has a row for each output of Linear."""
    with torch.no_grad():
        for ours, theirs in zip(net.parameters.values(), twin.parameters(), strict=True):
            values = ours.value.T if ours.value.ndim == 2 else ours.value
            theirs.copy_(torch.from_numpy(values.copy()).reshape(theirs.shape))


def distance(net: pl.Net, twin: Twin, feeds: dict[str, Any]) -> float:
    """Largest difference of the scores in the phase test, as a share of the largest score."""
    copy_weights(net, twin)
    net.forward(feeds, phase="test")
    with torch.inference_mode():
        expected = twin.eval()(torch.from_numpy(feeds[twin.feed])).numpy()
    twin.train()
    found = net.value(twin.scores).reshape(expected.shape)
    return float(np.abs(found - expected).max() / np.abs(expected).max())
