"""What the passes decided for every launch of a network, known before anything is allocated or compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paddle_layers.runtime.generate.drivers import Kernel
from paddle_layers.runtime.graph.building import build_graph
from paddle_layers.runtime.launches.arguments import Held, Ref
from paddle_layers.runtime.launches.buffers import FOREVER, Buffer, Storage
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.memory.parameters import ParameterSet
from paddle_layers.runtime.passes.row_gradients import mark_row_gradients
from paddle_layers.runtime.passes.shared_memory import place

from .dry_run import dry_schedule

if TYPE_CHECKING:
    from paddle_layers.config.network import Network


@dataclass(frozen=True)
class ExplainedLaunch:
    """A launch in words and numbers."""

    number: int
    backward: bool
    layer: str
    kernel: str
    """The function, and what computes it: `fc_y, tuned`; `once` where it waits for a parameter to change."""
    result: str
    shape: str
    """Of the result, a batch's rows first."""
    nbytes: int
    """Of the result; 0 for parameters' gradients, which are no part of the plan."""
    place: str
    """Where the result lies: bytes from the start of the plan's memory, or with the parameters."""
    in_place: str
    """Whose memory it takes, or why it takes none."""
    lifetime: str
    """The launches from the first to the last that use the result."""
    fused: str
    """The launches that run block by block together, or why this one does not with the one before; or empty."""


@dataclass(frozen=True)
class ExplainedPlan:
    """All launches of a phase, and the bytes of their memory: as they are planned, and if nothing was shared."""

    launches: tuple[ExplainedLaunch, ...]
    nbytes: int
    separate: int
    copies: tuple[tuple[str, str], ...] = ()
    """Results that no launch makes, each with the one that it is a copy of."""
    parts: tuple[tuple[str, str], ...] = ()
    """Results that are made in their place in another one, each with that."""
    recomputed: tuple[str, ...] = ()
    """Results that the backward pass computes again."""


def explain_plan(network: Network, phase: str, batch_size: int, dtype: str, device: str) -> ExplainedPlan:
    """The plan of a phase for batches of `batch_size` rows; sequences are taken to hold one row each."""
    selected = network.select(phase)
    graph = build_graph(selected, ParameterSet(dtype), {})
    for op in graph.ops:
        op.layer.check_runs()
    mark_row_gradients([graph])
    schedule = dry_schedule(graph, selected.outputs, batch_size, dtype, training=phase == "train", device=device)
    storages = schedule.lay_out()
    nbytes = place(storages)
    launches = [*schedule.forward, *schedule.backward]
    buffers = [buffer for storage in storages for buffer in storage.buffers]
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
