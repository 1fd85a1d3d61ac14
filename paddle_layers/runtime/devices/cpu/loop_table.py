"""Loop unrolling on the CPU: one table row per launch and step of a recurrent group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.devices.unrolling import Section, addresses, items, share, sizes
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.graph.rows import Rows, StepRows
from paddle_layers.runtime.launches.arguments import Key, Ref
from paddle_layers.runtime.launches.launch import Launch

from .native import ADDRESS, COLUMNS, LENGTH, PARTS, TOTAL

Ints = NDArray[np.int64]


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
