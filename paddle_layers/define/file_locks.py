"""Locks of open files, where the operating system has them."""

from __future__ import annotations

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
