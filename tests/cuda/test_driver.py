"""The path to a real card, on a stand-in for NVIDIA's driver: what is loaded, copied, launched, and in which form."""

from __future__ import annotations

import gc
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.define import registries
from paddle_layers.runtime import net as net_module
from paddle_layers.runtime.batch.transfers import write_batch
from paddle_layers.runtime.devices.cuda import Cuda, cuda_driver, parameters_of, ptx_of
from paddle_layers.runtime.devices.cuda import driver as driver_module
from paddle_layers.runtime.devices.cuda.compile import CudaDriver, launch_driver, signature
from paddle_layers.runtime.devices.cuda.driver import DriverCard, card_problem
from paddle_layers.runtime.devices.cuda.texts import AT_ONCE
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.optimise.updater import Updater
from paddle_layers.testing.cases.trial import as_python
from paddle_layers.testing.properties.cuda import cuda_drivers, launches_of
from tests.cuda.fake_driver import FakeDriver, PagingDriver, Status

NETWORK = """
layer { name: "x" type: "data" data { shape: [6] } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "hidden" type: "fc" input: "x" fc { size: 5 act: "relu" } }
layer { name: "last" type: "fc" input: "hidden" fc { size: 3 } }
layer { name: "cost" type: "softmax_with_loss" input: "last" input: "label" }
layer { name: "right" type: "accuracy" input: "last" input: "label" }
"""


class CardUnderTest(DriverCard):
    """Loads each kernel as machine code, and its twin into the simulator behind the stand-in."""

    def load(self, driver: CudaDriver) -> int:
        handle = super().load(driver)
        twin = cuda_driver(driver.code, driver.dtype, block=driver.block, simulated=True)
        assert self._driver.simulator.load(twin) == handle
        return handle


def on(monkeypatch: pytest.MonkeyPatch, driver: FakeDriver) -> Cuda:
    device = Cuda(CardUnderTest(driver), simulated=False)
    monkeypatch.setattr(net_module, "open_device", lambda _: device)
    return device


def train(steps: int = 4) -> dict[str, Any]:
    """Losses, weights and statistics of some steps of a small network; batches of two sizes."""
    rng = np.random.default_rng(0)
    with pl.Net(pl.loads(NETWORK), seed=1, batch_size=8) as net:
        adam = registries["optimizer"]["adam"]
        updater = Updater(adam, adam.bind({}), net, clip=SimpleNamespace(norm=0.5, value=0.2))
        losses = []
        for number in range(1, steps + 1):
            rows = 8 if number % 2 else 5
            net.forward({"x": rng.normal(size=(rows, 6)), "label": rng.integers(0, 3, rows)})
            losses.append(net.loss)
            net.backward()
            updater.step(0.05, number)
        found = {name: parameter.value.copy() for name, parameter in net.parameters.items()}
        return {"losses": np.array(losses), **found, "right": np.array(net.statistics()["right.accuracy"])}


def test_a_training_on_the_stand_in_equals_the_cpu(monkeypatch):
    expected = as_python(train)
    driver = FakeDriver()
    on(monkeypatch, driver)
    found = train()
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=2e-5, atol=1e-6, err_msg=name)
    assert "cuModuleLoadData" in driver.calls
    assert {threads for _, _, threads in driver.launched} == {128, 256}


def test_a_step_waits_for_the_card_only_where_a_value_is_asked_for(monkeypatch):
    driver = FakeDriver()
    on(monkeypatch, driver)
    network = pl.loads(NETWORK)
    rng = np.random.default_rng(0)
    feeds = {"x": rng.normal(size=(8, 6)), "label": rng.integers(0, 3, 8)}
    with pl.Net(network) as net:
        net.forward(feeds)
        net.backward()
        plan, batch = net.plan("train"), net._last.batch
        driver.calls.clear()
        write_batch(plan, batch)
        plan.forward()
        plan.backward()
        plan.count()
        assert set(driver.calls) == {"cuMemcpyHtoDAsync"}
        net.loss  # noqa: B018  (asking is what waits)
        assert "cuStreamSynchronize" in driver.calls


def test_pinned_memory_is_not_reused_before_it_has_arrived(monkeypatch):
    driver = FakeDriver()
    device = on(monkeypatch, driver)
    block = device.allocate(1 << 22)
    blocks = [np.full(100_000, number, np.float32) for number in range(10)]
    for number, values in enumerate(blocks):  # 4 MB through 1 MB of pinned memory
        block.write(number * 400_000, values, "float32")
    found = block.read(0, 1_000_000, "float32")
    np.testing.assert_array_equal(found, np.concatenate(blocks))
    assert not found.flags.writeable


def test_what_the_driver_refuses_is_told(monkeypatch):
    driver = FakeDriver()
    device = on(monkeypatch, driver)
    monkeypatch.setattr(FakeDriver, "do_cuMemFree", lambda *_: None)
    monkeypatch.setattr(driver_module, "_bindings", lambda: driver)
    assert card_problem() is None
    monkeypatch.setattr(FakeDriver, "do_cuDeviceGetCount", lambda _: (0,))
    assert "needs an NVIDIA GPU" in str(card_problem())
    with pl.Net(pl.loads(NETWORK)) as net:
        driver.status = Status.CUDA_ERROR_ILLEGAL_ADDRESS
        with pytest.raises(pl.DeviceError, match=r"launch.*CUDA_ERROR_ILLEGAL_ADDRESS"):
            net.forward({"x": np.zeros((2, 6)), "label": np.zeros(2, int)})
    assert device.free_bytes() == driver.room


def test_a_batch_that_is_said_to_fit_fits(monkeypatch):
    driver = PagingDriver(24 << 20)
    on(monkeypatch, driver)
    wide = NETWORK.replace("size: 5 act", "size: 50 act")
    with pytest.raises(pl.DeviceError, match="a batch of") as told:
        pl.Net(pl.loads(wide), batch_size=500000)
    fitting = int(str(told.value).rpartition("a batch of ")[2].split()[0])
    del told  # its frames hold the parameters
    gc.collect()
    assert fitting > 1
    with pl.Net(pl.loads(wide), batch_size=fitting) as net:
        net.forward({"x": np.zeros((2, 6)), "label": np.zeros(2, int)})


@pytest.mark.parametrize(
    "name",
    [
        *("fc", "seq_avg_pool", "dropout", "concat"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("pool", "batch_norm")),
    ],
)
def test_packed_parameters_are_those_that_the_kernel_declares(name):
    """Arrays are seven numbers or more, tuples come one by one, real numbers have the tensors' precision."""
    for driver in cuda_drivers(pl.registry[name]):
        declared = parameters_of(ptx_of(driver))
        assert len(declared) == sum(map(width, signature(driver))), driver.name
        assert all(kind in ("u64", "b64", "f32", "s64") for kind in declared), declared


def width(type_: Any) -> int:
    """Parameters of an argument of this numba type."""
    from numba import types

    if isinstance(type_, types.UniTuple):
        return type_.count * width(type_.dtype)
    return 5 + 2 * type_.ndim if isinstance(type_, types.Array) else 1


def relu(elements: int) -> CudaDriver:
    """The driver of `relu` for a number of elements."""
    text = 'layer { name: "x" type: "data" data { shape: 1 } } layer { name: "y" type: "relu" input: "x" }'
    (launch,) = launches_of(pl.loads(text), training=False)
    return launch_driver(replace(launch, total=Extent(elements)), "float32")


def test_loads_of_a_thread_are_in_flight_together():
    accesses = re.findall(r"(ld|st)\.global", ptx_of(relu(6)))
    assert accesses[: 2 * AT_ONCE] == ["ld"] * AT_ONCE + ["st"] * AT_ONCE


@pytest.mark.parametrize(("elements", "wide"), [(2**31, False), (2**31 + 1, True)])
def test_numbers_of_elements_have_64_bits_only_where_they_need_them(elements, wide):
    assert ("unsigned = numba.uint64" in relu(elements).text) is wide
