"""Layers `data_norm`: their means and deviations, measured on the training data before the first step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.data import Batches, Stream

from .problems import TrainingError

if TYPE_CHECKING:
    from paddle_layers.config.training import Training
    from paddle_layers.config.wiring.nodes import Node
    from paddle_layers.runtime import Net

LAYER = "data_norm"
AT_ONCE = 4096
"""Rows that are read at once."""
EQUAL = 1e-6
"""Numbers of a column whose deviation is at most this share of their mean are equal but for rounding."""


def check_data_norms(training: Training) -> None:
    """Raise `ConfigError` for one that reads no data layer: what it would read changes while the network learns."""
    network = training.network
    sources = {name for node in network.nodes if not node.definition.inputs for name in node.output_names}
    for node in _data_norms(training):
        if node.inputs[0] not in sources:
            message = f"`{node.inputs[0]}` is computed by a layer, but a `{LAYER}` is measured on the data"
            raise network.error(node.name, message, help="read a data layer, or use `batch_norm`")


def measure_data_norms(net: Net, training: Training, train: Batches | Stream, *, known: bool) -> None:
    """Give every such layer the means and deviations of the rows that are trained with.

    Raises `TrainingError` where data come in batches of somebody else's making, unless they are `known` from weights.
    """
    for node in _data_norms(training):
        if isinstance(train, Stream):
            if not known:
                raise TrainingError(
                    f"layer `{node.name}` is measured on all data before the first step, which batches that are given "
                    "one by one cannot tell: give arrays in place of batches, or start from weights that have it"
                )
            continue
        feed = next((feed for feed in train.feeds or () if feed.layer == node.inputs[0]), None)
        if feed is None:  # the data layer is there in the test only
            continue
        mean, deviation = _moments(
            _by_channel(feed.take(train.part[first : first + AT_ONCE], None))
            for first in range(0, train.count, AT_ONCE)
        )
        net.states[f"{node.name}.mean"].value = mean
        net.states[f"{node.name}.deviation"].value = deviation


def _data_norms(training: Training) -> Iterator[Node]:
    return (node for node in training.network.nodes if node.definition.name == LAYER)


def _by_channel(value: Any) -> NDArray[np.float64]:
    """All numbers of a channel, or of a column, below one another."""
    rows = np.asarray(value if isinstance(value, np.ndarray) else value.data, np.float64)
    return np.moveaxis(rows, 1, -1).reshape(-1, rows.shape[1])


def _moments(parts: Iterator[NDArray[np.float64]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and deviation of every column over all parts (Chan, Golub and LeVeque 1979)."""
    count, mean, squares = 0, np.zeros(1), np.zeros(1)
    for rows in parts:
        if not len(rows):
            continue
        own = rows.mean(axis=0)
        off, total = own - mean, count + len(rows)
        squares = squares + ((rows - own) ** 2).sum(axis=0) + off**2 * (count * len(rows) / total)
        mean, count = mean + off * (len(rows) / total), total
    deviation = np.sqrt(squares / max(count, 1))
    return mean, np.where(deviation > EQUAL * np.abs(mean), deviation, 1.0)
