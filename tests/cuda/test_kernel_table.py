"""The table of CUDA kernels: occupancy, spilled registers, predicted times."""

import pytest

from paddle_layers.runtime.devices.cuda import launch_driver
from tests.gpu.kernel_table import LAUNCH_SECONDS, MachineCode, Rates, launches, machine_code, predicted_seconds
from tests.gpu.sizes import NETWORKS, find

SPILLED = {"conv_y_tuned": 8, "conv_dx_tuned": 32}
"""Bytes of values that are read once, after the loops; the loops have none."""


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "occupancy"),
    [(256, 128, 21504, 0.25), (256, 32, 0, 1.0), (256, 33, 0, 0.75), (64, 90, 1280, 0.3125), (512, 64, 100 << 10, 0.5)],
)
def test_occupancy_is_that_of_nvidias_calculator(threads, registers, shared, occupancy):
    assert MachineCode(threads, registers, 0, shared, 0, {}).occupancy == occupancy


def test_the_roofline_of_a_copy_is_its_bytes():
    (launch,) = launches(find("relu, 128x64x64x64", tiny=False), training=False)
    nbytes = 2 * 4 * 128 * 64**3
    assert predicted_seconds(launch, Rates(1e15, 1e12)) == pytest.approx(nbytes / 1e12)
    assert predicted_seconds(launch, Rates(1e15, 1e20)) == LAUNCH_SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("work", [work for work in NETWORKS[False] if work.rows > 100], ids=lambda work: work.name)
def test_no_kernel_spills_registers(work):
    drivers = {driver.path: driver for launch in launches(work, training=True)
               for driver in [launch_driver(launch, "float32")]}  # fmt: skip
    for driver in drivers.values():
        assert machine_code(driver).spilled <= SPILLED.get(driver.name, 0), driver.name
