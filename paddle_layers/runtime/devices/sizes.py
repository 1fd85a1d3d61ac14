"""Sizes in a launch table that depend on the rows of a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.graph.domains import Domain, Extent, ScratchSize
from paddle_layers.runtime.graph.rows import Rows


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
