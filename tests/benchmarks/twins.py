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
from paddle_layers.runtime.memory.parameters import Parameter, ParameterSet

Step = tuple[Callable[..., torch.Tensor], tuple[str, ...], str]
"""A function, the names of the values that it takes, and of the one that it gives."""


class Twin(nn.Module):
    """The network as one torch operation after the other: in training the loss, in evaluation the scores.

    Sequences are padded; `padding.mask` says where attention finds a key, None: all have the same length.
    """

    def __init__(self, network: Network) -> None:
        super().__init__()
        graph = build_graph(network.select("train"), ParameterSet("float32"), {})
        self.steps: list[Step] = []
        self.mask: torch.Tensor | None = None
        self.tensors: dict[Parameter, nn.Parameter] = {}
        self.costs: list[tuple[str, float]] = []
        """Scores that are trained, and the weight of their cross entropy; the last ones are the network's."""
        for op in graph.ops:
            inputs = tuple(value.name for value in op.inputs)
            if op.layer.name == "softmax_with_loss":
                self.costs.append((inputs[0], graph.losses[op.outputs[0].name]))
                continue
            layer = self._attention(op) if op.layer.name == "multi_head_attention" else MAKERS[op.layer.name](op)
            if isinstance(layer, nn.Module):
                self._share(op, layer)
                self.add_module("of " + op.name.replace(".", "/"), layer)
            self.steps.append((layer, inputs, op.outputs[0].name))
        self.label = next(op.inputs[1].name for op in graph.ops if op.layer.name == "softmax_with_loss")
        self.fed, self.last = [name for name in graph.feeds if name != self.label], self.costs[-1][0]
        self.single = _needed(self.steps, self.last)

    def _share(self, op: Op, layer: nn.Module) -> None:
        """Gives the layer the tensors of layers before it that have the same parameters."""
        for (parameter,), name in zip(op.params.values(), dict(layer.named_parameters(recurse=False)), strict=False):
            setattr(layer, name, self.tensors.setdefault(parameter, getattr(layer, name)))

    def _attention(self, op: Op) -> Callable[..., torch.Tensor]:
        heads, causal, few = (op.attributes[name] for name in ("num_heads", "causal", "num_kv_heads"))

        def attend(*rows: torch.Tensor) -> torch.Tensor:
            counts = (heads, few or heads, few or heads)
            parts = [x.unflatten(-1, (count, -1)).transpose(1, 2) for x, count in zip(rows, counts, strict=True)]
            # Padding is after all tokens: queries of tokens do not see it where attention is causal.
            mask = None if causal else self.mask
            if few is not None and torch.onnx.is_in_onnx_export():  # the exporter has no groups
                parts[1:] = [x.repeat_interleave(heads // few, 1) for x in parts[1:]]
                return functional.scaled_dot_product_attention(*parts, is_causal=causal).transpose(1, 2).flatten(2)
            y = functional.scaled_dot_product_attention(*parts, mask, is_causal=causal, enable_gqa=few is not None)
            return y.transpose(1, 2).flatten(2)

        return attend

    def forward(self, *inputs: torch.Tensor, label: torch.Tensor | None = None) -> torch.Tensor:
        values = dict(zip(self.fed, inputs, strict=False))  # the exporter passes an absent label, too
        for function, names, output in self.single if label is None else self.steps:
            values[output] = function(*[values[name] for name in names])
        if label is None:
            return values[self.last]
        costs = [functional.cross_entropy(values[name].flatten(0, -2), label.flatten()) for name, _ in self.costs]
        return _add(*[cost * weight for cost, (_, weight) in zip(costs, self.costs, strict=True)])


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


def _trans_fc(op: Op) -> nn.Module:
    (weight,) = op.params["weight"]
    return nn.Linear(*weight.shape[::-1], op.attributes["bias"])


def _layer_norm(op: Op) -> nn.Module:
    return nn.LayerNorm(op.params["gain"][0].shape, op.attributes["epsilon"])


class Positions(nn.Module):
    """Learned positional embedding."""

    def __init__(self, op: Op) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(op.params["table"][0].shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.table[: x.shape[1]]


class ClassToken(nn.Module):
    """A learned first step."""

    def __init__(self, op: Op) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.empty(op.params["token"][0].shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([self.token.expand(len(x), 1, -1), x], 1)


class RmsNorm(nn.RMSNorm):
    """RMS normalization, which the exporter knows in parts only."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not torch.onnx.is_in_onnx_export():
            return super().forward(x)
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight


def _rotary(op: Op) -> Callable[..., torch.Tensor]:
    heads, width = op.attributes["num_heads"], op.inputs[0].type.columns // op.attributes["num_heads"]
    turns = op.attributes["base"] ** (-torch.arange(0, width, 2).double() / width)
    angles = torch.arange(1024).double()[:, None] * turns.repeat(2)
    cosine, sine = (wave.float().unsqueeze(1) for wave in (angles.cos(), angles.sin()))

    def turn(x: torch.Tensor) -> torch.Tensor:
        parts = x.unflatten(-1, (heads, width))
        left, right = parts.chunk(2, -1)
        steps = x.shape[1]
        return (parts * cosine[:steps] + torch.cat([-right, left], -1) * sine[:steps]).flatten(2)

    return turn


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
    "embedding": lambda op: nn.Embedding(*op.params["table"][0].shape),
    "position_embedding": Positions,
    "class_token": ClassToken,
    "trans_fc": _trans_fc,
    "layer_norm": _layer_norm,
    "rms_norm": lambda op: RmsNorm(op.params["gain"][0].shape, op.attributes["epsilon"]),
    "rotary_position": _rotary,
    "gelu": lambda op: nn.GELU(op.attributes["approximate"].lower()),
    "swish": lambda _: nn.SiLU(),
    "mul": lambda _: torch.mul,
    "permute": lambda op: lambda x: x.permute(0, *op.attributes["order"]),
    "to_sequence": lambda op: lambda x: x.reshape(len(x), -1, op.attributes["size"]),
    "seq_first": lambda _: lambda x: x[:, 0],
}


def copy_weights(net: pl.Net, twin: Twin) -> None:
    """Give the twin the parameters and states of the net; torch has a row for each output of Linear."""
    with torch.no_grad():
        for (name, ours), theirs in zip(net.parameters.items(), twin.parameters(), strict=True):
            values = ours.value.T if ours.value.ndim == 2 and not name.endswith(".table") else ours.value
            theirs.copy_(torch.from_numpy(values.copy()).reshape(theirs.shape))


def padded(value: Any, filler: int = 0) -> torch.Tensor:
    """A feed as torch takes it: sequences are padded to the longest."""
    if not isinstance(value, pl.Sequences):
        return torch.from_numpy(value)
    parts = [torch.from_numpy(part) for part in np.split(value.data, value.starts[1:-1])]
    return nn.utils.rnn.pad_sequence(parts, batch_first=True, padding_value=filler)


def lengths_mask(value: Any) -> torch.Tensor | None:
    """Where padded sequences have tokens, for attention; None if their lengths are equal."""
    lengths = np.diff(value.starts) if isinstance(value, pl.Sequences) else np.zeros(1)
    if (lengths == lengths[0]).all():
        return None
    return torch.from_numpy(np.arange(lengths.max()) < lengths[:, None])[:, None, None]


def distance(net: pl.Net, twin: Twin, feeds: dict[str, Any]) -> float:
    """Largest difference of the scores in the phase test, as a share of the largest score; the net is fresh."""
    copy_weights(net, twin)
    net.forward(feeds, phase="test")
    twin.mask = lengths_mask(feeds[twin.fed[0]])
    with torch.inference_mode():
        expected = twin.eval()(*[padded(feeds[name]) for name in twin.fed]).numpy()
    twin.train()
    found = net.value(twin.last)
    if isinstance(found, pl.Sequences):
        expected = np.concatenate([rows[:count] for rows, count in zip(expected, np.diff(found.starts), strict=True)])
        found = found.data
    return float(np.abs(found.reshape(expected.shape) - expected).max() / np.abs(expected).max())
