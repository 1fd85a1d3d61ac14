"""Optimizers, regularizers, clipping, statistics and first values on the device "cuda", here numba's simulator."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.config.training import ComponentSettings
from paddle_layers.define import registries
from paddle_layers.runtime.devices.cuda import simulated_device
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.optimise.updater import Updater
from paddle_layers.testing.properties.cuda import Ptx
from tests.selection import every_architecture

NETWORK = """
layer { name: "x" type: "data" data { shape: [3] } }
layer { name: "label" type: "data" data { data_type: INT size: 4 } }
layer { name: "scores" type: "fc" input: "x" fc { size: 4 } param { of: "bias" lr_mult: 2 decay_mult: 0 clip: 0.05 } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
"""


def settings(kind: str, name: str, **attributes: float) -> ComponentSettings:
    definition = registries[kind][name]
    attributes = {"l1": 0.1, "l2": 0.2} if name == "l1_l2" else attributes
    return ComponentSettings(definition, definition.bind(attributes))


def train(device: Any, optimizer: str, regularizer: str | None = None, clip: Any = None) -> dict[str, np.ndarray]:
    """Parameters and states after three steps."""
    rng = np.random.default_rng(1)
    with pl.Net(pl.loads(NETWORK), device=device, seed=5) as net:
        definition = registries["optimizer"][optimizer]
        penalty = settings("regularizer", regularizer, rate=0.1) if regularizer else None
        updater = Updater(definition, definition.bind({}), net, regularizer=penalty, clip=clip)
        for number in (1, 2, 3):
            net.forward({"x": rng.normal(size=(6, 3)), "label": rng.integers(0, 4, 6)})
            net.backward()
            updater.step(0.1, number)
        found = {name: parameter.value.copy() for name, parameter in net.parameters.items()}
        return found | {name: state.read().copy() for name, state in updater.states.items()}


def compare(optimizer: str, **options: Any) -> None:
    expected, found = (train(device, optimizer, **options) for device in ("cpu", simulated_device()))
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=2e-5, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("name", sorted(registries["optimizer"]))
def test_every_optimizer(name):
    compare(name)


@pytest.mark.parametrize("name", sorted(registries["regularizer"]))
def test_every_regularizer_and_clipping(name):
    compare("sgd", regularizer=name, clip=SimpleNamespace(norm=0.3, value=0.1))


def test_first_values_are_the_same_bits():
    with (
        pl.Net(pl.loads(NETWORK), seed=9) as here,
        pl.Net(pl.loads(NETWORK), device=simulated_device(), seed=9) as there,
    ):
        for name, parameter in here.parameters.items():
            np.testing.assert_array_equal(there.parameters[name].value, parameter.value)


@pytest.mark.parametrize("architecture", every_architecture())
def test_their_kernels_are_machine_code(architecture, monkeypatch):
    seen: list[Launch] = []
    device = simulated_device()
    table = device.table
    monkeypatch.setattr(device, "table", lambda launches, *rest: seen.extend(launches) or table(launches, *rest))
    for name in registries["optimizer"]:
        train(device, name, "l1", SimpleNamespace(norm=0.3, value=0.1))
        train(device, name, "l2")
    from paddle_layers.runtime.devices.cuda import launch_driver

    drivers = {driver.text: driver for driver in (launch_driver(launch, "float32") for launch in seen)}
    assert {f"{name}_step" for name in registries["optimizer"]} <= {driver.name for driver in drivers.values()}
    assert {"gradient_squares", "norm_factor", "clamp_gradient"} <= {driver.name for driver in drivers.values()}
    for driver in drivers.values():
        kernel = Ptx(driver, architecture)
        assert kernel.link()[:4] == b"\x7fELF"
        assert not kernel.has_f64, driver.name
