"""Gradient pruning and sparse gradients: which gradients exist, and with which rows.

Only gradients that training or the config needs are computed: those between an output gradient and a trained
parameter, and those forced by the config.

A sparse gradient has only the rows that a batch uses; all others are zero. A parameter has one if every operation that
uses it only reads, and has a gradient for, the rows named by ids that are known before a pass, fed or computed from
feeds, and if a pass has one such operation. Everything else has a dense gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.functions.point_functions import Function
from paddle_layers.runtime.graph.domains import Value
from paddle_layers.runtime.graph.graph import Graph, Op
from paddle_layers.runtime.memory.parameters import Parameter

from . import runs


class GradientNeeds:
    """Decides for each operation which of its backward functions run."""

    def __init__(self, graph: Graph, output_gradients: Iterable[str]) -> None:
        self.forced: list[Value] = []
        needed: set[Value] = set()
        """Values below which there is something to train."""
        for op in graph.ops:
            for place, force in enumerate(op.propagate):
                # `propagate_down: true`: the config asks for this gradient even if nothing below it is trained.
                if force and op.inputs[place].type.kind == "DENSE":
                    needed.add(op.inputs[place])
                    self.forced.append(op.inputs[place])
        if not runs("gradient pruning"):
            needed |= {value for op in graph.ops for value in (*op.inputs, *op.outputs)}
        self._needed = _until_stable(needed, lambda: self._spread_down(graph, needed))
        reached = {graph.values[name] for name in output_gradients}
        self._reached = _until_stable(reached, lambda: self._spread_up(graph, reached))

    def _spread_down(self, graph: Graph, needed: set[Value]) -> None:
        """From trained or forced values to those that depend on them."""
        for op in graph.ops:
            trains = any(parameter.trained for group in op.params.values() for parameter in group)
            passes = any(self._passes(op, place) and value in needed for place, value in enumerate(op.inputs))
            if trains or passes or op.carried in needed:
                needed |= set(op.outputs)

    def _spread_up(self, graph: Graph, reached: set[Value]) -> None:
        """From the output gradients to the values that they depend on."""
        for op in reversed(graph.ops):
            if any(value in reached for value in op.outputs):
                reached |= {value for place, value in enumerate(op.inputs) if self._passes(op, place)}
                if op.carried is not None and op.carried.type.kind == "DENSE":
                    reached.add(op.carried)

    def _passes(self, op: Op, place: int) -> bool:
        """Whether the layer has a gradient for this input and the config does not block it."""
        blocked = place < len(op.propagate) and op.propagate[place] is False
        name = next(name for name, places in op.binding.positions.items() if place in places)
        return not blocked and name in op.layer.facts.differentiable and op.inputs[place].type.kind == "DENSE"

    def active(self, op: Op) -> bool:
        """Whether the backward pass of the operation is not empty."""
        reached = any(value in self._reached for value in op.outputs)
        return reached and any(value in self._needed for value in op.outputs)

    def input(self, op: Op, name: str, item: int) -> bool:
        """Whether the gradient of an input is needed."""
        place = op.binding.positions[name][item]
        return self._passes(op, place) and op.inputs[place] in self._needed

    def carried(self, op: Op) -> bool:
        """Whether a memory propagates a gradient to the previous step."""
        return self.active(op) and op.carried in self._needed and op.carried in self._reached

    def functions(self, op: Op, joint: Callable[[Function], Sequence[str]]) -> list[Function]:
        """The backward functions that run, in order: the required gradients and what they read.

        A function runs with all that are `joint` with it.
        """
        backward = op.layer.facts.backward
        makers = {name: function for function in backward for name in function.target_names}
        stack = [function for function in backward if function.role == "gradient" and self._wanted(op, function)]
        running: set[Function] = set()
        while stack:
            function = stack.pop()
            if function not in running:
                running.add(function)
                stack += [makers[name] for name in function.args if name in makers]
                names = joint(function)
                stack += [other for other in backward if other.name in names]
        # In the definition's order, not the order of the search: a function may read what an earlier one computes.
        return [function for function in backward if function in running]

    def _wanted(self, op: Op, function: Function) -> bool:
        for target in function.targets:
            if any(parameter.trained for parameter in op.params.get(target.name, ())):
                return True
            if target.name in op.layer.inputs:
                if any(self.input(op, target.name, item) for item in range(len(op.argument(target.name)))):
                    return True
        return False


def _until_stable(found: set[Value], spread: Callable[[], None]) -> set[Value]:
    """Fixed-point iteration: values may depend on themselves, one step before."""
    size = -1
    while size != len(found):
        size = len(found)
        spread()
    return found


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
