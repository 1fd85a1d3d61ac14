"""Tuned kernels: the same numbers as the point functions that they replace."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from paddle_layers.kernels.tuned import point_functions_only, tuned_at_every_size, tuned_functions

from .cases import Case
from .results import run

TOLERANCE = {"float64": 1e-12, "float32": 2e-5}
"""Largest difference by precision, as a share of the largest number."""


def check_tuned(case: Case) -> Iterator[tuple[str, str | None]]:
    """Run the case with tuned kernels, however small it is, and without: outputs and gradients must agree."""
    if not tuned_functions(case.definition.name):
        return
    for dtype, tolerance in TOLERANCE.items():
        with point_functions_only():
            expected, _ = run(case, dtype)
        with tuned_at_every_size():
            found, used = run(case, dtype)
        for name, values in expected.items() if used else ():
            scale = max(float(np.abs(values).max(initial=0.0)), 1e-30)
            distance = float(np.abs(found[name] - values).max(initial=0.0)) / scale
            wrong = (
                f"differs by {distance:.1e} of its largest number in {dtype} when {', '.join(sorted(used))} run tuned"
            )
            yield name, None if distance <= tolerance else wrong
