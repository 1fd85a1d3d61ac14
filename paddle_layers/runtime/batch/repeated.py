"""Input shapes of passes: graphs for feeds of other sizes, and a fast path for repeated shapes."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import ShapeError, Type
from paddle_layers.define.fields.types import channels_last
from paddle_layers.runtime.devices.cpu.feeds import all_below, all_finite
from paddle_layers.runtime.devices.cpu.table import CpuTable
from paddle_layers.runtime.graph.building import build_graph
from paddle_layers.runtime.graph.domains import Value
from paddle_layers.runtime.graph.graph import Graph
from paddle_layers.runtime.memory.parameters import ParameterSet
from paddle_layers.runtime.plan.plan import Plan

from .carried import CarriedRows
from .feeding import Batch
from .transfers import rows_of
from .values import Csr, FeedError, Sequences, as_array

if TYPE_CHECKING:
    from paddle_layers.config.network import Network
    from paddle_layers.runtime.plan.phase import Phase

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


log = logging.getLogger("paddle_layers")


def changed_types(graph: Graph, feeds: Mapping[str, Any]) -> dict[str, Type]:
    """Types of feeds of numbers or ids whose sizes, but not their number of axes, differ from those of the graph."""
    changed = {}
    for name, value in graph.feeds.items():
        if value.entries is not None or not value.type.dims or name not in feeds:
            continue
        sizes = _shape(feeds[name], value.type.level)[1:]
        # Another number of axes is an error of the feed, and is reported as one.
        if len(sizes) == len(value.type.dims) and sizes != value.type.dims and all(sizes):
            if value.type.kind == "INT":
                changed[name] = value.type._replace(dims=sizes)
                continue
            _check_channels(name, sizes, value.type)
            changed[name] = Type.dense(*sizes, level=value.type.level)
    return changed


def _check_channels(name: str, sizes: tuple[int, ...], wanted: Type) -> None:
    """Raises `FeedError` for channels-last images, which some networks would misinterpret."""
    if channels_last(sizes, wanted.dims):
        shown = Type.dense(*sizes, level=0)
        raise FeedError(
            f"feed `{name}` has rows of {shown}, but the data layer takes {wanted} (channels first); "
            "feed array.transpose(0, 3, 1, 2)"
        )


def _shape(given: Any, level: int) -> tuple[int, ...]:
    """The shape of the fed rows, or of the first one in a list; () for an empty list."""
    if isinstance(given, Sequences):
        given = given.data
    elif level and isinstance(given, (list, tuple)):
        return next((shape for part in given if (shape := _shape(part, level - 1)) and shape[0]), ())
    if isinstance(given, Csr):
        return ()
    try:
        return as_array(given).shape
    except FeedError:  # reported later by the reader of the feeds
        return ()


def graph_for(phase: Phase, feeds: Mapping[str, Any], parameters: ParameterSet, carried: CarriedRows) -> Graph | None:
    """The graph for feeds of other sizes; `None` if their sizes are unchanged. Raises `FeedError`."""
    changed = changed_types(phase.graph, feeds)
    if not changed:
        return None
    graph = _rebuilt(phase.graph, changed, phase.network, parameters, carried)
    log.info("rebuilt the plan: %s", ", ".join(f"`{name}` is {type_}" for name, type_ in changed.items()))
    return graph


def _rebuilt(
    graph: Graph, changed: Mapping[str, Type], network: Network, parameters: ParameterSet, carried: CarriedRows
) -> Graph:
    """The graph for other types of feeds. Raises `FeedError` if the network does not accept them."""
    types = {name: changed.get(name, value.type) for name, value in graph.feeds.items()}
    try:
        rebuilt = build_graph(network, parameters, types)
        carried.check([rebuilt])
    except ShapeError as error:
        sizes = ", ".join(f"`{name}` as {type_}" for name, type_ in changed.items())
        takes = ", ".join(f"`{name}` takes {graph.feeds[name].type}" for name in changed)
        raise FeedError(f"the network cannot run with {sizes}: {error.message}; {takes}") from None
    return rebuilt
