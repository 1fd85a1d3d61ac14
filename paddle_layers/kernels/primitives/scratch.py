"""Scratch buffers of work items, divided into matrices."""

from __future__ import annotations

from paddle_layers.kernels.constants import PIECES
from paddle_layers.kernels.primitives.compile_options import compiled


@compiled
def part(scratch, item, items):
    """The scratch buffer of a work item."""
    size = scratch.size // items
    return scratch[item * size : (item + 1) * size]


@compiled
def take(scratch, at, rows, columns):
    """A matrix of zeros in the scratch buffer, and the begin of the next one."""
    end = at + rows * columns
    scratch[at:end] = 0
    return scratch[at:end].reshape((rows, columns)), end


@compiled
def piece_of(item, items):
    """The piece that contains a work item, among those that run concurrently."""
    pieces = min(items, PIECES)
    return (pieces * (item + 1) - 1) // items


@compiled
def place_of_piece(scratch, item, items):
    """Address of the scratch buffer of a work item's piece."""
    pieces = min(items, PIECES)
    return scratch.ctypes.data + scratch.size // pieces * piece_of(item, items) * scratch.itemsize
