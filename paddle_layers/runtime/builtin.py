"""Point functions of the framework itself."""

from __future__ import annotations

from paddle_layers.define.functions import Function


def fill_value(i, y, value):  # type: ignore[no-untyped-def]  # a point function, compiled by numba
    """The same number everywhere."""
    return value


def add_value(i, y, x):  # type: ignore[no-untyped-def]  # a point function, compiled by numba
    """A copy; the driver may add it instead."""
    return x[i]


FILL = Function("builtin", (), fill_value)
ADD = Function("builtin", (), add_value)
