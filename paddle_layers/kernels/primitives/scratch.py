"""Scratch memory of a work item, cut into matrices."""

from __future__ import annotations

from paddle_layers.kernels.pieces import PIECES
from paddle_layers.kernels.primitives.compiling import compiled


@compiled
def part(scratch, item, items):
    """The scratch memory of a work item."""
    size = scratch.size // items
    return scratch[item * size : (item + 1) * size]


@compiled
def take(scratch, at, rows, columns):
    """A matrix of zeros in the scratch memory, and where the next one begins."""
    end = at + rows * columns
    scratch[at:end] = 0
    return scratch[at:end].reshape((rows, columns)), end


@compiled
def piece_of(item, items):
    """Which of the pieces that run side by side has a work item."""
    pieces = min(items, PIECES)
    return (pieces * (item + 1) - 1) // items


@compiled
def place_of_piece(scratch, item, items):
    """Address of the scratch memory of a work item's piece."""
    pieces = min(items, PIECES)
    return scratch.ctypes.data + scratch.size // pieces * piece_of(item, items) * scratch.itemsize
