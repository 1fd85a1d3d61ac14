"""Threads of a simulated block that take turns: each runs to the next barrier, then the one behind it.

numba's simulator lets all threads of a block run at once and polls them, which takes seconds for a block of 256. Taking
turns is some twenty times quicker, and a missing barrier shows in every run, not now and then.
"""

from __future__ import annotations

import functools
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np


@functools.cache
def take_turns() -> None:
    """Make numba's simulator run blocks this way."""
    from numba.cuda.simulator import kernel

    class Turn(kernel.BlockThread):
        """A thread that runs while it has the turn."""

        def __init__(self, f: Callable[[], None], manager: Block, block: Any, thread: Any) -> None:
            super().__init__(f, manager, block, thread, False)
            self.turn = threading.Semaphore(0)

        def run(self) -> None:
            self.turn.acquire()
            if not self._manager.failed:
                super().run()
            self._manager.leave(self)

        def syncthreads(self) -> None:
            self._manager.pass_on()
            self.turn.acquire()
            if self._manager.failed:
                raise RuntimeError("another thread of the block has failed")

    class Block:
        """The threads of a block in a ring; the first one has the turn."""

        def __init__(self, f: Callable[..., None], _grid: Any, block_dim: Any, _debug: bool) -> None:
            self._f, self._block_dim = f, block_dim
            self.block_state = np.zeros(block_dim, dtype=np.bool_)
            self._ring: deque[Turn] = deque()
            self._done = threading.Semaphore(0)
            self.failed: tuple[Exception, Any] | None = None

        def run(self, grid_point: Any, *args: Any) -> None:
            places = np.ndindex(*self._block_dim)
            threads = [Turn(functools.partial(self._f, *args), self, grid_point, place) for place in places]
            self._ring.extend(threads)
            for thread in threads:
                thread.start()
            self._ring[0].turn.release()
            self._done.acquire()
            for thread in threads:
                thread.join()
            if self.failed:
                raise self.failed[0].with_traceback(self.failed[1])

        def pass_on(self) -> None:
            """The next one runs."""
            self._ring.rotate(-1)
            self._ring[0].turn.release()

        def leave(self, thread: Turn) -> None:
            """A thread has ended, well or not; the first failure counts."""
            self.failed = self.failed or thread.exception
            self._ring.popleft()
            if self._ring:
                self._ring[0].turn.release()
            else:
                self._done.release()

    vars(kernel)["BlockManager"] = Block
