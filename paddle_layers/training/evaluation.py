"""The test phase: loss and statistics over all data of a source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from paddle_layers.data import Batches

from .runs import take_statistics

if TYPE_CHECKING:
    from paddle_layers.runtime import Net


def evaluate(net: Net, batches: Batches, names: Mapping[str, str]) -> dict[str, float]:
    """Mean loss over the rows and the statistics over all batches; statistics are reset before and after.

    `names` are those of the statistics in the results, by the net's.
    """
    net.reset_statistics()
    total, rows = 0.0, 0
    for number, batch in enumerate(batches):
        count = len(batches.rows(0, number))
        net.forward(batch, phase="test")
        total += net.loss * count
        rows += count
    return {"loss": total / rows, **take_statistics(net, names)}
