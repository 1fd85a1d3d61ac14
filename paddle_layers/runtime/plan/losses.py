"""Loss of a network: sums of losses over rows, divided by the counted rows, over any number of batches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from paddle_layers.runtime.graph.graph import Graph

    from .plan import Plan


class LossSum(NamedTuple):
    """One loss of a network, summed over rows: the parts that may also be summed over batches."""

    weight: float
    total: float
    divisor: float
    """Number of counted rows; if it is below 1, the total is not divided."""

    @property
    def mean(self) -> float:
        """Mean loss per counted row, without the weight in the loss."""
        # A batch in which all labels are ignored has a loss of 0, not 0 / 0.
        return self.total / max(self.divisor, 1.0)

    def plus(self, other: LossSum) -> LossSum:
        """The sum of both, as if their rows were one batch."""
        return LossSum(self.weight, self.total + other.total, self.divisor + other.divisor)


def loss_sums(graph: Graph, plan: Plan) -> dict[str, LossSum]:
    """The losses of the last batch of a plan, by name."""
    divisors = loss_divisors(graph, plan)
    # In float64: a mean over a data set sums many batches, and must not depend on how it is divided into them.
    totals = {name: plan.read(plan.values[name]).sum(dtype=np.float64) for name in graph.losses}
    return {name: LossSum(weight, float(totals[name]), divisors[name]) for name, weight in graph.losses.items()}


def loss_divisors(graph: Graph, plan: Plan) -> dict[str, float]:
    """The divisor of the sum of each loss of that batch, at least 1: its rows, or its own count."""
    divisors = {}
    for name in graph.losses:
        own = plan.divisors.get(name)
        divisors[name] = float(plan.rows.of(graph.values[name].domain) if own is None else plan.read(own)[0])
    return divisors


def total_loss(sums: Iterable[LossSum]) -> float:
    """The sum of `weight * total / divisor`."""
    return sum(one.weight * one.mean for one in sums)
