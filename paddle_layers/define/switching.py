"""Thread-local switches for a `with` block: for checks, pages and quick runs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")


@contextlib.contextmanager
def switched(variable: ContextVar[T], value: T) -> Iterator[None]:
    """Within it, the variable has this value; other threads see theirs."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)
