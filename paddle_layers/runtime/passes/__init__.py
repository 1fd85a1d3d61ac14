"""What is done to a network before it runs so that it needs less memory and time; results stay the same.

`PASSES` lists the passes in their order. Each is a file of this folder, works on what the ones before it leave, and
can be left out, alone or with others: `with without("in place"): ...`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import NamedTuple

from paddle_layers.kernels.tuned import point_functions_only


class Pass(NamedTuple):
    """A pass by its name."""

    name: str
    about: str


PASSES = (
    Pass("row gradients", "the gradient of a table has only the rows that a batch uses"),
    Pass("wanted gradients", "only gradients that lead to something trained are computed"),
    Pass("tuned kernels", "tuned kernels replace point functions where the shapes are worth it"),
    Pass("unread results", "what nobody reads is not computed"),
    Pass("in place", "a result takes the memory of what it is made from"),
    Pass("shared memory", "buffers that do not live at the same time share memory"),
)

_LEFT_OUT: ContextVar[frozenset[str]] = ContextVar("passes left out", default=frozenset())


def runs(name: str) -> bool:
    """Whether a pass is not left out."""
    return name not in _LEFT_OUT.get()


@contextlib.contextmanager
def without(*names: str) -> Iterator[None]:
    """Within it, networks are planned without these passes. Raises `ValueError` for a pass that there is not."""
    known = [one.name for one in PASSES]
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"there is no pass {unknown[0]!r}; there are {', '.join(known)}")
    token = _LEFT_OUT.set(_LEFT_OUT.get() | {*names})
    try:
        with point_functions_only() if "tuned kernels" in names else contextlib.nullcontext():
            yield
    finally:
        _LEFT_OUT.reset(token)
