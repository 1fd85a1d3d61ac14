"""Additivity: losses, gradients and statistics are sums over rows, for any split into batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from paddle_layers.runtime.plan.losses import LossSum, total_loss

from ..cases.case import Case
from ..cases.trial import Trial
from .comparing import Array, Verdicts, close

CUT = "when the data are split into two batches"
Part = tuple[Case, dict[str, Any]]


def check_sums(case: Case) -> Verdicts:
    """Run all samples in one batch, then in two: the loss of both, its gradients and the statistics must agree.

    The backward passes of the parts divide by the divisors of the whole, as those of a step with `accumulate` do.
    """
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


def _results(case: Case, *cuts: tuple[int, int]) -> dict[str, Array]:
    """The loss over batches of these samples, its gradients, and the statistics that the batches leave."""
    sums: dict[str, LossSum] = {}
    gradients: dict[str, list[Array]] = {}
    with Trial(case) as trial:
        parts = [(part, part.feeds(rows)) for part, rows in (case.samples(*cut, trial.arrays) for cut in cuts)]
        divisors = _divisors(trial, parts)
        trial.net.reset_statistics()
        for part, feeds in parts:
            trial.net.forward(feeds, phase=case.phase, step=0)
            for name, one in trial.net.loss_sums().items():
                sums[name] = sums[name].plus(one) if name in sums else one
            if case.trains and sums:
                trial.net.backward(divisors=divisors if len(parts) > 1 else None)
                for name, array in _gradients(part, trial).items():
                    gradients.setdefault(name, []).append(array)
        found = {f"divisor of {name}": np.array(divisors.get(name, one.divisor)) for name, one in sums.items()}
        return {"the loss": np.array(total_loss(sums.values())), **found, **_joined(gradients), **trial.statistics()}


def _divisors(trial: Trial, parts: Sequence[Part]) -> dict[str, float]:
    """The divisors of all parts together, known before the first pass."""
    counts: Counter[str] = Counter()
    for _, feeds in parts if trial.case.phase == "train" else ():
        counts.update(trial.net.divisors(feeds, step=0))
    return dict(counts)


def _gradients(part: Case, trial: Trial) -> dict[str, Array]:
    """Gradients of parameters, and of inputs under names that begin with `in`."""
    net = trial.net
    own = {f"gradient of {p.name}": p.gradient.copy() for p in net.parameters.values() if p.gradient is not None}
    wanted = [f"in{place}" for place, is_wanted in enumerate(part.wanted) if is_wanted]
    return own | {name: net.gradient(name) for name in wanted}


def _joined(gradients: Mapping[str, list[Array]]) -> dict[str, Array]:
    """Gradients of parameters are added up, those of inputs are rows of all parts."""
    return {
        name: np.concatenate(arrays) if name.startswith("in") else np.sum(arrays, axis=0)
        for name, arrays in gradients.items()
    }
