"""Derived gradients: differentiation of the source of point functions (forward mode).

A derived function keeps the branches of its origin, so that a branch that is not taken contributes nothing, not even 0
times infinity. A loop that accumulates over an axis of the input becomes the one iteration that reads the element; axes
of the output that the input lacks become sums.
"""

from __future__ import annotations

import ast
import linecache
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import DefinitionError
from ..fields.tensors import Field, Output
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
from .point_functions import HELPERS, Function
from .program import Program

if TYPE_CHECKING:
    from ..definitions.layers import LayerDefinition

Call = Callable[..., Any]

INLINE = 24
"""Nodes of a derivative that takes the place of its name, so that a 0 in a branch of it is folded."""


class NotDerivable(Exception):
    """The reason, and the part of the function that has no derivative."""

    def __init__(self, reason: str, node: ast.AST | None = None) -> None:
        super().__init__(reason)
        self.node = node


def derived_gradient(layer: LayerDefinition, target: Field) -> Function | None:
    """The gradient of an input or a parameter; None if no output depends on it.

    Raises `DefinitionError` at the part of a function that cannot be differentiated.
    """
    outputs = [function for function in layer.functions if any(isinstance(t, Output) and t.kind == "DENSE" for t in function.targets)]
    functions = [function for function in outputs if function.role != "bias" and _depends(layer, function, target.name)]
    if not functions:
        return None
    function = functions[0]
    try:
        if len(functions) > 1:
            raise NotDerivable(f"`{functions[1].name}` depends on it, too")
        return _Gradient(layer, function, target).function()
    except NotDerivable as error:
        what = "parameter" if target.name in layer.params else "input"
        remedy = f"write @gradient({layer.owner.__name__}.{target.name})"
        if what == "input":
            remedy += f", or declare `{target.name}` with `derivative=False` if it has no gradient"
        line = function.line + getattr(error.node, "lineno", 1) - 1
        message = f"{what} `{target.name}` needs a gradient, which cannot be derived: {error}; {remedy}"
        raise DefinitionError(f"{function.name}: {message}", function.file, line) from None


def _depends(layer: LayerDefinition, function: Function, name: str) -> bool:
    """Whether values of a tensor enter a function, directly or by other tensors; integers are piecewise constant."""
    seen, waiting = {function}, [function]
    while waiting:
        one = waiting.pop()
        if name in one.args and (one.python or one.program.reads(name)):
            return True
        makers = {maker for _, maker in _makers(layer, one)} - seen
        waiting += makers
        seen |= makers
    return False


def _makers(layer: LayerDefinition, function: Function) -> Iterator[tuple[str, Function]]:
    """The computed tensors that a function reads, and the functions that compute them."""
    for maker in layer.functions:
        if maker.role in ("each", "fill") and maker is not function:
            for target in maker.targets:
                if target.name in function.args and target.kind == "DENSE":
                    yield target.name, maker


class _Tangent:
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
        names = [node for node in ast.walk(program.tree) if isinstance(node, ast.Name)]
        self.stored = [node.id for node in names if isinstance(node.ctx, ast.Store)]
        self.names = {node.id for node in names} | set(program.arguments)
        self.active = set[str]() if tensor else {variable}
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

    # ---- expressions

    def is_active(self, node: ast.expr) -> bool:
        """Whether an expression depends on the variable; piecewise constant ones do not."""
        if isinstance(node, ast.Name):
            return node.id in self.active
        if isinstance(node, (ast.Compare, ast.BoolOp, ast.Attribute, ast.Constant)):
            return False
        if isinstance(node, ast.Subscript):
            return self.tensor and isinstance(node.value, ast.Name) and node.value.id == self.variable
        if isinstance(node, ast.Call) and self._callee(node) in CONSTANT:
            return False
        parts = [node.body, node.orelse] if isinstance(node, ast.IfExp) else ast.iter_child_nodes(node)
        return any(self.is_active(part) for part in parts if isinstance(part, ast.expr))

    def derivative(self, node: ast.expr) -> ast.expr:
        """The derivative of an expression."""
        if not self.is_active(node):
            return ZERO
        if isinstance(node, ast.Subscript) or (isinstance(node, ast.Name) and node.id == self.variable):
            return ONE
        if isinstance(node, ast.Name):
            return self.known.get(node.id) or _load(self.tangent(node.id))
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
        helper = self.call.__globals__.get(name)
        if helper not in HELPERS:
            raise NotDerivable(f"`{name}` has no derivative rule", node)
        total: ast.expr = ZERO
        for place, derivative in enumerate(derivatives):
            if not is_zero(derivative):
                partial = _load(self._partial(helper, place, node))
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
        """The name of a called function; that of a function of `math` without the module."""
        name = node.func
        if isinstance(name, ast.Attribute) and isinstance(name.value, ast.Name):
            return name.attr if self.call.__globals__.get(name.value.id) is math else ""
        return name.id if isinstance(name, ast.Name) else ""

    def _partial(self, helper: Call, place: int, node: ast.Call) -> str:
        """The helper that computes a partial derivative: the author's `NAME_derivative`, or a derived one."""
        program = Program.of(helper)
        written = helper.__globals__.get(f"{helper.__name__}_derivative")
        if place == 0 and written in HELPERS:
            found: Call = written
        else:
            try:
                found = _derived_helper(helper, program.arguments[place])
            except NotDerivable as error:
                raise NotDerivable(f"in `{helper.__name__}`, {error}", node) from None
        self.helpers[found.__name__] = found
        return str(found.__name__)

    # ---- statements

    def tangent(self, name: str) -> str:
        """The name of the derivative of a local name."""
        return f"d{name}" if f"d{name}" not in self.names else f"d{name}_"

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
                self._check_iteration(statement)
                return self.block(statement.body)
            before = self._settled([statement])
            return [*before, ast.For(statement.target, statement.iter, self._branch(statement.body), [])]
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            name = statement.target.id
            value: ast.expr = ast.BinOp(_load(name), statement.op, statement.value)
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
        read = {node.id for node in nodes if isinstance(node, ast.Name)} & {*self.stored, *map(self.tangent, self.stored)}
        if len(nodes) <= INLINE and all(self.stored.count(one) == 1 for one in read):
            self.known[name] = derivative
            return []
        self.known.pop(name, None)
        if isinstance(derivative, ast.BinOp) and ast.dump(derivative.left) == ast.dump(_load(self.tangent(name))):
            return [ast.AugAssign(ast.Name(self.tangent(name), ast.Store()), derivative.op, derivative.right)]
        return [ast.Assign([ast.Name(self.tangent(name), ast.Store())], derivative)]

    def _settled(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Assignments of the known derivatives of names to which the statements assign."""
        nodes = (node for statement in statements for node in ast.walk(statement))
        names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        found = {name: self.known.pop(name) for name in sorted(names & self.known.keys())}
        return [ast.Assign([ast.Name(self.tangent(name), ast.Store())], value) for name, value in found.items()]

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
        nodes = [node for statement in loop.body for node in ast.walk(statement)]
        for node in nodes:
            if isinstance(node, (ast.Return, ast.Break, ast.Continue, ast.While)):
                raise NotDerivable(f"a `{type(node).__name__.lower()}` in the loop over `{self.variable}`", node)
        own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        defined = self._check_order(loop.body, own, set())
        sums = own - defined
        for node in nodes:
            if isinstance(node, ast.Assign) and any(_names(target) & sums for target in node.targets):
                raise NotDerivable(f"`{ast.unparse(node)}` depends on the order of the loop over `{self.variable}`", node)
        self.sums |= dict.fromkeys(sums, loop)
        outside = set(map(id, ast.walk(self.program.tree))) - set(map(id, nodes))
        for node in ast.walk(self.program.tree):
            if isinstance(node, ast.Name) and node.id in defined and id(node) in outside and _is_load(node):
                raise NotDerivable(f"`{node.id}` is read after the loop over `{self.variable}`", node)

    def _check_order(self, statements: list[ast.stmt], own: set[str], defined: set[str]) -> set[str]:
        """The names that a block defines before it reads them; raises for one that it reads from before."""
        for statement in statements:
            parts: list[ast.expr] = []
            if isinstance(statement, ast.If):
                parts, inner = [statement.test], [statement.body, statement.orelse]
            elif isinstance(statement, ast.For):
                parts, inner = [statement.iter], [statement.body]
                defined = defined | _names(statement.target)
            else:
                parts = [statement.value] if isinstance(statement, (ast.Assign, ast.AugAssign)) else []
                inner = []
            for part in parts:
                for name in sorted(_names(part) & own - defined):
                    raise NotDerivable(f"`{name}` depends on earlier iterations of the loop over `{self.variable}`", part)
            if isinstance(statement, ast.Assign):
                defined = defined | {name for target in statement.targets for name in _names(target)}
            found = [self._check_order(block, own, defined) for block in inner]
            if len(found) == 2:
                defined = found[0] & found[1]
        return defined


class _Gradient(_Tangent):
    """The gradient of a tensor, from the function of an output that reads it at the output's own indices."""

    def __init__(self, layer: LayerDefinition, origin: Function, target: Field) -> None:
        self.layer, self.origin, self.target, self.out = layer, origin, target, origin.targets[0]
        self._check_origin()
        super().__init__(origin.call, origin.program, target.name, tensor=True)
        self.names |= layer.offered_names
        values = [node.value for node in ast.walk(self.program.tree) if isinstance(node, ast.Return)]
        self.constant = not any(value is not None and self.is_active(value) for value in values)
        if self.constant:
            return
        self.own = self._own_indices()
        self.missing = [name for name in origin.indices if name not in self.own]
        """Indices of the output over which the gradient is summed."""
        self.iterations = set(self.own) - set(origin.indices)
        at = ", ".join(origin.indices)
        self.slope = ast.parse(f"d{self.out.name}[{at}]", mode="eval").body
        has_bias = layer.bias is not None and self.out is next(iter(layer.outputs.values()))
        if not has_bias and self.out.name not in self.stored:
            self.output = ast.parse(f"{self.out.name}[{at}]", mode="eval").body

    def _check_origin(self) -> None:
        origin, name = self.origin, self.target.name
        kinds = {
            "it is a Python function": origin.python,
            f"it is a @{origin.role} function": origin.role != "each",
            "it computes several tensors": len(origin.targets) > 1,
            "it is a scan": origin.scan is not None,
            f"it is called for each item of `{origin.over.name if origin.over else ''}`": origin.over is not None,
            f"`{name}` is repeatable": self.target.per_item or self.out.per_item,
        }
        for reason, holds in kinds.items():
            if holds:
                raise NotDerivable(reason)
        for read, maker in _makers(self.layer, origin):
            if _depends(self.layer, maker, name):
                raise NotDerivable(f"`{read}`, which it reads, depends on `{name}`, too")

    def _own_indices(self) -> list[str]:
        """The names of the indices at which the tensor is read."""
        name, axes = self.variable, [axis for axis in self.target.axes if axis.index_name]
        loads = [n for n in ast.walk(self.program.tree) if isinstance(n, ast.Subscript) and _reads(n, name)]
        absent = [n.left for n in ast.walk(self.program.tree) if isinstance(n, ast.Compare) and _is_none_test(n)]
        whole = {id(use) for use in self.program.value_uses(name)} - {id(n) for n in (*absent, *(n.value for n in loads))}
        places = {ast.unparse(load): load for load in loads}
        parts = [load.slice.elts if isinstance(load.slice, ast.Tuple) else [load.slice] for load in places.values()]
        if whole or any(len(part) != len(axes) for part in parts):
            raise NotDerivable(f"it uses `{name}` other than by its elements, such as `{name}[{self._at(axes)}]`")
        if len(places) > 1:
            first, second = list(places)[:2]
            raise NotDerivable(f"it reads both `{first}` and `{second}`", places[second])
        (load,) = places.values()
        found: list[str] = []
        for part, axis in zip(parts[0], axes, strict=True):
            if not isinstance(part, ast.Name) or part.id in found or not self._spans(part.id, axis.name):
                raise NotDerivable(
                    f"it reads `{ast.unparse(load)}`, where `{ast.unparse(part)}` is neither an index of "
                    f"`{self.out.name}` along the same axis nor the variable of a loop over the whole axis",
                    load,
                )
            found.append(part.id)
        return found

    def _at(self, axes: Sequence[Any]) -> str:
        return ", ".join(axis.index_name for axis in axes)

    def _spans(self, index: str, axis: str) -> bool:
        """Whether an index runs through an axis once: as the index of the output, or in loops."""
        if index in self.origin.indices:
            own = [one.name for one in self.out.axes if one.index_name == index]
            return own == [axis] and index not in self.stored
        loops = [n for n in ast.walk(self.program.tree) if isinstance(n, ast.For) and _names(n.target) == {index}]
        sizes = {axis} | {
            f"{name}.shape[{place}]"
            for name, field in self.layer.fields.items()
            for place, one in enumerate(one for one in field.axes if one.index_name)
            if one.name == axis
        }
        whole = {f"range({size})" for size in sizes}
        return self.stored.count(index) == len(loops) > 0 and all(ast.unparse(n.iter) in whole for n in loops)

    def finish(self, derivative: ast.expr) -> ast.expr:
        return multiply(self.slope, derivative)

    def function(self) -> Function | None:
        """The derived function; None if the derivative is 0 everywhere."""
        if self.constant:
            return None
        body = self.block(self.program.tree.body)
        returned = [n.value for part in body for n in ast.walk(part) if isinstance(n, ast.Return)]
        if all(value is None or is_zero(value) or ast.unparse(value) == "math.nan" for value in returned):
            return None
        body = _tidied(body)
        for name, loop in self.sums.items():
            if name in _loads(body):
                raise NotDerivable(
                    f"the derivative requires `{name}`, the result of a loop over `{self.variable}`: "
                    "compute it in a Temp of its own",
                    loop,
                )
        if self.missing:
            body = self._summed(body)
        lead, loads = self.target.indices, _loads(body)
        renamed = {name: f"{name}_" for name in lead if name not in self.own}
        renamed |= dict(zip(self.own, lead, strict=True))
        result = [] if self.output is None else [self.out.name]
        asked = [f"d{self.out.name}", *result, *self.origin.args[len(self.origin.indices) :]]
        args = [*lead, *(name for name in asked if name in loads)]
        self._check_rows(args)
        name = f"{self.layer.name}_d{self.target.name}"
        tree = _function(self.program.tree, name, args, [_copied(part, renamed) for part in body])
        call = _compiled(tree, self.call, self.helpers, f"`{self.origin.name}`")
        function = Function("gradient", (self.target,), call, Program(tree, self.program.place), derived=True)
        function.file, function.line = self.origin.file, self.origin.line
        return function

    def _check_rows(self, args: list[str]) -> None:
        """The sequence of a row is known for functions of rows only."""
        rows = {"before", "after", "before_of", *(group.lower() for group in self.layer.groups.values())}
        if self.origin.indices[0] not in self.own and (used := sorted(rows & set(args))):
            raise NotDerivable(f"it takes `{used[0]}`, and `{self.variable}` has no rows")

    def _summed(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The sum of the results over the missing indices."""
        total = "total" if not any("total" in _names(part) for part in body) else "total_"
        inner = _accumulated(body, total)
        for name in reversed(self.missing):
            size = f"d{self.out.name}.shape[{self.origin.indices.index(name)}]"
            loop = ast.parse(f"for {name} in range({size}):\n    pass").body[0]
            assert isinstance(loop, ast.For)
            loop.body, inner = inner, [loop]
        first, last = ast.parse(f"{total} = 0.0").body[0], ast.Return(_load(total))
        return [first, *inner, last]


_DERIVED_HELPERS: dict[tuple[Call, str], Call | None] = {}


def _derived_helper(helper: Call, argument: str) -> Call:
    """The partial derivative of a helper, a helper with the same arguments."""
    key = helper, argument
    if key not in _DERIVED_HELPERS:
        try:
            program = Program.of(helper)
        except OSError:
            raise NotDerivable("whose source is unknown") from None
        _DERIVED_HELPERS[key] = None  # while it is differentiated
        try:
            tangent = _Tangent(helper, program, argument)
            body = _tidied(tangent.block(program.tree.body))
        except NotDerivable:
            del _DERIVED_HELPERS[key]
            raise
        name = f"{helper.__name__}_d{argument}"
        tree = _function(program.tree, name, program.arguments, [_copied(part, {}) for part in body])
        call = _compiled(tree, helper, tangent.helpers, f"the helper `{helper.__name__}`")
        HELPERS[call] = name
        _DERIVED_HELPERS[key] = call
    found = _DERIVED_HELPERS[key]
    if found is None:
        raise NotDerivable("which calls itself")
    return found


# ---- trees


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _loads(body: list[ast.stmt]) -> set[str]:
    return {n.id for part in body for n in ast.walk(part) if isinstance(n, ast.Name) and _is_load(n)}


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _is_load(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _is_none_test(node: ast.Compare) -> bool:
    return isinstance(node.ops[0], (ast.Is, ast.IsNot))


def _reads(node: ast.Subscript, name: str) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == name and isinstance(node.ctx, ast.Load)


def _accumulated(body: list[ast.stmt], total: str) -> list[ast.stmt]:
    """Statements that add to a sum instead of returning."""
    for at, statement in enumerate(body):
        if isinstance(statement, ast.Return) and statement.value is not None:
            added = ast.AugAssign(ast.Name(total, ast.Store()), ast.Add(), statement.value)
            return [*body[:at], *([] if is_zero(statement.value) else [ast.copy_location(added, statement)])]
        if not any(isinstance(node, ast.Return) for node in ast.walk(statement)):
            continue
        if not isinstance(statement, ast.If):
            raise NotDerivable("a `return` in a loop", statement)
        then, otherwise = (_accumulated([*part, *body[at + 1 :]], total) for part in (statement.body, statement.orelse))
        new = ast.If(statement.test, then or [ast.Pass()], otherwise)
        return [*body[:at], ast.copy_location(new, statement)]
    return body


def _tidied(body: list[ast.stmt]) -> list[ast.stmt]:
    """Without the assignments that nothing reads."""
    needed: set[str] = set()
    while _need(body, needed):
        pass
    return _kept(body, needed)


def _need(body: list[ast.stmt], needed: set[str]) -> bool:
    """Add the names that the needed statements read; whether there are new ones."""
    before = len(needed)
    for statement in body:
        if isinstance(statement, (ast.If, ast.For)):
            for part in _blocks(statement):
                _need(part, needed)
            if any(_kept(part, needed) for part in _blocks(statement)):
                needed |= _names(statement.test if isinstance(statement, ast.If) else statement.iter)
        elif _kept([statement], needed):
            needed |= _loads([statement])
    return len(needed) > before


def _kept(body: list[ast.stmt], needed: set[str]) -> list[ast.stmt]:
    kept: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, (ast.If, ast.For)):
            blocks = [_kept(part, needed) for part in _blocks(statement)]
            if isinstance(statement, ast.If) and any(blocks):
                new: ast.stmt = ast.If(statement.test, blocks[0] or [ast.Pass()], blocks[1])
                kept.append(ast.copy_location(new, statement))
            elif isinstance(statement, ast.For) and any(blocks):
                kept.append(ast.copy_location(ast.For(statement.target, statement.iter, blocks[0], []), statement))
        elif isinstance(statement, ast.Return):
            return [*kept, statement]
        elif not isinstance(statement, ast.Pass):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]  # type: ignore[attr-defined]
            if any(_names(target) & needed for target in targets):
                kept.append(statement)
    return kept


def _blocks(statement: ast.If | ast.For) -> list[list[ast.stmt]]:
    return [statement.body, statement.orelse]


def _copied(node: Any, names: Mapping[str, str]) -> Any:
    """A copy with other names, in which no node occurs twice."""
    if isinstance(node, list):
        return [_copied(one, names) for one in node]
    if not isinstance(node, ast.AST):
        return node
    fields = {name: _copied(value, names) for name, value in ast.iter_fields(node)}
    if isinstance(node, ast.Name):
        fields["id"] = names.get(node.id, node.id)
    return ast.copy_location(type(node)(**fields), node)


def _function(origin: ast.FunctionDef, name: str, args: Sequence[str], body: list[ast.stmt]) -> ast.FunctionDef:
    tree = ast.parse(f"def {name}({', '.join(args)}):\n    pass").body[0]
    assert isinstance(tree, ast.FunctionDef)
    tree.body = body
    return ast.fix_missing_locations(ast.copy_location(tree, origin))


def _compiled(tree: ast.FunctionDef, origin: Call, helpers: Mapping[str, Call], of: str) -> Call:
    """The function, whose source `inspect` finds."""
    head, _, rest = ast.unparse(tree).partition("\n")
    text = f"{head}\n    # Derived from {of}.\n{rest}\n"
    file = f"<derivative {origin.__module__}.{tree.name}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {"math": math, **origin.__globals__, **helpers}
    exec(compile(text, file, "exec"), scope)  # made of the parsed source of the author
    call: Call = scope[tree.name]
    return call
