"""Dry run: the launches of a phase for a number of rows, without allocation or compilation."""

from __future__ import annotations

from collections.abc import Iterable

from paddle_layers.runtime.graph.graph import Graph
from paddle_layers.runtime.schedule.schedule import LaunchSchedule


def dry_schedule(
    graph: Graph, outputs: Iterable[str], batch_size: int, dtype: str, *, training: bool, device: str = "cpu"
) -> LaunchSchedule:
    """The plan of a net for batches of `batch_size` rows; sequences are assumed to have one row each."""
    for domain in graph.domains:
        domain.reserve(batch_size)
    output_gradients = dict(graph.losses) if training else {}
    keep = [name for name in (*outputs, *graph.losses) if name in graph.values]
    return LaunchSchedule(graph, dtype, training=training, output_gradients=output_gradients, keep=keep, device=device)
