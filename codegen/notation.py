"""Formulas in code spans of descriptions, such as `y[t] = act(x[t] + y[t-1] @ weight)`, in LaTeX."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from .expressions import ATOM, PRODUCT, Expressions, NoFormula, name_text, subscripted

_SPANS = re.compile(r"(?:`[^`]+`[,;.]?\s*)+")
_SPAN = re.compile(r"`([^`]+)`")


def written_formulas(paragraph: str) -> list[str]:
    """The formulas of a paragraph that has nothing else; none where a span is not `name = expression`."""
    if not _SPANS.fullmatch(paragraph):
        return []
    try:
        return [_equation(" ".join(span.split())) for span in _SPAN.findall(paragraph)]
    except NoFormula:
        return []


def _equation(text: str) -> str:
    try:
        statement, *others = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError) as error:
        # A description is any text; most code spans are not equations.
        raise NoFormula from error
    if others or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        raise NoFormula
    reader = _Written()
    return f"{reader.text(statement.targets[0], {})} = {reader.text(statement.value, {})}"


class _Written(Expressions):
    """Expressions over whole tensors: names are unchanged, `@` is the matrix product."""

    def __init__(self) -> None:
        self.groups: dict[str, str] = {}

    def _name(self, node: ast.Name, _: Mapping[str, str]) -> tuple[str, int]:
        return name_text(node.id), ATOM

    def _subscript(self, node: ast.Subscript, values: Mapping[str, str]) -> tuple[str, int]:
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return subscripted(self.text(node.value, values), [self.text(index, values) for index in indices]), ATOM

    def _binop(self, node: ast.BinOp, values: Mapping[str, str]) -> tuple[str, int]:
        if isinstance(node.op, ast.MatMult):
            left, right = (self._at_least(PRODUCT, side, values) for side in (node.left, node.right))
            return rf"{left}\, {right}", PRODUCT
        return super()._binop(node, values)
