"""Loss divisors of a batch before its pass: a step of several batches divides by their sums."""

from __future__ import annotations

from collections.abc import Callable

from paddle_layers.runtime.plan.losses import loss_divisors
from paddle_layers.runtime.plan.phase import Phase
from paddle_layers.runtime.plan.plan import Plan

from .dynamic_rows import CapacityExceededError, make_late_rows
from .feeding import Batch
from .sparse_entries import prepare_entries
from .writing import write_batch


def batch_divisors(phase: Phase, batch: Batch, key: Callable[[str], int]) -> dict[str, float]:
    """The divisors by the name of the loss, without the weight; `key` is that of the next pass."""
    prepare_entries(batch, phase.graph, key)
    phase.select(batch.of)
    if batch.reserve(phase.graph):
        phase.outgrow()
    # A batch may exceed the capacity only after values of the pass are known; the second plan then has enough of it.
    while True:
        plan = phase.divisor_plan()
        try:
            _run(plan, batch, key)
        except CapacityExceededError:
            phase.outgrow()
        else:
            return loss_divisors(phase.graph, plan)


def _run(plan: Plan, batch: Batch, key: Callable[[str], int]) -> None:
    plan.lay(batch)
    write_batch(plan, batch)
    plan.set_keys(key)
    plan.forward(lambda made: make_late_rows(batch, made, plan))
