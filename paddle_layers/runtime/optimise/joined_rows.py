"""Reduction of sparse gradients over several processes: union of the ids, sums of the rows of equal ids.

The rows of a plan have memory for the ids of the process's own batch; those of all processes need more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.graph.domains import rows_of
from paddle_layers.runtime.graph.rows import Rows
from paddle_layers.runtime.launches.arguments import Ref
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.launches.index_arrays import Used
from paddle_layers.runtime.launches.sparse_gradients import SparseGradient
from paddle_layers.runtime.memory.parameters import Parameter

if TYPE_CHECKING:
    from paddle_layers.runtime.memory.blocks import Allocator, MemoryBlock

Ints = NDArray[np.int64]


def merged_rows(ids: Ints, rows: NDArray[Any], counts: Sequence[int]) -> tuple[Ints, NDArray[Any]]:
    """The ids in increasing order, and sums of the rows of each, which are added in the order of the processes.

    `ids` and `rows` are the concatenation over processes, each with `counts` distinct ones.
    """
    found = np.unique(ids)
    sums = np.zeros((len(found), *rows.shape[1:]), rows.dtype)
    ends = np.cumsum(counts)
    # Process by process: ids are distinct within one, so the indexed addition loses none, and the order of additions is
    # the same in all processes.
    for begin, end in zip(ends - counts, ends, strict=True):
        sums[np.searchsorted(found, ids[begin:end])] += rows[begin:end]
    return found, sums


class JoinedRows:
    """Growing memory for rows of all processes."""

    def __init__(self, device: Allocator, dtype: str) -> None:
        self._device, self._dtype = device, dtype
        self._blocks: dict[Buffer, MemoryBlock] = {}
        self._gradients: dict[Parameter, SparseGradient] = {}

    def put(self, parameter: Parameter, ids: Ints, rows: NDArray[Any]) -> None:
        """Replaces the rows of the last backward pass by these for the next step of an optimizer."""
        gradient = self._gradients.get(parameter)
        if gradient is None or gradient.use.ids.capacity < len(ids):
            gradient = self._gradients[parameter] = self._larger(parameter, gradient, len(ids))
        gradient.batch = Rows({gradient.use.ids: len(ids)}, ids={gradient.use.ids: ids})
        self.write(gradient.use.buffers["id"], ids)
        assert isinstance(gradient.rows.owner, Buffer)
        self.write(gradient.rows.owner, rows.ravel())
        parameter.sparse_gradient = gradient

    def _larger(self, parameter: Parameter, before: SparseGradient | None, count: int) -> SparseGradient:
        own = before or parameter.sparse_gradient
        assert isinstance(own, SparseGradient)
        use = Used(own.use.value, self._dtype)
        # Half as much again: batches differ in their ids, and each growth rebuilds the launches of the step.
        use.ids.reserve(max(count * 3 // 2, 1))
        width = math.prod(parameter.shape[1:])
        rows = Buffer(f"gradient of {parameter.name} in all processes", rows_of(use.ids, width), self._dtype)
        if before is not None:
            for buffer in (before.use.buffers["id"], before.rows.owner):
                assert isinstance(buffer, Buffer)
                del self._blocks[buffer]
        for buffer in (use.buffers["id"], rows):
            self._blocks[buffer] = self._device.allocate(buffer.nbytes)
        shape = (rows_of(use.ids), *own.rows.shape[1:])
        return SparseGradient(parameter, use, Ref(rows, shape), plan=self)

    # ---- the interface of a plan's memory

    def read(self, buffer: Buffer, rows: Rows | None = None) -> NDArray[Any]:
        """The rows of a batch in a buffer."""
        assert rows is not None
        return self._blocks[buffer].read(0, rows.size(buffer.extent), buffer.dtype)

    def write(self, buffer: Buffer, values: NDArray[Any]) -> None:
        """Fills a buffer from its start."""
        self._blocks[buffer].write(0, values, buffer.dtype)

    def address(self, ref: Ref) -> int:
        """Address of an array argument."""
        assert isinstance(ref.owner, Buffer)
        return self._blocks[ref.owner].address
