"""Buffers of a plan, the memory they lie in, and who may take it over."""

from __future__ import annotations

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
    same_as: Buffer | None = None
    """A buffer with the same values as long as both are read, or of which this is a part: both are one memory."""
    begin: int = 0
    """Elements of `same_as` before it."""
    in_place: str = ""
    """Whose memory it takes, or why it takes none; empty where nothing has memory to take over."""

    @property
    def root(self) -> Buffer:
        """The buffer whose memory it is."""
        return self if self.same_as is None else self.same_as.root

    @property
    def shift(self) -> int:
        """Bytes before it in its storage."""
        return 0 if self.same_as is None else self.begin * self.itemsize + self.same_as.shift

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
