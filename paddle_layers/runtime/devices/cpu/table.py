"""Launch tables of the CPU, which one compiled loop processes; loops of recurrent groups are unrolled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.concurrency import switched
from paddle_layers.kernels.constants import MAX_CHUNKS
from paddle_layers.runtime.devices.launch_tables import Section, Sizes, addresses, items, sections_of, share, sizes
from paddle_layers.runtime.generate.drivers import Kernel
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.graph.rows import Rows, StepRows
from paddle_layers.runtime.launches.arguments import Key, Rate, Ref, Setting
from paddle_layers.runtime.launches.launch import Launch

from .blocks import CacheBlocks
from .interpreter import interpret
from .native import ADDRESS, BY_CALLER, CHUNKS, COLUMNS, LENGTH, PARTS, TOTAL, run_backwards, run_parts
from .pool import pool
from .python_calls import raise_failure

SERIAL_WORK = 1 << 17
"""Maximum number of operations of a launch that is not split, some 3 us: ten times the cost of handing a piece to a
waiting thread.
"""
FEW = 32
"""Minimum total operations of a table for waking threads, as a multiple of `SERIAL_WORK`: a busy machine takes 60 us to
wake them, and this takes 100. Threads that are awake participate anyway.
"""
_CUTTING: ContextVar[Literal["", "pieces", "backwards"]] = ContextVar("how launches are cut", default="")
Ints = NDArray[np.int64]


def always_cut(how: Literal["pieces", "backwards"]) -> AbstractContextManager[None]:
    """Context manager: every launch is split into pieces, however small it is: for checks.

    The pieces run concurrently, or sequentially from the last to the first.
    """
    return switched(_CUTTING, how)


class CpuTable:
    """Addresses, sizes and scalars of launches; only what changes with a batch or a step is rewritten."""

    def __init__(
        self, launches: Sequence[Launch], bodies: Sequence[int], address: Callable[[Ref], int], dtype: str
    ) -> None:
        self._address, self._dtype, self._launches = address, dtype, launches
        # Three flat arrays for all launches, not three per launch: the rows of a batch, keys and settings are written
        # by a few vectorized assignments. Rows hold addresses within them, so they are never reallocated.
        refs: list[Ref] = []
        ints: list[Extent | Key] = []
        floats: list[float | Rate | Setting] = []
        spans = []
        for launch in launches:
            start = (len(refs), len(ints), len(floats))
            for argument in launch.args:
                self._put(argument, refs, ints, floats)
            spans.append((start, (len(refs), len(ints))))
        # An empty array would not have a distinct address.
        self._pointers = np.array([address(ref) for ref in refs] or [0], np.int64)
        self._ints = np.array([i.extra if isinstance(i, Extent) else 0 for i in ints] or [0], np.int64)
        self._floats = np.array([f if isinstance(f, float) else 0.0 for f in floats] or [0.0])
        self.rows = np.zeros((len(launches), len(COLUMNS)), np.int64)
        self.rows[:, 0] = bodies
        for row, (start, _) in enumerate(spans):
            for column, (array, at) in enumerate(zip((self._pointers, self._ints, self._floats), start, strict=True)):
                self.rows[row, 3 + column] = array.ctypes.data + 8 * at
        self._arguments = [
            Arguments(refs[start[0] : stop[0]], ints[start[1] : stop[1]], int(row[5]), int(row[0]))
            for (start, stop), row in zip(spans, self.rows, strict=True)
        ]
        self._sections = sections_of(launches)
        self._loops: list[LoopTable] = []
        self._worth = False
        self._keys = [(at, i.op) for at, i in enumerate(ints) if isinstance(i, Key)]
        self._settings = [(at, f) for at, f in enumerate(floats) if isinstance(f, Setting)]
        self._rates = [(at, f) for at, f in enumerate(floats) if isinstance(f, Rate)]
        self._sized = Sizes([i if isinstance(i, Extent) else Extent() for i in ints])
        self._totals = Sizes([launch.total or Extent() for launch in launches])
        self._tuned = [(row, launch.items) for row, launch in enumerate(launches) if launch.items is not None]
        self._blocks = CacheBlocks(launches, np.dtype(dtype).itemsize)
        self._weights = np.array([launch.weight for launch in launches], np.int64)
        self._work = np.array([launch.work for launch in launches], np.int64)
        self._by_caller = np.array([_calls_python(launch) for launch in launches], np.bool_)
        self._calls_python, self._interpreted = bool(self._by_caller.any()), min(bodies, default=0) < 0

    def _put(
        self, argument: Any, refs: list[Ref], ints: list[Extent | Key], floats: list[float | Rate | Setting]
    ) -> None:
        if isinstance(argument, Ref):
            refs.append(argument)
            ints.extend(argument.shape)
        elif isinstance(argument, (Extent, Key)):
            ints.append(argument)
        elif isinstance(argument, (float, Rate, Setting)):
            floats.append(argument)
        else:
            for part in argument:
                self._put(part, refs, ints, floats)

    def set_rows(self, rows: Rows) -> None:
        """Updates sizes and totals for the rows of a batch."""
        # In this order: totals follow from sizes, blocks from totals, and the pieces from the blocks.
        self._sized.write(self._ints, rows)
        for at, rate in self._rates:
            self._floats[at] = rate.share(rows)
        totals = self.rows[:, TOTAL]
        self._totals.write(totals, rows)
        for row, items_of in self._tuned:
            totals[row] = items_of(rows.of)
        # Tuned kernels know their operations, point functions a weight per item; a launch is split by whichever is
        # larger.
        work = np.maximum(totals * self._weights, self._work)
        self._blocks.write(self.rows, work, rows, smallest=bool(_CUTTING.get()))
        self._worth = _cut(self.rows, work, self._by_caller)
        self._loops = []
        for section in self._sections:
            loop = LoopTable(section, rows, self._launches, self._arguments, self._address, self._dtype)
            loop.worth = _cut(loop.rows, loop.work, self._by_caller[loop.places])
            self._loops.append(loop)

    @property
    def has_keys(self) -> bool:
        """Whether there are random operations."""
        return bool(self._keys)

    def set_keys(self, key: Callable[[str], int]) -> None:
        """Generate the random keys of operations for a step."""
        for at, op in self._keys:
            self._ints[at] = key(op)
        for loop in self._loops:
            loop.set_keys(key)

    def set_numbers(self, values: Mapping[str, float]) -> None:
        """Writes the floating-point scalars of a step."""
        for at, setting in self._settings:
            self._floats[at] = values[setting.name] * setting.factor

    def run_items(self, at: int, first: int, last: int) -> None:
        """Runs the work items `first` to `last` of one compiled launch: for checks."""
        run_parts(self.rows, at, 1, first, last)

    def run(self, start: int, stop: int) -> None:
        """Runs launches `start` to `stop`; a loop runs whole if its first launch is among them."""
        for section, loop in zip(self._sections, self._loops, strict=False):
            if start < section.last and section.first < stop:
                self._run(self.rows, start, section.first, worth=self._worth)
                if start <= section.first:
                    self._run(loop.rows, 0, len(loop.rows), worth=loop.worth)
                start = section.last
        self._run(self.rows, start, stop, worth=self._worth)

    def _run(self, rows: NDArray[np.int64], start: int, stop: int, *, worth: bool) -> None:
        if start >= stop:
            return
        if self._interpreted:
            interpret(rows[start:stop])
            return
        # Results that depend on the order of pieces show up as a difference to the usual run.
        if _CUTTING.get() == "backwards":
            run_backwards(rows, start, stop)
        else:
            pool().run(rows, start, stop, worth=worth)
        # After the launches, since an exception cannot propagate through machine code.
        if self._calls_python:
            raise_failure()

    def time(self, start: int, stop: int) -> NDArray[np.float64]:
        """As `run`, but one launch after the other; returns the seconds of each, in a loop of all its steps."""
        seconds = np.zeros(len(self._launches))
        for section, loop in zip(self._sections, self._loops, strict=False):
            if start <= section.first and section.first < stop:
                seconds[start : section.first] += _time(self.rows[start : section.first])
                np.add.at(seconds, loop.places, _time(loop.rows))
                start = section.last
        seconds[start:stop] += _time(self.rows[start:stop])
        return seconds


def _calls_python(launch: Launch) -> bool:
    """Whether a launch must run on the thread of the pass: another thread could not report its exceptions."""
    return isinstance(launch.code, Kernel) and launch.code.python is not None


def _cut(rows: NDArray[np.int64], work: NDArray[Any], by_caller: NDArray[np.bool_]) -> bool:
    """Splits launches that are worth it into pieces. Returns whether all of them together are worth waking threads."""
    cut = _CUTTING.get() != ""
    # From the work, which depends on shapes only: pieces, and thus rounding, are the same for any number of threads.
    rows[:, CHUNKS] = np.where(work < (0 if cut else SERIAL_WORK), 1, np.minimum(rows[:, PARTS], MAX_CHUNKS))
    rows[by_caller, CHUNKS] = BY_CALLER
    return cut or bool(work.sum() >= FEW * SERIAL_WORK)


def _time(rows: NDArray[np.int64]) -> NDArray[np.float64]:
    spent = np.zeros(len(rows), np.int64)
    pool().time(rows, spent)
    return spent / 1e9


class Arguments(NamedTuple):
    """The arguments of a launch, in the order of its row in the table."""

    refs: list[Ref]
    ints: list[Extent | Key]
    floats: int
    """Address of the floating-point values, which are the same in all steps."""
    body: int


class LoopTable:
    """Rows with the columns of `native.COLUMNS`, and the arrays that they point to."""

    def __init__(
        self,
        section: Section,
        rows: Rows,
        launches: Sequence[Launch],
        arguments: Sequence[Arguments],
        address: Callable[[Ref], int],
        dtype: str,
    ) -> None:
        self._address, self._dtype = address, dtype
        at, step = section.program(rows)
        self.places = at
        """The launch of each row."""
        self.rows = np.zeros((len(at), len(COLUMNS)), np.int64)
        self.rows[:, LENGTH] = 1
        self.work = np.zeros(len(at))
        self.worth = False
        """Whether the rows are worth waking threads for."""
        # Rows hold bare addresses of these arrays, which must live as long as the table.
        self._held: list[Ints] = []
        self._keys: list[tuple[Ints, str, Ints]] = []
        for place in range(section.first, section.last):
            entries = np.flatnonzero(at == place)
            if len(entries):
                group = StepRows(rows, section.loops[place - section.first][-1])
                self._write(launches[place], arguments[place], group, entries, step[entries])

    def _write(self, launch: Launch, arguments: Arguments, group: StepRows, entries: Ints, step: Ints) -> None:
        pointers = np.zeros((len(entries), max(len(arguments.refs), 1)), np.int64)
        for column, ref in enumerate(arguments.refs):
            itemsize = np.dtype(self._dtype if ref.dtype == "real" else ref.dtype).itemsize
            pointers[:, column] = addresses(ref, group, self._address, itemsize)[step]
        ints = np.zeros((len(entries), max(len(arguments.ints), 1)), np.int64)
        for column, value in enumerate(arguments.ints):
            # Keys change with every step of training, sizes only with the batch: a view of the column is kept and
            # rewritten.
            if isinstance(value, Key):
                self._keys.append((ints[:, column], value.op, step))
            else:
                ints[:, column] = sizes(value, group)[step]
        self._held += [pointers, ints]
        totals = items(launch, group)[step]
        self.rows[entries, ADDRESS] = arguments.body
        self.rows[entries, TOTAL] = self.rows[entries, PARTS] = totals
        self.rows[entries, 3] = pointers.ctypes.data + np.arange(len(entries)) * pointers.strides[0]
        self.rows[entries, 4] = ints.ctypes.data + np.arange(len(entries)) * ints.strides[0]
        self.rows[entries, 5] = arguments.floats
        self.work[entries] = np.maximum(totals * launch.weight, launch.work * share(group)[step])

    def set_keys(self, key: Callable[[str], int]) -> None:
        """Generates the random keys of operations: each step has its own, the same in the backward pass."""
        for column, op, step in self._keys:
            column[:] = key(op) + step
