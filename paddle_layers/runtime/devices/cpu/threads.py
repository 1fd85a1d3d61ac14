"""How many threads compute: never more than the cores that the process may use."""

from __future__ import annotations

from typing import Any

import numba
from numba.np.ufunc import parallel

from paddle_layers.define.machine import usable_cores


class _Limit:
    """The limit that `limit_threads` was given."""

    threads: int | None = None


def limit_threads(count: int) -> None:
    """Compute with at most so many threads in this process, whichever Python thread asks for it."""
    _Limit.threads = count


def most_threads() -> int:
    """Threads that may compute."""
    return min(usable_cores(), _Limit.threads or usable_cores())


def allowed_threads() -> int:
    """Threads that may compute for this Python thread: `numba.set_num_threads` may have set fewer."""
    settings: Any = numba.config
    asked = getattr(parallel, "_is_initialized", True)  # else numba would start its own threads to tell how many
    return min(most_threads(), numba.get_num_threads() if asked else int(settings.NUMBA_NUM_THREADS))
