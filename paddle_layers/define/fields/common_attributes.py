"""Common attributes of layers (activation, dropout, error clipping), implemented by the framework."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .attributes import Attribute, Bool, Float, String


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
