"""Expressions of point functions in LaTeX."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence

from paddle_layers.define import LayerDefinition
from paddle_layers.define.functions.ir import callee, indices_of
from paddle_layers.define.functions.point_functions import Function

GREEK = frozenset(
    {
        *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"),
        *("nu", "xi", "pi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega"),
    }
)
FUNCTIONS = {
    "exp": r"\exp", "log": r"\log", "tanh": r"\tanh", "sinh": r"\sinh", "cosh": r"\cosh", "sin": r"\sin",
    "cos": r"\cos", "tan": r"\tan", "atan": r"\arctan", "erf": r"\operatorname{erf}", "erfc": r"\operatorname{erfc}",
    "max": r"\max", "min": r"\min",
}  # fmt: skip
CONSTANTS = {"inf": r"\infty", "nan": r"\text{NaN}", "pi": r"\pi", "e": r"\mathrm{e}"}
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "=", ast.NotEq: r"\ne", ast.Lt: "<", ast.LtE: r"\le", ast.Gt: ">", ast.GtE: r"\ge",
}  # fmt: skip
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip

NEIGHBOURS = {"before": ("- 1", "first"), "after": ("+ 1", "last")}
"""Rows before the first one of a recurrence, in its order; a negative index is before the first row."""

SUM, PRODUCT, POWER, ATOM = 1, 2, 3, 4
"""Operator precedence: an expression with a lower one than its context needs parentheses."""
OPERATORS: dict[type[ast.operator], tuple[str, int, int, int]] = {
    ast.Add: ("{} + {}", SUM, SUM, SUM),
    ast.Sub: ("{} - {}", SUM, PRODUCT, SUM),
    ast.Mult: (r"{} \cdot {}", PRODUCT, PRODUCT, PRODUCT),
    ast.MatMult: (r"{}\, {}", PRODUCT, PRODUCT, PRODUCT),
    ast.Div: (r"\frac{{{}}}{{{}}}", 0, 0, PRODUCT),
    ast.FloorDiv: (r"\lfloor {} / {} \rfloor", PRODUCT, POWER, ATOM),
    ast.Mod: (r"{} \bmod {}", POWER, POWER, SUM),
    ast.Pow: ("{}^{{{}}}", ATOM, 0, POWER),
}
"""The form of each operation, the precedence that it needs of both operands, and its own."""
FORMS = {
    "sqrt": (r"\sqrt{{{}}}", ATOM),
    "abs": (r"\left|{}\right|", ATOM),
    "fabs": (r"\left|{}\right|", ATOM),
    "len": ("|{}|", ATOM),
    # Written out, because readers know the formula, not the function that keeps its digits.
    "log1p": (r"\log\left(1 + {}\right)", PRODUCT),
    "expm1": (r"\left(\exp\left({}\right) - 1\right)", ATOM),
}
"""Functions of one argument that are not written as `name(argument)`, with their precedence."""


class NoFormula(Exception):
    """A function, or a part of it, has no form as a formula."""


def name_text(name: str) -> str:
    """A name: single letters and Greek ones as they are, `C_i` with an index, words in one piece."""
    # An underscore distinguishes a name from a keyword or a built-in, such as `lambda_`.
    name = name.rstrip("_")
    if name in GREEK:
        return rf"\{name}"
    if len(name) == 1:
        return name
    if len(name) == 3 and name[1] == "_":
        return f"{name[0]}_{{{name[2]}}}"
    return rf"\mathit{{{escaped(name)}}}"


def escaped(text: str) -> str:
    """Characters of a name or choice that LaTeX would take for its own."""
    return "".join(rf"\{c}" if c in r"_#$%&{}" else c for c in text if c not in "\\^~`<>")


def subscripted(text: str, indices: Sequence[str]) -> str:
    """`x` with its indices; `C_i` gives its own for them."""
    return f"{text.partition('_{')[0]}_{{{', '.join(indices)}}}" if indices else text


def cases(condition: str, then: str, otherwise: str) -> str:
    r"""Two values in a brace; a brace in the second place goes on in the same one."""
    head = rf"{then} & \text{{if }} {condition} \\ "
    begin, end = r"\begin{cases} ", r" \end{cases}"
    # An `elif` chain is one brace with several rows, not nested braces.
    if otherwise.startswith(begin) and otherwise.endswith(end) and otherwise.count(begin) == 1:
        return begin + head + otherwise.removeprefix(begin)
    return rf"{begin}{head}{otherwise} & \text{{otherwise}}{end}"


def replaced(text: str, part: str, name: str) -> str:
    """The text with a name instead of a subexpression: in parentheses, or one that needs none."""
    text = text.replace(rf"\left({part}\right)", name)
    if not _CLOSED.fullmatch(part) or _depth_falls(part):
        return text
    # Not after a differential, and not before an index or exponent: `x_t` must not be replaced in `dx_t` or `x_t^2`.
    return re.sub(rf"(?<!\\mathrm{{d}}){re.escape(part)}(?![_^\w])", lambda _: name, text)


_CLOSED = re.compile(r"\\frac\{.*\}|\\(?:operatorname|mathit)\{[^{}]*\}'?(?:_\{[^{}]*\}|\\left\(.*\\right\))")


_ELEMENT = re.compile(r"(?:\w|\\[a-z]+|\\math(?:it|rm)\{[^{}]*\})_\{[^{}]*\}")


def _depth_falls(part: str) -> bool:
    """Whether the last bracket of a string does not match the first, as in `f(a) + f(b)`."""
    depth, closed = 0, 0
    for token in re.findall(r"\\left|\\right|[{}]", part):
        depth += 1 if token in (r"\left", "{") else -1
        closed += depth == 0
    return closed > 2


class Expressions:
    """Expressions of one function."""

    def __init__(self, layer: LayerDefinition, function: Function) -> None:
        self.layer, self.function = layer, function
        self.groups = {group: group.lower() for group in layer.groups.values()}

    def name(self, name: str) -> str:
        """A tensor, attribute or index; `dx` is the derivative by `x`."""
        if name not in self.layer.fields and name[0] == "d" and name[1:] in self.layer.fields:
            return rf"\mathrm{{d}}{name_text(name[1:])}"
        return name_text(name)

    def text(self, node: ast.expr, values: Mapping[str, str]) -> str:
        """The expression; `values` has the replacements of local names. Raises `NoFormula`."""
        return self._visit(node, values)[0]

    def term(self, node: ast.expr, values: Mapping[str, str]) -> str:
        """The expression as a term of a sum."""
        return self._at_least(PRODUCT, node, values)

    def members(self, first: ast.expr, last: ast.expr) -> str:
        """The sequences whose rows are the range from `S_start[s]` to `S_start[s + 1]`; empty for other bounds."""
        begin, end = ast.unparse(first), ast.unparse(last)
        array, _, index = begin.removesuffix("]").partition("_start[")
        if end != f"{array}_start[{index} + 1]":
            return ""
        return name_text(index) if array in self.groups else subscripted(name_text(array), [name_text(index)])

    def _visit(self, node: ast.expr, values: Mapping[str, str]) -> tuple[str, int]:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise NoFormula
        text, holds = method(node, values)
        return str(text), int(holds)

    def _at_least(self, needed: int, node: ast.expr, values: Mapping[str, str]) -> str:
        text, holds = self._visit(node, values)
        return text if holds >= needed else rf"\left({text}\right)"

    # ---- kinds of expressions

    def _name(self, node: ast.Name, values: Mapping[str, str]) -> tuple[str, int]:
        if node.id == "training":
            return r"\text{training}", ATOM
        if node.id in values:
            text = values[node.id]
            return text, ATOM if _is_atom(text) else SUM
        # A module constant of the layer's file is part of the formula as a number.
        constant = self.function.call.__globals__.get(node.id)
        if isinstance(constant, (int, float)) and not isinstance(constant, bool):
            return _number(constant), ATOM
        raise NoFormula

    def _constant(self, node: ast.Constant, _: Mapping[str, str]) -> tuple[str, int]:
        if isinstance(node.value, bool):
            return rf"\text{{{str(node.value).lower()}}}", ATOM
        if isinstance(node.value, str):
            return rf"\mathrm{{{escaped(node.value)}}}", ATOM
        if isinstance(node.value, (int, float)):
            return _number(node.value), ATOM
        raise NoFormula

    def _attribute(self, node: ast.Attribute, _: Mapping[str, str]) -> tuple[str, int]:
        if isinstance(node.value, ast.Name) and node.value.id == "math" and node.attr in CONSTANTS:
            return CONSTANTS[node.attr], ATOM
        raise NoFormula

    def _subscript(self, node: ast.Subscript, values: Mapping[str, str]) -> tuple[str, int]:
        if ast.unparse(node.value).endswith(".shape"):
            return self._size(node), ATOM
        indices: list[ast.expr] = []
        base: ast.expr = node
        while isinstance(base, ast.Subscript):
            indices[:0] = indices_of(base)
            base = base.value
        if (neighbour := self._neighbour(node, values)) is not None:
            return f"{neighbour[0]} {NEIGHBOURS[neighbour[1]][0]}", SUM
        # Index arrays of the runtime belong to no formula; where sums run over sequences, `members` has replaced them.
        if not isinstance(base, ast.Name) or base.id not in values or base.id.endswith(("_start", "_row", "_map")):
            raise NoFormula
        field = self.layer.fields.get(base.id)
        if field is not None and not field.axes:
            return values[base.id], ATOM
        texts = [self.text(index, values) for index in indices]
        # A brace within an index is unreadable; the source is shown instead.
        if any("cases" in text for text in texts):
            raise NoFormula
        return subscripted(self._part(base.id) or values[base.id], texts), ATOM

    def _neighbour(self, node: ast.expr, values: Mapping[str, str]) -> tuple[str, str] | None:
        """For the row beside another, `before` or `before_of[t]`: the index of that other, and the direction."""
        if isinstance(node, ast.Name) and node.id in NEIGHBOURS and node.id in self.function.args:
            return name_text(self.function.indices[0]), node.id
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            name = node.value.id.removesuffix("_of")
            if name in NEIGHBOURS and name != node.value.id and isinstance(node.slice, ast.Name):
                return self.text(node.slice, values), name
        return None

    def _part(self, name: str) -> str:
        """`x_id` and `x_value` of a sparse input: column and value of an entry."""
        owner, _, part = name.rpartition("_")
        return name_text(part) if owner in self.layer.inputs and part in ("id", "value") else ""

    def _size(self, node: ast.Subscript) -> str:
        """`x.shape[1]`: the name of the axis, if it has one."""
        assert isinstance(node.value, ast.Attribute)
        name, place = ast.unparse(node.value.value), node.slice
        field = self.layer.fields.get(name.removeprefix("d") if name not in self.layer.fields else name)
        if field is None or not isinstance(place, ast.Constant) or not isinstance(place.value, int):
            raise NoFormula
        if place.value >= len(field.axes):
            raise NoFormula
        axis = field.axes[place.value].name.rstrip(".")
        return name_text(axis) if axis else rf"|{name_text(field.indices[place.value])}|"

    def _binop(self, node: ast.BinOp, values: Mapping[str, str]) -> tuple[str, int]:
        left, right = node.left, node.right
        if isinstance(node.op, ast.Sub) and (owner := self.members(right, left)):
            return rf"|{owner}|", ATOM
        # Functions write `x * x`, which is faster than a power; the formula says what is meant.
        if isinstance(node.op, ast.Mult) and ast.unparse(left) == ast.unparse(right):
            return f"{self._at_least(ATOM, left, values)}^2", POWER
        if type(node.op) not in OPERATORS:
            raise NoFormula
        form, first, second, holds = OPERATORS[type(node.op)]
        return form.format(self._at_least(first, left, values), self._at_least(second, right, values)), holds

    def _unaryop(self, node: ast.UnaryOp, values: Mapping[str, str]) -> tuple[str, int]:
        if isinstance(node.op, ast.USub):
            return f"-{self._at_least(PRODUCT, node.operand, values)}", SUM
        if isinstance(node.op, ast.Not):
            return self._negated(node.operand, values), SUM
        raise NoFormula

    def _negated(self, node: ast.expr, values: Mapping[str, str]) -> str:
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPPOSITE:
            other = OPPOSITE[type(node.ops[0])]()
            return self.text(ast.Compare(node.left, [other], node.comparators), values)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.text(node.operand, values)
        return rf"\lnot {self._at_least(ATOM, node, values)}"

    def _boolop(self, node: ast.BoolOp, values: Mapping[str, str]) -> tuple[str, int]:
        sign = r" \land " if isinstance(node.op, ast.And) else r" \lor "
        parts = [self._condition(value, values) for value in node.values]
        return sign.join(parts), SUM

    def _condition(self, node: ast.expr, values: Mapping[str, str]) -> str:
        text = self.text(node, values)
        return rf"\left({text}\right)" if isinstance(node, ast.BoolOp) else text

    def _compare(self, node: ast.Compare, values: Mapping[str, str]) -> tuple[str, int]:
        right = node.comparators[0]
        if isinstance(right, ast.Constant) and right.value is None:
            given = r"\text{ is given}" if isinstance(node.ops[0], ast.IsNot) else r"\text{ is absent}"
            return self.text(node.left, values) + given, SUM
        if (neighbour := self._neighbour(node.left, values)) is not None:
            negation = "" if isinstance(node.ops[0], ast.Lt) else "not "
            return rf"{neighbour[0]} \text{{ is {negation}the {NEIGHBOURS[neighbour[1]][1]}}}", SUM
        text = self.text(node.left, values)
        for op, other in zip(node.ops, node.comparators, strict=True):
            if type(op) not in COMPARISONS:
                raise NoFormula
            text += f" {COMPARISONS[type(op)]} {self.text(other, values)}"
        return text, SUM

    def _ifexp(self, node: ast.IfExp, values: Mapping[str, str]) -> tuple[str, int]:
        parts = (self.text(part, values) for part in (node.test, node.body, node.orelse))
        return cases(*parts), ATOM

    def _call(self, node: ast.Call, values: Mapping[str, str]) -> tuple[str, int]:
        name = callee(node).removeprefix("math.")
        # Conversions matter for precision, not for the formula.
        if name in ("real", "float", "int") and len(node.args) == 1:
            return self._visit(node.args[0], values)
        if name == "times" and len(node.args) == 2:  # a product all the same
            return self._visit(ast.BinOp(node.args[0], ast.Mult(), node.args[1]), values)
        if chosen := _chosen(node):
            prime = "'" if name.endswith("_derivative") else ""
            return rf"\operatorname{{{escaped(chosen)}}}{prime}\left({self.text(node.args[0], values)}\right)", PRODUCT
        arguments = [self.text(argument, values) for argument in node.args]
        if name in FORMS and arguments:
            form, holds = FORMS[name]
            return form.format(arguments[0]), holds
        called = FUNCTIONS.get(name) or rf"\operatorname{{{escaped(name)}}}"
        return rf"{called}\left({_listed(arguments)}\right)", PRODUCT


def _chosen(call: ast.Call) -> str:
    """The attribute that says which function a helper is: `activate(v, act == "tanh", act == "relu")` is `act(v)`."""
    asked = call.args[1:]
    names = {ast.unparse(argument.left) for argument in asked if isinstance(argument, ast.Compare)}
    all_asked = all(isinstance(a, ast.Compare) and isinstance(a.comparators[0], ast.Constant) for a in asked)
    return names.pop() if asked and all_asked and len(names) == 1 else ""


def _listed(texts: Iterable[str]) -> str:
    return r",\ ".join(texts)


def _number(value: float) -> str:
    text = f"{value:.6g}".replace("inf", CONSTANTS["inf"])
    if "e" in text:
        digits, _, exponent = text.partition("e")
        return rf"{digits} \cdot 10^{{{int(exponent)}}}" if digits != "1" else f"10^{{{int(exponent)}}}"
    return text


def _is_atom(text: str) -> bool:
    """Whether a value needs no parentheses: a name, a number, a bracketed expression."""
    if text.startswith((r"\begin{cases}", r"\left(")) and text.endswith((r"\end{cases}", r"\right)")):
        return text.count(r"\left(") <= 1
    if _ELEMENT.fullmatch(text):
        return True
    return not any(sign in text for sign in (" ", "\\sum", "\\prod", "-"))
