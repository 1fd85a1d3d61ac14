"""Row domains: which rows a value has. Rows are only known when data are fed; the plan is made before."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(eq=False)
class Domain:
    """Rows of a batch: the samples, or the rows of sequences, which are grouped by the rows of `parent`."""

    name: str
    parent: Domain | None = None
    capacity: int = 0
    """Rows for which there is memory."""
    late: bool = False
    """Whether an operation makes the rows from what is known in the middle of a pass only."""

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
        """Have memory for so many rows; the capacity grows geometrically. True when it grew."""
        if rows <= self.capacity:
            return False
        self.capacity = rows if self.capacity == 0 else max(rows, self.capacity * 3 // 2)
        return True


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


def rows_of(domain: Domain, factor: int = 1, extra: int = 0) -> Extent:
    """`rows * factor + extra`."""
    return Extent(extra, domain, factor)


def capacity_of(domain: Domain) -> int:
    """Rows at capacity."""
    return domain.capacity
