"""Memory blocks of a device, as seen by their owners, and array views of host memory."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class DeviceError(ValueError):
    """A device is not available, or has too little memory."""


class DeviceWarning(UserWarning):
    """Something runs on another device than the requested one."""


class MemoryBlock(Protocol):
    """Memory of a device, initially all zeros; it is freed with the object."""

    @property
    def address(self) -> int:
        """Its address; a multiple of 64."""

    def read(self, offset: int, count: int, dtype: str) -> NDArray[Any]:
        """Elements from `offset` bytes on: a view on the CPU, otherwise a read-only copy."""

    def write(self, offset: int, values: NDArray[Any], dtype: str) -> None:
        """Writes elements at `offset` bytes, converted to `dtype`; asynchronous."""


class Allocator(Protocol):
    """Allocates memory."""

    def allocate(self, nbytes: int) -> MemoryBlock:
        """Allocates memory. Raises `DeviceError` if there is too little."""


class Flat:
    """Elements of one type that fill a block."""

    def __init__(self, device: Allocator, size: int, dtype: str) -> None:
        self.size, self.dtype = size, dtype
        self.block = device.allocate(size * np.dtype(dtype).itemsize)

    def read(self) -> NDArray[Any]:
        """All elements: a view on the CPU, otherwise a copy."""
        return self.block.read(0, self.size, self.dtype)

    def write(self, values: NDArray[Any]) -> None:
        """Replaces all elements."""
        self.block.write(0, np.broadcast_to(values, (self.size,)), self.dtype)


def array_at(address: int, shape: Sequence[int], dtype: Any) -> NDArray[Any]:
    """The host memory at an address as an array; the owner of the memory has to outlive it."""
    kind = np.dtype(dtype)
    size = math.prod(shape) * kind.itemsize
    # `from_address` of an empty array would still need a valid address.
    if size == 0:
        return np.zeros(shape, kind)
    return np.ndarray(tuple(shape), kind, memoryview((ctypes.c_char * size).from_address(address)))


PART = 1 << 18
"""Elements of an array that are checked together."""


def too_large(values: Any, dtype: str) -> str | None:
    """Error message for values of which one overflows in the precision of a net, or `None`."""
    array = np.asarray(values)
    if array.dtype.kind != "f" or array.dtype.itemsize <= np.dtype(dtype).itemsize:
        return None
    place = _first_lost(array, dtype)
    if place is None:
        return None
    return f"contains {array[place]}{f' at index {place}' if place else ''}, which is too large for {dtype}"


def _first_lost(array: NDArray[Any], dtype: str) -> tuple[int, ...] | None:
    """Index of the first value that overflows; a large array is checked in parts, to copy little of it."""
    if array.size > PART and len(array) > 1:
        step = max(1, PART * len(array) // array.size)
        for first in range(0, len(array), step):
            place = _first_lost(array[first : first + step], dtype)
            if place is not None:
                return (first + place[0], *place[1:])
        return None
    with np.errstate(over="ignore"):
        # Only values that are finite before the conversion: infinities in the source are not due to the precision.
        lost = np.isfinite(array) & ~np.isfinite(array.astype(dtype))
    return tuple(int(i) for i in np.argwhere(lost)[0]) if lost.any() else None
