"""Results depend on the batch alone, not on earlier batches of other sizes."""

from __future__ import annotations

from dataclasses import replace

from paddle_layers.kernels.selection import tuned_functions
from paddle_layers.kernels.tuned import point_functions_only, tuned_at_alternate_sizes, tuned_at_every_size

from ..cases.batches import with_samples
from ..cases.case import Case
from ..cases.results import run
from ..cases.trial import Trial, guarded
from .breadth import breadth
from .comparing import Verdicts, same_bits

SAMPLES = (9, 1, 5, 2, 7)
"""Samples of the batches of a net, more and fewer in turn."""


def check_batch_sizes(case: Case) -> Verdicts:
    """Run batches of other sizes in one net, its free memory filled with NaN, and each in a new net.

    Values, statistics, states and gradients have to be the same bits: with point functions, with tuned kernels, and
    where the choice between them depends on the batch.
    """
    with point_functions_only():
        yield from _check(case, "float32")
    if tuned_functions(case.definition.name):
        for dtype in breadth().precisions:
            with tuned_at_every_size(), guarded():
                yield from _check(case, dtype)
        with tuned_at_alternate_sizes():
            yield from _check(case, "float32")


def _check(case: Case, dtype: str) -> Verdicts:
    cases = [replace(case, given_batch=with_samples(samples, len(case.batch.starts))) for samples in SAMPLES]
    seen: list[int] = []
    with Trial(cases[0], dtype) as trial:
        for other in cases:
            trial.take(other)
            found = trial.step(before=trial.poison)
            expected, _ = run(other, dtype)
            yield from same_bits(expected, found, _behind(other.batch.samples, seen))
            seen.append(other.batch.samples)


def _behind(samples: int, seen: list[int]) -> str:
    before = f" after {', '.join(map(str, seen))}" if seen else " with NaN in unused memory"
    return f"for batch size {samples}{before} in the same net"
