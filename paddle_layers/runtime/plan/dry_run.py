"""Dry run: memory footprint of a network and explanation of its plan, without allocation or compilation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paddle_layers.runtime.generate.drivers import Kernel
from paddle_layers.runtime.graph.building import build_graph
from paddle_layers.runtime.graph.graph import Graph
from paddle_layers.runtime.launches.arguments import Held, Ref
from paddle_layers.runtime.launches.buffers import FOREVER, Buffer, Storage
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.memory.parameters import ParameterSet
from paddle_layers.runtime.passes.buffer_reuse import place
from paddle_layers.runtime.passes.gradients import mark_sparse_gradients
from paddle_layers.runtime.schedule.schedule import LaunchSchedule

if TYPE_CHECKING:
    from paddle_layers.config.network import Network
    from paddle_layers.config.wiring.nodes import Node


def dry_schedule(
    graph: Graph, outputs: Iterable[str], batch_size: int, dtype: str, *, training: bool, device: str = "cpu"
) -> LaunchSchedule:
    """The plan of a net for batches of `batch_size` rows; sequences are assumed to have one row each."""
    for domain in graph.domains:
        domain.reserve(batch_size)
    output_gradients = dict(graph.losses) if training else {}
    keep = [name for name in (*outputs, *graph.losses) if name in graph.values]
    return LaunchSchedule(graph, dtype, training=training, output_gradients=output_gradients, keep=keep, device=device)


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


@dataclass(frozen=True)
class ExplainedLaunch:
    """Description of a launch."""

    number: int
    backward: bool
    layer: str
    kernel: str
    """The function and its implementation: `fc_y, tuned`; `once` if it only runs when a parameter changes."""
    result: str
    shape: str
    """Shape of the result, a batch's rows first."""
    nbytes: int
    """Size of the result; 0 for parameters' gradients, which are not part of the plan."""
    place: str
    """Location of the result: offset in the plan's memory in bytes, or with the parameters."""
    in_place: str
    """The buffer whose memory it takes over, or why it does not."""
    lifetime: str
    """The first and last launch that use the result."""
    fused: str
    """The launches that are fused, or why this one is not fused with the previous one; or empty."""


@dataclass(frozen=True)
class ExplainedPlan:
    """All launches of a phase, and the bytes of their memory: as planned, and without sharing."""

    launches: tuple[ExplainedLaunch, ...]
    nbytes: int
    separate: int
    copies: tuple[tuple[str, str], ...] = ()
    """Results without a launch, each with the one that it is a copy of."""
    parts: tuple[tuple[str, str], ...] = ()
    """Results that are written directly into another one, each with that."""
    recomputed: tuple[str, ...] = ()
    """Results that the backward pass recomputes."""


def explain_plan(network: Network, phase: str, batch_size: int, dtype: str, device: str) -> ExplainedPlan:
    """The plan of a phase for batches of `batch_size` rows; sequences are assumed to have one row each."""
    selected = network.select(phase)
    graph = build_graph(selected, ParameterSet(dtype), {})
    for op in graph.ops:
        op.layer.check_runs()
    mark_sparse_gradients([graph])
    schedule = dry_schedule(graph, selected.outputs, batch_size, dtype, training=phase == "train", device=device)
    storages = schedule.lay_out()
    nbytes = place(storages)
    launches = [*schedule.forward, *schedule.backward]
    buffers = [buffer for storage in storages for buffer in storage.buffers]
    # A storage per buffer: the bytes that the passes save are the difference.
    separate = sum(Storage([buffer], buffer.first, buffer.last).nbytes for buffer in buffers)
    once = launches[: schedule.constants]
    explained = (
        _explained(at, launch, at >= len(schedule.forward), ", once" if launch in once else "")
        for at, launch in enumerate(launches)
    )
    copies = tuple((buffer.name, buffer.root.name) for buffer in schedule.copies)
    parts = tuple((buffer.name, buffer.root.name) for buffer in schedule.parts)
    recomputed = tuple(buffer.name for buffer in schedule.recomputed)
    return ExplainedPlan(tuple(explained), nbytes, separate, copies, parts, recomputed)


def _explained(number: int, launch: Launch, backward: bool, once: str) -> ExplainedLaunch:
    target = launch.args[0]
    assert isinstance(target, Ref)
    owner, shape = target.owner, " x ".join(str(size.capacity) for size in target.shape)
    about = (number, backward, launch.op, _kernel(launch) + once)
    if isinstance(owner, Held):
        name = owner.parameter.name
        result = f"gradient of {name}" if owner.part == "gradient" else name
        return ExplainedLaunch(*about, result, shape, 0, "with the parameters", "", "", launch.fused)
    assert isinstance(owner, Buffer)
    assert owner.storage is not None
    where = (str(owner.storage.offset + owner.shift), owner.in_place, _lifetime(owner))
    return ExplainedLaunch(*about, owner.name, shape, owner.nbytes, *where, launch.fused)


def _kernel(launch: Launch) -> str:
    code = launch.code
    if not isinstance(code, Kernel):
        return f"{launch.name}, tuned"
    kinds = {"in Python": code.python, "row by row": code.scan, "adds": code.accumulate, "every step": launch.loop}
    return ", ".join([launch.name, *(kind for kind, holds in kinds.items() if holds)])


def _lifetime(buffer: Buffer) -> str:
    first = "before" if buffer.first < 0 else str(buffer.first)
    return f"{first} to {'the end' if buffer.last == FOREVER else buffer.last}"
