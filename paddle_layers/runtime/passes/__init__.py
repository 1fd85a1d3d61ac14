"""Graph optimization passes that reduce memory and time; results stay the same.

`PASSES` lists the passes in their order; each works on the result of the previous ones. Each is in a file of this
folder, except the tuned kernels, including Winograd's, which have a separate package. `with without("in place"): ...`
disables some of them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from paddle_layers.define.concurrency import switched
from paddle_layers.kernels.tuned import kernels_without, point_functions_only

PASSES = (
    # The first two decide which gradients exist, the next two which kernel computes a function: they act while launches
    # are created. All after the fifth rewrite or order a list of launches.
    "sparse gradients",  # the gradient of a table only has the rows that a batch uses
    "gradient pruning",  # only gradients that lead to trained parameters are computed
    "winograd",  # 3x3 convolutions, also of volumes: a quarter of the products, slightly larger rounding errors
    "tuned kernels",  # tuned kernels replace point functions where shapes are large enough
    # While launches are created, too: those of both passes are repeated in a loop.
    "chunked cross-entropy",  # scores of many classes that only a loss reads exist for a chunk of the rows at a time
    # Before everything that counts readers: a launch that is going to be removed must not keep a buffer alive, nor
    # prevent fusion.
    "dead-code elimination",  # results that nothing reads are not computed
    "copy elision",  # a copy shares the memory of its source
    # After copy elision, which leaves fewer buffers, and before kernel fusion, which then fuses the recomputed
    # launches, too.
    "rematerialization",  # cheap results are recomputed in the backward pass instead of kept for it
    "kernel fusion",  # a norm, its bias and its activation are one launch with one read and write
    # After kernel fusion, which counts the readers of memory: all parts would be one memory with many readers.
    "concat elision",  # inputs of a concatenation are written directly into the output if they are contiguous there
    # Before the epilogues, whose tables are parameter-only results.
    "parameter-only caching",  # results of parameters are computed once in the phase test, until one changes
    "epilogues",  # fused epilogues: in the phase test, a convolution applies norm, bias and activation itself
    # Updates end the lifetime of gradients, so they are inserted before memory is planned.
    "optimizer-in-backward",  # parameters are updated as soon as their gradients are final
    # Before cache-blocked fusion, which has to know who shares memory with whom, and that extends lifetimes, on which
    # buffer reuse depends.
    "in place",  # in-place execution: a result takes over the memory of an input
    "cache-blocked fusion",  # elementwise launches run block by block while the block is in the cache
    "buffer reuse",  # buffers with disjoint lifetimes share memory
)

_LEFT_OUT: ContextVar[frozenset[str]] = ContextVar("passes left out", default=frozenset())


def runs(name: str) -> bool:
    """Whether a pass is enabled."""
    return name not in _LEFT_OUT.get()


@contextlib.contextmanager
def without(*names: str) -> Iterator[None]:
    """Context manager: networks are planned without these passes. Raises `ValueError` for an unknown pass."""
    if unknown := [name for name in names if name not in PASSES]:
        raise ValueError(f"unknown pass {unknown[0]!r}; available: {', '.join(PASSES)}")
    tuned = point_functions_only() if "tuned kernels" in names else contextlib.nullcontext()
    with switched(_LEFT_OUT, _LEFT_OUT.get() | {*names}), kernels_without(*names), tuned:
        yield
