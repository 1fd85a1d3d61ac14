"""A network bound to a device: parameters, plans, forward and backward."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import State, Type

from .building import build_graph
from .compiler import Progress
from .devices import Device, open_device
from .feeding import Batch, feed_domains
from .graph import Graph, Value
from .own_rows import OutgrownError, make_late_rows
from .parameters import Parameter, ParameterSet
from .plan import Plan
from .reshaping import changed_types, extra_ids
from .room import check_room
from .rows import catch_up, mark_row_gradients, row_reads
from .schedule import Schedule
from .statistics import Statistics
from .values import FeedError, Sequences
from .weights import LoadReport, load_weights, save_weights

if TYPE_CHECKING:
    from paddle_layers.config.network import Network

Seeds = tuple[tuple[str, float | None], ...]
log = logging.getLogger("paddle_layers")


class Net:
    """Parameters and buffers of a network on a device.

    `device` is `"cpu"`, `"cuda"` or `"auto"`: a card where there is one. `dtype` is `"float32"` or `"float64"`;
    `seed` decides first values and random layers; `batch_size` reserves memory and compiles the kernels of both
    phases at once (else at the first batch of a phase), reporting to `progress(done, total, name)`; `keep` names
    values that stay readable beside the network's outputs. Raises `DeviceError` when the device is not there or has
    too little memory.
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
    ) -> None:
        if dtype not in ("float32", "float64"):
            raise ValueError(f'dtype is {dtype!r}, must be "float32" or "float64"')
        self.target = open_device(device) if isinstance(device, str) else device
        self.network, self.device, self.dtype, self.seed = network, self.target.name, dtype, seed
        self._progress, self._keep = progress, tuple(keep)
        self.arena = ParameterSet(dtype)
        self._networks = {phase: network.select(phase, level, stages) for phase in ("train", "test")}
        self._graphs = {phase: build_graph(chosen, self.arena, {}) for phase, chosen in self._networks.items()}
        mark_row_gradients(self._graphs.values())
        self._row_reads = {phase: row_reads(graph) for phase, graph in self._graphs.items()}
        self.arena.allocate(seed, self.target)
        self._plans: dict[tuple[str, Seeds], Plan] = {}
        self._statistics = Statistics(self.target)
        self._running: tuple[str, Plan, Batch] | None = None
        self._rows: tuple[int, ...] = ()
        self._loss: float | None = None
        self._consumed = False
        """Whether a backward pass has used up the values of the last forward pass."""
        self._step = 0
        if batch_size is not None:
            self._reserve(batch_size)

    # ---- what there is

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Trained and frozen parameters by name (`conv1.weight`)."""
        return {p.name: p for p in self.arena.by_name.values() if not isinstance(p.definition, State)}

    @property
    def states(self) -> dict[str, Parameter]:
        """Running states by name (`bn1.running_mean`)."""
        return {p.name: p for p in self.arena.by_name.values() if isinstance(p.definition, State)}

    @property
    def loss(self) -> float:
        """Loss of the last forward pass: over the losses, the sum of weight x mean over the rows."""
        if self._running is None:
            raise RuntimeError("there is no loss before the first forward pass")
        if self._loss is None:
            phase, plan, _ = self._running
            graph = self._graphs[phase]
            self._loss = sum(weight * self._mean(plan, graph.values[name]) for name, weight in graph.losses.items())
        return self._loss

    @staticmethod
    def _mean(plan: Plan, value: Value) -> float:
        rows = plan.read(plan.values[value.name])
        return float(rows.sum(dtype=np.float64)) / max(value.domain.rows, 1)

    def memory(self, phase: str) -> int:
        """Bytes of the buffers that the plans of a phase hold now; parameters are not counted."""
        return sum(plan.nbytes for (planned, _), plan in self._plans.items() if planned == phase)

    def capacities(self) -> dict[str, list[int]]:
        """Rows that the buffers of each phase have room for; they grow with the batches.

        Which kernel runs may depend on them, and so may the last bit of a result: a training that goes on has to
        start with those it had.
        """
        return {phase: [domain.capacity for domain in feed_domains(graph)] for phase, graph in self._graphs.items()}

    def reserve(self, capacities: Mapping[str, Sequence[int]]) -> None:
        """Give the buffers the room that `capacities()` told."""
        for phase, graph in self._graphs.items():
            domains = feed_domains(graph)
            if [domain.capacity for domain in domains] != list(capacities[phase]):
                for domain, rows in zip(domains, capacities[phase], strict=True):
                    domain.capacity = rows
                self._forget_all(phase)

    # ---- running

    def forward(self, feeds: Mapping[str, Any], phase: str = "train", step: int | None = None) -> dict[str, Any]:
        """Run a batch. Feeds by name of the data layer: arrays with the rows first, ids, `Sequences`, sparse rows.

        Gives the outputs that no layer reads, as arrays (`Sequences` for values in sequences). `step` decides the
        random numbers of layers such as dropout; without it, steps are counted. Raises `FeedError`.
        """
        if phase not in self._graphs:
            raise ValueError(f'phase is {phase!r}, must be "train" or "test"')
        self._adapt(phase, feeds)
        graph = self._graphs[phase]
        batch = Batch(graph, feeds, extra_ids(graph))
        if batch.apply_rows(graph):
            self._forget(phase)
        if phase == "train":
            self._step = self._step + 1 if step is None else step
        plan = self._run_first(phase, batch)
        self._statistics.add(plan)
        return {
            name: self._read(plan, graph.values[name]) for name in self._networks[phase].outputs if name in plan.values
        }

    def _run_first(self, phase: str, batch: Batch) -> Plan:
        """The forward pass; once more with larger buffers where rows made in its middle outgrow those there are."""
        kept = self._copy_states() if any(made.late for made in self._graphs[phase].own_rows) else {}
        while True:
            plan = self._plan(phase, self._usual_seeds(phase))
            try:
                self._run(phase, plan, batch)
            except OutgrownError:
                self._restore(kept)
                self._forget(phase)
            else:
                return plan

    def _run(self, phase: str, plan: Plan, batch: Batch) -> None:
        rows = (id(plan), *(domain.rows for domain in feed_domains(self._graphs[phase])))
        if rows != self._rows or self._graphs[phase].groups:  # steps differ by the lengths of the sequences
            plan.set_rows()
            self._rows = rows
        catch_up(self._row_reads[phase], batch)
        batch.write(plan)
        plan.set_keys(self._key)
        self._running = None
        plan.forward(lambda made: make_late_rows(batch, made, plan))
        self._running, self._loss, self._consumed = (phase, plan, batch), None, False

    def backward(self, gradients: Mapping[str, Any] | None = None) -> None:
        """Compute the gradients of the last batch: of the loss, or with the given gradients of outputs instead.

        Gradients of parameters are overwritten, not added up. Raises `RuntimeError` before a forward pass in the
        phase train, `FeedError` for gradients that don't fit.
        """
        if self._running is None or self._running[0] != "train":
            raise RuntimeError('backward needs a forward pass with phase="train" before it')
        phase, plan, batch = self._running
        given: dict[str, NDArray[Any]] = {}
        seeds: Seeds = tuple(self._graphs[phase].losses.items())
        if gradients is not None:
            given = {name: self._checked_gradient(phase, name, array) for name, array in gradients.items()}
            seeds = tuple((name, None) for name in sorted(gradients))
        elif not seeds:
            raise RuntimeError("the network has no loss: give the gradients of its outputs, backward(gradients={...})")
        wanted = self._plan(phase, seeds)
        if wanted is not plan or self._consumed:
            self._run_again(phase, wanted, batch)
        for name, array in given.items():
            wanted.write(wanted.gradients[name], array)
        wanted.backward()
        for rows in wanted.row_gradients:
            rows.parameter.row_gradient = rows
        self._consumed = True

    def _run_again(self, phase: str, plan: Plan, batch: Batch) -> None:
        """The forward pass of the same batch once more: a backward pass reuses the memory of what it has read."""
        kept = self._copy_states()
        self._run(phase, plan, batch)
        self._restore(kept)

    def _copy_states(self) -> dict[str, NDArray[Any]]:
        return {name: state.value.copy() for name, state in self.states.items()}

    def _restore(self, states: Mapping[str, NDArray[Any]]) -> None:
        for name, value in states.items():
            self.states[name].value = value

    def _checked_gradient(self, phase: str, name: str, array: Any) -> NDArray[Any]:
        value = self._graphs[phase].values.get(name)
        if value is None or value.type.kind != "DENSE":
            raise FeedError(f"`{name}` is no dense output of the network")
        given = np.asarray(array.data if isinstance(array, Sequences) else array)
        shape = (value.domain.rows, *value.type.dims)
        if given.shape != shape:
            raise FeedError(f"the gradient of `{name}` has the shape {given.shape}; it takes {shape}")
        return given

    def gradient(self, name: str) -> NDArray[Any]:
        """Gradient of an output, a value named in `keep`, or one that the config forces (`propagate_down: true`).

        There is one after `backward`, if a layer before the value learns or the config forces it; else `KeyError`.
        """
        if self._running is None or name not in self._running[1].gradients:
            raise KeyError(f"`{name}` has no gradient")
        value = self._graphs[self._running[0]].values[name]
        return self._shaped(self._running[1].read(self._running[1].gradients[name]), value).copy()

    def value(self, name: str) -> Any:
        """An output of the last forward pass, or a value named in `keep`."""
        if self._running is None:
            raise RuntimeError("there are no values before the first forward pass")
        phase, plan, _ = self._running
        if name not in {*self._networks[phase].outputs, *self._keep, *self._graphs[phase].feeds}:
            raise KeyError(f"`{name}` is not kept; write Net(network, keep=[{name!r}])")
        return self._read(plan, self._graphs[phase].values[name])

    def _read(self, plan: Plan, value: Value) -> Any:
        data = self._shaped(plan.read(plan.values[value.name]), value).copy()
        if value.type.level == 0 or self._running is None:
            return data
        starts = self._running[2].starts
        chain = value.domain.ancestors()
        inner = starts[id(value.domain), id(chain[0])]
        if value.type.level == 1:
            return Sequences(data, inner)
        return Sequences(data, starts[id(chain[0]), id(chain[1])], inner)

    @staticmethod
    def _shaped(flat: NDArray[Any], value: Value) -> NDArray[Any]:
        return flat.reshape(value.domain.rows, *value.type.dims)

    def find_non_finite(self) -> str | None:
        """Name of the first layer whose values are NaN or infinite on the last batch; runs it again step by step."""
        if self._running is None:
            return None
        phase, plan, batch = self._running
        self._run_again(phase, plan, batch)
        batch.write(plan)
        for at, launch in enumerate(plan.launches[: plan.boundary]):
            plan.run_one(at)
            for buffer in launch.writes:
                if buffer.dtype == self.dtype and "scratch" not in buffer.name:
                    if not np.isfinite(plan.read(buffer)).all():
                        return launch.op.partition(".")[0]
        return None

    # ---- statistics and weights

    def statistics(self) -> dict[str, float]:
        """What the metric layers counted since the last reset, by `layer.type`.

        A layer that reports several numbers has each as `layer.type.name`.
        """
        return self._statistics.results()

    def reset_statistics(self) -> None:
        """Start counting anew."""
        self._statistics.reset()

    def save(self, path: str) -> None:
        """Write parameters and states as safetensors, whole or not at all. Raises `SaveError`."""
        save_weights(path, self.arena)

    def load(self, path: str) -> LoadReport:
        """Read parameters and states by name. Raises `WeightsError` when the file is not of this network."""
        return load_weights(path, self.arena)

    # ---- plans

    def plan(self, phase: str) -> Plan:
        """The plan that the next batch of a phase uses, for tools that look at memory or kernels."""
        return self._plan(phase, self._usual_seeds(phase))

    def _usual_seeds(self, phase: str) -> Seeds:
        if phase != "train":
            return ()
        if self._running is not None and self._running[0] == "train":
            for (planned, seeds), plan in self._plans.items():
                if planned == phase and plan is self._running[1]:
                    return seeds
        losses = self._graphs[phase].losses
        return tuple(losses.items())

    def _plan(self, phase: str, seeds: Seeds) -> Plan:
        plan = self._plans.get((phase, seeds))
        if plan is None:
            schedule = self._schedule(phase, seeds)
            plan = self._plans[phase, seeds] = Plan(
                self._graphs[phase], schedule, self.target, self._statistics, self._progress
            )
            self._rows = ()
        return plan

    def _schedule(self, phase: str, seeds: Seeds) -> Schedule:
        graph = self._graphs[phase]
        keep = [n for n in (*self._networks[phase].outputs, *self._keep, *graph.losses) if n in graph.values]
        return Schedule(graph, self.dtype, training=phase == "train", seeds=dict(seeds), keep=keep, device=self.device)

    def _reserve(self, batch_size: int) -> None:
        """Plan both phases; what they need is compiled in one go, so that the progress counts it together."""
        schedules = []
        for phase, graph in self._graphs.items():
            for domain in feed_domains(graph):
                domain.reserve(batch_size)
            schedules.append(self._schedule(phase, self._usual_seeds(phase)))
        check_room(self.target, schedules)
        launches = [launch for schedule in schedules for launch in (*schedule.forward, *schedule.backward)]
        self.target.compile(launches, self.dtype, self._progress)
        for phase in self._graphs:
            self._plan(phase, self._usual_seeds(phase))

    def _forget(self, phase: str) -> None:
        running = self._usual_seeds(phase)
        self._plans = {key: plan for key, plan in self._plans.items() if key[0] != phase}
        if self._running is not None and self._running[0] == phase:
            self._running = None
        if running:
            self._plan(phase, running)

    def _adapt(self, phase: str, feeds: Mapping[str, Any]) -> None:
        """Bind the graph anew when dense feeds have other sizes than before. Raises `FeedError` with the reason."""
        changed = changed_types(self._graphs[phase], feeds)
        if changed:
            self._graphs[phase] = self._rebuilt(phase, changed)
            self._forget_all(phase)
            sizes = ", ".join(f"`{name}` is {type_}" for name, type_ in changed.items())
            log.info("planned anew: %s", sizes)

    def _rebuilt(self, phase: str, changed: Mapping[str, Type]) -> Graph:
        from paddle_layers.define import ShapeError

        graph = self._graphs[phase]
        types = {name: changed.get(name, value.type) for name, value in graph.feeds.items()}
        try:
            return build_graph(self._networks[phase], self.arena, types)
        except ShapeError as error:
            sizes = ", ".join(f"`{name}` as {type_}" for name, type_ in changed.items())
            raise FeedError(f"the network does not take {sizes}: {error.message}") from None

    def _forget_all(self, phase: str) -> None:
        self._plans = {key: plan for key, plan in self._plans.items() if key[0] != phase}
        if self._running is not None and self._running[0] == phase:
            self._running = None

    def _key(self, op: str) -> int:
        low = zlib.crc32(f"{self.seed}/{self._step}".encode())
        return (zlib.crc32(op.encode()) & 0x7FFFFFFF) << 32 | low

    # ---- life

    def synchronise(self) -> None:
        """Wait until the device has done all that was asked of it; the CPU always has."""
        self.target.synchronise()

    def close(self) -> None:
        """Free everything."""
        self._plans.clear()
        self._running = None
        self.arena = ParameterSet(self.dtype)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
