"""MPI all-reduce of partial gradients over all processes; GPU memory is passed directly to CUDA-aware MPI."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from paddle_layers.runtime.devices import Device
    from paddle_layers.runtime.schedule.all_reduce import GradientPart


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
