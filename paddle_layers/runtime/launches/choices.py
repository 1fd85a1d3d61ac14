"""Kernel selection by the rows of a batch, recorded while a plan is made, so that later batches can be checked.

A plan may run a batch if the same kernels are selected for it. Then a result depends on the batch alone: not on the
capacity of the plan, which earlier batches have determined.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import Context, ContextVar, copy_context
from typing import NamedTuple, TypeVar

from paddle_layers.define.concurrency import switched
from paddle_layers.runtime.graph.domains import RowsOf, chosen_rows_of

T = TypeVar("T")


class KernelSelection(NamedTuple):
    """A selection and the function to repeat it, with the switches at that time."""

    choose: Callable[[RowsOf], object]
    chosen: object
    context: Context

    def holds(self) -> bool:
        """Whether it is the same for the current selection rows."""
        return bool(self.context.run(self.choose, chosen_rows_of) == self.chosen)


_NOTED: ContextVar[list[KernelSelection] | None] = ContextVar("choices of the plan that is being made", default=None)


def noting(choices: list[KernelSelection]) -> AbstractContextManager[None]:
    """Context manager: selections are recorded."""
    return switched(_NOTED, choices)


def choose(chooser: Callable[[RowsOf], T]) -> T:
    """Selects for the current selection rows, and records it."""
    chosen = chooser(chosen_rows_of)
    noted = _NOTED.get()
    if noted is not None:
        # With the context variables of this moment: a later check must not depend on switches, such as disabled passes,
        # that are set then.
        noted.append(KernelSelection(chooser, chosen, copy_context()))
    return chosen
