"""Numerical precision of losses in float32, however far from zero the scores are."""

from __future__ import annotations

import numpy as np

from ..cases.case import Case
from ..cases.engines import as_python
from ..cases.trial import Trial
from .comparing import Array, Verdicts, at

SHIFTS = (0.0, 1000.0, 10000.0)
"""Offset of all real inputs: scores drift during training, and only their differences matter."""
ULPS = 64
"""Largest error of a cost in float32, in units in its last place."""


def check_precision(case: Case) -> Verdicts:
    """Compute costs in float32 and in float64 from the same numbers: they differ by some units in the last place."""
    costs = [name for name, field in zip(case.outputs, case.definition.outputs.values(), strict=False) if field.loss]
    for shift in SHIFTS if costs else ():
        with Trial(case) as exact:
            _shift(exact, shift)
            expected = exact.forward()
        with Trial(case, "float32") as single:
            _shift(single, shift)
            found = as_python(single.forward)
        for name in costs:
            yield name, _imprecise(expected[name], found[name], shift)


def _shift(trial: Trial, shift: float) -> None:
    """Add to the inputs that have a gradient, unless they are meant to stay within a range; round to float32."""
    case = trial.case
    for name, parameter in trial.net.parameters.items():
        trial.set_parameter(name, parameter.value.astype(np.float32))
    for place, (wanted, field) in enumerate(zip(case.wanted, case.inputs, strict=True)):
        if case.types[place].kind == "DENSE":
            moved = trial.arrays[place] + (shift if wanted and field.within is None else 0.0)
            trial.arrays[place] = moved.astype(np.float32).astype(np.float64)


def _imprecise(expected: Array, found: Array, shift: float) -> str | None:
    single = np.finfo(np.float32)
    allowed = ULPS * float(single.eps) * abs(expected) + float(single.tiny)  # what is smaller has fewer digits
    error = np.where(expected == found, 0.0, abs(expected - found))
    worst = np.unravel_index(int(np.argmax(error - allowed)), error.shape) if error.size else ()
    if not error.size or error[worst] <= allowed[worst]:
        return None
    place = tuple(int(i) for i in worst)
    why = f"in float32 with {shift:g} added to the inputs"
    return f"{at(place)}expected {expected[place]:.10g}, got {found[place]:.10g} {why}"
