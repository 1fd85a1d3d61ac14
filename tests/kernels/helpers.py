"""Functions of kernels, called from Python: by themselves they have no entry for it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba

from paddle_layers.kernels.images.conv_tiling import ConvProblem


@functools.cache  # each entry is compiled by itself, for seconds
def from_python(function: Any) -> Callable[..., Any]:
    """The compiled function with such an entry."""

    def call(*given: Any) -> Any:
        return function(*given)

    called: Callable[..., Any] = numba.njit(call)
    return called


def conv_problem(**sizes: Any) -> ConvProblem:
    """A convolution of one element by one filter of one element, apart from the given sizes."""
    numbers = dict.fromkeys(ConvProblem._fields, 1) | {"training": False}
    return ConvProblem(**{**numbers, "step": (1, 1, 1), "ahead": (0, 0, 0), "gap": (1, 1, 1), **sizes})
