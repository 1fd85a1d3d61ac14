"""Suspended garbage collection for code that allocates many objects, such as parsing a large file."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import TypeVar

R = TypeVar("R")


def gc_paused(call: Callable[[], R]) -> R:
    """Call without the garbage collector, which doubles the time of large files, and finds next to nothing."""
    was_enabled = gc.isenabled()
    # Parsed objects form no cycles, but the collector walks all of them again and again as they accumulate: 13.3
    # instead of 7.2 us per layer for 100,000 layers.
    gc.disable()
    try:
        return call()
    finally:
        if was_enabled:
            gc.enable()
