"""Trials: test cases bound to a net and run pass by pass, in poisoned memory. Only this module uses plans."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self, TypeVar
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.concurrency import switched
from paddle_layers.kernels.tuned import point_functions_only
from paddle_layers.runtime import Net, Sequences
from paddle_layers.runtime.devices import Device
from paddle_layers.runtime.devices.cpu.interpreter import interpreted, is_interpreted
from paddle_layers.runtime.devices.cpu.table import CpuTable
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.launches.arguments import Ref
from paddle_layers.runtime.launches.buffers import Buffer, Storage
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.memory.blocks import array_at
from paddle_layers.runtime.passes import without
from paddle_layers.runtime.plan.plan import Plan

from .case import Case

Array = NDArray[Any]
T = TypeVar("T")
Results = dict[str, Array]
GUARD = 256
"""Size in bytes of the guard zones before and after every buffer."""
PATTERN = 0xFF
"""Fill value of the guard zones: NaN, so that reading there is detected, too."""
OTHER = 0x3F
"""Fill value of memory that a kernel has to write: not a possible result, but addable."""


def nothing() -> None:
    """Disturb nothing."""


Kept = dict[tuple[Any, ...], list[Net]]
_KEPT: ContextVar[Kept | None] = ContextVar("nets for reuse by other trials", default=None)
_GUARDED = ContextVar("separate buffers", default=False)


@contextlib.contextmanager
def kept_nets() -> Iterator[None]:
    """Within it, trials of the same text use one net after the other, where functions run as Python.

    To bind one takes longer than the passes of a small case.
    """
    nets: Kept = {}
    with switched(_KEPT, nets):
        try:
            yield
        finally:
            for net in itertools.chain.from_iterable(nets.values()):
                net.close()


class Trial:
    """A case bound to a net. Every pass starts from the same parameters and states."""

    def __init__(self, case: Case, dtype: str = "float64", device: str | Device = "cpu") -> None:
        self.case, self.dtype = case, dtype
        kept = _KEPT.get() if is_interpreted() else None
        self._waiting = None if kept is None else kept.setdefault((case.text(), dtype, _GUARDED.get()), [])
        self.net = self._waiting.pop() if self._waiting else case.net(dtype, device)
        self.arrays = case.arrays()
        self.raw: dict[str, Any] = {}
        self._states = {name: state.value.copy() for name, state in self.net.states.items()}
        self._given = {name: parameter.value.copy() for name, parameter in self.net.parameters.items()}
        self._directions: Results = {}
        self._has_plan = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._waiting is None or kind is not None:
            self.net.close()
            return
        self._reset()
        for name, value in self._given.items():
            self.set_parameter(name, value)
        # Only after success: a failed pass may leave memory in any state.
        self._waiting.append(self.net)

    def take(self, case: Case) -> None:
        """Go on with another batch of the same network."""
        self.case, self.arrays, self._directions, self._has_plan = case, case.arrays(), {}, False

    # ---- passes

    def step(self, before: Callable[[], None] = nothing, between: Callable[[], None] = nothing) -> Results:
        """Outputs, statistics, states and gradients of one pass. `before` and `between` may disturb memory.

        With disturbances there is a pass before the first one, so that there is a plan whose memory can be disturbed.
        """
        if (before, between) != (nothing, nothing) and not self._has_plan:
            self.step()
        before()
        with self._planned_backward():
            found = self.forward()
        if self.case.trains:
            between()
            found |= self.backward()
        self._has_plan = True
        return found

    def _planned_backward(self) -> AbstractContextManager[Any]:
        """Context in which the forward pass has the plan of the backward pass, which would otherwise repeat it."""
        if not self.case.trains:
            return contextlib.nullcontext()
        following = tuple((name, None) for name in sorted(self._dense_outputs()))
        return mock.patch.object(self.net, "_usual_output_gradients", return_value=following)

    def forward(self, phase: str | None = None, step: int = 0) -> Results:
        """Outputs, statistics and states of one forward pass, in the phase of the case unless another one is given."""
        case, net = self.case, self.net
        self._reset()
        net.reset_statistics()
        self.raw = net.forward(case.feeds(self.arrays), phase=phase or case.phase, step=step)
        found = {name: _array(self.raw[name]) for name in case.outputs if name in self.raw}
        return found | self.statistics() | {f"state {name}": state.value.copy() for name, state in net.states.items()}

    def statistics(self) -> Results:
        """The statistics since the last forward pass of this trial began."""
        return {f"statistic {name}": np.array(value) for name, value in self.net.statistics().items()}

    def directions(self) -> Results:
        """Gradients of the dense outputs at which the backward pass starts."""
        if not self._directions:
            rng = np.random.default_rng(3)
            # Not ones: where outputs sum to one, as those of a softmax, the gradient of their plain sum is zero for
            # every layer.
            shapes = {name: _array(self.raw[name]).shape for name in self._dense_outputs()}
            self._directions = {name: rng.uniform(0.5, 1.5, shape) for name, shape in shapes.items()}
        return self._directions

    def _dense_outputs(self) -> list[str]:
        types = zip(self.case.outputs, self.case.output_types, strict=True)
        return [name for name, type_ in types if type_.kind == "DENSE"]

    def backward(self) -> Results:
        """Gradients of the last forward pass."""
        self.net.backward(gradients=self.directions())
        parameters = self.net.parameters.values()
        found = {f"gradient of {p.name}": p.gradient.copy() for p in parameters if p.gradient is not None}
        for place, wanted in enumerate(self.case.wanted):
            if wanted:
                found[f"gradient of in{place}"] = self.net.gradient(f"in{place}")
        return found

    def _reset(self) -> None:
        for name, value in self._states.items():
            self.net.states[name].value = value

    # ---- values

    def parameters(self) -> Results:
        """Trained parameters by name."""
        return {name: p.value.copy() for name, p in self.net.parameters.items() if p.gradient is not None}

    def set_parameter(self, name: str, values: Array) -> None:
        """Give a parameter other numbers."""
        self.net.parameters[name].value = values

    def changed_parameters(self) -> list[str]:
        """Parameters that the passes have modified, which only an optimizer may do."""
        return [name for name, p in self.net.parameters.items() if not np.array_equal(self._given[name], p.value)]

    @property
    def tuned(self) -> set[str]:
        """Names of the functions that run as tuned kernels."""
        return {launch.name for launch in self._plan.launches if launch.items is not None}

    @property
    def in_place(self) -> bool:
        """Whether the first output has the memory of the layer's first input."""
        values = self._plan.values
        first, out = values.get("copy0"), values.get("out0")
        return first is not None and out is not None and first.storage is out.storage

    # ---- memory

    @property
    def _plan(self) -> Plan:
        return self.net.plan(self.case.phase)

    def poison(self) -> None:
        """Fill memory that must not be read before the pass with NaN, gradients of parameters included."""
        self._plan.poison(0)
        self._poison_gradients()

    def poison_dead(self, unread: Sequence[str]) -> None:
        """Fill the memory that the backward pass does not need, and these values, with NaN."""
        self._plan.poison(self._plan.boundary)
        self._poison_gradients()
        for name in unread:
            buffer = self._plan.values[name]
            self._plan.write(buffer, np.full(self._plan.rows.size(buffer.extent), np.nan))

    def _poison_gradients(self) -> None:
        self.net.arena.gradients.write(np.array(np.nan))
        for gradient in self._plan.sparse_gradients:
            gradient.poison()

    def mark_guards(self) -> None:
        """Fill the memory outside of all buffers with a pattern."""
        arena, outside, _ = self._guards()
        arena[outside] = PATTERN

    def touched(self) -> str | None:
        """The buffer next to which the guard zone was written, if any was."""
        arena, outside, storages = self._guards()
        wrong = np.flatnonzero(outside & (arena != PATTERN))
        if not len(wrong):
            return None
        nearest = min(storages, key=lambda s: min(abs(wrong[0] - s.offset), abs(wrong[0] - s.offset - self._size(s))))
        return nearest.buffers[-1].name

    def outside_runs(self) -> Iterator[tuple[str, str | None]]:
        """Tuned kernels that write tiles of their targets, each with a buffer that is written outside a tile, or None.

        The launches of the last pass run once more.
        """
        plan = self._plan
        for at, launch in enumerate(plan.launches):
            if launch.runs is not None and launch.loop is None and launch.runs(plan.rows.of) > 0:
                # The launch runs again as a whole afterwards, so that the next one finds the input that it expects.
                yield launch.name, self._outside_runs(at, launch)
            plan.run_one(at)

    def _outside_runs(self, at: int, launch: Launch) -> str | None:
        assert launch.items is not None
        assert launch.runs is not None
        plan, (arena, _, _) = self._plan, self._guards()
        assert isinstance(plan.table, CpuTable)
        items, runs = launch.items(plan.rows.of), launch.runs(plan.rows.of)
        clean = arena.copy()
        targets = [buffer for buffer in launch.writes if "scratch" not in buffer.name]
        read = {buffer.storage for buffer in launch.reads if buffer not in targets}
        before = clean.copy()
        for buffer in targets:
            if buffer.storage not in read:  # what it held may be what it gets
                before[self._bytes(buffer)] = OTHER
        for item in range(items):
            arena[:] = before
            plan.table.run_items(at, item, item + 1)
            for buffer in targets:
                place = self._bytes(buffer)
                size = (place.stop - place.start) // runs
                changed = np.flatnonzero(arena[place] != before[place])
                # The partition that the scheduler assumes: what follows runs on the tile of an item before the others
                # are done, so a write outside gives wrong values only where something follows.
                own = (changed >= size * (runs * item // items)) & (changed < size * (runs * (item + 1) // items))
                if not own.all():
                    return buffer.name
        arena[:] = clean
        return None

    def _bytes(self, buffer: Buffer) -> slice:
        """The position of the rows of the last batch in the memory of the plan."""
        assert buffer.storage is not None
        begin = buffer.storage.offset
        return slice(begin, begin + self._plan.rows.size(buffer.extent) * buffer.itemsize)

    def _guards(self) -> tuple[Array, NDArray[np.bool_], list[Storage]]:
        plan = self._plan
        if not plan.storages:
            return np.zeros(0, np.uint8), np.zeros(0, bool), []
        outside = np.ones(plan.nbytes, bool)
        for storage in plan.storages:
            outside[storage.offset : storage.offset + self._size(storage)] = False
        buffer = plan.storages[0].buffers[0]
        start = plan.address(Ref(buffer, (buffer.extent,))) - plan.storages[0].offset
        return array_at(start, (plan.nbytes,), np.uint8), outside, plan.storages

    def _size(self, storage: Storage) -> int:
        """Bytes that the last batch may use: rows that are made in the pass may be fewer than there is memory for."""
        return max(self._rows(buffer.extent) * buffer.itemsize for buffer in storage.buffers)

    def _rows(self, extent: Extent) -> int:
        late = extent.domain is not None and extent.domain.late
        return extent.capacity if late else self._plan.rows.size(extent)


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Context in which plans give every buffer separate memory with guard zones, and keep all results."""
    # Patched, since the planner has no such mode: placement is the only step that decides which buffers share memory.
    apart = mock.patch("paddle_layers.runtime.plan.plan.place", _place_apart)
    with switched(_GUARDED, True), apart, without("rematerialization"):
        yield


def _place_apart(storages: Sequence[Storage]) -> int:
    offset = GUARD
    for storage in storages:
        storage.offset = offset
        offset += storage.nbytes + GUARD
    return offset


def _array(value: Any) -> Array:
    return np.asarray(value.data if isinstance(value, Sequences) else value)


def run(case: Case, dtype: str, device: str | Device = "cpu") -> tuple[Results, set[str]]:
    """Outputs, statistics, states and gradients of one pass, and the names of the tuned functions that ran."""
    with Trial(case, dtype, device) as trial:
        return trial.step(), trial.tuned


def as_python(compute: Callable[[], T]) -> T:
    """Run the point functions as Python, which needs no compiler and notices indices out of range or below zero.

    Python raises where a kernel goes on with infinity or NaN; then they are compiled.
    """
    try:
        with point_functions_only(), interpreted():
            return compute()
    except (ArithmeticError, ValueError):
        with point_functions_only():
            return compute()
