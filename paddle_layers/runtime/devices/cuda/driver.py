"""A real card, by NVIDIA's own bindings of the driver."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.memory.blocks import DeviceError

from .compile import ENTRY, CudaDriver, cubin_of
from .queue import queue_kernels
from .staging import Staging

WAVES = 32
"""Blocks for each multiprocessor at most."""
LAUNCH_SINCE = 4000
"""The version of CUDA since which `cuLaunchKernel` is what it is."""


NEEDS_A_CARD = 'the device "cuda" needs an NVIDIA card with its driver: {}; the device "cpu" runs anywhere'


def card_problem() -> str | None:
    """Why there is no card to use, or None."""
    try:
        driver = _bindings()
        _call(driver, driver.cuInit(0), "start")
        count = _call(driver, driver.cuDeviceGetCount(), "count the cards")
    except (ImportError, RuntimeError, DeviceError) as error:
        return NEEDS_A_CARD.format(str(error).partition(". ")[0].rstrip("."))
    return None if count else NEEDS_A_CARD.format("the driver sees none")


def _bindings() -> Any:
    from cuda.bindings import driver

    return driver


def _call(driver: Any, result: tuple[Any, ...], what: str) -> Any:
    """What a call of the driver gave. Raises `DeviceError` with the driver's word for what went wrong."""
    status, *values = result
    if int(status) != 0:
        name = driver.cuGetErrorName(status)[1]
        raise DeviceError(f"CUDA cannot {what}: {name.decode() if isinstance(name, bytes) else status}")
    return values[0] if values else None


class DriverCard:
    """A card, through its primary context, which other libraries of the process use, too."""

    threads = 256

    def __init__(self, bindings: Any = None, number: int = 0) -> None:
        driver = self._driver = bindings or _bindings()
        self._users: set[int] = set()
        self._do(driver.cuInit(0), "start")
        count = self._do(driver.cuDeviceGetCount(), "count the cards")
        device = self._do(driver.cuDeviceGet(number % count), "open the card")
        self._context = self._do(driver.cuDevicePrimaryCtxRetain(device), "open the card")
        self._enter()
        self._stream = self._do(driver.cuStreamCreate(1), "make a stream")  # 1: it does not wait for other streams
        attribute = driver.CUdevice_attribute
        major, minor, multiprocessors = (
            int(self._do(driver.cuDeviceGetAttribute(getattr(attribute, f"CU_DEVICE_ATTRIBUTE_{name}"), device), "ask"))
            for name in ("COMPUTE_CAPABILITY_MAJOR", "COMPUTE_CAPABILITY_MINOR", "MULTIPROCESSOR_COUNT")
        )
        self.architecture, self.blocks = (major, minor), multiprocessors * WAVES
        found = self._do(driver.cuGetProcAddress(b"cuLaunchKernel", LAUNCH_SINCE, 0), "find cuLaunchKernel")
        self._launch = int(found)
        self._staging = Staging(self)
        self._modules: list[Any] = []

    # ---- kernels

    def load(self, driver: CudaDriver) -> int:
        """Compile and load a kernel; gives its handle."""
        self._enter()
        module = self._do(self._driver.cuModuleLoadData(cubin_of(driver, self.architecture)), f"load {driver.name}")
        self._modules.append(module)
        return int(self._do(self._driver.cuModuleGetFunction(module, ENTRY.encode()), f"find {driver.name}"))

    def launch(self, rows: NDArray[np.int64]) -> None:
        """Queue kernels."""
        self._enter()
        status, row = queue_kernels(rows, self._launch, int(self._stream))
        if status != 0:
            self._do((self._driver.CUresult(status),), f"launch kernel {row}")

    def synchronise(self) -> None:
        """Wait until everything is done."""
        self._do(self._driver.cuStreamSynchronize(self._stream), "finish what was launched")

    # ---- memory

    def allocate(self, nbytes: int) -> int:
        """Device memory, all zeros."""
        self._enter()
        size = max(nbytes, 1)
        address = self._do(self._driver.cuMemAlloc(size), f"allocate {size / 2**20:,.1f} MiB")
        self._do(self._driver.cuMemsetD8Async(address, 0, size, self._stream), "clear memory")
        return int(address)

    def free(self, address: int) -> None:
        """Give memory back, when the kernels that use it are done."""
        self._enter()
        self._do(self._driver.cuMemFree(address), "free memory")

    def upload(self, address: int, values: NDArray[Any], dtype: str) -> None:
        """Queue a copy through pinned memory."""
        if values.size:
            self._enter()
            self._staging.copy(
                values,
                dtype,
                lambda place, nbytes: self._do(
                    self._driver.cuMemcpyHtoDAsync(address, place, nbytes, self._stream), "copy to the card"
                ),
            )

    def download(self, address: int, into: NDArray[Any]) -> None:
        """Wait and copy."""
        self._enter()
        if into.nbytes:
            copied = self._driver.cuMemcpyDtoHAsync(into.ctypes.data, address, into.nbytes, self._stream)
            self._do(copied, "copy from the card")
        self.synchronise()

    def free_bytes(self) -> int:
        """Bytes that can be allocated."""
        self._enter()
        free, _ = self._both(self._driver.cuMemGetInfo(), "ask for its memory")
        return int(free)

    # ---- what pinned memory needs

    def pin(self, nbytes: int) -> int:
        """Address of new pinned memory."""
        return int(self._do(self._driver.cuMemHostAlloc(nbytes, 0), f"pin {nbytes / 2**20:,.1f} MiB of host memory"))

    def unpin(self, address: int) -> None:
        """Give pinned memory back."""
        self._do(self._driver.cuMemFreeHost(address), "free host memory")

    def mark(self) -> Any:
        """A point in the queue."""
        event = self._do(self._driver.cuEventCreate(2), "make an event")  # 2: without a time, which is quicker
        self._do(self._driver.cuEventRecord(event, self._stream), "record an event")
        return event

    def wait(self, mark: Any) -> None:
        """Wait until the queue has passed a point."""
        self._do(self._driver.cuEventSynchronize(mark), "wait for the card")
        self._do(self._driver.cuEventDestroy(mark), "forget an event")

    # ---- calls

    def _enter(self) -> None:
        """Every thread has to say once which card it means."""
        if threading.get_ident() not in self._users:
            self._do(self._driver.cuCtxSetCurrent(self._context), "open the card")
            self._users.add(threading.get_ident())

    def _do(self, result: tuple[Any, ...], what: str) -> Any:
        return _call(self._driver, result, what)

    def _both(self, result: tuple[Any, ...], what: str) -> tuple[Any, Any]:
        self._do(result[:1], what)
        return result[1], result[2]
