"""Independence of samples in a batch, derived from the source of the forward functions."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..fields.tensors import Field, Param, State
from ..functions.ir import all_of, dependents, indices_of, names_of, stores_of
from ..functions.point_functions import Function

if TYPE_CHECKING:
    from ..definitions.layers import LayerDefinition


def rows_independent(layer: LayerDefinition, forward: Iterable[Function]) -> bool:
    """Whether the source shows that every row depends on rows of the same sample only.

    A sample is a row, or the outermost sequence. A function may read its row and, in sequences, rows at an offset from
    it or from the start of the sequence. A function that reads other rows, their number, or all rows for a tensor
    without rows may not. Tests by experiment find wrong results.
    """
    functions = [function for function in forward if function.role != "update"]
    return all(
        not function.python and _RowAccessAnalysis(layer, function).stays_in_its_sample() for function in functions
    )


class _RowAccessAnalysis:
    """Examines each use of a tensor that has rows."""

    def __init__(self, layer: LayerDefinition, function: Function) -> None:
        self.layer, self.function, self.tree = layer, function, function.program.tree
        self.parents = {id(child): node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        fed = {field.axes[0].name for field in layer.inputs.values() if field.axes}
        self.row_axes = {*fed, *layer.groups, *layer.groups.values()}
        given = {group.lower() for group in layer.groups.values()} | {"before", "after"}
        if self._has_rows(function.targets[0]):
            given.add(next(index for index in function.indices if index != "which"))
        self.own = given & set(function.args)
        """Indices of the function's own row and sequence."""
        self.near = dependents(self.tree, self.own)
        """These, and numbers that are counted from them."""

    def stays_in_its_sample(self) -> bool:
        """Whether no use of a tensor leaves the sample."""
        return not stores_of(self.tree) & self.own and all(map(self._is_fine, all_of(self.tree, ast.Name)))

    def _is_fine(self, node: ast.Name) -> bool:
        if node.id not in self.function.args:
            return True
        if node.id in self.row_axes:
            return False  # how many rows there are
        is_index_array, field = node.id in self._index_arrays(), self.layer.fields.get(node.id)
        has_rows = field is not None and self._has_rows(field)
        if not has_rows and not is_index_array:
            return True
        use = self._subscript(node, field)
        if use is None:
            return self._is_shape(node, field) or self._is_test_for_none(node)
        index = indices_of(use)[0]
        if is_index_array or (field is not None and field.axes[0].name in self.layer.groups):
            return bool(names_of(index) & self.near)
        return isinstance(index, ast.Name) and index.id in self.own

    def _subscript(self, node: ast.expr, field: Field | None) -> ast.Subscript | None:
        """The indices of its elements: of an item, for a repeatable tensor that is passed as a whole."""
        parent = self.parents[id(node)]
        if not isinstance(parent, ast.Subscript) or parent.value is not node:
            return None
        whole = field is not None and field.repeatable and self.function.over is not field
        if whole and field is not None and field.name not in self.function.target_names:
            return self._subscript(parent, None)
        return parent

    def _is_shape(self, node: ast.expr, field: Field | None) -> bool:
        """Whether only `len(x)` of items or the size of an axis after the rows is used."""
        parent = self.parents[id(node)]
        if isinstance(parent, ast.Call) and ast.unparse(parent) == f"len({ast.unparse(node)})":
            return field is not None and field.repeatable
        if isinstance(parent, ast.Subscript) and parent.value is node:
            return self._is_shape(parent, None)
        if not (isinstance(parent, ast.Attribute) and parent.attr == "shape"):
            return False
        size = self.parents[id(parent)]
        return isinstance(size, ast.Subscript) and isinstance(size.slice, ast.Constant) and size.slice.value != 0

    def _is_test_for_none(self, node: ast.expr) -> bool:
        parent = self.parents[id(node)]
        return isinstance(parent, ast.Compare) and isinstance(parent.ops[0], (ast.Is, ast.IsNot))

    def _has_rows(self, field: Field) -> bool:
        if isinstance(field, (Param, State)) or not field.axes:
            return False
        return field.axes[0].name in self.row_axes

    def _index_arrays(self) -> set[str]:
        """Starts of sequences and of sparse rows, and the entries of these."""
        starts = {f"{name}_start" for name in (*self.layer.inputs, *self.layer.groups, *self.layer.groups.values())}
        return starts | {f"{name}_{part}" for name in self.layer.inputs for part in ("id", "value")}
