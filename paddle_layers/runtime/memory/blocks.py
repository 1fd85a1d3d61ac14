"""Memory of a device, as whoever keeps numbers there sees it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


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


class Allocator(Protocol):
    """Who has memory to give."""

    def allocate(self, nbytes: int) -> Block:
        """Memory. Raises `DeviceError` when there is too little."""


class Flat:
    """Numbers of one type that fill a block."""

    def __init__(self, device: Allocator, size: int, dtype: str) -> None:
        self.size, self.dtype = size, dtype
        self.block = device.allocate(size * np.dtype(dtype).itemsize)

    def read(self) -> NDArray[Any]:
        """All numbers: a view on the CPU, elsewhere a copy."""
        return self.block.read(0, self.size, self.dtype)

    def write(self, values: NDArray[Any]) -> None:
        """Replace all numbers."""
        self.block.write(0, np.broadcast_to(values, (self.size,)), self.dtype)
