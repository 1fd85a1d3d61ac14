"""Initialization of `data_norm` layers: mean and deviation, measured on the training data before the first step."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
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
STORED = 2**24
"""Number of values that are read at once by lazy columns: images may be large."""
EQUAL = 1e-6
"""Numbers of a column whose deviation is at most this share of their mean are equal but for rounding."""


def check_data_norms(training: Training) -> None:
    """Raise `ConfigError` for one that reads no data layer: what it would read changes while the network learns."""
    network = training.network
    sources, trained = ({*_data_layers(training, phase)} for phase in ("test", "train"))
    for node in _data_norms(training):
        read = node.inputs[0]
        if read in trained:
            continue
        where = "exists only in the test phase" if read in sources else "is computed by a layer"
        message = f"`{read}` {where}, but `{LAYER}` computes its statistics from the training data"
        raise network.error(
            node.name, message, help="connect it to a data layer of the train phase, or use `batch_norm`"
        )


def measure_data_norms(net: Net, training: Training, train: Batches | Stream, *, known: Collection[str]) -> None:
    """Give every such layer the means and deviations of the rows that are trained with, unless these are `known`.

    `known` are names of states that weights have brought. Raises `TrainingError` where data come in batches of somebody
    else's making.
    """
    for node in _data_norms(training):
        if f"{node.name}.mean" in known and f"{node.name}.deviation" in known:
            continue
        if isinstance(train, Stream):
            raise TrainingError(
                f"layer `{node.name}` computes its statistics from all data before the first step, which needs arrays "
                "instead of batches, or initial weights that contain the statistics"
            )
        feed = next(feed for feed in train.feeds or () if feed.layer == node.inputs[0])
        rows = max(1, min(AT_ONCE, STORED // max(1, feed.wanted.size))) if train.dataset.is_stored else AT_ONCE
        mean, deviation = _moments(
            _by_channel(train.fed_readable(feed.layer, train.part[first : first + rows]))
            for first in range(0, train.count, rows)
        )
        net.states[f"{node.name}.mean"].value = mean
        net.states[f"{node.name}.deviation"].value = deviation


def _data_norms(training: Training) -> Collection[Node]:
    """The `data_norm` layers in either phase, with the level and the stages of the training."""
    found = (node for phase in ("train", "test") for node in _nodes(training, phase))
    return {node.name: node for node in found if node.definition.name == LAYER}.values()


def _data_layers(training: Training, phase: str) -> Iterator[str]:
    return (name for node in _nodes(training, phase) if not node.definition.inputs for name in node.output_names)


def _nodes(training: Training, phase: str) -> Sequence[Node]:
    return training.network.select(phase, training.level, training.stage).nodes


def _by_channel(value: Any) -> NDArray[np.float64]:
    """All numbers of a channel, or of a column, below one another."""
    # Float64: the difference of large, nearly equal numbers follows.
    rows = np.asarray(value if isinstance(value, np.ndarray) else value.data, np.float64)
    return np.moveaxis(rows, 1, -1).reshape(-1, rows.shape[1])


def _moments(parts: Iterator[NDArray[np.float64]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and deviation of every column over all parts (Chan, Golub and LeVeque 1979)."""
    count, mean, squares = 0, np.zeros(1), np.zeros(1)
    for rows in parts:
        if not len(rows):
            continue
        own = rows.mean(axis=0)
        # Merging means and sums of squared deviations, and not sums of squares, whose difference cancels for columns
        # far from zero.
        off, total = own - mean, count + len(rows)
        squares = squares + ((rows - own) ** 2).sum(axis=0) + off**2 * (count * len(rows) / total)
        mean, count = mean + off * (len(rows) / total), total
    deviation = np.sqrt(squares / max(count, 1))
    # A constant column would be divided by rounding errors.
    return mean, np.where(deviation > EQUAL * np.abs(mean), deviation, 1.0)
