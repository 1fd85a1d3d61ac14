"""Tangents: statements of a function, and of its helpers, with those that compute derivatives (forward mode)."""

from __future__ import annotations

import ast
import functools
import linecache
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from . import ir
from .derivatives import (
    CASTS,
    CONSTANT,
    ONE,
    RULES,
    ZERO,
    add,
    divide,
    is_zero,
    multiply,
    negate,
    partial_derivative,
    select,
)
from .point_functions import HELPERS
from .program import Program, without_dead_code

Call = Callable[..., Any]

INLINE, INLINE_BRANCHES = 24, 120
"""Maximum number of nodes of a derivative that takes the place of its name; of one with branches, where zeros fold.

Longer ones keep their names, so that they are computed once. Chosen for readable derived functions, not tuned
for speed.
"""


class NotDerivable(Exception):
    """The reason, and the part of the function that has no derivative."""

    def __init__(self, reason: str, node: ast.AST | None = None) -> None:
        super().__init__(reason)
        self.node = node


class Tangent:
    """Differentiates the statements of a function by `variable`: an argument, or the elements read of a tensor."""

    def __init__(self, call: Call, program: Program, variable: str, *, tensor: bool = False) -> None:
        self.call, self.program, self.variable, self.tensor = call, program, variable, tensor
        self.helpers: dict[str, Call] = {}
        """Derivatives of helpers that the derived function calls."""
        self.iterations: set[str] = set()
        """Variables of the loops of which one iteration reads the element."""
        self.sums: dict[str, ast.For] = {}
        """Names that such loops accumulate: without the loop, their values are unknown."""
        self.output: ast.expr | None = None
        """The element of the output, which has the value of `returned`."""
        self.returned: ast.expr | None = None
        self.known: dict[str, ast.expr] = {}
        """Derivatives of local names, where they are short."""
        self.stored = ir.occurrences(program.tree, ast.Store)
        self.names = ir.names_of(program.tree) | set(program.arguments)
        self.changing = {name for name in self.stored if self.stored.count(name) > 1 or name in program.arguments}
        self.active = set[str]() if tensor else {variable}
        self.known |= dict.fromkeys(self.active, ONE)
        while new := {name for name, value in self._assigned() if self.is_active(value)} - self.active:
            self.active |= new

    def _assigned(self) -> Iterator[tuple[str, ast.expr]]:
        for node in ast.walk(self.program.tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                yield node.targets[0].id, node.value
            elif isinstance(node, ast.Assign) and self.is_active(node.value):
                raise NotDerivable("an assignment of several values at once", node)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                yield node.target.id, node.value
            elif isinstance(node, ast.For) and self.is_active(node.iter):
                raise NotDerivable("a loop over other values than a range", node)

    # ---- expressions

    def is_active(self, node: ast.expr) -> bool:
        """Whether an expression depends on the variable; piecewise constant ones do not."""
        if isinstance(node, ast.Name):
            return node.id in self.active
        if isinstance(node, (ast.Compare, ast.Attribute, ast.Constant)):
            return False
        if isinstance(node, ast.Subscript):
            return self._is_element(node) or self.is_active(node.value)
        if isinstance(node, ast.Call) and self._callee(node) in CONSTANT:
            return False
        parts = [node.body, node.orelse] if isinstance(node, ast.IfExp) else ast.iter_child_nodes(node)
        return any(self.is_active(part) for part in parts if isinstance(part, ast.expr))

    def _is_element(self, node: ast.AST) -> bool:
        return self.tensor and ir.array_of(node) == self.variable

    def derivative(self, node: ast.expr) -> ast.expr:
        """The derivative of an expression."""
        if not self.is_active(node):
            return ZERO
        if self._is_element(node):
            return ONE
        if isinstance(node, ast.Name):
            return self.known.get(node.id) or ir.load(self.tangent(node.id))
        if isinstance(node, ast.IfExp):
            return select(node.test, self.derivative(node.body), self.derivative(node.orelse))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return negate(self.derivative(node.operand))
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.Call) and not node.keywords:
            return self._call(node)
        raise NotDerivable(f"`{ast.unparse(node)}` has no derivative rule", node)

    def _operation(self, node: ast.BinOp) -> ast.expr:
        u, v, op = node.left, node.right, node.op
        d, e = self.derivative(u), self.derivative(v)
        if isinstance(op, (ast.Add, ast.Sub)):
            return add(d, e if isinstance(op, ast.Add) else negate(e))
        if isinstance(op, ast.Mult):
            same = ast.dump(u) == ast.dump(v)
            return multiply(multiply(ast.Constant(2.0), u), d) if same else add(multiply(d, v), multiply(u, e))
        if isinstance(op, ast.Div):
            return divide(add(d, negate(multiply(node, e))), v)
        if isinstance(op, ast.Pow) and isinstance(v, ast.Constant) and isinstance(v.value, (int, float)):
            power = u if v.value == 2 else ast.BinOp(u, op, ast.Constant(v.value - 1))
            return multiply(multiply(ast.Constant(float(v.value)), power), d)
        if isinstance(op, ast.Pow):
            return self._by_table("pow", node, [u, v], [d, e])
        raise NotDerivable(f"`{ast.unparse(node)}` has no derivative rule", node)

    def _call(self, node: ast.Call) -> ast.expr:
        name, derivatives = self._callee(node), [self.derivative(argument) for argument in node.args]
        if name in CASTS:
            return derivatives[0]
        if name in ("max", "min") and len(node.args) > 2:
            first = ast.Call(node.func, node.args[:-1], [])
            return self._call(ast.copy_location(ast.Call(node.func, [first, node.args[-1]], []), node))
        if len(RULES.get(name, ())) == len(node.args):
            return self._by_table(name, node, node.args, derivatives)
        if not name.startswith("@"):
            raise NotDerivable(f"`{ast.unparse(node.func)}` has no derivative rule", node)
        helper = self.call.__globals__[name[1:]]
        if len(node.args) != len(_program(helper).arguments):
            raise NotDerivable(f"`{ast.unparse(node)}` does not have all arguments", node)
        total: ast.expr = ZERO
        for place, derivative in enumerate(derivatives):
            if not is_zero(derivative):
                partial = ir.load(self._partial(helper, place, node))
                total = add(total, multiply(ast.Call(partial, node.args, []), derivative))
        return total

    def _by_table(self, name: str, node: ast.expr, args: list[ast.expr], derivatives: list[ast.expr]) -> ast.expr:
        result = self.output if self.output is not None and node is self.returned else node
        values = dict(zip("uv", args, strict=False)) | {"r": result}
        total: ast.expr = ZERO
        for place, derivative in enumerate(derivatives):
            if not is_zero(derivative):
                total = add(total, partial_derivative(name, place, {**values, "d": derivative}))
        return total

    def _callee(self, node: ast.Call) -> str:
        """The name of a called function: of `math` without the module, of a helper with an `@`."""
        name = node.func
        if isinstance(name, ast.Attribute) and isinstance(name.value, ast.Name):
            return name.attr if self.call.__globals__.get(name.value.id) is math else ""
        if not isinstance(name, ast.Name):
            return ""
        return f"@{name.id}" if self.call.__globals__.get(name.id) in HELPERS else name.id

    def _partial(self, helper: Call, place: int, node: ast.Call) -> str:
        """The helper that computes a partial derivative: the author's `NAME_derivative`, or a derived one."""
        program = _program(helper)
        written = helper.__globals__.get(f"{helper.__name__}_derivative")
        if place == 0 and written in HELPERS and _program(written).arguments == program.arguments:
            derivative: Call = written
        else:
            try:
                derivative = derived_helper(helper, program.arguments[place])
            except NotDerivable as error:
                raise NotDerivable(f"in `{helper.__name__}`, {error}", node) from None
        self.helpers[derivative.__name__] = derivative
        return str(derivative.__name__)

    # ---- statements

    def tangent(self, name: str) -> str:
        """The name of the derivative of a local name."""
        return f"d{name}" if f"d{name}" not in self.names else f"{name}_derivative"

    def finish(self, derivative: ast.expr) -> ast.expr:
        """What a derived function returns, from the derivative of what its origin returns."""
        return derivative

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements with those that compute derivatives."""
        return [
            new if hasattr(new, "lineno") else ast.copy_location(new, statement)
            for statement in statements
            for new in self._statement(statement)
        ]

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        if isinstance(statement, ast.Return) and statement.value is not None:
            return [ast.Return(self._result(statement.value))]
        if isinstance(statement, ast.If):
            before = self._settled([statement])
            then, otherwise = (self._branch(part) for part in (statement.body, statement.orelse))
            return [*before, ast.If(statement.test, then or [ast.Pass()], otherwise)]
        if isinstance(statement, ast.For) and isinstance(statement.target, ast.Name) and not statement.orelse:
            if statement.target.id in self.iterations:
                if any(map(self._is_element, ast.walk(statement))):
                    self._check_iteration(statement)
                    return self.block(statement.body)
                # Another loop with a variable of the same name, which becomes an index.
                other: ast.For = ir.copied(statement, {statement.target.id: f"{statement.target.id}_"})
                statement = other
            before = self._settled([statement])
            return [*before, ast.For(statement.target, statement.iter, self._branch(statement.body), [])]
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            name = statement.target.id
            value: ast.expr = ir.sum_of(statement)
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name, value = statement.targets[0].id, statement.value
        elif isinstance(statement, (ast.Pass, ast.Assign)):
            return [statement]
        else:
            raise NotDerivable(f"`{ast.unparse(statement).splitlines()[0]}` has no derivative", statement)
        # The derivative first: it reads the value from before.
        new = self._set(name, self.derivative(value)) if name in self.active else []
        return new if name in self.sums else [*new, statement]

    def _set(self, name: str, derivative: ast.expr) -> list[ast.stmt]:
        nodes = list(ast.walk(derivative))
        changing = {*self.changing, *map(self.tangent, self.stored)}
        most = INLINE_BRANCHES if any(isinstance(node, ast.IfExp) for node in nodes) else INLINE
        if len(nodes) <= most and not ir.names_of(derivative) & changing:
            self.known[name] = derivative
            return []
        self.known.pop(name, None)
        if isinstance(derivative, ast.BinOp) and ast.dump(derivative.left) == ast.dump(ir.load(self.tangent(name))):
            return [ast.AugAssign(ast.Name(self.tangent(name), ast.Store()), derivative.op, derivative.right)]
        return [ir.assign(self.tangent(name), derivative)]

    def _settled(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Assignments of the known derivatives of names to which the statements assign."""
        names = sorted(ir.stores_of(statements) & self.known.keys())
        return [ir.assign(self.tangent(name), self.known.pop(name)) for name in names]

    def _branch(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """A block that is not always executed, or several times: what it knows is not known after it."""
        new = self.block(statements)
        settled = self._settled(statements)
        return new if new and isinstance(new[-1], ast.Return) else [*new, *settled]

    def _result(self, value: ast.expr) -> ast.expr:
        if isinstance(value, ast.IfExp):
            return select(value.test, self._result(value.body), self._result(value.orelse))
        if ast.unparse(value) == "math.nan":
            return value  # no gradient of 0 for an output that is NaN
        self.returned = value
        return self.finish(self.derivative(value))

    # ---- loops of which one iteration remains

    def _check_iteration(self, loop: ast.For) -> None:
        """Iterations must not depend on each other, but for sums that no iteration reads."""
        over = f"the loop over `{self.variable}`"
        for node in ir.all_of(loop.body, ast.Return, ast.Break, ast.Continue, ast.While):
            raise NotDerivable(f"a `{type(node).__name__.lower()}` in {over}", node)
        own = ir.stores_of(loop.body)
        defined = self._check_order(loop.body, own, set())
        sums = own - defined
        for assignment in ir.all_of(loop.body, ast.Assign):
            if ir.names_of(assignment.targets) & sums:
                raise NotDerivable(f"`{ast.unparse(assignment)}` depends on the order of {over}", assignment)
        self.sums |= dict.fromkeys(sums, loop)
        loops = ir.all_of(self.program.tree, ast.For)
        inside = {id(node) for node in ir.nodes_of(one for one in loops if ir.names_of(one.target) & self.iterations)}
        for name in ir.all_of(self.program.tree, ast.Name):
            if name.id in defined | ir.names_of(loop.target) and id(name) not in inside:
                raise NotDerivable(f"`{name.id}` occurs outside of {over}, too", name)

    def _check_order(self, statements: list[ast.stmt], own: set[str], defined: set[str]) -> set[str]:
        """The names that a block defines before it reads them; raises for one that it reads from before."""
        for statement in statements:
            head, inner = ir.head_of(statement), ir.blocks_of(statement)
            read = [head] if head is not None else [statement.value] if isinstance(statement, ir.BINDINGS) else []
            for name in sorted(ir.names_of(read) & own - defined):
                reason = f"`{name}` depends on earlier iterations of the loop over `{self.variable}`"
                raise NotDerivable(reason, read[0])
            if isinstance(statement, (ast.For, ast.Assign)):
                defined = defined | ir.names_of(ir.targets_of(statement))
            branches = [self._check_order(block, own, defined) for block in inner]
            if isinstance(statement, ast.If):
                defined = branches[0] & branches[1]
        return defined


@functools.cache
def _program(helper: Call) -> Program:
    return Program.of(helper)


_DERIVED_HELPERS: dict[tuple[Call, str], Call | None] = {}


def derived_helper(helper: Call, argument: str) -> Call:
    """The partial derivative of a helper, a helper with the same arguments."""
    key = helper, argument
    if key not in _DERIVED_HELPERS:
        try:
            program = _program(helper)
        except OSError:
            raise NotDerivable("whose source is unknown") from None
        _DERIVED_HELPERS[key] = None  # while it is differentiated
        try:
            tangent = Tangent(helper, program, argument)
            body = without_dead_code(tangent.block(program.tree.body))
        except NotDerivable:
            del _DERIVED_HELPERS[key]
            raise
        name = f"{helper.__name__}_d{argument}"
        derived = Program.build(name, program.arguments, ir.copied(body), program)
        call = compiled(derived, helper, tangent.helpers, f"the helper `{helper.__name__}`")
        HELPERS[call] = name
        _DERIVED_HELPERS[key] = call
    derivative = _DERIVED_HELPERS[key]
    if derivative is None:
        raise NotDerivable("which calls itself")
    return derivative


def compiled(program: Program, origin: Call, helpers: Mapping[str, Call], of: str) -> Call:
    """The function, whose source `inspect` finds."""
    name = program.tree.name
    head, _, rest = program.text.partition("\n")
    text = f"{head}\n    # Derived from {of}.\n{rest}\n"
    file = f"<derivative {origin.__module__}.{name}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {"math": math, **origin.__globals__, **helpers}
    exec(compile(text, file, "exec"), scope)  # made of the parsed source of the author
    call: Call = scope[name]
    return call
