"""In-place execution and buffer reuse: which buffers share memory.

In place, a result takes over the memory of an input at its last use. Then the buffers of a plan are placed in one
block, where only those with disjoint lifetimes may overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from paddle_layers.define.machine import as_bytes
from paddle_layers.runtime.launches.buffers import FOREVER, Buffer, Storage, Takeover
from paddle_layers.runtime.memory.blocks import DeviceError

from . import runs


def take_over(buffers: Iterable[Buffer], takeovers: Sequence[Takeover]) -> list[Storage]:
    """Assigns a storage to each buffer, in place where a takeover is possible.

    `Buffer.in_place` has the source, or the reason against.
    """
    known = list(dict.fromkeys(buffers))
    for buffer in known:
        buffer.in_place = ""
        buffer.storage = Storage([buffer], buffer.first, buffer.last)
    for buffer in known:
        # Copies and parts first: their storages are joined for correctness, takeovers are optional and have to see the
        # joined lifetimes.
        if buffer.same_as is not None:
            _join(buffer.storage, buffer.root.storage)
    taken: set[Buffer] = set()
    # In the order of launches: a buffer that has taken over memory may itself give it to a later one.
    for takeover in sorted(takeovers, key=lambda t: t.at):
        giver, taker = takeover.giver, takeover.taker
        old, new = giver.storage, taker.storage
        if old is None or new is None or old is new or taker in taken:
            continue
        reason = _hindrance(takeover, old, new)
        taker.in_place = f"no: {reason}" if reason else f"of {giver.name}"
        if reason is None:
            taken.add(taker)
            _join(new, old)
    return list(dict.fromkeys(buffer.storage for buffer in known if buffer.storage is not None))


def _join(new: Storage | None, old: Storage | None) -> None:
    """Moves the buffers of one storage into another one."""
    assert old is not None
    assert new is not None
    old.buffers += new.buffers
    old.first, old.last = min(old.first, new.first), max(old.last, new.last)
    for buffer in new.buffers:
        buffer.storage = old


def _hindrance(takeover: Takeover, memory: Storage, own: Storage) -> str | None:
    """Why the taker cannot take over the memory of the giver, or None."""
    giver, taker, at = takeover.giver, takeover.taker, takeover.at
    if not runs("in place"):
        return "the pass is disabled"
    # The storage is larger than the buffer, and its other parts may still be read.
    if giver.shift or taker.shift:
        return f"{giver.name if giver.shift else taker.name} is a slice"
    if giver.extent != taker.extent or giver.dtype != taker.dtype:
        return f"{giver.name} has a different size"
    if memory.last > at:
        return f"{giver.name} is kept" if memory.last == FOREVER else f"{giver.name} is read by launch {memory.last}"
    # A giver that has ended earlier gains nothing here: buffer reuse finds its memory free anyway.
    if memory.last < at or own.first != at:
        return "it is written before"
    return None


def place(storages: Sequence[Storage]) -> int:
    """Assigns the offsets, largest buffers first. Returns the bytes of the block. Raises `DeviceError` for too many."""
    sharing = runs("buffer reuse")
    if (total := sum(storage.nbytes for storage in storages)) >= 2**63:
        raise DeviceError(f"cannot allocate {as_bytes(total)}, which exceeds the address space; reduce the layer sizes")
    # Arrays instead of objects: each buffer is compared with all placed ones.
    begins, ends, firsts, lasts = placed = np.zeros((4, len(storages)), np.int64)  # in the order of the offsets
    # Largest first: small buffers then fit into the gaps between large ones. The sort is stable, so a plan is
    # reproducible.
    sizes = [(storage.nbytes, storage) for storage in storages]
    for count, (size, storage) in enumerate(sorted(sizes, key=lambda sized: -sized[0])):
        first, last = (storage.first, storage.last) if sharing else (-1, FOREVER)
        meets = np.flatnonzero((firsts[:count] <= last) & (lasts[:count] >= first))
        # Gaps between the buffers that are alive at the same time; these are in the order of their offsets but may
        # overlap each other, hence the running maximum of the ends.
        free_from = np.concatenate([[0], np.maximum.accumulate(ends[meets])])
        enough = begins[meets] >= free_from[:-1] + size
        # The first gap that is large enough, or after the last buffer.
        storage.offset = int(free_from[np.argmax(enough) if enough.any() else -1])
        at = int(np.searchsorted(begins[:count], storage.offset))
        placed[:, at + 1 : count + 1] = placed[:, at:count]
        placed[:, at] = storage.offset, storage.offset + size, storage.first, storage.last
    return int(ends.max(initial=0))
