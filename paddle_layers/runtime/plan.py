"""The plan of a step: launches in order, memory shared by liveness, tables that one compiled loop runs through."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .auxiliary import Auxiliary
from .buffers import Buffer, allocate, place, share, view
from .compiler import Progress, compile_all
from .domains import Extent
from .graph import Graph
from .launches import Key, Launch, Memory, Rate, Ref, buffers_of
from .native import run_launches
from .schedule import Schedule

PIECES = 8
"""Pieces a launch is cut into; more than there are threads, so that they end together."""
SERIAL_WORK = 1 << 14
"""Work (in elements) below which waking other threads costs more than it gains."""


class Plan:
    """Launches of one phase with their tables, for the capacities that the domains have now."""

    def __init__(self, graph: Graph, schedule: Schedule, dtype: str, progress: Progress | None) -> None:
        self.graph, self.dtype = graph, dtype
        self.values, self.gradients = schedule.values, schedule.gradients
        self.auxiliary: Auxiliary = schedule.auxiliary
        self.launches: list[Launch] = [*schedule.forward, *schedule.backward]
        self.boundary = len(schedule.forward)
        self.stats = schedule.stats
        self.addresses = compile_all([launch.driver for launch in self.launches], progress)
        self._lay_out(schedule.kept)
        self._fill_tables()

    # ---- memory

    def _lay_out(self, kept: Sequence[Buffer]) -> None:
        takeovers = [t for at, launch in enumerate(self.launches) for t in launch.mark(at)]
        for buffer in self.auxiliary.at_boundary:
            buffer.use(self.boundary)
        for buffer in (*kept, *self.auxiliary.kept):
            buffer.keep()
        buffers = {id(b): b for b in (*buffers_of(self.launches), *kept, *self.auxiliary.kept)}
        self.storages = share(list(buffers.values()), takeovers)
        self.nbytes = place(self.storages)
        self.arena = allocate(self.nbytes)

    def array(self, buffer: Buffer, shape: tuple[int, ...] | None = None) -> NDArray[Any]:
        """The rows of this batch of a buffer."""
        return view(self.arena, buffer, shape if shape is not None else (buffer.extent.now,))

    def address(self, ref: Ref) -> int:
        """Address of an array argument."""
        if isinstance(ref.owner, Memory):
            array = getattr(ref.owner.parameter, ref.owner.part)
            return int(array.ctypes.data)
        assert ref.owner.storage is not None
        return int(self.arena.ctypes.data) + ref.owner.storage.offset

    # ---- tables

    def _fill_tables(self) -> None:
        pointers: list[int] = []
        ints: list[Extent] = []
        floats: list[float | Rate] = []
        self._keys: list[tuple[int, str]] = []
        table = np.zeros((len(self.launches), 6), np.int64)
        starts = []
        for launch in self.launches:
            starts.append((len(pointers), len(ints), len(floats)))
            for argument in launch.args:
                self._put(argument, pointers, ints, floats)
        self._pointers = np.array(pointers or [0], np.int64)
        self._ints = np.array([extent.extra for extent in ints] or [0], np.int64)
        self._floats = np.array([f if isinstance(f, float) else 0.0 for f in floats] or [0.0])
        for row, (launch, start) in enumerate(zip(self.launches, starts, strict=True)):
            table[row, 0] = self.addresses[str(launch.driver.path)]
            for column, (array, at) in enumerate(zip((self._pointers, self._ints, self._floats), start, strict=True)):
                table[row, 3 + column] = array.ctypes.data + 8 * at
        self.table = table
        self._rates = [(at, f) for at, f in enumerate(floats) if isinstance(f, Rate)]
        self._sized = _Sizes(ints)
        self._totals = _Sizes([launch.total or Extent() for launch in self.launches])
        self._tuned = [(row, launch.items) for row, launch in enumerate(self.launches) if launch.items is not None]
        self._weights = np.array([launch.weight for launch in self.launches], np.int64)

    def _put(self, argument: Any, pointers: list[int], ints: list[Extent], floats: list[float | Rate]) -> None:
        if isinstance(argument, Ref):
            pointers.append(self.address(argument))
            ints.extend(argument.shape)
        elif isinstance(argument, Key):
            self._keys.append((len(ints), argument.op))
            ints.append(Extent())
        elif isinstance(argument, Extent):
            ints.append(argument)
        elif isinstance(argument, (float, Rate)):
            floats.append(argument)
        else:
            for part in argument:
                self._put(part, pointers, ints, floats)

    def set_rows(self) -> None:
        """Bring sizes and totals to the rows that the domains have now."""
        self._sized.write(self._ints)
        for at, rate in self._rates:
            self._floats[at] = rate.weight / (rate.domain.rows if rate.domain else 1)
        totals = self.table[:, 1]
        self._totals.write(totals)
        for row, items in self._tuned:
            totals[row] = items()
        work = totals * self._weights
        chunks = np.where(work < SERIAL_WORK, 1, np.minimum(totals, PIECES))
        for row, _ in self._tuned:
            chunks[row] = totals[row]
        self.table[:, 2] = chunks

    def set_keys(self, key: Callable[[str], int]) -> None:
        """Draw the keys of random operations for a step."""
        for at, op in self._keys:
            self._ints[at] = key(op)

    # ---- running

    def forward(self) -> None:
        """Run the forward launches."""
        run_launches(self.table, 0, self.boundary)

    def backward(self) -> None:
        """Run the backward launches."""
        if self.auxiliary.transpose(self):
            self.set_rows()
        run_launches(self.table, self.boundary, len(self.launches))

    def run_one(self, at: int) -> None:
        """Run a single launch."""
        run_launches(self.table, at, at + 1)


class _Sizes:
    """Extents of a table, written in one go: `extra + rows * factor`."""

    def __init__(self, extents: Sequence[Extent]) -> None:
        moving = [(at, e) for at, e in enumerate(extents) if e.domain is not None]
        self.domains = list({id(e.domain): e.domain for _, e in moving if e.domain}.values())
        number: Mapping[int, int] = {id(domain): i for i, domain in enumerate(self.domains)}
        self.places = np.array([at for at, _ in moving], np.int64)
        self.which = np.array([number[id(e.domain)] for _, e in moving], np.int64)
        self.factors = np.array([e.factor for _, e in moving], np.int64)
        self.extras = np.array([e.extra for _, e in moving], np.int64)
        self.fixed_places = np.array([at for at, e in enumerate(extents) if e.domain is None and e.extra], np.int64)
        self.fixed = np.array([e.extra for e in extents if e.domain is None and e.extra], np.int64)

    def write(self, table: NDArray[np.int64]) -> None:
        """Write the sizes for the rows of now; entries without a size (keys) are left alone."""
        table[self.fixed_places] = self.fixed
        if len(self.places):
            rows = np.array([domain.rows for domain in self.domains], np.int64)
            table[self.places] = self.extras + rows[self.which] * self.factors

