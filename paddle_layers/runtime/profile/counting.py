"""Operations and bytes that a computation needs, counted in the text of its point function.

The text is run on a sample of the elements, without numbers: of an expression is known whether it is whole or real, and
of whole numbers their values. So loops and conditions on places are followed, as at the border of an image; each time
an index or a loop variable is needed, every element of the sample draws one. Where numbers of the data decide, both
ways count half, and a loop counts one round.
"""

from __future__ import annotations

import ast
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.functions.program import Program
from paddle_layers.runtime.generate.specialise import helper_programs
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.launches.arguments import Argument, Ref, refs_of
from paddle_layers.runtime.launches.computation import Computation

SAMPLE = 1 << 13
"""Elements that are looked at; places are spread evenly over all axes, so sums are right to about 1 %."""
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)
Sample = NDArray[Any]


class Counts(NamedTuple):
    """What a computation needs."""

    operations: float
    """Additions, subtractions, multiplications, divisions and functions such as exp, of real numbers."""
    nbytes: float
    """Of the arrays: each number that is read or written counts once, however often that happens."""


class Whole(NamedTuple):
    """A whole number or truth value, one for each element of the sample; None where it is not known."""

    values: Any


REAL, UNKNOWN = "real", Whole(None)


@dataclass(frozen=True)
class Shaped:
    """An array argument."""

    name: str
    shape: tuple[int, ...]
    whole: bool
    data: Sample | None
    """Whole numbers that are known, such as the starts of sequences."""


def count(
    computation: Computation, size: Callable[[Extent], int], data: Callable[[Ref], Sample | None], itemsize: int
) -> Counts:
    """The counts for the rows of a batch. `data` gives whole numbers of an array, or None if they are gone."""
    reader = _Reader(computation, size, data)
    lengths = {name: size(extent) for name, extent in computation.sizes.items()}
    elements = math.prod(lengths.values())
    if elements == 0:
        return Counts(0.0, 0.0)
    reader.run(lengths)
    nbytes = 0.0
    targets = computation.function.target_names or tuple(computation.args)[:1]
    for name, argument in computation.args.items():
        for ref in refs_of(argument):
            bytes_of = itemsize if ref.dtype == "real" else np.dtype(ref.dtype).itemsize
            numbers = math.prod(map(size, ref.shape))
            if name in targets:
                nbytes += bytes_of * min(numbers, elements) * (2 if computation.accumulate else 1)
            else:
                nbytes += bytes_of * min(numbers, reader.loads[name] * elements / max(len(refs_of(argument)), 1))
    return Counts(reader.operations * elements, nbytes)


class _Reader:
    """Goes through the text once, for all elements of the sample."""

    def __init__(
        self, computation: Computation, size: Callable[[Extent], int], data: Callable[[Ref], Sample | None]
    ) -> None:
        self.computation, self._size, self._data = computation, size, data
        self.operations = 0.0
        """For an element, on average."""
        self.loads: defaultdict[str, float] = defaultdict(float)
        self._helpers = helper_programs(computation.function.call)
        self._drawn = 0

    def run(self, lengths: Mapping[str, int]) -> None:
        scope = {name: self._given(name, value) for name, value in self.computation.args.items()}
        scope |= {name: Whole(self._draw(0, length)) for name, length in lengths.items()}
        for name, step in (("before", -1), ("after", 1)):
            if self.computation.function.scan and lengths:
                scope[name] = Whole(scope[next(iter(lengths))].values + step)
        _Text(self, scope).run(self.computation.program.tree.body, np.ones(SAMPLE))

    def helper(self, program: Program, arguments: Sequence[Any], weight: Sample) -> Any:
        """What a helper gives."""
        text = _Text(self, dict(zip(program.arguments, arguments, strict=False)))
        text.run(program.tree.body, weight)
        return text.result

    def add(self, weight: Sample, operations: int = 1) -> None:
        self.operations += float(weight.mean()) * operations

    def known_helper(self, name: str) -> Program | None:
        return None if name in ("min", "max") else self._helpers.get(name)

    def places(self, first: Any, length: Any) -> Sample:
        """Numbers from `first` on, one of `length` for each element of the sample."""
        return self._draw(first, length)

    def _draw(self, first: Any, length: Any) -> Sample:
        """Additive recurrences: evenly spread over all axes together."""
        step = math.sqrt(PRIMES[self._drawn % len(PRIMES)])
        self._drawn += 1
        share = (np.arange(1, SAMPLE + 1) * step) % 1.0
        places: Sample = first + np.floor(share * length).astype(np.int64)
        return places

    def _given(self, name: str, argument: Argument) -> Any:
        if isinstance(argument, Ref):
            shape = tuple(map(self._size, argument.shape))
            whole = argument.dtype != "real"
            return Shaped(name, shape, whole, self._data(argument) if whole else None)
        if isinstance(argument, Extent):
            return Whole(self._size(argument))
        if type(argument) is tuple:
            parts: Sequence[Any] = argument
            return [self._given(name, part) for part in parts]
        return REAL


class _Text:
    """Statements and expressions of one function; `weight` says how often each element comes by."""

    def __init__(self, reader: _Reader, scope: dict[str, Any]) -> None:
        self.reader, self.scope = reader, scope
        self.result: Any = UNKNOWN

    def run(self, body: Sequence[ast.stmt], weight: Sample) -> Sample:
        """Gives the weight of those that have not left."""
        for statement in body:
            weight = self._statement(statement, weight)
        return weight

    def _statement(self, node: ast.stmt, weight: Sample) -> Sample:
        if isinstance(node, ast.Assign):
            self._assign(node.targets[0], self.value(node.value, weight), weight)
        elif isinstance(node, ast.AugAssign):
            load = ast.parse(ast.unparse(node.target), mode="eval").body
            self._assign(node.target, self._binary(load, node.op, node.value, weight), weight)
        elif isinstance(node, ast.Return):
            found = self.value(node.value, weight) if node.value is not None else UNKNOWN
            self.result = found if self.result is UNKNOWN else _either(weight > 0, found, self.result)
            return weight * 0
        elif isinstance(node, (ast.Continue, ast.Break)):
            return weight * 0
        elif isinstance(node, ast.If):
            return self._if(node, weight)
        elif isinstance(node, ast.For):
            self._for(node, weight)
        elif isinstance(node, ast.While):
            self.value(node.test, weight)
            self.run(node.body, weight)
        elif isinstance(node, ast.Expr):
            self.value(node.value, weight)
        return weight

    def _if(self, node: ast.If, weight: Sample) -> Sample:
        share = _share(self.value(node.test, weight))
        before = dict(self.scope)
        left = self.run(node.body, weight * share)
        taken, self.scope = self.scope, before
        left = left + self.run(node.orelse, weight * (1 - share))
        names = {*taken, *self.scope}
        self.scope = {n: _either(share, taken.get(n, UNKNOWN), self.scope.get(n, UNKNOWN)) for n in names}
        return left

    def _for(self, node: ast.For, weight: Sample) -> None:
        name = ast.unparse(node.target)
        if isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) == "range":
            bounds = [self.value(bound, weight) for bound in node.iter.args]
            if all(isinstance(bound, Whole) and bound.values is not None for bound in bounds):
                first, last, step = _range([bound.values for bound in bounds])
                rounds = np.maximum(0, -((first - last) // step))
                self.scope[name] = Whole(first + step * self.reader.places(0, rounds))
                self.run(node.body, weight * rounds)
                return
        self.scope[name] = UNKNOWN
        self.run(node.body, weight)

    def _assign(self, target: ast.expr, value: Any, weight: Sample) -> None:
        if isinstance(target, ast.Name):
            self.scope[target.id] = value
        elif isinstance(target, ast.Tuple):
            parts = value if isinstance(value, list) else [REAL if value == REAL else UNKNOWN] * len(target.elts)
            for part, found in zip(target.elts, parts, strict=False):
                self._assign(part, found, weight)
        elif isinstance(target, ast.Subscript):
            self.value(target.slice, weight)

    def value(self, node: ast.expr, weight: Sample) -> Any:
        """`REAL`, a `Whole`, an array, or a list of these."""
        if isinstance(node, ast.Name):
            return self.scope.get(node.id, UNKNOWN)
        if isinstance(node, ast.Constant):
            return REAL if isinstance(node.value, float) else Whole(node.value)
        if isinstance(node, ast.BinOp):
            return self._binary(node.left, node.op, node.right, weight)
        if isinstance(node, ast.UnaryOp):
            inner = self.value(node.operand, weight)
            return _unary(node.op, inner)
        if isinstance(node, ast.Tuple):
            return [self.value(part, weight) for part in node.elts]
        if isinstance(node, ast.Subscript):
            return self._element(node, weight)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, weight)
        if isinstance(node, ast.IfExp):
            share = _share(self.value(node.test, weight))
            return _either(share, self.value(node.body, weight * share), self.value(node.orelse, weight * (1 - share)))
        if isinstance(node, ast.Compare):
            return self._compare(node, weight)
        if isinstance(node, ast.BoolOp):
            return _all_or_any(node.op, [self.value(part, weight) for part in node.values])
        if isinstance(node, ast.Call):
            return self._call(node, weight)
        return UNKNOWN

    def _binary(self, left: ast.expr, op: ast.operator, right: ast.expr, weight: Sample) -> Any:
        a, b = self.value(left, weight), self.value(right, weight)
        if not isinstance(a, Whole) or not isinstance(b, Whole) or isinstance(op, ast.Div):
            self.reader.add(weight)
            return REAL
        if a.values is None or b.values is None or type(op) not in _BINARY:
            return UNKNOWN
        return Whole(_BINARY[type(op)](a.values, b.values))

    def _compare(self, node: ast.Compare, weight: Sample) -> Whole:
        sides = [self.value(side, weight) for side in (node.left, *node.comparators)]
        if not all(isinstance(side, Whole) and side.values is not None for side in sides):
            return UNKNOWN
        holds: Any = True
        for a, op, b in zip(sides, node.ops, sides[1:], strict=False):
            if type(op) not in _COMPARE:
                return UNKNOWN
            holds = np.logical_and(holds, _COMPARE[type(op)](a.values, b.values))
        return Whole(holds)

    def _element(self, node: ast.Subscript, weight: Sample) -> Any:
        owner, at = self.value(node.value, weight), self.value(node.slice, weight)
        if isinstance(owner, list):
            known = isinstance(at, Whole) and isinstance(at.values, (int, np.integer))
            return owner[int(at.values)] if known else owner[0]
        if not isinstance(owner, Shaped):
            return UNKNOWN if isinstance(owner, Whole) else REAL
        self.reader.loads[owner.name] += float(weight.mean())
        if not owner.whole:
            return REAL
        if owner.data is None or not isinstance(at, Whole) or at.values is None or not owner.data.size:
            return UNKNOWN
        return Whole(owner.data[np.clip(at.values, 0, owner.data.size - 1)])

    def _attribute(self, node: ast.Attribute, weight: Sample) -> Any:
        owner = self.value(node.value, weight)
        if isinstance(owner, Shaped) and node.attr == "shape":
            return [Whole(size) for size in owner.shape]
        return Whole(math.prod(owner.shape)) if isinstance(owner, Shaped) else REAL

    def _call(self, node: ast.Call, weight: Sample) -> Any:
        name = ast.unparse(node.func)
        arguments = [self.value(argument, weight) for argument in node.args]
        if program := self.reader.known_helper(name):
            return self.reader.helper(program, arguments, weight)
        if name in ("real", "double", "float"):
            return REAL
        if name == "len":
            (of,) = arguments
            if isinstance(of, Whole):  # an attribute
                return UNKNOWN
            return Whole(len(of) if isinstance(of, list) else of.shape[0])
        whole = all(isinstance(argument, Whole) for argument in arguments)
        if name in _WHOLE:
            known = whole and all(argument.values is not None for argument in arguments)
            if known:
                return Whole(_WHOLE[name](*(argument.values for argument in arguments)))
            return UNKNOWN if whole or name == "int" else REAL
        self.reader.add(weight)
        return REAL


def _range(bounds: list[Any]) -> tuple[Any, Any, Any]:
    first, last = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
    return first, last, bounds[2] if len(bounds) > 2 else 1


def _share(condition: Any) -> Any:
    """Which elements a condition holds for, as 0 or 1; a half where it is not known."""
    known = isinstance(condition, Whole) and condition.values is not None
    return np.asarray(condition.values, np.float64) if known else np.float64(0.5)


def _either(share: Any, one: Any, other: Any) -> Any:
    """What an expression or a name is behind two ways."""
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [_either(share, a, b) for a, b in zip(one, other, strict=True)]
    if one is UNKNOWN or one is other:
        return other
    if other is UNKNOWN or not (isinstance(one, Whole) and isinstance(other, Whole)):
        return one
    if one.values is None or other.values is None or (np.ndim(share) == 0 and 0 < share < 1):
        return UNKNOWN
    return Whole(np.where(np.asarray(share) > 0, one.values, other.values))


def _unary(op: ast.unaryop, inner: Any) -> Any:
    if not isinstance(inner, Whole) or inner.values is None:
        return inner
    if isinstance(op, ast.Not):
        return Whole(np.logical_not(inner.values))
    return Whole(-inner.values) if isinstance(op, ast.USub) else inner


def _all_or_any(op: ast.boolop, parts: Sequence[Any]) -> Whole:
    known = [part.values for part in parts if isinstance(part, Whole) and part.values is not None]
    if len(known) < len(parts):
        return UNKNOWN
    join = np.logical_and if isinstance(op, ast.And) else np.logical_or
    holds: Any = known[0]
    for part in known[1:]:
        holds = join(holds, part)
    return Whole(holds)


_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.FloorDiv: lambda a, b: a // np.maximum(b, 1),
    ast.Mod: lambda a, b: a % np.maximum(b, 1),
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
_WHOLE: dict[str, Callable[..., Any]] = {
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
