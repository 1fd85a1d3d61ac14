"""Operation estimates per element from the source of a function, which determine how launches are split for threads."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Mapping
from typing import NamedTuple

from paddle_layers.define.functions.program import Program

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
        if isinstance(node, (ast.For, ast.While)):
            ends = (*ends, _end(node))
        call = node.func if isinstance(node, ast.Call) else None
        called = call.id if isinstance(call, ast.Name) else ""
        found.add(_CostTerm(ends, called, ELEMENTARY if isinstance(call, ast.Attribute) else 1))
        stack += [(child, ends) for child in ast.iter_child_nodes(node)]
    return frozenset(found)


def _end(loop: ast.For | ast.While) -> str:
    """Name of the size that bounds a loop; empty for any other loop."""
    if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call) and len(loop.iter.args) == 1:
        end = loop.iter.args[0]
        if isinstance(end, ast.Name):
            return end.id
    return ""
