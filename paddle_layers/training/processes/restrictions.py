"""Features that data-parallel training does not support."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paddle_layers.config.wiring.data_layers import carried_values
from paddle_layers.data import Batches, Stream

from ..problems import TrainingError

if TYPE_CHECKING:
    from paddle_layers.config import Training
    from paddle_layers.define import LayerDefinition


def check_sharing(
    training: Training, count: int, data: Sequence[Batches | Stream], callbacks: Sequence[object]
) -> None:
    """Raise `ConfigError` or `TrainingError` for what processes cannot share."""
    if training.batch_size < count:
        message = f"`batch_size` is {training.batch_size}, must be at least {count}, the number of processes"
        raise training.error("batch_size", message, code="E319")
    for batches in data:
        if isinstance(batches, Stream):
            raise TrainingError(
                f"{count} processes share the samples of a dataset, but `{batches.name}` yields batches: pass "
                "arrays or a `Dataset`, or train with one process"
            )
        if batches.skip:
            raise TrainingError(
                '`on_error: "skip"` would give the processes batches of different sizes: remove '
                "the damaged records from the data, or train with one process"
            )
    if carried := carried_values(training.network.nodes):
        raise TrainingError(
            f"the data layer `{next(iter(carried))}` carries state from batch to batch, but the samples of a process "
            "change with each batch: train with one process"
        )
    _check_synchronized(training)
    for listener in callbacks:
        if hasattr(listener, "on_test_batch"):
            name = type(listener).__name__
            raise TrainingError(
                f"`{name}` needs all samples of a test, but each process has only some: train with one process"
            )


def _check_synchronized(training: Training) -> None:
    """Raise `TrainingError` where a process may begin a pass anew in whose middle it has waited for the others."""
    nodes = training.network.nodes
    joined = [node.name for node in nodes for one in node.definition.joined if node.attributes[one.when]]
    makers = [node.name for node in nodes if node.definition.dynamic_rows and _by_values(node.definition)]
    if joined and makers:
        raise TrainingError(
            f"`{joined[0]}` is synchronized, but `{makers[0]}` has a dynamic row count: processes cannot "
            "synchronize within such a batch; train with one process, or normalize each process separately"
        )


def _by_values(definition: LayerDefinition) -> bool:
    """Whether a layer's own rows depend on values, not on lengths and sizes only."""
    return any(name in definition.inputs or name in definition.temps for name in definition.hook_names["starts"])
