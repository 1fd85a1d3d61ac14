"""Execution engines of functions: as Python, or compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from paddle_layers.kernels.tuned import point_functions_only
from paddle_layers.runtime.devices.cpu.interpreter import interpreted

T = TypeVar("T")


def as_python(compute: Callable[[], T]) -> T:
    """Run the point functions as Python, which needs no compiler and notices indices out of range or below zero.

    Python raises where a kernel goes on with infinity or NaN; then they are compiled.
    """
    try:
        with point_functions_only(), interpreted():
            return compute()
    except (ArithmeticError, ValueError):
        with point_functions_only():
            return compute()
