"""Optimizers over 50 steps against torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.define import registries
from paddle_layers.runtime.optimise.updater import Updater

torch = pytest.importorskip("torch")

NETWORK = """
layer { name: "x" type: "data" data { shape: [4] } }
layer { name: "y" type: "fc" input: "x" fc { size: 3 } }
"""
RATE = 0.03
OPTIMIZERS: dict[str, tuple[dict[str, float], Callable[[Any], Any]]] = {
    "sgd": ({"momentum": 0.8}, lambda w: torch.optim.SGD(w, RATE, momentum=0.8)),
    "nesterov": ({"momentum": 0.8}, lambda w: torch.optim.SGD(w, RATE, momentum=0.8, nesterov=True)),
    "torch_momentum": (
        {"momentum": 0.8, "dampening": 0.3},
        lambda w: torch.optim.SGD(w, RATE, momentum=0.8, dampening=0.3),
    ),
    "adagrad": ({"epsilon": 1e-4}, lambda w: torch.optim.Adagrad(w, RATE, eps=1e-4)),
    "rmsprop": ({"decay": 0.9, "epsilon": 1e-4}, lambda w: torch.optim.RMSprop(w, RATE, alpha=0.9, eps=1e-4)),
    "centered_rmsprop": (
        {"decay": 0.9, "epsilon": 1e-4},
        lambda w: torch.optim.RMSprop(w, RATE, alpha=0.9, eps=1e-4, centered=True),
    ),
    "adadelta": ({"decay": 0.9, "epsilon": 1e-4}, lambda w: torch.optim.Adadelta(w, RATE, rho=0.9, eps=1e-4)),
    "adam": ({"epsilon": 1e-12}, lambda w: torch.optim.Adam(w, RATE, eps=1e-12)),  # theirs is beside another root
    "adamw": ({"epsilon": 1e-4}, lambda w: torch.optim.AdamW(w, RATE, eps=1e-4, weight_decay=0.01)),
    "adamax": ({"epsilon": 1e-12}, lambda w: torch.optim.Adamax(w, RATE, eps=1e-12)),  # theirs is within the maximum
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_fifty_steps(name: str) -> None:
    attributes, make = OPTIMIZERS[name]
    rng = np.random.default_rng(4)
    with pl.Net(pl.loads(NETWORK), dtype="float64", seed=1) as net:
        definition = registries["optimizer"][name]
        updater = Updater(definition, definition.bind(attributes), net)
        ours = [net.parameters[one] for one in ("y.weight", "y.bias")]
        theirs = [torch.tensor(one.value.copy(), requires_grad=True) for one in ours]
        optimizer = make(theirs)
        for step in range(1, 51):
            for one, other in zip(ours, theirs, strict=True):
                noise = rng.normal(size=one.shape)
                one.gradient[...] = one.value + noise
                other.grad = other.detach() + torch.tensor(noise)
            updater.step(RATE, step)
            optimizer.step()
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(one.value, other.detach().numpy(), rtol=1e-8, atol=1e-10, err_msg=one.name)
