"""Number of compute threads: never more than the cores available to the process."""

from __future__ import annotations

from typing import Any

import numba
from numba.np.ufunc import parallel

from paddle_layers.define.machine import usable_cores


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
