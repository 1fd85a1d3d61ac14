"""Derived gradients: the gradient function of an input or a parameter, from the function of the output.

A derived function keeps the branches of its origin, so that a branch that is not taken contributes nothing, not even 0
times infinity. A loop that accumulates over an axis of the input becomes the one iteration that reads the element; axes
of the output that the input lacks become sums.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeGuard

from ..errors import DefinitionError
from ..fields.tensors import Field, Output
from ..functions import ir
from ..functions.derivatives import is_zero, multiply
from ..functions.point_functions import Function
from ..functions.program import Program, without_dead_code
from ..functions.tangents import NotDerivable, Tangent, compiled

if TYPE_CHECKING:
    from .layers import LayerDefinition


def derived_gradient(layer: LayerDefinition, target: Field) -> Function | None:
    """The gradient of an input or a parameter; None if no output depends on it.

    Raises `DefinitionError` at the part of a function that cannot be differentiated.
    """
    outputs = [
        function
        for function in layer.functions
        if any(isinstance(t, Output) and t.kind == "DENSE" for t in function.targets)
    ]
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
        role = "python" if function.python else "gradient"
        remedy = f"write @{role}({layer.owner.__name__}.{target.name})"
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


class _Gradient(Tangent):
    """The gradient of a tensor, from the function of an output that reads it at the output's own indices."""

    def __init__(self, layer: LayerDefinition, origin: Function, target: Field) -> None:
        self.layer, self.origin, self.target, self.out = layer, origin, target, origin.targets[0]
        self._check_origin()
        super().__init__(origin.call, origin.program, target.name, tensor=True)
        self.names |= layer.offered_names
        self._check_uses()
        values = [node.value for node in ir.all_of(self.program.tree, ast.Return)]
        self.constant = not any(value is not None and self.is_active(value) for value in values)
        if self.constant:
            return
        self.own = self._own_indices()
        self.missing = [name for name in origin.indices if name not in self.own]
        """Indices of the output over which the gradient is summed."""
        self.iterations = set(self.own) - set(origin.indices)
        self.slope = ir.element(f"d{self.out.name}", origin.indices)
        has_bias = layer.bias is not None and self.out is next(iter(layer.outputs.values()))
        if not has_bias and self.out.name not in self.stored:
            self.output = ir.element(self.out.name, origin.indices)

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

    def _check_uses(self) -> None:
        """Only whole subscripts: a view or another name of the tensor would hide what is read."""
        uses = {id(use): use for use in self.program.value_uses(self.variable)}
        for node in ast.walk(self.program.tree):
            if self._is_element_load(node):
                uses.pop(id(node.value), None)
            elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
                uses.pop(id(node.left), None)
        for use in uses.values():
            at = ", ".join(self.target.indices)
            raise NotDerivable(f"it uses `{self.variable}` other than by its elements, `{self.variable}[{at}]`", use)

    def _is_element_load(self, node: ast.AST) -> TypeGuard[ast.Subscript]:
        if not (isinstance(node, ast.Subscript) and self._is_element(node)):
            return False
        parts = ir.indices_of(node)
        return len(parts) == len(self.target.indices) and not any(isinstance(part, ast.Slice) for part in parts)

    def _own_indices(self) -> list[str]:
        """The names of the indices at which the tensor is read."""
        axes = [axis for axis in self.target.axes if axis.index_name]
        loads = filter(self._is_element, ir.all_of(self.program.tree, ast.Subscript))
        places = {ast.unparse(read): read for read in loads}
        if len(places) > 1:
            first, second = list(places)[:2]
            raise NotDerivable(f"it reads both `{first}` and `{second}`", places[second])
        (read,) = places.values()
        indices: list[str] = []
        for part, axis in zip(ir.indices_of(read), axes, strict=True):
            if not isinstance(part, ast.Name) or part.id in indices or not self._spans(part.id, axis.name):
                raise NotDerivable(
                    f"it reads `{ast.unparse(read)}`, where `{ast.unparse(part)}` is neither an index of "
                    f"`{self.out.name}` along the same axis nor the variable of a loop over the whole axis",
                    read,
                )
            indices.append(part.id)
        return indices

    def _spans(self, index: str, axis: str) -> bool:
        """Whether an index runs through an axis once: as the index of the output, or in loops."""
        if index in self.origin.indices:
            own = [one.name for one in self.out.axes if one.index_name == index]
            return own == [axis] and index not in self.stored
        loops = [loop for loop in ir.all_of(self.program.tree, ast.For) if ir.names_of(loop.target) == {index}]
        sizes = {axis} | {
            f"{name}.shape[{place}]"
            for name, field in self.layer.fields.items()
            for place, one in enumerate(one for one in field.axes if one.index_name)
            if one.name == axis
        }
        whole = {f"range({size})" for size in sizes}
        return self.stored.count(index) == len(loops) > 0 and all(ast.unparse(loop.iter) in whole for loop in loops)

    def finish(self, derivative: ast.expr) -> ast.expr:
        return multiply(self.slope, derivative)

    def function(self) -> Function | None:
        """The derived function; None if the derivative is 0 everywhere."""
        if self.constant:
            return None
        body = self.block(self.program.tree.body)
        returned = [node.value for node in ir.all_of(body, ast.Return)]
        if all(value is None or is_zero(value) or ast.unparse(value) == "math.nan" for value in returned):
            return None
        body = without_dead_code(body)
        for name, loop in self.sums.items():
            if name in ir.loads_of(body):
                raise NotDerivable(
                    f"the derivative requires `{name}`, the result of a loop over `{self.variable}`: "
                    "compute it in a separate Temp",
                    loop,
                )
        if self.missing:
            body = self._summed(body)
        lead, loads = self.target.indices, ir.loads_of(body)
        renamed = {name: f"{name}_" for name in lead if name not in self.own}
        renamed |= dict(zip(self.own, lead, strict=True))
        result = [] if self.output is None else [self.out.name]
        arguments = [f"d{self.out.name}", *result, *self.origin.args[len(self.origin.indices) :]]
        args = [*lead, *(name for name in arguments if name in loads)]
        self._check_rows(args)
        name = f"{self.layer.name}_d{self.target.name}"
        program = Program.build(name, args, ir.copied(body, renamed), self.program)
        call = compiled(program, self.call, self.helpers, f"`{self.origin.name}`")
        function = Function("gradient", (self.target,), call, program, derived=True)
        function.file, function.line = self.origin.file, self.origin.line
        return function

    def _check_rows(self, args: list[str]) -> None:
        """The sequence of a row is known for functions of rows only."""
        rows = {"before", "after", "before_of", *(group.lower() for group in self.layer.groups.values())}
        if self.origin.indices[0] not in self.own and (used := sorted(rows & set(args))):
            raise NotDerivable(f"it takes `{used[0]}`, and `{self.variable}` has no rows")

    def _summed(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The sum of the results over the missing indices."""
        total = "total" if "total" not in ir.names_of(body) else "total_"
        inner = _accumulated(body, total)
        for name in reversed(self.missing):
            size = f"d{self.out.name}.shape[{self.origin.indices.index(name)}]"
            inner = [ir.loop_over(name, size, inner)]
        return [ir.assign(total, ast.Constant(0.0)), *inner, ast.Return(ir.load(total))]


def _accumulated(body: list[ast.stmt], total: str) -> list[ast.stmt]:
    """Statements that add to a sum instead of returning."""
    for at, statement in enumerate(body):
        if isinstance(statement, ast.Return) and statement.value is not None:
            added = ast.AugAssign(ast.Name(total, ast.Store()), ast.Add(), statement.value)
            return [*body[:at], *([] if is_zero(statement.value) else [ast.copy_location(added, statement)])]
        if not any(ir.all_of(statement, ast.Return)):
            continue
        if not isinstance(statement, ast.If):
            raise NotDerivable("a `return` in a loop", statement)
        then, otherwise = (_accumulated([*part, *body[at + 1 :]], total) for part in (statement.body, statement.orelse))
        new = ast.If(statement.test, then or [ast.Pass()], otherwise)
        return [*body[:at], ast.copy_location(new, statement)]
    return body
