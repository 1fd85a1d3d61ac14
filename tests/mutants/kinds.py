"""Kinds of changes: each is a function that gives what may stand in the place of a node of a function's tree."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any

Change = Callable[[ast.AST], Iterator[ast.AST]]

_OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult},
    **{ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.LShift: ast.RShift, ast.RShift: ast.LShift},
    **{ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And},
}
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    **{ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt)},
    **{ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,)},
}
_FUNCTIONS = {"min": "max", "max": "min", "floor": "ceil", "ceil": "floor"}
_SYMMETRIC = {"min", "max", "range"}
"""Calls whose arguments may be exchanged, or whose exchange is no point function any more."""


def changed(node: ast.AST, **fields: Any) -> ast.AST:
    """A copy of a node with other fields."""
    copied = copy.copy(node)
    for name, value in fields.items():
        setattr(copied, name, value)
    return copied


def operator(node: ast.AST) -> Iterator[ast.AST]:
    """Another operator; `max` for `min`; no sign, no `not`."""
    if isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp)) and type(node.op) in _OPERATORS:
        yield changed(node, op=_OPERATORS[type(node.op)]())
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
        yield changed(node, func=ast.Name(_FUNCTIONS[node.func.id], ast.Load()))
    elif isinstance(node, ast.Attribute) and node.attr in _FUNCTIONS:
        yield changed(node, attr=_FUNCTIONS[node.attr])


def constant(node: ast.AST) -> Iterator[ast.AST]:
    """One more than a whole number, twice a real one, 1 for 0, the other truth value."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        value = node.value
        other = not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else 2 * value or 1.0
        yield changed(node, value=other)


def comparison(node: ast.AST) -> Iterator[ast.AST]:
    """With the limit for without it, and the opposite; whether something is given is not asked the other way round."""
    if isinstance(node, ast.Compare):
        for at, op in enumerate(node.ops):
            for other in _COMPARISONS.get(type(op), ()):
                yield changed(node, ops=[*node.ops[:at], other(), *node.ops[at + 1 :]])


def index(node: ast.AST) -> Iterator[ast.AST]:
    """An index, or the end of a range, off by one to either side."""
    if isinstance(node, ast.Subscript) and not isinstance(node.value, ast.Attribute):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for at, part in enumerate(parts):
            for other in _off_by_one(part):
                several = [*parts[:at], other, *parts[at + 1 :]]
                yield changed(node, slice=ast.Tuple(several, ast.Load()) if len(parts) > 1 else other)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        for at, argument in enumerate(node.args[:2]):
            for other in _off_by_one(argument):
                yield changed(node, args=[*node.args[:at], other, *node.args[at + 1 :]])


def _off_by_one(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.Constant):
        yield ast.Constant(node.value + 1)
    else:
        yield from (ast.BinOp(node, op, ast.Constant(1)) for op in (ast.Add(), ast.Sub()))


def term(node: ast.AST) -> Iterator[ast.AST]:
    """Without a term, a factor, a condition, a bound, a statement that adds up, or a branch."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
        yield node.left
        if not isinstance(node.op, ast.Div):
            yield ast.UnaryOp(ast.USub(), node.right) if isinstance(node.op, ast.Sub) else node.right
    elif isinstance(node, ast.BoolOp):
        for at in range(len(node.values)):
            rest = [*node.values[:at], *node.values[at + 1 :]]
            yield changed(node, values=rest) if len(rest) > 1 else rest[0]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("min", "max"):
        yield from node.args
    elif isinstance(node, ast.AugAssign):
        yield ast.Pass()
    elif isinstance(node, ast.If):
        yield changed(node, test=ast.Constant(False))
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)


def exchange(node: ast.AST) -> Iterator[ast.AST]:
    """Two operands, arguments, indices, branches or results in each other's place."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)):
        yield changed(node, left=node.right, right=node.left)
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") not in _SYMMETRIC:
        yield from (changed(node, args=args) for args in _exchanged(node.args))
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        yield from (changed(node, slice=changed(node.slice, elts=elts)) for elts in _exchanged(node.slice.elts))
    elif isinstance(node, (ast.If, ast.IfExp)) and node.orelse:
        yield changed(node, body=node.orelse, orelse=node.body)
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        yield from (changed(node, value=changed(node.value, elts=elts)) for elts in _exchanged(node.value.elts))


def _exchanged(items: list[Any]) -> Iterator[list[Any]]:
    for at in range(len(items) - 1):
        yield [*items[:at], items[at + 1], items[at], *items[at + 2 :]]


KINDS: dict[str, Change] = {
    "operator": operator,
    "constant": constant,
    "comparison": comparison,
    "index": index,
    "term": term,
    "exchange": exchange,
}
