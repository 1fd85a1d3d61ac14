"""Activations that `act` accepts."""

from __future__ import annotations

from ..definitions.layers import LayerDefinition


def activation_problem(definition: LayerDefinition) -> str:
    """Why a layer cannot serve as an activation, which `act` names; empty when it can."""
    inputs, outputs = list(definition.inputs.values()), list(definition.outputs.values())
    one = len(inputs) == len(outputs) == 1 and not inputs[0].repeatable and not outputs[0].repeatable
    same = one and inputs[0].text == outputs[0].text and "output_types" not in definition.hooks
    if not same or "DENSE" not in inputs[0].kinds or outputs[0].loss:
        return f"`{definition.name}` is not an activation: its output must have the shape of its input"
    if definition.is_composite:
        return f"`{definition.name}` is a composite layer, not an activation: add it as a separate layer"
    if definition.params or definition.states:
        return f"`{definition.name}` has parameters: add it as a separate layer"
    return ""
