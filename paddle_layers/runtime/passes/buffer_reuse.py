"""Buffer reuse: memory planning of buffers in one block, where only those with disjoint lifetimes may overlap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paddle_layers.define.machine import as_bytes
from paddle_layers.runtime.launches.buffers import FOREVER, Storage
from paddle_layers.runtime.memory.blocks import DeviceError

from . import runs


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
