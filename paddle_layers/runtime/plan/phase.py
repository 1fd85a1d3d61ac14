"""One phase of a net: its graph, and the plans that were made for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from paddle_layers.define.quiet import quietly
from paddle_layers.runtime.devices.protocol import Device, Progress
from paddle_layers.runtime.graph.building import build_graph
from paddle_layers.runtime.memory.parameters import ParameterSet
from paddle_layers.runtime.passes.early_updates import KEPT, Updates
from paddle_layers.runtime.schedule.schedule import Schedule

from .capacity import check_capacity
from .plan import Plan
from .statistics import Statistics

if TYPE_CHECKING:
    from paddle_layers.config.network import Network

Seeds = tuple[tuple[str, float | None], ...]
"""Values at which a backward pass starts, with their weight in the loss; None where the caller gives the gradient."""


class Planning(NamedTuple):
    """What the plans of all phases of a net have in common."""

    device: Device
    dtype: str
    keep: tuple[str, ...]
    """Values that stay readable beside the outputs."""
    statistics: Statistics
    progress: Progress | None


class Phase:
    """The graph of a phase, and its plans by the values at which their backward pass starts."""

    def __init__(self, name: str, network: Network, parameters: ParameterSet, planning: Planning) -> None:
        self.name, self.network, self.outputs = name, network, network.outputs
        self.graph = build_graph(network, parameters, {})
        for op in self.graph.ops:
            op.layer.check_runs()
        self.planning = planning
        self.updates: Updates | None = None
        """What backward passes do to the parameters, in place of leaving their gradients."""
        self._plans: dict[Seeds, Plan] = {}
        self._divisors: Plan | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the buffers of all plans."""
        return sum(plan.nbytes for plan in self._plans.values())

    @property
    def capacities(self) -> list[int]:
        """Rows for which the buffers have memory."""
        return [domain.capacity for domain in self.graph.domains]

    @capacities.setter
    def capacities(self, rows: Sequence[int]) -> None:
        for domain, capacity in zip(self.graph.domains, rows, strict=True):
            domain.capacity = capacity

    def loss_seeds(self) -> Seeds:
        """The losses of the network; there are none in a test."""
        return tuple(self.graph.losses.items()) if self.name == "train" else ()

    def schedule(self, seeds: Seeds) -> Schedule:
        """The launches of the phase."""
        if self.updates is not None and seeds != self.loss_seeds():
            raise RuntimeError(f"backward passes of this training start at its losses only: {KEPT}")
        graph, planning = self.graph, self.planning
        keep = [n for n in (*self.outputs, *planning.keep, *graph.losses) if n in graph.values]
        return Schedule(
            graph,
            planning.dtype,
            training=self.name == "train",
            seeds=dict(seeds),
            keep=keep,
            device=planning.device.name,
            updates=self.updates,
        )

    def plan(self, seeds: Seeds) -> Plan:
        """The plan for these seeds, made at the first call."""
        if seeds not in self._plans:
            self._plans[seeds] = quietly(lambda: self._make_plan(seeds))
        return self._plans[seeds]

    def _make_plan(self, seeds: Seeds) -> Plan:
        schedule, planning = self.schedule(seeds), self.planning
        counting = planning.statistics.launches(schedule.stats)
        return Plan(self.graph, schedule, planning.device, counting=counting, progress=planning.progress)

    def divisor_plan(self) -> Plan:
        """The plan that computes the divisors of the losses only, made at the first call."""
        if self._divisors is None:
            self._divisors = quietly(self._make_divisor_plan)
        return self._divisors

    def _make_divisor_plan(self) -> Plan:
        planning = self.planning
        dtype, device, training = planning.dtype, planning.device.name, self.name == "train"
        schedule = Schedule(self.graph, dtype, training=training, seeds={}, keep=(), device=device, divisors_only=True)
        return Plan(self.graph, schedule, planning.device, progress=planning.progress)

    def seeds_of(self, plan: Plan) -> Seeds | None:
        """The seeds of a plan of this phase."""
        return next((seeds for seeds, known in self._plans.items() if known is plan), None)

    def forget(self) -> None:
        """Drop all plans: sizes or rows have changed."""
        self._plans.clear()
        self._divisors = None


def reserve(phases: Sequence[Phase], batch_size: int) -> None:
    """Plan phases of one net; what they need is compiled in one go, so that the progress counts it together."""
    schedules, planning = [], phases[0].planning
    for phase in phases:
        for domain in phase.graph.domains:
            domain.reserve(batch_size)
        schedules.append(phase.schedule(phase.loss_seeds()))
    check_capacity(planning.device, schedules)
    launches = [launch for schedule in schedules for launch in (*schedule.forward, *schedule.backward)]
    planning.device.compile(launches, planning.dtype, planning.progress)
    for phase in phases:
        phase.plan(phase.loss_seeds())
