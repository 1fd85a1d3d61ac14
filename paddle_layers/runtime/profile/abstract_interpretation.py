"""Abstract interpretation of point functions, for operation counts.

Values of expressions on a sample of the elements: integers are known, floating-point values are not.

Common subexpressions across elements: a definition computes them for each element, an efficient kernel once. The score
of a query and a key in attention is written for each column of the output, and depends on the head alone. An operation
is counted once for all elements that agree in everything that it depends on.
"""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.functions import ir
from paddle_layers.define.functions.program import Program

Sample = NDArray[Any]
Names = frozenset[str]
NOTHING: Names = frozenset()


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


def known(value: Any) -> TypeGuard[Whole]:
    """Whether it is an integer with a known value."""
    return isinstance(value, Whole) and value.values is not None


def distinct(group: Any, most: int) -> int:
    """Number of values in a group of an index."""
    return len(np.unique(group.values)) if known(group) else most


def neighbor(rows: Sample, step: int, starts: Sample | None) -> Sample:
    """The previous or next row of each row in its sequence, or -1."""
    if starts is None:
        return rows + step
    own, other = (np.searchsorted(starts, at, side="right") for at in (rows, rows + step))
    return np.where((own == other) & (rows + step >= 0), rows + step, -1)


def share_of(condition: Any) -> Any:
    """Elements for which a condition holds, as 0 or 1; a half if unknown."""
    return np.asarray(condition.values, np.float64) if known(condition) else np.float64(0.5)


def either(share: Any, one: Any, other: Any) -> Any:
    """The value of an expression or name after two branches."""
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [either(share, a, b) for a, b in zip(one, other, strict=True)]
    if one is UNKNOWN or one is other:
        return other
    if other is UNKNOWN or not (isinstance(one, Whole) and isinstance(other, Whole)):
        return one
    if not known(one) or not known(other) or (np.ndim(share) == 0 and 0 < share < 1):
        return UNKNOWN
    return Whole(np.where(np.asarray(share) > 0, one.values, other.values))


UNARY: dict[object, Callable[[Any], Any]] = {
    ast.Not: np.logical_not,
    ast.USub: operator.neg,
    "abs": np.abs,
    **dict.fromkeys((ast.UAdd, "int", "round"), lambda value: value),
}
JOINS: dict[object, Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.FloorDiv: lambda a, b: a // np.maximum(b, 1),
    ast.Mod: lambda a, b: a % np.maximum(b, 1),
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
    ast.And: np.logical_and,
    ast.Or: np.logical_or,
    "min": np.minimum,
    "max": np.maximum,
}


def apply(operation: object, *operands: Any) -> Whole:
    """What an operation gives for integers; unknown where an operand is."""
    if not all(map(known, operands)):
        return UNKNOWN
    values = [operand.values for operand in operands]
    if operation in UNARY:
        return Whole(UNARY[operation](values[0]))
    return Whole(functools.reduce(JOINS[operation], values)) if operation in JOINS else UNKNOWN


class Dependences(NamedTuple):
    """The indices of an element that the names of a function depend on."""

    names: Mapping[str, Names]
    """By name: indices, and groups of them."""
    groups: Mapping[str, str]
    """Names of the form `h = e // width`, and sequences of rows, each with its index: equal for neighbors."""

    def of(self, node: ast.AST) -> Names:
        """Indices and groups that an expression depends on."""
        return NOTHING.union(*(self.names.get(name, NOTHING) for name in ir.names_of(node)))


@functools.lru_cache(maxsize=1 << 10)
def dependences(
    program: Program, indices: tuple[tuple[str, str], ...], sequences: tuple[tuple[str, str], ...]
) -> Dependences:
    """The dependences of a function.

    `indices` are its indices, each with the one that it follows from; `sequences` those that group rows.
    """
    assignments = list(_assignments(program.tree.body, []))
    groups = dict(sequences)
    names = {name: frozenset({root}) for name, root in indices} | {name: frozenset({name}) for name in groups}
    for target, sources in assignments:
        index = _grouped(sources[0])
        if index in names and index not in groups and sum(other == target for other, _ in assignments) == 1:
            groups[target] = next(iter(names[index]))
            names[target] = frozenset({target})
    found = Dependences(names, groups)
    # A fixed point, as a name may depend on one that is assigned later in a loop.
    before = None
    while before != names:
        before = dict(names)
        for target, sources in assignments:
            if target not in groups:
                names[target] = names.get(target, NOTHING).union(*map(found.of, sources))
    return found


def _grouped(node: ast.AST) -> str:
    """The index that an expression divides into groups, or an empty string."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv) and isinstance(node.left, ast.Name):
        return node.left.id
    return ""


def _assignments(body: Iterable[ast.stmt], around: list[ast.AST]) -> Iterator[tuple[str, list[ast.AST]]]:
    """Assigned names, each with its value and the conditions and loops of the assignment."""
    for node in body:
        for target, value, _ in ir.own_bindings(node):
            if array := ir.array_of(target):
                yield array, [value, target, *around]
            yield from ((name, [value, *around]) for name in ir.stores_of(target))
        head = ir.head_of(node)
        for block in ir.blocks_of(node):
            yield from _assignments(block, [*around, *([] if head is None else [head])])
