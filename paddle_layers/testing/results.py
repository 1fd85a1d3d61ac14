"""What a step of a case gives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime import Sequences

from .cases import Case


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
