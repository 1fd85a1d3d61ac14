"""Kernel fusion of two elementwise kernels: the intermediate value stays in a register."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from paddle_layers.define.functions import ir
from paddle_layers.define.functions.program import Program

from .drivers import Array, Kernel, Spec

RESERVED = ("math", "real", "double", "numba")
"""Names with a meaning in every driver."""


class Merged(NamedTuple):
    """A kernel fused from two."""

    kernel: Kernel
    leads: int
    """Which of the two has the indices of the fused kernel; arrays of the other one get the same shape."""
    names: tuple[Mapping[str, str], ...]
    """For each, the names of its remaining arguments."""


class InlineExpression(NamedTuple):
    """The result of a function: an expression of its arguments, and of names that are assigned before."""

    given: Mapping[str, ast.expr]
    result: ast.expr

    def nodes(self) -> Iterator[ast.AST]:
        """All nodes of the expressions."""
        return ir.nodes_of([*self.given.values(), self.result])


# Equal pairs give the same object, so machine code is looked up once per kind of launch: DenseNet-121's 1,900 launches
# need 46 lookups instead of 262.
@functools.lru_cache(maxsize=1 << 12)
def merged_kernel(first: Kernel, second: Kernel, passed: tuple[str, ...]) -> Merged | None:
    """The second kernel with the first one's result instead of its element of `passed`, and its arguments.

    Both iterate over the same elements, in the same order, of one target. `None` if a function is not a plain
    expression, or if the indices differ and one of them reads more than its own element of an array.
    """
    one, other = value_of(first), value_of(second)
    # Two plugins may each have a helper of the same name.
    if one is None or other is None or _differing_helpers(first, second):
        return None
    same = len(first.indices) == len(second.indices)
    if not (same or _is_flat(first, one) or _is_flat(second, other)):
        return None
    leads = 0 if same or _is_flat(second, other) else 1
    lead, helpers = (first, second)[leads], {**first.helpers, **second.helpers}
    # Helpers keep their names in the driver, so nothing else may have them.
    taken = {*RESERVED, *helpers, *lead.indices}
    names = [{name: ir.free_name(name, taken) for name in (*first.args, *one.given)}]
    names.append({name: ir.free_name(name, taken) for name in (*second.args, *other.given)})
    value = ir.free_name("value", taken)
    before = _Renamed(names[0], first.indices, lead.indices, {})
    behind = _Renamed(names[1], second.indices, lead.indices, dict.fromkeys(passed, value))
    body = [
        *before.assignments(one),
        ir.assign(value, ast.Call(ir.load("real"), [before.of(one.result)], [])),  # rounded as in memory
        *behind.assignments(other),
        ast.Return(behind.of(other.result)),
    ]
    used = ir.names_of(body)
    # Targets come first in the tables of a driver.
    target = names[1][second.targets[0]]
    specs: dict[str, Spec] = {target: _target(lead)}
    for kernel, called in zip((first, second), names, strict=True):
        reshaped = not same and kernel is not lead
        for name, spec in kernel.args.items():
            if called[name] in used:
                specs.setdefault(called[name], _target(lead) if reshaped and isinstance(spec, Array) else spec)
    arguments = [name for name in (*lead.indices, *specs) if name in used]
    merged = replace(
        lead,
        name=f"{first.name}_{second.name}",
        program=Program.build("merged", arguments, body),
        helpers=helpers,
        targets=(target,),
        args=specs,
        accumulate=False,
    )
    left = [{name: new for name, new in called.items() if new in specs} for called in names]
    return Merged(merged, leads, tuple(left))


def value_of(kernel: Kernel) -> InlineExpression | None:
    """The expression that a kernel stores; `None` if it has loops or assigns a name twice."""
    *before, last = kernel.program.tree.body
    if not isinstance(last, ast.Return) or last.value is None:
        return None
    result: ast.expr = last.value
    given: dict[str, ast.expr] = {}
    for statement in reversed(before):
        if isinstance(statement, ast.If) and not statement.orelse and isinstance(statement.body[0], ast.Return):
            if statement.body[0].value is None or given:  # code that follows may not run for all elements
                return None
            result = ast.IfExp(statement.test, statement.body[0].value, result)
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            if len(statement.targets) > 1 or name in given or name in kernel.program.arguments:
                return None
            given = {name: statement.value, **given}
        else:
            return None
    if kernel.accumulate:
        result = ast.BinOp(ir.element(kernel.targets[0], kernel.indices), ast.Add(), result)
    return InlineExpression(given, result)


def _is_flat(kernel: Kernel, value: InlineExpression) -> bool:
    """Whether the indices only select the element, so that others may replace them."""
    own = {id(part) for node in value.nodes() if ir.array_at(node, kernel.indices) for part in ast.walk(node)}
    arrays = {name for name, spec in kernel.args.items() if isinstance(spec, Array)}
    names = (node for node in value.nodes() if isinstance(node, ast.Name) and node.id in {*arrays, *kernel.indices})
    return all(id(node) in own for node in names)


class _Renamed:
    """Rewrites expressions of one kernel with the other's names and indices.

    `passed` are arrays whose element at the current index has a name.
    """

    def __init__(
        self, names: Mapping[str, str], indices: tuple[str, ...], others: tuple[str, ...], passed: Mapping[str, str]
    ) -> None:
        self.names = {**names, **dict(zip(indices, others, strict=False))}
        self.indices, self.others, self.passed = indices, others, passed

    def assignments(self, value: InlineExpression) -> list[ast.stmt]:
        """The assigned names."""
        return [ir.assign(self.names[name], self.of(part)) for name, part in value.given.items()]

    def of(self, value: ast.expr) -> ast.expr:
        """An expression."""
        return ir.rewritten(value, self._rule)

    def _rule(self, node: ast.AST) -> ast.expr | None:
        if array := ir.array_at(node, self.indices):
            passed = self.passed.get(array)
            return ir.element(self.names[array], self.others) if passed is None else ir.load(passed)
        return ir.load(self.names.get(node.id, node.id)) if isinstance(node, ast.Name) else None


def _target(kernel: Kernel) -> Array:
    spec = kernel.args[kernel.targets[0]]
    assert isinstance(spec, Array)
    return spec


def _differing_helpers(first: Kernel, second: Kernel) -> bool:
    """Whether a name refers to two different functions."""
    both = first.helpers.keys() & second.helpers.keys()
    return any(first.helpers[name].text != second.helpers[name].text for name in both)
