"""The loss of a network: sums of costs over rows, divided by how many rows count, over any number of batches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from paddle_layers.runtime.graph.graph import Graph

    from .plan import Plan


class LossSum(NamedTuple):
    """One cost of a network, added up over rows: the parts of the loss that may be added up over batches, too."""

    weight: float
    total: float
    divisor: float
    """Rows that count; where it is below 1, the total is not divided."""

    @property
    def mean(self) -> float:
        """What a row that counts costs on average, without the weight in the loss."""
        return self.total / max(self.divisor, 1.0)

    def plus(self, other: LossSum) -> LossSum:
        """Both together, as if their rows had come in one batch."""
        return LossSum(self.weight, self.total + other.total, self.divisor + other.divisor)


def loss_sums(graph: Graph, plan: Plan) -> dict[str, LossSum]:
    """The costs of the batch that a plan has just run, by name."""
    divisors = loss_divisors(graph, plan)
    totals = {name: plan.read(plan.values[name]).sum(dtype=np.float64) for name in graph.losses}
    return {name: LossSum(weight, float(totals[name]), divisors[name]) for name, weight in graph.losses.items()}


def loss_divisors(graph: Graph, plan: Plan) -> dict[str, float]:
    """What the sum of each cost of that batch is divided by, from 1 on: its rows, or what it counts itself."""
    divisors = {}
    for name in graph.losses:
        own = plan.divisors.get(name)
        divisors[name] = float(plan.rows.of(graph.values[name].domain) if own is None else plan.read(own)[0])
    return divisors


def total_loss(sums: Iterable[LossSum]) -> float:
    """The sum of `weight * total / divisor`."""
    return sum(one.weight * one.mean for one in sums)
