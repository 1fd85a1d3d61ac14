"""Buffers of a plan and who may share memory with whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paddle_layers.runtime.graph.domains import Extent

ALIGNMENT = 64
FOREVER = 1 << 60


@dataclass(eq=False)
class Buffer:
    """Memory for `extent` elements. It lives from its first write to its last use, counted in launches."""

    name: str
    extent: Extent
    dtype: str
    first: int = FOREVER
    last: int = -1
    storage: Storage | None = None

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return np.dtype(self.dtype).itemsize

    @property
    def nbytes(self) -> int:
        """Bytes at capacity."""
        return self.extent.capacity * self.itemsize

    def use(self, at: int) -> None:
        """Note a read or write by launch `at`."""
        self.first, self.last = min(self.first, at), max(self.last, at)

    def keep(self) -> None:
        """Let nobody else have this memory: it is filled from outside before the pass."""
        self.first, self.last = -1, FOREVER

    def keep_result(self) -> None:
        """Let nobody have this memory after its last write: it can be read after the pass."""
        self.last = FOREVER


@dataclass(eq=False)
class Storage:
    """Memory that one or, by in-place use, several buffers have one after the other."""

    buffers: list[Buffer]
    first: int
    last: int
    offset: int = 0

    @property
    def nbytes(self) -> int:
        """Bytes at capacity, aligned."""
        largest = max(buffer.nbytes for buffer in self.buffers)
        return (largest + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


@dataclass
class Takeover:
    """At launch `at`, `taker` may have the memory of `giver` if that is the giver's last use."""

    at: int
    giver: Buffer
    taker: Buffer


def share(buffers: Sequence[Buffer], takeovers: Sequence[Takeover]) -> list[Storage]:
    """Give each buffer a storage, in place where a takeover is possible."""
    storages = []
    for buffer in buffers:
        buffer.storage = Storage([buffer], buffer.first, buffer.last)
    for takeover in sorted(takeovers, key=lambda t: t.at):
        giver, taker = takeover.giver, takeover.taker
        old, new = giver.storage, taker.storage
        if old is None or new is None or old is new or len(new.buffers) > 1:
            continue
        same_size = giver.extent == taker.extent and giver.dtype == taker.dtype
        if same_size and old.last == takeover.at and taker.first == takeover.at:
            old.buffers.append(taker)
            old.last = max(old.last, taker.last)
            taker.storage = old
    for buffer in buffers:
        if buffer.storage not in storages and buffer.storage is not None:
            storages.append(buffer.storage)
    return storages


def place(storages: Sequence[Storage]) -> int:
    """Offsets in one arena, the largest first; storages that live at the same time don't overlap. Gives its bytes."""
    placed: list[Storage] = []
    for storage in sorted(storages, key=lambda s: -s.nbytes):
        size, offset = storage.nbytes, 0
        for other in placed:  # sorted by offset
            if other.first <= storage.last and storage.first <= other.last:
                if other.offset >= offset + size:
                    break
                offset = max(offset, other.offset + other.nbytes)
        storage.offset = offset
        placed.append(storage)
        placed.sort(key=lambda s: s.offset)
    return max((s.offset + s.nbytes for s in storages), default=0)
