"""Sparse gradients: selection of parameters of which a batch uses few rows.

All other rows have a zero gradient. A parameter has one if every operation that uses it only reads, and has a gradient
for, the rows named by ids that are known before a pass, fed or computed from feeds, and if a pass has one such
operation. Everything else has a dense gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.graph.domains import Value
from paddle_layers.runtime.graph.graph import Graph, Op
from paddle_layers.runtime.memory.parameters import Parameter

from . import runs


def mark_sparse_gradients(graphs: Iterable[Graph]) -> None:
    """Selects the parameters with a sparse gradient, for the graphs of all phases together."""
    dense: set[Parameter] = set()
    for graph in graphs:
        met: set[Parameter] = set()
        for parameter, ids in _uses(graph):
            # A second use in the same pass may involve other rows, whose gradients would have to be merged by row.
            if ids is None or parameter in met or not parameter.trained or not runs("sparse gradients"):
                dense.add(parameter)
            met.add(parameter)
            # Across all phases: memory and pending steps of a parameter are the same in each, so one dense use makes it
            # dense everywhere.
            parameter.by_rows = parameter not in dense


def row_reads(graph: Graph) -> list[tuple[Parameter, str]]:
    """Parameters with a sparse gradient, and the value whose ids are the rows that a pass reads."""
    return [(parameter, ids.name) for parameter, ids in _uses(graph) if parameter.by_rows and ids is not None]


def catch_up(reads: Iterable[tuple[Parameter, str]], ids: Callable[[str], NDArray[np.int64]]) -> None:
    """Brings the rows that a pass reads up to date before it; `ids` returns those of a value."""
    for parameter, feed in reads:
        if parameter.before_read is not None:
            parameter.catch_up(ids(feed))


def _uses(graph: Graph) -> Iterator[tuple[Parameter, Value | None]]:
    """Every use of a parameter, and its row ids if they are known before a pass."""
    for op in graph.ops:
        for name, parameters in op.params.items():
            for item, parameter in enumerate(parameters):
                ids = _ids(op, name, item)
                known = ids is not None and (graph.feeds.get(ids.name) is ids or ids.name in graph.prepared_entries)
                yield parameter, ids if known else None


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
    return op.argument(found[0].used.name)[item if found[0].over is found[0].used else 0]
