"""Values of the last pass, out of the memory of a plan."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from paddle_layers.runtime.graph.rows import Rows
from paddle_layers.runtime.graph.value import Value
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.plan.plan import Plan

from .values import Sequences


def rows_of(plan: Plan, buffer: Buffer, value: Value) -> NDArray[Any]:
    """What a buffer has for the rows of a value: a view on the CPU, elsewhere a copy."""
    return plan.read(buffer).reshape(plan.rows.of(value.domain), *value.type.dims)


def read_value(plan: Plan, batch: Rows, value: Value) -> Any:
    """A value as an array of its own, in sequences where it is in such."""
    data = rows_of(plan, plan.values[value.name], value).copy()
    if value.type.level == 0:
        return data
    starts, chain = batch.starts, value.domain.ancestors()
    inner = starts[value.domain, chain[0]]
    levels = (inner,) if value.type.level == 1 else (starts[chain[0], chain[1]], inner)
    return Sequences(data, *levels)
