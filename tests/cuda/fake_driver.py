"""A stand-in for NVIDIA's bindings of the driver, for machines without a card."""

from __future__ import annotations

import ctypes
from enum import IntEnum
from types import SimpleNamespace
from typing import Any

import numpy as np

from paddle_layers.runtime.devices.cuda import SimulatedCard

LAUNCH = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int64, *[ctypes.c_uint] * 7, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64
)
STREAM = 77


class Status(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_ILLEGAL_ADDRESS = 700


class FakeDriver:
    """Host memory stands for the card's; `cuLaunchKernel` is a C function that hands the parameters to the simulator.

    Copies to the card happen when somebody waits, so that pinned memory which is reused too early is noticed.
    """

    CUresult = Status
    CUdevice_attribute = SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR=9,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR=0,
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT=4,
    )

    def __init__(self, room: int = 1 << 30) -> None:
        self.simulator, self.room, self.status = SimulatedCard(), room, 0
        self.calls: list[str] = []
        self.waiting: list[tuple[int, int, int]] = []
        self.launched: list[tuple[int, int, int]] = []
        self.launch = LAUNCH(self._launch)

    def _launch(self, function: int, *rest: int) -> int:
        *grid, shared, stream, parameters, extra = rest
        assert (grid[1:3], grid[4:6], shared, stream, extra) == ([1, 1], [1, 1], 0, STREAM, 0)
        self._arrive()
        self.launched.append((function, grid[0], grid[3]))
        threads = self.simulator._kernels[function - 1][1].threads or 4
        self.simulator.launch(np.array([[function, min(grid[0], 2), threads, parameters]], np.int64))
        return self.status

    def _arrive(self) -> None:
        for address, place, size in self.waiting:
            ctypes.memmove(address, place, size)
        self.waiting.clear()

    def __getattr__(self, name: str) -> Any:
        found = getattr(type(self), f"do_{name}", None)
        if found is None:
            raise AttributeError(name)
        self.calls.append(name)
        return lambda *arguments: (Status.CUDA_SUCCESS, *(found(self, *arguments) or ()))

    def do_cuInit(self, flags: int) -> None: ...

    def do_cuCtxSetCurrent(self, context: int) -> None: ...

    def do_cuGetErrorName(self, status: int) -> tuple[bytes]:
        return (Status(status).name.encode(),)

    def do_cuDeviceGetCount(self) -> tuple[int]:
        return (1,)

    def do_cuDeviceGet(self, number: int) -> tuple[int]:
        return (5,)

    def do_cuDevicePrimaryCtxRetain(self, device: int) -> tuple[int]:
        return (6,)

    def do_cuStreamCreate(self, flags: int) -> tuple[int]:
        return (STREAM,)

    def do_cuDeviceGetAttribute(self, attribute: int, device: int) -> tuple[int]:
        return (attribute,)

    def do_cuGetProcAddress(self, name: bytes, version: int, flags: int) -> tuple[int | None, int]:
        assert name == b"cuLaunchKernel"
        return ctypes.cast(self.launch, ctypes.c_void_p).value, 0

    def do_cuModuleLoadData(self, image: bytes) -> tuple[bytes]:
        assert image[:4] == b"\x7fELF"
        return (image,)

    def do_cuModuleGetFunction(self, module: bytes, name: bytes) -> tuple[int]:
        assert name in module
        return (len(self.simulator._kernels) + 1,)

    def do_cuMemHostAlloc(self, size: int, flags: int) -> tuple[int]:
        return (self.simulator.allocate(size),)

    def do_cuMemAlloc(self, size: int) -> tuple[int]:
        return (self.simulator.allocate(size),)

    def do_cuMemFree(self, address: int) -> None:
        self._arrive()
        self.simulator.free(address)

    do_cuMemFreeHost = do_cuMemFree

    def do_cuMemsetD8Async(self, address: int, value: int, size: int, stream: int) -> None:
        ctypes.memset(address, value, size)

    def do_cuMemcpyHtoDAsync(self, address: int, place: int, size: int, stream: int) -> None:
        self.waiting.append((address, place, size))

    def do_cuMemcpyDtoHAsync(self, into: int, address: int, size: int, stream: int) -> None:
        self._arrive()
        ctypes.memmove(into, address, size)

    def do_cuEventCreate(self, flags: int) -> tuple[int]:
        return (1,)

    def do_cuEventRecord(self, event: int, stream: int) -> None: ...

    def do_cuEventSynchronize(self, event: int) -> None:
        self._arrive()

    def do_cuEventDestroy(self, event: int) -> None: ...

    def do_cuStreamSynchronize(self, stream: int) -> None:
        self._arrive()

    def do_cuMemGetInfo(self) -> tuple[int, int]:
        return self.room, 1 << 40


class PagingDriver(FakeDriver):
    """Gives memory by pages of 16 KiB, takes some for every module, and has no more than its room."""

    def __init__(self, room: int) -> None:
        super().__init__(room)
        self.pages: dict[int, int] = {}

    def do_cuMemAlloc(self, size: int) -> tuple[int]:
        (address,) = super().do_cuMemAlloc(size)
        self.pages[address] = -(-size >> 14) << 14
        assert self.do_cuMemGetInfo()[0] >= 0, "out of memory"
        return (address,)

    def do_cuMemFree(self, address: int) -> None:
        super().do_cuMemFree(address)
        self.pages.pop(address, None)

    def do_cuMemGetInfo(self) -> tuple[int, int]:
        modules = self.calls.count("cuModuleLoadData") << 12
        return self.room - sum(self.pages.values()) - modules, 1 << 40
