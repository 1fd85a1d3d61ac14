"""Inferred types match the computed values."""

from __future__ import annotations

import math

import numpy as np

from paddle_layers.define import LayerDefinition, Output, Type
from paddle_layers.runtime import Sequences

from ..cases.case import Case
from ..cases.trial import Trial
from .comparing import Verdicts


def check_types(case: Case) -> Verdicts:
    """Computed outputs have the inferred shape and level, ids are in range, numbers are finite."""
    yield from _computed_sizes(case)
    with Trial(case, "float32") as trial:
        trial.step()
        fields = _output_fields(case.definition, len(case.outputs))
        for name, field, type_ in zip(case.outputs, fields, case.output_types, strict=True):
            if name in trial.raw:
                yield name, _check(case, field, type_, trial.raw[name])


def _output_fields(definition: LayerDefinition, count: int) -> list[Output]:
    """The field of each output; a repeatable one, the last, has all that are left, and the last ones may be absent."""
    fields = list(definition.outputs.values())
    return (fields + fields[-1:] * (count - len(fields)))[:count]


def _computed_sizes(case: Case) -> Verdicts:
    """An output type that a function gives has as many numbers as the axes, over which the elements are computed."""
    definition = case.definition
    if "output_types" not in definition.hooks or not definition.inputs:
        return
    binding = definition.bind_axes(case.types, case.attributes)
    for field, type_ in zip(definition.outputs.values(), case.output_types, strict=False):
        if field.kind == "DENSE" and not field.repeatable:
            computed = math.prod(binding.dims(field))
            same = computed == type_.size
            yield field.name, None if same else f"has {computed} values per row by its axes, inferred {type_}"


def _check_rows(case: Case, type_: Type, value: object, found: int) -> str | None:
    rows = case.batch.rows_at(type_.level)
    if found != rows:
        return f"has {found} rows, expected {rows} rows of {type_}"
    if isinstance(value, Sequences) and list(value.starts) != list(case.batch.starts[0]):
        return f"has sequence starts {list(value.starts)}, expected {list(case.batch.starts[0])}"
    return None


def _check_dynamic_rows(case: Case, type_: Type, value: object, found: int) -> str | None:
    """The layer determines its number of rows; they have to belong to the batch's samples."""
    if not isinstance(value, Sequences):
        return f"is not a sequence, inferred {type_}"
    last = (value.starts if value.sub_starts is None else value.sub_starts)[-1]
    if len(value) != case.batch.samples or last != found:
        return f"has {len(value)} sequences that end at row {last}, expected {case.batch.samples} and {found}"
    return None


def _check(case: Case, field: Output, type_: Type, value: object) -> str | None:
    level = value.level if isinstance(value, Sequences) else 0
    array = np.asarray(value.data if isinstance(value, Sequences) else value)
    own = bool(field.axes) and field.axes[0].name in case.definition.dynamic_rows
    check = _check_dynamic_rows if own else _check_rows
    if problem := check(case, type_, value, len(array)):
        return problem
    if level != type_.level or array.shape[1:] != type_.dims:
        return f"is {array.shape[1:]} of level {level}, inferred {type_}"
    if type_.kind == "INT":
        legal = array.dtype.kind == "i" and (array.size == 0 or (array.min() >= 0 and array.max() < type_.size))
        return None if legal else f"has ids from {array.min()} to {array.max()}, inferred {type_}"
    if np.isinf(array).any():
        return "contains infinity for finite inputs"
    return None if field.nan is not None or not np.isnan(array).any() else "contains NaN for finite inputs"
