"""A network bound to a device: parameters, plans, forward and backward."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import NDArray

from paddle_layers.define.fork_locks import ForkSafeLock
from paddle_layers.runtime.batch.carried import Carried
from paddle_layers.runtime.batch.divisors import batch_divisors
from paddle_layers.runtime.batch.feeding import Batch, check_gradients
from paddle_layers.runtime.batch.made_entries import make_entries
from paddle_layers.runtime.batch.own_rows import OutgrownError, make_late_rows
from paddle_layers.runtime.batch.random_keys import operation_key
from paddle_layers.runtime.batch.reading import read_value
from paddle_layers.runtime.batch.repeated import RepeatedPass
from paddle_layers.runtime.batch.reshaping import graph_for
from paddle_layers.runtime.batch.writing import write_batch, write_used_ids
from paddle_layers.runtime.devices.protocol import Device, Progress
from paddle_layers.runtime.graph.torch_forms import torch_forms
from paddle_layers.runtime.memory.blocks import Allocator
from paddle_layers.runtime.memory.parameters import Parameter, ParametersByName, ParameterSet
from paddle_layers.runtime.memory.weights import OURS, LoadReport, Names, load_weights, save_weights
from paddle_layers.runtime.passes.early_updates import Updates
from paddle_layers.runtime.passes.row_gradients import catch_up, mark_row_gradients, row_reads
from paddle_layers.runtime.plan.losses import LossSum
from paddle_layers.runtime.plan.phase import Phase, Planning, Seeds, reserve
from paddle_layers.runtime.plan.plan import Plan, Ready
from paddle_layers.runtime.plan.statistics import Statistics

from . import arguments
from .devices import open_device
from .last_pass import LastPass
from .locking import one_at_a_time
from .pass_effects import PassEffects

if TYPE_CHECKING:
    from paddle_layers.config.network import Network


class Net(PassEffects):
    """Parameters and buffers of a network on a device.

    `device` is `"cpu"`, `"cuda"` or `"auto"`: a card where there is one; `gradient_memory` gives memory for gradients
    in its place. `dtype` is `"float32"` or `"float64"`; `seed` decides first values and random layers; `batch_size`
    reserves memory and compiles the kernels of both phases at once (else at the first batch of a phase), reporting to
    `progress(done, total, name)`; `keep` names values that stay readable. Raises `DeviceError` for too little memory.

    Threads may share a net for `forward`. What belongs to a pass is for the thread that made it (else `RuntimeError`).
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
        arguments.check_arguments(network, dtype, seed, batch_size)
        self.target = open_device(device) if isinstance(device, str) else device
        self.network, self.device, self.dtype, self.seed = network, self.target.name, dtype, seed
        self.carried = Carried(network)
        self._keep = (*arguments.names_of("keep", keep), *self.carried.values.values())
        self.lock, self.arena = ForkSafeLock(), ParameterSet(dtype)
        self._statistics = Statistics(self.target)
        planning = Planning(self.target, dtype, self._keep, self._statistics, progress)
        self._phases = {
            name: Phase(name, network.select(name, level, stages), self.arena, planning) for name in ("train", "test")
        }
        graphs = [phase.graph for phase in self._phases.values()]
        self.carried.check(graphs)
        arguments.check_keep(self._keep, {name for graph in graphs for name in graph.values})
        self._forms = torch_forms(graphs)
        mark_row_gradients(graphs)
        self._row_reads = {name: row_reads(phase.graph) for name, phase in self._phases.items()}
        self.arena.allocate(seed, self.target, gradient_memory or self.target)
        self._last: LastPass | None = None
        self._repeated: RepeatedPass | None = None
        self.closed, self._step = False, 0
        self.add_up: Callable[[NDArray[Any]], None] | None = None  # over the processes that share each batch
        self._states_before: dict[str, NDArray[Any]] = {}  # those the last forward pass has moved, as it found them
        if batch_size is not None:
            self.plan_for(batch_size)

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Trained and frozen parameters by name (`conv1.weight`)."""
        states = self.arena.states
        return ParametersByName((name, p) for name, p in self.arena.by_name.items() if name not in states)

    @property
    def states(self) -> dict[str, Parameter]:
        """Running states by name (`bn1.running_mean`)."""
        return self.arena.states

    @property
    @one_at_a_time
    def loss(self) -> float:
        """Loss of the last forward pass: over the costs, the sum of weight x mean over the rows that count."""
        return self._last_pass("is no loss").loss

    @one_at_a_time
    def loss_sums(self) -> dict[str, LossSum]:
        """The costs of the last forward pass by name, added up: what the loss over several batches is made of."""
        return self._last_pass("is no loss").loss_sums()

    def memory(self, phase: str) -> int:
        """Bytes of the buffers that the plans of a phase hold now; parameters are not counted."""
        return self._phases[phase].nbytes

    @one_at_a_time
    def plan_for(self, batch_size: int) -> None:
        """Reserve memory for batches of so many rows and compile the kernels of both phases."""
        arguments.check_count("batch_size", batch_size, 1)
        reserve([*self._phases.values()], batch_size)

    def update_in_backward(self, updates: Updates) -> None:
        """Let backward passes update the parameters one by one; their gradients can't be read any more."""
        self._phases["train"].updates = updates
        self._forget(self._phases["train"])
        self.arena.release_gradients()

    @one_at_a_time
    def forward(self, feeds: Mapping[str, Any], phase: str = "train", step: int | None = None) -> dict[str, Any]:
        """Run a batch. Feeds by name of the data layer: arrays with the rows first, ids, `Sequences`, sparse rows.

        Gives the outputs that no layer reads, as arrays (`Sequences` for values in sequences). `step` decides the
        random numbers of layers such as dropout; without it, steps are counted. Raises `FeedError`.
        """
        if (before := self._repeated) is not None and isinstance(phase, str) and phase == "test":
            if before.takes(feeds):
                return self._repeat(before, feeds)
            self._repeated = None  # a pass that fails may leave another number of rows in the plan
        arguments.check_feeds(feeds, self._phases["train"].graph.feeds)
        arguments.check_phase(phase)
        chosen = self._phases[phase]
        feeds = self.carried.feed(phase, chosen.graph, feeds, self.dtype)
        if (graph := graph_for(chosen, feeds, self.arena, self.carried)) is not None:
            self._forget(chosen)  # first: an interrupt must not leave plans of another graph
            chosen.graph = graph
        batch = Batch(chosen.graph, feeds, self.dtype)
        if phase == "train":
            self._step = self._step + 1 if step is None else step
        make_entries(batch, chosen.graph, self._key)
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
        """The forward pass; once more with larger buffers where rows made in its middle outgrow those there are."""
        kept = self.arena.copy_states() if any(made.late for made in phase.graph.own_rows) else {}
        while True:
            seeds, self._last = self._usual_seeds(phase), None  # a plan may need the memory of the last one
            plan = phase.plan(seeds)
            self._states_before = {state.name: state.stored.copy() for state in plan.moving_states}
            try:
                self._run(phase, plan, batch)
            except OutgrownError:
                self.arena.restore_states(kept)
                self._grow(phase)
            except BaseException:  # also Ctrl-C: it is as if there had been no pass
                self.arena.restore_states(self._states_before)
                raise
            else:
                return plan

    def _run(self, phase: Phase, plan: Plan, batch: Batch) -> None:
        self._last = None
        plan.lay(batch)
        catch_up(self._row_reads[phase.name], batch.ids_of)
        write_batch(plan, batch)
        plan.set_keys(self._key)
        with self.arena.changes.made(phase.name == "train"):  # states move
            plan.forward(lambda made: make_late_rows(batch, made, plan), self.arena.changes.version(), self.add_up)
        self._last = LastPass(phase, plan, batch)

    def _last_pass(self, missing: str) -> LastPass:
        """The last forward pass. Raises `RuntimeError` when there is none, or when another thread has made it."""
        if self._last is None:
            raise RuntimeError(f"there {missing} before the first forward pass")
        self._last.check_thread()
        return self._last

    @one_at_a_time
    def divisors(self, feeds: Mapping[str, Any], step: int | None = None) -> dict[str, float]:
        """What `backward` divides the sums of the losses of a batch by, by name; without the pass of the batch.

        They depend on numbers of rows and on labels, as a rule; only the layers that they follow from are computed.
        The divisors of a batch that is fed in parts are the sums of those of its parts. `step` is that of `forward`.
        """
        phase, kept = self._phases["train"], self._step
        feeds = self.carried.feed("train", phase.graph, feeds, self.dtype)
        self._last = None
        if (graph := graph_for(phase, feeds, self.arena, self.carried)) is not None:
            self._forget(phase)
            phase.graph = graph
        self._step = self._step + 1 if step is None else step
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
        """Compute the gradients of the last batch: of the loss, or with the given gradients of outputs instead.

        Gradients of parameters are overwritten, not added up. Of a batch that is a part of a larger one `divisors` has
        what the sums of costs are divided by, by name; then the gradients of all parts add up to those of the whole.
        `ready` is called with each `GradientPart` as soon as the pass is done with it.
        Raises `RuntimeError` before a forward pass in the phase train, `FeedError` for gradients that don't fit.
        """
        if self._last is None or self._last.phase.name != "train":
            raise RuntimeError('backward needs a forward pass with phase="train" before it')
        phase, plan, batch = self._last_pass("is nothing to go back from").parts
        given: dict[str, NDArray[Any]] = {}
        graph, seeds = phase.graph, phase.loss_seeds()
        if gradients is not None:
            given = check_gradients(graph, batch, gradients, self.dtype)
            seeds = tuple((name, None) for name in sorted(given))
        elif not seeds:
            raise RuntimeError("the network has no loss: give the gradients of its outputs, backward(gradients={...})")
        wanted = phase.plan(seeds)
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
            for rows in wanted.row_gradients:
                rows.parameter.row_gradient, rows.batch = rows, batch
            self._last.has_gradients = True

    def _run_again(self, phase: Phase, plan: Plan, batch: Batch) -> None:
        """The forward pass of the same batch once more: a backward pass reuses the memory of what it has read."""
        kept = self.arena.copy_states()
        try:
            self.arena.restore_states(self._states_before)
            self._run(phase, plan, batch)
        finally:  # Ctrl-C may come here, and the weights be saved
            self.arena.restore_states(kept)

    @one_at_a_time
    def gradient(self, name: str) -> NDArray[Any]:
        """Gradient of an output, a value named in `keep`, or one that the config forces (`propagate_down: true`).

        There is one after `backward`, if a layer before the value learns or the config forces it; else `KeyError`.
        Raises `RuntimeError` where the last forward pass has no backward pass.
        """
        return self._last_pass("are no gradients").gradient(name, self.parameters)

    @one_at_a_time
    def value(self, name: str) -> Any:
        """An output of the last forward pass, or a value named in `keep`; sparse rows as `Csr`."""
        phase, plan, batch = self._last_pass("are no values").parts
        if not isinstance(name, str) or name not in {*phase.outputs, *self._keep, *phase.graph.feeds}:
            raise arguments.no_value(name, phase.graph.values)
        return read_value(plan, batch, phase.graph.values[name])

    @one_at_a_time
    def find_non_finite(self, *, backward: bool = False) -> str | None:
        """Name of the first layer whose values are NaN or infinite on this thread's last batch, which runs again.

        With `backward` the first one, from the loss back, of whose gradients this holds.
        """
        if self._last is None or (backward and self._last.plan.updates is not None):
            return None
        phase, plan, batch = self._last_pass("are no values").parts
        kept = self.arena.copy_states()
        self._run_again(phase, plan, batch)
        try:
            if backward and write_used_ids(plan, batch):
                plan.lay(batch)
            elif not backward:
                write_batch(plan, batch)
                self.take_back()
            return plan.find_non_finite(self.dtype, backward=backward)
        finally:
            self.arena.restore_states(kept)

    @one_at_a_time
    def save(self, path: str | Path, *, rename: Names = None, layout: str = OURS) -> None:
        """Write parameters and states as safetensors, whole or not at all; names in the file by ours in `rename`.

        `layout="torch"`: as modules of PyTorch have them. Raises `SaveError`, `WeightsError` for what they have not.
        """
        save_weights(str(path), self.arena, self._forms, rename=rename or {}, layout=layout)

    @one_at_a_time
    def load(
        self, path: str | Path, *, rename: Names = None, leave_out: str | Iterable[str] = (), layout: str | None = None
    ) -> LoadReport:
        """Read parameters and states by name: all of them, and all that the file has, in the same shapes.

        `path` is a safetensors file, the index of several, or a state_dict of PyTorch. `rename` has names of the
        network by those in the file, as in `{"head.*": "scores.*"}`; what matches a pattern of `leave_out` keeps its
        values, and is not read. `layout` is "torch" or "paddle_layers", where shapes don't show how matrices lie.
        Raises `WeightsError` that lists what does not fit; nothing is changed then.
        """
        left = arguments.names_of("leave_out", [leave_out] if isinstance(leave_out, str) else leave_out)
        return load_weights(str(path), self.arena, self._forms, rename=rename or {}, leave_out=left, layout=layout)

    @one_at_a_time
    def plan(self, phase: str) -> Plan:
        """The plan that the next batch of a phase uses, for tools that look at memory or kernels."""
        return self._phases[phase].plan(self._usual_seeds(self._phases[phase]))

    def _usual_seeds(self, phase: Phase) -> Seeds:
        """Those of the last pass, if it was of this phase: a plan for given gradients is used again."""
        seeds = phase.seeds_of(self._last.plan) if self._last is not None else None
        return phase.loss_seeds() if seeds is None else seeds

    def _grow(self, phase: Phase) -> None:
        """Plan anew for the capacities that the domains have now."""
        seeds = self._usual_seeds(phase)
        phase.outgrow()
        self._forget_pass(phase)
        phase.plan(seeds)

    def _forget(self, phase: Phase) -> None:
        phase.forget()
        self._forget_pass(phase)

    def _forget_pass(self, phase: Phase) -> None:
        self._repeated = None
        if self._last is not None and self._last.phase is phase:
            self._last = None

    @property
    def _key(self) -> Callable[[str], int]:
        """The keys of random operations in this step. Plans keep it, so it must not refer to the net."""
        return functools.partial(operation_key, self.seed, self._step)

    def synchronise(self) -> None:
        """Wait until the device has done all that was asked of it; the CPU always has."""
        self.target.synchronise()

    @one_at_a_time
    def close(self) -> None:
        """Free everything."""
        for phase in self._phases.values():
            phase.forget()
        self.closed, self._last, self._repeated = True, None, None
        self.arena = ParameterSet(self.dtype)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
