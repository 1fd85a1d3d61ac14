"""Operations of a point function by value numbering: it runs as Python for every element, on numbers that are counted.

Equal operations on equal operands have one number, however many elements need them.
"""

from __future__ import annotations

import itertools
import math
import types
from typing import Any

import numpy as np

PREDICATES = ("isnan", "isinf", "isfinite")


class Operations:
    """Numbers of values, and how many of them are results of operations."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self.count, self.total = 0, 0
        """Distinct ones, and all that the text asks for."""
        self.decided = False
        """Whether real numbers decided what was computed."""

    def number(self, key: Any, *, counts: bool = False) -> int:
        known = len(self._numbers)
        found = self._numbers.setdefault(key, known)
        self.count += counts and found == known
        self.total += counts
        return found


class Real:
    """A real number that knows how it was computed."""

    def __init__(self, operations: Operations, value: float, key: Any, *, counts: bool = False) -> None:
        self.operations, self.value = operations, value
        self.number = operations.number(key, counts=counts)

    def __float__(self) -> float:
        return self.value

    def __int__(self) -> int:
        self.operations.decided = True
        return int(self.value)

    def __neg__(self) -> Real:
        return Real(self.operations, -self.value, ("-", self.number))

    def __abs__(self) -> Real:
        return Real(self.operations, abs(self.value), ("abs", self.number))

    def __hash__(self) -> int:
        return self.number


def _number(value: Any) -> Any:
    return value.number if isinstance(value, Real) else float(value)


def _operator(name: str, *, swapped: bool = False) -> Any:
    compute = getattr(np.float64, name)

    def operator(self: Real, other: Any) -> Real:
        left, right = (other, self) if swapped else (self, other)
        with np.errstate(all="ignore"):
            value = compute(np.float64(float(left)), np.float64(float(right)))
        return Real(self.operations, float(value), (name, _number(left), _number(right)), counts=True)

    return operator


def _comparison(name: str) -> Any:
    def comparison(self: Real, other: Any) -> bool:
        self.operations.decided = True
        return bool(getattr(float, name)(float(self), float(other)))

    return comparison


for _name in ("add", "sub", "mul", "truediv", "pow", "mod", "floordiv"):
    setattr(Real, f"__{_name}__", _operator(f"__{_name}__"))
    setattr(Real, f"__r{_name}__", _operator(f"__{_name}__", swapped=True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Real, f"__{_name}__", _comparison(f"__{_name}__"))


class Array:
    """An array argument; real elements are numbered by their place."""

    def __init__(self, operations: Operations, name: str, values: np.ndarray) -> None:
        self._operations, self._name, self._values = operations, name, values
        self.shape = values.shape
        self.size = values.size

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, at: Any) -> Any:
        value = self._values[at]
        if isinstance(value, np.ndarray):
            return Array(self._operations, f"{self._name}{at}", value)
        if value.dtype.kind == "f":
            return Real(self._operations, float(value), (self._name, at))
        self._operations.decided |= isinstance(at, tuple)  # such integers are values, not starts of sequences
        return int(value)

    def __setitem__(self, at: Any, value: Any) -> None:
        self._values[at] = float(value)


def _functions(operations: Operations) -> types.SimpleNamespace:
    def predicate(name: str) -> Any:
        def function(given: Any) -> bool:
            operations.decided = True
            return bool(getattr(math, name)(float(given)))

        return function

    def counted(name: str) -> Any:
        def function(*given: Any) -> Any:
            try:
                value = getattr(math, name)(*map(float, given))
            except (ValueError, OverflowError):
                value = math.nan
            return Real(operations, value, (name, *map(_number, given)), counts=True)

        return function

    names = {name: getattr(math, name) for name in dir(math) if not callable(getattr(math, name))}
    functions = [name for name in dir(math) if callable(getattr(math, name))]
    made = {name: predicate(name) if name in PREDICATES else counted(name) for name in functions}
    return types.SimpleNamespace(**names, **made)


def counted_operations(
    computation: Any, helpers: dict[str, str], lengths: dict[str, int], arguments: dict[str, Any], starts: Any
) -> Operations:
    """Operations of all elements.

    Args:
        computation: Has the point function, its program and its axes.
        helpers: Source texts of the functions that the point function calls, by name.
        lengths: Lengths of the axes, by name.
        arguments: Arrays and numbers, by name.
        starts: Starts of the sequences of rows, or None without sequences.
    """
    operations, function = Operations(), computation.function

    def real(value: Any) -> Real:
        return value if isinstance(value, Real) else Real(operations, float(value), float(value))

    def given_as(name: str, value: Any) -> Any:
        if isinstance(value, list):
            return [given_as(f"{name}[{at}]", part) for at, part in enumerate(value)]
        return Array(operations, name, value) if isinstance(value, np.ndarray) else value

    given = {name: given_as(name, value) for name, value in arguments.items()}
    scope = {**function.call.__globals__, "math": _functions(operations), **dict.fromkeys(("real", "double"), real)}
    for name, helper in helpers.items():
        exec(helper, scope)
        assert name in scope
    exec(computation.program.text, scope)
    call = scope[computation.program.tree.name]
    sequence = computation.sequence[0] if computation.sequence is not None else None
    axes = [name for name in lengths if name != sequence]
    for place in itertools.product(*(range(lengths[name]) for name in axes)):
        asked = {**given, **dict(zip(axes, place, strict=True))}
        if starts is not None:
            row, s = place[0], int(np.searchsorted(starts, place[0], side="right")) - 1
            asked[sequence or "_"] = s
            asked |= {"before": row - 1 if row > starts[s] else -1, "after": row + 1 if row + 1 < starts[s + 1] else -1}
        call(**{name: asked.get(name) for name in computation.program.arguments})
    return operations
