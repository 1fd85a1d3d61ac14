"""What a net asks of a device: memory, compiled launches, and to wait until they are done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .arguments import Ref
    from .compiler import Progress
    from .launches import Launch

DEVICES = ("cpu", "cuda", "auto")
"""Names of devices; `auto` is a CUDA card where there is one, and else the CPU."""


class DeviceError(ValueError):
    """A device is not there, or has too little memory."""


class DeviceWarning(UserWarning):
    """Something runs on another device than the one that was asked for."""


class Block(Protocol):
    """Memory of a device, all zeros at first; it is freed with the object."""

    @property
    def address(self) -> int:
        """Where it begins; a multiple of 64."""

    def read(self, offset: int, count: int, dtype: str) -> NDArray[Any]:
        """Numbers from `offset` bytes on: a view on the CPU, elsewhere a copy that is read-only."""

    def write(self, offset: int, values: NDArray[Any], dtype: str) -> None:
        """Put numbers at `offset` bytes, brought to `dtype`; it does not wait for the device."""


class Flat:
    """Numbers of one type that fill a block."""

    def __init__(self, device: Device, size: int, dtype: str) -> None:
        self.size, self.dtype = size, dtype
        self.block = device.allocate(size * np.dtype(dtype).itemsize)

    def read(self) -> NDArray[Any]:
        """All numbers: a view on the CPU, elsewhere a copy."""
        return self.block.read(0, self.size, self.dtype)

    def write(self, values: NDArray[Any]) -> None:
        """Replace all numbers."""
        self.block.write(0, np.broadcast_to(values, (self.size,)), self.dtype)


class LaunchTable(Protocol):
    """Launches ready to run; only what a batch or a step changes is written again."""

    def set_rows(self) -> None:
        """Bring sizes and totals to the rows that the domains have now."""

    def set_keys(self, key: Callable[[str], int]) -> None:
        """Draw the keys of random operations for a step."""

    def set_numbers(self, values: Mapping[str, float]) -> None:
        """Write the real numbers that are new in every step."""

    def run(self, start: int, stop: int) -> None:
        """Run launches `start` to `stop`, in order; it does not wait for the device."""


class Device(Protocol):
    """Where a net's numbers lie and its launches run."""

    name: str

    def allocate(self, nbytes: int) -> Block:
        """Memory of the device. Raises `DeviceError` when there is too little."""

    def compile(self, launches: Sequence[Launch], dtype: str, progress: Progress | None) -> None:
        """Compile what launches need, so that their tables are made at once."""

    def table(self, launches: Sequence[Launch], dtype: str, address: Callable[[Ref], int]) -> LaunchTable:
        """Compiled launches with their arguments."""

    def free_bytes(self) -> int | None:
        """Bytes that can be allocated; None where nobody can say."""

    def synchronise(self) -> None:
        """Wait until everything that was launched is done. Raises `DeviceError` when a launch failed."""


def open_device(name: str) -> Device:
    """The device of this name, one of `DEVICES`. Raises `DeviceError` with what is missing."""
    from .cpu import Cpu

    if name not in DEVICES:
        raise DeviceError(f"there is no device {name!r}; there is {', '.join(map(repr, DEVICES))}")
    if name == "cpu":
        return Cpu()
    from .cuda import missing, open_cuda

    reason = missing()
    if reason is None:
        return open_cuda()
    if name == "auto":
        return Cpu()
    raise DeviceError(reason)
