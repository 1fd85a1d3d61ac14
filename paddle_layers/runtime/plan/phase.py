"""One phase of a net: its graph, and the plans that were made for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from paddle_layers.define.quiet import quietly
from paddle_layers.runtime.devices.protocol import Device, Progress
from paddle_layers.runtime.graph.building import build_graph
from paddle_layers.runtime.graph.domains import RowsOf, rounded_rows
from paddle_layers.runtime.launches.choices import Choice, noting
from paddle_layers.runtime.memory.blocks import DeviceError
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


@dataclass(eq=False)
class Variant:
    """Plans for the batches for which the same kernels are chosen, by the values at which the backward pass starts."""

    capacities: list[int] = field(default_factory=list)
    """Rows for which the buffers have memory; up to date while another variant is in use."""
    plans: dict[Seeds, Plan] = field(default_factory=dict)
    choices: list[Choice] = field(default_factory=list)
    """Of all plans."""

    def forget(self) -> None:
        """Drop all plans."""
        self.plans.clear()
        self.choices.clear()


class Phase:
    """The graph of a phase, and its plans.

    Which kernels run depends on the rows of the batch, never on those of earlier batches: a batch for which other
    kernels are chosen than for those before has a plan of its own.
    """

    def __init__(self, name: str, network: Network, parameters: ParameterSet, planning: Planning) -> None:
        self.name, self.network, self.outputs = name, network, network.outputs
        self.graph = build_graph(network, parameters, {})
        for op in self.graph.ops:
            op.layer.check_runs()
        self.planning = planning
        self.updates: Updates | None = None
        """What backward passes do to the parameters, in place of leaving their gradients."""
        self._divisors: Plan | None = None
        self._variant = Variant()
        self._variants = [self._variant]
        self._known: dict[tuple[int, ...], Variant] = {}
        """By the rows for which kernels are chosen."""

    @property
    def nbytes(self) -> int:
        """Bytes of the buffers of all plans."""
        return sum(plan.nbytes for plan in self._all_plans())

    @property
    def capacities(self) -> list[int]:
        """Rows for which the buffers have memory."""
        return [domain.capacity for domain in self.graph.domains]

    @capacities.setter
    def capacities(self, rows: Sequence[int]) -> None:
        for domain, capacity in zip(self.graph.domains, rows, strict=True):
            domain.capacity = capacity

    def select(self, rows: RowsOf) -> None:
        """Use the plans, and their capacities, whose kernels are those for batches of so many rows."""
        if self._variant.plans and not rows(self.graph.samples):
            return  # a batch without samples has no results to depend on kernels
        chosen = tuple(rounded_rows(domain, rows(domain)) for domain in self.graph.domains)
        for domain, count in zip(self.graph.domains, chosen, strict=True):
            domain.chosen_rows = count
        if chosen not in self._known:
            fitting = (variant for variant in self._by_use() if all(choice.holds() for choice in variant.choices))
            self._known[chosen] = next(fitting, None) or Variant([0] * len(chosen))
        self._use(self._known[chosen])

    def _by_use(self) -> Iterator[Variant]:
        """All variants, first the one in use."""
        yield self._variant
        yield from (variant for variant in self._variants if variant is not self._variant)

    def _use(self, variant: Variant) -> None:
        if variant not in self._variants:
            self._variants.append(variant)
        if variant is not self._variant:
            self._variant.capacities = self.capacities
            self._variant, self.capacities = variant, variant.capacities
            self._divisors = None  # its buffers have the capacities of the other variant

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
        """The plan for these seeds and for the rows of the last batch.

        It is made at the first call, and again where more rows have been reserved since.
        """
        plans = self._variant.plans
        if seeds not in plans or not plans[seeds].fits:
            plans.pop(seeds, None)  # frees its memory before more is allocated
            try:
                plans[seeds] = quietly(lambda: self._make_plan(seeds))
            except DeviceError:
                if len(self._variants) == 1:
                    raise
                self._variants = [self._variant]  # plans of other batches may take what is missing
                plans[seeds] = quietly(lambda: self._make_plan(seeds))
        return plans[seeds]

    def _make_plan(self, seeds: Seeds) -> Plan:
        choices: list[Choice] = []
        with noting(choices):
            schedule, planning = self.schedule(seeds), self.planning
            counting = planning.statistics.launches(schedule.stats)
            plan = Plan(self.graph, schedule, planning.device, counting=counting, progress=planning.progress)
        self._variant.choices += choices
        self._known.clear()
        return plan

    def _all_plans(self) -> Iterator[Plan]:
        return (plan for variant in self._variants for plan in variant.plans.values())

    def divisor_plan(self) -> Plan:
        """The plan that computes the divisors of the losses only, made at the first call."""
        if self._divisors is None or not self._divisors.fits:
            self._divisors = quietly(self._make_divisor_plan)
        return self._divisors

    def _make_divisor_plan(self) -> Plan:
        planning = self.planning
        dtype, device, training = planning.dtype, planning.device.name, self.name == "train"
        schedule = Schedule(self.graph, dtype, training=training, seeds={}, keep=(), device=device, divisors_only=True)
        return Plan(self.graph, schedule, planning.device, progress=planning.progress)

    def seeds_of(self, plan: Plan) -> Seeds | None:
        """The seeds of a plan of this phase."""
        found = (seeds for variant in self._variants for seeds, known in variant.plans.items() if known is plan)
        return next(found, None)

    def outgrow(self) -> None:
        """Drop the plans in use: a batch has more rows than their capacity."""
        self._variant.forget()
        self._known.clear()
        self._divisors = None

    def forget(self) -> None:
        """Drop all plans: sizes have changed."""
        self._variants = [self._variant]
        self.outgrow()


def reserve(phases: Sequence[Phase], batch_size: int) -> None:
    """Plan phases of one net; what they need is compiled in one go, so that the progress counts it together."""
    schedules, planning = [], phases[0].planning
    for phase in phases:
        phase.select(lambda _: batch_size)
        for domain in phase.graph.domains:
            domain.reserve(batch_size)
        schedules.append(phase.schedule(phase.loss_seeds()))
    check_capacity(planning.device, schedules)
    launches = [launch for schedule in schedules for launch in (*schedule.forward, *schedule.backward)]
    planning.device.compile(launches, planning.dtype, planning.progress)
    for phase in phases:
        phase.plan(phase.loss_seeds())
