"""Derivatives of expressions: the table of rules, and sums and products in which 0 and 1 are folded."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping

from .ir import expression

ZERO, ONE = ast.Constant(0.0), ast.Constant(1.0)

RULES: dict[str, tuple[str, ...]] = {
    "abs": ("0.0 if u == 0.0 else d if u > 0.0 else -d",),
    "acos": ("-d / math.sqrt(1.0 - u * u)",),
    "acosh": ("d / math.sqrt(u * u - 1.0)",),
    "asin": ("d / math.sqrt(1.0 - u * u)",),
    "asinh": ("d / math.sqrt(u * u + 1.0)",),
    "atan": ("d / (1.0 + u * u)",),
    "atan2": ("d * v / (u * u + v * v)", "-d * u / (u * u + v * v)"),
    "atanh": ("d / (1.0 - u * u)",),
    "cos": ("-d * math.sin(u)",),
    "cosh": ("d * math.sinh(u)",),
    "erf": ("d * 1.1283791670955126 * math.exp(-u * u)",),  # 2 / sqrt(pi)
    "erfc": ("-d * 1.1283791670955126 * math.exp(-u * u)",),
    "exp": ("d * r",),
    "expm1": ("d * math.exp(u)",),
    "hypot": ("d * u / r if r != 0.0 else 0.0", "d * v / r if r != 0.0 else 0.0"),
    "log": ("d / u",),
    "log10": ("d * 0.4342944819032518 / u",),  # 1 / log(10)
    "log1p": ("d / (1.0 + u)",),
    "log2": ("d * 1.4426950408889634 / u",),  # 1 / log(2)
    # Half for equal operands, the mean of the derivatives on both sides, as that of `abs` at 0. So a stable form of a
    # smooth function has its derivative at 0, too: `max(v, 0.0) + log1p(exp(-abs(v)))` has 0.5.
    "max": ("d if u > v else 0.5 * d if u == v else 0.0", "d if v > u else 0.5 * d if u == v else 0.0"),
    "min": ("d if u < v else 0.5 * d if u == v else 0.0", "d if v < u else 0.5 * d if u == v else 0.0"),
    # No product of 0 and infinity: for an exponent of 0, and for a base of 0.
    "pow": ("d * v * u ** (v - 1.0) if v != 0.0 else 0.0", "d * r * math.log(u) if u > 0.0 else 0.0"),
    "sin": ("d * math.cos(u)",),
    "sinh": ("d * math.cosh(u)",),
    "sqrt": ("0.5 * d / r",),
    "tan": ("d * (1.0 + r * r)",),
    "tanh": ("d * (1.0 - r * r)",),
}
"""Partial derivatives of functions of `u` and `v`, times the derivative `d` of that argument; `r` is the result."""
CASTS = frozenset({"double", "real"})
CONSTANT = frozenset({"ceil", "floor", "int", "isfinite", "isinf", "isnan", "len", "round", "trunc"})
"""Piecewise constant functions: their derivative is 0 wherever they have one."""


def number(node: ast.expr) -> float | None:
    """The number of a constant; None for another expression."""
    value = node.value if isinstance(node, ast.Constant) else None
    return float(value) if isinstance(value, (int, float)) else None


def is_zero(node: ast.expr) -> bool:
    """Whether an expression is the number 0."""
    return number(node) == 0.0


def multiply(a: ast.expr, b: ast.expr) -> ast.expr:
    """The product; from a branch that is 0 remains 0, also where the other factor is infinite."""
    if is_zero(a) or is_zero(b):
        return ZERO
    m, n = number(a), number(b)
    for factor, other in ((m, b), (n, a)):
        if factor in (1.0, -1.0):
            return other if factor == 1.0 else negate(other)
    if isinstance(b, ast.IfExp):
        return select(b.test, multiply(a, b.body), multiply(a, b.orelse))
    if isinstance(a, ast.IfExp):
        return select(a.test, multiply(a.body, b), multiply(a.orelse, b))
    if isinstance(b, ast.UnaryOp) and isinstance(b.op, ast.USub):
        return negate(multiply(a, b.operand))
    if isinstance(b, ast.BinOp) and isinstance(b.op, ast.Mult):
        return multiply(multiply(a, b.left), b.right)
    if isinstance(b, ast.BinOp) and isinstance(b.op, ast.Div):
        return divide(multiply(a, b.left), b.right)
    if m is not None and n is not None:
        return ast.Constant(m * n)
    return ast.BinOp(a, ast.Mult(), b)


def divide(a: ast.expr, b: ast.expr) -> ast.expr:
    """The quotient, 0 for a dividend that is 0."""
    if is_zero(a):
        return ZERO
    if isinstance(a, ast.IfExp):
        return select(a.test, divide(a.body, b), divide(a.orelse, b))
    return ast.BinOp(a, ast.Div(), b)


def add(a: ast.expr, b: ast.expr) -> ast.expr:
    """The sum."""
    if is_zero(a) or is_zero(b):
        return b if is_zero(a) else a
    m, n = number(a), number(b)
    if m is not None and n is not None:
        return ast.Constant(m + n)
    return ast.BinOp(a, ast.Sub(), negate(b)) if _is_negative(b) else ast.BinOp(a, ast.Add(), b)


def negate(node: ast.expr) -> ast.expr:
    """The negative of an expression, with the sign at its first factor."""
    if is_zero(node):
        return ZERO
    value = number(node)
    if value is not None:
        return ast.Constant(-value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return node.operand
    if isinstance(node, ast.IfExp):
        return select(node.test, negate(node.body), negate(node.orelse))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        return ast.BinOp(node.right, ast.Sub(), node.left)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        return ast.BinOp(negate(node.left), node.op, node.right)
    return ast.UnaryOp(ast.USub(), node)


def select(test: ast.expr, body: ast.expr, orelse: ast.expr) -> ast.expr:
    """A conditional expression, or its value if both branches have the same."""
    return body if ast.dump(body) == ast.dump(orelse) else ast.IfExp(test, body, orelse)


def partial_derivative(function: str, place: int, values: Mapping[str, ast.expr]) -> ast.expr:
    """A rule of the table with expressions for `u`, `v`, `r` and `d`."""
    return _filled(_rule(RULES[function][place]), values)


_rule = functools.cache(expression)


def _filled(node: ast.expr, values: Mapping[str, ast.expr]) -> ast.expr:
    if isinstance(node, ast.Name):
        return values.get(node.id, node)
    if isinstance(node, ast.UnaryOp):
        return negate(_filled(node.operand, values))
    if isinstance(node, ast.IfExp):
        test, body, orelse = (_filled(part, values) for part in (node.test, node.body, node.orelse))
        return select(test, body, orelse)
    if isinstance(node, ast.Compare):
        return ast.Compare(_filled(node.left, values), node.ops, [_filled(part, values) for part in node.comparators])
    if isinstance(node, ast.Call):
        return ast.Call(node.func, [_filled(part, values) for part in node.args], [])
    if isinstance(node, ast.BinOp):
        a, b = _filled(node.left, values), _filled(node.right, values)
        if isinstance(node.op, ast.Sub):
            return add(a, negate(b))
        combine = {ast.Add: add, ast.Mult: multiply, ast.Div: divide}.get(type(node.op))
        return combine(a, b) if combine is not None else ast.BinOp(a, node.op, b)
    return node


def _is_negative(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        return _is_negative(node.left)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub)
    value = number(node)
    return value is not None and value < 0.0
