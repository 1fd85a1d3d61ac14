"""Devices: their protocol, and selection by name. Each is a subpackage with `missing()` and `open_device()`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from paddle_layers.runtime.graph.rows import Rows
from paddle_layers.runtime.launches.arguments import Ref
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.memory.blocks import Allocator, DeviceError

Progress = Callable[[int, int, str], None]
"""Called as `progress(done, total, name)` while drivers are compiled."""
NAMES = ("cuda", "cpu")
"""The subpackages, fastest first."""
DEVICES = (*reversed(NAMES), "auto")
"""Valid device names; `auto` is the first available device."""


class LaunchTable(Protocol):
    """Launches ready to run; only what changes with a batch or a step is rewritten."""

    def set_rows(self, rows: Rows) -> None:
        """Updates sizes and totals for the rows of a batch."""

    def set_keys(self, key: Callable[[str], int]) -> None:
        """Generate the random keys of operations for a step."""

    def set_numbers(self, values: Mapping[str, float]) -> None:
        """Writes the floating-point scalars of a step."""

    def run(self, start: int, stop: int) -> None:
        """Runs launches `start` to `stop`, in order; asynchronous."""


class Device(Allocator, Protocol):
    """Memory and execution of a net."""

    name: str
    whole_rows: bool
    """Whether work items should be rows, with an inner loop over columns, rather than elements."""

    def compile(self, launches: Sequence[Launch], dtype: str, progress: Progress | None) -> None:
        """Compiles what launches need, so that their tables are created quickly."""

    def table(self, launches: Sequence[Launch], dtype: str, address: Callable[[Ref], int]) -> LaunchTable:
        """Compiled launches with their arguments."""

    def free_bytes(self) -> int | None:
        """Bytes that can be allocated; `None` if unknown."""

    def synchronise(self) -> None:
        """Waits until all launches have finished. Raises `DeviceError` if a launch failed."""


def open_device(name: str, number: int = 0) -> Device:
    """The device of this name, one of `DEVICES`; of several GPUs the one with this number, modulo their count.

    Raises `DeviceError` with the missing requirements.
    """
    if name not in DEVICES:
        raise DeviceError(f"unknown device {name!r}; available: {', '.join(map(repr, DEVICES))}")
    wanted = NAMES if name == "auto" else (name,)
    for module in map(_module, wanted):
        reason = module.missing()
        if reason is None:
            device: Device = module.open_device(number)
            return device
    raise DeviceError(reason)


def _module(name: str) -> Any:
    """The module of a device; its import may be slow."""
    return importlib.import_module(f".{name}", __name__)
