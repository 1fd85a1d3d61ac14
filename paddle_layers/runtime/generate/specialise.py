"""Specialization of point functions by constant folding: constants of the built network are folded into the source."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Hashable, Mapping
from types import CodeType, MappingProxyType
from typing import Any

from paddle_layers.define.functions import ir
from paddle_layers.define.functions.point_functions import HELPERS
from paddle_layers.define.functions.program import Program

_CASTS = ("real", "double")
_CONSTANTS = ("math.inf", "math.nan", "math.pi", "math.e")

_EXTREMES = {
    "max": Program.parse("def max(a, b):\n    return b if b > a or b != b else a"),
    "min": Program.parse("def min(a, b):\n    return b if b < a or b != b else a"),
}
"""Implementations of `max` and `min` in drivers: they propagate NaN on every device; the built-in ones do not
always.
"""


class _ConstantFolder(ast.NodeTransformer):
    """Folds absent inputs, phases and choices; keeps float literals in the precision of the tensors."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self.known = known

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.known and isinstance(node.ctx, ast.Load):
            return self.visit_Constant(ast.Constant(self.known[node.id]))
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        # A float literal is float64 for numba and would promote the whole expression.
        return _real(node) if isinstance(node.value, float) else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if ast.unparse(node) in _CONSTANTS:
            return _real(node)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        # Already in the precision that the author asked for.
        if ir.is_name(node.func, *_CASTS) and isinstance(node.args[0], ast.Constant):
            return node
        self.generic_visit(node)
        # Nested pairs: the replacements have two arguments.
        while ir.is_name(node.func, *_EXTREMES) and len(node.args) > 2:
            node.args[:2] = [ast.Call(node.func, node.args[:2], [])]
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) != 1:
            return node
        left, right, op = node.left, node.comparators[0], node.ops[0]
        if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
            folded = _compare(op, left.value, right.value)
            return node if folded is None else ast.Constant(folded)
        if isinstance(right, ast.Constant) and right.value is None:  # a value that exists
            return ast.Constant(isinstance(op, ast.IsNot))
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Constant):
            return ast.Constant(not node.operand.value)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        decisive = isinstance(node.op, ast.Or)
        kept: list[ast.expr] = []
        for value in node.values:
            if not isinstance(value, ast.Constant):
                kept.append(value)
            elif bool(value.value) is decisive:
                kept.append(value)
                break
        if not kept:
            return ast.Constant(not decisive)
        if len(kept) == 1:
            return kept[0]
        node.values = kept
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        return node

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        node.body = node.body or [ast.Pass()]
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node


def _real(node: ast.expr) -> ast.Call:
    return ast.Call(ir.load("real"), [node], [])


def _compare(op: ast.cmpop, left: Any, right: Any) -> bool | None:
    if isinstance(op, (ast.Is, ast.IsNot)):
        same = left is right or (isinstance(left, bool) and left == right)
        return same if isinstance(op, ast.Is) else not same
    if isinstance(op, (ast.Eq, ast.NotEq)):
        return bool((left == right) is isinstance(op, ast.Eq))
    if isinstance(op, (ast.In, ast.NotIn)):
        return bool((left in right) is isinstance(op, ast.In))
    return None


def specialise(program: Program, known: Mapping[str, Hashable], call: Callable[..., Any]) -> Program:
    """The program with the arguments in `known` and the module's constants folded in; dead code is eliminated.

    Arguments that are no longer read are removed, too.
    """
    return _specialised(program, tuple(known.items()), _numbers(call), all_arguments=False)


def _numbers(call: Callable[..., Any]) -> tuple[tuple[str, float], ...]:
    """Module constants that a function reads, with their current values."""
    scope = call.__globals__
    # Read at every call and part of the cache key, since a module may be reloaded with other constants.
    found = ((name, scope.get(name)) for name in ir.global_names(call.__code__))
    return tuple((n, value) for n, value in found if isinstance(value, (int, float)) and not isinstance(value, bool))


@functools.lru_cache(maxsize=1 << 14, typed=True)
def _specialised(
    program: Program,
    known: tuple[tuple[str, Hashable], ...],
    numbers: tuple[tuple[str, float], ...],
    *,
    all_arguments: bool,
) -> Program:
    folded = _ConstantFolder({**dict(numbers), **dict(known)}).visit(ir.copied(program.tree))
    body = _until_return(folded.body) or [ast.Pass()]
    read = program.arguments if all_arguments else ir.names_of(body)
    return program.rewritten(body, [name for name in program.arguments if name in read])


def _until_return(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements after an unconditional return are dead."""
    for at, statement in enumerate(body):
        if isinstance(statement, ast.Return):
            return body[: at + 1]
    return body


def helper_programs(
    call: Callable[..., Any], known: Mapping[str, Hashable] = MappingProxyType({})
) -> dict[str, Program]:
    """Specialized helpers of a point function, in order of definition before use; `known` replace module constants."""
    found: dict[str, Program] = {}

    def visit(function: Callable[..., Any]) -> None:
        for name in ir.global_names(function.__code__):
            if name in _EXTREMES and name not in found:
                found[name] = _EXTREMES[name]
            callee = function.__globals__.get(name)
            if callable(callee) and callee in HELPERS and callee is not function and name not in found:
                visit(callee)
                program = _parsed(callee, callee.__code__, name)
                found[name] = _specialised(program, tuple(known.items()), _numbers(callee), all_arguments=True)

    visit(call)
    return found


@functools.lru_cache(maxsize=1 << 12)
def _parsed(helper: Callable[..., Any], _code: CodeType, name: str) -> Program:
    """The AST of a helper, cached until its module is reloaded: `_code` is another object then."""
    return Program.of(helper).named(name)
