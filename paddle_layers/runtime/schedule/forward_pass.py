"""Forward pass: launches for outputs, states, statistics and losses, in order; loops over the steps of groups."""

from __future__ import annotations

import math
from collections.abc import Sequence

from paddle_layers.define import ShapeError
from paddle_layers.define.fields.tensors import Output
from paddle_layers.define.functions.point_functions import Function
from paddle_layers.runtime.graph.domains import Extent, Value
from paddle_layers.runtime.graph.graph import Op
from paddle_layers.runtime.graph.groups import SPARSE_IN_STEPS
from paddle_layers.runtime.graph.steps import Steps
from paddle_layers.runtime.launches.arguments import Held, Ref, refs_of
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.launches.builtin import ADD, FILL, SUM, simple_launch
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.launches.scope import OperationScope
from paddle_layers.runtime.launches.step_launches import boot_extent, in_loop, memory_launch, runs_by_rows
from paddle_layers.runtime.memory.parameters import Parameter
from paddle_layers.runtime.passes.chunked_cross_entropy import ChunkedLoss

from .workspace import Workspace


class ForwardPass:
    """Launches of the forward pass, and its statistics."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.launches: list[Launch] = []
        self.stats: list[tuple[Op, dict[str, Ref]]] = []
        self.scores: dict[Op, list[Launch]] = {}
        """Launches of scores that exist for a chunk at a time; the backward pass repeats them."""
        self._moved: set[Parameter] = set()
        self._read: set[Parameter] = set()
        self._loop_start = 0
        """Where the loop that is being filled begins; what does not depend on a step is put before it."""
        for op in workspace.graph.ops:
            if op in workspace.chunked:
                self._chunked(op, workspace.chunked[op])
            elif op.carried is None:
                self._operation(op)
            else:
                self._memory(op, op.carried)
        # After all operations: a divisor is a sum over the whole batch, also of rows that a loop computes.
        for op in workspace.graph.ops:
            self._divisors(op)

    @property
    def moving_states(self) -> list[Parameter]:
        """States that the pass reads and then updates: the same batch gives other results when it runs again."""
        return sorted(self._moved & self._read, key=lambda state: state.name)

    def _divisors(self, op: Op) -> None:
        """Sums the contributions of the rows of a loss to its divisor."""
        for name, output in op.layer.outputs.items():
            if output.divisor is None:
                continue
            for value in op.output(name):
                if value.name in self.workspace.graph.losses:
                    counted = self.workspace.scope(op).tensors[output.divisor.name][0]
                    # float64: float32 counts exactly up to 2^24 only, and processes add their rows to it.
                    total = Buffer(f"divisor of {value.name}", Extent(1), "float64")
                    self.workspace.divisors[value.name] = total
                    self.workspace.results.append(total)
                    numbers = counted.shape[0] * math.prod(size.extra for size in counted.shape[1:])
                    column = Ref(counted.owner, (numbers, Extent(1)))
                    self.launches.append(simple_launch(SUM, op.name, [Ref(total, (Extent(1),), "float64"), column]))

    def _operation(self, op: Op) -> None:
        workspace = self.workspace
        scope = workspace.scope(op)
        functions = [f for f in op.layer.facts.forward if (f.role != "update" or workspace.training) and _wanted(op, f)]
        outside = {function: self._items_outside(op, function) for function in functions}
        for function in functions:  # first, so that additions in the loop find their sum
            if items := outside[function]:
                scope.steps = None
                self._put(op, workspace.launches(scope, function, items), None)
        kept: dict[str, list[Ref]] = {}
        for function in functions:
            workspace.prepare_temps(scope, function)
            if function.role == "update":
                kept |= self._keep_states(scope, function)
            self._function(scope, function, outside[function])
        scope.tensors |= kept  # the backward pass comes after the update, and needs the values used in the forward pass
        if op.layer.stats:
            counted = {name: scope.tensors[name][0] for name in op.layer.stats}
            workspace.results += [ref.owner for ref in counted.values() if isinstance(ref.owner, Buffer)]
            self.stats.append((op, counted))

    def _chunked(self, op: Op, chunked: ChunkedLoss) -> None:
        """A layer of scores directly before its loss, in a loop over chunks of the rows."""
        if op is not chunked.loss:
            return
        first = len(self.launches)
        self._operation(chunked.scores)
        self.scores[chunked.scores] = self.launches[first:]
        self._operation(chunked.loss)
        in_loop(self.launches[first:], chunked.chunks, backward=False)

    def _keep_states(self, scope: OperationScope, update: Function) -> dict[str, list[Ref]]:
        """Copies of the states that an update changes and the backward pass reads."""
        op, kept = scope.op, {}
        read = {name for function in op.layer.facts.backward for name in function.args}
        for state in update.targets:
            parameter, (held,) = op.states[state.name], scope.tensors[state.name]
            self._moved.add(parameter)
            if state.name in read:
                size = Extent(parameter.size)
                copy = Buffer(f"{op.name}.{state.name} before", size, self.workspace.dtype)
                # A copy only if the backward pass reads the state; otherwise the update needs no memory at all.
                launch = simple_launch(ADD, op.name, [Ref(copy, (size,)), Ref(held.owner, (size,))])
                self._put(op, [launch], scope.steps)
                kept[state.name] = [Ref(copy, held.shape)]
        return kept

    def _items_outside(self, op: Op, function: Function) -> list[int]:
        """Items of a sum that are known before the loop; all inputs of the function have to be."""
        if op.steps is None or function.over is None or not runs_by_rows(op, function):
            return []
        values, items = op.argument(function.over.name), self.workspace.items(op, function)
        read = {name for name in function.args if name in op.layer.fields} - {*op.layer.params, *function.target_names}
        if read <= {function.over.name}:
            return [item for item in items if self.workspace.is_outside(values[item])]
        if any(values[item].entries is not None for item in items):
            raise ShapeError(SPARSE_IN_STEPS.format(op.name))
        return []

    def _function(self, scope: OperationScope, function: Function, done: Sequence[int]) -> None:
        scope.steps = scope.op.steps if runs_by_rows(scope.op, function) else None
        rest = [item for item in self.workspace.items(scope.op, function) if item not in done] if done else None
        launches = self.workspace.launches(scope, function, rest)
        # An update reads the state, too, but that does not make the outputs depend on it.
        if function.role != "update":
            owners = [ref.owner for launch in launches for value in launch.args for ref in refs_of(value)]
            self._read |= {owner.parameter for owner in owners if isinstance(owner, Held)}
        self._put(scope.op, launches, scope.steps)

    def _put(self, op: Op, launches: Sequence[Launch], steps: Steps | None) -> None:
        """Adds launches of an operation to the forward pass: to the loop, or before the loop that needs them."""
        if op.steps is not None and steps is None:
            # Before the loop and after what is already there, in the order of the network.
            self.launches[self._loop_start : self._loop_start] = launches
            self._loop_start += len(launches)
        else:
            self.launches += in_loop(launches, steps, backward=False)
            self._loop_start = self._loop_start if steps is not None else len(self.launches)

    def _memory(self, op: Op, carried: Value) -> None:
        output = self.workspace.buffer(op.outputs[0])
        if op.inputs:
            boot = self.workspace.buffer(op.inputs[0])
        else:
            boot = Buffer(f"{op.name} before the first step", boot_extent(op), output.dtype)
            kind = "int64" if output.dtype == "int64" else "real"
            first = op.attributes["id"] if kind == "int64" else op.attributes["value"]
            start = Extent(int(first)) if kind == "int64" else float(first)
            self._put(op, [simple_launch(FILL, op.name, [Ref(boot, (boot.extent,), kind), start])], None)
        self._put(op, [memory_launch(op, output, boot, self.workspace.buffer(carried))], op.steps)


def _wanted(op: Op, function: Function) -> bool:
    """Whether an optional bias or output is enabled."""
    if any(isinstance(target, Output) and not op.output(target.name) for target in function.targets):
        return False
    return function.role != "bias" or op.layer.bias is None or op.layer.bias.name in op.params
