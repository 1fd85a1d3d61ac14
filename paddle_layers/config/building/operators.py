"""Operators on values of helpers: `a + b`, `2 * a`, `a @ b`, `a[:, 1:3]` are calls of layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import EllipsisType
from typing import Any, Self

Key = int | slice | EllipsisType | tuple[int | slice | EllipsisType, ...]


class Operators:
    """Arithmetic with values and numbers, and NumPy's indexing, whose first axis is the batch."""

    # Otherwise Python would iterate by index, and `a, b = nn.fc(x, size=2)` would report a wrong index.
    __iter__ = None

    def _made(self, layer: str, *inputs: object, **attributes: Any) -> Self:
        (helper,) = _HELPERS
        made: Self = helper(layer)(*inputs, **attributes)
        return made

    def __add__(self, other: object) -> Self:
        if _is_number(other):
            return self._made("slope_intercept", self, intercept=other)
        return self._made("add", *_larger_first(self, other)) if _is_value(other) else NotImplemented

    def __mul__(self, other: object) -> Self:
        if _is_number(other):
            return self._made("slope_intercept", self, slope=other)
        return self._made("mul", *_larger_first(self, other)) if _is_value(other) else NotImplemented

    def __sub__(self, other: Any) -> Self:
        if _is_number(other):
            return self._made("slope_intercept", self, intercept=-other)
        if not _is_value(other):
            return NotImplemented
        # The layers broadcast their second input.
        return self._made("sub", self, other) if _size(self) >= _size(other) else -other + self

    def __truediv__(self, other: Any) -> Self:
        if _is_number(other):
            return self._made("slope_intercept", self, slope=1 / other)
        if not _is_value(other):
            return NotImplemented
        return self._made("div", self, other) if _size(self) >= _size(other) else other**-1 * self

    def __rsub__(self, other: object) -> Self:
        return self._made("slope_intercept", self, slope=-1.0, intercept=other) if _is_number(other) else NotImplemented

    def __rtruediv__(self, other: Any) -> Self:
        return other * self**-1 if _is_number(other) else NotImplemented

    def __pow__(self, other: object) -> Self:
        return self._made("power", self, power=other) if _is_number(other) else NotImplemented

    def __neg__(self) -> Self:
        return self._made("slope_intercept", self, slope=-1.0)

    def __matmul__(self, other: object) -> Self:
        return self._made("matmul", self, other) if _is_value(other) else NotImplemented

    __radd__, __rmul__ = __add__, __mul__

    def __getitem__(self, key: Key) -> Self:
        axes, begin, sizes, steps, dims = [], [], [], [], []
        for axis, (part, size) in enumerate(zip(_parts(self, key), _dims(self), strict=True), 1):
            chosen = _range_of(part, size, axis)
            if chosen != range(size):
                axes.append(axis)
                begin.append(chosen.start)
                sizes.append(len(chosen))
                steps.append(chosen.step)
            if isinstance(part, slice):
                dims.append(len(chosen))
        found: Any = self._made("crop", self, axes=axes, begin=begin, sizes=sizes, steps=steps) if axes else self
        return found if len(dims) == len(_dims(self)) else self._made("reshape", found, dims=dims or [1])


_HELPERS: list[Callable[[str], Callable[..., Any]]] = []


def call_by(helper: Callable[[str], Callable[..., Any]]) -> None:
    """Sets the function that returns the helper of a layer; the module of the helpers imports this one."""
    _HELPERS[:] = [helper]


def _is_number(other: object) -> bool:
    return isinstance(other, (int, float)) and not isinstance(other, bool)


def _is_value(other: object) -> bool:
    return isinstance(other, Operators)


def _dims(value: Any) -> tuple[int, ...]:
    found: tuple[int, ...] = value.type.dims
    return found


def _size(value: Any) -> int:
    return math.prod(_dims(value))


def _larger_first(one: Any, other: Any) -> tuple[Any, Any]:
    """The layers broadcast their second input."""
    return (one, other) if _size(one) >= _size(other) else (other, one)


def _parts(value: Any, key: Key) -> list[int | slice]:
    """A part of the key for each axis of a sample. Raises `IndexError`, `TypeError`."""
    given = list(key) if isinstance(key, tuple) else [key]
    lead, rank = 1 + value.type.level, 1 + value.type.level + len(_dims(value))
    if given.count(Ellipsis) > 1:
        raise IndexError("an index has at most one `...`")
    if Ellipsis in given:
        at = given.index(Ellipsis)
        given[at : at + 1] = [slice(None)] * (rank - len(given) + 1)
    given += [slice(None)] * (rank - len(given))
    if len(given) > rank:
        raise IndexError(f"{len(given)} indices for {rank} axes: the batch{', steps' * (lead - 1)} and {value.type}")
    for part in given:
        if not isinstance(part, (int, slice)) or isinstance(part, bool):
            raise TypeError(f"an index is an integer, a slice or `...`, found {part!r}")
    if any(part != slice(None) for part in given[:lead]):
        axes = "axis is the batch" if lead == 1 else "axes are the batch and the steps of sequences"
        raise IndexError(f"the first {axes}, which cannot be indexed: write x[{':, ' * lead}...]")
    return [part for part in given[lead:] if isinstance(part, (int, slice))]


def _range_of(part: int | slice, size: int, axis: int) -> range:
    """The chosen elements of an axis. Raises `IndexError`."""
    if isinstance(part, int):
        if not -size <= part < size:
            raise IndexError(f"index {part} is out of range for axis {axis} with {size} elements")
        return range(part % size, part % size + 1)
    chosen = range(*part.indices(size))
    if chosen.step < 1 or not chosen:
        raise IndexError(f"the slice of axis {axis} with {size} elements is empty or has a negative step")
    return chosen
