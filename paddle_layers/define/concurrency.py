"""Concurrency: locks of files, fork-safe locks of threads, and thread-local switches for a `with` block.

A child process has no thread that would release the locks of other threads.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TypeVar

_LOCKS: weakref.WeakSet[ForkSafeLock] = weakref.WeakSet()
T = TypeVar("T")


try:
    import fcntl

    HAS_FILE_LOCKS = True
except ImportError:  # Windows
    HAS_FILE_LOCKS = False


def lock_file(handle: int, *, shared: bool = False, wait: bool = False) -> None:
    """Lock an open file until it is closed or the process ends; does nothing without file locks.

    Raises `BlockingIOError` if another process holds the lock, unless `wait`, and `OSError` on file systems without
    locks.
    """
    if HAS_FILE_LOCKS:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))


class ForkSafeLock:
    """A reentrant lock that is free in the child of a fork, even if another thread of the parent holds it.

    Use it as `with lock.current:`, so that each use sees the child's own.
    """

    __slots__ = ("__weakref__", "current")

    def __init__(self) -> None:
        # Not a context manager itself: an interrupt between the calls in its methods could leave the lock held.
        self.current = threading.RLock()
        _LOCKS.add(self)

    def renew(self) -> None:
        """Replace the lock if another thread holds it; one that the forking thread holds is its own in the child."""
        # Reentrant, so this also succeeds for the thread that forks. A lock of any other thread stays held forever,
        # since that thread does not exist in the child.
        if self.current.acquire(blocking=False):
            self.current.release()
        else:
            self.current = threading.RLock()


def _renew_all() -> None:
    for lock in list(_LOCKS):
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)


@contextlib.contextmanager
def switched(variable: ContextVar[T], value: T) -> Iterator[None]:
    """Within it, the variable has this value; other threads see theirs."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)
