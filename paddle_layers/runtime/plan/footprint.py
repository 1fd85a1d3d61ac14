"""Memory footprint and parameter counts of a network, before allocation or compilation."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paddle_layers.runtime.graph.building import build_graph
from paddle_layers.runtime.memory.parameters import ParameterSet
from paddle_layers.runtime.passes.buffer_reuse import place
from paddle_layers.runtime.passes.sparse_gradients import mark_sparse_gradients

from .dry_run import dry_schedule

if TYPE_CHECKING:
    from paddle_layers.config.network import Network
    from paddle_layers.config.wiring.nodes import Node


@dataclass(frozen=True)
class LayerFootprint:
    """Number of parameter elements of a layer, and bytes of its values: with their gradients, and without."""

    parameters: int
    training: int
    inference: int


@dataclass(frozen=True)
class Footprint:
    """Footprint of each layer by name, and of the network: allocations of a run of a phase, including parameters."""

    layers: dict[str, LayerFootprint]
    parameters: int
    training: int
    inference: int
    sizes: dict[str, int]
    """Number of elements of each parameter."""

    def inside(self, path: str) -> int:
        """Number of parameter elements of nested layers, `outer.inner`."""
        return sum(size for name, size in self.sizes.items() if name.startswith(path + "."))


def footprint(network: Network, batch_size: int, dtype: str = "float32", device: str = "cpu") -> Footprint:
    """The footprint for batches of `batch_size` rows; sequences are assumed to have one row each.

    Devices differ: each fuses other launches, and fused launches need no buffers between them.
    """
    itemsize = np.dtype(dtype).itemsize
    parameters = ParameterSet(dtype)
    phases = {phase: network.select(phase) for phase in ("train", "test")}
    graphs = {phase: build_graph(selected, parameters, {}) for phase, selected in phases.items()}
    mark_sparse_gradients(graphs.values())
    schedules = (
        dry_schedule(graph, phases[phase].outputs, batch_size, dtype, training=phase == "train", device=device)
        for phase, graph in graphs.items()
    )
    training, inference = (place(schedule.lay_out()) for schedule in schedules)
    counts: Counter[str] = Counter()
    gradients: Counter[str] = Counter()
    for parameter in parameters.by_name.values():
        layer = parameter.name.partition(".")[0]
        counts[layer] += parameter.size
        gradients[layer] += parameter.size if parameter.trained and not parameter.by_rows else 0
    total, dense = counts.total(), gradients.total()
    layers = {
        node.name: _layer(node, counts[node.name], gradients[node.name], batch_size, itemsize) for node in network.nodes
    }
    sizes = {parameter.name: parameter.size for parameter in parameters.by_name.values()}
    return Footprint(layers, total, training + (total + dense) * itemsize, inference + total * itemsize, sizes)


def _layer(node: Node, parameters: int, trained: int, batch_size: int, itemsize: int) -> LayerFootprint:
    values = batch_size * _bytes(node, itemsize)
    gradients = values if node.definition.facts.can_do_bp else 0
    weights = parameters * itemsize
    return LayerFootprint(parameters, values + gradients + weights + trained * itemsize, values + weights)


def _bytes(node: Node, itemsize: int) -> int:
    """Bytes per row of all values of a layer, including nested ones."""
    if node.inside is not None:
        return sum(_bytes(inner, itemsize) for inner in node.inside.nodes)
    return sum(type_.columns * (8 if type_.kind == "INT" else itemsize) for type_ in node.output_types)
