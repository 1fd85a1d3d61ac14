"""Backward pass: launches of the required gradients, from the output gradients to the parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from paddle_layers.define.functions.point_functions import Function
from paddle_layers.runtime.graph.domains import Extent, Value
from paddle_layers.runtime.graph.graph import Op
from paddle_layers.runtime.graph.steps import Steps
from paddle_layers.runtime.launches.arguments import Held, Rate, Ref
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.launches.builtin import ADD, FILL, SEED, simple_launch
from paddle_layers.runtime.launches.from_functions import joint_functions
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.launches.scope import OperationScope
from paddle_layers.runtime.launches.sparse_gradients import SparseGradient, make_sparse_gradient
from paddle_layers.runtime.launches.step_launches import boot_gradient, carried_gradient, chain, in_loop, runs_by_rows
from paddle_layers.runtime.memory.parameters import Parameter
from paddle_layers.runtime.passes import runs
from paddle_layers.runtime.passes.chunked_cross_entropy import ChunkedLoss
from paddle_layers.runtime.passes.gradients import GradientNeeds

from .workspace import Workspace


class BackwardPass:
    """Launches of the backward pass. An output gradient without a weight is passed by the caller."""

    def __init__(
        self,
        workspace: Workspace,
        output_gradients: Mapping[str, float | None],
        scores: Mapping[Op, Sequence[Launch]],
    ) -> None:
        self.workspace, self._scores = workspace, scores
        self.launches: list[Launch] = []
        self.gradients: dict[str, Buffer] = {}
        self.sparse_gradients: list[SparseGradient] = []
        self.needs = GradientNeeds(workspace.graph, output_gradients)
        self.written: set[Buffer | Parameter] = set()
        """Gradients that have been written: later contributions are added."""
        self._later: list[Callable[[], None]] = []
        """Gradients over the rows of all steps, to be computed after the loop."""
        if output_gradients:
            self._all(output_gradients)

    def _all(self, output_gradients: Mapping[str, float | None]) -> None:
        for name, weight in output_gradients.items():
            value = self.workspace.graph.values[name]
            buffer = self._gradient(value)
            self.written.add(buffer)
            # Filled by the caller before the pass, so it must not share memory with anything in the forward pass.
            if weight is None:
                self.workspace.kept.append(buffer)
            else:
                self.launches.append(self._seed(value, Ref(buffer, (buffer.extent,)), weight))
        around: list[Steps] = []
        # Operations are in topological order, so in reverse all contributions to the gradient of a value are complete
        # before the operation that computed the value.
        for op in reversed(self.workspace.graph.ops):
            around = self._enter(chain(op.steps), around)
            first = len(self.launches)
            if op in self.workspace.chunked:
                self._chunked(op, self.workspace.chunked[op])
            elif op.carried is not None:
                self._memory_gradient(op)
            elif self.needs.active(op):
                self._operation(op)
                in_loop(self.launches[first:], op.steps, backward=True)
        self._enter([], around)
        self._clear_unreached()
        # A function that computes one gradient of several inputs has buffers for all of them.
        self.gradients = {name: buffer for name, buffer in self.gradients.items() if buffer in self.written}
        self.workspace.results += [
            self.gradients[value.name] for value in self.needs.forced if value.name in self.gradients
        ]

    def _clear_unreached(self) -> None:
        """Sets the gradients of unreached parameters to zero: none of another pass, or with a penalty, remains."""
        parameters = [one for op in self.workspace.graph.ops for items in op.params.values() for one in items]
        for parameter in dict.fromkeys(parameters):
            if parameter.trained and not parameter.by_rows and parameter not in self.written:
                self.launches.append(_clear(parameter))

    def _seed(self, value: Value, gradient: Ref, weight: float) -> Launch:
        """Gradient with respect to one loss: its weight, divided by the divisor of its sum."""
        divisor = self.workspace.divisors.get(value.name)
        # A mean over the rows of the batch is known from its size; other divisors are sums that the forward pass has
        # left on the device.
        if divisor is None:
            return simple_launch(FILL, value.name, [gradient, Rate(weight, value.domain)])
        return simple_launch(SEED, value.name, [gradient, Ref(divisor, (Extent(1),), "float64"), weight])

    def _enter(self, loops: list[Steps], before: list[Steps]) -> list[Steps]:
        """Closes the loops that end here, and begins new ones with the gradients of the next step."""
        if before[:1] != loops[:1]:
            # After the loop, for the rows of all steps at once: one product with many rows is faster than one per step,
            # and nothing in the loop reads it.
            for later in self._later:
                later()
            self._later = []
        for steps in loops:
            if steps not in before:
                memories = [op for op in self.workspace.graph.ops if op.carried is not None and op.steps is steps]
                for op in memories:
                    self._carry(op)
        return loops

    def _carry(self, op: Op) -> None:
        if op.carried is None or not self.needs.carried(op):
            return
        target, memory = self._gradient(op.carried), self._gradient(op.outputs[0])
        launch = carried_gradient(op, target, memory, accumulate=target in self.written)
        self.written.add(target)
        self.launches += in_loop([launch], op.steps, backward=True)

    def _memory_gradient(self, op: Op) -> None:
        assert op.steps is not None
        if op.inputs and self.needs.active(op) and self.needs.input(op, next(iter(op.layer.inputs)), 0):
            target = self._gradient(op.inputs[0])
            launch = boot_gradient(op, target, self._gradient(op.outputs[0]), accumulate=target in self.written)
            self.written.add(target)
            self.launches += in_loop([launch], op.steps.outer, backward=True)

    def _gradient(self, value: Value) -> Buffer:
        if value.name not in self.gradients:
            buffer = Buffer(f"gradient of {value.name}", self.workspace.buffer(value).extent, self.workspace.dtype)
            self.gradients[value.name] = buffer
        return self.gradients[value.name]

    def _operation(self, op: Op) -> None:
        scope = self.workspace.scope(op)
        for name, output in op.layer.outputs.items():
            refs = []
            for item, value in enumerate(op.output(name)):
                buffer = self._gradient(value)
                # An output that no layer reads still has a gradient that functions of the layer ask for: zero.
                if buffer not in self.written:
                    self.written.add(buffer)
                    self.launches.append(simple_launch(FILL, value.name, [Ref(buffer, (buffer.extent,)), 0.0]))
                refs.append(Ref(buffer, scope.shape(output, item)))
            scope.tensors["d" + name] = refs
        functions = self.needs.functions(op, partial(joint_functions, scope))
        read_again = {name for function in functions for name in function.args}
        for function in functions:
            run = partial(self._function, scope, function, read_again)
            if op.steps is None or runs_by_rows(op, function):
                run(op.steps)
            else:
                self._later.append(partial(run, None))

    def _chunked(self, op: Op, chunked: ChunkedLoss) -> None:
        """The scores of a chunk of rows again, and all gradients that follow from them."""
        if op is not chunked.scores or not self.needs.active(op):
            return
        for parameter in (one for items in op.params.values() for one in items if one.trained):
            # Every chunk adds its contribution, the first one, too.
            if parameter not in self.written:
                self.written.add(parameter)
                self.launches.append(_clear(parameter))
        first = len(self.launches)
        self.launches += [replace(launch) for launch in self._scores[op]]
        self._operation(chunked.loss)
        scores, gradient = self.workspace.buffer(op.outputs[0]), self._gradient(op.outputs[0])
        # In place within every chunk, which the analysis of lifetimes cannot see in a loop.
        if runs("in place") and (scores, gradient) in self.launches[-1].takeovers:
            gradient.same_as = scores
        self._operation(op)
        in_loop(self.launches[first:], chunked.chunks, backward=True)
        del self.gradients[op.outputs[0].name]  # no one can read it: it is that of the last chunk

    def _function(self, scope: OperationScope, function: Function, read_again: set[str], steps: Steps | None) -> None:
        scope.steps = steps
        if function.role == "gradient":
            self._gradient_function(scope, function, read_again)
        else:
            self.workspace.prepare_temps(scope, function)
            self.launches += self.workspace.launches(scope, function)

    def _gradient_function(self, scope: OperationScope, function: Function, read_again: set[str]) -> None:
        op, target = scope.op, function.targets[0]
        name, wide = target.name, function.along is None and (function.over is not None or function.which)
        items = self.workspace.items(op, function) if wide else [0]
        if name in op.params:
            self._parameter_gradient(scope, function, [i for i in items if op.params[name][i].trained])
            return
        values = op.argument(name)
        waited_for = f"d{name}" in read_again
        # Functions of the layer read this gradient, so it must hold the layer's own contribution only, not those of
        # other consumers of the value.
        private = waited_for and f"d{name}" not in function.args
        always = private or joint_functions(scope, function) != ()
        needed = [item for item in items if always or self.needs.input(op, name, item)]
        targets = [self._gradient(value) for value in values]
        if private:
            targets = [Buffer(f"{op.name}.d{name}", buffer.extent, self.workspace.dtype) for buffer in targets]
        scope.tensors["d" + name] = [Ref(buffer, scope.shape(target, item)) for item, buffer in enumerate(targets)]
        for item in needed:
            run = partial(self._input_gradient, scope, function, item, targets[item])
            if not waited_for and scope.steps is not None and self.workspace.is_outside(values[item]):
                self._later.append(partial(run, None))  # no step waits for it
                continue
            run(scope.steps)
            if private and self.needs.input(op, name, item):
                self._add(values[item], targets[item])

    def _input_gradient(
        self, scope: OperationScope, function: Function, item: int, target: Buffer, steps: Steps | None
    ) -> None:
        scope.steps = steps
        # The first contribution overwrites, later ones add: no gradient has to be cleared.
        adds = target in self.written
        self.written.add(target)
        items = [item] if function.along is None else self.workspace.items(scope.op, function)
        self.launches += self.workspace.launches(scope, function, items, frozenset(items if adds else ()))

    def _add(self, value: Value, buffer: Buffer) -> None:
        """Adds a gradient that other functions of the layer read to the gradient of the value."""
        total = self._gradient(value)
        refs: list[Ref] = [Ref(total, (total.extent,)), Ref(buffer, (buffer.extent,))]
        self.launches.append(simple_launch(ADD, value.name, refs, accumulate=total in self.written))
        self.written.add(total)

    def _parameter_gradient(self, scope: OperationScope, function: Function, items: list[int]) -> None:
        for target in function.targets:
            scope.tensors["d" + target.name] = [
                self._gradient_by_rows(scope, function, item)
                if parameter.by_rows and item in items
                else Ref(Held(parameter, "gradient"), scope.shape(target, item))
                for item, parameter in enumerate(scope.op.params.get(target.name, ()))
            ]
        for item in items:
            parameter = scope.op.params[function.targets[0].name][item]
            adds = parameter in self.written
            # The function writes the rows of used ids only, so the others have to be zero.
            if function.used is not None and not adds and not parameter.by_rows:
                self.launches.append(_clear(parameter))
            self.written.update(scope.op.params[target.name][item] for target in function.targets)
            self.launches += self.workspace.launches(scope, function, [item], frozenset({item} if adds else ()))

    def _gradient_by_rows(self, scope: OperationScope, function: Function, item: int) -> Ref:
        made = make_sparse_gradient(scope, function, item, self.workspace.dtype)
        self.sparse_gradients.append(made)
        assert isinstance(made.rows.owner, Buffer)
        self.workspace.kept.append(made.rows.owner)  # it outlives the next forward pass
        return made.rows


def _clear(parameter: Parameter) -> Launch:
    """The launch that sets the gradient of a parameter to zero."""
    gradient = Ref(Held(parameter, "gradient"), (Extent(parameter.size),))
    return simple_launch(FILL, parameter.name, [gradient, 0.0])
