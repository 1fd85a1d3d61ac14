"""Vectorizable rewrite of a point function on the CPU, with the same results.

Three things prevent vectorization: checks for negative indices, sums in strict order, and calls of the C library. Here
indices that cannot be negative become unsigned, sums may be reassociated, and in float32 `math.exp` and similar
functions become polynomials.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from paddle_layers.define.functions import ir
from paddle_layers.define.functions.program import Program
from paddle_layers.kernels.primitives.elementary import SINGLE

ADD = "add_"
"""Name of the driver function that adds in any order."""
MATH = "elementary"
"""Name in drivers of the replacement of `math`."""
EXTREMES = {"max": "maximum", "min": "minimum"}
"""Replacements of helpers by these names: a form that the compiler vectorizes."""
UNSIGNED = "numba.uint64({})"


def vector_form(program: Program, dtype: str, indices: Sequence[str] = (), arrays: Collection[str] = ()) -> Program:
    """The program in this form; line numbers are preserved.

    `indices` are arguments that count from zero, `arrays` those that are arrays, or tuples of arrays.
    """
    # Programs are shared by devices and types.
    tree = _Rewriting(_never_negative(program.tree, indices), arrays, dtype).visit(ir.copied(program.tree))
    return program.rewritten(tree.body)


class _Rewriting(ast.NodeTransformer):
    def __init__(self, counts: set[str], arrays: Collection[str], dtype: str) -> None:
        self.counts, self.arrays, self.dtype, self.loops = counts, arrays, dtype, 0

    def visit_For(self, node: ast.For) -> ast.AST:
        self.loops += 1
        self.generic_visit(node)
        self.loops -= 1
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        # Only sums in loops: outside of them reassociation gains nothing and only changes rounding.
        if not (self.loops and isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name)):
            return node
        added = ast.Call(ir.load(ADD), [ir.load(node.target.id), node.value], [])
        return ast.copy_location(ir.assign(node.target.id, added), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not ir.array_of(node.value) and ir.array_of(node) not in self.arrays:
            return node  # x.shape[0], or an item of a tuple
        if isinstance(node.slice, ast.Tuple):
            node.slice.elts = [self._unsigned(part) for part in node.slice.elts]
        else:
            node.slice = self._unsigned(node.slice)
        return node

    def _unsigned(self, index: ast.expr) -> ast.expr:
        if isinstance(index, ast.Constant) or not _counts(index, self.counts):
            return index
        return ir.expression(UNSIGNED.format(ast.unparse(index)))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        # The polynomials are accurate to float32 only; float64 keeps the C library.
        if self.dtype == "float32" and node.attr in SINGLE and ir.is_name(node.value, "math"):
            return ast.copy_location(ast.Attribute(ir.load(MATH), node.attr, ast.Load()), node)
        return node


def _never_negative(tree: ast.FunctionDef, indices: Sequence[str]) -> set[str]:
    """Names of integers that are non-negative for all sizes and attributes."""
    named = (one for one in ir.bindings_of(tree) if isinstance(one.target, ast.Name))
    bindings = [(ast.unparse(one.target), _least(one)) for one in named]
    bound = {name for name, _ in bindings}
    # Fixed point: a counter may be initialized from another one. Subtraction is never accepted, as its result may be
    # negative for some sizes.
    found = set(indices) - ir.stores_of(tree)
    while True:
        more = {name for name in bound if all(_counts(e, found | {name}) for n, e in bindings if n == name)}
        if more <= found:
            return found
        found |= more


def _least(binding: ir.Binding) -> ast.expr | None:
    """An expression for the lower bound of an assigned value: the first value of an increasing range."""
    if isinstance(binding.statement, ast.Assign):
        return binding.value
    values = ir.range_of(binding.statement)
    return values.first if values is not None and ast.unparse(values.step) == "1" else None


def _counts(value: ast.expr | None, counts: set[str]) -> bool:
    """Whether an integer expression is non-negative."""
    match value:
        case ast.Constant(number):
            return type(number) is int and number >= 0
        case ast.Name(name):
            return name in counts
        case (
            ast.BinOp(one, ast.Add() | ast.Mult(), other)
            | ast.BinOp(one, ast.FloorDiv() | ast.Mod(), ast.Constant() as other)
            | ast.IfExp(_, one, other)
        ):
            return _counts(one, counts) and _counts(other, counts)
        case ast.Call(ast.Name("max"), arguments):
            return any(_counts(argument, counts) for argument in arguments)
    return False
