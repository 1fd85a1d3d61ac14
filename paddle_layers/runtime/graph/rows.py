"""Row metadata of a batch: row counts, sequence starts, rows per step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .domains import Domain, Extent
from .steps import Chunks, StepLayout, Steps

Ints = NDArray[np.int64]
Starts = dict[tuple[Domain, Domain], Ints]
"""Sequence starts by the domain of the rows and that of their groups."""


@dataclass(eq=False)
class Rows:
    """The rows of a batch. Graphs and plans are independent of them: a batch is bound to a plan."""

    counts: dict[Domain, int] = field(default_factory=dict)
    starts: Starts = field(default_factory=dict)
    layouts: dict[Steps, StepLayout] = field(default_factory=dict)
    """The steps of recurrent groups."""
    ids: dict[Domain, Ints] = field(default_factory=dict)
    """For rows that represent used ids: these ids, in increasing order. They are known at the beginning of the backward
    pass.
    """
    whole: dict[Domain, float] = field(default_factory=dict)
    """Rows of the batch of which these are a part, where other processes have the rest."""

    def layout(self, loop: Steps) -> StepLayout:
        """The steps of a loop."""
        return loop.layout(self.of(loop.rows)) if isinstance(loop, Chunks) else self.layouts[loop]

    def of(self, domain: Domain) -> int:
        """Number of rows of a domain; 0 before it is known."""
        return self.counts.get(domain, domain.capacity if domain.chunk else 0)

    def size(self, extent: Extent) -> int:
        """An extent as a number."""
        return extent.extra + (self.of(extent.domain) * extent.factor if extent.domain is not None else 0)


class StepRows(NamedTuple):
    """The rows of a batch in the steps of a loop."""

    rows: Rows
    steps: Steps

    @property
    def layout(self) -> StepLayout:
        """Rows per step."""
        return self.rows.layout(self.steps)

    def range_of(self, domain: Domain) -> tuple[Ints, Ints] | None:
        """First row and one past the last of each step in a domain; `None` for a domain outside of the group."""
        layout = self.layout
        if domain is self.steps.rows:
            return layout.first, layout.last
        if isinstance(self.steps, Chunks):
            return (np.zeros_like(layout.first), layout.counts) if domain is self.steps.chunk else None
        if domain is self.steps.following:
            return np.zeros_like(layout.first), layout.following
        for group in self.steps.inner:
            if domain is group.opening:
                return np.zeros_like(layout.first), self.rows.layouts[group].opening
            if domain in (group.rows, group.longest_first):
                return self.range_of(group.items if domain is group.rows else group.sequences)
        # Rows within a sequence of the step: their range follows from the starts.
        for outermost in domain.ancestors()[-1:]:
            around = self.range_of(outermost)
            if around is not None:
                starts = self.rows.starts[domain, outermost]
                return starts[around[0]], starts[around[1]]
        return None

    def sizes(self, extent: Extent) -> Ints:
        """An extent in each step."""
        found = self.range_of(extent.domain) if extent.domain is not None else None
        if found is None:
            return np.full(len(self.layout.first), self.rows.size(extent))
        return extent.extra + (found[1] - found[0]) * extent.factor
