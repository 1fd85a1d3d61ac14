"""The launches of a loop on the CPU, written out for the steps of a batch: one row for each launch in each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.devices.unrolling import Section, moved, sizes
from paddle_layers.runtime.graph.domains import Domain, Extent
from paddle_layers.runtime.graph.steps import Steps
from paddle_layers.runtime.schedule.arguments import Key, Lagged, Ref
from paddle_layers.runtime.schedule.launches import Launch

Ints = NDArray[np.int64]


class Arguments(NamedTuple):
    """The arguments of a launch, in the order of its row in the table."""

    refs: list[Ref]
    ints: list[Extent | Key]
    floats: int
    """Address of the real numbers, which no step changes."""
    body: int


class LoopTable:
    """Rows with the columns of `native.COLUMNS`, and the arrays to which they point."""

    def __init__(
        self,
        section: Section,
        launches: Sequence[Launch],
        arguments: Sequence[Arguments],
        address: Callable[[Ref], int],
        dtype: str,
    ) -> None:
        self._address, self._dtype = address, dtype
        at, step = section.program()
        self.rows = np.zeros((len(at), 6), np.int64)
        self.work = np.zeros(len(at))
        self._held: list[Ints] = []
        self._keys: list[tuple[Ints, str, Ints]] = []
        for place in range(section.first, section.last):
            entries = np.flatnonzero(at == place)
            if len(entries):
                group = section.loops[place - section.first][-1]
                self._write(launches[place], arguments[place], group, entries, step[entries])

    def _write(self, launch: Launch, arguments: Arguments, group: Steps, entries: Ints, step: Ints) -> None:
        pointers = np.zeros((len(entries), max(len(arguments.refs), 1)), np.int64)
        for column, ref in enumerate(arguments.refs):
            itemsize = np.dtype(self._dtype if ref.dtype == "real" else ref.dtype).itemsize
            pointers[:, column] = addresses(ref, group, self._address, itemsize)[step]
        ints = np.zeros((len(entries), max(len(arguments.ints), 1)), np.int64)
        for column, value in enumerate(arguments.ints):
            if isinstance(value, Key):
                self._keys.append((ints[:, column], value.op, step))
            else:
                ints[:, column] = sizes(value, group)[step]
        self._held += [pointers, ints]
        totals = items(launch, group)[step]
        self.rows[entries, 0], self.rows[entries, 1] = arguments.body, totals
        self.rows[entries, 3] = pointers.ctypes.data + np.arange(len(entries)) * pointers.strides[0]
        self.rows[entries, 4] = ints.ctypes.data + np.arange(len(entries)) * ints.strides[0]
        self.rows[entries, 5] = arguments.floats
        self.work[entries] = np.maximum(totals * launch.weight, launch.work * share(group)[step])

    def set_keys(self, key: Callable[[str], int]) -> None:
        """Draw the keys of random operations: each step has its own, the same on the way back."""
        for column, op, step in self._keys:
            column[:] = key(op) + step


def addresses(ref: Ref, group: Steps, address: Callable[[Ref], int], itemsize: int) -> Ints:
    """Where an array begins in each step."""
    begin = moved(ref, group)
    found: Ints = address(ref) + begin.elements * itemsize
    if begin.boot is None:
        return found
    assert isinstance(ref.owner, Lagged)
    assert ref.owner.boot is not None
    boot = address(ref._replace(owner=ref.owner.boot)) + begin.boot * itemsize
    return np.where(begin.boot >= 0, boot, found)


def items(launch: Launch, group: Steps) -> Ints:
    """Work items of a launch in each step."""
    if launch.items is None:
        return sizes(launch.total or Extent(), group)
    counts = np.stack([sizes(Extent(0, domain, 1), group) for domain in launch.domains])
    found, which = np.unique(counts, axis=1, return_inverse=True)
    places = {domain: place for place, domain in enumerate(launch.domains)}

    def of(column: Ints) -> int:
        def rows(domain: Domain) -> int:
            return int(column[places[domain]])

        return launch.items(rows) if launch.items is not None else 0

    return np.array([of(column) for column in found.T], np.int64)[which.reshape(-1)]


def share(group: Steps) -> NDArray[np.float64]:
    """How much of the room for the rows of all steps each step takes."""
    assert group.layout is not None
    return group.layout.counts / max(group.rows.capacity, 1)
