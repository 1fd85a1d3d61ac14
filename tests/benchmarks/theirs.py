"""PyTorch's side of the same work."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import paddle_layers as pl

from .ours import MOMENTUM, RATE, Run, Side
from .workloads import Workload


def outputs(work: Workload, device: str) -> Side:
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


def step(work: Workload, device: str) -> Side:
    """A step of training: forward, backward, SGD with momentum in one kernel."""
    module, feeds = work.module().to(device), work.feeds() | work.labels()
    optimizer = torch.optim.SGD(module.parameters(), RATE, momentum=MOMENTUM, fused=True)
    given = tensors(feeds, device)

    def run(inputs: list[torch.Tensor]) -> Any:
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(module(*inputs[:-1]), inputs[-1])
        loss.backward()
        optimizer.step()
        return loss

    return Side(module, lambda: run(tensors(feeds, device)).item(), lambda: run(given), waiting(device))


def layer(work: Workload, device: str, backward: bool) -> Side:
    """A module in training, with or without the gradients of its inputs and parameters."""
    module, feeds = work.module().to(device), work.feeds()
    given = tensors(feeds, device, gradients=backward)
    slope = torch.ones_like(module(*given))

    def run(inputs: list[torch.Tensor]) -> Any:
        for tensor in (*inputs, *module.parameters()):
            tensor.grad = None
        with torch.set_grad_enabled(backward):
            result = module(*inputs)
        if backward:
            result.backward(slope)
        return result.detach()

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


def torch_device() -> str:
    """The card if torch sees one."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def set_precision(name: str) -> None:
    """How torch multiplies matrices on the card: "ieee", or "tf32" with fewer digits."""
    torch.backends.cuda.matmul.fp32_precision = name
    torch.backends.cudnn.conv.fp32_precision = name


def in_precision(name: str, run: Run) -> Run:
    """The run with this precision."""

    def precisely() -> None:
        set_precision(name)
        run()

    return precisely


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
