"""Which functions run, in which order, on which buffers: forward, then only those gradients that somebody needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from paddle_layers.define.fields import Field, Temp
from paddle_layers.define.functions import Function

from .arguments import Argument, Held, Rate, Ref
from .auxiliary import Auxiliary
from .buffers import Buffer, Storage, share
from .builtin import ADD, FILL, simple_launch
from .domains import Extent, rows_of
from .gradients import GradientNeeds
from .graph import Graph, Op, Value
from .launches import Launch, buffers_of, make_launch
from .names import Names
from .own_rows import late_stops
from .rows import RowGradient, make_row_gradient
from .step_launches import (
    boot_extent,
    boot_gradient,
    carried_gradient,
    chain,
    in_loop,
    lagging,
    loop_bounds,
    memory_launch,
    runs_by_rows,
)
from .steps import Steps


class Schedule:
    """The launches of one phase. `seeds` are the values at which the backward pass starts; empty: forward only.

    `given`: seeds whose gradient the caller writes; the others are losses with their weight.
    """

    def __init__(
        self,
        graph: Graph,
        dtype: str,
        *,
        training: bool,
        seeds: Mapping[str, float | None],
        keep: Sequence[str],
        device: str = "cpu",
    ) -> None:
        self.graph, self.dtype, self.training, self.device = graph, dtype, training, device
        self.auxiliary = Auxiliary(dtype)
        self.forward: list[Launch] = []
        self.backward: list[Launch] = []
        self.kept: list[Buffer] = []
        """Filled from outside: feeds, gradients that the caller gives."""
        self.results: list[Buffer] = []
        """Read from outside after the pass: outputs, statistics, gradients that the config asks for."""
        self.values: dict[str, Buffer] = {}
        self.gradients: dict[str, Buffer] = {}
        self.row_gradients: list[RowGradient] = []
        self.stats: list[tuple[Op, dict[str, Ref]]] = []
        self._data: dict[int, Buffer] = {}
        self._names: dict[int, Names] = {}
        self._made_in = {id(value): op.steps for op in graph.ops for value in op.outputs}
        self._loop_start = 0
        """Where the loop that is being filled begins; what does not depend on a step is put before it."""
        self._later: list[Callable[[], None]] = []
        """Gradients over the rows of all steps, to be computed behind the loop."""
        self._sums: set[tuple[int, str]] = set()
        """Tensors of operations to which an item of a repeatable input has been added; the first one is not added."""
        for value in graph.feeds.values():
            if value.entries is None:
                self.kept.append(self._buffer(value))
        for op in graph.ops:
            if op.carried is None:
                self._forward(op)
            else:
                self._memory(op, op.carried)
        self.kept += [self._data[id(v)] for g in graph.groups for v in g.indices if id(v) in self._data]
        for name in keep:
            if graph.values[name].entries is None:
                self.results.append(self.values[name])
        if seeds:
            self._backward(seeds)
            self.results += [self.gradients[name] for name in keep if name in self.gradients]
        self._drop_unread()
        self.stops = late_stops(graph, self.forward)
        """Rows that depend on values of the pass, and the launch before which they are made."""

    def _drop_unread(self) -> None:
        """Drop launches whose results nobody reads, such as the place of a maximum where means are taken."""
        read = {id(buffer) for buffer in (*self.results, *self.kept, *self.auxiliary.at_boundary)}
        read |= {id(self.values[v.name]) for made in self.graph.own_rows if made.late for v in made.values.values()}
        read |= {id(buffer) for buffer in lagging([*self.forward, *self.backward])}
        for launches in (self.backward, self.forward):
            for launch in reversed(launches.copy()):
                target = launch.args[0]  # parameters, their gradients and states outlive the pass
                passing = isinstance(target, Ref) and isinstance(target.owner, Buffer)
                if passing and not any(id(buffer) in read for buffer in launch.writes):
                    launches.remove(launch)
                else:
                    read |= {id(buffer) for buffer in launch.reads}

    def lay_out(self) -> list[Storage]:
        """Who has which memory: buffers share it by the launches in which they live."""
        launches = [*self.forward, *self.backward]
        takeovers = [takeover for at, launch in enumerate(launches) for takeover in launch.mark(at)]
        for first, last in loop_bounds(launches):  # what one step uses, the next one uses again
            for buffer in buffers_of(launches[first:last]):
                buffer.use(first)
                buffer.use(last - 1)
        for buffer in self.auxiliary.at_boundary:
            buffer.use(len(self.forward))
        for at, made in self.stops:
            for value in made.values.values():
                self.values[value.name].use(at)
        outside = [*self.kept, *self.auxiliary.kept]
        for buffer in outside:
            buffer.keep()
        for buffer in self.results:
            buffer.keep_result()
        buffers = {id(buffer): buffer for buffer in (*buffers_of(launches), *outside, *self.results)}
        return share(list(buffers.values()), takeovers)

    def _buffer(self, value: Value) -> Buffer:
        buffer = self._data.get(id(value))
        if buffer is None:
            dtype = "int64" if value.type.kind == "INT" else self.dtype
            size = 1 if value.type.kind == "INT" else math.prod(value.type.dims)
            extent = rows_of(value.domain, size)
            buffer = self._data[id(value)] = Buffer(value.name, extent, dtype)
            self.values[value.name] = buffer
            if dtype == "int64":
                self.auxiliary.ids[value.name] = buffer
        return buffer

    # ---- forward

    def _forward(self, op: Op) -> None:
        names = self._names[id(op)] = Names(op, self.training, {}, self.auxiliary, self.device)
        tensors = names.tensors
        for name, input_ in op.layer.inputs.items():
            tensors[name] = [self._ref(names, input_, value, item) for item, value in enumerate(op.argument(name))]
        for name, output in op.layer.outputs.items():
            tensors[name] = [self._ref(names, output, value, item) for item, value in enumerate(op.output(name))]
        for name, parameters in op.params.items():
            field = op.layer.params[name]
            tensors[name] = [
                Ref(Held(parameter, "value"), names.shape(field, item)) for item, parameter in enumerate(parameters)
            ]
        for name, state in op.states.items():
            tensors[name] = [Ref(Held(state, "value"), names.shape(op.layer.states[name]))]
        for function in op.layer.facts.forward:
            if (function.role != "update" or self.training) and self._wanted(op, function):
                self._prepare_temps(names, function)
                self._forward_function(names, function)
        if op.layer.stats:
            counted = {name: tensors[name][0] for name in op.layer.stats}
            self.results += map(_owner, counted.values())
            self.stats.append((op, counted))

    def _forward_function(self, names: Names, function: Function) -> None:
        """Items that are known before the loop are added up before it."""
        op = names.op
        outside: list[int] = []
        if op.steps is not None and function.over is not None and runs_by_rows(op, function):
            values = op.argument(function.over.name)
            outside = [item for item in self._items(op, function) if self._is_outside(values[item])]
        names.steps = None
        self._put(op, self._launches(names, function, outside) if outside else [], None)
        names.steps = op.steps if runs_by_rows(op, function) else None
        rest = [item for item in self._items(op, function) if item not in outside] if outside else None
        self._put(op, self._launches(names, function, rest), names.steps)

    def _is_outside(self, value: Value) -> bool:
        """Whether all rows of a value are known before a loop begins."""
        return self._made_in.get(id(value)) is None

    def _put(self, op: Op, launches: Sequence[Launch], steps: Steps | None) -> None:
        """Add launches of an operation to the forward pass: to the loop, or before the loop that needs them."""
        if op.steps is not None and steps is None:
            self.forward[self._loop_start : self._loop_start] = launches
            self._loop_start += len(launches)
        else:
            self.forward += in_loop(launches, steps, backward=False)
            self._loop_start = self._loop_start if steps is not None else len(self.forward)

    def _memory(self, op: Op, carried: Value) -> None:
        output = self._buffer(op.outputs[0])
        if op.inputs:
            boot = self._buffer(op.inputs[0])
        else:
            boot = Buffer(f"{op.name} before the first step", boot_extent(op), output.dtype)
            kind = "int64" if output.dtype == "int64" else "real"
            first = op.attributes["id"] if kind == "int64" else op.attributes["value"]
            start = Extent(int(first)) if kind == "int64" else float(first)
            self._put(op, [simple_launch(FILL, op.name, [Ref(boot, (boot.extent,), kind), start])], None)
        self._put(op, [memory_launch(op, output, boot, self._buffer(carried))], op.steps)

    def _ref(self, names: Names, field: Field, value: Value, item: int) -> Ref:
        if value.entries is not None:  # a sparse value is seen through its entries only
            return Ref(Buffer(value.name, Extent(), self.dtype), names.shape(field, item))
        if names.steps is not None and value.points_to is not None and names.steps.holds(value.points_to):
            return Ref(self.auxiliary.index(value, names.steps), names.shape(field, item), "int64")
        return Ref(self._buffer(value), names.shape(field, item), "int64" if value.type.kind == "INT" else "real")

    def _wanted(self, op: Op, function: Function) -> bool:
        """The bias can be switched off."""
        return function.role != "bias" or op.layer.bias is None or op.layer.bias.name in op.params

    def _prepare_temps(self, names: Names, function: Function) -> None:
        for target in function.targets:
            if target.name not in names.tensors or not names.tensors[target.name]:
                shape = names.shape(target)
                extent = shape[0]
                for size in shape[1:]:
                    extent = extent * size.extra
                whole = isinstance(target, Temp) and target.kind == "INT"
                buffer = Buffer(f"{names.op.name}.{target.name}", extent, "int64" if whole else self.dtype)
                names.tensors[target.name] = [Ref(buffer, shape, "int64" if whole else "real")]

    def _launches(
        self,
        names: Names,
        function: Function,
        items: Iterable[int] | None = None,
        accumulate: frozenset[int] = frozenset(),
    ) -> list[Launch]:
        """The launches of a function: one, or one for each item of a repeatable input."""
        if function.over is None and not function.which:
            return [make_launch(names, function, None, accumulate=0 in accumulate)]
        launches = []
        for item in self._items(names.op, function) if items is None else items:
            target = (id(names.op), function.targets[0].name)
            adds = item in accumulate or (
                function.role == "each" and function.over is not None and target in self._sums
            )
            self._sums.add(target)
            launches.append(make_launch(names, function, item, accumulate=adds))
        return launches

    def _items(self, op: Op, function: Function) -> list[int]:
        over = function.over
        if over is None:
            target = function.targets[0]
            name = getattr(target, "per", None) or target.name
            count = len(op.argument(name)) if name in op.layer.inputs else len(op.output(name))
            return list(range(count))
        kinds = [value.type.kind for value in op.argument(over.name)]
        return [item for item, kind in enumerate(kinds) if kind == function.kind]

    # ---- backward

    def _backward(self, seeds: Mapping[str, float | None]) -> None:
        needs = GradientNeeds(self.graph, seeds)
        written: set[int] = set()
        for name, weight in seeds.items():
            value = self.graph.values[name]
            buffer = self._gradient(value)
            written.add(id(buffer))
            if weight is None:
                self.kept.append(buffer)
            else:
                ref = Ref(buffer, (buffer.extent,))
                self.backward.append(simple_launch(FILL, name, [ref, Rate(weight, value.domain)]))
        around: list[Steps] = []
        for op in reversed(self.graph.ops):
            around = self._enter(chain(op.steps), around, needs, written)
            first = len(self.backward)
            if op.carried is not None:
                self._memory_gradient(op, needs, written)
            elif needs.active(op):
                self._backward_op(op, needs, written)
                in_loop(self.backward[first:], op.steps, backward=True)
        self._enter([], around, needs, written)
        self.results += [self.gradients[value.name] for value in needs.forced if value.name in self.gradients]

    def _enter(self, loops: list[Steps], before: list[Steps], needs: GradientNeeds, written: set[int]) -> list[Steps]:
        """Close the loops that end here, and begin new ones with the gradients that come from the next step."""
        if before[:1] != loops[:1]:
            for later in self._later:
                later()
            self._later = []
        for steps in loops:
            if steps not in before:
                memories = [op for op in self.graph.ops if op.carried is not None and op.steps is steps]
                for op in memories:
                    self._carry(op, needs, written)
        return loops

    def _carry(self, op: Op, needs: GradientNeeds, written: set[int]) -> None:
        if op.carried is None or not needs.carried(op):
            return
        target, memory = self._gradient(op.carried), self._gradient(op.outputs[0])
        launch = carried_gradient(op, target, memory, accumulate=id(target) in written)
        written.add(id(target))
        self.backward += in_loop([launch], op.steps, backward=True)

    def _memory_gradient(self, op: Op, needs: GradientNeeds, written: set[int]) -> None:
        assert op.steps is not None
        if op.inputs and needs.active(op) and needs.input(op, next(iter(op.layer.inputs)), 0):
            target = self._gradient(op.inputs[0])
            launch = boot_gradient(op, target, self._gradient(op.outputs[0]), accumulate=id(target) in written)
            written.add(id(target))
            self.backward += in_loop([launch], op.steps.outer, backward=True)

    def _gradient(self, value: Value) -> Buffer:
        if value.name not in self.gradients:
            buffer = Buffer(f"gradient of {value.name}", self._buffer(value).extent, self.dtype)
            self.gradients[value.name] = buffer
        return self.gradients[value.name]

    def _backward_op(self, op: Op, needs: GradientNeeds, written: set[int]) -> None:
        names = self._names[id(op)]
        for name, output in op.layer.outputs.items():
            refs = []
            for item, value in enumerate(op.output(name)):
                buffer = self._gradient(value)
                if id(buffer) not in written:
                    written.add(id(buffer))
                    self.backward.append(simple_launch(FILL, value.name, [Ref(buffer, (buffer.extent,)), 0.0]))
                refs.append(Ref(buffer, names.shape(output, item)))
            names.tensors["d" + name] = refs
        functions = needs.functions(op)
        read_again = {name for function in functions for name in function.args}
        for function in functions:
            run = partial(self._backward_function, names, function, needs, written, read_again)
            if op.steps is None or runs_by_rows(op, function):
                run(op.steps)
            else:
                self._later.append(partial(run, None))

    def _backward_function(
        self,
        names: Names,
        function: Function,
        needs: GradientNeeds,
        written: set[int],
        read_again: set[str],
        steps: Steps | None,
    ) -> None:
        names.steps = steps
        if function.role == "gradient":
            self._gradient_function(names, function, needs, written, read_again)
        else:
            self._prepare_temps(names, function)
            self.backward += self._launches(names, function)

    def _gradient_function(
        self, names: Names, function: Function, needs: GradientNeeds, written: set[int], read_again: set[str]
    ) -> None:
        op, target = names.op, function.targets[0]
        name, wide = target.name, function.over is not None or function.which
        items = self._items(op, function) if wide else [0]
        if name in op.params:
            self._parameter_gradient(names, function, [i for i in items if op.params[name][i].trained], written)
            return
        values = op.argument(name)
        private = f"d{name}" in read_again and f"d{name}" not in function.args
        needed = [item for item in items if private or needs.input(op, name, item)]
        targets = [self._gradient(value) for value in values]
        if private:
            targets = [Buffer(f"{op.name}.d{name}", buffer.extent, self.dtype) for buffer in targets]
        names.tensors["d" + name] = [Ref(buffer, names.shape(target, item)) for item, buffer in enumerate(targets)]
        for item in needed:
            run = partial(self._input_gradient, names, function, item, targets[item], written)
            if names.steps is not None and not private and self._is_outside(values[item]):
                self._later.append(partial(run, None))  # no step waits for it
                continue
            run(names.steps)
            if private and needs.input(op, name, item):
                self._add(values[item], targets[item], written)

    def _input_gradient(
        self, names: Names, function: Function, item: int, target: Buffer, written: set[int], steps: Steps | None
    ) -> None:
        names.steps = steps
        adds = id(target) in written
        written.add(id(target))
        self.backward += self._launches(names, function, [item], frozenset({item} if adds else ()))

    def _add(self, value: Value, buffer: Buffer, written: set[int]) -> None:
        """Add a gradient that other functions of the layer read to the gradient of the value."""
        total = self._gradient(value)
        refs: list[Ref] = [Ref(total, (total.extent,)), Ref(buffer, (buffer.extent,))]
        self.backward.append(simple_launch(ADD, value.name, refs, accumulate=id(total) in written))
        written.add(id(total))

    def _parameter_gradient(self, names: Names, function: Function, items: list[int], written: set[int]) -> None:
        for target in function.targets:
            names.tensors["d" + target.name] = [
                self._gradient_by_rows(names, function, item)
                if parameter.by_rows and item in items
                else Ref(Held(parameter, "gradient"), names.shape(target, item))
                for item, parameter in enumerate(names.op.params.get(target.name, ()))
            ]
        for item in items:
            parameter = names.op.params[function.targets[0].name][item]
            adds = id(parameter) in written
            if function.used is not None and not adds and not parameter.by_rows:
                size = Extent(parameter.size)
                zero: list[Argument] = [Ref(Held(parameter, "gradient"), (size,)), 0.0]
                self.backward.append(simple_launch(FILL, parameter.name, zero))
            written.update(id(names.op.params[target.name][item]) for target in function.targets)
            self.backward += self._launches(names, function, [item], frozenset({item} if adds else ()))

    def _gradient_by_rows(self, names: Names, function: Function, item: int) -> Ref:
        made = make_row_gradient(names, function, item, self.dtype)
        self.row_gradients.append(made)
        self.kept.append(_owner(made.rows))  # it outlives the next forward pass
        return made.rows


def _owner(ref: Ref) -> Buffer:
    assert isinstance(ref.owner, Buffer)
    return ref.owner
