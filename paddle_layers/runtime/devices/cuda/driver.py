"""A real GPU, through NVIDIA's bindings of the CUDA driver API: launches, and copies through pinned staging buffers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from llvmlite import ir
from numba import njit, types
from numpy.typing import NDArray

from paddle_layers.kernels.primitives.compile_options import llvm_code
from paddle_layers.runtime.generate.cache import kept
from paddle_layers.runtime.memory.blocks import DeviceError, array_at

from .compile import ENTRY, CudaDriver, cubin_of

# Threads continue with a grid stride: more blocks would only repeat the index arithmetic at their beginning.
WAVES = 32
"""Maximum number of blocks per multiprocessor."""
LAUNCH_SINCE = 4000
"""The version of CUDA that introduced the current signature of `cuLaunchKernel`."""
NEEDS_A_CARD = 'the device "cuda" needs an NVIDIA GPU and its driver: {}; use the device "cpu"'
STAGING_ALIGNMENT = 64
SMALLEST_HALF = 1 << 20
"""Initial size of a half of the staging buffer in bytes."""


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


@llvm_code(types.int64(*[types.int64] * 6))
def call_launch(builder: Any, launch: Any, function: Any, blocks: Any, threads: Any, stream: Any, params: Any) -> Any:
    """Calls `cuLaunchKernel` at an address: one-dimensional grid, no dynamic shared memory; returns its status."""
    i32, i64 = ir.IntType(32), ir.IntType(64)
    one, zero = i32(1), i32(0)
    prototype = ir.FunctionType(i32, [i64, *[i32] * 7, i64, i64, i64])
    grid = [builder.trunc(blocks, i32), one, one, builder.trunc(threads, i32), one, one]
    given = [function, *grid, zero, stream, params, i64(0)]
    status = builder.call(builder.inttoptr(launch, prototype.as_pointer()), given)
    return builder.sext(status, i64)


@kept
@njit(nogil=True)
def queue_kernels(rows: Any, launch: int, stream: int) -> tuple[int, int]:
    """Enqueues the rows of a `CudaTable`; returns the driver's first error and the row, or (0, 0).

    In one compiled loop, a launch costs only the driver call, without Python overhead.
    """
    for row in range(rows.shape[0]):
        # An empty batch or step: CUDA rejects a grid of no blocks.
        if rows[row, 1] > 0:
            status: Any = call_launch(launch, rows[row, 0], rows[row, 1], rows[row, 2], stream, rows[row, 3])
            if status != 0:
                return status, row
    return 0, 0


class Pinned(Protocol):
    """Driver functions for pinned memory."""

    def pin(self, nbytes: int) -> int:
        """Address of newly allocated pinned memory."""

    def unpin(self, address: int) -> None:
        """Frees pinned memory."""

    def mark(self) -> Any:
        """Records an event in the stream."""

    def wait(self, mark: Any) -> None:
        """Waits for an event."""


class Staging:
    """Double buffering: one half is filled while copies from the other may be in flight."""

    def __init__(self, driver: Pinned) -> None:
        self._driver = driver
        self._halves = [0, 0]
        self._marks: list[Any] = [None, None]
        self._size = self._used = self._active = 0

    def copy(self, values: NDArray[Any], dtype: str, send: Callable[[int, int], None]) -> None:
        """Copies the values to pinned memory and calls `send(address, nbytes)`, which enqueues the copy."""
        nbytes = values.size * np.dtype(dtype).itemsize
        place = self._place_for(nbytes)
        array_at(place, values.shape, dtype)[...] = values
        send(place, nbytes)

    def _place_for(self, nbytes: int) -> int:
        wide = -(-nbytes // STAGING_ALIGNMENT) * STAGING_ALIGNMENT
        if wide > self._size:
            # Twice the size: pinning memory is slow, and the next copy must not grow it again.
            self._grow(max(SMALLEST_HALF, 2 * wide))
        if self._used + wide > self._size:
            self._swap()
        place = self._halves[self._active] + self._used
        self._used += wide
        return place

    def _swap(self) -> None:
        """Switches to the other half, once copies from it have finished."""
        # An event per half instead of a wait for the stream: kernels queued after the copies go on.
        self._marks[self._active] = self._driver.mark()
        self._active, self._used = 1 - self._active, 0
        if self._marks[self._active] is not None:
            self._driver.wait(self._marks[self._active])

    def _grow(self, size: int) -> None:
        # Copies from the old halves may be in flight.
        self._driver.wait(self._driver.mark())
        for address in filter(None, self._halves):
            self._driver.unpin(address)
        self._halves = [self._driver.pin(size) for _ in range(2)]
        self._marks = [None, None]
        self._size, self._used = size, 0
