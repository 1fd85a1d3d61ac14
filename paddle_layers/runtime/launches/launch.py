"""One launch: what is to be compiled, its arguments, and the memory that it reads and writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from paddle_layers.runtime.generate.drivers import Kernel, TunedCall
from paddle_layers.runtime.graph.domains import Domain, Extent, RowsOf

from .arguments import Argument, with_owners
from .buffers import Buffer, Takeover
from .computation import Computation

if TYPE_CHECKING:
    from paddle_layers.runtime.graph.steps import Steps


class Loop(NamedTuple):
    """The steps of a recurrent group, from the first to the last or back."""

    steps: Steps
    backward: bool


@dataclass
class Launch:
    """A call of a driver, to be put into the plan's tables."""

    name: str
    op: str
    code: Kernel | TunedCall
    """What the driver of a device is made from."""
    args: list[Argument]
    total: Extent | None
    columns: int = 1
    """Elements of a work item of a point function."""
    items: Callable[[RowsOf], int] | None = None
    """Work items of a tuned kernel for given rows."""
    runs: Callable[[RowsOf], int] | None = None
    """Of a tuned kernel: into how many equal runs its items cut the target, or 0."""
    domains: tuple[Domain, ...] = ()
    """Of a tuned kernel: whose rows decide."""
    weight: int = 1
    """Guess at the operations of an item."""
    work: int = 0
    """Guess at the operations of the whole launch, at the capacity of the domains, from below."""
    reads: list[Buffer] = field(default_factory=list)
    writes: list[Buffer] = field(default_factory=list)
    """Scratch memory too; parameters and their gradients are no buffers."""
    takeovers: list[tuple[Buffer, Buffer]] = field(default_factory=list)
    loop: Loop | None = None
    """The steps in which it runs again and again."""
    joins: bool = False
    """Whether it runs block by block with the launch before it."""
    fused: str = ""
    """In words: the launches that run block by block together, or why this one does not with the one before."""
    computes: tuple[Computation, ...] = ()
    """What it stands for, to be counted; a launch that does the work of several has theirs."""

    def mark(self, at: int) -> list[Takeover]:
        """Note the uses of buffers by this launch; gives the possible takeovers."""
        for buffer in (*self.reads, *self.writes):
            buffer.use(at)
        return [Takeover(at, giver, taker) for giver, taker in self.takeovers]

    def move(self, buffers: Mapping[Buffer, Buffer]) -> None:
        """Use other buffers in place of those whose memory is, by its root, that of these; outside of loops only."""

        def moved(buffer: Buffer) -> Buffer:
            return buffers.get(buffer.root, buffer)

        self.args = [
            with_owners(value, lambda owner: moved(owner) if isinstance(owner, Buffer) else owner)
            for value in self.args
        ]
        self.reads, self.writes = [*map(moved, self.reads)], [*map(moved, self.writes)]
        self.takeovers = [(moved(giver), moved(taker)) for giver, taker in self.takeovers]


def buffers_of(launches: Sequence[Launch]) -> list[Buffer]:
    """All buffers that launches use, each once."""
    return list(dict.fromkeys(b for launch in launches for b in (*launch.reads, *launch.writes)))
