"""Launch tables of a GPU: parameters packed once in the driver's format; a batch or a step changes a few of them.

Loops of recurrent groups are unrolled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.devices.launch_tables import Section, Sizes, addresses, items, sections_of, sizes
from paddle_layers.runtime.generate.drivers import Kernel
from paddle_layers.runtime.graph.domains import Extent, ScratchSize
from paddle_layers.runtime.graph.rows import Rows, StepRows
from paddle_layers.runtime.launches.arguments import Key, Rate, Ref, Setting
from paddle_layers.runtime.launches.launch import Launch

from .card import Card
from .compile import CudaDriver, elements_of

COLUMNS = ("function", "blocks", "threads", "parameters")
"""Columns of a table (int64): the kernel's handle, blocks, threads per block, address of the parameter addresses."""
Slot = Extent | float | Rate | Setting | Key | Ref
"""Content of an 8-byte parameter; an array represents its address."""
Ints = NDArray[np.int64]


class CudaTable:
    """Kernels and their packed parameters."""

    def __init__(
        self,
        card: Card,
        launches: Sequence[Launch],
        drivers: Sequence[CudaDriver],
        kernels: Sequence[int],
        address: Callable[[Ref], int],
    ) -> None:
        self._card, self._address = card, address
        self._dtype = drivers[0].dtype if drivers else "float32"
        self._slots: list[Slot] = []
        self._launches = launches
        first = [self._pack(launch) for launch in launches]
        self._spans = list(pairwise([*first, len(self._slots)]))
        self.slots = np.array([self._number(slot) for slot in self._slots] or [0], np.int64)
        # `cuLaunchKernel` takes an array of pointers to parameters; both arrays are made once, and only the slots are
        # rewritten.
        self._addresses = self.slots.ctypes.data + 8 * np.arange(len(self.slots), dtype=np.int64)
        self.rows = np.zeros((len(launches), len(COLUMNS)), np.int64)
        self.rows[:, 0] = kernels
        self.rows[:, 2] = [driver.threads or card.threads for driver in drivers]
        self.rows[:, 3] = [int(self._addresses.ctypes.data) + 8 * slot for slot in first]
        self._sized = Sizes([slot if isinstance(slot, Extent) else Extent() for slot in self._slots])
        self._totals = Sizes([elements_of(launch) for launch in launches])
        self._tuned = [(row, launch.items) for row, launch in enumerate(launches) if launch.items is not None]
        self._per_thread = np.array([driver.per_thread for driver in drivers], np.int64)
        self._keys = [(at, slot.op) for at, slot in enumerate(self._slots) if isinstance(slot, Key)]
        self._rates = [(at, slot) for at, slot in enumerate(self._slots) if isinstance(slot, Rate)]
        self._settings = [(at, slot) for at, slot in enumerate(self._slots) if isinstance(slot, Setting)]
        for at, slot in enumerate(self._slots):
            if isinstance(slot, float):
                self._put_real(at, slot)
        self._sections = sections_of(launches)
        self._loops: list[CudaLoop] = []

    def _number(self, slot: Slot) -> int:
        if isinstance(slot, Ref):
            return self._address(slot)
        return slot.extra if isinstance(slot, Extent) else 0

    def _pack(self, launch: Launch) -> int:
        """Appends the parameters of a launch; returns the index of the first one."""
        start = len(self._slots)
        if isinstance(launch.code, Kernel):
            self._slots.append(elements_of(launch))
        for argument in launch.args:
            self._append(argument)
        return start

    def _append(self, argument: Any) -> None:
        if isinstance(argument, Ref):
            self._append_array(argument)
        elif isinstance(argument, (Extent, float, Rate, Setting, Key)):
            self._slots.append(argument)
        else:
            assert isinstance(argument, tuple)  # constants folded into the source are not arguments
            for part in argument:
                self._append(part)

    def _append_array(self, ref: Ref) -> None:
        """The array ABI of numba: two null pointers, elements, itemsize, address, sizes, strides in bytes."""
        itemsize = np.dtype(self._dtype if ref.dtype == "real" else ref.dtype).itemsize
        strides = [itemsize]
        for size in ref.shape[:0:-1]:
            strides.insert(0, strides[0] * size.extra)
        whole = ref.shape[0] * (strides[0] // itemsize)
        # Meminfo and parent object, which kernels never use.
        self._slots += [Extent(), Extent(), whole, Extent(itemsize), ref, *ref.shape]
        self._slots += map(Extent, strides)

    def _put_real(self, at: int, value: float) -> None:
        """Writes a floating-point value in the precision of the tensors to the start of its slot."""
        # A float32 parameter is read from the first four bytes of its slot.
        self.slots[at : at + 1].view(self._dtype)[0] = value

    def set_rows(self, rows: Rows) -> None:
        """Updates sizes and totals for the rows of a batch."""
        self._sized.write(self.slots, rows)
        for at, rate in self._rates:
            self._put_real(at, rate.share(rows))
        blocks = self.rows[:, 1]
        self._totals.write(blocks, rows)
        for row, items_of in self._tuned:
            blocks[row] = items_of(rows.of)
        self._spread_out(blocks, self._per_thread)
        self._loops = [self._written_out(section, rows) for section in self._sections]

    def _spread_out(self, blocks: Ints, per_thread: Ints) -> None:
        """Blocks of threads for elements."""
        which = per_thread > 0
        elements = self._card.threads * per_thread[which]
        blocks[which] = np.minimum((blocks[which] + elements - 1) // elements, self._card.blocks)

    def _written_out(self, section: Section, rows: Rows) -> CudaLoop:
        places = range(section.first, section.last)
        slots = [self._slots[slice(*self._spans[place])] for place in places]
        numbers = [self.slots[slice(*self._spans[place])] for place in places]
        sizes = [itemsizes(self._dtype, found) for found in slots]
        loop = CudaLoop(section, rows, self._launches, slots, numbers, sizes, self._address)
        loop.rows[:, [0, 2]] = self.rows[loop.places][:, [0, 2]]
        self._spread_out(loop.rows[:, 1], self._per_thread[loop.places])
        return loop

    def set_keys(self, key: Callable[[str], int]) -> None:
        """Generate the random keys of operations for a step."""
        for at, op in self._keys:
            self.slots[at] = key(op)
        for loop in self._loops:
            loop.set_keys(key)

    def set_numbers(self, values: Mapping[str, float]) -> None:
        """Writes the floating-point scalars of a step."""
        for at, setting in self._settings:
            self._put_real(at, values[setting.name] * setting.factor)

    def run(self, start: int, stop: int) -> None:
        """Enqueues launches `start` to `stop`; a loop runs whole if its first launch is among them."""
        for section, loop in zip(self._sections, self._loops, strict=False):
            if start < section.last and section.first < stop:
                self._card.launch(self.rows[start : section.first])
                if start <= section.first:
                    self._card.launch(loop.rows)
                start = section.last
        self._card.launch(self.rows[start:stop])


def itemsizes(dtype: str, slots: Sequence[Slot]) -> list[int]:
    """Bytes per element of each array; 0 for other arguments."""
    return [
        np.dtype(dtype if slot.dtype == "real" else slot.dtype).itemsize if isinstance(slot, Ref) else 0
        for slot in slots
    ]


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
