"""A network bound to a device: parameters, plans, forward and backward."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import NDArray

from paddle_layers.define.concurrency import ForkSafeLock
from paddle_layers.runtime.batch.carried import CarriedRows
from paddle_layers.runtime.batch.dynamic_rows import CapacityExceededError, make_late_rows
from paddle_layers.runtime.batch.feeding import Batch, check_gradients
from paddle_layers.runtime.batch.repeated import RepeatedPass, graph_for
from paddle_layers.runtime.batch.rows import prepare_entries
from paddle_layers.runtime.batch.transfers import read_value, write_batch, write_used_ids
from paddle_layers.runtime.graph.graph import torch_forms
from paddle_layers.runtime.launches.arguments import operation_key
from paddle_layers.runtime.memory.blocks import Allocator
from paddle_layers.runtime.memory.parameters import ParameterSet
from paddle_layers.runtime.passes.gradients import catch_up, mark_sparse_gradients, row_reads
from paddle_layers.runtime.passes.optimizer_in_backward import Updates
from paddle_layers.runtime.plan.metrics import Statistics
from paddle_layers.runtime.plan.phase import OutputGradients, Phase, Planning, reserve
from paddle_layers.runtime.plan.plan import Plan, Ready

from . import arguments
from .devices import Device, Progress, open_device
from .net_state import PassEffects, one_at_a_time
from .pass_results import LastPass, PassResults, batch_divisors

if TYPE_CHECKING:
    from paddle_layers.config.network import Network


class Net(PassResults, PassEffects):
    """A network bound to a device: parameters, compiled plans, forward and backward passes.

    Threads may share a net for `forward`; the results of a pass belong to its thread (else `RuntimeError`). A net is a
    context manager, which frees its memory; afterwards its methods raise `RuntimeError`.

    Args:
        network: Validated network, such as the result of `load`.
        device: `"cpu"`, `"cuda"` or `"auto"` (a GPU if there is one).
        dtype: `"float32"` or `"float64"`, of parameters and values.
        seed: Seed of the initial values and of random layers.
        batch_size: Samples for which memory is reserved and kernels are compiled at once (else at the first batch).
        progress: Called as `progress(done, total, name)` while kernels are compiled.
        keep: Names of values that stay readable after a pass.
        level: Level for the `include` and `exclude` rules of layers.
        stages: Stages for these rules.
        gradient_memory: Allocator of the gradients, instead of the device.

    Raises:
        DeviceError: The device is missing or has too little memory.
        ShapeError: Layers that are valid each cannot be executed together, such as sparse rows in recurrent steps.
        TypeError: An argument has the wrong type.
        ValueError: An argument is out of range, or `keep` has an unknown name.

    Example::

        net = pl.Net(pl.load("lenet.textproto"))
        net.forward({"image": np.zeros((8, 1, 28, 28)), "label": np.zeros(8, int)})
        net.backward()
        print(net.loss, net.parameters["conv1.weight"].gradient)
    """

    def __init__(
        self,
        network: Network,
        *,
        device: str | Device = "cpu",
        dtype: str = "float32",
        seed: int = 0,
        batch_size: int | None = None,
        progress: Progress | None = None,
        keep: Iterable[str] = (),
        level: int = 0,
        stages: Iterable[str] = (),
        gradient_memory: Allocator | None = None,
    ) -> None:
        arguments.check_arguments(network, device, dtype, seed, batch_size, level)
        self.target = open_device(device) if isinstance(device, str) else device
        self.network, self.device, self.dtype, self.seed = network, self.target.name, dtype, seed
        self.carried = CarriedRows(network)
        self._keep = (*arguments.names_of("keep", keep), *self.carried.values.values())
        self.lock, self.arena = ForkSafeLock(), ParameterSet(dtype)
        self._statistics = Statistics(self.target)
        planning = Planning(self.target, dtype, self._keep, self._statistics, progress)
        self._phases = {
            name: Phase(name, network.select(name, level, stages), self.arena, planning) for name in ("train", "test")
        }
        self.carried.check(graphs := [phase.graph for phase in self._phases.values()])
        arguments.check_keep(self._keep, {name for graph in graphs for name in graph.values})
        self._forms = torch_forms(graphs)
        mark_sparse_gradients(graphs)
        self._row_reads = {name: row_reads(phase.graph) for name, phase in self._phases.items()}
        self.arena.allocate(seed, self.target, gradient_memory or self.target)
        self._last = None
        self._repeated: RepeatedPass | None = None
        self._feeds: dict[str, NDArray[Any]] = {}
        self.closed, self._step, self._states_before = False, 0, {}
        self.add_up: Callable[[NDArray[Any]], None] | None = None  # sums over the processes that share each batch
        if batch_size is not None:
            self.plan_for(batch_size)

    def memory(self, phase: str) -> int:
        """Memory of the buffers of all plans of a phase; parameters are not included.

        Args:
            phase: `"train"` or `"test"`.

        Returns:
            Number of bytes.

        Raises:
            ValueError: Unknown phase.
        """
        arguments.check_phase(phase)
        return self._phases[phase].nbytes

    @one_at_a_time
    def plan_for(self, batch_size: int) -> None:
        """Reserves memory and compiles the kernels of both phases for a batch size.

        Args:
            batch_size: Number of samples.

        Raises:
            DeviceError: The device has too little memory.
            TypeError: The batch size is not an integer.
            ValueError: The batch size is out of range.
        """
        arguments.check_count("batch_size", batch_size, 1)
        reserve([*self._phases.values()], batch_size)

    def update_in_backward(self, updates: Updates) -> None:
        """Optimizer-in-backward: backward passes update the parameters; their gradients can no longer be read.

        Args:
            updates: Launches of the optimizer by parameter.
        """
        self._phases["train"].updates = updates
        self._forget(self._phases["train"])
        self.arena.release_gradients()

    @one_at_a_time
    def forward(self, feeds: Mapping[str, Any], phase: str = "train", step: int | None = None) -> dict[str, Any]:
        """Runs the forward pass of a batch.

        Args:
            feeds: By data layer: arrays (rows, ...), ids (rows,), `Sequences`, sparse rows.
            phase: `"train"` or `"test"`.
            step: Seed of this pass for random layers such as dropout; by default, training passes are counted.

        Returns:
            The outputs that no layer reads, as arrays (rows, ...) or `Sequences`.

        Raises:
            FeedError: A feed does not fit the network.
            TypeError: `feeds` is not a dict.
            ValueError: Unknown phase.
        """
        if (before := self._repeated) is not None and isinstance(phase, str) and phase == "test":
            if before.takes(feeds):
                return self._repeat(before, feeds)
            self._repeated = None  # a failed pass may leave another number of rows in the plan
        arguments.check_feeds(feeds, self._phases["train"].graph.feeds)
        arguments.check_phase(phase)
        chosen = self._phases[phase]
        feeds = self.carried.feed(phase, chosen.graph, feeds, self.dtype)
        if (graph := graph_for(chosen, feeds, self.arena, self.carried)) is not None:
            self._forget(chosen)  # first: an interrupt must not leave plans of another graph
            chosen.graph = graph
        batch = Batch(chosen.graph, feeds, self.dtype)
        if phase == "train":
            batch.copy_arrays(self._feeds)
        if phase == "train" or step is not None:
            self._step = arguments.next_step(self._step, step)
        prepare_entries(batch, chosen.graph, self._key)
        chosen.select(batch.of)
        if batch.reserve(chosen.graph):
            self._grow(chosen)
        plan = self._run_first(chosen, batch)
        self._statistics.complete_reset()
        plan.count()
        self._statistics.note(plan.stats)
        self.carried.note(phase, chosen.graph, lambda name: read_value(plan, batch, chosen.graph.values[name]))
        outputs = [chosen.graph.values[name] for name in chosen.outputs if name in plan.values]
        if phase == "test" and not self.carried.values and not self._row_reads[phase]:
            self._repeated = RepeatedPass.of(chosen.graph, plan, batch, outputs)
        return {value.name: read_value(plan, batch, value) for value in outputs}

    def _repeat(self, before: RepeatedPass, feeds: Mapping[str, Any]) -> dict[str, Any]:
        self._last, self._states_before = None, {}
        before.copy(feeds)
        self._statistics.complete_reset()
        before.plan.repeat(self.arena.changes.version(), self.add_up)
        self._last = LastPass(self._phases["test"], before.plan, before.batch)
        self._statistics.note(before.plan.stats)
        return before.read()

    def _run_first(self, phase: Phase, batch: Batch) -> Plan:
        """The forward pass, repeated with larger buffers if rows created during the pass exceed the capacity."""
        kept = self.arena.copy_states() if any(made.late for made in phase.graph.dynamic_rows) else {}
        while True:
            output_gradients = self._usual_output_gradients(phase)
            self._last = None  # a plan may need the memory of the last one
            plan = phase.plan(output_gradients)
            self._states_before = {state.name: state.stored.copy() for state in plan.moving_states}
            try:
                self._run(phase, plan, batch)
            except CapacityExceededError:
                self.arena.restore_states(kept)
                self._grow(phase)
            except BaseException:  # also Ctrl-C: restored as if there had been no pass
                self.arena.restore_states(self._states_before)
                raise
            else:
                return plan

    def _run(self, phase: Phase, plan: Plan, batch: Batch) -> None:
        self._last = None
        plan.lay(batch)
        # Before the launches read rows of the table whose optimizer steps are pending.
        catch_up(self._row_reads[phase.name], batch.ids_of)
        write_batch(plan, batch)
        plan.set_keys(self._key)
        with self.arena.changes.made(phase.name == "train"):  # states change
            plan.forward(lambda made: make_late_rows(batch, made, plan), self.arena.changes.version(), self.add_up)
        self._last = LastPass(phase, plan, batch)

    @one_at_a_time
    def divisors(self, feeds: Mapping[str, Any], step: int | None = None) -> dict[str, float]:
        """Loss divisors of a batch without its pass; those of its parts add up.

        Args:
            feeds: As in `forward`.
            step: As in `forward`.

        Returns:
            The divisor of each loss, which is its number of rows or the sum of its `divisor`.

        Raises:
            FeedError: A feed does not fit the network.
        """
        phase, kept = self._phases["train"], self._step
        arguments.check_feeds(feeds, phase.graph.feeds)
        feeds = self.carried.feed("train", phase.graph, feeds, self.dtype)
        self._last = None
        if (graph := graph_for(phase, feeds, self.arena, self.carried)) is not None:
            self._forget(phase)
            phase.graph = graph
        self._step = arguments.next_step(self._step, step)
        try:
            return batch_divisors(phase, Batch(phase.graph, feeds, self.dtype), self._key)
        finally:
            self._step = kept

    @one_at_a_time
    def backward(
        self,
        gradients: Mapping[str, Any] | None = None,
        *,
        divisors: Mapping[str, float] | None = None,
        ready: Ready | None = None,
    ) -> None:
        """Runs the backward pass of the last batch. Gradients of parameters are overwritten, not accumulated.

        Args:
            gradients: Gradients of outputs, by name, with their shapes; by default, that of the loss.
            divisors: Divisors of the loss sums, by loss, of the whole batch of which this is a part.
            ready: Called with each `GradientPart` as soon as it is final.

        Raises:
            FeedError: Gradients do not fit the last batch.
            RuntimeError: There is no forward pass in the phase train, or no loss, or the pass ran in another thread.
            TypeError: A divisor is not a number.
            ValueError: A divisor belongs to no loss.
        """
        if self._last is None or self._last.phase.name != "train":
            raise RuntimeError('call forward(..., phase="train") before backward')
        phase, plan, batch = self._last_pass("forward pass").parts
        given: dict[str, NDArray[Any]] = {}
        graph, output_gradients = phase.graph, phase.loss_gradients()
        if gradients is not None:
            given = check_gradients(graph, batch, gradients, self.dtype)
            output_gradients = tuple((name, None) for name in sorted(given))
        elif not output_gradients:
            raise RuntimeError("the network has no loss; pass output gradients: backward(gradients={...})")
        wanted = phase.plan(output_gradients)
        # A backward pass reuses the memory of values that it has read, so a second one needs the forward pass again.
        if wanted is not plan or self._last.consumed:
            self._run_again(phase, wanted, batch)
        for name, array in given.items():
            wanted.write(wanted.gradients[name], array)
        if write_used_ids(wanted, batch):
            wanted.lay(batch)
        wanted.divide_by(arguments.check_divisors(divisors, graph.losses))
        self._last.consumed = True
        with self.arena.changes.made(wanted.updates is not None), self.arena.gradient_owner.writing():
            wanted.backward(ready, self.add_up)
            self.arena.take_sparse_gradients(wanted.sparse_gradients_of(batch))
            self._last.has_gradients = True

    def _run_again(self, phase: Phase, plan: Plan, batch: Batch) -> None:
        """Repeats the forward pass of the batch: a backward pass overwrites values that it has read."""
        kept = self.arena.copy_states()
        try:
            self.arena.restore_states(self._states_before)
            self._run(phase, plan, batch)
        finally:  # Ctrl-C may come here, and the weights be saved
            self.arena.restore_states(kept)

    @one_at_a_time
    def find_non_finite(self, *, backward: bool = False) -> str | None:
        """Reruns the last batch to find NaN or infinity.

        Args:
            backward: Whether gradients are searched instead of values.

        Returns:
            Name of the first layer with NaN or infinity; None if all values are finite, if there was no pass, or if
            gradients are not kept since parameters are updated in the backward pass.
        """
        if self._last is None or (backward and self._last.plan.updates is not None):
            return None
        phase, plan, batch = self._last_pass("values").parts
        kept = self.arena.copy_states()
        self._run_again(phase, plan, batch)
        try:
            if backward and write_used_ids(plan, batch):
                plan.lay(batch)
            elif not backward:
                write_batch(plan, batch)
                self.rollback_states()
            return plan.find_non_finite(self.dtype, backward=backward)
        finally:
            self.arena.restore_states(kept)

    @one_at_a_time
    def plan(self, phase: str) -> Plan:
        """The plan of the next batch of a phase, for tools that inspect memory or kernels.

        Args:
            phase: `"train"` or `"test"`.

        Returns:
            The plan.

        Raises:
            ValueError: Unknown phase.
        """
        arguments.check_phase(phase)
        return self._phases[phase].plan(self._usual_output_gradients(self._phases[phase]))

    def _usual_output_gradients(self, phase: Phase) -> OutputGradients:
        """Those of the last pass if it was of this phase, so that its plan is reused; else those of the losses."""
        output_gradients = phase.output_gradients_of(self._last.plan) if self._last is not None else None
        return phase.loss_gradients() if output_gradients is None else output_gradients

    def _grow(self, phase: Phase) -> None:
        """Plans again for the current capacities of the domains."""
        output_gradients = self._usual_output_gradients(phase)
        phase.outgrow()
        self._forget_pass(phase)
        phase.plan(output_gradients)

    def _forget(self, phase: Phase) -> None:
        phase.forget()
        self._forget_pass(phase)

    def _forget_pass(self, phase: Phase) -> None:
        self._repeated = None
        if self._last is not None and self._last.phase is phase:
            self._last = None

    @property
    def _key(self) -> Callable[[str], int]:
        """Random keys of operations in this step. Plans keep the function, so it must not refer to the net."""
        return functools.partial(operation_key, self.seed, self._step)

    def synchronise(self) -> None:
        """Waits until all operations of the device are finished; does nothing on the CPU."""
        self.target.synchronise()

    @one_at_a_time
    def close(self) -> None:
        """Frees all memory."""
        for phase in self._phases.values():
            phase.forget()
        self.closed, self._last, self._repeated = True, None, None
        self.arena = ParameterSet(self.dtype)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
