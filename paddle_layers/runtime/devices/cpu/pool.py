"""The pool of threads that numba has started, and what a fork does to it."""

from __future__ import annotations

import contextlib
import functools
import os

import numpy as np
from numba import get_num_threads, threading_layer
from numpy.typing import NDArray


def threads_are_shared() -> bool:
    """Whether two threads may run launches at once; in numba's simplest pool, `workqueue`, they end the process."""
    return started_pool() != "workqueue"


@functools.cache
def started_pool() -> str:
    """The name of numba's thread pool, which is started if it is not.

    It has to be before `run_launches` is loaded: up to version 0.62, numba looks for the pool's functions when it loads
    what it kept, and does not start it for a function that is not parallel itself; a call then leads nowhere.
    """
    get_num_threads()
    return str(threading_layer())


class _Fork:
    """What is known of a fork in the process that came of it."""

    threads_lost = False
    """Whether the one before had started its threads, so that this one can have none."""

    def note(self) -> None:
        """The system calls it in the child."""
        with contextlib.suppress(ValueError):  # none was started: the child starts its own
            self.threads_lost = threading_layer() == "omp" and openmp_vendor() == "GNU"


def check_threads(chunks: NDArray[np.int64]) -> None:
    """Raise `RuntimeError` where pieces of a launch would end the process: GNU's OpenMP aborts in a forked one."""
    if _FORK.threads_lost and (chunks > 1).any():
        raise RuntimeError(
            "this process was forked from one that had already computed with several threads, which do not survive a "
            'fork: start it with multiprocessing.get_context("spawn"), or fork before the first pass'
        )


def openmp_vendor() -> str:
    """Whose OpenMP numba runs on."""
    from numba.np.ufunc import omppool

    return str(omppool.openmp_vendor)


_FORK = _Fork()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_FORK.note)
