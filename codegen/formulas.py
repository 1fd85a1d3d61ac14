"""Formulas in LaTeX: of point functions, derived from their source, and of code spans in descriptions."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from paddle_layers.define import LayerDefinition
from paddle_layers.define.functions import ir
from paddle_layers.define.functions.point_functions import Function

from .expressions import ATOM, NEIGHBOURS, Expressions, NoFormula, cases, name_text, replaced, subscripted

_SPANS = re.compile(r"(?:`[^`]+`[,;.]?\s*)+")
_SPAN = re.compile(r"`([^`]+)`")


class Formula(NamedTuple):
    """The formula of a function, and the names that it introduces for subexpressions."""

    lines: tuple[str, ...]
    """`left = right`, in LaTeX; one for each target."""
    where: tuple[str, ...]


def formula(layer: LayerDefinition, function: Function) -> Formula | None:
    """The formula of a point function; None where it has none."""
    try:
        return _FormulaBuilder(layer, function).read()
    except NoFormula:
        return None


LONGEST, MOST = 900, 2600
"""Characters of a line and of all lines of a formula; a longer one explains less than the function's text."""

_SIGNS = {"+": r"\sum", "-": r"-\sum", "*": r"\prod", "max": r"\max", "min": r"\min"}
_EMPTY = {r"\sum": "0", r"\prod": "1", r"\max": r"-\infty", r"\min": r"\infty"}


class _Reduction(NamedTuple):
    """A reduction of loops: `total += term`, with the ranges of each loop."""

    sign: str
    term: str
    domains: tuple[str, ...]

    def text(self) -> str:
        """The signs, outermost first, and the term."""
        sign = self.sign.removeprefix("-")
        return " ".join([*(f"{sign}_{{{domain}}}" for domain in self.domains), self.term])


class _FormulaBuilder:
    """Reads a function's statements in order; `values` are the local names that have a value by now."""

    def __init__(self, layer: LayerDefinition, function: Function) -> None:
        self.function, tree = function, function.program.tree
        self.expressions = Expressions(layer, function)
        self.where: dict[str, str] = {}
        self.loads = Counter(ir.occurrences(tree, ast.Load))
        # A name that is assigned once is a definition and may be listed below the formula; one that changes has no
        # single value.
        self.changing = {name for name, times in Counter(ir.occurrences(tree, ast.Store)).items() if times > 1}
        self.returned = self._returned(tree)

    def _returned(self, tree: ast.AST) -> dict[str, str]:
        """Local names that are returned as they are, with the target that each becomes."""
        found: dict[str, set[str]] = {}
        for node in ir.all_of(tree, ast.Return):
            if node.value is not None:
                for item, target in zip(ir.items_of(node.value), self.function.target_names, strict=False):
                    if isinstance(item, ast.Name) and item.id not in self.changing:
                        found.setdefault(item.id, set()).add(target)
        own = set(self.function.args) | set(self.function.indices)
        return {name: targets.pop() for name, targets in found.items() if len(targets) == 1 and name not in own}

    def read(self) -> Formula:
        if self.function.role in ("fill", "bias") or self.function.used:
            raise NoFormula
        known = {name: self.expressions.name(name) for name in self.function.args}
        row = name_text(self.function.indices[0]) if self.function.indices else ""
        known |= {name: f"{row} {step}" for name, (step, _) in NEIGHBOURS.items() if name in known}
        right = self._block(self.function.program.tree.body, known)
        left = [self._element(target) for target in self.function.target_names]
        lines = tuple(f"{name} = {value}" for name, value in zip(left, right, strict=True))
        where = tuple(f"{name} = {value}" for name, value in self.where.items())
        lengths = [len(line) for line in lines + where]
        if max(lengths) > LONGEST or sum(lengths) > MOST:
            raise NoFormula
        return Formula(lines, where)

    def _block(self, body: list[ast.stmt], known: Mapping[str, str]) -> tuple[str, ...]:
        """The values that a block returns."""
        values = dict(known)
        for at, statement in enumerate(body):
            if isinstance(statement, ast.Return) and statement.value is not None:
                return self._linked([self._result(item, values) for item in ir.items_of(statement.value)])
            if isinstance(statement, ast.If) and _returns(statement.body):
                condition = self.expressions.text(statement.test, values)
                rest = body[at + 1 :]  # a branch that does not return goes on here
                then = self._block([*statement.body, *rest], values)
                otherwise = self._block([*statement.orelse, *rest], values)
                return tuple(a if a == b else cases(condition, a, b) for a, b in zip(then, otherwise, strict=True))
            self._statement(statement, values)
        raise NoFormula

    def _linked(self, results: list[str]) -> tuple[str, ...]:
        """Values of several targets: if the formula of one is part of another's, its name replaces it there."""
        parts = sorted(zip(results, self.function.target_names, strict=True), key=lambda part: -len(part[0]))
        linked = []
        for result in results:
            text = result
            for part, target in parts:
                if part != result:
                    text = replaced(text, part, self._element(target))
            linked.append(text)
        return tuple(linked)

    def _result(self, item: ast.expr, values: Mapping[str, str]) -> str:
        if isinstance(item, ast.Name) and item.id in self.returned:
            return self.where.pop(self._element(self.returned[item.id]), values[item.id])
        return self.expressions.text(item, values)

    def _element(self, target: str) -> str:
        return subscripted(self.expressions.name(target), [name_text(index) for index in self.function.indices])

    def _statement(self, statement: ast.stmt, values: dict[str, str]) -> None:
        match statement:
            case ast.Assign([ast.Name(name)], value):
                self._assign(name, value, values)
            case ast.Assign() | ast.AugAssign():
                # The right side is evaluated first: `a, b = b, a` swaps.
                bindings = ir.own_bindings(statement)
                values |= {_local(target): self.expressions.text(value, values) for target, value, _ in bindings}
            case ast.If():
                self._assigning_if(statement, values)
            case ast.For():
                self._loop(statement, values)
            case _:
                raise NoFormula

    def _assign(self, name: str, value: ast.expr, values: dict[str, str]) -> None:
        """A short value, or one that is used once, is inlined; others are listed below."""
        text = self.expressions.text(value, values)
        own = name in self.returned
        short = isinstance(value, (ast.Constant, ast.Name)) or self.loads[name] <= 1
        if name in self.changing or (short and not own and not isinstance(value, ast.IfExp)):
            values[name] = text
            return
        left = self._element(self.returned[name]) if own else self.expressions.name(name)
        if self.where.setdefault(left, text) != text:
            raise NoFormula  # one name for two things
        values[name] = left

    def _assigning_if(self, statement: ast.If, values: dict[str, str]) -> None:
        condition = self.expressions.text(statement.test, values)
        branches = []
        for body in (statement.body, statement.orelse):
            inner = dict(values)
            for one in body:
                self._statement(one, inner)
            branches.append(inner)
        then, otherwise = branches
        for name in then.keys() | otherwise.keys():
            if name not in then or name not in otherwise:
                values.pop(name, None)  # whoever reads it has no formula
            elif then[name].startswith(f"{otherwise[name]} + "):
                added = then[name].removeprefix(f"{otherwise[name]} + ")
                values[name] = f"{otherwise[name]} + {cases(condition, added, '0')}"
            elif then[name] != otherwise[name]:
                values[name] = cases(condition, then[name], otherwise[name])

    # ---- loops

    def _loop(self, loop: ast.For, values: dict[str, str]) -> None:
        for name, folds in self._folds(loop, (), values).items():
            if len({fold.sign.removeprefix("-") for fold in folds}) > 1:
                raise NoFormula
            for fold in folds:
                values[name] = _folded(values.get(name, ""), fold)

    def _folds(self, loop: ast.For, outer: tuple[str, ...], values: Mapping[str, str]) -> dict[str, list[_Reduction]]:
        """The accumulations of a loop by name. Raises `NoFormula` for a loop that does anything else."""
        if not isinstance(loop.target, ast.Name) or loop.orelse:
            raise NoFormula
        inner = {**values, loop.target.id: name_text(loop.target.id)}
        found: dict[str, list[_Reduction]] = {}
        self._accumulations(loop.body, (*outer, self._domain(loop, inner)), inner, found)
        # A running sum that is read within the loop depends on the order of iterations, which a sum sign does not
        # express.
        if ir.reads_of_accumulators(loop, found):
            raise NoFormula
        return found

    def _domain(self, loop: ast.For, values: Mapping[str, str]) -> str:
        """The range of a loop, below the sum sign."""
        bounds = ir.range_of(loop)
        if bounds is None or ast.unparse(bounds.step) != "1":
            raise NoFormula
        index = self.expressions.text(loop.target, values)
        if owner := self.expressions.members(bounds.first, bounds.last):
            return rf"{index} \in {owner}"
        first, last = (self.expressions.text(bound, values) for bound in bounds[:2])
        return rf"{index} < {last}" if first == "0" else rf"{first} \le {index} < {last}"

    def _accumulations(
        self, body: list[ast.stmt], domains: tuple[str, ...], values: dict[str, str], found: dict[str, list[_Reduction]]
    ) -> None:
        for statement in body:
            if (one := ir.accumulation_of(statement)) is not None:
                reduction = _Reduction(_SIGNS[one.sign], self.expressions.term(one.term, values), domains)
                found.setdefault(one.name, []).append(reduction)
            elif isinstance(statement, ast.If):
                for test, branch in _branches(statement):
                    condition = self.expressions.text(test, values)
                    # A condition of the loop body restricts the range of the innermost sum.
                    under = (*domains[:-1], rf"{domains[-1]},\ {condition}")
                    self._accumulations(branch, under, dict(values), found)
            elif isinstance(statement, ast.For):
                for name, folds in self._folds(statement, domains, values).items():
                    found.setdefault(name, []).extend(folds)
            elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                if statement.targets[0].id in values:
                    raise NoFormula  # the last value wins: no accumulation
                self._assign(statement.targets[0].id, statement.value, values)
            else:
                raise NoFormula


def _folded(start: str, fold: _Reduction) -> str:
    """An initial value combined with the reduction of a loop."""
    sign, text = fold.sign.removeprefix("-"), fold.text()
    if fold.sign.startswith("-"):
        return f"{'' if start in ('', '0') else start} - {text}"
    if start in ("", _EMPTY[sign]):
        return text
    if sign in (r"\max", r"\min"):
        return rf"{sign}\left({start},\ {text}\right)"
    return f"{start} + {text}" if sign == r"\sum" else rf"{start} \cdot {text}"


def _local(target: ast.expr) -> str:
    if not isinstance(target, ast.Name):
        raise NoFormula
    return target.id


def _branches(statement: ast.If) -> list[tuple[ast.expr, list[ast.stmt]]]:
    other = [(ast.UnaryOp(ast.Not(), statement.test), statement.orelse)] if statement.orelse else []
    return [(statement.test, statement.body), *other]


def _returns(body: list[ast.stmt]) -> bool:
    return any(ir.all_of(body, ast.Return))


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
    """Expressions over whole tensors, whose names are unchanged."""

    def __init__(self) -> None:
        self.groups: dict[str, str] = {}

    def _name(self, node: ast.Name, _: Mapping[str, str]) -> tuple[str, int]:
        return name_text(node.id), ATOM

    def _subscript(self, node: ast.Subscript, values: Mapping[str, str]) -> tuple[str, int]:
        indices = [self.text(index, values) for index in ir.indices_of(node)]
        return subscripted(self.text(node.value, values), indices), ATOM
