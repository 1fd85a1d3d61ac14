"""Attributes that many layers share; a layer takes one by a word and the framework does the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .attributes import Attribute, Bool, Float, String

if TYPE_CHECKING:
    from .layers import LayerDefinition


def _act() -> Attribute[Any]:
    return String("elementwise layer applied to the output", default="linear")


def _drop_rate() -> Attribute[Any]:
    return Float("share of the outputs set to zero while training", default=0.0, min=0, below=1)


def _error_clip() -> Attribute[Any]:
    return Float("limit of each element of the output's gradient", above=0, optional=True)


def bias_attribute() -> Bool:
    """What a layer with a `Bias` gets, to do without it."""
    return Bool("add a bias to every output", default=True)


COMMON: dict[str, Callable[[], Attribute[Any]]] = {"act": _act, "drop_rate": _drop_rate, "error_clip": _error_clip}
"""The groups by name."""


def activation_problem(definition: LayerDefinition) -> str:
    """Why a layer cannot serve as an activation, which `act` names; empty when it can."""
    inputs, outputs = list(definition.inputs.values()), list(definition.outputs.values())
    one = len(inputs) == len(outputs) == 1 and not inputs[0].repeatable and not outputs[0].repeatable
    same = one and inputs[0].text == outputs[0].text and "output_types" not in definition.hooks
    if not same or "DENSE" not in inputs[0].kinds or outputs[0].loss:
        return f"`{definition.name}` is no activation: it does not map values to values of the same shape"
    if definition.is_composite:
        return f"`{definition.name}` is made of layers: use it as a layer of its own"
    if definition.params or definition.states:
        return f"`{definition.name}` has parameters: use it as a layer of its own"
    return ""
