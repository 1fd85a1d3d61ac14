"""Execution plan of a step: launches in order, buffer reuse by liveness, launch tables for one compiled loop.

Before any allocation, it is checked that plans fit into the memory of a device.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.machine import as_bytes
from paddle_layers.runtime.devices import Device, Progress
from paddle_layers.runtime.graph.domains import Domain
from paddle_layers.runtime.graph.graph import DynamicRows, Graph
from paddle_layers.runtime.graph.rows import Rows
from paddle_layers.runtime.launches.arguments import Held, Lagged, Ref, refs_of
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.launches.index_arrays import IndexArrays
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.launches.sparse_gradients import SparseGradient
from paddle_layers.runtime.memory.blocks import DeviceError
from paddle_layers.runtime.passes.buffer_reuse import place
from paddle_layers.runtime.schedule.all_reduce import AddUp, GradientPart, gradient_parts
from paddle_layers.runtime.schedule.schedule import LaunchSchedule

Ready = Callable[[GradientPart], None]
# An H100 refused batches that were reported to fit: the driver needs some memory for itself.
SPARE_SHARE = 128
"""One part of so many stays free for kernels, stacks and whole pages: an H100 takes up to 5 MiB more than the plans."""
LISTED_TENSORS = 3
"""Number of tensors listed in an out-of-memory error."""


class Plan:
    """Launches of one phase with their tables, for the current capacities of the domains.

    `counting` are launches that add statistics to their sums.
    """

    def __init__(
        self,
        graph: Graph,
        schedule: LaunchSchedule,
        device: Device,
        *,
        counting: Sequence[Launch] = (),
        progress: Progress | None = None,
    ) -> None:
        self.graph = graph
        self.values, self.gradients, self.divisors = schedule.values, schedule.gradients, schedule.divisors
        self.sparse_gradients = schedule.sparse_gradients
        for gradient in self.sparse_gradients:
            gradient.plan = self
        self.index_arrays: IndexArrays = schedule.index_arrays
        self.launches: list[Launch] = [*schedule.forward, *schedule.backward]
        self.constants, self.boundary = schedule.constants, len(schedule.forward)
        self._version: int | None = None
        """Of the parameters that the constant results follow from; None before they are computed."""
        self.stops, self.decisive = schedule.stops, schedule.decisive
        forward, backward = schedule.joins
        self._joins = [*forward, *((self.boundary + at, join) for at, join in backward)]
        self.stats, self.updates = schedule.stats, schedule.updates
        self.moving_states = schedule.moving_states
        # Compilation comes first: it may take minutes and be interrupted, and needs none of the memory.
        device.compile([*self.launches, *counting], schedule.dtype, progress)
        check_capacity(device, [schedule])
        self.storages = schedule.lay_out()
        # One block for all buffers: a plan is immutable after this, and no pass allocates memory or moves a buffer, so
        # addresses in tables, and views of feeds, stay valid.
        self.nbytes = place(self.storages)
        self._block = device.allocate(self.nbytes)
        self.table = device.table([*self.launches, *counting], schedule.dtype, self.address)
        self._end = len(self.launches) + len(counting)
        self.rows = Rows()
        """Row counts of the current batch."""
        self._capacities = [(domain, domain.capacity) for domain in graph.domains]
        self._key: Callable[[str], int] | None = None
        self._counts: dict[Domain, int] | None = None
        """Rows of which the sizes in the table are; None where they hold for no batch."""
        self._whole: dict[Domain, float] | None = None

    # ---- memory

    @property
    def fits(self) -> bool:
        """Whether the buffers have the current capacities of the domains."""
        return all(domain.capacity == capacity for domain, capacity in self._capacities)

    def read(self, buffer: Buffer, rows: Rows | None = None) -> NDArray[Any]:
        """The rows of a batch in a buffer, by default of the last one: a view on the CPU, otherwise a copy."""
        assert buffer.storage is not None
        return self._block.read(
            buffer.storage.offset + buffer.shift, (rows or self.rows).size(buffer.extent), buffer.dtype
        )

    def write(self, buffer: Buffer, values: NDArray[Any]) -> None:
        """Fills a buffer from its start."""
        assert buffer.storage is not None
        self._block.write(buffer.storage.offset + buffer.shift, values, buffer.dtype)

    def address(self, ref: Ref) -> int:
        """Address of an array argument."""
        owner = ref.owner.buffer if isinstance(ref.owner, Lagged) else ref.owner
        if not isinstance(owner, Buffer):
            return owner.address
        assert owner.storage is not None
        return self._block.address + owner.storage.offset + owner.shift

    # ---- execution

    def lay(self, rows: Rows) -> None:
        """Binds a batch to the plan: sizes and totals become those of its rows."""
        # Writing the sizes is most of the Python of a small batch, and most batches have as many rows as the one
        # before.
        if rows.counts != self._counts or self.graph.groups:  # steps differ by the lengths of the sequences
            self._write_sizes(rows)
        # After the sizes, so that an interrupt meanwhile does not attribute the old results to new rows.
        self.rows = rows

    def _write_sizes(self, rows: Rows) -> None:
        """Writes the sizes of a batch into the table; an interrupt meanwhile leaves sizes valid for no batch."""
        self._counts = self._whole = None
        self.table.set_rows(rows)
        if self._key is not None:  # loops are written again, with their keys
            self.table.set_keys(self._key)
        self._counts, self._whole = dict(rows.counts), dict(rows.whole)

    def set_keys(self, key: Callable[[str], int]) -> None:
        """Generate the random keys of operations for a step."""
        self._key = key
        self.table.set_keys(key)

    def _run(self, begin: int, end: int, add_up: AddUp | None) -> None:
        """Runs some launches; with `add_up`, layers that request it reduce their values over all processes."""
        # Every process has the same plan, hence the same reductions in the same order, as collective operations
        # require.
        if add_up is not None:
            for at, join in self._joins:
                if begin < at <= end:
                    self.table.run(begin, at)
                    join.run(self.read, self.write, add_up)
                    begin = at
        self.table.run(begin, end)

    def forward(
        self,
        make_rows: Callable[[DynamicRows], None] | None = None,
        version: int | None = None,
        add_up: AddUp | None = None,
    ) -> None:
        """Runs the forward launches; `make_rows` is called where rows depend on values computed so far.

        Without it, these rows are those of the last pass. Parameter-only results are recomputed if their `version` has
        changed; without it, they are those of the last pass, too.
        """
        # Set after the launches: if they are interrupted, the next pass runs them again.
        if self._version is None or version not in (None, self._version):
            self.table.run(0, self.constants)
            self._version = version
        done = self.constants
        for at, made in self.stops:
            self._run(done, at, add_up)
            if make_rows is not None:
                make_rows(made)
                self.lay(self.rows)
            done = at
        self._run(done, self.boundary, add_up)

    def repeat(self, version: int, add_up: AddUp | None = None) -> None:
        """`forward` and `count` for a plan whose rows are all known: at once if there is no backward pass."""
        # Otherwise forward launches and statistics are adjacent in the table, and run as one call of the compiled loop.
        if version != self._version or self.stops or add_up is not None or self.boundary < len(self.launches):
            self.forward(None, version, add_up)
            self.count()
        else:
            self.table.run(self.constants, self._end)

    def divide_by(self, divisors: Mapping[str, float]) -> None:
        """Sets the divisors of losses for the backward pass, by default those of the batch."""
        whole = {}
        for name, divisor in divisors.items():
            own = self.divisors.get(name)
            if own is None:
                whole[self.graph.values[name].domain] = divisor
            else:
                self.write(own, np.array([divisor]))
        if whole != self._whole:
            self.rows.whole = whole
            self._write_sizes(self.rows)

    def backward(self, ready: Ready | None = None, add_up: AddUp | None = None) -> None:
        """Runs the backward launches; `ready` gets each bucket of parameter gradients as soon as it is final."""
        begin = self.boundary
        if self.updates is not None:
            self.table.set_numbers(self.updates.take_numbers())
        # Communication of a bucket overlaps with the launches after it. The order of buckets is that of completion, the
        # same in all processes.
        if ready is not None:
            for part in self._parts:
                self._run(begin, part.behind, add_up)
                begin = part.behind
                ready(part)
        self._run(begin, len(self.launches), add_up)

    @functools.cached_property
    def _parts(self) -> list[GradientPart]:
        return gradient_parts(self.launches, self.boundary)

    def count(self) -> None:
        """Adds the statistics of this batch to their sums."""
        if self._end > len(self.launches):
            self.table.run(len(self.launches), self._end)

    def sparse_gradients_of(self, batch: Rows) -> dict[str, SparseGradient]:
        """The sparse gradients by parameter, which are those of a batch from now on."""
        for gradient in self.sparse_gradients:
            gradient.batch = batch
        return {gradient.parameter.name: gradient for gradient in self.sparse_gradients}

    def run_one(self, at: int) -> None:
        """Runs a single launch."""
        self.table.run(at, at + 1)

    def find_non_finite(self, dtype: str, *, backward: bool = False) -> str | None:
        """Runs the launches of a pass one by one; returns the first layer with NaN or infinity, or None."""
        first, end = (self.boundary, len(self.launches)) if backward else (0, self.boundary)
        for at, launch in enumerate(self.launches[first:end], first):
            self.run_one(at)
            written = [self.read(one) for one in launch.writes if one.dtype == dtype and "scratch" not in one.name]
            owners = {ref.owner for argument in launch.args for ref in refs_of(argument)}
            written += [
                owner.parameter.gradient
                for owner in owners
                if isinstance(owner, Held) and owner.part == "gradient" and owner.parameter.gradient is not None
            ]
            if not all(np.isfinite(numbers).all() for numbers in written):
                return launch.op.partition(".")[0]
        return None

    def poison(self, at: int) -> None:
        """Fills all memory whose values must not be needed before launch `at` with NaN (ids with 0)."""
        # A plan that reads memory before writing it would depend on earlier batches; NaN makes that visible.
        for storage in self.storages:
            if storage.first < at <= storage.last or storage.first < 0:
                continue
            for buffer in storage.buffers:
                value = 0 if buffer.dtype == "int64" else float("nan")
                self.write(buffer, np.full(buffer.extent.capacity, value, buffer.dtype))


def check_capacity(device: Device, schedules: Sequence[LaunchSchedule]) -> None:
    """Raises `DeviceError` if there is too little memory for the plans of all schedules.

    The message has the estimate, the largest tensors and a batch size that fits.
    """
    free = device.free_bytes()
    if free is None:
        return
    storages = [schedule.lay_out() for schedule in schedules]
    nbytes = sum(map(place, storages))
    if nbytes <= free:
        return
    rows = schedules[0].graph.samples.capacity
    found = {buffer.name: buffer for one in storages for storage in one for buffer in storage.buffers}
    buffers = sorted(found.values(), key=lambda buffer: -buffer.nbytes)
    named = ", ".join(f"{buffer.name} ({as_bytes(buffer.nbytes)})" for buffer in buffers[:LISTED_TENSORS])
    fitting = _fitting_rows(schedules, free - free // SPARE_SHARE)
    remedy = f"a batch of {fitting} fits" if fitting else "not even a single sample fits"
    raise DeviceError(
        f"a batch of {rows} needs {as_bytes(nbytes)} on {device.name!r}, but at most {as_bytes(free)} can be "
        f"allocated; the largest tensors are {named}; {remedy}"
    )


def _fitting_rows(schedules: Sequence[LaunchSchedule], free: int) -> int:
    """Maximum number of samples whose buffers fit; sizes that depend on sequences and entries grow with them."""
    # Capacities are changed for the search and restored at the end, which is cheaper than building graphs and schedules
    # for each trial.
    domains = [domain for schedule in schedules for domain in schedule.graph.domains]
    full = [domain.capacity for domain in domains]
    most = schedules[0].graph.samples.capacity

    def needed(rows: int) -> int:
        for domain, capacity in zip(domains, full, strict=True):
            # Rounded up: a batch that is reported as fitting must fit.
            domain.capacity = -(-capacity * rows // most)
        return sum(place(schedule.lay_out()) for schedule in schedules)

    low, high = 0, most
    try:
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if needed(middle) <= free else (low, middle)
    finally:
        for domain, capacity in zip(domains, full, strict=True):
            domain.capacity = capacity
    return low
