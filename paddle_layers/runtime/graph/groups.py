"""Recurrent groups as operations: loop-carried computations run step by step, all others on all steps at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from paddle_layers.define import LayerDefinition, ShapeError, Type, registries

from .domains import Value
from .graph import Graph, Op
from .step_layers import Reorder, ReorderIds, RepeatRow, RepeatSequence, definition_of
from .steps import Steps

if TYPE_CHECKING:
    from paddle_layers.config.wiring.nodes import Inside, Node

NamedValues = dict[str, Value]
"""Values by their names in the layers of one network."""
MEMORY = "memory"
SPARSE_IN_STEPS = (
    "layer `{}` combines sparse rows with a memory of the previous step; apply an `fc` to the sparse rows first"
)
"""The sparse rows of one step cannot be distinguished from those of the others on a device."""


class Builder(Protocol):
    """Adds the nodes of a step to a graph."""

    graph: Graph

    def add(self, node: Node, scope: NamedValues, prefix: str) -> None:
        """Adds the operations of a node; its outputs enter the scope."""

    def operation(
        self, name: str, layer: LayerDefinition, attributes: Mapping[str, Any], inputs: tuple[Value, ...]
    ) -> Op:
        """Adds one use of a layer."""


def add_group(
    builder: Builder, node: Node, inside: Inside, inputs: tuple[Value, ...], prefix: str
) -> tuple[Value, ...]:
    """Adds the operations of a recurrent group; returns its outputs, in the original order of the sequences."""
    return _RecurrentGroup(builder, node, inside, inputs, prefix).outputs()


class _RecurrentGroup:
    def __init__(self, builder: Builder, node: Node, inside: Inside, inputs: tuple[Value, ...], prefix: str) -> None:
        self.builder, self.prefix, self.inside = builder, prefix, inside
        graph, static = builder.graph, node.attributes["static"]
        stepped = next(v for name, v in zip(inside.inputs, inputs, strict=True) if name not in static)
        self.steps = Steps(prefix[:-1], stepped.domain, reverse=node.attributes["reverse"])
        graph.made_rows.append(self.steps)
        self.scope: NamedValues = {}
        self.first = len(graph.ops)
        given = dict(zip(inside.inputs, inputs, strict=True))
        for name, value in given.items():
            self.scope[name] = self._repeated(name, value) if name in static else self._stepped(name, value)
        memories = [part for part in inside.nodes if part.definition.name == MEMORY]
        made = [(part, self._memory(part, given)) for part in memories]
        for part in inside.nodes:
            if part.definition.name != MEMORY:
                builder.add(part, self.scope, prefix)
        for part, op in made:
            op.carried = self.scope[part.attributes["of"]]
            _check_carried(op, part.attributes["of"])
        # After all parts: only then is it known what a memory depends on.
        self._sort([op for _, op in made])

    def outputs(self) -> tuple[Value, ...]:
        """The outputs of the step, as sequences."""
        return tuple(self._gathered(name) for name in self.inside.outputs)

    def _op(self, name: str, owner: type, *inputs: Value) -> Value:
        return self.builder.operation(f"{self.prefix}{name}", definition_of(owner), {}, inputs).outputs[0]

    # ---- inputs and outputs

    def _stepped(self, name: str, value: Value) -> Value:
        steps = self.steps
        index, inverse = (steps.item, steps.place)
        if value.type.level == 2:
            index, inverse = steps.leaf_item, steps.leaf_place
        if value.entries is not None:
            self._same_rows(value, inverse)
            return steps.take_sparse(value, index)
        if value.type.kind == "INT":
            self._same_rows(value, inverse)
            return self._op(f"{name} by steps", ReorderIds, value, index)
        return self._op(f"{name} by steps", Reorder, value, index, inverse)

    def _repeated(self, name: str, value: Value) -> Value:
        steps = self.steps
        index = steps.sequence if value.type.level == 0 else steps.copy(value.domain).copied
        if value.entries is not None:
            return steps.take_sparse(value, index)
        if value.type.kind == "INT":
            return self._op(f"{name} in each step", ReorderIds, value, index)
        owner = RepeatRow if value.type.level == 0 else RepeatSequence
        return self._op(f"{name} in each step", owner, value, index, steps.place)

    def _gathered(self, name: str) -> Value:
        value, steps = self.scope[name], self.steps
        if value.domain is steps.rows:
            index, inverse = steps.place, steps.item
        elif steps.leaf is not None and value.domain is steps.leaf_rows:
            index, inverse = steps.leaf_place, steps.leaf_item
        else:
            raise ShapeError(f"layer `{self.prefix[:-1]}`: the output `{name}` of the step has a dynamic row count")
        if value.type.kind == "INT":
            return self._op(f"{name} of all steps", ReorderIds, value, index)
        return self._op(f"{name} of all steps", Reorder, value, index, inverse)

    def _same_rows(self, value: Value, like: Value) -> None:
        if value.domain is not like.domain:
            self.builder.graph.equal_rows.append((self.prefix[:-1], like.domain, value.domain))

    # ---- memories

    def _memory(self, part: Node, given: NamedValues) -> Op:
        """An operation whose output is copied step by step from its boot value and from the value it carries."""
        # Not the declared type: a batch may have other sizes, and so does the boot value.
        (type_,) = part.definition.infer([given[other].type for other in part.inputs], part.attributes)
        name = self.prefix + part.name
        boot = [self._boot(part.name, given[other]) for other in part.inputs]
        linear = registries["layer"]["linear"]
        binding = linear.bind_axes([Type.dense()], linear.bind({}))
        op = Op(name, linear, part.attributes, binding, tuple(boot))
        op.steps = self.steps
        op.outputs = (Value(name, type_, self.steps.rows),)
        self.builder.graph.ops.append(op)
        self.scope[part.output_names[0]] = op.outputs[0]
        return op

    def _boot(self, name: str, value: Value) -> Value:
        steps = self.steps
        if value.type.kind == "INT":
            return self._op(f"{name} before the first step", ReorderIds, value, steps.order)
        return self._op(f"{name} before the first step", Reorder, value, steps.order, steps.rank)

    # ---- step-by-step operations

    def _sort(self, memories: Sequence[Op]) -> None:
        """Moves the operations between a memory and the value it carries into the loop over steps."""
        graph = self.builder.graph
        units = _units(graph.ops[self.first :])
        after = _reached(units, [value for op in memories for value in op.outputs])
        before = _leading(units, [op.carried for op in memories if op.carried is not None])
        head: list[Op] = []
        loop: list[Op] = list(memories)
        tail: list[Op] = []
        for place, unit in enumerate(units):
            if unit[0] in memories:
                continue
            # Between a memory and the value it carries: the rest does not depend on the step order, and runs on the
            # rows of all steps at once.
            place_in = loop if place in after and place in before else tail if place in after else head
            place_in.extend(unit)
        for op in loop:
            self._check_sparse(op)
            self._enter(op)
        # The loop stays contiguous, and each part keeps its order, which is topological.
        graph.ops[self.first :] = [*head, *loop, *tail]

    def _check_sparse(self, op: Op) -> None:
        """Rejects uses of the sparse rows of one step: items of a sum are computed before the loop."""
        sparse = {place for place, value in enumerate(op.inputs) if value.entries is not None}
        single = [name for name, field in op.layer.inputs.items() if not field.repeatable]
        if sparse and any(sparse & set(op.binding.positions[name]) for name in single):
            raise ShapeError(SPARSE_IN_STEPS.format(op.name))

    def _enter(self, op: Op) -> None:
        if op.steps is None:
            op.steps = self.steps
            return
        group = op.steps
        while group.outer is not None:
            group = group.outer
        if group is not self.steps:
            group.outer = self.steps
            self.steps.inner.append(group)


def _check_carried(memory: Op, of: str) -> None:
    """Raises `ShapeError` if steps would read rows of another size than the previous step has written."""
    found, type_ = memory.carried, memory.outputs[0].type
    if found is not None and found.type != type_:
        message = f"memory `{memory.name}` is {type_}, but its source `{of}` is {found.type}"
        raise ShapeError(message, attribute="of")


def _units(ops: Iterable[Op]) -> list[list[Op]]:
    """Groups of operations that must stay together: those of a group's steps, and each other one separately."""
    units: list[list[Op]] = []
    for op in ops:
        outermost = _outermost(op)
        if units and outermost is not None and outermost is _outermost(units[-1][0]):
            units[-1].append(op)
        else:
            units.append([op])
    return units


def _outermost(op: Op) -> Steps | None:
    steps = op.steps
    while steps is not None and steps.outer is not None:
        steps = steps.outer
    return steps


def _read_by(op: Op) -> tuple[Value, ...]:
    return op.inputs if op.carried is None else (*op.inputs, op.carried)


def _reached(units: Sequence[list[Op]], values: Iterable[Value]) -> set[int]:
    """Indices of the units that depend on the values."""
    known = set(values)
    found = set()
    for place, unit in enumerate(units):
        if any(value in known for op in unit for value in _read_by(op)):
            found.add(place)
            known |= {value for op in unit for value in op.outputs}
    return found


def _leading(units: Sequence[list[Op]], values: Iterable[Value]) -> set[int]:
    """Indices of the units on which the values depend."""
    known = set(values)
    found = set()
    for place in reversed(range(len(units))):
        if any(value in known for op in units[place] for value in op.outputs):
            found.add(place)
            known |= {value for op in units[place] for value in _read_by(op)}
    return found
