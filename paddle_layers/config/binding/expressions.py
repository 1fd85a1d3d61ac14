"""Expressions of `set` and `setting`: a name, sums and products of integers and settings, or one other value."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

Value = bool | int | float | str
Term = tuple[int, tuple[int | str, ...]]
"""A sign, and factors: numbers, and names of settings."""

# Together with the 64-bit limit, it bounds the work on a hostile file: Python's integers are unlimited, and a product
# of many factors would grow with every one.
LONGEST = 1000
"""Maximum length of an expression."""
LARGEST = 2**63
"""Limit of integers: 64 bits."""

NAME = re.compile(r"[A-Za-z_]\w*", re.A)
# A leading zero is no token (`(?![\w.])`): protobuf's text format reads 010 as octal, which would be a surprise in an
# expression.
_TOKEN = re.compile(
    r"""\s*(?:(?P<real>\d+\.\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)(?![\w.])
    |(?P<whole>0|[1-9]\d*)(?![\w.])|(?P<name>[A-Za-z_]\w*)|'(?P<text>[^']*)'|(?P<sign>[-+*]))""",
    re.X | re.A,
)
_TRUTH = {"true": True, "false": False}
_VALUES = "write a number, a setting, a sum of products of them, `true`, `false`, or a string in single quotes"


class ExpressionError(ValueError):
    """An expression that is malformed or has no value; `help` suggests a fix."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.message, self.help = message, help


class Expression(NamedTuple):
    """A value, or a sum of products."""

    literal: Value | None
    terms: tuple[Term, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The settings that it reads."""
        found = (factor for _, factors in self.terms for factor in factors if isinstance(factor, str))
        return tuple(dict.fromkeys(found))

    def value(self, settings: Mapping[str, Value]) -> Value:
        """Its value. Raises `ExpressionError` if values other than integers are added or multiplied."""
        if self.literal is not None:
            return self.literal
        (sign, factors), *others = self.terms
        # A setting alone is passed on with its type; only sums and products require integers.
        if not others and sign == 1 and len(factors) == 1 and isinstance(factors[0], str):
            return settings[factors[0]]
        return _within(sum(sign * _product(factors, settings) for sign, factors in self.terms))


class Assignment(NamedTuple):
    """`name = expression`; a name may occur alone."""

    name: str
    expression: Expression | None
    start: int
    """Its offset in the text."""


# Commas within single quotes do not separate; an open quote is taken to the end, so that the error names the whole
# item.
_PIECE = re.compile(r"[^,']*+(?:'[^']*+'[^,']*+)*+(?:'[^']*+)?")


def pieces(text: str) -> list[tuple[str, int]]:
    """The comma-separated items of a string, each with its offset; an empty list for an empty string."""
    found, position = [], 0
    while True:
        match = _PIECE.match(text, position)
        assert match is not None, "a piece may be empty"
        found.append((match[0].strip(), match.start() + len(match[0]) - len(match[0].lstrip())))
        if match.end() >= len(text):
            return found
        position = match.end() + 1


def assignment(text: str, start: int = 0) -> Assignment:
    """Read `name = expression`, or a name alone. Raises `ExpressionError`."""
    left, equals, right = text.partition("=")
    name = left.strip()
    if not NAME.fullmatch(name):
        what = f"expected a name and a value, found `{text[:80]}`" if text else "empty item in a list of settings"
        raise ExpressionError(what, 'write names and values, such as "filters = 64, stride = 2"')
    return Assignment(name, expression(right) if equals else None, start)


def expression(text: str) -> Expression:
    """Read a value. Raises `ExpressionError`."""
    if len(text) > LONGEST:
        raise ExpressionError(f"expression too long: {len(text):,} characters, maximum {LONGEST:,}")
    tokens = _tokens(text)
    literal = _literal(tokens)
    if literal is not None:
        return Expression(literal)
    terms: list[Term] = []
    factors: list[int | str] = []
    sign, wanted = 1, True
    for kind, word in tokens:
        if kind == "sign" and word == "*":
            if wanted:
                raise ExpressionError(f"missing operand before `*` in `{text.strip()}`", _VALUES)
            wanted = True
        elif kind == "sign" and wanted and factors:
            raise ExpressionError(f"missing operand between `*` and `{word}` in `{text.strip()}`", _VALUES)
        elif kind == "sign":
            if factors:
                terms.append((sign, tuple(factors)))
            elif terms or sign == -1:
                raise ExpressionError(f"two consecutive signs in `{text.strip()}`", _VALUES)
            sign, factors, wanted = (-1 if word == "-" else 1), [], True
        elif kind in ("real", "text") or word in _TRUTH:
            raise ExpressionError(f"only integers can be added and multiplied, found `{word}`")
        elif not wanted:
            raise ExpressionError(f"missing operator between `{factors[-1]}` and `{word}`", "write `+`, `-` or `*`")
        else:
            # 20 digits already exceed 64 bits, so the rest cannot change the verdict.
            factors.append(_within(int(word[:20])) if kind == "whole" else word)
            wanted = False
    if wanted:
        raise ExpressionError(f"missing value after `{tokens[-1][1] if tokens else '='}`", _VALUES)
    return Expression(None, (*terms, (sign, tuple(factors))))


def shown(value: Value) -> str:
    """A value as an expression."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"'{value}'" if isinstance(value, str) else repr(value)


def _tokens(text: str) -> list[tuple[str, str]]:
    found, position = [], 0
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        if match is None:
            rest = text[position:].strip()
            help_ = "separate settings by commas" if rest.startswith((";", "&")) else _VALUES
            raise ExpressionError(f"unexpected `{rest[:40]}`", help_)
        kind = str(match.lastgroup)
        found.append((kind, match[kind]))
        position = match.end()
    return found


def _literal(tokens: list[tuple[str, str]]) -> Value | None:
    """The value of a literal: a number or a single string."""
    sign = -1 if tokens[:1] == [("sign", "-")] else 1
    rest = tokens[1:] if sign == -1 else tokens
    if len(rest) != 1:
        return None
    kind, word = rest[0]
    if kind == "whole":
        return _within(sign * int(word[:20]))
    if kind == "real":
        number = sign * float(word)
        if math.isinf(number):
            raise ExpressionError(f"`{word}` is out of range")
        return number
    if sign == 1 and kind == "text":
        return word
    return _TRUTH.get(word) if sign == 1 and kind == "name" else None


def _product(factors: tuple[int | str, ...], settings: Mapping[str, Value]) -> int:
    found = 1
    for factor in factors:
        value = settings[factor] if isinstance(factor, str) else factor
        if isinstance(value, bool) or not isinstance(value, int):
            message = f"only integers can be added and multiplied, but `{factor}` is {shown(value)}"
            raise ExpressionError(message)
        found = _within(found * value)
    return found


def _within(value: int) -> int:
    if not -LARGEST <= value < LARGEST:
        raise ExpressionError("integer out of range: more than 64 bits")
    return value
