"""Fusion of elementwise launches into the epilogue table of a kernel (`kernels.primitives.epilogues`)."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

from paddle_layers.define.functions.program import Program

from .drivers import Array, Kernel
from .merging import is_own, value_of

ROW = "row_"
"""Row index of the table: mean, factor, shift, low and high."""


class _Affine(NamedTuple):
    """`(own - mean) * factor + shift`; None for 0, 1 and 0."""

    mean: ast.expr | None = None
    factor: ast.expr | None = None
    shift: ast.expr | None = None


def table_kernel(kernel: Kernel, source: str, zeros: Collection[str]) -> Kernel | None:
    """The kernel that computes the epilogue table of `kernel`, an elementwise map of `source`; `None` if not affine.

    It loops over rows, channels and positions. `zeros` are arguments that are 0.
    """
    value = value_of(kernel)
    if value is None or len(kernel.indices) != 3:
        return None
    # Rounding casts are dropped: sums in registers have the tensor's precision already, and casts would hide the affine
    # form.
    result = _plain(value.result, value.given)
    # Limits outermost, then scale and shift: the order in which the kernel applies the table.
    low, high, inner = _limits(result, zeros)
    found = _affine(inner, kernel, source)
    if found is None or not all(_of_channel(part, kernel) for part in (low, high)):
        return None
    rows = [found.mean or _number("0.0"), found.factor or _number("1.0"), found.shift or _number("0.0"), low]
    chosen = high
    for at, row in reversed([*enumerate(rows)]):
        chosen = ast.IfExp(_parsed(f"{ROW} == {at}"), row, chosen)
    names = {node.id for node in ast.walk(chosen) if isinstance(node, ast.Name)}
    specs = {name: spec for name, spec in kernel.args.items() if name in names}
    indices = (ROW, kernel.indices[1])
    arguments = [ast.arg(name) for name in (*indices, *specs)]
    tree = ast.FunctionDef(
        "epilogue", ast.arguments([], arguments, None, [], [], None, []), [ast.Return(chosen)], []
    )  # fmt: skip
    return replace(
        kernel,
        name=f"{kernel.name}_epilogue",
        program=Program(ast.fix_missing_locations(tree)),
        indices=indices,
        targets=("epilogue",),
        args={"epilogue": Array(2), **specs},
        accumulate=False,
    )


def _plain(value: ast.expr, given: Mapping[str, ast.expr]) -> ast.expr:
    """An expression with its assigned names substituted, and without rounding of floating-point values."""

    class Plain(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return _plain(given[node.id], given) if node.id in given else node

        def visit_Call(self, node: ast.Call) -> ast.AST:
            self.generic_visit(node)
            rounds = isinstance(node.func, ast.Name) and node.func.id == "real"
            return node.args[0] if rounds and not isinstance(node.args[0], ast.Constant) else node

    found = Plain().visit(copy.deepcopy(value))
    assert isinstance(found, ast.expr)
    return found


def _limits(value: ast.expr, zeros: Collection[str]) -> tuple[ast.expr, ast.expr, ast.expr]:
    """The limits of relu and relu6, and the limited value; infinite ones without them."""
    match value:
        case ast.IfExp(
            ast.Compare(left, [ast.Gt()], [low]), kept, ast.Call(ast.Name("times"), [ast.Name(slope), other])
        ) if slope in zeros and _alike(left, kept, other) and ast.unparse(low) == "real(0.0)":
            return low, _parsed("real(math.inf)"), left
        case ast.IfExp(
            ast.Compare(left, [ast.LtE()], [low]), lowest,
            ast.IfExp(ast.Compare(again, [ast.GtE()], [high]), highest, kept),
        ) if _alike(left, again, kept) and _alike(low, lowest) and _alike(high, highest):  # fmt: skip
            return low, high, left
    return _parsed("real(-math.inf)"), _parsed("real(math.inf)"), value


def _affine(value: ast.expr, kernel: Kernel, source: str) -> _Affine | None:
    if is_own(value, kernel.indices):
        assert isinstance(value, ast.Subscript)
        return _Affine() if ast.unparse(value.value) == source else None
    if not isinstance(value, ast.BinOp):
        return None
    inner, other = value.left, value.right
    found = _affine(inner, kernel, source)
    if found is None and not isinstance(value.op, ast.Sub):
        inner, other = other, inner
        found = _affine(inner, kernel, source)
    if found is None or not _of_channel(other, kernel):
        return None
    match value.op:
        case ast.Mult():
            shift = found.shift and ast.BinOp(found.shift, ast.Mult(), other)
            return found._replace(factor=_joined(found.factor, ast.Mult(), other), shift=shift)
        case ast.Add():
            return found._replace(shift=_joined(found.shift, ast.Add(), other))
        # A mean is only subtracted first: after a factor, the kernel's order of operations would round differently.
        case ast.Sub() if found == _Affine():
            return _Affine(mean=other)
    return None


def _joined(first: ast.expr | None, operator: ast.operator, other: ast.expr) -> ast.expr:
    return other if first is None else ast.BinOp(first, operator, other)


def _of_channel(value: ast.expr, kernel: Kernel) -> bool:
    """Whether an expression is constant per channel: numbers, and elements of vectors of channels."""
    channel = kernel.indices[1]
    vectors = {name for name, spec in kernel.args.items() if isinstance(spec, Array) and spec.ndim == 1}
    known = {"real", "math", *(name for name, spec in kernel.args.items() if spec == "real")}
    for node in ast.walk(value):
        if isinstance(node, ast.Subscript):
            if ast.unparse(node.value) not in vectors or ast.unparse(node.slice) != channel:
                return False
        elif isinstance(node, ast.Name) and node.id not in {*known, *vectors, channel}:
            return False
    return True


def _alike(*values: ast.expr) -> bool:
    return len({ast.unparse(value) for value in values}) == 1


def _number(text: str) -> ast.expr:
    return _parsed(f"real({text})")


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
