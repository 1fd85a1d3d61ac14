"""Constant folding of values that are the same for every sample: what one sample has, every sample has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .layers import NotSupported
from .model import OnnxNode
from .symbolic_values import Atom, ConstantValue, RepeatedConstant, atoms_of, axis_for

ELEMENTWISE = frozenset(
    {
        *("Abs", "Add", "And", "Cast", "Ceil", "Cos", "Div", "Equal", "Exp", "Floor", "Greater", "GreaterOrEqual"),
        *("Less", "LessOrEqual", "Log", "Max", "Min", "Mod", "Mul", "Neg", "Not", "Or", "Pow", "Reciprocal", "Relu"),
        *("Round", "Sign", "Sin", "Sqrt", "Sub", "Where"),
    }
)
ALONG_AXIS = frozenset({"Concat", "CumSum", "GatherElements", "LogSoftmax", "Slice", "Softmax"})
"""Operators along an axis, an attribute or a constant input."""


class Sample(NamedTuple):
    """A node for a single sample."""

    node: OnnxNode
    inputs: list[ConstantValue | None]
    batch: Atom
    place: int = 0
    """The axis of the batch."""


def sample_of(node: OnnxNode, inputs: Sequence[Any]) -> Sample | None:
    """The node with the numbers of one sample; None if it has other inputs, or mixes samples."""
    repeated = [one for one in inputs if isinstance(one, RepeatedConstant)]
    if not repeated or not all(one is None or isinstance(one, (ConstantValue, RepeatedConstant)) for one in inputs):
        return None
    rank, batch = len(repeated[0].layout), repeated[0].order[0]
    place = next(at for at, axis in enumerate(repeated[0].layout) if batch in axis)
    samples = [own for one in repeated if (own := _sample(one, place)) is not None]
    if len(samples) < len(repeated) or len({own.array.shape[place : place + 1] for own in samples}) > 1:
        return None
    if any(len(one.layout) != rank or one.shape[place] != repeated[0].shape[place] for one in repeated):
        return None
    rest = iter(samples)
    operands = [next(rest) if isinstance(one, RepeatedConstant) else one for one in inputs]
    sample = Sample(node, operands, batch, place)
    if node.operator in ELEMENTWISE:
        # The axis of a constant that meets the batch: with other sizes than 1 samples would differ.
        shapes = [(1,) * (rank - one.array.ndim) + one.array.shape for one in inputs if isinstance(one, ConstantValue)]
        return sample if all(len(shape) == rank and shape[place] == 1 for shape in shapes) else None
    if any(len(one.layout[place]) > 1 for one in repeated):
        return None
    if place and node.operator != "Slice":
        return None
    if node.operator == "Expand" and isinstance(inputs[0], RepeatedConstant) and isinstance(operands[1], ConstantValue):
        return _expanded(sample, rank)
    if node.operator == "Concat" and len(repeated) < len(inputs):
        return None
    if node.operator in ("Conv", "Gemm", "MatMul"):  # with the same weights for every sample
        weights, given = inputs[1], isinstance(inputs[0], RepeatedConstant) and not node.attributes.get("transA")
        fits = isinstance(weights, ConstantValue) and weights.array.ndim == (rank if node.operator == "Conv" else 2)
        return sample if rank > 1 and given and len(repeated) == 1 and fits else None
    if node.operator in ALONG_AXIS:
        return sample if isinstance(inputs[0], RepeatedConstant) and _inside(sample, rank) else None
    return None


def _sample(one: RepeatedConstant, place: int) -> ConstantValue | None:
    """The numbers of one sample, with the axes of the value: that of the batch may have others beside it."""
    batch = one.order[0]
    if one.layout[place : place + 1] == () or one.layout[place][:1] != (batch,):
        return None
    layout = tuple(axis[1:] if at == place else axis for at, axis in enumerate(one.layout))
    sample = replace(one, layout=((batch,), *layout)).sample()
    return None if sample is None else ConstantValue(sample.array[0], sample.source)


def _expanded(sample: Sample, rank: int) -> Sample | None:
    """The shape for one sample."""
    shape = sample.inputs[1]
    assert shape is not None
    sizes = list(shape.array.reshape(-1).tolist())
    if len(sizes) == rank:
        if sizes[0] not in (1, sample.batch.size):
            return None
        sizes[0] = 1
    if len(sizes) > rank or not all(isinstance(size, int) for size in sizes):
        return None
    return sample._replace(inputs=[sample.inputs[0], ConstantValue(np.array(sizes, np.int64))])


def _inside(sample: Sample, rank: int) -> bool:
    """Whether the axes of the operator are within a sample."""
    node = sample.node
    place = {"CumSum": 1, "Slice": 3}.get(node.operator)
    given = sample.inputs[place] if place is not None and len(sample.inputs) > place else None
    axes = [node.attributes.get("axis", 0)] if place is None else given.array.reshape(-1).tolist() if given else [0]
    return all(isinstance(axis, int) and axis % rank != sample.place for axis in axes)


def for_each_sample(result: ConstantValue, sample: Sample) -> RepeatedConstant:
    """The result of one sample, for every sample. Raises `NotSupported` if it has several."""
    place, node = sample.place, sample.node
    if result.array.ndim <= place:
        raise NotSupported(f"{node.operator} of constants that are repeated for each sample is not supported here")
    inside = [axis_for(size) for size in result.array.shape]
    layout = (*inside[:place], (sample.batch, *inside[place]), *inside[place + 1 :])
    return RepeatedConstant(layout, constant=result, order=(sample.batch, *atoms_of(tuple(inside))))
