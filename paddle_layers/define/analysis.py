"""What the text of a point function says: which tensors it reads, and where."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence
from weakref import WeakKeyDictionary


def parse_function(source: str) -> ast.FunctionDef:
    """Parse one function; its decorators, docstring and annotations are dropped."""
    node = ast.parse(textwrap.dedent(source)).body[0]
    assert isinstance(node, ast.FunctionDef)
    node.decorator_list, node.returns = [], None
    for argument in node.args.args:
        argument.annotation = None
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        node.body = node.body[1:]
    return node


_USES: WeakKeyDictionary[ast.AST, dict[str, list[ast.Name]]] = WeakKeyDictionary()
"""What was found in a tree; bodies of trees are never changed, only copied."""


def _value_uses(tree: ast.AST, name: str) -> Sequence[ast.Name]:
    """Nodes that use the values of `name`: `x.shape` and `len(x)` don't."""
    found = _USES.get(tree)
    if found is None:
        found = _USES[tree] = _find_uses(tree)
    return found.get(name, ())


def _find_uses(tree: ast.AST) -> dict[str, list[ast.Name]]:
    shape_only: set[int] = set()
    names: list[ast.Name] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "shape":
            shape_only |= {id(inner) for inner in ast.walk(node.value)}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
            shape_only |= {id(argument) for argument in node.args}
        elif isinstance(node, ast.Name):
            names.append(node)
    found: dict[str, list[ast.Name]] = {}
    for node in names:
        if id(node) not in shape_only:
            found.setdefault(node.id, []).append(node)
    return found


def reads(tree: ast.AST, name: str) -> bool:
    """Whether values of the tensor `name` are read."""
    return bool(_value_uses(tree, name))


def mentions(tree: ast.AST, name: str) -> bool:
    """Whether `name` occurs at all outside the argument list."""
    body = tree.body if isinstance(tree, ast.FunctionDef) else [tree]
    return any(isinstance(node, ast.Name) and node.id == name for part in body for node in ast.walk(part))


def reads_own_element(tree: ast.AST, name: str, indices: Sequence[str]) -> bool:
    """Whether `name` is read at the element's own indices only, so that the result may take its place."""
    own: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == name:
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if [part.id if isinstance(part, ast.Name) else None for part in parts] == list(indices):
                own.add(id(node.value))
    assigned = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return not assigned & set(indices) and all(id(node) in own for node in _value_uses(tree, name))


def bare_subscripts(tree: ast.AST, indices: Sequence[str]) -> bool:
    """Whether the indices occur as bare subscripts only; then they may be unsigned, and loops vectorise."""
    bare: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            bare |= {id(part) for part in parts}
    return all(id(node) in bare for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in indices)


def depth_of_loops(tree: ast.AST) -> int:
    """How many loops are nested at most: a guess at the work of an element."""
    deepest, stack = 0, [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        depth += isinstance(node, (ast.For, ast.While))
        deepest = max(deepest, depth)
        stack += [(child, depth) for child in ast.iter_child_nodes(node)]
    return deepest
