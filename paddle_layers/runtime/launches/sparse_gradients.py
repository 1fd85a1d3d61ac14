"""Sparse gradients: one row per id that a batch uses, in the memory of a plan."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.graph.rows import Rows
from paddle_layers.runtime.memory.parameters import Parameter

from .arguments import ExternalMemory, Ref
from .buffers import Buffer

if TYPE_CHECKING:
    from paddle_layers.define.functions.point_functions import Function

    from .index_arrays import Used
    from .scope import OperationScope


class PlanMemory(Protocol):
    """Access to the buffers of a plan."""

    def read(self, buffer: Buffer, rows: Rows | None = None) -> NDArray[Any]:
        """The rows of a batch, by default those of the last one."""

    def write(self, buffer: Buffer, values: NDArray[Any]) -> None:
        """Fills a buffer from its start."""

    def address(self, ref: Ref) -> int:
        """Address of an array argument."""


@dataclass(eq=False)
class SparseGradient:
    """The sparse gradient of a parameter in a plan: one row per id that the batch uses."""

    parameter: Parameter
    use: Used
    rows: Ref
    """Shape as the layer requests it: the ids, then the other axes."""
    plan: PlanMemory | None = None
    batch: Rows = field(default_factory=Rows)
    """The rows of the last backward pass."""

    @property
    def ids(self) -> NDArray[np.int64]:
        """Row numbers, in increasing order."""
        return self.batch.ids.get(self.use.ids, np.zeros(0, np.int64))

    def read(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Row numbers, and the rows: copies."""
        assert self.plan is not None
        assert isinstance(self.rows.owner, Buffer)
        flat = self.plan.read(self.rows.owner, self.batch)
        # Copies: the next pass overwrites the memory while the caller may still accumulate the rows.
        return self.ids.copy(), flat.reshape(len(self.ids), *self.parameter.shape[1:]).copy()

    def poison(self) -> None:
        """Fills the memory of the rows with NaN."""
        assert self.plan is not None
        assert isinstance(self.rows.owner, Buffer)
        self.plan.write(self.rows.owner, np.full(self.batch.size(self.rows.owner.extent), np.nan))

    @property
    def flat(self) -> Ref:
        """All elements of the rows, for launches outside of the plan."""
        assert isinstance(self.rows.owner, Buffer)
        return self._fixed(self.rows.owner, self.rows.owner.extent)

    @property
    def table(self) -> Ref:
        """The rows with one axis of columns, for launches outside of the plan."""
        width = self.parameter.size // max(self.parameter.shape[0], 1)
        return self.flat._replace(shape=(self.rows.shape[0], Extent(width)))

    @property
    def used(self) -> Ref:
        """The ids, for launches outside of the plan."""
        buffer = self.use.buffers["id"]
        return self._fixed(buffer, buffer.extent)._replace(dtype="int64")

    def _fixed(self, buffer: Buffer, extent: Extent) -> Ref:
        assert self.plan is not None
        return Ref(ExternalMemory(self.plan.address(Ref(buffer, (extent,)))), (extent,))


def make_sparse_gradient(scope: OperationScope, function: Function, item: int, dtype: str) -> SparseGradient:
    """Memory for the sparse gradient of a parameter, as a function computes it from the used ids."""
    assert function.used is not None
    target = function.targets[0]
    parameter = scope.op.params[target.name][item]
    value = scope.value(function.used.name, item if function.over is not None else None)
    ids = scope.index_arrays.used(value, "id").shape[0]
    shape = (ids, *scope.shape(target, item)[1:])
    buffer = Buffer(f"gradient of {parameter.name}", ids * math.prod(size.extra for size in shape[1:]), dtype)
    return SparseGradient(parameter, scope.index_arrays.uses[value.name], Ref(buffer, shape))
