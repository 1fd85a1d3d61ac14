"""Functions of kernels, called from Python: by themselves they have no entry for it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba


@functools.cache  # each entry is compiled by itself, for seconds
def from_python(function: Any) -> Callable[..., Any]:
    """The compiled function with such an entry."""

    def call(*given: Any) -> Any:
        return function(*given)

    called: Callable[..., Any] = numba.njit(call)
    return called
