"""Operators on values whose first axis has other axes beside the batch, such as windows (Swin) or heads.

Layers compute each sample separately, so the operator sees one axis more, and its result has the axes of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from .layers import NotSupported
from .model import OnnxNode
from .operators import OperatorContext, described
from .parts import cut
from .symbolic_values import Axis, ConstantValue, RepeatedConstant, View, atoms_of, size_of

ELEMENTWISE = frozenset({"Add", "Div", "Gemm", "MatMul", "Mul", "Sub"})
"""Operators without an axis: elementwise ones, and products along the last axes."""
ALONG_AXIS = {
    "Concat": 0, "LayerNormalization": -1, "LogSoftmax": -1, "RMSNormalization": -1, "Softmax": -1, "Split": 0,
}  # fmt: skip
"""Operators with an attribute `axis`, and its default."""
ALONG_AXES = {"ReduceL2": 1, "ReduceMax": 1, "ReduceMean": 1, "ReduceMin": 1, "ReduceSum": 1, "Slice": 3}
"""Operators along several axes, an attribute or the input at this position."""
ALONG_CHANNELS = {"BatchNormalization": -1, "Conv": 2}
"""Operators whose second axis has the channels, and the place of the additional axis: of an image, that of depth."""

PARTS = frozenset({"AveragePool", "Conv", "ConvTranspose", "MaxPool"})
"""Operators that see one part of the batch axis after the other where no layer has as many axes."""
MOST_PARTS = 16
DEEP = frozenset({"dilations", "kernel_shape", "strides"})
"""Attributes of Conv with one value per axis of the image."""


def split_batch_axis(node: OnnxNode, inputs: Sequence[Any], opset: int) -> tuple[OnnxNode, list[Any]] | None:
    """The node and its inputs with one axis more; None if no batch axis is merged, or the operator works along it."""
    views = [value for value in inputs if isinstance(value, View)]
    if not any(map(_is_merged, views)):
        return None
    # Sequences of any length have no axis of steps; attention over them is recognized by patterns.
    if any(atom.name not in ("", "N") for view in views for atom in atoms_of(view.layout)):
        return None
    counted = _recounted(node, list(inputs), len(views[0].layout), opset) or _with_sizes(node, list(inputs))
    if counted is None:
        return None
    changed, operands = counted
    return changed, [
        _split(value, node) if isinstance(value, (RepeatedConstant, View)) else value for value in operands
    ]


class BatchFirst(NamedTuple):
    """A node and its inputs with the batch before the other axes, and the value as the model has it."""

    node: OnnxNode
    inputs: list[Any]
    view: View
    lead: int
    """Number of axes of the value up to that of the batch."""

    def restored(self, result: Any) -> View:
        """The result with the batch where the node has it. Raises `NotSupported` for other results than values."""
        if not isinstance(result, View) or len(result.layout) < 2:
            raise NotSupported(f"the result is {described(result)}, and its batch axis is not the first one")
        (batch, other, *rest), before = result.layout, self.view.layout[: self.lead]
        axes = [tuple(one for part in _groups(axis) for one in (batch if part else other)) for axis in before]
        return replace(result, layout=(*axes, *rest))


def _groups(axis: Axis) -> list[bool]:
    """The parts of an axis: the batch, and others."""
    return [named for named, _ in groupby(axis, key=lambda atom: bool(atom.name))]


def batch_first(node: OnnxNode, inputs: Sequence[Any]) -> BatchFirst | None:
    """Inputs for an operator along the last axes of `[L, N, ...]` or `[L * N, ...]`, as `nn.MultiheadAttention` has it.

    None if the batch comes first, or a constant meets the axes before the last ones.
    """
    views = [value for value in inputs if isinstance(value, View)]
    norm = node.operator == "LayerNormalization"
    if len(views) != 1 or not (norm or node.operator in ELEMENTWISE):
        return None
    view, constants = views[0], [one.array.ndim for one in inputs if isinstance(one, ConstantValue)]
    count = next((at for at, axis in enumerate(view.layout, 1) if any(atom.name for atom in axis)), 0)
    atoms = atoms_of(view.layout[:count])
    left = 2 if node.operator in ("Gemm", "MatMul") and isinstance(inputs[0], View) else len(view.layout) - count
    fits = not norm or node.attributes.get("axis", -1) in (-1, len(view.layout) - 1)
    fits = (
        fits
        and len(constants) == len(inputs) - 1
        and all(rank <= left for rank in constants)
        and count < len(view.layout)
    )
    groups = [part for axis in view.layout[:count] for part in _groups(axis)]
    if not fits or groups not in ([False, True], [True, False]) or (count == 1 and groups[0]):
        return None
    batch, other = (tuple(atom for atom in atoms if bool(atom.name) is named) for named in (True, False))
    moved = replace(view, layout=(batch, other, *view.layout[count:]))
    if norm:
        node = replace(node, attributes={**node.attributes, "axis": -1})
    return BatchFirst(node, [moved if one is view else one for one in inputs], view, count)


def merge_batch_axis(result: Any, node: OnnxNode) -> View:
    """The result with the axes of the model. Raises `NotSupported` for other results than values."""
    if not isinstance(result, View):
        raise NotSupported(f"the result is {described(result)}, and its batch axis is merged with others")
    batch, *rest = result.layout
    place = ALONG_CHANNELS.get(node.operator, 1)
    additional = rest.pop(place - 1 if place > 0 else place)
    return replace(result, layout=((*batch, *additional), *rest))


def in_parts(step: OperatorContext, handler: Callable[..., Any], node: OnnxNode, inputs: Sequence[Any]) -> View | None:
    """A convolution or pool of images beside which the batch axis has others, one after the other; None for others."""
    view = inputs[0] if inputs else None
    if node.operator not in PARTS or not isinstance(view, View) or not _is_merged(view):
        return None
    others = view.layout[0][1:]
    count = size_of(others)
    if not isinstance(count, int) or count > MOST_PARTS or any(atom.name for atom in others):
        return None
    apart = cut(step, replace(view, layout=(view.layout[0][:1], others, *view.layout[1:])), 1, [1] * count)
    results = [
        step.view(handler(step, replace(part, layout=(part.layout[0], *part.layout[2:])), *inputs[1:]))
        for part in apart
    ]
    rows = [step.rows(replace(one, layout=(one.layout[0], (), *one.layout[1:]))) for one in results]
    made = step.layer("concat", *(one.value for one in rows), suffix="parts").outputs[0]
    found = step.made(made, rows[0])
    batch, additional, *rest = found.layout
    return replace(found, layout=((*batch, *additional), *rest))


def _recounted(node: OnnxNode, inputs: list[Any], rank: int, opset: int) -> tuple[OnnxNode, list[Any]] | None:
    """The node with its axes counted from the end, which the additional axis does not change."""
    operator = node.operator
    if operator in ELEMENTWISE or operator == "BatchNormalization":
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


def _with_sizes(node: OnnxNode, inputs: list[Any]) -> tuple[OnnxNode, list[Any]] | None:
    """The node with a size, or a number of pixels, for the additional axis, which is left as it is."""
    view, *constants = inputs
    given = [one.array for one in constants if isinstance(one, ConstantValue)]
    if not isinstance(view, View) or not given or len(given) < len(constants) - constants.count(None):
        return None
    rank, sizes = len(view.layout), given[0].reshape(-1).tolist()
    if node.operator == "Expand" and len(sizes) <= rank:
        sizes = [1, 1, *sizes[1:]] if len(sizes) == rank and sizes[0] in (1, view.shape[0]) else sizes
        return node, [view, ConstantValue(np.array(sizes, object if given[0].dtype.kind == "O" else np.int64))]
    if node.operator == "Pad" and len(sizes) == 2 * rank and len(inputs) < 4 and not sizes[0] and not sizes[rank]:
        inputs[1] = ConstantValue(np.array([0, *sizes[:rank], 0, *sizes[rank:]]))
        return node, inputs
    if node.operator == "Conv" and rank == given[0].ndim == 4:  # images with a depth, along which nothing is mixed
        filters = inputs[1]
        source = (*filters.source, "depth") if filters.source else ()
        inputs[1] = ConstantValue(filters.array[:, :, None], source)
        attributes = {name: [1, *value] if name in DEEP else value for name, value in node.attributes.items()}
        if pads := node.attributes.get("pads"):
            attributes["pads"] = [0, *pads[:2], 0, *pads[2:]]
        return replace(node, attributes=attributes), inputs
    return None


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
    place = ALONG_CHANNELS.get(node.operator, 1)
    rest.insert(len(rest) if place < 0 else place - 1, first[1:])
    return replace(view, layout=(first[:1], *rest))
