"""Inference: pure, and equal to what is computed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from paddle_layers.define import Type
from paddle_layers.runtime import Sequences

from .cases import Case


def check_types(case: Case) -> Iterator[tuple[str, str | None]]:
    """Inferred twice, the types are the same; computed outputs have them, ids are in range, numbers finite."""
    types = case.definition.infer(case.types, case.attributes)
    again = case.definition.infer(case.types, case.attributes)
    yield "inference", None if types == again else f"gives {types} first and then {again}"
    with case.net("float32") as net:
        outputs = net.forward(case.feeds(case.arrays()), phase=case.phase)
    for name, type_ in zip(case.outputs, types, strict=True):
        yield name, _check(type_, outputs[name])


def _check(type_: Type, value: object) -> str | None:
    level = value.level if isinstance(value, Sequences) else 0
    array = np.asarray(value.data if isinstance(value, Sequences) else value)
    if level != type_.level or array.shape[1:] != type_.dims:
        return f"is {array.shape[1:]} of level {level}, inferred was {type_}"
    if type_.kind == "INT":
        legal = array.dtype.kind == "i" and (array.size == 0 or (array.min() >= 0 and array.max() < type_.size))
        return None if legal else f"has ids from {array.min()} to {array.max()}, inferred was {type_}"
    return None if np.isfinite(array).all() else "holds NaN or infinity for finite inputs"
