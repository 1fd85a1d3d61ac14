"""Loop unrolling on a GPU: one table row per launch and step of a recurrent group, each with its parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.devices.unrolling import Section, addresses, items, sizes
from paddle_layers.runtime.graph.domains import Extent, ScratchSize
from paddle_layers.runtime.graph.rows import Rows, StepRows
from paddle_layers.runtime.launches.arguments import Key, Ref

if TYPE_CHECKING:
    from paddle_layers.runtime.launches.launch import Launch

Ints = NDArray[np.int64]


class CudaLoop:
    """Rows of a `CudaTable` and the parameters that they point to; blocks are not computed from elements yet."""

    def __init__(
        self,
        section: Section,
        rows: Rows,
        launches: Sequence[Launch],
        slots: Sequence[Sequence[Any]],
        numbers: Sequence[Ints],
        itemsizes: Sequence[Sequence[int]],
        address: Callable[[Ref], int],
    ) -> None:
        self._address = address
        self.places, step = section.program(rows)
        self.rows = np.zeros((len(self.places), 4), np.int64)
        self._held: list[Ints] = []
        self._keys: list[tuple[Ints, str, Ints]] = []
        for at, own in enumerate(slots):
            entries = np.flatnonzero(self.places == section.first + at)
            if not len(entries):
                continue
            group, steps = StepRows(rows, section.loops[at][-1]), step[entries]
            parameters = np.tile(numbers[at], (len(entries), 1))
            for column, slot in enumerate(own):
                self._fill(parameters[:, column], slot, itemsizes[at][column], group, steps)
            launch = launches[section.first + at]
            self.rows[entries, 1] = items(launch, group)[steps] if launch.items else parameters[:, 0]
            self._point(entries, parameters)

    def _fill(self, column: Ints, slot: Any, itemsize: int, group: StepRows, step: Ints) -> None:
        if isinstance(slot, Ref):
            column[:] = addresses(slot, group, self._address, itemsize)[step]
        elif isinstance(slot, Extent) and (slot.domain is not None or isinstance(slot, ScratchSize)):
            column[:] = sizes(slot, group)[step]
        elif isinstance(slot, Key):
            self._keys.append((column, slot.op, step))

    def _point(self, entries: Ints, parameters: Ints) -> None:
        """Sets the address of the parameter addresses of each row."""
        own = parameters.ctypes.data + 8 * np.arange(parameters.size, dtype=np.int64).reshape(parameters.shape)
        self.rows[entries, 3] = own.ctypes.data + np.arange(len(entries)) * own.strides[0]
        # The table has their addresses only.
        self._held += [parameters, own]

    def set_keys(self, key: Callable[[str], int]) -> None:
        """Generates the random keys of operations: each step has its own, the same in the backward pass."""
        for column, op, step in self._keys:
            column[:] = key(op) + step
