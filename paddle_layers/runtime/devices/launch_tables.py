"""Parts of the launch tables of all devices: sizes for the rows of a batch, and unrolled loops of recurrent groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.graph.domains import Domain, Extent, RowsOf, ScratchSize
from paddle_layers.runtime.graph.rows import Rows, StepRows
from paddle_layers.runtime.graph.steps import Steps
from paddle_layers.runtime.launches.arguments import Lagged, Ref
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.launches.step_launches import chain, loop_bounds

Ints = NDArray[np.int64]


class Sizes:
    """Extents of a table, written at once: `extra + rows * factor`."""

    def __init__(self, extents: Sequence[Extent]) -> None:
        moving = [(at, e) for at, e in enumerate(extents) if e.domain is not None]
        self.domains = list(dict.fromkeys(e.domain for _, e in moving if e.domain is not None))
        number: Mapping[Domain | None, int] = {domain: i for i, domain in enumerate(self.domains)}
        self.places = np.array([at for at, _ in moving], np.int64)
        self.which = np.array([number[e.domain] for _, e in moving], np.int64)
        self.factors = np.array([e.factor for _, e in moving], np.int64)
        self.extras = np.array([e.extra for _, e in moving], np.int64)
        self.fixed_places = np.array([at for at, e in enumerate(extents) if e.domain is None and e.extra], np.int64)
        self.fixed = np.array([e.extra for e in extents if e.domain is None and e.extra], np.int64)
        # Not linear in the rows, so they are evaluated one by one; there are few.
        self.scratch = [(at, e) for at, e in enumerate(extents) if isinstance(e, ScratchSize)]

    def write(self, table: NDArray[np.int64], rows: Rows) -> None:
        """Writes the sizes for the rows of a batch; entries without a size (keys) are unchanged."""
        table[self.fixed_places] = self.fixed
        if len(self.places):
            counts = np.array([rows.of(domain) for domain in self.domains], np.int64)
            table[self.places] = self.extras + counts[self.which] * self.factors
        for at, size in self.scratch:
            table[at] = size.at(rows.of)


@dataclass(frozen=True)
class Section:
    """Launches `first` to `last` of a table, which run repeatedly."""

    first: int
    last: int
    loops: tuple[tuple[Steps, ...], ...]
    """For each launch the surrounding groups, the outermost first."""
    backward: bool

    def program(self, rows: Rows) -> tuple[Ints, Ints]:
        """Launches in execution order, and the step of each in its innermost group."""
        layout = rows.layout(self.loops[0][0])
        return self._runs(rows, np.arange(self.first, self.last), 0, range(len(layout.first)))

    def _runs(self, rows: Rows, launches: Ints, depth: int, steps: Iterable[int]) -> tuple[Ints, Ints]:
        inner = [self._inner(launch, depth) for launch in launches]
        order = np.array(list(steps), np.int64)[:: -1 if self.backward else 1]
        if not any(inner):
            return np.tile(launches, len(order)), np.repeat(order, len(launches))
        parts = [part for step in order for part in self._one_step(rows, launches, inner, depth, int(step))]
        empty = np.zeros(0, np.int64)
        return np.concatenate([empty, *(r for r, _ in parts)]), np.concatenate([empty, *(s for _, s in parts)])

    def _one_step(
        self, rows: Rows, launches: Ints, inner: Sequence[Steps | None], depth: int, step: int
    ) -> Iterable[tuple[Ints, Ints]]:
        cuts = [at for at in range(1, len(launches)) if inner[at] is not inner[at - 1]]
        for first, last in zip([0, *cuts], [*cuts, len(launches)], strict=True):
            group, own = inner[first], launches[first:last]
            if group is None:
                yield own, np.full(len(own), step)
            else:
                begin, end = rows.layout(group).parts[step : step + 2]
                yield self._runs(rows, own, depth + 1, range(begin, end))

    def _inner(self, launch: int, depth: int) -> Steps | None:
        around = self.loops[launch - self.first]
        return around[depth + 1] if depth + 1 < len(around) else None


def sections_of(launches: Sequence[Launch]) -> list[Section]:
    """The loops of a table."""
    found = []
    for first, last in loop_bounds(launches):
        loops = [launch.loop for launch in launches[first:last] if launch.loop is not None]
        found.append(Section(first, last, tuple(tuple(chain(loop.steps)) for loop in loops), loops[0].backward))
    return found


class Moved(NamedTuple):
    """Offset of a step's part of an array, in elements from the start of the array, and of the boot values."""

    elements: Ints
    boot: Ints | None = None
    """For each step the index in the boot values; -1 if it is not the first."""


def moved(ref: Ref, steps: StepRows) -> Moved:
    """Offset of an array in each step: its first row; starts have one extra element per step."""
    rows = ref.shape[0]
    width = int(np.prod([size.extra for size in ref.shape[1:]], dtype=np.int64))
    count = len(steps.layout.first)
    if isinstance(ref.owner, Lagged):
        return _lagged(ref.owner, steps, rows.factor * width)
    found = steps.range_of(rows.domain) if rows.domain is not None else None
    if found is None:
        return Moved(np.zeros(count, np.int64))
    return Moved((found[0] * rows.factor + np.arange(count) * rows.extra) * width)


def _lagged(owner: Lagged, steps: StepRows, width: int) -> Moved:
    layout = steps.layout
    if owner.boot is None:
        return Moved(layout.last * width)
    before = np.append(0, layout.first)[:-1]
    parts = np.diff(layout.parts)
    sequences = np.repeat(layout.sequences, parts)
    return Moved(before * width, np.where(layout.is_first, sequences * width, -1))


def addresses(ref: Ref, group: StepRows, address: Callable[[Ref], int], itemsize: int) -> Ints:
    """Address of an array in each step."""
    begin = moved(ref, group)
    found: Ints = address(ref) + begin.elements * itemsize
    if begin.boot is None:
        return found
    assert isinstance(ref.owner, Lagged)
    assert ref.owner.boot is not None
    boot = address(ref._replace(owner=ref.owner.boot)) + begin.boot * itemsize
    return np.where(begin.boot >= 0, boot, found)


def items(launch: Launch, group: StepRows) -> Ints:
    """Work items of a launch in each step."""
    if launch.items is None:
        return group.sizes(launch.total or Extent())
    return _in_steps(launch.items, launch.domains, group)


def sizes(extent: Extent, group: StepRows) -> Ints:
    """An extent in each step."""
    if isinstance(extent, ScratchSize):
        return _in_steps(extent.at, extent.domains, group)
    return group.sizes(extent)


def _in_steps(number: Callable[[RowsOf], int], domains: Sequence[Domain], group: StepRows) -> Ints:
    """A number that follows from rows, in each step; computed once for steps with equal rows."""
    counts = np.stack([group.sizes(Extent(0, domain, 1)) for domain in domains])
    found, which = np.unique(counts, axis=1, return_inverse=True)
    places = {domain: place for place, domain in enumerate(domains)}

    def of(column: Ints) -> int:
        return number(lambda domain: int(column[places[domain]]))

    return np.array([of(column) for column in found.T], np.int64)[which.reshape(-1)]


def share(group: StepRows) -> NDArray[np.float64]:
    """Fraction of the capacity for the rows of all steps that each step uses."""
    return group.layout.counts / max(group.steps.rows.capacity, 1)
