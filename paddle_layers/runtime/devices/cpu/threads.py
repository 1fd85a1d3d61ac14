"""How many threads compute: one pool, numba's, and never more than the cores that the process may use."""

from __future__ import annotations

import threading
from typing import Any

import numba

from paddle_layers.define.machine import usable_cores


class _Limit:
    """What `limit_threads` was told; numba keeps a number of its own for each Python thread."""

    threads: int | None = None
    applied = threading.local()


def limit_threads(count: int) -> None:
    """Compute with at most so many threads in this process, whichever Python thread asks for it."""
    _Limit.threads = count


def most_threads() -> int:
    """Threads that may compute."""
    return min(usable_cores(), _Limit.threads or usable_cores())


def apply_limit() -> None:
    """Bring numba's number in this Python thread to the limit; a smaller one that the caller has set stays."""
    limit = most_threads()
    if getattr(_Limit.applied, "limit", None) != limit:
        settings: Any = numba.config
        most = numba.get_num_threads() if _Limit.threads is None else int(settings.NUMBA_NUM_THREADS)
        numba.set_num_threads(min(limit, most))
        _Limit.applied.limit = limit
