"""Thread pool of this process, and its number of threads; workers end with the process and do not survive a fork."""

from __future__ import annotations

import atexit
import logging
import os
import threading
from typing import Any

import numba
import numpy as np
from numba.np.ufunc import parallel
from numpy.typing import NDArray

from paddle_layers.define.machine import usable_cores
from paddle_layers.kernels.constants import MAX_CHUNKS

from .native import COLUMNS, run_whole
from .workers import CLOSED, ENDED, OPEN, board_size, run_launches, time_launches, wake, work

log = logging.getLogger("paddle_layers")
HAS_WORKERS = os.name == "posix"
"""Whether the system has the mutexes and condition variables of the workers; otherwise they must not be requested."""
PATIENCE = 1.0
"""Timeout in seconds for the end of a worker."""


class _Limit:
    """The limit set by `limit_threads`."""

    threads: int | None = None


def limit_threads(count: int) -> None:
    """Limits the compute threads of this process, for all Python threads."""
    _Limit.threads = count


def most_threads() -> int:
    """Maximum number of compute threads."""
    return min(usable_cores(), _Limit.threads or usable_cores())


def allowed_threads() -> int:
    """Compute threads for this Python thread: `numba.set_num_threads` may have set fewer."""
    settings: Any = numba.config
    asked = getattr(parallel, "_is_initialized", True)  # otherwise numba would start its own threads to count them
    return min(most_threads(), numba.get_num_threads() if asked else int(settings.NUMBA_NUM_THREADS))


class WorkerPool:
    """A board, and the workers that watch it."""

    def __init__(self) -> None:
        # No more workers than pieces: a launch has at most `MAX_CHUNKS`, and the caller takes pieces, too.
        self._count = min(usable_cores(), MAX_CHUNKS) - 1 if HAS_WORKERS else 0
        self._board = np.zeros(board_size(self._count), np.int64)
        self._board[OPEN] = CLOSED
        self._address = int(self._board.ctypes.data)
        self._starting = threading.Lock()
        # Assigned once, when all threads have started, so that `_threads` may check it without the lock.
        self._workers: list[threading.Thread] = []

    def run(self, rows: NDArray[np.int64], start: int, stop: int, *, worth: bool) -> None:
        """Runs launches `start` to `stop`; sleeping workers are woken if it is worth it."""
        if HAS_WORKERS:
            run_launches(rows, start, stop, self._threads(), worth, self._address)
        else:
            run_whole(rows, start, stop)

    def time(self, rows: NDArray[np.int64], spent: NDArray[np.int64]) -> None:
        """Runs launches sequentially, and adds the nanoseconds of each to `spent`."""
        time_launches(rows, spent, self._threads(), self._address)

    def compile(self) -> None:
        """Compiles, or loads, the launcher now rather than at the first launch."""
        self.run(np.zeros((0, len(COLUMNS)), np.int64), 0, 0, worth=True)

    def _threads(self) -> int:
        threads = allowed_threads()
        if threads > 1 and not self._workers:
            self._start()
        return min(threads, self._count + 1)

    def _start(self) -> None:
        with self._starting:
            if self._workers:
                return
            # Here, and not in the threads, which would all wait for numba's compiler lock.
            work.compile("void(int64, int64)")
            started: list[threading.Thread] = []
            for number in range(1, self._count + 1):
                name, arguments = f"kernels {number}", (self._address, number)
                # Daemons: a worker that waits in machine code must not keep the interpreter from exiting.
                started.append(threading.Thread(target=work, args=arguments, name=name, daemon=True))
                try:
                    started[-1].start()
                except RuntimeError as error:  # the system refuses more threads
                    self._count = number - 1
                    log.warning("kernels use %d threads: %s", number, error)
                    break
            self._workers = started[: self._count]

    def end(self) -> None:
        """Ends the workers before their machine code is freed."""
        # `ENDED` is a separate element and not a value of `OPEN`, which a pass of a daemon thread would overwrite. It
        # is set before workers are woken, so that a woken worker sees it.
        self._count, self._board[ENDED] = 0, 1
        if self._workers:
            wake(self._address, len(self._workers))
        for worker in self._workers:
            # With a timeout: a worker may be in a long kernel, or blocked in a call of a daemon thread.
            worker.join(PATIENCE)


class _Current:
    """The pool of this process."""

    def __init__(self) -> None:
        self.pool = WorkerPool()

    def renew(self) -> None:
        """Called in the child of a fork, which has none of the threads."""
        self.pool = WorkerPool()

    def end(self) -> None:
        """Called at interpreter exit."""
        self.pool.end()


_CURRENT = _Current()
atexit.register(_CURRENT.end)
if hasattr(os, "register_at_fork"):
    # A new board instead of a reset of the old one: the fork may have happened during a pass, whose state and locks in
    # the copied memory no thread of the child would ever release.
    os.register_at_fork(after_in_child=_CURRENT.renew)


def pool() -> WorkerPool:
    """The thread pool of this process."""
    return _CURRENT.pool
