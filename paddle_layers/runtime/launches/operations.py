"""Roughly how many operations an element takes, by the text of its function: it decides what is cut for threads."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Mapping
from typing import NamedTuple

from paddle_layers.define.functions.program import Program

ROUNDS = 8
"""Rounds of a loop whose number is not known before it runs."""
ELEMENTARY = 16
"""Operations of a function such as `math.exp`, as vector code has it."""


def operations(program: Program, helpers: Mapping[str, Program], sizes: Mapping[str, int]) -> int:
    """Operations of the dearest place in a text, at least 1: rounds of the loops around it, times what is called there.

    `sizes` are those that loops may go to, by name.
    """
    return max(
        math.prod(max(sizes.get(end, ROUNDS), 1) for end in ends)
        * (operations(helpers[called], helpers, {}) if called in helpers else other)
        for ends, called, other in _places(program)
    )


class _Place(NamedTuple):
    """A place in a text, within loops."""

    ends: tuple[str, ...]
    """Of each loop around it the name of how far it goes; empty where no name stands there."""
    called: str
    """The function that is called there, a helper maybe, or empty."""
    other: int
    """Operations where it is no helper."""


@functools.lru_cache(maxsize=1 << 12)
def _places(program: Program) -> frozenset[_Place]:
    """All that differ in what they say of the operations."""
    found = set()
    stack: list[tuple[ast.AST, tuple[str, ...]]] = [(program.tree, ())]
    while stack:
        node, ends = stack.pop()
        if isinstance(node, (ast.For, ast.While)):
            ends = (*ends, _end(node))
        call = node.func if isinstance(node, ast.Call) else None
        called = call.id if isinstance(call, ast.Name) else ""
        found.add(_Place(ends, called, ELEMENTARY if isinstance(call, ast.Attribute) else 1))
        stack += [(child, ends) for child in ast.iter_child_nodes(node)]
    return frozenset(found)


def _end(loop: ast.For | ast.While) -> str:
    """The name of the size that a loop goes through; empty for any other loop."""
    if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call) and len(loop.iter.args) == 1:
        end = loop.iter.args[0]
        if isinstance(end, ast.Name):
            return end.id
    return ""
