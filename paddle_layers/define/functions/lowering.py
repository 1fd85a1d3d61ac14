"""Lowering: constructs that only authors write become loops, so that no pass has to know them.

`sum(x[n, c] for c in range(C))` becomes a loop that adds to a name which is assigned before the statement; `max` and
`min` likewise. A new construct that can be expressed by others is a function of this file, and nothing else.
"""

from __future__ import annotations

import ast
import math
from typing import Any

from ..errors import DefinitionError
from . import ir

_STARTS = {"sum": ("total", 0.0), "max": ("best", -math.inf), "min": ("best", math.inf)}
"""Reductions: the name of the accumulator, and its first value, the result of an empty range."""
_SCOPES = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.FunctionDef)


def lowered(tree: ast.FunctionDef, place: tuple[str, int] | None) -> ast.FunctionDef:
    """The function in constructs that every pass knows; the tree is changed. Raises `DefinitionError`."""
    if any(ir.all_of(tree, ast.GeneratorExp)):
        lowering = _Lowering(tree, place)
        tree.body = lowering.block(tree.body)
    return tree


class _Lowering(ast.NodeTransformer):
    """Moves reductions out of expressions: `before` are the statements that compute those of the current one."""

    def __init__(self, tree: ast.FunctionDef, place: tuple[str, int] | None) -> None:
        self.name, self.place = tree.name, place
        arguments = {argument.arg for argument in tree.args.args}
        self.bound = arguments | _names_outside_loops(tree)
        """Names that have a value here, so that no loop may be over them."""
        self.taken = arguments | ir.names_of(tree)
        self.before: list[ast.stmt] = []
        self.reason = ""
        """Why a reduction cannot be computed before the statement."""

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Statements without reductions, each after those that compute its own."""
        return [new for statement in body for new in self._statement(statement)]

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        outer, self.before = self.before, []
        found = [statement]
        variables = ir.stores_of(ir.targets_of(statement)) - self.bound if isinstance(statement, ast.For) else set()
        self.bound |= variables
        for block in ir.blocks_of(statement):
            block[:] = self.block(block)
        self.bound -= variables
        match statement:
            case ast.Assign([ast.Name(name)], ast.Call() as call) if _is_reduction(call, other_than=name):
                found = self._reduction(call, name)
            case ast.While():
                statement.test = self._unless("the condition of `while`, which is evaluated again", statement.test)
            case _:
                self.generic_visit(statement)
        before, self.before = self.before, outer
        return [*before, *found]

    def _unless(self, reason: str, node: ast.expr) -> ast.expr:
        """The expression; reductions in it are an error if there is a reason."""
        outer, self.reason = self.reason, reason or self.reason
        new: ast.expr = self.visit(node)
        self.reason = outer
        return new

    def visit(self, node: ast.AST) -> Any:
        """Visit a node; what is inside of another scope cannot be computed outside of it."""
        if not isinstance(node, _SCOPES):
            return super().visit(node)
        outer, self.reason = self.reason, "a comprehension or a nested function, whose variables it may read"
        self.generic_visit(node)
        self.reason = outer
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        node.test = self.visit(node.test)
        reason = "a branch of a conditional expression, which is not always evaluated"
        node.body, node.orelse = self._unless(reason, node.body), self._unless(reason, node.orelse)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        reason = "an operand of `and` or `or`, which is not always evaluated"
        node.values = [self.visit(node.values[0]), *(self._unless(reason, value) for value in node.values[1:])]
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        reason = "a chained comparison, whose later operands are not always evaluated"
        node.left, first, rest = self.visit(node.left), self.visit(node.comparators[0]), node.comparators[1:]
        node.comparators = [first, *(self._unless(reason, value) for value in rest)]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if not _is_reduction(node):
            return self.generic_visit(node)
        name = ir.free_name(_STARTS[ir.callee(node)][0], self.taken)
        self.before += self._reduction(node, name)
        return ast.copy_location(ir.load(name), node)

    def _reduction(self, node: ast.Call, name: str) -> list[ast.stmt]:
        """Statements that compute a reduction."""
        kind, given = ir.callee(node), [*node.args[1:], *(keyword.value for keyword in node.keywords)]
        if self.reason:
            remedy = "write an `if` statement, or assign the result before"
            raise self._error(node, f"`{kind}` over a range in {self.reason}; {remedy}")
        if len(given) > (kind == "sum"):
            raise self._error(node, f"`{kind}` over a range has no other argument; of an empty one it is infinite")
        start = self.visit(given[0]) if given else ast.Constant(_STARTS[kind][1])
        generator = node.args[0]
        assert isinstance(generator, ast.GeneratorExp)
        term, loops = self._renamed(generator)
        variables = ir.stores_of(loop.target for loop in loops) - self.bound
        self.bound |= variables
        added: ast.stmt = ast.AugAssign(ast.Name(name, ast.Store()), ast.Add(), term)
        if kind != "sum":
            added = ir.assign(name, ast.Call(node.func, [ir.load(name), term], []))
        body = self._statement(added)
        for loop in reversed(loops):
            for test in reversed(loop.ifs):
                body = self._statement(ast.If(test, body, []))
            body = self._statement(ast.For(loop.target, loop.iter, body, []))
        self.bound -= variables
        lines = [ir.assign(name, start), *body]
        return [ast.fix_missing_locations(ast.copy_location(line, node)) for line in lines]

    def _renamed(self, node: ast.GeneratorExp) -> tuple[ast.expr, list[ast.comprehension]]:
        """The term and the loops; a variable with the name of another one gets a free one."""
        names: dict[str, str] = {}
        loops: list[ast.comprehension] = []
        for loop in node.generators:
            values = ir.copied(loop.iter, names)
            for name in ir.stores_of(loop.target) & self.bound:
                names[name] = ir.free_name(name, self.taken)
            loops.append(ast.comprehension(ir.copied(loop.target, names), values, ir.copied(loop.ifs, names), 0))
        return ir.copied(node.elt, names), loops

    def _error(self, node: ast.AST, message: str) -> DefinitionError:
        file, line = self.place or ("", 1)
        return DefinitionError(f"{self.name}: {message}", file, line + getattr(node, "lineno", 1) - 1)


def _names_outside_loops(node: ast.AST) -> set[str]:
    """Names that occur anywhere but in loops over them and in generators."""
    if isinstance(node, ast.GeneratorExp):
        return set()
    names = {node.id} if isinstance(node, ast.Name) else set()
    names = names.union(*map(_names_outside_loops, ast.iter_child_nodes(node)))
    return names - ir.names_of(node.target) if isinstance(node, ast.For) else names


def _is_reduction(node: ast.Call, other_than: str = "") -> bool:
    """Whether it is a reduction, which does not read the name."""
    is_generator = bool(node.args) and isinstance(node.args[0], ast.GeneratorExp)
    return is_generator and ir.is_name(node.func, *_STARTS) and other_than not in ir.names_of(node)
