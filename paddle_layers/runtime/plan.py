"""The plan of a step: launches in order, memory shared by liveness, tables that one compiled loop runs through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from .arguments import Memory, Ref
from .auxiliary import Auxiliary
from .buffers import Buffer, allocate, place, view
from .compiler import Progress, compile_all
from .graph import Graph
from .launches import Launch
from .schedule import Schedule
from .table import Table


class Plan:
    """Launches of one phase with their tables, for the capacities that the domains have now."""

    def __init__(self, graph: Graph, schedule: Schedule, dtype: str, progress: Progress | None) -> None:
        self.graph, self.dtype = graph, dtype
        self.values, self.gradients = schedule.values, schedule.gradients
        self.auxiliary: Auxiliary = schedule.auxiliary
        self.launches: list[Launch] = [*schedule.forward, *schedule.backward]
        self.boundary = len(schedule.forward)
        self.stats = schedule.stats
        addresses = compile_all([launch.driver for launch in self.launches], progress)
        self.storages = schedule.lay_out()
        self.nbytes = place(self.storages)
        self.arena = allocate(self.nbytes)
        self.table = Table(self.launches, addresses, self.address)

    # ---- memory

    def array(self, buffer: Buffer, shape: tuple[int, ...] | None = None) -> NDArray[Any]:
        """The rows of this batch of a buffer."""
        return view(self.arena, buffer, shape if shape is not None else (buffer.extent.now,))

    def address(self, ref: Ref) -> int:
        """Address of an array argument."""
        if isinstance(ref.owner, Memory):
            array = getattr(ref.owner.parameter, ref.owner.part)
            return int(array.ctypes.data)
        assert isinstance(ref.owner, Buffer)
        assert ref.owner.storage is not None
        return int(self.arena.ctypes.data) + ref.owner.storage.offset

    # ---- running

    def set_rows(self) -> None:
        """Bring sizes and totals to the rows that the domains have now."""
        self.table.set_rows()

    def set_keys(self, key: Callable[[str], int]) -> None:
        """Draw the keys of random operations for a step."""
        self.table.set_keys(key)

    def forward(self) -> None:
        """Run the forward launches."""
        self.table.run(0, self.boundary)

    def backward(self) -> None:
        """Run the backward launches."""
        if self.auxiliary.transpose(self):
            self.set_rows()
        self.table.run(self.boundary, len(self.launches))

    def run_one(self, at: int) -> None:
        """Run a single launch."""
        self.table.run(at, at + 1)

    def poison(self, at: int) -> None:
        """Fill all memory whose values nobody may need before launch `at` with NaN (ids with 0)."""
        for storage in self.storages:
            if storage.first < at <= storage.last or storage.first < 0:
                continue
            for buffer in storage.buffers:
                self.array(buffer, (buffer.extent.capacity,))[...] = 0 if buffer.dtype == "int64" else float("nan")
