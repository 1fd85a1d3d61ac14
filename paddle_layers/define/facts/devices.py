"""Devices that the functions of a layer can be compiled for, derived from their source: a description compiles nothing.

A GPU thread cannot allocate memory: a function that creates a list, a string or an array compiles for the CPU only.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..functions.ir import bindings_of, indices_of, nodes_of
from ..functions.point_functions import HELPERS, Function
from ..functions.program import Program
from .derived_facts import example_bodies

if TYPE_CHECKING:
    from ..definitions.layers import LayerDefinition

DEVICES = ("cpu", "cuda")
NOT_ON_CARDS = frozenset({"gcd"})
"""Functions of `math` that numba has for the CPU only."""
VIEWS = frozenset({"shape", "size", "ndim", "strides", "itemsize", "nbytes", "dtype", "T", "flat", "transpose", "item"})
"""Attributes of arrays that make no other array."""
ALLOCATING = (ast.Dict, ast.DictComp, ast.Set, ast.SetComp, ast.ListComp, ast.GeneratorExp, ast.JoinedStr)

Call = Callable[..., Any]


def devices_of(layer: LayerDefinition) -> tuple[str, ...]:
    """Devices that all functions of a layer, or of its parts, compile for; the CPU takes every function."""
    parts = {part for body in example_bodies(layer) for part in body.layers()} if layer.is_composite else ()
    pairs = ((one, function) for one in (layer, *parts) for function in one.complete().functions)
    return DEVICES if all(_suits_gpus(*pair) for pair in pairs) else DEVICES[:1]


def _suits_gpus(layer: LayerDefinition, function: Function) -> bool:
    if function.python:
        return False
    axes = {}
    for name in function.args:
        field = layer.fields.get(name) or layer.fields.get(name.removeprefix("d"))
        if field is not None:
            whole = field.per_item and function.over is None and name not in function.target_names
            axes[name] = len(field.indices) + whole
    return _GpuCheck(function.call, function.program.tree, axes, ()).suits_gpus()


class _GpuCheck:
    """Searches a function and its helpers for allocations of arrays and the like."""

    def __init__(self, call: Call, tree: ast.FunctionDef, axes: Mapping[str, int], callers: tuple[Call, ...]) -> None:
        self.call, self.tree, self.callers = call, tree, (*callers, call)
        self.axes = dict(axes)
        """How many axes the arrays have that are known by a name; another name is a number."""
        for target, value, statement in bindings_of(tree):
            if isinstance(target, ast.Name):
                own = self._axes(value) - isinstance(statement, ast.For)
                self.axes[target.id] = max(self.axes.get(target.id, 0), own)
        self.harmless = {id(node) for parent in ast.walk(tree) for node in _harmless(parent)}

    def suits_gpus(self) -> bool:
        """Whether nothing in it needs the CPU."""
        return not any(map(self._needs_cpu, nodes_of(self.tree.body)))

    def _needs_cpu(self, node: ast.AST) -> bool:
        if isinstance(node, ast.List) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            return id(node) not in self.harmless
        if isinstance(node, ast.Attribute):
            return node.attr in NOT_ON_CARDS if ast.unparse(node.value) == "math" else node.attr not in VIEWS
        if isinstance(node, ast.Call):
            return self._calls_what_needs_cpu(node)
        return isinstance(node, ALLOCATING) or any(self._axes(part) > 0 for part in _operands(node))

    def _calls_what_needs_cpu(self, node: ast.Call) -> bool:
        called = self.call.__globals__.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if called is None or called not in HELPERS:
            return False
        if called in self.callers:  # its text would be put into itself
            return True
        program = _program(called)
        axes = dict(zip(program.arguments, map(self._axes, node.args), strict=False))
        return not _GpuCheck(called, program.tree, axes, self.callers).suits_gpus()

    def _axes(self, node: ast.expr) -> int:
        """The number of axes of a value; 0 for a number."""
        match node:
            case ast.Name(name):
                return self.axes.get(name, 0)
            case ast.IfExp(_, one, other):
                return max(self._axes(one), self._axes(other))
            case ast.Tuple(parts) | ast.List(parts):
                return max((self._axes(part) + 1 for part in parts if self._axes(part)), default=0)
            case ast.Subscript(array):
                return max(self._axes(array) - sum(not isinstance(part, ast.Slice) for part in indices_of(node)), 0)
        return 0


def _operands(node: ast.AST) -> list[ast.expr]:
    """Operands of a node: an array among these gives another array."""
    match node:
        case ast.BinOp(one, _, other) | ast.AugAssign(one, _, other):
            return [one, other]
        case ast.UnaryOp(_, operand):
            return [operand]
        case ast.Compare(left, [op, *_], others) if not isinstance(op, (ast.Is, ast.IsNot)):
            return [left, *others]
    return []


def _harmless(node: ast.AST) -> list[ast.expr]:
    """Lists and words of which nothing is left when the function is compiled."""
    if isinstance(node, ast.For):
        return [node.iter]
    if isinstance(node, ast.Assert):
        return [node.msg] if node.msg is not None else []
    return [node.left, *node.comparators] if isinstance(node, ast.Compare) else []


@lru_cache(maxsize=1 << 10)
def _program(helper: Call) -> Program:
    return Program.of(helper)
