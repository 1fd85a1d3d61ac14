"""Check that a plan fits into the memory of a device, before any allocation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paddle_layers.define.machine import as_bytes
from paddle_layers.runtime.devices import Device
from paddle_layers.runtime.memory.blocks import DeviceError
from paddle_layers.runtime.passes.buffer_reuse import place

if TYPE_CHECKING:
    from paddle_layers.runtime.schedule.schedule import LaunchSchedule

# An H100 refused batches that were reported to fit: the driver needs some memory for itself.
SPARE = 128
"""One part of so many stays free for kernels, stacks and whole pages: an H100 takes up to 5 MiB more than the plans."""
LARGEST = 3
"""Number of tensors listed in an out-of-memory error."""


def check_capacity(device: Device, schedules: Sequence[LaunchSchedule]) -> None:
    """Raises `DeviceError` if there is too little memory for the plans of all schedules.

    The message has the estimate, the largest tensors and a batch size that fits.
    """
    free = device.free_bytes()
    if free is None:
        return
    storages = [schedule.lay_out() for schedule in schedules]
    nbytes = sum(map(place, storages))
    if nbytes <= free:
        return
    rows = schedules[0].graph.samples.capacity
    found = {buffer.name: buffer for one in storages for storage in one for buffer in storage.buffers}
    buffers = sorted(found.values(), key=lambda buffer: -buffer.nbytes)
    named = ", ".join(f"{buffer.name} ({as_bytes(buffer.nbytes)})" for buffer in buffers[:LARGEST])
    fitting = _fitting_rows(schedules, free - free // SPARE)
    remedy = f"a batch of {fitting} fits" if fitting else "not even a single sample fits"
    raise DeviceError(
        f"a batch of {rows} needs {as_bytes(nbytes)} on {device.name!r}, but at most {as_bytes(free)} can be "
        f"allocated; the largest tensors are {named}; {remedy}"
    )


def _fitting_rows(schedules: Sequence[LaunchSchedule], free: int) -> int:
    """Maximum number of samples whose buffers fit; sizes that depend on sequences and entries grow with them."""
    # Capacities are changed for the search and restored at the end, which is cheaper than building graphs and schedules
    # for each trial.
    domains = [domain for schedule in schedules for domain in schedule.graph.domains]
    full = [domain.capacity for domain in domains]
    most = schedules[0].graph.samples.capacity

    def needed(rows: int) -> int:
        for domain, capacity in zip(domains, full, strict=True):
            # Rounded up: a batch that is reported as fitting must fit.
            domain.capacity = -(-capacity * rows // most)
        return sum(place(schedule.lay_out()) for schedule in schedules)

    low, high = 0, most
    try:
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if needed(middle) <= free else (low, middle)
    finally:
        for domain, capacity in zip(domains, full, strict=True):
            domain.capacity = capacity
    return low
