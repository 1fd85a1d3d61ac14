"""Both sides of a comparison: for a workload, what a user calls and what the device does alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import paddle_layers as pl
from paddle_layers.define import registries
from paddle_layers.runtime.elementwise import Updater

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


def our_outputs(work: Workload, device: str) -> Side:
    """Outputs of a batch in the phase test."""
    feeds, net = work.feeds(), pl.Net(pl.loads(work.text()), device=device, batch_size=work.rows)
    net.forward(feeds, phase="test")
    return Side(net, lambda: net.forward(feeds, phase="test"), net.plan("test").forward, net.synchronise)


def our_step(work: Workload, device: str) -> Side:
    """A step of training: forward, backward, SGD with momentum."""
    feeds, net = work.feeds() | work.labels(), pl.Net(pl.loads(work.text(loss=True)), device=device)
    sgd = registries["optimizer"]["sgd"]
    updater = Updater(sgd, sgd.bind({"momentum": MOMENTUM}), net)  # type: ignore[arg-type]

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


def our_layer(work: Workload, device: str, backward: bool) -> Side:
    """A layer in the phase train, with or without the gradients of its inputs and parameters."""
    feeds, net = work.feeds(), pl.Net(pl.loads(work.text()), device=device)
    slope = {"last": np.ones_like(net.forward(feeds, step=0)["last"])}

    def called() -> Any:
        outputs = net.forward(feeds, step=0)
        if backward:
            net.backward(gradients=slope)
        return outputs

    def alone() -> None:
        plan.forward()
        if backward:
            plan.backward()

    called()
    plan = net.plan("train")
    return Side(net, called, alone, net.synchronise)


def their_outputs(work: Workload, device: str) -> Side:
    """Outputs of a batch of the module in evaluation."""
    module, feeds = work.module().to(device).eval(), work.feeds()
    given = tensors(feeds, device)

    def called() -> Any:
        with torch.inference_mode():
            return module(*tensors(feeds, device)).cpu().numpy()

    def alone() -> None:
        with torch.inference_mode():
            module(*given)

    return Side(module, called, alone, waiting(device))


def their_step(work: Workload, device: str) -> Side:
    """A step of training: forward, backward, SGD with momentum in one kernel."""
    module, feeds = work.module().to(device), work.feeds() | work.labels()
    optimizer = torch.optim.SGD(module.parameters(), RATE, momentum=MOMENTUM, fused=True)
    given = tensors(feeds, device)

    def step(inputs: list[torch.Tensor]) -> Any:
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(module(*inputs[:-1]), inputs[-1])
        loss.backward()
        optimizer.step()
        return loss

    return Side(module, lambda: step(tensors(feeds, device)).item(), lambda: step(given), waiting(device))


def their_layer(work: Workload, device: str, backward: bool) -> Side:
    """A module in training, with or without the gradients of its inputs and parameters."""
    module, feeds = work.module().to(device), work.feeds()
    given = tensors(feeds, device, gradients=backward)
    slope = torch.ones_like(module(*given))

    def run(inputs: list[torch.Tensor]) -> Any:
        for tensor in (*inputs, *module.parameters()):
            tensor.grad = None
        with torch.set_grad_enabled(backward):
            outputs = module(*inputs)
        if backward:
            outputs.backward(slope)
        return outputs.detach()

    return Side(
        module,
        lambda: run(tensors(feeds, device, gradients=backward)).cpu().numpy(),
        lambda: run(given),
        waiting(device),
    )


def tensors(feeds: dict[str, Any], device: str, gradients: bool = False) -> list[torch.Tensor]:
    """The batch on torch's device."""
    return [torch.from_numpy(array).to(device).requires_grad_(gradients) for array in feeds.values()]


def waiting(device: str) -> Run:
    """A function that waits for torch's device."""
    return torch.cuda.synchronize if device == "cuda" else lambda: None


def their_device() -> str:
    """The card if torch sees one."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def set_precision(name: str) -> None:
    """How torch multiplies matrices on the card: "ieee", or "tf32" with fewer digits."""
    torch.backends.cuda.matmul.fp32_precision = name
    torch.backends.cudnn.conv.fp32_precision = name  # type: ignore[attr-defined]


def in_precision(name: str, run: Run) -> Run:
    """The run with this precision."""

    def precisely() -> None:
        set_precision(name)
        run()

    return precisely


def least_bytes(work: Workload, backward: bool) -> int:
    """Bytes that a layer has to move: inputs, outputs, gradients, what the backward pass reads again."""
    node = pl.loads(work.text())["last"]
    shapes = {"x": work.shapes, "y": [type_.dims for type_ in node.output_types]}
    size = {name: 4 * work.rows * sum(map(math.prod, dims)) for name, dims in shapes.items()}
    forward = size["x"] + size["y"]
    return 2 * forward + sum(size.get(name, 0) for name in node.definition.facts.back_reads) if backward else forward


def copy_parameters(net: pl.Net, module: torch.nn.Module) -> None:
    """Give the module the parameters of the net; they come in the same order."""
    for ours, theirs in zip(net.parameters.values(), module.parameters(), strict=True):
        values = ours.value.T if ours.value.ndim == 2 else ours.value  # torch has a row for each output of Linear
        with torch.no_grad():
            theirs.copy_(torch.from_numpy(values.copy()).reshape(theirs.shape))


def distance(ours: Side, theirs: Side) -> float:
    """Largest difference of what both sides give with the same parameters, as a share of the largest number."""
    copy_parameters(ours.owner, theirs.owner)
    found, expected = next(iter(ours.called().values())), theirs.called()
    return float(np.abs(found.reshape(expected.shape) - expected).max() / np.abs(expected).max())
