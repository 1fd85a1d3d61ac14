"""The test phase: loss and statistics over all data of a source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from paddle_layers.runtime.plan.losses import LossSum, total_loss

from .runs import take_statistics

if TYPE_CHECKING:
    from paddle_layers.runtime import Net


def evaluate(
    net: Net,
    batches: Iterable[Mapping[str, Any]],
    names: Mapping[str, str],
    losses: Mapping[str, str] | None = None,
    seen: Callable[[], None] | None = None,
) -> dict[str, float]:
    """The loss and the statistics over all batches, as if they were one; statistics are reset before and after.

    `names` are those of the statistics in the results, by the net's, and `losses` those of single costs; `seen` is
    called behind each batch.
    """
    sums = run_test(net, batches, seen)
    costs = named_costs(sums, losses or {})
    return {"loss": total_loss(sums.values()), **costs, **take_statistics(net, names)}


def run_test(
    net: Net, batches: Iterable[Mapping[str, Any]], seen: Callable[[], None] | None = None
) -> dict[str, LossSum]:
    """Run all batches. Gives the costs by name; the net has counted the statistics of these batches alone."""
    net.reset_statistics()
    sums: dict[str, LossSum] = {}
    for batch in batches:
        net.forward(batch, phase="test")
        for name, one in net.loss_sums().items():
            sums[name] = sums[name].plus(one) if name in sums else one
        if seen is not None:
            seen()
    return sums


def named_costs(sums: Mapping[str, LossSum], names: Mapping[str, str]) -> dict[str, float]:
    """What a row costs on average, by the names that the log has for the net's."""
    return {short: sums[name].mean for name, short in names.items() if name in sums}
