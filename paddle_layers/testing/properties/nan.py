"""NaN propagation: NaN in an input reaches the output, so that a broken network is noticed."""

from __future__ import annotations

from unittest import mock

import numpy as np

from ..cases.case import Case
from ..cases.trial import Results, Trial
from .comparing import Array, Verdicts, at

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
            depends |= other[name] != values
        lost = np.argwhere(depends & ~np.isnan(found[name]))
        yield name, None if not len(lost) else _lost(tuple(int(i) for i in lost[0]), found[name], source)


def _lost(place: tuple[int, ...], found: Array, source: str) -> str:
    return f"{at(place)}is {found[place]:.10g}, expected NaN: it depends on a value of `{source}` that is NaN"
