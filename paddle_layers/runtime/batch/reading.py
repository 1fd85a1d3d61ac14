"""Reading of values of the last pass from the memory of a plan."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from paddle_layers.runtime.graph.value import Value
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.plan.plan import Plan

from .rows import BatchRows


def rows_of(plan: Plan, buffer: Buffer, value: Value) -> NDArray[Any]:
    """The rows of a value in a buffer: a view on the CPU, otherwise a copy."""
    return plan.read(buffer).reshape(plan.rows.of(value.domain), *value.type.dims)


def read_value(plan: Plan, batch: BatchRows, value: Value) -> Any:
    """A value as newly allocated arrays, as sequences where it has them; sparse rows as they were fed."""
    if value.entries is not None:  # sparse rows are only fed, never computed
        return batch.in_sequences(value, batch.fed_sparse(value))
    return batch.in_sequences(value, rows_of(plan, plan.values[value.name], value).copy())
