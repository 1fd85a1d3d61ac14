"""Overflow checks: values that do not fit into the precision of a net."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

PART = 1 << 18
"""Elements of an array that are checked together."""


def too_large(values: Any, dtype: str) -> str | None:
    """Error message for values of which one overflows in the precision of a net, or `None`."""
    array = np.asarray(values)
    if array.dtype.kind != "f" or array.dtype.itemsize <= np.dtype(dtype).itemsize:
        return None
    place = _first_lost(array, dtype)
    if place is None:
        return None
    return f"contains {array[place]}{f' at index {place}' if place else ''}, which is too large for {dtype}"


def _first_lost(array: NDArray[Any], dtype: str) -> tuple[int, ...] | None:
    """Index of the first value that overflows; a large array is checked in parts, to copy little of it."""
    if array.size > PART and len(array) > 1:
        step = max(1, PART * len(array) // array.size)
        for first in range(0, len(array), step):
            place = _first_lost(array[first : first + step], dtype)
            if place is not None:
                return (first + place[0], *place[1:])
        return None
    with np.errstate(over="ignore"):
        # Only values that are finite before the conversion: infinities in the source are not due to the precision.
        lost = np.isfinite(array) & ~np.isfinite(array.astype(dtype))
    return tuple(int(i) for i in np.argwhere(lost)[0]) if lost.any() else None
