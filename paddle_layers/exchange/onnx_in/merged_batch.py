"""Operators on values whose first axis has other axes beside the batch, such as windows (Swin) or heads.

Layers compute each sample separately, so such an axis is taken apart for the operator and joined again in its result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .layers import NotSupported
from .model import OnnxNode
from .operators import described
from .symbolic_values import ConstantValue, View, atoms_of

OPERATORS = frozenset(
    (
        *("Add", "Div", "Gemm", "LayerNormalization", "LogSoftmax", "MatMul", "Mul", "RMSNormalization", "Softmax"),
        *("Split", "Sub"),
    )
)
"""Operators along the last axes, or elementwise ones."""
WITH_AXES = {"ReduceL2": 1, "ReduceMax": 1, "ReduceMean": 1, "ReduceMin": 1, "ReduceSum": 1, "Slice": 3}
"""Operators along given axes, which have to be counted from the end, with the place of that input."""
OF_CHANNELS = frozenset({"BatchNormalization"})
"""Operators with channels in front: the other axes follow."""


def apart(node: OnnxNode, inputs: Sequence[Any]) -> tuple[OnnxNode, list[Any]] | None:
    """The node and its inputs with one axis more; None where nothing is to be taken apart."""
    views = [one for one in inputs if isinstance(one, View)]
    if node.operator not in OPERATORS | OF_CHANNELS | WITH_AXES.keys() or not any(map(_is_merged, views)):
        return None
    # Sequences of any length have no axis of steps; attention over them is recognized by patterns.
    if any(atom.name not in ("", "N") for view in views for atom in atoms_of(view.layout)):
        return None
    if node.operator in WITH_AXES and not _are_last(node, inputs):
        return None
    axis = node.attributes.get("axis")
    changed = node
    if isinstance(axis, int) and axis > 0:
        changed = replace(node, attributes={**node.attributes, "axis": axis + 1})
    return changed, [_taken_apart(one, node) if isinstance(one, View) else one for one in inputs]


def joined(result: Any, node: OnnxNode) -> View:
    """The result with the axes of the model. Raises `NotSupported` for other results than values."""
    if not isinstance(result, View):
        raise NotSupported(f"the result is {described(result)}, and its batch axis is merged with others")
    first, *rest = result.layout
    extra = rest.pop() if node.operator in OF_CHANNELS else rest.pop(0)
    return replace(result, layout=((*first, *extra), *rest))


def _are_last(node: OnnxNode, inputs: Sequence[Any]) -> bool:
    place = WITH_AXES[node.operator]
    given = inputs[place] if len(inputs) > place else node.attributes.get("axes")
    axes = given.array.reshape(-1).tolist() if isinstance(given, ConstantValue) else given
    return isinstance(axes, list) and bool(axes) and all(isinstance(axis, int) and axis < 0 for axis in axes)


def _is_merged(view: View) -> bool:
    first = view.layout[0] if view.layout else ()
    return len(first) > 1 and first[0].name == "N"


def _taken_apart(view: View, node: OnnxNode) -> View:
    first, *rest = view.layout
    if not first or first[0].name != "N":
        raise NotSupported("the batch axis, and the time axis of sequences, must come first")
    if node.operator in OF_CHANNELS:
        return replace(view, layout=(first[:1], *rest, first[1:]))
    return replace(view, layout=(first[:1], first[1:], *rest))
