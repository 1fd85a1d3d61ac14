"""Array views of memory addresses."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def array_at(address: int, shape: Sequence[int], dtype: Any) -> NDArray[Any]:
    """The host memory at an address as an array; the owner of the memory has to outlive it."""
    kind = np.dtype(dtype)
    size = math.prod(shape) * kind.itemsize
    # `from_address` of an empty array would still need a valid address.
    if size == 0:
        return np.zeros(shape, kind)
    return np.ndarray(tuple(shape), kind, memoryview((ctypes.c_char * size).from_address(address)))
