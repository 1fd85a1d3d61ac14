"""Common subexpressions across elements: a definition computes them for each element, an efficient kernel once.

The score of a query and a key in attention is written for each column of the output, and depends on the head alone. An
operation is counted once for all elements that agree in everything that it depends on.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from paddle_layers.define.functions.program import Program

Names = frozenset[str]
NOTHING: Names = frozenset()


class Dependences(NamedTuple):
    """The indices of an element that the names of a function depend on."""

    names: Mapping[str, Names]
    """By name: indices, and groups of them."""
    groups: Mapping[str, str]
    """Names of the form `h = e // width`, and sequences of rows, each with its index: equal for neighbors."""

    def of(self, node: ast.AST) -> Names:
        """Indices and groups that an expression depends on."""
        used = (part.id for part in ast.walk(node) if isinstance(part, ast.Name))
        return NOTHING.union(*(self.names.get(name, NOTHING) for name in used))


@functools.lru_cache(maxsize=1 << 10)
def dependences(
    program: Program, indices: tuple[tuple[str, str], ...], sequences: tuple[tuple[str, str], ...]
) -> Dependences:
    """The dependences of a function.

    `indices` are its indices, each with the one that it follows from; `sequences` those that group rows.
    """
    assignments = list(_assignments(program.tree.body, []))
    groups = dict(sequences)
    names = {name: frozenset({root}) for name, root in indices} | {name: frozenset({name}) for name in groups}
    for target, sources in assignments:
        index = _grouped(sources[0])
        if index in names and index not in groups and sum(other == target for other, _ in assignments) == 1:
            groups[target] = next(iter(names[index]))
            names[target] = frozenset({target})
    found = Dependences(names, groups)
    # A fixed point, as a name may depend on one that is assigned later in a loop.
    before = None
    while before != names:
        before = dict(names)
        for target, sources in assignments:
            if target not in groups:
                names[target] = names.get(target, NOTHING).union(*map(found.of, sources))
    return found


def _grouped(node: ast.AST) -> str:
    """The index that an expression divides into groups, or an empty string."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv) and isinstance(node.left, ast.Name):
        return node.left.id
    return ""


def _assignments(body: Iterable[ast.stmt], around: list[ast.AST]) -> Iterator[tuple[str, list[ast.AST]]]:
    """Assigned names, each with its value and the conditions and loops of the assignment."""
    for node in body:
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                    yield target.value.id, [node.value, target.slice, *around]
                for part in ast.walk(target):
                    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                        yield part.id, [node.value, *around]
        elif isinstance(node, ast.For):
            inside = [*around, node.iter]
            yield from ((part.id, inside) for part in ast.walk(node.target) if isinstance(part, ast.Name))
            yield from _assignments(node.body, inside)
        elif isinstance(node, (ast.While, ast.If)):
            yield from _assignments(node.body, [*around, node.test])
            yield from _assignments(node.orelse, [*around, node.test])
