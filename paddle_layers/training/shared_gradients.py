"""Gradients of processes of one machine, in memory that all of them see: each adds up a share, in all of them at once.

MPI would copy every number through buffers of its own. Here it only says when all processes are done with a part. The
sums have one order, that of the processes.
"""

from __future__ import annotations

import mmap
import os
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.machine import as_bytes
from paddle_layers.runtime.devices.cpu.device import CpuBlock
from paddle_layers.runtime.memory.blocks import DeviceError

if TYPE_CHECKING:
    from paddle_layers.runtime.memory.blocks import Flat
    from paddle_layers.runtime.plan.gradient_parts import GradientPart

CHUNK = 2**15
"""Numbers that are added up at once: the cache of a core holds them while they are written to all."""
LINE = 32
"""Shares begin at multiples of so many numbers, so that no two processes write to one line of a cache."""


class SharedBlock(CpuBlock):
    """Memory of this process that others of the machine may map; it is gone with the last of them, however they end."""

    def __init__(self, nbytes: int) -> None:
        self.file = os.memfd_create("gradients")
        weakref.finalize(self, os.close, self.file)
        try:
            os.posix_fallocate(self.file, 0, max(nbytes, 1))
        except OSError:
            raise DeviceError(f"there are no {as_bytes(nbytes)} of memory for gradients") from None
        self._bytes = _mapped(self.file)
        self.address = int(self._bytes.ctypes.data)


class SharedMemory:
    """Who gives memory that processes can share."""

    def allocate(self, nbytes: int) -> SharedBlock:
        """Zeros. Raises `DeviceError` when there is too little memory."""
        return SharedBlock(nbytes)


class SharedGradients:
    """The gradients of all processes, in their order, and sums of parts of them."""

    note = ""

    def __init__(self, comm: Any, arenas: list[NDArray[Any]]) -> None:
        self._comm, self._own, self._arenas = comm, comm.Get_rank(), arenas
        self._total = np.empty(CHUNK, arenas[0].dtype)
        self._begun: deque[tuple[Any, int, int]] = deque()

    def start_sum(self, part: GradientPart) -> None:
        """Begin to replace a part of this process's gradients by the sum over all."""
        begin = part.offset // self._total.itemsize
        self._begun.append((self._comm.Ibarrier(), begin, begin + part.size))
        while self._begun and self._begun[0][0].Test():  # now, while it lies in caches
            self._add_up(*self._begun.popleft()[1:])

    def wait(self) -> None:
        """Wait until all processes have added up their shares of all parts."""
        while self._begun:
            done, begin, end = self._begun.popleft()
            done.Wait()
            self._add_up(begin, end)
        self._comm.Barrier()

    def _add_up(self, begin: int, end: int) -> None:
        """Put the sums of this process's share of a part into the gradients of all."""
        share = -(-(end - begin) // (len(self._arenas) * LINE)) * LINE
        first = begin + self._own * share
        last = min(first + share, end)
        for at in range(first, last, CHUNK):
            parts = [arena[at : min(at + CHUNK, last)] for arena in self._arenas]
            total = self._total[: len(parts[0])]
            np.add(parts[0], parts[1], out=total)
            for part in parts[2:]:
                total += part
            for part in parts:
                part[:] = total


def shared_gradients(comm: Any, gradients: Flat) -> SharedGradients | None:
    """The gradients of all processes of `comm`; None where one cannot see another's, as in other containers."""
    if not isinstance(gradients.block, SharedBlock):
        return None
    places = comm.allgather((os.getpid(), gradients.block.file))
    try:
        own = comm.Get_rank()
        found = [
            gradients.block.read(0, gradients.size, gradients.dtype)
            if number == own
            else _mapped(f"/proc/{process}/fd/{file}").view(gradients.dtype)
            for number, (process, file) in enumerate(places)
        ]
    except (OSError, ValueError):
        found = []
    return SharedGradients(comm, found) if all(comm.allgather(len(found) == len(places))) else None


def _mapped(file: int | str) -> NDArray[np.uint8]:
    """The bytes of a file that lies in memory."""
    opened = os.open(file, os.O_RDWR) if isinstance(file, str) else os.dup(file)
    try:
        return np.frombuffer(mmap.mmap(opened, os.fstat(opened).st_size), np.uint8)
    finally:
        os.close(opened)
