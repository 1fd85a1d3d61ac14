"""How many threads compute: one pool, numba's, and never more than the cores that the process may use."""

from __future__ import annotations

import threading
from typing import Any

import numba

from paddle_layers.define.machine import usable_cores

NEVER = 0


class _Limit:
    """The limit that `limit_threads` was given; numba keeps a number of its own for each Python thread."""

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
    if getattr(_Limit.applied, "threads", NEVER) == _Limit.threads:
        return
    settings: Any = numba.config
    most = numba.get_num_threads() if _Limit.threads is None else int(settings.NUMBA_NUM_THREADS)
    numba.set_num_threads(min(most_threads(), most))
    _Limit.applied.threads = _Limit.threads
