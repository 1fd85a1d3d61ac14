"""Gradients by rows: a batch uses few rows of a table, and the gradient of all others is zero.

A parameter has a gradient by rows when every operation that has it reads, and has a gradient for, only the rows that
fed ids name, and when a pass has one such operation. Everything else has a dense gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.graph.graph import Graph, Op
from paddle_layers.runtime.graph.value import Value
from paddle_layers.runtime.memory.parameters import Parameter

from .arguments import Fixed, Ref
from .buffers import Buffer

if TYPE_CHECKING:
    from paddle_layers.define.functions import Function

    from .index_arrays import Used
    from .scope import Names


class Memory(Protocol):
    """Where the buffers of a plan lie."""

    def read(self, buffer: Buffer) -> NDArray[Any]:
        """The rows of this batch."""

    def write(self, buffer: Buffer, values: NDArray[Any]) -> None:
        """Fill a buffer from its start."""

    def address(self, ref: Ref) -> int:
        """Address of an array argument."""


@dataclass(eq=False)
class RowGradient:
    """The gradient of a parameter in a plan: one row for each id that the batch uses."""

    parameter: Parameter
    use: Used
    rows: Ref
    """As the layer sees it: the ids, then the other axes."""
    plan: Memory | None = None

    @property
    def ids(self) -> NDArray[np.int64]:
        """Numbers of the rows, rising."""
        return self.use.host

    def read(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Numbers of the rows, and the rows: copies."""
        assert self.plan is not None
        assert isinstance(self.rows.owner, Buffer)
        flat = self.plan.read(self.rows.owner)
        return self.ids.copy(), flat.reshape(len(self.ids), *self.parameter.shape[1:]).copy()

    def poison(self) -> None:
        """Fill the memory of the rows with NaN."""
        assert self.plan is not None
        assert isinstance(self.rows.owner, Buffer)
        self.plan.write(self.rows.owner, np.full(self.rows.owner.extent.now, np.nan))

    @property
    def flat(self) -> Ref:
        """All numbers of the rows, for launches that are not of the plan."""
        assert isinstance(self.rows.owner, Buffer)
        return self._fixed(self.rows.owner, self.rows.owner.extent)

    @property
    def table(self) -> Ref:
        """The rows with one axis of columns, for launches that are not of the plan."""
        width = self.parameter.size // max(self.parameter.shape[0], 1)
        return self.flat._replace(shape=(self.rows.shape[0], Extent(width)))

    @property
    def used(self) -> Ref:
        """The ids, for launches that are not of the plan."""
        buffer = self.use.buffers["id"]
        return self._fixed(buffer, buffer.extent)._replace(dtype="int64")

    def _fixed(self, buffer: Buffer, extent: Extent) -> Ref:
        assert self.plan is not None
        return Ref(Fixed(self.plan.address(Ref(buffer, (extent,)))), (extent,))


def make_row_gradient(names: Names, function: Function, item: int, dtype: str) -> RowGradient:
    """Memory for the gradient of a parameter, as a function computes it from the used ids."""
    assert function.used is not None
    target = function.targets[0]
    parameter = names.op.params[target.name][item]
    value = names.value(function.used.name, item if function.over is not None else None)
    ids = names.auxiliary.used(value, "id").shape[0]
    shape = (ids, *names.shape(target, item)[1:])
    buffer = Buffer(f"gradient of {parameter.name}", ids * math.prod(size.extra for size in shape[1:]), dtype)
    return RowGradient(parameter, names.auxiliary.uses[value.name], Ref(buffer, shape))


def mark_row_gradients(graphs: Iterable[Graph]) -> None:
    """Decide which parameters have a gradient by rows, for the graphs of all phases together."""
    dense: set[Parameter] = set()
    for graph in graphs:
        met: set[Parameter] = set()
        for parameter, ids in _uses(graph):
            if ids is None or parameter in met or not parameter.trained:
                dense.add(parameter)
            met.add(parameter)
            parameter.by_rows = parameter not in dense


def row_reads(graph: Graph) -> list[tuple[Parameter, str]]:
    """Parameters with a gradient by rows, and the feed whose ids name the rows that a pass reads."""
    return [(parameter, ids.name) for parameter, ids in _uses(graph) if parameter.by_rows and ids is not None]


def catch_up(reads: Iterable[tuple[Parameter, str]], ids: Callable[[str], NDArray[np.int64]]) -> None:
    """Before a pass: bring the rows that it reads up to date; `ids` gives those of a feed."""
    for parameter, feed in reads:
        if parameter.before_read is not None:
            parameter.catch_up(ids(feed))


def _uses(graph: Graph) -> Iterator[tuple[Parameter, Value | None]]:
    """Every use of a parameter, and the fed ids that name the rows, if there are such."""
    for op in graph.ops:
        for name, parameters in op.params.items():
            for item, parameter in enumerate(parameters):
                ids = _ids(op, name, item)
                yield parameter, ids if ids is not None and graph.feeds.get(ids.name) is ids else None


def _ids(op: Op, name: str, item: int) -> Value | None:
    """The value of ids or sparse value to which the layer's one gradient function for the parameter is limited."""
    found = [
        function
        for function in op.layer.facts.backward
        if any(target.name == name for target in function.targets) and function.role == "gradient"
        if function.over is None or op.argument(function.over.name)[item].type.kind == function.kind
    ]
    if len(found) != 1 or found[0].used is None or len(found[0].targets) != 1:
        return None
    return op.argument(found[0].used.name)[item if found[0].over is not None else 0]
