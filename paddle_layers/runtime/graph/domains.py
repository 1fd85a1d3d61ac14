"""Row domains: the rows of a value. Row counts are only known when data are fed; the plan is made before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from paddle_layers.define import Type


@dataclass(eq=False)
class Domain:
    """Rows of a batch: the samples, or the rows of sequences, which are grouped by the rows of `parent`."""

    name: str
    parent: Domain | None = None
    capacity: int = 0
    """Number of rows with reserved memory."""
    late: bool = False
    """Whether an operation creates the rows from values that are only known during a pass."""
    chosen_rows: int = 0
    """Row count for kernel selection; 0: the capacity."""
    chunk: bool = False
    """Whether these are the rows of a chunk of a batch, in memory that all chunks share: always the capacity."""

    def ancestors(self) -> list[Domain]:
        """The domains that group this one, innermost first."""
        found, domain = [], self.parent
        while domain is not None:
            found.append(domain)
            domain = domain.parent
        return found

    @property
    def level(self) -> int:
        """Sequence level of values with these rows."""
        return len(self.ancestors())

    def reserve(self, rows: int) -> bool:
        """Reserves memory for so many rows; the capacity grows geometrically. True if it grew."""
        if rows <= self.capacity:
            return False
        # The first batch exactly, since most trainings never see a larger one; then by half as much again, so that
        # slowly growing batches do not plan each time.
        self.capacity = rows if self.capacity == 0 else max(rows, self.capacity * 3 // 2)
        return True


RowsOf = Callable[[Domain], int]
"""Number of rows of a domain: at capacity, in a batch, or in a step."""


@dataclass(frozen=True)
class Extent:
    """A size that may depend on a domain: `rows * factor + extra`, or `extra` alone."""

    extra: int = 0
    domain: Domain | None = field(default=None)
    factor: int = 0

    @property
    def capacity(self) -> int:
        """The size at the domain's capacity."""
        return self.extra + (self.domain.capacity * self.factor if self.domain else 0)

    def __mul__(self, times: int) -> Extent:
        return Extent(self.extra * times, self.domain, self.factor * times)

    def at(self, rows: RowsOf) -> int:
        """The size for a number of rows."""
        return self.extra + (rows(self.domain) * self.factor if self.domain else 0)


@dataclass(frozen=True, kw_only=True)
class ScratchSize(Extent):
    """Size of a scratch buffer: `extra` elements are allocated, a batch uses as many as its rows need.

    A kernel divides its scratch buffer among its work items, and a batch below capacity may have fewer of them.
    """

    needed: Callable[[RowsOf], int]
    """Elements for a number of rows."""
    domains: tuple[Domain, ...]
    """The domains of these rows."""

    def __mul__(self, times: int) -> Extent:
        return self if times == 1 else super().__mul__(times)

    def at(self, rows: RowsOf) -> int:
        """Elements for a number of rows, at most the allocated ones."""
        return min(self.needed(rows), self.extra)


def rows_of(domain: Domain, factor: int = 1, extra: int = 0) -> Extent:
    """`rows * factor + extra`."""
    return Extent(extra, domain, factor)


def capacity_of(domain: Domain) -> int:
    """Rows at capacity."""
    return domain.capacity


LATE_ROWS = 1 << 20
"""Row count for kernel selection where rows are created during the pass: no kernel for few rows may run."""


def rounded_rows(domain: Domain, rows: int) -> int:
    """Row count for kernel selection: the next power of two, so that few selections have to be made."""
    # A kernel for few rows may be wrong for many, never the reverse.
    return LATE_ROWS if domain.late else 1 << max(rows - 1, 0).bit_length()


def chosen_rows_of(domain: Domain) -> int:
    """Row count for kernel selection; unlike the capacity, it does not depend on earlier batches."""
    return domain.chosen_rows or rounded_rows(domain, domain.capacity)


@dataclass(eq=False)
class Value:
    """An array with rows, as a node of the graph: an output of an operation, or a feed."""

    name: str
    type: Type
    domain: Domain
    entries: Domain | None = None
    """Domain of the entries of a sparse value."""
    points_to: Domain | None = None
    """For ids that are row indices: the domain of these rows."""
