"""Shared state of the passes of a schedule: buffers of values, operation names, and the creation of launches."""

from __future__ import annotations

from collections.abc import Iterable

from paddle_layers.define.fields.tensors import Field, Output, Temp
from paddle_layers.define.functions.point_functions import Function
from paddle_layers.runtime.graph.domains import Extent, Value, rows_of
from paddle_layers.runtime.graph.graph import Graph, Op
from paddle_layers.runtime.launches.arguments import Held, Ref
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.launches.from_functions import make_launches
from paddle_layers.runtime.launches.index_arrays import IndexArrays
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.launches.scope import OperationScope
from paddle_layers.runtime.passes.chunked_cross_entropy import ChunkedLoss


class Workspace:
    """Buffers and names of one phase."""

    def __init__(
        self, graph: Graph, dtype: str, *, training: bool, device: str, chunked: Iterable[ChunkedLoss] = ()
    ) -> None:
        self.graph, self.dtype, self.training, self.device = graph, dtype, training, device
        self.index_arrays = IndexArrays(dtype)
        self.kept: list[Buffer] = []
        """Filled from outside: feeds, gradients that the caller gives."""
        self.results: list[Buffer] = []
        """Read from outside after the pass: outputs, statistics, gradients that the config asks for."""
        self.values: dict[str, Buffer] = {}
        self.divisors: dict[str, Buffer] = {}
        """Of losses that are not means over all rows, by the name of the value: one number each."""
        self.chunked = {op: one for one in chunked for op in (one.scores, one.loss)}
        """Operations that run in chunks of the rows."""
        self._chunks = {one.scores.outputs[0]: one.chunks.chunk for one in self.chunked.values()}
        self._data: dict[Value, Buffer] = {}
        self._scopes: dict[Op, OperationScope] = {}
        self._made_in = {value: op.steps for op in graph.ops for value in op.outputs}
        self._sums: set[tuple[Op, str]] = set()
        """Tensors of operations to which an item of a repeatable input has been added; the first one is not added."""
        for value in graph.feeds.values():
            # Sparse feeds have no buffer of values, but separate arrays for their entries.
            if value.entries is None:
                self.kept.append(self.buffer(value))

    def keep_indices(self) -> None:
        """Keeps the arrays that describe the steps of recurrent groups, as far as they are read."""
        indices = [value for group in self.graph.groups for value in group.indices]
        self.kept += [self._data[value] for value in indices if value in self._data]

    def buffer(self, value: Value) -> Buffer:
        """The buffer of a value."""
        buffer = self._data.get(value)
        if buffer is None:
            dtype = "int64" if value.type.kind == "INT" else self.dtype
            extent = rows_of(self._chunks.get(value, value.domain), value.type.columns)
            buffer = self._data[value] = Buffer(value.name, extent, dtype)
            self.values[value.name] = buffer
            if dtype == "int64":
                self.index_arrays.ids[value.name] = buffer
        return buffer

    def scope(self, op: Op) -> OperationScope:
        """Name resolution for an operation; its tensors are known from the start."""
        if op not in self._scopes:
            self._scopes[op] = self._new_scope(op)
        return self._scopes[op]

    def _new_scope(self, op: Op) -> OperationScope:
        scope = OperationScope(op, self.training, {}, self.index_arrays, self.device)
        if op in self.chunked:
            chunked = self.chunked[op]
            first = next(iter(op.layer.outputs if op is chunked.scores else op.layer.inputs))
            scope.chunks[first] = chunked.chunks.chunk
        tensors = scope.tensors
        for name, input_ in op.layer.inputs.items():
            tensors[name] = [self._ref(scope, input_, value, item) for item, value in enumerate(op.argument(name))]
        for name, output in op.layer.outputs.items():
            tensors[name] = [self._ref(scope, output, value, item) for item, value in enumerate(op.output(name))]
        for name, parameters in op.params.items():
            field = op.layer.params[name]
            tensors[name] = [
                Ref(Held(parameter, "value"), scope.shape(field, item)) for item, parameter in enumerate(parameters)
            ]
        for name, state in op.states.items():
            tensors[name] = [Ref(Held(state, "value"), scope.shape(op.layer.states[name]))]
        return scope

    def _ref(self, scope: OperationScope, field: Field, value: Value, item: int) -> Ref:
        if value.entries is not None:  # a sparse value is only accessed through its entries
            return Ref(Buffer(value.name, Extent(), self.dtype), scope.shape(field, item))
        if scope.steps is not None and value.points_to is not None and scope.steps.holds(value.points_to):
            return Ref(self.index_arrays.index(value, scope.steps), scope.shape(field, item), "int64")
        return Ref(self.buffer(value), scope.shape(field, item), "int64" if value.type.kind == "INT" else "real")

    def is_outside(self, value: Value) -> bool:
        """Whether all rows of a value are known before a loop begins."""
        return self._made_in.get(value) is None

    def prepare_temps(self, scope: OperationScope, function: Function) -> None:
        """Creates missing buffers for the results of a function."""
        for target in function.targets:
            if target.name not in scope.tensors or not scope.tensors[target.name]:
                shape = scope.shape(target)
                extent = shape[0]
                for size in shape[1:]:
                    extent = extent * size.extra
                whole = isinstance(target, Temp) and target.kind == "INT"
                buffer = Buffer(f"{scope.op.name}.{target.name}", extent, "int64" if whole else self.dtype)
                scope.tensors[target.name] = [Ref(buffer, shape, "int64" if whole else "real")]

    def launches(
        self,
        scope: OperationScope,
        function: Function,
        items: Iterable[int] | None = None,
        accumulate: frozenset[int] = frozenset(),
    ) -> list[Launch]:
        """The launches of a function: one, or one per item of a repeatable input."""
        if function.over is None and not function.which:
            return make_launches(scope, function, None, accumulate=0 in accumulate)
        launches = []
        for item in self.items(scope.op, function) if items is None else items:
            target = (scope.op, function.targets[0].name)
            # A sum over items of a repeatable input: the first launch overwrites the target, the others add.
            sums = function.role == "each" and function.over is not None and function.along is None
            adds = item in accumulate or (sums and target in self._sums)
            self._sums.add(target)
            launches += make_launches(scope, function, item, accumulate=adds)
        return launches

    def items(self, op: Op, function: Function) -> list[int]:
        """Items of a repeatable input, or output, for which a function is called."""
        over = function.over
        if isinstance(over, Output):
            return list(range(len(op.output(over.name))))
        if over is None:
            target = function.targets[0]
            name = getattr(target, "per", None) or target.name
            count = len(op.argument(name)) if name in op.layer.inputs else len(op.output(name))
            return list(range(count))
        kinds = [value.type.kind for value in op.argument(over.name)]
        return [item for item, kind in enumerate(kinds) if kind == function.kind]
