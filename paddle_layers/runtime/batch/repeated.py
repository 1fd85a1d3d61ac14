"""Fast path for repeated shapes: arrays of the same shapes as in the previous pass are copied in without planning.

For a small network most of the time of a call is spent on batch metadata: number of rows, sequences, whether the plan
fits. For arrays without sequences the shapes determine all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.devices.cpu.feeds import all_below, all_finite
from paddle_layers.runtime.devices.cpu.table import CpuTable
from paddle_layers.runtime.graph.domains import Value
from paddle_layers.runtime.graph.graph import Graph
from paddle_layers.runtime.plan.plan import Plan

from .feeding import Batch
from .transfers import rows_of

Array = NDArray[Any]


class _Feed(NamedTuple):
    place: Array
    """Its location in the plan."""
    ids: int
    """Number of ids in the range; 0 for floating-point values."""

    def takes(self, given: Any) -> bool:
        """Whether an array can be copied directly. `Batch` reports errors in others."""
        # Exact types only: subclasses, other dtypes and wrong values take the usual path, which converts them or
        # reports them.
        if type(given) is not np.ndarray or given.shape != self.place.shape or given.dtype != self.place.dtype:
            return False
        return bool(all_below(given.ravel(), self.ids) if self.ids else all_finite(given.ravel()))


class RepeatedPass(NamedTuple):
    """A repeatable pass of the test phase: its plan, batch, and the locations of feeds and outputs."""

    plan: Plan
    batch: Batch
    feeds: Mapping[str, _Feed]
    outputs: Mapping[str, Array]

    @classmethod
    def of(cls, graph: Graph, plan: Plan, batch: Batch, outputs: Iterable[Value]) -> Self | None:
        """The repeatable pass after a pass.

        Returns:
            The repeatable pass; None if more than the shapes of feeds determines how a batch maps to the plan.
        """
        outputs, indices = list(outputs), plan.index_arrays
        # Random keys, dynamic rows and prepared entries change from pass to pass even for equal shapes.
        if not isinstance(plan.table, CpuTable) or plan.table.has_keys or graph.made_rows or graph.prepared_entries:
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
        """Whether the feeds of a batch have the shapes of the last one."""
        if type(given) is not dict or given.keys() != self.feeds.keys():
            return False
        return all(feed.takes(given[name]) for name, feed in self.feeds.items())

    def copy(self, given: Mapping[str, Any]) -> None:
        """Copies the feeds of a batch, which `takes` has accepted."""
        for name, feed in self.feeds.items():
            # Copied, not referenced: launches may work in place on the memory of a feed, and the caller keeps the
            # array.
            feed.place[...] = given[name]
        self.batch.arrays.update(given)

    def read(self) -> dict[str, Array]:
        """Copies of the outputs."""
        # The next pass overwrites the plan's memory.
        return {name: array.copy() for name, array in self.outputs.items()}
