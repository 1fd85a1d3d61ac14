"""Mutual exclusion of threads: a net has one set of buffers, so its methods wait for each other."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from paddle_layers.define.concurrency import ForkSafeLock

P = ParamSpec("P")
R = TypeVar("R")


class _Locked(Protocol):
    lock: ForkSafeLock
    closed: bool


L = TypeVar("L", bound=_Locked)


def one_at_a_time(method: Callable[Concatenate[L, P], R]) -> Callable[Concatenate[L, P], R]:
    """Decorator: a method waits until no other thread runs a method of the object.

    All but `close` need what it frees.
    """

    @functools.wraps(method)
    def locked(self: L, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.lock.current:
            if self.closed and method.__name__ != "close":
                raise RuntimeError("this net is closed; create a new one, or use it inside its `with` block")
            return method(self, *args, **kwargs)

    return locked
