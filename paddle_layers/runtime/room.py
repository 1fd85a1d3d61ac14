"""Whether a plan fits into the memory of a device, before any of it is taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .buffers import Storage, place
from .devices import Device, DeviceError
from .feeding import feed_domains

if TYPE_CHECKING:
    from .graph import Graph
    from .schedule import Schedule

LARGEST = 3
"""Tensors that are named when there is too little room."""


def check_room(device: Device, graph: Graph, schedule: Schedule, storages: Sequence[Storage], nbytes: int) -> None:
    """Raise `DeviceError` when there is too little: with the estimate, the largest tensors and a batch that fits."""
    free = device.free_bytes()
    if free is None or nbytes <= free:
        return
    rows = graph.samples.capacity
    buffers = sorted((buffer for storage in storages for buffer in storage.buffers), key=lambda b: -b.nbytes)
    named = ", ".join(f"{buffer.name} ({as_bytes(buffer.nbytes)})" for buffer in buffers[:LARGEST])
    fitting = _fitting_rows(graph, schedule, free)
    remedy = f"a batch of {fitting} would fit" if fitting else "not even one row would fit"
    raise DeviceError(
        f"a batch of {rows} needs {as_bytes(nbytes)} of the memory of {device.name!r}, and {as_bytes(free)} are free; "
        f"the largest tensors are {named}; {remedy}"
    )


def _fitting_rows(graph: Graph, schedule: Schedule, free: int) -> int:
    """Most samples whose buffers fit; what hangs on sequences and entries grows with them."""
    domains = feed_domains(graph)
    full = [domain.capacity for domain in domains]
    most = graph.samples.capacity

    def needed(rows: int) -> int:
        for domain, capacity in zip(domains, full, strict=True):
            domain.capacity = -(-capacity * rows // most)
        return place(schedule.lay_out())

    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if needed(middle) <= free else (low, middle)
    for domain, capacity in zip(domains, full, strict=True):
        domain.capacity = capacity
    return low


def as_bytes(size: int) -> str:
    """Bytes in a unit that leaves at most four digits."""
    amount, units = float(size), ["TiB", "GiB", "MiB", "KiB", "B"]
    while amount >= 1024 and len(units) > 1:
        amount /= 1024
        units.pop()
    unit = units[-1]
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
