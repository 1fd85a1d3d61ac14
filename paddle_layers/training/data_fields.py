"""Fields that the data layers of a training read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paddle_layers.config.wiring.data_layers import carried_values

from .results.result_names import selected

if TYPE_CHECKING:
    from paddle_layers.config import Network
    from paddle_layers.config.training import SourceSettings, Training
    from paddle_layers.define import Type


def feed_types(network: Network) -> dict[str, Type]:
    """Types that the data layers of a network require, by name of the output."""
    carried = set(carried_values(network.nodes))
    data = (node for node in network.nodes if not node.definition.inputs and carried.isdisjoint(node.output_names))
    return {name: type_ for node in data for name, type_ in zip(node.output_names, node.output_types, strict=True)}


def field_types(training: Training, phases: Sequence[str]) -> dict[str, Type]:
    """Types of the fields that the data layers of some phases read."""
    types = (feed_types(selected(training, phase)) for phase in phases)
    return {training.feed.get(layer, layer): wanted for layers in types for layer, wanted in layers.items()}


def read_fields(training: Training, source: SourceSettings | None, phase: str = "") -> set[str]:
    """The fields that are read of a source, or of data from Python for a phase.

    With a split these are the fields of all phases, and those that decide which rows a phase has.
    """
    if source is None or source.split is None:
        return {*field_types(training, (phase or (source.phase if source is not None else "train"),))}
    return {*field_types(training, ("train", "test")), *source.split.fields}
