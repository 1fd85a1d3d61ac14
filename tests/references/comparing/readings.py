"""What references are given: inputs by name, as they stand for, and parameters."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import LayerDefinition, Type
from paddle_layers.runtime import Csr, Net
from paddle_layers.testing.cases.case import LAYER, Case


def parameters_of(net: Net, definition: LayerDefinition) -> dict[str, Any]:
    """Values of parameters and states by field name, a list where there is one per item; of parts as `part.weight`."""
    held = {name.removeprefix(f"{LAYER}."): one.value for name, one in {**net.parameters, **net.states}.items()}
    held = {name: value.astype(np.float64) for name, value in held.items()}
    if definition.is_composite:
        return held
    found: dict[str, Any] = {}
    for name, field in {**definition.params, **definition.states}.items():
        values = [value for key, value in held.items() if key.rstrip("_0123456789") == name]
        found[name] = values if getattr(field, "per", None) else (values or [None])[0]
    return found


def draw_parameters(net: Net) -> None:
    """Irregular numbers, of which no sums are equal by accident; which of two is larger would be up to rounding."""
    rng = np.random.default_rng(17)
    for parameter in net.parameters.values():
        parameter.value = rng.normal(0.0, 0.6, parameter.shape)


def inputs_of(case: Case, arrays: list[Any]) -> dict[str, Any]:
    """The inputs as references want them, with the starts of sequences."""
    found: dict[str, Any] = {}
    for name, places in case.definition.bind_axes(case.types, case.attributes).positions.items():
        items = [dense(case.types[place], arrays[place]) for place in places]
        found[name] = items if case.definition.inputs[name].repeatable else (items or [None])[0]
        if places and (level := case.types[places[0]].level):
            starts = [np.array(part) for part in case.batch.starts[:level]]
            found[f"{name}.starts"] = starts if level == 1 else [starts[1][starts[0]], starts[1]]
            found[f"{name}.parts"] = starts[0]
    return found


def dense(type_: Type, rows: Any) -> NDArray[Any]:
    """The rows as an array; sparse ones as what they stand for."""
    if not isinstance(rows, Csr):
        return np.asarray(rows)
    whole = np.zeros((len(rows), type_.size))
    at = np.repeat(np.arange(len(rows)), np.diff(rows.start))
    whole[at, rows.id] = 1.0 if rows.value is None else rows.value
    return whole
