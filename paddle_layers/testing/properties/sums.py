"""Losses and statistics are sums over rows: the same however the data are cut into batches."""

from __future__ import annotations

import numpy as np

from paddle_layers.runtime.plan.losses import LossSum, total_loss

from ..cases.case import Case
from ..cases.trial import Trial
from .comparing import Array, Verdicts, close

CUT = "when the data come in two batches"


def check_sums(case: Case) -> Verdicts:
    """Run all samples in one batch, then in two: the loss of both, and what the statistics say, must agree."""
    facts, samples = case.definition.facts, case.batch.samples
    if not (facts.has_loss or facts.has_stats) or samples < 2:
        return
    if facts.is_random:
        return  # random numbers depend on the place in the batch
    expected = _results(case, (0, samples))
    for at in {1, samples // 2, samples - 1}:
        found = _results(case, (0, at), (at, samples))
        for name, value in expected.items():
            yield name, close(value, found[name], "float64", CUT)


def _results(case: Case, *parts: tuple[int, int]) -> dict[str, Array]:
    """The loss over batches of these samples, and the statistics that they leave."""
    sums: dict[str, LossSum] = {}
    with Trial(case) as trial:
        trial.net.reset_statistics()
        for first, last in parts:
            part, rows = case.samples(first, last, trial.arrays)
            trial.net.forward(part.feeds(rows), phase=case.phase, step=0)
            for name, one in trial.net.loss_sums().items():
                sums[name] = sums[name].plus(one) if name in sums else one
        return {"the loss": np.array(total_loss(sums.values())), **trial.statistics()}
