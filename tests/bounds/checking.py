"""Compiling with checked indices, and what the kernels of a layer do then."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ |= {"NUMBA_BOUNDSCHECK": "1", "NUMBA_OPT": "0", "NUMBA_LOOP_VECTORIZE": "0"}  # read when numba is imported
# Drivers are named by their text, which is the same: those with checks need a cache of their own.
if cache := os.environ.get("PADDLE_LAYERS_CACHE"):
    os.environ["PADDLE_LAYERS_CACHE"] = str(Path(cache) / "checked")

from numba.core import types
from numba.np import arrayobj

import paddle_layers as pl
from paddle_layers.kernels.tuned import tuned_at_every_size
from paddle_layers.testing.cases.case import Case, all_cases, in_phases
from paddle_layers.testing.cases.trial import run
from paddle_layers.testing.generated import chosen

CONFIGS = 6
"""Generated configs of a layer."""


def _unwrapped(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    """The index as it is: numba adds the size to a negative one before it checks."""
    return context.cast(builder, index, kind, types.intp if kind.signed else types.uintp)


arrayobj.fix_integer_index = _unwrapped


def check_indices(layer: str) -> list[str]:
    """Run the examples of a layer and some generated configs with its tuned kernels; gives what is wrong."""
    problems: list[str] = []
    raised: list[BaseException | None] = []
    before, sys.unraisablehook = sys.unraisablehook, lambda failure: raised.append(failure.exc_value)
    try:
        for case in _cases(layer):
            raised.clear()  # a compiled body has nobody to raise to
            with tuned_at_every_size():
                _, used = run(case, "float32")
            if raised:
                problems.append(f"{layer}: {raised[0]} in one of {', '.join(sorted(used))}\n{case}")
    finally:
        sys.unraisablehook = before
    return problems


def _cases(layer: str) -> Iterator[Case]:
    definition = pl.registry[layer]
    yield from all_cases(definition)
    for config in chosen(definition, CONFIGS):
        yield from in_phases(definition, config.example, config.batch)
