"""What is done to a network before it runs so that it needs less memory and time; results stay the same.

`PASSES` lists the passes in their order; each works on what the ones before it leave. Each is a file of this folder,
but for the tuned kernels, Winograd's among them, which have a folder of their own.
`with without("in place"): ...` leaves some of them out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from paddle_layers.define.switching import switched
from paddle_layers.kernels.tuned import kernels_without, point_functions_only

PASSES = (
    "row gradients",  # the gradient of a table has only the rows that a batch uses
    "wanted gradients",  # only gradients that lead to something trained are computed
    "winograd",  # 3x3 convolutions, of volumes, too, have a quarter of the products, and round a little more
    "tuned kernels",  # they replace point functions where the shapes are worth it
    "unread results",  # what nobody reads is not computed
    "copies",  # what would only be copied is one memory with its copy
    "recomputed results",  # what is cheap is computed again in the backward pass, where it was kept for that only
    "merged launches",  # a norm, its bias and its activation are one launch, which reads and writes once
    "copied parts",  # what is put together is made in its place there, where that is one piece of memory
    "constant results",  # what depends on parameters only is computed once in the phase test, until one changes
    "epilogues",  # in the phase test, a convolution does the norm, bias and activation behind it to its sums itself
    "early updates",  # in a training, parameters are updated as their gradients come, which need little memory then
    "in place",  # a result takes the memory of what it is made from
    "fused launches",  # what goes on element by element runs block by block, while the block is in the cache
    "shared memory",  # buffers that do not live at the same time share memory
)

_LEFT_OUT: ContextVar[frozenset[str]] = ContextVar("passes left out", default=frozenset())


def runs(name: str) -> bool:
    """Whether a pass is not left out."""
    return name not in _LEFT_OUT.get()


@contextlib.contextmanager
def without(*names: str) -> Iterator[None]:
    """Within it, networks are planned without these passes. Raises `ValueError` for a pass that there is not."""
    if unknown := [name for name in names if name not in PASSES]:
        raise ValueError(f"there is no pass {unknown[0]!r}; there are {', '.join(PASSES)}")
    tuned = point_functions_only() if "tuned kernels" in names else contextlib.nullcontext()
    with switched(_LEFT_OUT, _LEFT_OUT.get() | {*names}), kernels_without(*names), tuned:
        yield
