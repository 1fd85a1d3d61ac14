"""The test phase: loss and statistics over all data of a source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_layers.data import Batches

from .runs import short_names

if TYPE_CHECKING:
    from paddle_layers.runtime import Net


def evaluate(net: Net, batches: Batches) -> dict[str, float]:
    """Mean loss over the rows and the statistics over all batches; statistics are reset before and after."""
    net.reset_statistics()
    total, rows = 0.0, 0
    for number, batch in enumerate(batches):
        count = len(batches.rows(0, number))
        net.forward(batch, phase="test")
        total += net.loss * count
        rows += count
    results = {"loss": total / rows, **short_names(net.statistics())}
    net.reset_statistics()
    return results
