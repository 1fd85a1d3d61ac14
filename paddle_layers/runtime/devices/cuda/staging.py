"""Pinned staging buffers for asynchronous host-to-device copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.memory.addresses import array_at

ALIGNMENT = 64
SMALLEST = 1 << 20
"""Initial size of a half in bytes."""


class Pinned(Protocol):
    """Driver functions for pinned memory."""

    def pin(self, nbytes: int) -> int:
        """Address of newly allocated pinned memory."""

    def unpin(self, address: int) -> None:
        """Frees pinned memory."""

    def mark(self) -> Any:
        """Records an event in the stream."""

    def wait(self, mark: Any) -> None:
        """Waits for an event."""


class Staging:
    """Double buffering: one half is filled while copies from the other may be in flight."""

    def __init__(self, driver: Pinned) -> None:
        self._driver = driver
        self._halves = [0, 0]
        self._marks: list[Any] = [None, None]
        self._size = self._used = self._active = 0

    def copy(self, values: NDArray[Any], dtype: str, send: Callable[[int, int], None]) -> None:
        """Copies the values to pinned memory and calls `send(address, nbytes)`, which enqueues the copy."""
        nbytes = values.size * np.dtype(dtype).itemsize
        place = self._place_for(nbytes)
        array_at(place, values.shape, dtype)[...] = values
        send(place, nbytes)

    def _place_for(self, nbytes: int) -> int:
        wide = -(-nbytes // ALIGNMENT) * ALIGNMENT
        if wide > self._size:
            # Twice the size: pinning memory is slow, and the next copy must not grow it again.
            self._grow(max(SMALLEST, 2 * wide))
        if self._used + wide > self._size:
            self._swap()
        place = self._halves[self._active] + self._used
        self._used += wide
        return place

    def _swap(self) -> None:
        """Switches to the other half, once copies from it have finished."""
        # An event per half instead of a wait for the stream: kernels queued after the copies go on.
        self._marks[self._active] = self._driver.mark()
        self._active, self._used = 1 - self._active, 0
        if self._marks[self._active] is not None:
            self._driver.wait(self._marks[self._active])

    def _grow(self, size: int) -> None:
        # Copies from the old halves may be in flight.
        self._driver.wait(self._driver.mark())
        for address in filter(None, self._halves):
            self._driver.unpin(address)
        self._halves = [self._driver.pin(size) for _ in range(2)]
        self._marks = [None, None]
        self._size, self._used = size, 0
