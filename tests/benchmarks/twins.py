"""The same network for PyTorch: every operation of a config as torch's own, with parameters in the same order.

A twin computes what the config says, so that both sides are compared on one definition; `distance` proves it.
"""

from __future__ import annotations

import functools
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
    """The network as one torch operation after the other: in training the loss, in evaluation the scores."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        graph = build_graph(network.select("train"), ParameterSet("float32"), {})
        self.steps: list[Step] = []
        self.costs: list[tuple[str, float]] = []
        """Scores that are trained, and the weight of their cross entropy; the last ones are the network's."""
        for op in graph.ops:
            inputs = tuple(value.name for value in op.inputs)
            if op.layer.name == "softmax_with_loss":
                self.costs.append((inputs[0], graph.losses[op.outputs[0].name]))
                continue
            layer = MAKERS[op.layer.name](op)
            if isinstance(layer, nn.Module):
                self.add_module("of " + op.name.replace(".", "/"), layer)
            self.steps.append((layer, inputs, op.outputs[0].name))
        self.fed, self.last = next(iter(graph.feeds)), self.costs[-1][0]
        self.single = _needed(self.steps, self.last)

    def forward(self, x: torch.Tensor, label: torch.Tensor | None = None) -> torch.Tensor:
        values = {self.fed: x}
        for function, inputs, output in self.single if label is None else self.steps:
            values[output] = function(*[values[name] for name in inputs])
        if label is None:
            return values[self.last]
        return _add(*[functional.cross_entropy(values[name], label) * weight for name, weight in self.costs])


def _needed(steps: list[Step], result: str) -> list[Step]:
    """The steps that a value depends on."""
    wanted, found = {result}, list[Step]()
    for step in reversed(steps):
        if step[2] in wanted:
            wanted.update(step[1])
            found.append(step)
    return found[::-1]


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
    return functools.reduce(torch.add, values)


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
    """Largest difference of the scores in the phase test, as a share of the largest score; the net is fresh."""
    copy_weights(net, twin)
    net.forward(feeds, phase="test")
    with torch.inference_mode():
        expected = twin.eval()(torch.from_numpy(feeds[twin.fed])).numpy()
    twin.train()
    found = net.value(twin.last).reshape(expected.shape)
    return float(np.abs(found - expected).max() / np.abs(expected).max())
