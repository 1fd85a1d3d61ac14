"""Passes over arrays of the same shapes as those of the pass before: they are copied in, and nothing is planned anew.

For a small network most of the time of a call goes to what a batch says: how many rows there are, which sequences,
whether the plan fits. Of arrays without sequences the shapes say all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.devices.cpu.feeds import all_below, all_finite
from paddle_layers.runtime.devices.cpu.table import Table
from paddle_layers.runtime.graph.graph import Graph
from paddle_layers.runtime.graph.value import Value
from paddle_layers.runtime.plan.plan import Plan

from .feeding import Batch
from .reading import rows_of

Array = NDArray[Any]


class _Feed(NamedTuple):
    place: Array
    """Where the plan reads it."""
    ids: int
    """How many ids there are; 0 for real numbers."""

    def takes(self, given: Any) -> bool:
        """Whether an array can be copied as it is. What is wrong with others is for `Batch` to say."""
        if type(given) is not np.ndarray or given.shape != self.place.shape or given.dtype != self.place.dtype:
            return False
        return bool(all_below(given.ravel(), self.ids) if self.ids else all_finite(given.ravel()))


class RepeatedPass(NamedTuple):
    """A pass in the phase test that can be made again: its plan and batch, where feeds go and outputs lie."""

    plan: Plan
    batch: Batch
    feeds: Mapping[str, _Feed]
    outputs: Mapping[str, Array]

    @classmethod
    def of(cls, graph: Graph, plan: Plan, batch: Batch, outputs: Iterable[Value]) -> Self | None:
        """What there is after a pass; None where more than the shapes of feeds says how a batch lies over the plan."""
        outputs, indices = list(outputs), plan.index_arrays
        if not isinstance(plan.table, Table) or plan.table.has_keys or graph.made_rows or graph.made_entries:
            return None
        if plan.moving_states or indices.sequences or indices.indices or indices.csr or indices.uses:
            return None
        if any(value.type.level for value in (*graph.feeds.values(), *outputs)):
            return None
        if not graph.feeds.keys() <= plan.values.keys():
            return None
        feeds = {}
        for name, value in graph.feeds.items():
            place = rows_of(plan, plan.values[name], value)
            feeds[name] = _Feed(place, value.type.size if value.type.kind == "INT" else 0)
        return cls(plan, batch, feeds, {value.name: rows_of(plan, plan.values[value.name], value) for value in outputs})

    def takes(self, given: Mapping[str, Any]) -> bool:
        """Whether the feeds of a batch are like those of the last one."""
        if type(given) is not dict or given.keys() != self.feeds.keys():
            return False
        return all(feed.takes(given[name]) for name, feed in self.feeds.items())

    def copy(self, given: Mapping[str, Any]) -> None:
        """Copy the feeds of a batch in, which `takes` has looked at."""
        for name, feed in self.feeds.items():
            feed.place[...] = given[name]
        self.batch.arrays.update(given)

    def read(self) -> dict[str, Array]:
        """Copies of the outputs."""
        return {name: array.copy() for name, array in self.outputs.items()}
