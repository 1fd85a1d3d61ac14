"""Validation of fed arrays in one compiled loop each: NumPy would take some microseconds for a small one."""

from __future__ import annotations

import numpy as np
from numba import njit

from paddle_layers.runtime.generate.cache import kept


@kept
@njit(nogil=True, fastmath={"reassoc"})
def all_finite(numbers):
    """Whether a vector of floating-point values has neither NaN nor infinity."""
    # `x - x` is 0 for finite values and NaN otherwise, and NaN survives the sum. Of the fast-math flags only
    # reassociation is allowed: it suffices for vectorization, and with `nnan` LLVM would fold the loop to 0.
    wrong = numbers.dtype.type(0)
    for at in range(numbers.size):
        wrong += numbers[at] - numbers[at]
    return wrong == 0


@kept
@njit(nogil=True)
def all_below(ids, size):
    """Whether a vector holds only integers from 0 to below `size`."""
    # Counted without an early exit, which would prevent vectorization.
    outside = 0
    for at in range(ids.size):
        outside += 1 if np.uint64(ids[at]) >= np.uint64(size) else 0  # also rejects negative numbers
    return outside == 0
