"""Inferred types are those of what is computed."""

from __future__ import annotations

import ast

import numpy as np

from paddle_layers.define import LayerDefinition, Type
from paddle_layers.runtime import Sequences

from .cases import Case
from .comparing import Verdicts
from .trial import Trial


def check_types(case: Case) -> Verdicts:
    """Computed outputs have the inferred shape and level, ids are in range, numbers are finite."""
    with Trial(case, "float32") as trial:
        trial.step()
        for name, type_ in zip(case.outputs, case.output_types, strict=True):
            if name in trial.raw:
                yield name, _check(type_, trial.raw[name], deliberate=_names_nan(case.definition))


def _names_nan(definition: LayerDefinition) -> bool:
    """Whether a function gives NaN or infinity deliberately, as for labels that are none: its text names them."""
    nodes = [node for function in definition.facts.forward for node in ast.walk(function.tree)]
    return any(isinstance(node, ast.Attribute) and node.attr in ("nan", "inf") for node in nodes)


def _check(type_: Type, value: object, *, deliberate: bool) -> str | None:
    level = value.level if isinstance(value, Sequences) else 0
    array = np.asarray(value.data if isinstance(value, Sequences) else value)
    if level != type_.level or array.shape[1:] != type_.dims:
        return f"is {array.shape[1:]} of level {level}, inferred was {type_}"
    if type_.kind == "INT":
        legal = array.dtype.kind == "i" and (array.size == 0 or (array.min() >= 0 and array.max() < type_.size))
        return None if legal else f"has ids from {array.min()} to {array.max()}, inferred was {type_}"
    return None if deliberate or np.isfinite(array).all() else "holds NaN or infinity for finite inputs"
