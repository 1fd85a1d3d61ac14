"""Scratch buffers of work items, divided into matrices."""

from __future__ import annotations

from paddle_layers.kernels.constants import MAX_CHUNKS
from paddle_layers.kernels.primitives.compile_options import compiled


@compiled
def part(scratch, item, items):
    """The scratch buffer of a work item."""
    size = scratch.size // items
    return scratch[item * size : (item + 1) * size]


@compiled
def take(scratch, at, rows, columns):
    """A matrix of zeros in the scratch buffer, and the start of the next one."""
    end = at + rows * columns
    scratch[at:end] = 0
    return scratch[at:end].reshape((rows, columns)), end


@compiled
def chunk_of(item, items):
    """The chunk that contains a work item, among those that run concurrently."""
    chunks = min(items, MAX_CHUNKS)
    # The inverse of the division of items into chunks, `items * chunk // chunks`, in integers.
    return (chunks * (item + 1) - 1) // items


@compiled
def scratch_of_chunk(scratch, item, items):
    """Address of the scratch buffer of a work item's chunk."""
    # Items of a chunk run sequentially, so that they can share a buffer; items that run concurrently cannot.
    chunks = min(items, MAX_CHUNKS)
    return scratch.ctypes.data + scratch.size // chunks * chunk_of(item, items) * scratch.itemsize
