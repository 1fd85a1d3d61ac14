"""Vectorizable rewrite of a point function on the CPU, with the same results.

Three things prevent vectorization: checks for negative indices, sums in strict order, and calls of the C library. Here
indices that cannot be negative become unsigned, sums may be reassociated, and in float32 `math.exp` and similar
functions become polynomials.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from paddle_layers.define.functions.program import Program, copied
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
    tree = copied(program.tree)
    rewritten = _Rewriting(_never_negative(tree, indices), arrays, dtype).visit(tree)
    return Program(ast.fix_missing_locations(rewritten), program.place)


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
        total = ast.Name(node.target.id, ast.Load())
        added = ast.Call(ast.Name(ADD, ast.Load()), [total, node.value], [])
        return ast.copy_location(ast.Assign([node.target], added), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        item = isinstance(node.value, ast.Subscript) and isinstance(node.value.value, ast.Name)
        if not item and not (isinstance(node.value, ast.Name) and node.value.id in self.arrays):
            return node  # x.shape[0], or an item of a tuple
        if isinstance(node.slice, ast.Tuple):
            node.slice.elts = [self._unsigned(part) for part in node.slice.elts]
        else:
            node.slice = self._unsigned(node.slice)
        return node

    def _unsigned(self, index: ast.expr) -> ast.expr:
        if isinstance(index, ast.Constant) or not _counts(index, self.counts):
            return index
        return ast.parse(UNSIGNED.format(ast.unparse(index)), mode="eval").body

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        # The polynomials are accurate to float32 only; float64 keeps the C library.
        own = self.dtype == "float32" and node.attr in SINGLE and isinstance(node.value, ast.Name)
        if own and isinstance(node.value, ast.Name) and node.value.id == "math":
            return ast.copy_location(ast.Attribute(ast.Name(MATH, ast.Load()), node.attr, ast.Load()), node)
        return node


def _never_negative(tree: ast.FunctionDef, indices: Sequence[str]) -> set[str]:
    """Names of integers that are non-negative for all sizes and attributes."""
    bindings = list(_bindings(tree))
    # Fixed point: a counter may be initialized from another one. Subtraction is never accepted, as its result may be
    # negative for some sizes.
    found = set(indices) - {name for name, _ in bindings}
    while True:
        bound = {name for name, _ in bindings}
        more = {name for name in bound if all(_counts(e, found | {name}) for n, e in bindings if n == name)}
        if more <= found:
            return found
        found |= more


def _bindings(tree: ast.FunctionDef) -> Iterator[tuple[str, ast.expr | None]]:
    """Names that are assigned, each with an expression for the lower bound of its values, or `None`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            yield node.target.id, _first_of(node.iter)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, (ast.For, ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (
                n for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            )
            yield from ((name.id, None) for name in names)


def _first_of(values: ast.expr) -> ast.expr | None:
    """The first value of an increasing range."""
    if not (isinstance(values, ast.Call) and isinstance(values.func, ast.Name) and values.func.id == "range"):
        return None
    return None if len(values.args) > 2 else values.args[0] if len(values.args) == 2 else ast.Constant(0)


def _counts(value: ast.expr | None, counts: set[str]) -> bool:
    """Whether an integer expression is non-negative."""
    if isinstance(value, ast.Constant):
        return type(value.value) is int and value.value >= 0
    if isinstance(value, ast.Name):
        return value.id in counts
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Mult)):
        return _counts(value.left, counts) and _counts(value.right, counts)
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.FloorDiv, ast.Mod)):
        return _counts(value.left, counts) and isinstance(value.right, ast.Constant) and _counts(value.right, counts)
    if isinstance(value, ast.IfExp):
        return _counts(value.body, counts) and _counts(value.orelse, counts)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "max":
        return any(_counts(argument, counts) for argument in value.args)
    return False
