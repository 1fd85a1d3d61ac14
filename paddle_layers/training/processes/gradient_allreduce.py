"""All-reduce of partial gradients: by shared memory for processes on one machine, by MPI for several machines and GPUs.

In shared memory each process sums a share for all of them, in the order of the processes. MPI would copy every value
through its buffers; here it only signals that all processes have finished a part.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.devices.cpu.device import Cpu, CpuBlock

if TYPE_CHECKING:
    from paddle_layers.runtime.devices import Device
    from paddle_layers.runtime.memory.blocks import Flat
    from paddle_layers.runtime.schedule.all_reduce import GradientPart


CHUNK = 2**15
"""Numbers that are added up at once: the cache of a core holds them while they are written to all."""
LINE = 32
"""Shares begin at multiples of so many numbers, so that no two processes write to one line of a cache."""


class FileHandle(NamedTuple):
    """An open file of a process, and what it is known by."""

    process: int
    file: int
    mark: tuple[int, int]


class SharedBlock(CpuBlock):
    """Memory of this process that others of the machine may map; it is gone with the last of them, however they end."""

    def __init__(self, nbytes: int) -> None:
        self.file = os.memfd_create("gradients")
        weakref.finalize(self, os.close, self.file)
        # Allocated now: a lack of memory is an error here, instead of a SIGBUS when a page is first touched.
        os.posix_fallocate(self.file, 0, max(nbytes, 64))  # no file without bytes can be mapped
        self._bytes = _bytes(self.file)
        self.address = int(self._bytes.ctypes.data)

    def handle(self) -> FileHandle:
        """The identifier by which other processes open it."""
        return FileHandle(os.getpid(), self.file, _mark(os.fstat(self.file)))


class SharedMemory:
    """Allocator of shared memory, where the system supports it."""

    def allocate(self, nbytes: int) -> CpuBlock:
        """Zeros. Raises `DeviceError` when there is too little memory."""
        try:
            return SharedBlock(nbytes)
        except OSError:  # a limit on the size of files holds for those in memory, too
            return Cpu().allocate(nbytes)


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
        # The barrier of a part completes when all processes have computed it; meanwhile this one continues.
        self._begun.append((self._comm.Ibarrier(), begin, begin + part.size))
        while self._begun and self._begun[0][0].Test():  # now, while it is in the caches
            self._add_up(*self._begun.popleft()[1:])

    def wait(self) -> None:
        """Wait until all processes have added up their shares of all parts."""
        while self._begun:
            done, begin, end = self._begun.popleft()
            done.Wait()
            self._add_up(begin, end)
        # No process may use, or overwrite, its gradients before all shares are written.
        self._comm.Barrier()

    def _add_up(self, begin: int, end: int) -> None:
        """Put the sums of this process's share of a part into the gradients of all."""
        # Each element is summed by one process only, in the order of the processes, so all have the same bits.
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
    block, own = gradients.block, comm.Get_rank()
    handles = comm.allgather(block.handle() if isinstance(block, SharedBlock) else None)
    if None in handles:
        return None
    arenas = [gradients.read() if at == own else _mapped(handle, gradients.dtype) for at, handle in enumerate(handles)]
    found = [arena for arena in arenas if arena is not None]
    return SharedGradients(comm, found) if all(comm.allgather(len(found) == len(handles))) else None


def _mapped(handle: FileHandle, dtype: str) -> NDArray[Any] | None:
    """Numbers of another process; None where this one cannot see them."""
    path = f"/proc/{handle.process}/fd/{handle.file}"
    try:
        if _mark(os.stat(path)) != handle.mark:  # a process of another container may have the same numbers
            return None
        file = os.open(path, os.O_RDWR)
    except OSError:
        return None
    try:
        return _bytes(file).view(dtype)
    finally:
        os.close(file)


def _mark(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _bytes(file: int) -> NDArray[np.uint8]:
    """The bytes of an in-memory file."""
    return np.frombuffer(mmap.mmap(file, os.fstat(file).st_size), np.uint8)


class GpuArray:
    """GPU memory as mpi4py accepts it: the CUDA array interface, version 3."""

    def __init__(self, part: GradientPart) -> None:
        kind = np.dtype(part.dtype).str
        self.__cuda_array_interface__ = {
            "shape": (part.size,), "typestr": kind, "data": (part.address, False), "version": 3,
        }  # fmt: skip


class MpiSums:
    """Sums that go on while this process computes, as far as MPI does."""

    def __init__(self, mpi: Any, device: Device) -> None:
        self._mpi, self._comm, self._device = mpi, mpi.COMM_WORLD, device
        self._on_gpu = device.name == "cuda"
        self._is_cuda_aware = self._on_gpu and is_cuda_aware(mpi)
        self._requests: list[Any] = []
        self._copies: list[tuple[GradientPart, Any]] = []

    @property
    def note(self) -> str:
        """A note for the user about the all-reduce."""
        copied = self._on_gpu and not self._is_cuda_aware
        return "note: this MPI is not CUDA-aware: gradients are summed in host memory" if copied else ""

    def start_sum(self, part: GradientPart) -> None:
        """Begin to replace a part of the gradients by the sum over all processes."""
        self._mpi.Request.Testall(self._requests)  # many an MPI moves on only when it is called
        numbers: Any
        if not self._on_gpu:
            numbers = part.numbers
        elif self._is_cuda_aware:
            self._device.synchronise()  # MPI does not wait for what is queued
            numbers = GpuArray(part)
        else:
            # A copy that lives until `wait`: MPI reads and writes it asynchronously.
            numbers = np.array(part.numbers)
            self._copies.append((part, numbers))
        self._requests.append(self._comm.Iallreduce(self._mpi.IN_PLACE, numbers))

    def wait(self) -> None:
        """Wait until all sums that were begun are there."""
        self._mpi.Request.Waitall(self._requests)
        for part, numbers in self._copies:
            part.write(numbers)
        self._requests, self._copies = [], []


def is_cuda_aware(mpi: Any) -> bool:
    """Whether this MPI is CUDA-aware: as MPI 4.1 reports it, or by Open MPI's function."""
    kinds = mpi.COMM_WORLD.Get_info().get("mpi_memory_alloc_kinds") or ""
    if any(kind in ("cuda", "cuda:device") for kind in kinds.split(",")):
        return True
    asked = getattr(ctypes.CDLL(mpi.__file__), "MPIX_Query_cuda_support", None)
    return asked is not None and bool(asked())
