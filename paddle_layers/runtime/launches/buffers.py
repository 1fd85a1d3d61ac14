"""Buffers of a plan, their storage, and in-place takeovers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paddle_layers.runtime.graph.domains import Extent

ALIGNMENT = 64
FOREVER = 1 << 60


@dataclass(eq=False)
class Buffer:
    """Memory for `extent` elements. It is live from its first write to its last use, counted in launches."""

    name: str
    extent: Extent
    dtype: str
    first: int = FOREVER
    last: int = -1
    storage: Storage | None = None
    same_as: Buffer | None = None
    """A buffer with the same values as long as both are read, or that contains this one: both share memory."""
    begin: int = 0
    """Offset in `same_as`, in elements."""
    in_place: str = ""
    """The buffer whose memory it takes over, or why it does not; empty if there is no candidate."""

    @property
    def root(self) -> Buffer:
        """The buffer that owns its memory."""
        return self if self.same_as is None else self.same_as.root

    @property
    def shift(self) -> int:
        """Offset in its storage, in bytes."""
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
        """Records a read or write by launch `at`."""
        self.first, self.last = min(self.first, at), max(self.last, at)

    def keep(self) -> None:
        """Excludes the memory from sharing: it is filled from outside before the pass."""
        self.first, self.last = -1, FOREVER

    def keep_result(self) -> None:
        """Excludes the memory from sharing after its last write: it can be read after the pass."""
        self.last = FOREVER


@dataclass(eq=False)
class Storage:
    """Memory of one buffer or, by in-place use, several buffers in turn."""

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
    """At launch `at`, `taker` may reuse the memory of `giver` if that is the giver's last use."""

    at: int
    giver: Buffer
    taker: Buffer
