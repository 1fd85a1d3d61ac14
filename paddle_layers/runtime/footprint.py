"""Memory and parameters of a network, known before anything is allocated or compiled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .buffers import place
from .building import build_graph
from .feeding import feed_domains
from .parameters import ParameterSet
from .schedule import Schedule

if TYPE_CHECKING:
    from paddle_layers.config.network import Network, Node


@dataclass(frozen=True)
class LayerFootprint:
    """Numbers in the parameters of a layer, and bytes of its values: with their gradients, and without."""

    parameters: int
    training: int
    inference: int


@dataclass(frozen=True)
class Footprint:
    """Of each layer by name, and of the network: what a run of a phase allocates, parameters included."""

    layers: dict[str, LayerFootprint]
    parameters: int
    training: int
    inference: int


def footprint(network: Network, batch_size: int, dtype: str = "float32") -> Footprint:
    """The footprint for batches of `batch_size` rows; sequences are taken to hold one row each."""
    itemsize = np.dtype(dtype).itemsize
    parameters = ParameterSet(dtype)
    training, inference = (_phase_bytes(network, batch_size, dtype, parameters, phase) for phase in ("train", "test"))
    counts: dict[str, int] = {}
    for parameter in parameters.by_name.values():
        layer = parameter.name.partition(".")[0]
        counts[layer] = counts.get(layer, 0) + parameter.size
    trained = sum(parameter.size for parameter in parameters.trained)
    total = sum(counts.values())
    layers = {node.name: _layer(node, counts.get(node.name, 0), batch_size, itemsize) for node in network.nodes}
    return Footprint(layers, total, training + (total + trained) * itemsize, inference + total * itemsize)


def _layer(node: Node, parameters: int, batch_size: int, itemsize: int) -> LayerFootprint:
    values = sum(
        batch_size * (8 if type_.kind == "INT" else math.prod(type_.dims) * itemsize) for type_ in node.output_types
    )
    gradients = values if node.definition.facts.can_do_bp else 0
    weights = parameters * itemsize
    return LayerFootprint(parameters, values + gradients + 2 * weights, values + weights)


def _phase_bytes(network: Network, batch_size: int, dtype: str, parameters: ParameterSet, phase: str) -> int:
    """Bytes of the arena that a plan of the phase would have."""
    selected = network.select(phase)
    graph = build_graph(selected, parameters, {})
    for domain in feed_domains(graph):
        domain.reserve(batch_size)
    seeds = dict(graph.losses) if phase == "train" else {}
    keep = [name for name in (*selected.outputs, *graph.losses) if name in graph.values]
    schedule = Schedule(graph, dtype, training=phase == "train", seeds=seeds, keep=keep)
    return place(schedule.lay_out())
