"""Properties of batches: independence of samples, empty batches, sums over batches and batch sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from paddle_layers.kernels.selection import tuned_functions
from paddle_layers.kernels.tuned import point_functions_only, tuned_at_alternate_sizes, tuned_at_every_size
from paddle_layers.runtime import Sequences
from paddle_layers.runtime.plan.metrics import LossSum, total_loss
from paddle_layers.testing.findings import Array, Verdicts, all_close, same_bits

from ..cases.batches import EMPTY, with_samples
from ..cases.case import Case
from ..cases.trial import Results, Trial, guarded, run
from ..cases.values import join_rows, take_rows
from .cuda import breadth

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
        # From the last one, because a wrong sequence start shifts all that follow it.
        for sample in range(batch.samples - 1, -1, -1)[:MOST]:
            expected = _rows_of(sample, whole)
            trial.arrays = _mixed(case, sample, first, second)
            trial.forward()
            found = _rows_of(sample, trial.raw)
            yield from all_close(expected, found, "float64", f"in sample {sample} when the other samples change")
            if _can_be_alone(case, sample):
                alone = _rows_of(0, _alone(case, sample, first))
                yield from all_close(expected, alone, "float64", f"in sample {sample} when it is alone in the batch")


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


IN_EMPTY_BATCH = "in an empty batch"
AFTER_EMPTY_BATCH = "after an empty batch"


def check_empty(case: Case) -> Verdicts:
    """Run batches without rows: states and statistics stay, gradients of parameters are 0, no output is NaN."""
    with Trial(case) as counting:
        counted = _statistics(counting.forward())
        for empty in _empty_cases(case):
            with Trial(empty) as trial:
                before = {f"state {name}": state.value.copy() for name, state in trial.net.states.items()}
                found = trial.step()
            yield from same_bits(before, found, IN_EMPTY_BATCH)
            for name, values in found.items():
                if name.startswith("gradient of ") and not name.startswith("gradient of in"):
                    yield from same_bits({name: np.zeros_like(values)}, found, IN_EMPTY_BATCH)
                elif name in case.outputs and values.dtype.kind == "f":
                    yield name, None if np.isfinite(values).all() else f"contains NaN or infinity {IN_EMPTY_BATCH}"
            counting.net.forward(empty.feeds(empty.arrays()), phase=case.phase)
            yield from same_bits(counted, _statistics(counting.statistics()), AFTER_EMPTY_BATCH)


def _empty_cases(case: Case) -> Iterator[Case]:
    for batch in EMPTY[len(case.batch.starts)]:
        yield replace(case, given_batch=batch)


def _statistics(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name.startswith("statistic ")}


IN_TWO_BATCHES = "when the data are split into two batches"
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
    # Also unequal parts: with halves of equal size, a mean of means would equal the mean of the whole.
    for at in {1, samples // 2, samples - 1}:
        found = _results(case, (0, at), (at, samples))
        yield from all_close(expected, found, "float64", IN_TWO_BATCHES)


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


# Scratch memory of softmax that was sized for the plan but split by the batch gave rows that did not sum to one, for
# fewer than 8 rows after a larger batch.
# Without rows, products of the GRU and of a packed `fc` left the weight gradients of the batch before.
SAMPLES = (9, 1, 0, 2, 7)
"""Samples of the batches of a net, more and fewer in turn, and none."""


def check_batch_sizes(case: Case) -> Verdicts:
    """Run batches of other sizes in one net, its free memory filled with NaN, and each in a new net.

    Values, statistics, states and gradients have to be the same bits: with point functions, with tuned kernels, and
    where the choice between them depends on the batch.
    """
    with point_functions_only():
        yield from _check_sizes(case, "float32")
    if tuned_functions(case.definition.name):
        for dtype in breadth().precisions:
            with tuned_at_every_size(), guarded():
                yield from _check_sizes(case, dtype)
        # Batches that choose different kernels have separate plans; without that, results depended on the batches
        # before.
        with tuned_at_alternate_sizes():
            yield from _check_sizes(case, "float32")


def _check_sizes(case: Case, dtype: str) -> Verdicts:
    cases = [replace(case, given_batch=with_samples(samples, len(case.batch.starts))) for samples in SAMPLES]
    seen: list[int] = []
    with Trial(cases[0], dtype) as trial:
        for other in cases:
            trial.take(other)
            found = trial.step(before=trial.poison)
            expected, _ = run(other, dtype)
            yield from same_bits(expected, found, _after_batches(other.batch.samples, seen))
            seen.append(other.batch.samples)


def _after_batches(samples: int, seen: list[int]) -> str:
    before = f" after {', '.join(map(str, seen))}" if seen else " with NaN in unused memory"
    return f"for batch size {samples}{before} in the same net"
