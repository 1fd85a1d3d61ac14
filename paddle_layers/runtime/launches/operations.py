"""Roughly how many operations an element takes, by the text of its function: it decides what is cut for threads."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from paddle_layers.define.functions.program import Program

ROUNDS = 8
"""Rounds of a loop whose number is not known before it runs."""
ELEMENTARY = 16
"""Operations of a function such as `math.exp`, as vector code has it."""


def operations(program: Program, helpers: Mapping[str, Program], sizes: Mapping[str, int]) -> int:
    """Operations of the dearest place in a text, at least 1: rounds of the loops around it, times what is called there.

    `sizes` are those that loops may go to, by name.
    """
    dearest = 1
    stack: list[tuple[ast.AST, int]] = [(program.tree, 1)]
    while stack:
        node, rounds = stack.pop()
        if isinstance(node, (ast.For, ast.While)):
            rounds *= _rounds(node, sizes)
        dearest = max(dearest, rounds * _operations_of_call(node, helpers))
        stack += [(child, rounds) for child in ast.iter_child_nodes(node)]
    return dearest


def _rounds(loop: ast.For | ast.While, sizes: Mapping[str, int]) -> int:
    """Rounds of a loop over all of a size; of any other loop a guess."""
    if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call) and len(loop.iter.args) == 1:
        end = loop.iter.args[0]
        if isinstance(end, ast.Name):
            return max(sizes.get(end.id, ROUNDS), 1)
    return ROUNDS


def _operations_of_call(node: ast.AST, helpers: Mapping[str, Program]) -> int:
    if not isinstance(node, ast.Call):
        return 1
    if isinstance(node.func, ast.Name) and node.func.id in helpers:
        return operations(helpers[node.func.id], helpers, {})
    return ELEMENTARY if isinstance(node.func, ast.Attribute) else 1
