"""Steps of a recurrent group: its sequences in parallel, sorted by decreasing length, one row of each per step.

The rows of all steps are stored step after step. Since the longest sequences come first, the rows of a step and the
first rows of the previous step belong to the same sequences: no padding, and the previous value of row r is row r
there.
"""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import Type

from .domains import Domain, Value

Ints = NDArray[np.int64]


class Copies(NamedTuple):
    """A sequence that every step reads whole: its rows, those of its copies, and the row that each copies."""

    source: Domain
    domain: Domain
    copied: Value


class SparseRows(NamedTuple):
    """Fed sparse rows in the order of the steps, permuted by the host; `order` maps the rows."""

    source: Value
    made: Value
    order: Value


class StepLayout(NamedTuple):
    """The steps of a batch.

    A part consists of the steps in one step of the surrounding group; without one there is one part.
    """

    first: Ints
    """First row of each step."""
    last: Ints
    """One past the last row of each step."""
    parts: Ints
    """The first step of each part, and the number of steps."""
    sequences: Ints
    """The first sequence of each part."""

    @property
    def counts(self) -> Ints:
        """Rows of each step."""
        return self.last - self.first

    @property
    def is_first(self) -> NDArray[np.bool_]:
        """Whether a step is the first of its part."""
        return np.isin(np.arange(len(self.first)), self.parts[:-1])

    @property
    def following(self) -> Ints:
        """Rows of the following step in the same part; 0 after the last."""
        counts = np.append(self.counts[1:], 0)
        # The last step of a part is followed by the first one of another sequence.
        counts[self.parts[1:][np.diff(self.parts) > 0] - 1] = 0
        return counts

    @property
    def opening(self) -> Ints:
        """Rows of the first step of each part; 0 in a part without steps."""
        counts = np.append(self.counts, 0)[self.parts[:-1]]
        counts[np.diff(self.parts) == 0] = 0
        return counts


class Steps:
    """The rows of a recurrent group, computed for every batch.

    `items` are what a step takes one of from each of the `sequences`: rows, or sub-sequences with the rows `leaf`.
    """

    def __init__(self, name: str, leaf: Domain, *, reverse: bool) -> None:
        nested = leaf.level == 2
        self.name, self.reverse = name, reverse
        self.items = leaf.ancestors()[0] if nested else leaf
        self.sequences = self.items.ancestors()[0]
        self.leaf = leaf if nested else None
        self.outer: Steps | None = None
        """The group in whose steps this one runs anew."""
        self.inner: list[Steps] = []
        """The groups that run anew in the steps of this one."""
        late = self.items.late or leaf.late
        self.rows = Domain(f"rows of the steps of {name}", late=late)
        self.leaf_rows = Domain(f"rows of the sub-sequences in the steps of {name}", self.rows, late=late)
        self.longest_first = Domain(f"sequences of {name}, the longest first", late=late)
        self.opening = Domain(f"rows of the first step of {name}", late=late)
        self.following = Domain(f"rows of the next step of {name}", late=late)
        self.copies: list[Copies] = []
        self.sparse: list[SparseRows] = []
        self.place = self._index("place", self.items, self.rows)
        self.item = self._index("item", self.rows, self.items)
        self.sequence = self._index("sequence", self.rows, self.sequences)
        self.order = self._index("order", self.longest_first, self.sequences)
        self.rank = self._index("rank", self.sequences, self.longest_first)
        self.indices = [self.place, self.item, self.sequence, self.order, self.rank]
        if self.leaf is not None:
            self.leaf_place = self._index("leaf place", self.leaf, self.leaf_rows)
            self.leaf_item = self._index("leaf item", self.leaf_rows, self.leaf)
            self.indices += [self.leaf_place, self.leaf_item]

    def _index(self, what: str, domain: Domain, points_to: Domain) -> Value:
        return Value(f"{self.name} {what}", Type.ids(1, domain.level), domain, points_to=points_to)

    def copy(self, source: Domain) -> Copies:
        """Rows for whole sequences in each step."""
        domain = Domain(f"copies of {source.name} in the steps of {self.name}", self.rows)
        for made_late in (domain, *self.domains) if source.late else ():
            made_late.late = True
        domain.late = self.late
        made = Copies(source, domain, self._index(f"copy {len(self.copies)}", domain, source))
        self.copies.append(made)
        self.indices.append(made.copied)
        return made

    def take_sparse(self, source: Value, index: Value) -> Value:
        """Sparse rows in the order of the steps."""
        name = f"{self.name} sparse {len(self.sparse)}"
        type_ = Type(source.type.kind, source.type.dims, source.type.size, index.domain.level)
        made = Value(name, type_, index.domain, Domain(f"entries of {name}"))
        self.sparse.append(SparseRows(source, made, index))
        return made

    @property
    def domains(self) -> list[Domain]:
        """The domains that the group creates."""
        own = [self.rows, self.longest_first, self.opening, self.following, *(copy.domain for copy in self.copies)]
        own += [rows.made.entries for rows in self.sparse if rows.made.entries is not None]
        return [*own, self.leaf_rows] if self.leaf is not None else own

    @property
    def late(self) -> bool:
        """Whether the starts are only known during a pass."""
        return self.rows.late

    def is_ready(self, starts: Container[tuple[Domain, Domain]]) -> bool:
        """Whether the starts that the steps depend on are known."""
        pairs = [(self.items, self.sequences), *((copy.source, self.sequences) for copy in self.copies)]
        if self.leaf is not None:
            pairs.append((self.leaf, self.items))
        return all((rows, group) in starts for rows, group in pairs)

    def holds(self, domain: Domain) -> bool:
        """Whether each step has separate rows of a domain."""
        if domain in (self.rows, self.following):
            return True
        for group in self.inner:
            if domain in (group.rows, group.longest_first, group.opening):
                return True
        return any(self.holds(outermost) for outermost in domain.ancestors()[-1:])


class Chunks(Steps):
    """A loop over contiguous chunks of at most `size` rows; what only a chunk has are the rows `chunk`."""

    def __init__(self, rows: Domain, size: int) -> None:
        # Nothing of a group but what a loop needs: no rows are reordered.
        self.rows, self.size, self.outer, self.inner = rows, size, None, []
        self.chunk = Domain(f"chunk of {rows.name}", capacity=size, chunk=True)

    def layout(self, count: int) -> StepLayout:
        """The chunks of so many rows."""
        first = np.arange(0, count, self.size)
        return StepLayout(first, np.minimum(first + self.size, count), np.array([0, len(first)]), np.zeros(1, np.int64))
