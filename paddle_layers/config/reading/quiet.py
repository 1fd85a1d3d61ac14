"""Large files make much and drop nothing: the garbage collector waits meanwhile."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import TypeVar

R = TypeVar("R")


def quietly(call: Callable[[], R]) -> R:
    """Call without the garbage collector: nothing becomes garbage here, and it doubles the time of large files."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return call()
    finally:
        if was_enabled:
            gc.enable()
