"""Simulated GPU by numba's CUDA simulator: slow, but every index is checked, and no GPU is needed."""

from __future__ import annotations

import functools
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.cuda.simulator import kernel
from numpy.typing import NDArray

from paddle_layers.runtime.generate.drivers import Array, Spec
from paddle_layers.runtime.memory.blocks import array_at

from .compile import CudaDriver


class SimulatedCard:
    """Host memory, and kernels that run as Python."""

    # Small, as each thread is a Python thread, but several of both, so that wrong strides show.
    threads, blocks = 4, 2

    def __init__(self, memory: int = 1 << 32) -> None:
        self.memory = memory
        self._kernels: list[tuple[Any, CudaDriver]] = []
        self._memory: dict[int, NDArray[np.uint8]] = {}

    def load(self, driver: CudaDriver) -> int:
        """The index of the kernel in a list, from 1."""
        from numba.cuda.simulator.kernel import FakeCUDAKernel

        use_round_robin()
        self._kernels.append((FakeCUDAKernel(driver.function(), device=False), driver))
        return len(self._kernels)

    def launch(self, rows: NDArray[np.int64]) -> None:
        """Runs kernels, thread by thread."""
        for function, blocks, threads, parameters in rows.tolist():
            if blocks > 0:
                kernel, driver = self._kernels[function - 1]
                kernel[blocks, threads](*_Unpacked(parameters, driver.dtype).arguments(driver.specs))

    def allocate(self, nbytes: int) -> int:
        """Host memory."""
        raw = np.zeros(nbytes + 64, np.uint8)
        address = int(raw.ctypes.data) + -raw.ctypes.data % 64
        self._memory[address] = raw
        return address

    def free(self, address: int) -> None:
        """Frees memory."""
        del self._memory[address]

    def upload(self, address: int, values: NDArray[Any], dtype: str) -> None:
        """Copies immediately."""
        array_at(address, values.shape, dtype)[...] = values

    def download(self, address: int, into: NDArray[Any]) -> None:
        """Copies immediately."""
        into[...] = array_at(address, into.shape, into.dtype)

    def free_bytes(self) -> int:
        """The specified capacity."""
        return self.memory

    def synchronise(self) -> None:
        """Does nothing."""


class _Unpacked:
    """Packed parameters, read as the GPU would read them."""

    def __init__(self, parameters: int, dtype: str) -> None:
        self._parameters, self._dtype, self._at = parameters, dtype, 0

    def arguments(self, specs: tuple[Spec, ...]) -> list[Any]:
        """Arrays, scalars and tuples of them for a kernel."""
        return [self._argument(spec) for spec in specs]

    def _argument(self, spec: Spec) -> Any:
        if isinstance(spec, Array):
            return self._array(spec)
        if not isinstance(spec, str):
            return tuple(self._array(part) for part in spec)
        kind, _, number = spec.partition(" ")
        if number:
            return tuple(self._argument(kind[:-1]) for _ in range(int(number)))
        return self._number(np.dtype("int64" if kind == "int" else self._dtype))

    def _number(self, dtype: np.dtype[Any]) -> Any:
        address = int(array_at(self._parameters + 8 * self._at, (1,), np.int64)[0])
        self._at += 1
        value = array_at(address, (1,), dtype)[0]
        return int(value) if dtype.kind == "i" else value

    def _array(self, spec: Array) -> Any:
        from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray

        numbers = [self._number(np.dtype("int64")) for _ in range(5 + 2 * spec.ndim)]
        dtype = np.dtype(self._dtype if spec.dtype == "real" else spec.dtype)
        shape, strides = numbers[5 : 5 + spec.ndim], numbers[5 + spec.ndim :]
        array = array_at(numbers[4], tuple(shape), dtype)
        # The real kernel would trust these parameters.
        assert numbers[2:4] == [array.size, dtype.itemsize]
        assert array.size == 0 or list(array.strides) == strides
        return FakeCUDAArray(array)


def use_round_robin() -> None:
    """Patches numba's simulator to run thread blocks this way."""
    vars(kernel)["BlockManager"] = ThreadBlock


class Thread(kernel.BlockThread):
    """A thread that waits at the start and at barriers until the block resumes it."""

    def __init__(self, f: Callable[[], None], manager: ThreadBlock, block: Any, thread: Any) -> None:
        super().__init__(f, manager, block, thread, False)
        self.resumed = threading.Semaphore(0)

    def run(self) -> None:
        """Runs the kernel for this thread."""
        self.resumed.acquire()
        if not self._manager.failed:
            super().run()
        self._manager.finish(self)

    def syncthreads(self) -> None:
        """Barrier: all other threads reach it before this one continues."""
        # Only one thread of the block runs at a time, so no access needs a lock.
        self._manager.resume_next()
        self.resumed.acquire()
        if self._manager.failed:
            raise RuntimeError("another thread of the block failed")


class ThreadBlock:
    """A thread block; the first thread of the ring is the one that runs."""

    def __init__(self, f: Callable[..., None], _grid: Any, block_dim: Any, _debug: bool) -> None:
        self._f, self._block_dim = f, block_dim
        self.block_state = np.zeros(block_dim, dtype=np.bool_)
        self._ring: deque[Thread] = deque()
        self._done = threading.Semaphore(0)
        self.failed: tuple[Exception, Any] | None = None

    def run(self, grid_point: Any, *args: Any) -> None:
        """Runs the kernel for all threads. Raises the exception of the first thread that failed."""
        places = np.ndindex(*self._block_dim)
        threads = [Thread(functools.partial(self._f, *args), self, grid_point, place) for place in places]
        self._ring.extend(threads)
        for thread in threads:
            thread.start()
        self._ring[0].resumed.release()
        self._done.acquire()
        for thread in threads:
            thread.join()
        if self.failed:
            raise self.failed[0].with_traceback(self.failed[1])

    def resume_next(self) -> None:
        """Resumes the next thread of the ring."""
        self._ring.rotate(-1)
        self._ring[0].resumed.release()

    def finish(self, thread: Thread) -> None:
        """Called at the end of a thread; the first exception counts."""
        self.failed = self.failed or thread.exception
        self._ring.popleft()
        if self._ring:
            self._ring[0].resumed.release()
        else:
            self._done.release()
