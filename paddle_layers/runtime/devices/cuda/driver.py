"""A real GPU, through NVIDIA's bindings of the CUDA driver API."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.memory.blocks import DeviceError

from .compile import ENTRY, CudaDriver, cubin_of
from .queue import queue_kernels
from .staging import Staging

# Threads continue with a grid stride: more blocks would only repeat the index arithmetic at their beginning.
WAVES = 32
"""Maximum number of blocks per multiprocessor."""
LAUNCH_SINCE = 4000
"""The version of CUDA that introduced the current signature of `cuLaunchKernel`."""


NEEDS_A_CARD = 'the device "cuda" needs an NVIDIA GPU and its driver: {}; use the device "cpu"'


def card_problem() -> str | None:
    """Why no GPU can be used, or `None`."""
    try:
        driver = _bindings()
        _call(driver, driver.cuInit(0), "start")
        count = _call(driver, driver.cuDeviceGetCount(), "count the GPUs")
    except (ImportError, RuntimeError, DeviceError) as error:
        return NEEDS_A_CARD.format(str(error).partition(". ")[0].rstrip("."))
    return None if count else NEEDS_A_CARD.format("no GPU found")


def _bindings() -> Any:
    from cuda.bindings import driver

    return driver


def _call(driver: Any, result: tuple[Any, ...], what: str) -> Any:
    """The result of a driver call. Raises `DeviceError` with the driver's error name."""
    status, *values = result
    if int(status) != 0:
        name = driver.cuGetErrorName(status)[1]
        raise DeviceError(f"CUDA cannot {what}: {name.decode() if isinstance(name, bytes) else status}")
    return values[0] if values else None


class DriverCard:
    """A GPU through its primary context, which is shared with other libraries of the process."""

    threads = 256

    def __init__(self, bindings: Any = None, number: int = 0) -> None:
        driver = self._driver = bindings or _bindings()
        # A driver call that is needed once per thread only.
        self._users: set[int] = set()
        self._do(driver.cuInit(0), "start")
        count = self._do(driver.cuDeviceGetCount(), "count the GPUs")
        device = self._do(driver.cuDeviceGet(number % count), "open the GPU")
        self._context = self._do(driver.cuDevicePrimaryCtxRetain(device), "open the GPU")
        self._enter()
        self._stream = self._do(driver.cuStreamCreate(1), "create a stream")  # 1: non-blocking
        attribute = driver.CUdevice_attribute
        major, minor, multiprocessors = (
            int(
                self._do(
                    driver.cuDeviceGetAttribute(getattr(attribute, f"CU_DEVICE_ATTRIBUTE_{name}"), device),
                    "query the GPU",
                )
            )
            for name in ("COMPUTE_CAPABILITY_MAJOR", "COMPUTE_CAPABILITY_MINOR", "MULTIPROCESSOR_COUNT")
        )
        self.architecture, self.blocks = (major, minor), multiprocessors * WAVES
        # The address is called from a compiled loop, where the Python binding would run interpreter code for every
        # launch.
        found = self._do(driver.cuGetProcAddress(b"cuLaunchKernel", LAUNCH_SINCE, 0), "find cuLaunchKernel")
        self._launch = int(found)
        self._staging = Staging(self)
        self._modules: list[Any] = []

    # ---- kernels

    def load(self, driver: CudaDriver) -> int:
        """Compiles and loads a kernel; returns its handle."""
        self._enter()
        module = self._do(self._driver.cuModuleLoadData(cubin_of(driver, self.architecture)), f"load {driver.name}")
        # Unloading a module invalidates the handles of its kernels.
        self._modules.append(module)
        return int(self._do(self._driver.cuModuleGetFunction(module, ENTRY.encode()), f"find {driver.name}"))

    def launch(self, rows: NDArray[np.int64]) -> None:
        """Enqueues kernels."""
        self._enter()
        status, row = queue_kernels(rows, self._launch, int(self._stream))
        if status != 0:
            self._do((self._driver.CUresult(status),), f"launch kernel {row}")

    def synchronise(self) -> None:
        """Waits until all operations are finished."""
        self._do(self._driver.cuStreamSynchronize(self._stream), "synchronize")

    # ---- memory

    def allocate(self, nbytes: int) -> int:
        """Device memory, all zeros."""
        self._enter()
        # CUDA refuses to allocate nothing.
        size = max(nbytes, 1)
        address = self._do(self._driver.cuMemAlloc(size), f"allocate {size / 2**20:,.1f} MiB")
        # In the stream, hence before every kernel that reads it.
        self._do(self._driver.cuMemsetD8Async(address, 0, size, self._stream), "clear memory")
        return int(address)

    def free(self, address: int) -> None:
        """Frees memory when the kernels that use it have finished."""
        self._enter()
        self._do(self._driver.cuMemFree(address), "free memory")

    def upload(self, address: int, values: NDArray[Any], dtype: str) -> None:
        """Enqueues a copy through pinned memory."""
        if values.size:
            self._enter()
            self._staging.copy(
                values,
                dtype,
                lambda place, nbytes: self._do(
                    self._driver.cuMemcpyHtoDAsync(address, place, nbytes, self._stream), "copy to the GPU"
                ),
            )

    def download(self, address: int, into: NDArray[Any]) -> None:
        """Waits and copies."""
        self._enter()
        if into.nbytes:
            copied = self._driver.cuMemcpyDtoHAsync(into.ctypes.data, address, into.nbytes, self._stream)
            self._do(copied, "copy from the GPU")
        self.synchronise()

    def free_bytes(self) -> int:
        """Bytes that can be allocated."""
        self._enter()
        free, _ = self._both(self._driver.cuMemGetInfo(), "query free memory")
        return int(free)

    # ---- pinned memory

    def pin(self, nbytes: int) -> int:
        """Address of newly allocated pinned memory."""
        return int(self._do(self._driver.cuMemHostAlloc(nbytes, 0), f"pin {nbytes / 2**20:,.1f} MiB of host memory"))

    def unpin(self, address: int) -> None:
        """Frees pinned memory."""
        self._do(self._driver.cuMemFreeHost(address), "free host memory")

    def mark(self) -> Any:
        """Records an event in the stream."""
        event = self._do(self._driver.cuEventCreate(2), "create an event")  # 2: without timing, which is faster
        self._do(self._driver.cuEventRecord(event, self._stream), "record an event")
        return event

    def wait(self, mark: Any) -> None:
        """Waits for an event."""
        self._do(self._driver.cuEventSynchronize(mark), "wait for an event")
        self._do(self._driver.cuEventDestroy(mark), "destroy an event")

    # ---- calls

    def _enter(self) -> None:
        """Sets the current context, which is per thread."""
        if threading.get_ident() not in self._users:
            self._do(self._driver.cuCtxSetCurrent(self._context), "open the GPU")
            self._users.add(threading.get_ident())

    def _do(self, result: tuple[Any, ...], what: str) -> Any:
        return _call(self._driver, result, what)

    def _both(self, result: tuple[Any, ...], what: str) -> tuple[Any, Any]:
        self._do(result[:1], what)
        return result[1], result[2]
