"""Dynamic input sizes: graphs for feeds of other sizes."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from paddle_layers.define import ShapeError, Type
from paddle_layers.define.fields.types import channels_last
from paddle_layers.runtime.graph.building import build_graph
from paddle_layers.runtime.graph.graph import Graph
from paddle_layers.runtime.memory.parameters import ParameterSet

from .carried import CarriedRows
from .values import Csr, FeedError, Sequences, as_array

if TYPE_CHECKING:
    from paddle_layers.config.network import Network
    from paddle_layers.runtime.plan.phase import Phase

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
