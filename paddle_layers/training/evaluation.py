"""Test phase: loss and statistics over all data of a source."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from paddle_layers.runtime.plan.metrics import LossSum, total_loss

from .data_loading import advised
from .processes.ranks import SINGLE_PROCESS, SingleProcess
from .runs import take_statistics

if TYPE_CHECKING:
    from paddle_layers.runtime import Net


def evaluate(
    net: Net,
    batches: Iterable[Mapping[str, Any]],
    names: Mapping[str, str],
    losses: Mapping[str, str] | None = None,
    seen: Callable[[], None] | None = None,
    ranks: SingleProcess = SINGLE_PROCESS,
) -> dict[str, float]:
    """The loss and the statistics over all batches, as if they were one; statistics are reset before and after.

    `names` are those of the statistics in the results, by the net's, and `losses` those of single losses; `seen` is
    called after each batch; other processes of `ranks` have other rows of each.
    """
    sums = ranks.sums(run_test(net, batches, seen))
    ranks.join_counts(net)
    costs = named_costs(sums, losses or {})
    return {"loss": total_loss(sums.values()), **costs, **take_statistics(net, names)}


def first_batches(batches: Iterable[Mapping[str, Any]], count: int | None) -> Iterator[Mapping[str, Any]]:
    """The first `count` batches, or all of them; prefetching threads end with it."""
    made = iter(batches)
    try:
        yield from itertools.islice(made, count)
    finally:
        if isinstance(made, Generator):
            made.close()


def run_test(
    net: Net, batches: Iterable[Mapping[str, Any]], seen: Callable[[], None] | None = None
) -> dict[str, LossSum]:
    """Run all batches. Returns the costs by name; the net has counted the statistics of these batches alone."""
    net.reset_statistics()
    sums: dict[str, LossSum] = {}
    with advised():
        for batch in batches:
            net.forward(batch, phase="test")
            for name, one in net.loss_sums().items():
                # Sums and divisors, not means: batches differ in size and in ignored labels.
                sums[name] = sums[name].plus(one) if name in sums else one
            if seen is not None:
                seen()
    return sums


def named_costs(sums: Mapping[str, LossSum], names: Mapping[str, str]) -> dict[str, float]:
    """The average per-sample losses, by the names of the log."""
    return {short: sums[name].mean for name, short in names.items() if name in sums}
