"""Statistics of metric layers: sums over rows and batches, and the numbers reported for them."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .graph import Op
    from .plan import Plan


class Statistics:
    """Sums of every statistic, in float64, until they are reset."""

    def __init__(self) -> None:
        self._ops: dict[str, Op] = {}
        self._sums: dict[str, dict[str, float]] = {}

    def add(self, plan: Plan) -> None:
        """Add the batch that a plan has just run."""
        for op, buffers in plan.stats:
            self._ops[op.name] = op
            sums = self._sums.setdefault(op.name, dict.fromkeys(buffers, 0.0))
            for name, buffer in buffers.items():
                sums[name] += float(plan.array(buffer).sum(dtype=np.float64))

    def results(self) -> dict[str, float]:
        """`layer.statistic` to the reported number."""
        return {f"{name}.{self._ops[name].layer.name}": self._result(name) for name in self._sums}

    def _result(self, name: str) -> float:
        call = self._ops[name].layer.hooks["result"]
        sums = {**self._ops[name].attributes, **self._sums[name]}
        value = call(*(sums[argument] for argument in inspect.signature(call).parameters))
        return float(value) if value is not None else math.nan

    def reset(self) -> None:
        """Set all sums to zero."""
        self._sums.clear()
