"""Sample independence: a result does not depend on the other samples, where the source of the functions promises it."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_layers.runtime import Sequences

from ..cases.case import Case
from ..cases.trial import Results, Trial
from ..cases.values import join_rows, take_rows
from .comparing import Verdicts, close

MOST = 3
"""Samples that are looked at, from the last one on."""


def check_rows(case: Case) -> Verdicts:
    """Run the batch, then with other values in all samples but one, then that one alone: its rows are the same."""
    batch = case.batch
    if not case.definition.facts.rows_independent or batch.samples < 2 or not case.types:
        return
    if case.definition.dynamic_rows and _is_random(case):
        return  # random numbers depend on the place in the batch, and so does the place of a row on the other samples
    first, second = case.arrays(), case.arrays(1)
    with Trial(case) as trial:
        trial.forward()
        whole = dict(trial.raw)
        for sample in range(batch.samples - 1, -1, -1)[:MOST]:
            expected = _rows_of(sample, whole)
            trial.arrays = _mixed(case, sample, first, second)
            trial.forward()
            found = _rows_of(sample, trial.raw)
            yield from _compare(expected, found, f"in sample {sample} when the other samples change")
            if _can_be_alone(case, sample):
                alone = _rows_of(0, _alone(case, sample, first))
                yield from _compare(expected, alone, f"in sample {sample} when it is alone in the batch")


def _can_be_alone(case: Case, sample: int) -> bool:
    """Whether the sample has rows, and they are not random, which depends on their place in the batch."""
    rows = case.batch.rows_of(sample, sample + 1, len(case.batch.starts))
    return rows.stop > rows.start and not _is_random(case)


def _is_random(case: Case) -> bool:
    return case.definition.facts.is_random or bool(case.attributes.get("drop_rate"))


def _rows_of(sample: int, outputs: dict[str, Any]) -> Results:
    """Outputs of one sample, by the sequences that they are in."""
    found = {}
    for name, value in outputs.items():
        first, last, rows = sample, sample + 1, value
        if isinstance(value, Sequences):
            rows = value.data
            for starts in (value.starts, value.sub_starts):
                if starts is not None:
                    first, last = int(starts[first]), int(starts[last])
        found[name] = np.asarray(rows[first:last])
    return found


def _mixed(case: Case, sample: int, own: list[Any], other: list[Any]) -> list[Any]:
    """The values of one sample among others."""
    mixed = []
    for type_, one, two in zip(case.types, own, other, strict=True):
        rows, count = case.batch.rows_of(sample, sample + 1, type_.level), case.batch.rows_at(type_.level)
        parts = (two, range(rows.start)), (one, range(rows.start, rows.stop)), (two, range(rows.stop, count))
        mixed.append(join_rows([take_rows(values, np.array(chosen, np.int64)) for values, chosen in parts]))
    return mixed


def _alone(case: Case, sample: int, arrays: list[Any]) -> dict[str, Any]:
    """Outputs of a batch of this sample only."""
    part, chosen = case.samples(sample, sample + 1, arrays)
    with Trial(part) as trial:
        trial.arrays = chosen
        trial.forward()
        return trial.raw


def _compare(expected: Results, found: Results, why: str) -> Verdicts:
    for name, values in expected.items():
        yield name, close(values, found[name], "float64", why)
