"""Tuned kernels: the same numbers as the point functions that they replace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.kernels.tuned import point_functions_only, tuned_at_every_size, tuned_functions
from paddle_layers.runtime import Sequences

from .cases import Case

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


def run(case: Case, dtype: str) -> tuple[dict[str, NDArray[Any]], set[str]]:
    """Outputs and gradients of one step by name, and the names of the tuned functions that ran."""
    with case.net(dtype) as net:
        outputs = net.forward(case.feeds(case.arrays()), phase=case.phase, step=0)
        found = {name: np.asarray(v.data if isinstance(v, Sequences) else v) for name, v in outputs.items()}
        if case.phase == "train" and case.definition.facts.can_do_bp:
            rng = np.random.default_rng(1)
            net.backward(gradients={n: rng.uniform(0.5, 1.5, v.shape) for n, v in found.items() if v.dtype.kind == "f"})
            found |= {
                f"gradient of {p.name}": p.gradient.copy() for p in net.parameters.values() if p.gradient is not None
            }
            for place, type_ in enumerate(case.types):
                if type_.kind == "DENSE" and case.inputs[place].name in case.definition.facts.differentiable:
                    found[f"gradient of in{place}"] = net.gradient(f"in{place}")
        return found, {launch.name for launch in net.plan(case.phase).launches if launch.items is not None}
