"""Operators on values whose first axis has other axes beside the batch, such as windows (Swin) or heads.

Layers compute each sample separately, so the operator sees one axis more, and its result has the axes of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .layers import NotSupported
from .model import OnnxNode
from .operators import described
from .symbolic_values import ConstantValue, RepeatedConstant, View, atoms_of

ELEMENTWISE = frozenset({"Add", "Div", "Gemm", "MatMul", "Mul", "Sub"})
"""Operators without an axis: elementwise ones, and products along the last axes."""
ALONG_AXIS = {"LayerNormalization": -1, "LogSoftmax": -1, "RMSNormalization": -1, "Softmax": -1, "Split": 0}
"""Operators with an attribute `axis`, and its default."""
ALONG_AXES = {"ReduceL2": 1, "ReduceMax": 1, "ReduceMean": 1, "ReduceMin": 1, "ReduceSum": 1, "Slice": 3}
"""Operators along several axes, an attribute or the input at this position."""
ALONG_CHANNELS = frozenset({"BatchNormalization"})
"""Operators whose second axis has the channels: the additional axis comes last."""


def split_batch_axis(node: OnnxNode, inputs: Sequence[Any], opset: int) -> tuple[OnnxNode, list[Any]] | None:
    """The node and its inputs with one axis more; None if no batch axis is merged, or the operator works along it."""
    views = [value for value in inputs if isinstance(value, View)]
    if not any(map(_is_merged, views)):
        return None
    # Sequences of any length have no axis of steps; attention over them is recognized by patterns.
    if any(atom.name not in ("", "N") for view in views for atom in atoms_of(view.layout)):
        return None
    counted = _recounted(node, list(inputs), len(views[0].layout), opset)
    if counted is None:
        return None
    changed, operands = counted
    return changed, [
        _split(value, node) if isinstance(value, (RepeatedConstant, View)) else value for value in operands
    ]


def merge_batch_axis(result: Any, node: OnnxNode) -> View:
    """The result with the axes of the model. Raises `NotSupported` for other results than values."""
    if not isinstance(result, View):
        raise NotSupported(f"the result is {described(result)}, and its batch axis is merged with others")
    batch, *rest = result.layout
    additional = rest.pop() if node.operator in ALONG_CHANNELS else rest.pop(0)
    return replace(result, layout=((*batch, *additional), *rest))


def _recounted(node: OnnxNode, inputs: list[Any], rank: int, opset: int) -> tuple[OnnxNode, list[Any]] | None:
    """The node with its axes counted from the end, which the additional axis does not change."""
    operator = node.operator
    if operator in ELEMENTWISE or operator in ALONG_CHANNELS:
        return node, inputs
    if operator in ALONG_AXIS:
        default = 1 if operator in ("Softmax", "LogSoftmax") and opset < 13 else ALONG_AXIS[operator]
        axes = _from_the_end([node.attributes.get("axis", default)], rank)
        return None if axes is None else (replace(node, attributes={**node.attributes, "axis": axes[0]}), inputs)
    if operator not in ALONG_AXES:
        return None
    position = ALONG_AXES[operator]
    operand = inputs[position] if len(inputs) > position else None
    if isinstance(operand, ConstantValue):
        axes = _from_the_end(operand.array.reshape(-1).tolist(), rank)
        if axes is not None:
            inputs[position] = ConstantValue(np.array(axes, np.int64))
        return None if axes is None else (node, inputs)
    axes = _from_the_end(node.attributes.get("axes"), rank)
    return None if axes is None else (replace(node, attributes={**node.attributes, "axes": axes}), inputs)


def _from_the_end(axes: Any, rank: int) -> list[int] | None:
    """Negative axes; None without any, or with the batch axis among them."""
    if (
        not isinstance(axes, list)
        or not axes
        or not all(isinstance(axis, int) and -rank <= axis < rank for axis in axes)
    ):
        return None
    return None if any(axis % rank == 0 for axis in axes) else [axis % rank - rank for axis in axes]


def _is_merged(view: View) -> bool:
    first = view.layout[0] if view.layout else ()
    return len(first) > 1 and first[0].name == "N"


def _split(view: RepeatedConstant | View, node: OnnxNode) -> RepeatedConstant | View:
    first, *rest = view.layout
    if not first or first[0].name != "N":
        raise NotSupported("the batch axis, and the time axis of sequences, must come first")
    order = (*rest, first[1:]) if node.operator in ALONG_CHANNELS else (first[1:], *rest)
    return replace(view, layout=(first[:1], *order))
