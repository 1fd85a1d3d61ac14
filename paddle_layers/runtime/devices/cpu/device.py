"""CPU implementation of the device protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.machine import as_bytes, memory_bytes
from paddle_layers.runtime.devices import Progress
from paddle_layers.runtime.launches.buffers import ALIGNMENT
from paddle_layers.runtime.memory.blocks import DeviceError

from .compiler import compile_all, cpu_driver
from .table import CpuTable

if TYPE_CHECKING:
    from paddle_layers.runtime.launches.arguments import Ref
    from paddle_layers.runtime.launches.launch import Launch


class CpuBlock:
    """Aligned host memory."""

    def __init__(self, nbytes: int) -> None:
        # Zero pages from `calloc` are only backed by memory when they are first written, so that a plan for a large
        # capacity costs what its batches use. `_bytes` is a view and keeps `raw` alive.
        raw = np.zeros(nbytes + ALIGNMENT, np.uint8)
        start = -raw.ctypes.data % ALIGNMENT
        self._bytes = raw[start : start + nbytes]
        self.address = int(self._bytes.ctypes.data)

    def read(self, offset: int, count: int, dtype: str) -> NDArray[Any]:
        """A view of the elements."""
        return self._bytes[offset : offset + count * np.dtype(dtype).itemsize].view(dtype)

    def write(self, offset: int, values: NDArray[Any], dtype: str) -> None:
        """Writes elements at `offset` bytes."""
        # Not `values.reshape(-1)`, which copies a transposed or broadcast array.
        self.read(offset, values.size, dtype).reshape(values.shape)[...] = values


class Cpu:
    """All cores; `run` is synchronous."""

    name = "cpu"
    whole_rows = True

    def allocate(self, nbytes: int) -> CpuBlock:
        """Allocates host memory."""
        # Linux overcommits: an allocation larger than the machine succeeds, and the out-of-memory killer ends the
        # process when the pages are written.
        if (memory := memory_bytes()) is not None and nbytes > memory:
            raise DeviceError(f"cannot allocate {as_bytes(nbytes)}: this machine has {as_bytes(memory)}")
        try:
            return CpuBlock(nbytes)
        except MemoryError:
            raise DeviceError(f"cannot allocate {as_bytes(nbytes)}; try a smaller batch or network") from None

    def compile(self, launches: Sequence[Launch], dtype: str, progress: Progress | None) -> None:
        """Compiles drivers that are not in the cache."""
        compile_all([cpu_driver(launch.code, dtype) for launch in launches], progress)

    def table(self, launches: Sequence[Launch], dtype: str, address: Callable[[Ref], int]) -> CpuTable:
        """Launches with the addresses of their compiled bodies."""
        bodies = compile_all([cpu_driver(launch.code, dtype) for launch in launches], None)
        return CpuTable(launches, bodies, address, dtype)

    def free_bytes(self) -> int | None:
        """All memory of the machine: the system frees caches, and allocates memory on first touch."""
        return memory_bytes()

    def synchronise(self) -> None:
        """Does nothing."""
