"""Immutable attribute values, conversion from NumPy, and common attributes of layers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .attributes import Attribute, Bool, Float, String


class Attributes(Mapping[str, Any]):
    """Values of attributes: immutable; equal only to itself, so that equal blocks of a config are made once.

    The dict that it is made of belongs to it from then on.
    """

    __slots__ = ("__weakref__", "_values")

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def get(self, name: str, default: Any = None) -> Any:
        """The value, or the default; what `Mapping` has asks for a value and catches its absence."""
        return self._values.get(name, default)

    def as_dict(self) -> dict[str, Any]:
        """A copy, for code that looks many values up."""
        return self._values.copy()

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return f"Attributes({self._values})"


def plain(value: Any) -> Any:
    """A number, or several, of NumPy as Python's own: what was computed with arrays is often one."""
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    return tuple(map(plain, value)) if type(value) in (list, tuple) else value


def is_number(value: object) -> bool:
    """A finite int or float, but no bool."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _act() -> Attribute[Any]:
    return String("elementwise layer applied to the output", default="linear")


def _drop_rate() -> Attribute[Any]:
    return Float("fraction of the outputs set to zero during training", default=0.0, min=0, below=1)


def _error_clip() -> Attribute[Any]:
    return Float("limit of each element of the output's gradient", above=0, optional=True)


def bias_attribute() -> Bool:
    """The attribute with which a layer with a `Bias` can omit it."""
    return Bool("add a bias to every output", default=True)


COMMON: dict[str, Callable[[], Attribute[Any]]] = {"act": _act, "drop_rate": _drop_rate, "error_clip": _error_clip}
"""The groups by name."""
