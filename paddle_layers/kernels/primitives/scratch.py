"""Scratch memory of a work item, cut into matrices."""

from __future__ import annotations

from numba import njit


@njit(error_model="numpy")
def part(scratch, item, items):
    """The scratch memory of a work item."""
    size = scratch.size // items
    return scratch[item * size : (item + 1) * size]


@njit(error_model="numpy")
def take(scratch, at, rows, columns):
    """A matrix of zeros in the scratch memory, and where the next one begins."""
    end = at + rows * columns
    scratch[at:end] = 0
    return scratch[at:end].reshape((rows, columns)), end
