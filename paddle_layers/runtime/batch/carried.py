"""State carried from batch to batch: data layers are fed the rows that another value had in the previous batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.config.wiring.data_layers import carried_values
from paddle_layers.define import ShapeError
from paddle_layers.runtime.graph.graph import Graph

from .values import FeedError

if TYPE_CHECKING:
    from paddle_layers.config.network import Network

Array = NDArray[Any]


class CarriedRows:
    """Rows by phase and data layer; empty before the first batch of a phase."""

    def __init__(self, network: Network) -> None:
        self.values = carried_values(network.nodes)
        """The value that each data layer has the rows of."""
        self.rows: dict[tuple[str, str], Array] = {}

    def check(self, graphs: Iterable[Graph]) -> None:
        """Raises `ShapeError` if the carried value is missing in a phase, or has another type or other samples."""
        pairs = [(graph, *pair) for graph in graphs for pair in self._of(graph)]
        for graph, name, value in pairs:
            found = graph.values.get(value)
            if found is None:
                raise ShapeError(f"data layer `{name}` carries `{value}`, which must exist in both phases")
            if found.domain is not graph.samples:
                raise ShapeError(f"data layer `{name}` carries `{value}`, which must have one row per sample")
            if found.type != graph.feeds[name].type:
                type_ = graph.feeds[name].type
                raise ShapeError(
                    f"data layer `{name}` is {type_}, but the value `{value}` that it carries is {found.type}"
                )

    def feed(self, phase: str, graph: Graph, feeds: Mapping[str, Any], dtype: str) -> Mapping[str, Any]:
        """The feeds of a batch, completed with rows of the previous batch. Raises `FeedError`."""
        missing = [name for name, _ in self._of(graph) if name not in feeds]
        if not missing:
            return feeds
        given = next((value for name, value in feeds.items() if name in graph.feeds), None)
        samples = _samples(given)
        found = {name: self._rows(phase, graph, name, samples, dtype) for name in missing}
        return {**feeds, **found}

    def note(self, phase: str, graph: Graph, read: Callable[[str], Array]) -> None:
        """Stores the rows that the next batch is fed."""
        # In one assignment: an interrupt must not leave the rows of two batches.
        self.rows = self.rows | {(phase, name): np.array(read(value)) for name, value in self._of(graph)}

    def saved(self) -> dict[str, Array]:
        """The rows by names, for `restore`."""
        return {"/".join(key): rows for key, rows in self.rows.items()}

    def restore(self, saved: Mapping[str, Array]) -> None:
        """Restores the result of `saved`."""
        self.rows = {(key.partition("/")[0], key.partition("/")[2]): rows for key, rows in saved.items()}

    def _of(self, graph: Graph) -> Iterable[tuple[str, str]]:
        return ((name, value) for name, value in self.values.items() if name in graph.feeds)

    def _rows(self, phase: str, graph: Graph, name: str, samples: int | None, dtype: str) -> Array:
        type_, before = graph.feeds[name].type, self.rows.get((phase, name))
        if before is None:
            return np.zeros((samples or 0, *type_.dims), np.int64 if type_.kind == "INT" else dtype)
        if samples is not None and samples != len(before):
            raise FeedError(
                f"feed `{name}` continues the previous batch of {len(before)} samples, but this batch has {samples}; "
                f"use one batch size, or feed `{name}`"
            )
        return before


def _samples(given: Any) -> int | None:
    """Number of samples of a feed, as far as it is known before validation."""
    if hasattr(given, "shape"):
        return int(given.shape[0]) if given.shape else None
    return len(given) if hasattr(given, "__len__") else None
