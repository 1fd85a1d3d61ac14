"""Networks on the device "cuda", which here is numba's simulator: the same numbers as on the CPU, and plain words."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.runtime import DeviceWarning, devices
from paddle_layers.runtime.devices import cuda
from paddle_layers.runtime.devices.cpu.interpreter import interpreted
from paddle_layers.runtime.devices.cuda import Cuda, SimulatedCard, simulated_device
from paddle_layers.runtime.devices.cuda.compile import CudaDriver
from paddle_layers.runtime.plan.dry_run import footprint
from paddle_layers.testing.cases.trial import as_python
from tests.benchmarks.networks import residual

NETWORK = """
layer { name: "x" type: "data" data { shape: [2, 6, 6] } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "conv1" type: "conv" input: "x" conv { num_filters: 4 filter_size: 3 act: "relu" drop_rate: 0.5 } }
layer { name: "pool1" type: "pool" input: "conv1" pool { pool_size: 2 stride: 2 } }
layer { name: "norm1" type: "batch_norm" input: "pool1" batch_norm { } }
layer { name: "last" type: "fc" input: "norm1" fc { size: 3 } }
layer { name: "cost" type: "softmax_with_loss" input: "last" input: "label" }
layer { name: "right" type: "accuracy" input: "last" input: "label" }
"""


def feeds(rows: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(rows)
    return {"x": rng.normal(size=(rows, 2, 6, 6)), "label": rng.integers(0, 3, rows)}


def steps(device: object) -> dict[str, np.ndarray]:
    """What two steps with batches of two sizes give."""
    with pl.Net(pl.loads(NETWORK), device=device, seed=3) as net:
        found = {}
        for rows in (5, 2):
            net.forward(feeds(rows))
            net.backward()
            found |= {f"{rows} loss": np.array(net.loss)}
            found |= {f"{rows} {p.name}": p.gradient.copy() for p in net.parameters.values()}
        found |= {name: state.value.copy() for name, state in net.states.items()}
        found |= {name: np.array(value) for name, value in net.statistics().items()}
        net.forward(feeds(3), phase="test")
        return found | {"test": net.value("cost")}


def test_the_same_numbers_as_on_the_cpu():
    expected, found = as_python(lambda: steps("cpu")), steps(simulated_device())
    assert expected.keys() == found.keys()
    for name, values in expected.items():
        scale = np.abs(values).max(initial=1e-30)
        np.testing.assert_allclose(found[name] / scale, values / scale, atol=2e-5, err_msg=name)


def test_the_footprint_is_what_a_net_holds():
    network = pl.loads(residual(8, 8, 8).text(loss=True))
    told = {device: footprint(network, 8, device=device).training for device in ("cpu", "cuda")}
    assert told["cpu"] != told["cuda"], "the devices fuse different launches, or this shows nothing"
    for name, device in (("cpu", "cpu"), ("cuda", simulated_device())):
        with interpreted(), pl.Net(network, device=device) as net:  # it is planned, and never runs
            net.plan_for(8)
            arrays = [p.value.nbytes + (p.gradient is not None) * p.value.nbytes for p in net.parameters.values()]
            assert told[name] == net.memory("train") + sum(arrays) + sum(s.value.nbytes for s in net.states.values())


def test_a_network_without_launches_gives_what_it_is_fed():
    network = pl.loads('layer { name: "x" type: "data" data { shape: 2 } }')
    with pl.Net(network, device=simulated_device()) as net:
        np.testing.assert_array_equal(net.forward({"x": np.ones((3, 2))})["x"], np.ones((3, 2)))


def test_parameters_are_copies_that_say_so():
    with pl.Net(pl.loads(NETWORK), device=simulated_device()) as net:
        weight = net.parameters["last.weight"]
        with pytest.raises(ValueError, match="read-only"):
            weight.value[0] = 1
        weight.value = np.ones(weight.shape)
        assert (weight.value == 1).all()
        weight.value = 2
        assert (weight.value == 2).all()


class NoPool(SimulatedCard):
    """A card whose compiler fails on pooling."""

    def load(self, driver: CudaDriver) -> int:
        if driver.name.startswith("pool"):
            raise NotImplementedError("pools are not for cards")
        return super().load(driver)


def test_a_layer_without_a_kernel_runs_on_the_cpu_with_one_warning():
    device = Cuda(NoPool(), simulated=True)
    with interpreted(), pytest.warns(DeviceWarning) as warned:
        found = steps(device)
    expected = as_python(lambda: steps("cpu"))
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-4, atol=1e-5, err_msg=name)
    first = str(warned[0].message)
    assert first.startswith("no CUDA kernel for `pool1` (pool_")
    assert "pools are not for cards; this runs on the CPU, and " in first
    # 5 images of 4x4x4 in, of 4x2x2 out and their places, there; the outputs and places back; the same for the way back
    assert "bytes are copied each step" in first


def test_too_little_memory_is_told_before_it_is_taken():
    device = Cuda(SimulatedCard(memory=40_000), simulated=True)
    with pytest.raises(pl.DeviceError) as told:
        pl.Net(pl.loads(NETWORK), device=device, batch_size=64)
    message = str(told.value)
    assert message.startswith("a batch of 64 needs ")
    assert "on 'cuda', but at most 39.1 KiB can be allocated; " in message
    assert "the largest tensors are x (18.0 KiB), conv1.y (16.0 KiB)" in message
    fits = int(message.rpartition("a batch of ")[2].split()[0])
    pl.Net(pl.loads(NETWORK), device=device, batch_size=fits).close()
    with pytest.raises(pl.DeviceError):
        pl.Net(pl.loads(NETWORK), device=device, batch_size=fits + 1)


def test_a_device_that_is_not_there_says_what_to_do(monkeypatch):
    with pytest.raises(pl.DeviceError, match="unknown device 'tpu'; available: 'cpu', 'cuda', 'auto'"):
        devices.open_device("tpu")
    monkeypatch.setattr(cuda, "can_compile", lambda: False)
    with pytest.raises(pl.DeviceError, match=r"needs numba-cuda: pip install 'paddle-layers\[cuda\]'"):
        devices.open_device("cuda")
    assert devices.open_device("auto").name == "cpu"


def test_without_a_card_the_error_says_so():
    with pytest.raises(pl.DeviceError, match='the device "cuda" needs an NVIDIA GPU and its driver: '):
        pl.Net(pl.loads(NETWORK), device="cuda")
