"""Properties of computed values: inferred types, NaN propagation and precision."""

from __future__ import annotations

import math
from unittest import mock

import numpy as np

from paddle_layers.define import LayerDefinition, Output, Type
from paddle_layers.runtime import Sequences
from paddle_layers.testing.findings import Array, Verdicts, at

from ..cases.case import Case
from ..cases.trial import Results, Trial, as_python


def check_types(case: Case) -> Verdicts:
    """Computed outputs have the inferred shape and level, ids are in range, numbers are finite."""
    yield from _computed_sizes(case)
    with Trial(case, "float32") as trial:
        trial.forward()
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


PLACES = (2, 1)
"""The values that are replaced: in the middle of the rows, at their end."""
OTHER = (0.37, -250.0, 250.0)
"""Replacement values that reveal which results depend on a value."""


def check_nan(case: Case) -> Verdicts:
    """Feed NaN in the place of one value of every input: what depends on the value must be NaN."""
    if not case.types or case.definition.facts.is_random:
        return
    with Trial(case) as trial:
        for place, (wanted, field) in enumerate(zip(case.wanted, case.inputs, strict=True)):
            size = trial.arrays[place].size if wanted and not field.places else 0
            low, high = field.within or (-np.inf, np.inf)
            for index in {(size - 1) // part for part in PLACES} if size else ():
                found = _Replaced(trial, place, index)
                others = [found.with_value(value) for value in OTHER if low <= value <= high]
                yield from _passes_nan(found.with_value(None), others, found.with_value(np.nan), f"in{place}")


class _Replaced:
    """Results with another number in the place of one value of an input."""

    def __init__(self, trial: Trial, place: int, index: int) -> None:
        self.trial, self.place, self.index, self.rows = trial, place, index, trial.arrays[place]

    def with_value(self, value: float | None) -> Results:
        """The dense outputs; `None` leaves the value as it is."""
        changed = self.rows.copy()
        if value is not None:
            changed.flat[self.index] = value
        self.trial.arrays[self.place] = changed
        with mock.patch("paddle_layers.runtime.batch.feeding.finite", np.ndarray.astype):  # it refuses NaN
            found = self.trial.forward()
        self.trial.arrays[self.place] = self.rows
        return {name: found[name] for name in self.trial.case.outputs if found[name].dtype.kind == "f"}


def _passes_nan(usual: Results, others: list[Results], found: Results, source: str) -> Verdicts:
    for name, values in usual.items():
        depends = np.zeros(values.shape, bool)
        for other in others:
            # Measured, not derived: a value may only matter in one direction, as below a maximum or beyond a clip,
            # hence three replacements.
            depends |= other[name] != values
        lost = np.argwhere(depends & ~np.isnan(found[name]))
        yield name, None if not len(lost) else _lost(tuple(int(i) for i in lost[0]), found[name], source)


def _lost(place: tuple[int, ...], found: Array, source: str) -> str:
    return f"{at(place)}is {found[place]:.10g}, expected NaN: it depends on a value of `{source}` that is NaN"


SHIFTS = (0.0, 1000.0, 10000.0)
"""Offset of all real inputs: scores drift during training, and only their differences matter."""
ULPS = 64
"""Largest error of a cost in float32, in units in its last place."""


def check_precision(case: Case) -> Verdicts:
    """Compute costs in float32 and in float64 from the same numbers: they differ by some units in the last place."""
    costs = [name for name, field in zip(case.outputs, case.definition.outputs.values(), strict=False) if field.loss]
    for shift in SHIFTS if costs else ():
        with Trial(case) as exact:
            _shift(exact, shift)
            expected = exact.forward()
        with Trial(case, "float32") as single:
            _shift(single, shift)
            found = as_python(single.forward)
        for name in costs:
            yield name, _imprecise(expected[name], found[name], shift)


def _shift(trial: Trial, shift: float) -> None:
    """Add to the inputs that have a gradient, unless they are meant to stay within a range; round to float32."""
    case = trial.case
    # Both computations start from numbers that float32 represents exactly; otherwise rounding of the inputs would
    # dominate.
    for name, parameter in trial.net.parameters.items():
        trial.set_parameter(name, parameter.value.astype(np.float32))
    for place, (wanted, field) in enumerate(zip(case.wanted, case.inputs, strict=True)):
        if case.types[place].kind == "DENSE":
            moved = trial.arrays[place] + (shift if wanted and field.within is None else 0.0)
            trial.arrays[place] = moved.astype(np.float32).astype(np.float64)


def _imprecise(expected: Array, found: Array, shift: float) -> str | None:
    single = np.finfo(np.float32)
    allowed = ULPS * float(single.eps) * abs(expected) + float(single.tiny)  # what is smaller has fewer digits
    error = np.where(expected == found, 0.0, abs(expected - found))
    worst = np.unravel_index(int(np.argmax(error - allowed)), error.shape) if error.size else ()
    if not error.size or error[worst] <= allowed[worst]:
        return None
    place = tuple(int(i) for i in worst)
    why = f"in float32 with {shift:g} added to the inputs"
    return f"{at(place)}expected {expected[place]:.10g}, got {found[place]:.10g} {why}"
