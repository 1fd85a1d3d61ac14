"""What fits into the precision of a net."""

from __future__ import annotations

from typing import Any

import numpy as np


def too_large(values: Any, dtype: str) -> str | None:
    """What is wrong with numbers of which one becomes infinite in the precision of a net, or None."""
    array = np.asarray(values)
    if array.dtype.kind != "f" or array.dtype.itemsize <= np.dtype(dtype).itemsize:
        return None
    with np.errstate(over="ignore"):
        lost = np.isfinite(array) & ~np.isfinite(array.astype(dtype))
    if not lost.any():
        return None
    place = tuple(int(i) for i in np.argwhere(lost)[0])
    return f"holds {array[place]}{f' at {place}' if place else ''}, which is too large for {dtype}"
