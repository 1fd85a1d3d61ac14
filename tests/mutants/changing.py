"""From a function's tree to its mutants: every change of every kind at every node."""

from __future__ import annotations

import ast
import copy
import difflib
from collections.abc import Iterator
from typing import NamedTuple

from .kinds import KINDS


class Changed(NamedTuple):
    """A function's tree with one change."""

    kind: str
    line: int
    """Line of the change in the function's own text, from 1."""
    tree: ast.FunctionDef
    removed: tuple[str, ...]
    added: tuple[str, ...]
    """Lines of the text before the change that are not in the text after it, and the other way round."""

    @property
    def diff(self) -> str:
        """The lines that differ."""
        return "\n".join([*(f"- {line}" for line in self.removed), *(f"+ {line}" for line in self.added)])


class Site(NamedTuple):
    """A node of a tree, and what may stand in its place."""

    kind: str
    node: ast.AST
    other: ast.AST


def sites(tree: ast.FunctionDef) -> Iterator[Site]:
    """Every change of every kind at every node."""
    counting = _counting(tree)
    for node in ast.walk(ast.Module(tree.body, [])):
        for kind, change in KINDS.items():
            if kind != "constant" or id(node) not in counting:  # else it is an index off by one
                yield from (Site(kind, node, other) for other in change(node))


def changed_at(tree: ast.FunctionDef, site: Site) -> Changed | None:
    """The tree with the change, or None where its text stays the same."""
    mutant = replaced(tree, site.node, site.other)
    before, after = ast.unparse(tree), ast.unparse(mutant)
    if before == after:
        return None
    return Changed(site.kind, getattr(site.node, "lineno", 1), mutant, *different_lines(before, after))


def replaced(tree: ast.FunctionDef, node: ast.AST, other: ast.AST) -> ast.FunctionDef:
    """A copy of the tree with another node in the place of `node`."""

    class Replace(ast.NodeTransformer):
        def visit(self, found: ast.AST) -> ast.AST:
            if found is copies[id(node)]:
                return copy.deepcopy(other)
            self.generic_visit(found)
            return found

    copies: dict[int, ast.AST] = {}
    copied = copy.deepcopy(tree, copies)
    Replace().visit(copied)
    return ast.fix_missing_locations(copied)


def different_lines(before: str, after: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Lines that are only in the one, and only in the other."""
    lines = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    removed, added = ([line[2:].strip() for line in lines if line.startswith(sign)] for sign in ("- ", "+ "))
    return tuple(removed), tuple(added)


def _counting(tree: ast.AST) -> set[int]:
    """Nodes that are an index, or the end of a range."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            found |= {id(part) for part in (node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice])}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            found |= {id(argument) for argument in node.args}
    return found
