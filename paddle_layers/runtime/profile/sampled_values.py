"""Abstract values of expressions on a sample of the elements: integers are known, floating-point values are not."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Sample = NDArray[Any]


class Whole(NamedTuple):
    """An integer or boolean, one per element of the sample; None if unknown."""

    values: Any


REAL, UNKNOWN = "real", Whole(None)


@dataclass(frozen=True)
class Shaped:
    """An array argument."""

    name: str
    shape: tuple[int, ...]
    whole: bool
    data: Sample | None
    """Known integers, such as sequence starts."""


def distinct(group: Any, most: int) -> int:
    """Number of values in a group of an index."""
    known = isinstance(group, Whole) and group.values is not None
    return len(np.unique(group.values)) if known else most


def neighbor(rows: Sample, step: int, starts: Sample | None) -> Sample:
    """The previous or next row of each row in its sequence, or -1."""
    if starts is None:
        return rows + step
    own, other = (np.searchsorted(starts, at, side="right") for at in (rows, rows + step))
    return np.where((own == other) & (rows + step >= 0), rows + step, -1)


def range_bounds(bounds: list[Any]) -> tuple[Any, Any, Any]:
    """First, last and step of a `range`."""
    first, last = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
    return first, last, bounds[2] if len(bounds) > 2 else 1


def share_of(condition: Any) -> Any:
    """Elements for which a condition holds, as 0 or 1; a half if unknown."""
    known = isinstance(condition, Whole) and condition.values is not None
    return np.asarray(condition.values, np.float64) if known else np.float64(0.5)


def either(share: Any, one: Any, other: Any) -> Any:
    """The value of an expression or name after two branches."""
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [either(share, a, b) for a, b in zip(one, other, strict=True)]
    if one is UNKNOWN or one is other:
        return other
    if other is UNKNOWN or not (isinstance(one, Whole) and isinstance(other, Whole)):
        return one
    if one.values is None or other.values is None or (np.ndim(share) == 0 and 0 < share < 1):
        return UNKNOWN
    return Whole(np.where(np.asarray(share) > 0, one.values, other.values))


def unary(op: ast.unaryop, inner: Any) -> Any:
    """An operator with one operand."""
    if not isinstance(inner, Whole) or inner.values is None:
        return inner
    if isinstance(op, ast.Not):
        return Whole(np.logical_not(inner.values))
    return Whole(-inner.values) if isinstance(op, ast.USub) else inner


def all_or_any(op: ast.boolop, parts: Sequence[Any]) -> Whole:
    """`and` or `or` of truth values."""
    known = [part.values for part in parts if isinstance(part, Whole) and part.values is not None]
    if len(known) < len(parts):
        return UNKNOWN
    join = np.logical_and if isinstance(op, ast.And) else np.logical_or
    holds: Any = known[0]
    for part in known[1:]:
        holds = join(holds, part)
    return Whole(holds)


BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.FloorDiv: lambda a, b: a // np.maximum(b, 1),
    ast.Mod: lambda a, b: a % np.maximum(b, 1),
}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
WHOLE: dict[str, Callable[..., Any]] = {
    "min": lambda *values: _fold(np.minimum, values),
    "max": lambda *values: _fold(np.maximum, values),
    "abs": np.abs,
    "int": lambda value: value,
    "round": lambda value: value,
}


def _fold(join: Callable[[Any, Any], Any], values: Sequence[Any]) -> Any:
    result = values[0]
    for value in values[1:]:
        result = join(result, value)
    return result
