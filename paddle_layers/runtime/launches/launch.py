"""Launch: code to be compiled, its arguments, the memory that it reads and writes, and its number of operations."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from paddle_layers.define.functions.ir import LOOPS, Range, callee, range_of
from paddle_layers.define.functions.point_functions import Function
from paddle_layers.define.functions.program import Program
from paddle_layers.runtime.generate.drivers import Kernel, TunedCall
from paddle_layers.runtime.graph.domains import Domain, Extent, RowsOf

from .arguments import Argument, with_owners
from .buffers import Buffer, Takeover

if TYPE_CHECKING:
    from paddle_layers.runtime.graph.steps import Steps


class Computation(NamedTuple):
    """A point function for all elements of its targets, as the layer defines it, whichever kernel implements it.

    Operation counts are based on it.
    """

    function: Function
    program: Program
    """Its specialized source."""
    sizes: Mapping[str, Extent]
    """Size of each index."""
    args: Mapping[str, Argument]
    accumulate: bool
    sequence: tuple[str, Domain, Domain] | None = None
    """The index of the sequence of a row, the rows and their groups; it is not an axis of the target.

    A scan may not request the index, which is empty then.
    """


class Loop(NamedTuple):
    """The steps of a recurrent group, or chunks of rows, in forward or reverse order."""

    steps: Steps
    backward: bool


@dataclass
class Launch:
    """A call of a driver, to be added to the plan's tables."""

    name: str
    op: str
    code: Kernel | TunedCall
    """Kernel from which a device's driver is generated."""
    args: list[Argument]
    total: Extent | None
    columns: int = 1
    """Elements of a work item of a point function."""
    items: Callable[[RowsOf], int] | None = None
    """Work items of a tuned kernel for a number of rows."""
    runs: Callable[[RowsOf], int] | None = None
    """For a tuned kernel: number of equal runs into which its items divide the target, or 0."""
    domains: tuple[Domain, ...] = ()
    """For a tuned kernel: domains that determine its work items."""
    weight: int = 1
    """Estimate of the operations of an item."""
    work: int = 0
    """Lower estimate of the operations of the whole launch, at the capacity of the domains."""
    reads: list[Buffer] = field(default_factory=list)
    writes: list[Buffer] = field(default_factory=list)
    """Including the scratch buffer; parameters and their gradients are not buffers."""
    takeovers: list[tuple[Buffer, Buffer]] = field(default_factory=list)
    loop: Loop | None = None
    """The steps in which it is repeated."""
    joins: bool = False
    """Whether it is fused with the previous launch, block by block."""
    fused: str = ""
    """Description: the launches that are fused, or why this one is not fused with the previous one."""
    computes: tuple[Computation, ...] = ()
    """The computation that it represents, for counting; a fused launch has several."""

    def mark(self, at: int) -> list[Takeover]:
        """Records the uses of buffers by this launch; returns the possible takeovers."""
        for buffer in (*self.reads, *self.writes):
            buffer.use(at)
        return [Takeover(at, giver, taker) for giver, taker in self.takeovers]

    def move(self, buffers: Mapping[Buffer, Buffer]) -> None:
        """Replaces buffers by others, matched by their roots; outside of loops only."""

        def moved(buffer: Buffer) -> Buffer:
            return buffers.get(buffer.root, buffer)

        self.args = [
            with_owners(value, lambda owner: moved(owner) if isinstance(owner, Buffer) else owner)
            for value in self.args
        ]
        self.reads, self.writes = [*map(moved, self.reads)], [*map(moved, self.writes)]
        self.takeovers = [(moved(giver), moved(taker)) for giver, taker in self.takeovers]


def buffers_of(launches: Sequence[Launch]) -> list[Buffer]:
    """All buffers of launches, each once."""
    # An ordered set: memory plans must not depend on hash values.
    return list(dict.fromkeys(b for launch in launches for b in (*launch.reads, *launch.writes)))


# Such loops mostly run over windows or filters; the estimate only decides between one thread and several.
ROUNDS = 8
"""Iterations of a loop whose number is unknown."""
# A branch-free polynomial with range reduction, see `primitives.elementary`.
ELEMENTARY = 16
"""Operations of a function such as `math.exp`, vectorized."""


def operations(program: Program, helpers: Mapping[str, Program], sizes: Mapping[str, int]) -> int:
    """Operations of the most expensive place in a program, at least 1.

    They are the iterations of the surrounding loops times its cost. `sizes` are the possible loop bounds, by name.
    """
    # The maximum and not the sum: the innermost loop dominates, and a sum over all statements would count short ones as
    # much.
    return max(
        math.prod(max(sizes.get(end, ROUNDS), 1) for end in ends)
        * (operations(helpers[called], helpers, {}) if called in helpers else other)
        for ends, called, other in _cost_terms(program)
    )


class _CostTerm(NamedTuple):
    """The cost of a node of a program inside loops."""

    ends: tuple[str, ...]
    """Name of the bound of each surrounding loop; empty if it is not a name."""
    called: str
    """The called function, possibly a helper, or empty."""
    other: int
    """Operations if it is not a helper."""


@functools.lru_cache(maxsize=1 << 12)
def _cost_terms(program: Program) -> frozenset[_CostTerm]:
    """All terms that differ."""
    found = set()
    stack: list[tuple[ast.AST, tuple[str, ...]]] = [(program.tree, ())]
    while stack:
        node, ends = stack.pop()
        if isinstance(node, LOOPS):
            ends = (*ends, _end(node))
        called = callee(node)
        found.add(_CostTerm(ends, called, ELEMENTARY if "." in called else 1))
        stack += [(child, ends) for child in ast.iter_child_nodes(node)]
    return frozenset(found)


def _end(loop: ast.AST) -> str:
    """Name of the size that bounds a loop from 0; empty for any other loop."""
    match range_of(loop):
        case Range(ast.Constant(0), ast.Name(end)):
            return end
    return ""
