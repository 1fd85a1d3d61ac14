"""Operation and byte counts of a computation, by abstract interpretation of its point function.

The source is interpreted on a sample of the elements: for an expression it is known whether it is an integer or
floating-point, and for integers their values. So loops and conditions on positions are followed, as at the border of an
image; each time an index or a loop variable is needed, every element of the sample gets one. For data-dependent
conditions, both branches count half, and a loop counts one iteration. Operations shared by many elements are counted
once (`sharing`).
"""

from __future__ import annotations

import ast
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from paddle_layers.define.functions.ir import EXTREMES, callee, range_of, stores_of, sum_of
from paddle_layers.define.functions.program import Program
from paddle_layers.runtime.generate.specialise import helper_programs
from paddle_layers.runtime.graph.domains import Domain, Extent
from paddle_layers.runtime.launches.arguments import Argument, Key, Ref, refs_of
from paddle_layers.runtime.launches.launch import Computation

from .abstract_interpretation import (
    JOINS,
    REAL,
    UNARY,
    UNKNOWN,
    Names,
    Sample,
    Shaped,
    Whole,
    apply,
    dependences,
    distinct,
    either,
    known,
    neighbor,
    share_of,
)

SAMPLE = 1 << 13
"""Number of sampled elements; positions are spread evenly over all axes, so sums are accurate to about 1 %. If there
are fewer elements, all of them are in the sample, each as often."""
UNROLLED = 8
"""Longest loop of which all iterations are followed, if all elements have the same: axes of an image, small windows."""
PREDICATES = ("isnan", "isinf", "isfinite")
"""Functions that count as comparisons, which are free."""
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)
Starts = Mapping[tuple[Domain, Domain], Sample]
"""Sequence starts by the domain of the rows and that of their groups."""
NO_STARTS: Starts = {}


class Counts(NamedTuple):
    """Cost of a computation."""

    operations: float
    """Floating-point additions, subtractions, multiplications, divisions and functions such as exp."""
    nbytes: float
    """Bytes of the arrays: each element that is read or written counts once, however often that happens."""


def count(
    computation: Computation,
    size: Callable[[Extent], int],
    data: Callable[[Ref], Sample | None],
    itemsize: int,
    starts: Starts = NO_STARTS,
) -> Counts:
    """The counts for the rows of a batch. `data` returns the integers of an array, or None if they are gone.

    `starts` are sequence starts, as far as they are known.
    """
    counter = _OperationCounter(computation, size, data, starts)
    sequence = computation.sequence[0] if computation.sequence is not None else ""
    lengths = {name: size(extent) for name, extent in computation.sizes.items() if name != sequence}
    elements = math.prod(lengths.values())
    if elements == 0:
        return Counts(0.0, 0.0)
    counter.run(lengths)
    nbytes = 0.0
    targets = computation.function.target_names or tuple(computation.args)[:1]
    for name, argument in computation.args.items():
        for ref in refs_of(argument):
            bytes_of = itemsize if ref.dtype == "real" else np.dtype(ref.dtype).itemsize
            numbers = math.prod(map(size, ref.shape))
            if name in targets:
                # An element counts once, however many elements of the result read it: an ideal cache.
                nbytes += bytes_of * min(numbers, elements) * (2 if computation.accumulate else 1)
            else:
                nbytes += bytes_of * min(numbers, counter.loads[name] * elements / max(len(refs_of(argument)), 1))
    return Counts(counter.operations * elements, nbytes)


class _OperationCounter:
    """Interprets the source once, for all elements of the sample."""

    def __init__(
        self,
        computation: Computation,
        size: Callable[[Extent], int],
        data: Callable[[Ref], Sample | None],
        starts: Starts,
    ) -> None:
        self.computation, self._size, self._data, self._starts = computation, size, data, starts
        self.operations = 0.0
        """For an element, on average."""
        self.loads: defaultdict[str, float] = defaultdict(float)
        self.helpers = helper_programs(computation.function.call)
        self._drawn, self._sample = 0, SAMPLE
        self._lengths: Mapping[str, int] = {}

    def run(self, lengths: Mapping[str, int]) -> None:
        self._lengths = lengths
        scope = {name: self._given(name, value) for name, value in self.computation.args.items()}
        scope |= {name: Whole(indices) for name, indices in self._elements(lengths).items()}
        row, following, sequences = next(iter(lengths), ""), {}, {}
        if row and self.computation.sequence is not None:
            name, leaf, group = self.computation.sequence
            starts = self._starts.get((leaf, group))
            if name:
                scope[name], sequences[name] = Whole(self._sequence(scope[row].values, name, starts)), row
            for name, step in (("before", -1), ("after", 1)) if self.computation.function.scan else ():
                scope[name], following[name] = Whole(neighbor(scope[row].values, step, starts)), row
        self._dependences = dependences(
            self.computation.program, (*((n, n) for n in lengths), *following.items()), tuple(sequences.items())
        )
        _Text(self, scope).run(self.computation.program.tree.body, np.ones(self._sample))

    def _elements(self, lengths: Mapping[str, int]) -> dict[str, Sample]:
        """Indices of the sampled elements by axis."""
        elements = math.prod(lengths.values())
        if elements > SAMPLE or not lengths:
            return {name: self.places(0, length) for name, length in lengths.items()}
        repeats = math.ceil(SAMPLE / elements)
        self._sample = repeats * elements
        indices = np.unravel_index(np.repeat(np.arange(elements), repeats), tuple(lengths.values()))
        return dict(zip(lengths, indices, strict=True))

    def _sequence(self, rows: Sample, name: str, starts: Sample | None) -> Sample:
        """The sequences of rows; spread evenly if their starts are unknown."""
        if starts is None:
            return self.places(0, self._size(self.computation.sizes[name]))
        found: Sample = np.searchsorted(starts, rows, side="right") - 1
        return found

    def share(self, nodes: Sequence[ast.AST], scope: Mapping[str, Any]) -> float:
        """The fraction of the elements for which an operation of the function itself has to be recomputed.

        `nodes` are the operation and the conditions under which it is computed.
        """
        needed: Names = frozenset().union(*map(self._dependences.of, nodes))
        share = 1.0
        for index, length in self._lengths.items():
            if index not in needed:
                groups = [name for name, of in self._dependences.groups.items() if of == index and name in needed]
                share *= math.prod(distinct(scope.get(name), length) for name in groups) / max(length, 1)
        return min(share, 1.0)

    def helper(self, program: Program, arguments: Sequence[Any], weight: Sample, share: float) -> Any:
        """The result of a helper."""
        text = _Text(self, dict(zip(program.arguments, arguments, strict=False)), share)
        text.run(program.tree.body, weight)
        return text.result

    def places(self, first: Any, length: Any) -> Sample:
        """Indices from `first` on, one of `length` for each element of the sample, spread over all axes together."""
        # An additive recurrence (quasi-random).
        # Square roots of different primes are linearly independent over the rationals, so that the points of several
        # axes do not align.
        step = math.sqrt(PRIMES[self._drawn % len(PRIMES)])
        self._drawn += 1
        share = (np.arange(1, self._sample + 1) * step) % 1.0
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
        return UNKNOWN if isinstance(argument, Key) else REAL


class _Text:
    """Statements and expressions of one function; `weight` is the number of executions per element."""

    def __init__(self, counter: _OperationCounter, scope: dict[str, Any], share: float | None = None) -> None:
        self.counter, self.scope, self._whole_share = counter, scope, share
        self.result: Any = UNKNOWN
        self._conditions: list[ast.AST] = []

    def _needed(self, node: ast.AST) -> float:
        """The fraction of the elements for which an expression has to be computed; in a helper, that of its call."""
        if self._whole_share is not None:
            return self._whole_share
        return self.counter.share([node, *self._conditions], self.scope)

    def _add(self, node: ast.AST, weight: Sample) -> None:
        self.counter.operations += float((weight * self._needed(node)).mean())

    def run(self, body: Sequence[ast.stmt], weight: Sample) -> Sample:
        """Returns the weight of the elements that have not returned."""
        conditions = len(self._conditions)
        for statement in body:
            left = self._statement(statement, weight)
            if isinstance(statement, ast.If) and np.any(left != weight):
                self._conditions.append(statement.test)  # under which the following statements are reached
            weight = left
        del self._conditions[conditions:]
        return weight

    def _statement(self, node: ast.stmt, weight: Sample) -> Sample:
        match node:
            case ast.Assign(targets, value):
                found = self.value(value, weight)
                for target in targets:
                    self._assign(target, found, weight)
            case ast.AugAssign(target):
                self._assign(target, self.value(sum_of(node), weight), weight)
            case ast.Return(value):
                found = self.value(value, weight) if value is not None else UNKNOWN
                self.result = found if self.result is UNKNOWN else either(weight > 0, found, self.result)
                return weight * 0
            case ast.Continue() | ast.Break():
                return weight * 0
            case ast.If():
                return self._if(node, weight)
            case ast.For():
                self._for(node, weight)
            case ast.While(test, body):
                self.value(test, weight)
                self.run(body, weight)
            case ast.Expr(value):
                self.value(value, weight)
        return weight

    def _if(self, node: ast.If, weight: Sample) -> Sample:
        share = share_of(self.value(node.test, weight))
        before = dict(self.scope)
        self._conditions.append(node.test)
        left = self.run(node.body, weight * share)
        taken, self.scope = self.scope, before
        left = left + self.run(node.orelse, weight * (1 - share))
        self._conditions.pop()
        names = {*taken, *self.scope}
        self.scope = {n: either(share, taken.get(n, UNKNOWN), self.scope.get(n, UNKNOWN)) for n in names}
        return left

    def _for(self, node: ast.For, weight: Sample) -> None:
        name = ast.unparse(node.target)
        bounds = [self.value(bound, weight) for bound in range_of(node) or ()]
        if not bounds or not all(map(known, bounds)):
            self.scope[name] = UNKNOWN
            self.run(node.body, weight)
            return
        first, last, step = (bound.values for bound in bounds)
        rounds = np.maximum(0, -((first - last) // step))
        if np.ndim(rounds) == 0 and rounds <= UNROLLED:
            for at in range(int(first), int(last), int(step)):
                self.scope[name] = Whole(at)
                self.run(node.body, weight)
            return
        # If an iteration passes an integer to the next one, the first finds other values than the following ones.
        if any(known(self.scope.get(name)) for name in stores_of(node.body)):
            self.scope[name] = Whole(first)
            self.run(node.body, weight * (rounds > 0))
            rounds = np.maximum(0, rounds - 1)
            first = first + step
        self.scope[name] = Whole(first + step * self.counter.places(0, rounds))
        self.run(node.body, weight * rounds)

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
        match node:
            case ast.Name(name):
                return self.scope.get(name, UNKNOWN)
            case ast.Constant(value):
                return REAL if isinstance(value, float) else Whole(value)
            case ast.BinOp(left, _, right):
                return self._binary(node, self.value(left, weight), self.value(right, weight), weight)
            case ast.UnaryOp(op, operand):
                inner = self.value(operand, weight)
                return apply(type(op), inner) if isinstance(inner, Whole) else inner
            case ast.Tuple(parts):
                return [self.value(part, weight) for part in parts]
            case ast.Subscript():
                return self._element(node, weight)
            case ast.Attribute():
                return self._attribute(node, weight)
            case ast.IfExp(test, one, other):
                share = share_of(self.value(test, weight))
                return either(share, self.value(one, weight * share), self.value(other, weight * (1 - share)))
            case ast.Compare(left, operators, others):
                sides = [self.value(side, weight) for side in (left, *others)]
                pairs = zip(operators, sides, sides[1:], strict=False)
                return apply(ast.And, *(apply(type(op), a, b) for op, a, b in pairs))
            case ast.BoolOp(op, parts):
                return apply(type(op), *(self.value(part, weight) for part in parts))
            case ast.Call():
                return self._call(node, weight)
        return UNKNOWN

    def _binary(self, node: ast.BinOp, a: Any, b: Any, weight: Sample) -> Any:
        if isinstance(a, Whole) and isinstance(b, Whole) and not isinstance(node.op, ast.Div):
            return apply(type(node.op), a, b)
        self._add(node, weight)
        return REAL

    def _element(self, node: ast.Subscript, weight: Sample) -> Any:
        owner, at = self.value(node.value, weight), self.value(node.slice, weight)
        if isinstance(owner, list):
            return owner[int(at.values)] if known(at) and np.ndim(at.values) == 0 else owner[0]
        if not isinstance(owner, Shaped):
            return UNKNOWN if isinstance(owner, Whole) else REAL
        self.counter.loads[owner.name] += float(weight.mean())
        if not owner.whole:
            return REAL
        if owner.data is None or not known(at) or not owner.data.size:
            return UNKNOWN
        return Whole(owner.data[np.clip(at.values, 0, owner.data.size - 1)])

    def _attribute(self, node: ast.Attribute, weight: Sample) -> Any:
        owner = self.value(node.value, weight)
        if isinstance(owner, Shaped) and node.attr == "shape":
            return [Whole(size) for size in owner.shape]
        return Whole(math.prod(owner.shape)) if isinstance(owner, Shaped) else REAL

    def _call(self, node: ast.Call, weight: Sample) -> Any:
        name = callee(node)
        arguments = [self.value(argument, weight) for argument in node.args]
        if name not in EXTREMES and (program := self.counter.helpers.get(name)):
            return self.counter.helper(program, arguments, weight, self._needed(node))
        if name in ("real", "double", "float"):
            return REAL
        if name.removeprefix("math.") in PREDICATES:
            return UNKNOWN
        if name == "len":
            (of,) = arguments
            if isinstance(of, Whole):  # an attribute
                return UNKNOWN
            return Whole(len(of) if isinstance(of, list) else of.shape[0])
        if name in UNARY or name in JOINS:
            integers = name == "int" or all(isinstance(argument, Whole) for argument in arguments)
            return apply(name, *arguments) if integers else REAL
        self._add(node, weight)
        return REAL
