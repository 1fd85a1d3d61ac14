"""Phase of a net: its graph and its plans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from paddle_layers.define.machine import gc_paused
from paddle_layers.runtime.devices import Device, Progress
from paddle_layers.runtime.graph.building import build_graph
from paddle_layers.runtime.graph.domains import RowsOf, rounded_rows
from paddle_layers.runtime.launches.kernel_selection import KernelSelection, noting
from paddle_layers.runtime.memory.blocks import DeviceError
from paddle_layers.runtime.memory.parameters import ParameterSet
from paddle_layers.runtime.passes.optimizer_in_backward import KEPT, Updates
from paddle_layers.runtime.schedule.schedule import LaunchSchedule

from .metrics import Statistics
from .plan import Plan, check_capacity

if TYPE_CHECKING:
    from paddle_layers.config.network import Network

OutputGradients = tuple[tuple[str, float | None], ...]
"""Output gradients: values at which a backward pass starts, with their weight in the loss; None if the caller passes
the gradient.
"""


class Planning(NamedTuple):
    """Common settings of the plans of all phases of a net."""

    device: Device
    dtype: str
    keep: tuple[str, ...]
    """Values that stay readable besides the outputs."""
    statistics: Statistics
    progress: Progress | None


@dataclass(eq=False)
class Variant:
    """Plans for batches with the same kernel selection, by output gradients."""

    capacities: list[int] = field(default_factory=list)
    """Capacities of the buffers in rows; up to date while another variant is in use."""
    plans: dict[OutputGradients, Plan] = field(default_factory=dict)
    choices: list[KernelSelection] = field(default_factory=list)
    """Kernel selections of all plans."""

    def forget(self) -> None:
        """Drops all plans."""
        self.plans.clear()
        self.choices.clear()


class Phase:
    """The graph of a phase, and its plans.

    The kernels depend on the rows of the batch, never on those of earlier batches: a batch with another kernel
    selection than the previous ones has a separate plan.
    """

    def __init__(self, name: str, network: Network, parameters: ParameterSet, planning: Planning) -> None:
        self.name, self.network, self.outputs = name, network, network.outputs
        self.graph = build_graph(network, parameters, {})
        for op in self.graph.ops:
            op.layer.check_runs()
        self.planning = planning
        self.updates: Updates | None = None
        """Parameter updates within backward passes, instead of gradients in the arena."""
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
        """Capacities of the buffers in rows."""
        return [domain.capacity for domain in self.graph.domains]

    @capacities.setter
    def capacities(self, rows: Sequence[int]) -> None:
        for domain, capacity in zip(self.graph.domains, rows, strict=True):
            domain.capacity = capacity

    def select(self, rows: RowsOf) -> None:
        """Switches to the plans, and their capacities, with the kernel selection for batches of so many rows."""
        if self._variant.plans and not rows(self.graph.samples):
            return  # an empty batch has no results to depend on kernels
        chosen = tuple(rounded_rows(domain, rows(domain)) for domain in self.graph.domains)
        for domain, count in zip(self.graph.domains, chosen, strict=True):
            domain.chosen_rows = count
        if chosen not in self._known:
            fitting = (variant for variant in self._by_use() if all(choice.holds() for choice in variant.choices))
            # Kernels are chosen by the rows of the batch alone. Chosen by capacity, results of a batch would depend on
            # the batches before it.
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
            # Domains belong to the graph, which all variants share: their capacities are swapped with the variant.
            self._variant.capacities = self.capacities
            self._variant, self.capacities = variant, variant.capacities
            self._divisors = None  # its buffers have the capacities of the other variant

    def loss_gradients(self) -> OutputGradients:
        """The losses of the network; empty in the phase test."""
        return tuple(self.graph.losses.items()) if self.name == "train" else ()

    def schedule(self, output_gradients: OutputGradients) -> LaunchSchedule:
        """The launches of the phase."""
        if self.updates is not None and output_gradients != self.loss_gradients():
            raise RuntimeError(f"this training only supports backward from its losses; {KEPT}")
        graph, planning = self.graph, self.planning
        keep = [n for n in (*self.outputs, *planning.keep, *graph.losses) if n in graph.values]
        return LaunchSchedule(
            graph,
            planning.dtype,
            training=self.name == "train",
            output_gradients=dict(output_gradients),
            keep=keep,
            device=planning.device.name,
            updates=self.updates,
        )

    def plan(self, output_gradients: OutputGradients) -> Plan:
        """The plan for these output gradients and for the rows of the last batch.

        It is created at the first call, and again after the capacity has grown.
        """
        plans = self._variant.plans
        if output_gradients not in plans or not plans[output_gradients].fits:
            plans.pop(output_gradients, None)  # frees its memory before more is allocated
            try:
                plans[output_gradients] = gc_paused(lambda: self._make_plan(output_gradients))
            except DeviceError:
                if len(self._variants) == 1:
                    raise
                self._variants = [self._variant]  # plans of other batches may occupy the missing memory
                plans[output_gradients] = gc_paused(lambda: self._make_plan(output_gradients))
        return plans[output_gradients]

    def _make_plan(self, output_gradients: OutputGradients) -> Plan:
        choices: list[KernelSelection] = []
        with noting(choices):
            schedule, planning = self.schedule(output_gradients), self.planning
            counting = planning.statistics.launches(schedule.stats)
            plan = Plan(self.graph, schedule, planning.device, counting=counting, progress=planning.progress)
        # More choices may divide row counts that were equivalent so far, so the mapping from rows to variants is
        # determined again.
        self._variant.choices += choices
        self._known.clear()
        return plan

    def _all_plans(self) -> Iterator[Plan]:
        return (plan for variant in self._variants for plan in variant.plans.values())

    def divisor_plan(self) -> Plan:
        """The plan that only computes the divisors of the losses, created at the first call."""
        if self._divisors is None or not self._divisors.fits:
            self._divisors = gc_paused(self._make_divisor_plan)
        return self._divisors

    def _make_divisor_plan(self) -> Plan:
        planning = self.planning
        dtype, device, training = planning.dtype, planning.device.name, self.name == "train"
        schedule = LaunchSchedule(
            self.graph, dtype, training=training, output_gradients={}, keep=(), device=device, divisors_only=True
        )
        return Plan(self.graph, schedule, planning.device, progress=planning.progress)

    def output_gradients_of(self, plan: Plan) -> OutputGradients | None:
        """The output gradients of a plan of this phase."""
        found = (
            output_gradients
            for variant in self._variants
            for output_gradients, known in variant.plans.items()
            if known is plan
        )
        return next(found, None)

    def outgrow(self) -> None:
        """Drops the current plans: a batch has more rows than their capacity."""
        self._variant.forget()
        self._known.clear()
        self._divisors = None

    def forget(self) -> None:
        """Drops all plans: sizes have changed."""
        self._variants = [self._variant]
        self.outgrow()


def reserve(phases: Sequence[Phase], batch_size: int) -> None:
    """Plans phases of one net; their kernels are compiled together, so that the progress counts them together."""
    schedules, planning = [], phases[0].planning
    for phase in phases:
        phase.select(lambda _: batch_size)
        for domain in phase.graph.domains:
            domain.reserve(batch_size)
        # All schedules before any allocation, so that an error message accounts for all phases together.
        schedules.append(phase.schedule(phase.loss_gradients()))
    check_capacity(planning.device, schedules)
    launches = [launch for schedule in schedules for launch in (*schedule.forward, *schedule.backward)]
    launches += [launch for schedule in schedules for launch in planning.statistics.launches(schedule.stats)]
    planning.device.compile(launches, planning.dtype, planning.progress)
    for phase in phases:
        phase.plan(phase.loss_gradients())
