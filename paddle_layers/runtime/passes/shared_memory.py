"""Lay buffers into one block of memory: those that live at the same time don't overlap, others may."""

from __future__ import annotations

from collections.abc import Sequence

from paddle_layers.runtime.launches.buffers import Storage

from . import runs


def place(storages: Sequence[Storage]) -> int:
    """Set the offsets, the largest first. Gives the bytes of the block."""
    sharing = runs("shared memory")
    placed: list[Storage] = []
    for storage in sorted(storages, key=lambda s: -s.nbytes):
        size, offset = storage.nbytes, 0
        for other in placed:  # sorted by offset
            if not sharing or (other.first <= storage.last and storage.first <= other.last):
                if other.offset >= offset + size:
                    break
                offset = max(offset, other.offset + other.nbytes)
        storage.offset = offset
        placed.append(storage)
        placed.sort(key=lambda s: s.offset)
    return max((s.offset + s.nbytes for s in storages), default=0)
