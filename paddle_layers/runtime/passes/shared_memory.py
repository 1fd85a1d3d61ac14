"""Lay buffers into one block of memory: those that live at the same time don't overlap, others may."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence

from paddle_layers.runtime.launches.buffers import Storage

from . import runs


def place(storages: Sequence[Storage]) -> int:
    """Set the offsets, the largest first. Gives the bytes of the block."""
    sharing = runs("shared memory")
    placed: list[tuple[int, int, int, int]] = []  # by offset: begin, end, first and last launch
    sizes = [(storage.nbytes, storage) for storage in storages]
    for size, storage in sorted(sizes, key=lambda sized: -sized[0]):
        offset = 0
        for begin, end, first, last in placed:
            if not sharing or (first <= storage.last and storage.first <= last):
                if begin >= offset + size:
                    break
                offset = max(offset, end)
        storage.offset = offset
        insort(placed, (offset, offset + size, storage.first, storage.last))
    return max((end for _, end, _, _ in placed), default=0)
