"""Sizes of axes: integers, and products with sizes that depend on the batch."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any


class NoSize(ValueError):
    """A size is computed in a way that has no name here."""


class SymbolicSize:
    """An integer times sizes of the batch, such as `2 * N * T`; constant sizes are plain integers."""

    __slots__ = ("names", "number")

    def __init__(self, number: int, names: Counter[str]) -> None:
        self.number, self.names = number, names

    @classmethod
    def named(cls, name: str) -> SymbolicSize:
        """The size of an axis of the batch."""
        return cls(1, Counter([name]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SymbolicSize) and (self.number, self.names) == (other.number, other.names)

    def __hash__(self) -> int:
        return hash((self.number, frozenset(self.names.items())))

    def __mul__(self, other: Any) -> Any:
        number, names = _parts(other)
        return _size(self.number * number, self.names + names)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        found = divided(self, other)
        if found is None:
            raise NoSize("a dynamic size is not divisible")
        return found

    __truediv__ = __floordiv__

    def __rfloordiv__(self, other: Any) -> Any:
        raise NoSize("division by a dynamic size is not supported")

    __rtruediv__ = __rfloordiv__

    def _none(self, _other: Any) -> Any:
        # Sums of dynamic sizes have no canonical form, so equality could not be decided.
        raise NoSize("arithmetic with dynamic sizes is not supported")

    __add__ = __radd__ = __sub__ = __rsub__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _none

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __le__(self, other: Any) -> bool:
        """Known of equal sizes, and of numbers below 1: no axis is empty."""
        if self == other:
            return True
        return bool(self._none(other)) if isinstance(other, SymbolicSize) or other >= 1 else False

    def __lt__(self, other: Any) -> bool:
        return not self >= other

    def __ge__(self, other: Any) -> bool:
        if self == other:
            return True
        return bool(self._none(other)) if isinstance(other, SymbolicSize) or other > 1 else True

    def __repr__(self) -> str:
        return " * ".join([*([str(self.number)] if self.number != 1 else []), *self.names.elements()])


Extent = int | SymbolicSize
BATCH = SymbolicSize.named("N")
"""The batch size, if it is dynamic."""


def _parts(value: Any) -> tuple[int, Counter[str]]:
    if isinstance(value, SymbolicSize):
        return value.number, value.names
    return int(value), Counter()


def _size(number: int, names: Counter[str]) -> Extent:
    return SymbolicSize(number, names) if names else number


def divided(value: Any, by: Any) -> Extent | None:
    """The quotient, where nothing is left over."""
    number, names = _parts(value)
    divisor, missing = _parts(by)
    if divisor == 0 or number % divisor or missing - names:
        return None
    return _size(number // divisor, names - missing)


def whole(size: Extent) -> int:
    """A size that is known. Raises `NoSize`."""
    if isinstance(size, SymbolicSize):
        raise NoSize("expected a fixed size, got a dynamic one")
    return size


def product_of(sizes: Iterable[Extent]) -> Extent:
    """All sizes multiplied."""
    found: Extent = math.prod(sizes)
    return found
