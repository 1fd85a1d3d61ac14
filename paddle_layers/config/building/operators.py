"""Operators on values of helpers: `a + b`, `2 * a`, `a @ b`, `a[:, 1:3]` are calls of layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from types import EllipsisType
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeGuard, cast

import numpy as np

from paddle_layers.define import registries

Index = int | slice | EllipsisType
Number = float | np.number[Any]
_INSTEAD = {
    "shape": "`type` is its type, `type.dims` has the axes of a sample",
    "dtype": "`type` is its type",
    "T": "write nn.permute(...)",
    "sum": "write nn.row_sum(...)",
}
"""Attributes of arrays, and what to use instead."""
_HELPERS: list[Callable[[str], Callable[..., Any]]] = []


def call_by(helper: Callable[[str], Callable[..., Any]]) -> None:
    """Sets the function that returns the helper of a layer; the module of the helpers imports this one."""
    _HELPERS[:] = [helper]


class Operators:
    """Arithmetic with values and numbers, and NumPy's indexing, whose first axis is the batch."""

    # Otherwise Python would iterate by index, and `a, b = nn.fc(x, size=2)` would report a wrong index.
    __iter__ = None
    # NumPy's scalars leave operators to this class; arrays are refused.
    __array_ufunc__ = None

    def __bool__(self) -> bool:
        raise TypeError(
            "a value has no truth value: its elements are known when the network runs; `==` compares identity, and "
            "nn.compare compares elements"
        )

    if not TYPE_CHECKING:  # for type checkers, a misspelled attribute remains an error

        def __getattr__(self, name: str) -> NoReturn:
            near = ""
            if name in _INSTEAD:
                near = f"; {_INSTEAD[name]}"
            elif not name.startswith("_") and (layer := registries["layer"].get(name)) is not None:
                near = f"; write nn.{layer.name}(...)"
            raise AttributeError(f"a value has no attribute `{name}`{near}", name=name, obj=self)

    def _refused(self, other: object) -> Self:
        """`NotImplemented`. Raises `TypeError` for arrays, whose own message does not say what to write instead."""
        if isinstance(other, np.ndarray):
            raise TypeError("an array cannot be an operand of a value: feed it to a data layer, or use a number")
        return cast("Self", NotImplemented)

    def __add__(self, other: Operators | Number) -> Self:
        if _is_number(other):
            return self._linear(intercept=other)
        return self._call("add", *_larger_first(self, other)) if isinstance(other, Operators) else self._refused(other)

    def __mul__(self, other: Operators | Number) -> Self:
        if _is_number(other):
            return self._linear(slope=other)
        return self._call("mul", *_larger_first(self, other)) if isinstance(other, Operators) else self._refused(other)

    def __sub__(self, other: Operators | Number) -> Self:
        if _is_number(other):
            return self._linear(intercept=-other)
        if not isinstance(other, Operators):
            return self._refused(other)
        return self._call("sub", self, other) if _larger_first(self, other)[0] is self else self + -other

    def __truediv__(self, other: Operators | Number) -> Self:
        if _is_number(other):
            return self._linear(slope=1 / other)
        if not isinstance(other, Operators):
            return self._refused(other)
        return self._call("div", self, other) if _larger_first(self, other)[0] is self else self * other**-1

    def __rsub__(self, other: Number) -> Self:
        return self._linear(slope=-1, intercept=other) if _is_number(other) else self._refused(other)

    def __rtruediv__(self, other: Number) -> Self:
        return self**-1 * other if _is_number(other) else self._refused(other)

    def __pow__(self, other: Number) -> Self:
        return self._call("power", self, power=float(other)) if _is_number(other) else self._refused(other)

    def __neg__(self) -> Self:
        return self._linear(slope=-1)

    def __matmul__(self, other: Operators) -> Self:
        return self._call("matmul", self, other) if isinstance(other, Operators) else self._refused(other)

    __radd__, __rmul__ = __add__, __mul__

    def __getitem__(self, key: Index | tuple[Index, ...]) -> Self:
        dims = _dims(self)
        indices = _indices(self, key)
        elements = [
            _range_of(index, size, axis) for axis, (index, size) in enumerate(zip(indices, dims, strict=True), 1)
        ]
        axes = [axis for axis, (part, size) in enumerate(zip(elements, dims, strict=True), 1) if part != range(size)]
        parts = [elements[axis - 1] for axis in axes]
        value = self
        if axes:
            starts, sizes, steps = [part.start for part in parts], [*map(len, parts)], [part.step for part in parts]
            value = self._call("crop", self, axes=axes, begin=starts, sizes=sizes, steps=steps)
        remaining = [len(part) for index, part in zip(indices, elements, strict=True) if isinstance(index, slice)]
        return value if len(remaining) == len(dims) else self._call("reshape", value, dims=remaining or [1])

    def _linear(self, **constants: Any) -> Self:
        return self._call("slope_intercept", self, **{name: float(number) for name, number in constants.items()})

    def _call(self, layer: str, *inputs: object, **attributes: Any) -> Self:
        (helper,) = _HELPERS
        output: Self = helper(layer)(*inputs, **attributes)
        return output


def _is_number(operand: object) -> TypeGuard[Number]:
    return isinstance(operand, Real)


def _dims(value: Any) -> tuple[int, ...]:
    dims: tuple[int, ...] = value.type.dims
    return dims


def _larger_first(left: Any, right: Any) -> tuple[Any, Any]:
    """Both values, since the layers broadcast their second input. Raises `TypeError` for different numbers of axes."""
    if len(_dims(left)) != len(_dims(right)):
        # The layers would broadcast a vector along the pixels of each channel, NumPy along other axes.
        raise TypeError(
            f"operators need values with the same number of axes, found {left.type} and {right.type}; "
            "add axes of size 1 by nn.reshape, such as dims=[3, 1, 1] for a number per channel"
        )
    return (left, right) if math.prod(_dims(left)) >= math.prod(_dims(right)) else (right, left)


def _indices(value: Any, key: Index | tuple[Index, ...]) -> list[int | slice]:
    """An index for each axis of a sample. Raises `IndexError`, `TypeError`."""
    indices: list[Any] = list(key) if isinstance(key, tuple) else [key]
    for index in indices:
        if not isinstance(index, (int, slice, EllipsisType)) or isinstance(index, bool):
            raise TypeError(f"an index is an integer, a slice or `...`, found {index!r}")
    lead, rank = 1 + value.type.level, 1 + value.type.level + len(_dims(value))
    if indices.count(...) > 1:
        raise IndexError("an index has at most one `...`")
    position = indices.index(...) if ... in indices else len(indices)
    omitted = [slice(None)] * (rank - sum(index is not ... for index in indices))
    indices[position : position + 1] = omitted
    if len(indices) > rank:
        raise IndexError(f"{len(indices)} indices for {rank} axes: the batch{', steps' * (lead - 1)} and {value.type}")
    if any(index != slice(None) for index in indices[:lead]):
        axes = "axis is the batch" if lead == 1 else "axes are the batch and the steps of sequences"
        raise IndexError(f"the first {axes}, which cannot be indexed: write x[{':, ' * lead}...]")
    return indices[lead:]


def _range_of(index: int | slice, size: int, axis: int) -> range:
    """The selected elements of an axis. Raises `IndexError`."""
    if isinstance(index, int):
        if not -size <= index < size:
            raise IndexError(f"index {index} is out of range for axis {axis} with {size} elements")
        return range(index % size, index % size + 1)
    elements = range(*index.indices(size))
    if elements.step < 1 or not elements:
        raise IndexError(f"the slice of axis {axis} with {size} elements is empty or has a negative step")
    return elements
