"""Round-robin scheduling of a simulated thread block: each thread runs to the next barrier, then the next thread does.

numba's simulator runs all threads of a block at once and polls them, which takes seconds for a block of 256. Round
robin is some twenty times faster, and deterministic: a missing barrier shows in every run.

Importing this file imports numba's simulator, which only a simulated GPU needs.
"""

from __future__ import annotations

import functools
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.cuda.simulator import kernel


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
