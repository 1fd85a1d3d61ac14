"""Coverage of compiled kernels, which quick runs reduce."""

from __future__ import annotations

from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import NamedTuple

from paddle_layers.define.concurrency import switched

from .comparing import TOLERANCE
from .ptx import ARCHITECTURES, Architecture


class Breadth(NamedTuple):
    """Coverage of compiled kernels."""

    architectures: tuple[Architecture, ...] = ARCHITECTURES
    """Compute capabilities for which CUDA kernels become machine code."""
    precisions: tuple[str, ...] = tuple(TOLERANCE)
    """Data types in which compiled kernels are compared with functions as Python, tuned ones with point functions."""


_ALL = Breadth()
_BREADTH: ContextVar[Breadth] = ContextVar("breadth", default=_ALL)


def breadth() -> Breadth:
    """The current coverage."""
    return _BREADTH.get()


def narrowed(to: Breadth) -> AbstractContextManager[None]:
    """Within it, no more than this is checked."""
    return switched(_BREADTH, to)
