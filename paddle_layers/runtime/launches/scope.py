"""Name resolution: the values that a point function requests by parameter name, in one operation of one plan."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from paddle_layers.define.fields.axes import REST
from paddle_layers.define.fields.tensors import Field
from paddle_layers.define.fields.types import product
from paddle_layers.define.functions.point_functions import Function
from paddle_layers.runtime.graph.domains import Domain, Extent, RowsOf, Value, capacity_of, rows_of
from paddle_layers.runtime.graph.graph import Op

from .arguments import Argument, Key, Ref, plain_argument
from .index_arrays import IndexArrays, SequenceKey
from .launch import Computation


class UnknownArgument(LookupError):
    """A tuned kernel requests a name that its layer does not have; point functions are checked when registered."""


class OperationScope:
    """The meaning of names in one operation of one plan."""

    def __init__(
        self, op: Op, training: bool, tensors: dict[str, list[Ref]], index_arrays: IndexArrays, device: str
    ) -> None:
        self.op, self.training, self.tensors, self.index_arrays = op, training, tensors, index_arrays
        self.device = device
        self.steps = op.steps
        """The steps in which what is made now runs; None: it runs on all rows at once."""
        self.chunks: dict[str, Domain] = {}
        """Rows of the tensors that have only those of a chunk of the batch, by name."""
        self.joint: list[Computation] = []
        """What the next kernel of several functions computes, besides its own function."""

    def shape(self, field_: Field, item: int = 0) -> tuple[Extent, ...]:
        """Shape of a field for a point function: rows first, `...` merged, axes of width 1 omitted."""
        op, axes = self.op, field_.axes
        if not axes:
            return (Extent(1),)
        shape: list[Extent] = []
        for axis in axes:
            if axis.name == REST:
                size = math.prod(op.binding.sizes[REST])
                has_rows = axis is axes[0] and REST in op.rows
                shape.append(rows_of(op.rows[REST], size) if has_rows else Extent(size))
            elif axis is axes[0] and axis.name in op.rows:
                shape.append(rows_of(op.rows[axis.name], op.binding.rows_factor(axis)))
            elif axis.name != "1":
                sizes = op.binding.sizes[axis.name]
                shape.append(Extent(sizes[item] if axis.per_item else sizes))
        if field_.name in self.chunks:
            shape[0] = replace(shape[0], domain=self.chunks[field_.name])
        return tuple(shape)

    def rows(self, name: str) -> Extent:
        """Number of rows of an axis; those of `N...` have several elements each."""
        return rows_of(self.op.rows[name], product(self.op.binding.merged.get(name, ())))

    def size(self, name: str, item: int | None) -> Argument:
        """Size of an axis."""
        if name in self.op.rows:
            return self.rows(name)
        size = self.op.binding.sizes[name]
        if isinstance(size, list):
            return Extent(size[item]) if item is not None else tuple(Extent(n) for n in size)
        return Extent(size)

    def resolve(self, name: str, function: Function, item: int | None) -> Argument:
        """The argument that a function requests by name."""
        layer = self.op.layer
        if name in self.tensors or name in layer.fields or (name[1:] in layer.fields and name[0] == "d"):
            return self._tensor(name, function, item)
        if name == "training":
            return self.training
        # A placeholder: the key changes in every step, the launch does not.
        if name == "key":
            return Key(self.op.name)
        if name == "which":
            return Extent(item or 0)
        if name in layer.numbers:
            return self.size(name, None)
        if name in layer.axis_names or name in self.op.rows:
            return self.size(name, item if function.over is not None else None)
        if name in layer.attributes:
            return plain_argument(self.op.attributes[name])
        if name in function.offsets:
            return Extent(sum(self.op.binding.sizes[function.offsets[name]][: item or 0]))
        return self._sequence_or_sparse(name, item)

    def _tensor(self, name: str, function: Function, item: int | None) -> Argument:
        found = self.tensors.get(name)
        if not found:
            return None
        base = self.op.layer.fields.get(name) or self.op.layer.fields[name[1:]]
        if not base.per_item:
            return found[0]
        own = function.over is not None and (base is function.over or base.per == function.over.name)
        target = name in function.target_names
        return found[item or 0] if own or target else tuple(found)

    def _sequence_or_sparse(self, name: str, item: int | None) -> Argument:
        groups = self.op.layer.groups
        by_row = name.removesuffix("_start") in groups  # S_start for T:S:N: of S in N, not of T in S
        for row, group in groups.items():
            if name == f"{row if by_row else group}_start":
                return self.sequence("starts", row)
            if name == "before_of":
                return self.sequence("before", row, reverse=bool(self.op.attributes.get("reverse")))
        stem, _, part = name.rpartition("_used_")
        if stem in self.op.layer.inputs or stem in self.op.entries:
            return self.index_arrays.used(self.value(stem, item), part)
        stem, _, part = name.rpartition("_")
        if stem not in self.op.layer.inputs and stem not in self.op.entries:
            raise UnknownArgument(name)
        return self.index_arrays.sparse(self.value(stem, item), part)

    def sequence(self, kind: str, row: str, *, reverse: bool = False) -> Ref:
        """Sequence starts of a row axis (`starts`), sequence of each row (`map`) or the previous row."""
        leaf, group = self.op.rows[row], self.op.group_of(row)
        steps = self.steps if self.steps is not None and self.steps.holds(group) else None
        return self.index_arrays.sequence(SequenceKey(kind, leaf, group, reverse, steps))

    def value(self, name: str, item: int | None) -> Value:
        """The value of an input, or of the item of a repeatable one."""
        field = self.op.layer.inputs.get(name)
        return self.op.argument(name)[item or 0 if field is not None and field.repeatable else 0]


def host_sizes(scope: OperationScope, item: int | None, rows: RowsOf = capacity_of) -> dict[str, Any]:
    """Axis sizes and attributes as plain numbers for the host functions of tuned kernels.

    `rest` is the size of `...`, `training` whether the phase is train.
    """
    sizes: dict[str, Any] = {**scope.op.attributes, "training": scope.training}
    for name in (*scope.op.layer.axis_names, *scope.op.layer.groups.values()):
        if name in scope.op.rows:
            sizes[name] = rows(scope.op.rows[name]) * product(scope.op.binding.merged.get(name, ()))
        elif name in scope.op.binding.sizes:
            size = scope.op.binding.sizes[name]
            sizes[name] = size[item or 0] if isinstance(size, list) else size
    sizes |= {name: scope.op.binding.sizes[name] for name in scope.op.layer.numbers}
    if REST in scope.op.binding.sizes:
        sizes["rest"] = math.prod(scope.op.binding.sizes[REST])
    return sizes
