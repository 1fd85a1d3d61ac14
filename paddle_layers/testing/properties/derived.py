"""Derived facts: in-place execution is safe, and the backward pass reads no more than the facts declare."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..cases.case import Case
from ..cases.trial import Trial, guarded
from .comparing import Verdicts, same_bits


def check_facts(case: Case, dtype: str = "float64") -> Verdicts:
    """Compare a plan with separate memory for every value with plans that share and reuse memory."""
    with guarded(), Trial(case, dtype) as trial:
        expected = trial.step()
        unread = list(_unread(case))
        found = trial.step(between=lambda: trial.poison_dead(unread))
        dead = ", ".join(f"`{name}`" for name in unread) or "unused memory"
        yield from same_bits(expected, found, f"when {dead} is set to NaN before the backward pass")
    with Trial(replace(case, copied=True), dtype) as trial:
        found = trial.step()
        how = "the output overwrites the input" if trial.in_place else "buffers are reused"
        yield from same_bits(expected, found, f"when {how}")


def _unread(case: Case) -> Iterable[str]:
    """Dense inputs and outputs whose values the backward pass does not read, by the facts."""
    if not case.trains:
        return
    reads = case.definition.facts.back_reads
    for place, (type_, field) in enumerate(zip(case.types, case.inputs, strict=True)):
        if type_.kind == "DENSE" and field.name not in reads:
            yield f"in{place}"
    if not case.followed and not any(name in reads for name in case.definition.outputs):
        for name, type_ in zip(case.outputs, case.output_types, strict=True):
            if type_.kind == "DENSE":
                yield name
