"""This library's side: for a workload, what a user calls and what the device does alone. It needs no PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import paddle_layers as pl
from paddle_layers.define import registries
from paddle_layers.runtime.optimise.updater import Updater

from .workloads import Workload

Run = Callable[[], Any]
RATE = 1e-4
"""Learning rate: small, so that a thousand steps on one batch stay finite."""
MOMENTUM = 0.9


@dataclass
class Side:
    """`called` takes and gives NumPy arrays, `alone` works on what is on the device, `wait` is for its end."""

    owner: Any
    """The net or the module."""
    called: Run
    alone: Run
    wait: Run


def outputs(work: Workload, device: str) -> Side:
    """Outputs of a batch in the phase test."""
    feeds, net = work.feeds(), pl.Net(pl.loads(work.text()), device=device, batch_size=work.rows)
    net.forward(feeds, phase="test")
    return Side(net, lambda: net.forward(feeds, phase="test"), net.plan("test").forward, net.synchronise)


def step(work: Workload, device: str) -> Side:
    """A step of training: forward, backward, SGD with momentum."""
    feeds, net = work.feeds() | work.labels(), pl.Net(pl.loads(work.text(loss=True)), device=device)
    sgd = registries["optimizer"]["sgd"]
    updater = Updater(sgd, sgd.bind({"momentum": MOMENTUM}), net)

    def called() -> float:
        net.forward(feeds, step=0)
        net.backward()
        updater.step(RATE, 1)
        return net.loss

    def alone() -> None:
        plan.forward()
        plan.backward()
        updater.step(RATE, 1)

    called()
    plan = net.plan("train")
    return Side(net, called, alone, net.synchronise)


def layer(work: Workload, device: str, backward: bool) -> Side:
    """A layer in the phase train, with or without the gradients of its inputs and parameters."""
    feeds, net = work.feeds(), pl.Net(pl.loads(work.text()), device=device)
    slope = {"last": np.ones_like(net.forward(feeds, step=0)["last"])}

    def called() -> Any:
        result = net.forward(feeds, step=0)
        if backward:
            net.backward(gradients=slope)
        return result

    def alone() -> None:
        plan.forward()
        if backward:
            plan.backward()

    called()
    plan = net.plan("train")
    return Side(net, called, alone, net.synchronise)


def least_bytes(work: Workload, backward: bool) -> int:
    """Bytes that a layer has to move: inputs, outputs, gradients, what the backward pass reads again."""
    node = pl.loads(work.text())["last"]
    shapes = {"x": work.shapes, "y": [type_.dims for type_ in node.output_types]}
    size = {name: 4 * work.rows * sum(map(math.prod, dims)) for name, dims in shapes.items()}
    forward = size["x"] + size["y"]
    return 2 * forward + sum(size.get(name, 0) for name in node.definition.facts.back_reads) if backward else forward
