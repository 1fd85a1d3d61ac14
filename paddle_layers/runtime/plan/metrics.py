"""Losses and metrics of a network: sums over rows, over any number of batches.

A loss is divided by the counted rows; metric layers report what is computed from the sums of their statistics.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from paddle_layers.runtime.devices import Device
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.launches.arguments import ExternalMemory, Ref
from paddle_layers.runtime.launches.builtin import SUM, simple_launch
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.memory.blocks import Flat

if TYPE_CHECKING:
    from paddle_layers.runtime.graph.graph import Graph, Op

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


class StatisticRows(NamedTuple):
    """Reduction of a statistic: rows of values, and the shape of their sum, () for a scalar."""

    rows: Extent
    shape: tuple[int, ...]

    @property
    def columns(self) -> int:
        """Number of values per row."""
        return math.prod(self.shape)


def statistic_rows(ref: Ref) -> StatisticRows:
    """The first axis counts rows if it depends on the batch; else the whole is one row."""
    sizes = tuple(size.extra for size in ref.shape)
    return StatisticRows(Extent(1), sizes) if ref.shape[0].domain is None else StatisticRows(ref.shape[0], sizes[1:])


class Statistics:
    """Sums of every statistic, in float64 on the device, until they are reset."""

    def __init__(self, device: Device) -> None:
        self._device = device
        # Float64, and on the device: reading them back after each batch would wait for a GPU.
        self._sums: dict[tuple[str, str, tuple[int, ...]], Flat] = {}
        self._counted: dict[str, tuple[Op, Mapping[str, Ref]]] = {}
        self._resetting = False
        """Whether a reset has begun and not ended: an interrupt may leave some sums at zero and others not."""

    def launches(self, found: Iterable[tuple[Op, Mapping[str, Ref]]]) -> list[Launch]:
        """Launches that add the rows of a batch to the sums."""
        return [self._launch(op, name, ref) for op, refs in found for name, ref in refs.items()]

    def _launch(self, op: Op, name: str, ref: Ref) -> Launch:
        # The sum belongs to the statistics and not to a plan: plans for other batch sizes add to the same one.
        rows, shape = table = statistic_rows(ref)
        columns = Extent(table.columns)
        total = self._sums.setdefault((op.name, name, shape), Flat(self._device, table.columns, "float64"))
        target = Ref(ExternalMemory(total.block.address), (columns,), "float64")
        return simple_launch(SUM, op.name, [target, Ref(ref.owner, (rows, columns))], accumulate=True)

    def note(self, found: Iterable[tuple[Op, Mapping[str, Ref]]]) -> None:
        """Records what has been counted, for reports."""
        for op, refs in found:
            self._counted[op.name] = op, refs

    def results(self) -> dict[str, float]:
        """Metrics by `layer.type`, or `layer.type.name` if a layer reports several."""
        self.complete_reset()
        return {
            f"{op.name}.{op.layer.name}" + (f".{name}" if name else ""): number
            for op, refs in self._counted.values()
            for name, number in op.layer.report({**op.attributes, **self._read(op, refs)}).items()
        }

    def sums(self) -> list[tuple[str, str, list[float]]]:
        """Accumulated sums since the last reset: layer, name and values of each."""
        self.complete_reset()
        found = self._sums.items()
        return [(op, name, sums.read().tolist()) for (op, name, _), sums in found if op in self._counted]

    def restore(self, counted: Iterable[tuple[str, str, list[float]]]) -> None:
        """Restores the sums of `sums`; unknown ones are ignored."""
        self.complete_reset()
        numbers = {(op, name): np.array(values, np.float64) for op, name, values in counted}
        for (op, name, _), sums in self._sums.items():
            if (op, name) in numbers:
                sums.write(numbers[op, name])

    def roll_back(self, counted: Iterable[tuple[str, str, list[float]]]) -> None:
        """As `restore`, and all other sums are zero."""
        numbers = {(op, name): np.array(values, np.float64) for op, name, values in counted}
        for (op, name, _), sums in self._sums.items():
            sums.write(numbers.get((op, name), np.zeros(1)))

    def _read(self, op: Op, refs: Mapping[str, Ref]) -> dict[str, Any]:
        """Sums by name, as numbers and lists of numbers."""
        shapes = {name: statistic_rows(ref).shape for name, ref in refs.items()}
        return {name: self._sums[op.name, name, shape].read().reshape(shape).tolist() for name, shape in shapes.items()}

    def reset(self) -> None:
        """Sets all sums to zero."""
        # The flag brackets the loop, so that an interrupted reset is completed before the sums are used again.
        self._resetting = True
        for total in self._sums.values():
            total.write(np.zeros(1))
        self._counted.clear()
        self._resetting = False

    def complete_reset(self) -> None:
        """Completes an interrupted reset."""
        if self._resetting:
            self.reset()
