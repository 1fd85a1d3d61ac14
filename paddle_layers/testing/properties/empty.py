"""Empty batches: no parameter update, no statistics, no error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..cases.batches import EMPTY
from ..cases.case import Case
from ..cases.trial import Trial
from .comparing import Verdicts, same_bits

ALONE = "in an empty batch"
BEHIND = "after an empty batch"


def check_empty(case: Case) -> Verdicts:
    """Run batches without rows: states and statistics stay, gradients of parameters are 0, no output is NaN."""
    with Trial(case) as counting:
        counted = _statistics(counting.forward())
        for empty in _empty_cases(case):
            with Trial(empty) as trial:
                before = {f"state {name}": state.value.copy() for name, state in trial.net.states.items()}
                found = trial.step()
            yield from same_bits(before, found, ALONE)
            for name, values in found.items():
                if name.startswith("gradient of ") and not name.startswith("gradient of in"):
                    yield from same_bits({name: np.zeros_like(values)}, found, ALONE)
                elif name in case.outputs and values.dtype.kind == "f":
                    yield name, None if np.isfinite(values).all() else f"contains NaN or infinity {ALONE}"
            counting.net.forward(empty.feeds(empty.arrays()), phase=case.phase)
            yield from same_bits(counted, _statistics(counting.statistics()), BEHIND)


def _empty_cases(case: Case) -> Iterator[Case]:
    for batch in EMPTY[len(case.batch.starts)]:
        yield replace(case, given_batch=batch)


def _statistics(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name.startswith("statistic ")}
