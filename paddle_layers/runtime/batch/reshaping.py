"""What the feeds of a batch say about the graph: other sizes, labels that are to be ignored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_layers.define import ShapeError, Type
from paddle_layers.runtime.graph.building import build_graph
from paddle_layers.runtime.graph.graph import Graph
from paddle_layers.runtime.memory.parameters import ParameterSet

from .values import Csr, FeedError, Sequences

if TYPE_CHECKING:
    from paddle_layers.config.network import Network


def changed_types(graph: Graph, feeds: Mapping[str, Any]) -> dict[str, Type]:
    """Types of dense feeds whose sizes, but not their number of axes, differ from those that the graph has."""
    changed = {}
    for name, value in graph.feeds.items():
        given = feeds.get(name)
        rows = given.data if isinstance(given, Sequences) else given
        if value.type.kind != "DENSE" or not value.type.dims or rows is None or isinstance(rows, Csr):
            continue
        shape = np.shape(rows) if not isinstance(rows, (list, tuple)) else ()
        if len(shape) == len(value.type.dims) + 1 and shape[1:] != value.type.dims:
            changed[name] = Type.dense(*shape[1:], level=value.type.level)
    return changed


def rebuilt(graph: Graph, changed: Mapping[str, Type], network: Network, parameters: ParameterSet) -> Graph:
    """The graph for other types of feeds. Raises `FeedError` when the network does not take them."""
    types = {name: changed.get(name, value.type) for name, value in graph.feeds.items()}
    try:
        return build_graph(network, parameters, types)
    except ShapeError as error:
        sizes = ", ".join(f"`{name}` as {type_}" for name, type_ in changed.items())
        takes = ", ".join(f"`{name}` takes {graph.feeds[name].type}" for name in changed)
        raise FeedError(f"{takes}; the network cannot run with {sizes}: {error.message}") from None


def extra_ids(graph: Graph) -> dict[str, frozenset[int]]:
    """For each feed of ids, the labels outside its range that every layer which reads it ignores."""
    allowed: dict[str, frozenset[int]] = {}
    for op in graph.ops:
        for value in op.inputs:
            if value.type.kind == "INT":
                ignored = op.attributes.get("ignore_label")
                own = frozenset() if ignored is None else frozenset({int(ignored)})
                allowed[value.name] = allowed.get(value.name, own) & own
    return allowed
