"""Elementwise functions; identities: Dropout in the test phase, Cast between floats, Expand to the same shape."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, cast

import numpy as np

from .layers import NotSupported, weight
from .normalizations import squared
from .operators import OperatorContext, moved, needed, operator
from .selections import compare, is_value, negation, spread, together
from .shapes import filled_axes, repeated, repeated_axes
from .sizes import SymbolicSize
from .symbolic_values import (
    AttentionScores,
    ConstantValue,
    DynamicConstant,
    ElementIndices,
    EndPosition,
    ErrorFunction,
    IdArithmetic,
    IdMatch,
    Layout,
    Mask,
    Operand,
    PredictedClass,
    RepeatedConstant,
    SampleIndices,
    SequenceLengths,
    Statistic,
    StepPositions,
    SymbolicValue,
    View,
)

SIMPLE: dict[str, tuple[str, dict[str, tuple[str, Any]]]] = {
    **{name: (name.lower(), {}) for name in ("Abs", "Cos", "Exp", "Log", "Relu", "Sigmoid", "Sign", "Sin", "Softplus",
                                             "Softsign", "Tanh")},
    "Elu": ("elu", {"alpha": ("alpha", 1.0)}), "Gelu": ("gelu", {"approximate": ("approximate", "none")}),
    "HardSigmoid": ("hard_sigmoid", {"slope": ("alpha", 0.2), "offset": ("beta", 0.5)}),
    "LeakyRelu": ("relu", {"negative_slope": ("alpha", 0.01)}), "Swish": ("swish", {"beta": ("alpha", 1.0)}),
    "HardSwish": ("hard_swish", {}), "Round": ("round", {}),
    "Floor": ("round", {"mode": ("", "FLOOR")}), "Ceil": ("round", {"mode": ("", "CEIL")}),
}  # fmt: skip
"""The equivalent layers of functions; their attributes by those of the operators and their defaults."""


@operator(*SIMPLE)
def simple(step: OperatorContext, x: Any) -> Operand:
    """A function of each element."""
    type_, settings = SIMPLE[step.node.operator]
    given = {name: step.attribute(*attribute) for name, attribute in settings.items()}
    choices = {name: one.upper() for name, one in given.items() if isinstance(one, str)}
    return step.each(type_, step.view(x), **given | choices)


@operator("Selu")
def selu(step: OperatorContext, x: Any) -> Operand:
    """With the numbers that make it what it is."""
    numbers = step.attribute("alpha", 1.6732632), step.attribute("gamma", 1.0507010)
    near = math.isclose(numbers[0], 1.6732632, rel_tol=1e-5) and math.isclose(numbers[1], 1.0507010, rel_tol=1e-5)
    step.refuse_unless(near, f"`alpha` and `gamma` are {numbers}; `selu` has fixed values")
    return step.each("selu", step.view(x))


@operator("PRelu")
def prelu(step: OperatorContext, x: Any, slope: Any) -> Operand:
    """A rectifier with learned slopes along neighboring axes, or one for all."""
    rows = step.rows(step.view(x))
    given, dims = step.numbers(slope, "slope"), rows.value.dims or (1,)
    shape = ([1] * len(dims) + list(given.array.shape))[-len(dims) :]
    own = [axis for axis, size in enumerate(shape, 1) if size != 1] or [1]
    first, last, shared = own[0], own[-1], given.array.size == 1
    fits = math.prod(shape) == given.array.size and shape[first - 1 : last] == list(dims[first - 1 : last])
    step.refuse_unless(shared or fits, "slopes must be constant across samples and vary along adjacent axes only")
    where: dict[str, Any] = {"axis": first, "end_axis": last} if not shared and last > 1 else {}
    if first == last:
        where.pop("end_axis", None)
    weights = {"slope": weight(given.array.reshape(-1), given.source)}
    made = step.layer("prelu", rows.value, weights=weights, channel_shared=shared or None, **where)
    return step.made(made.outputs[0], rows)


@operator("Clip")
def clip(step: OperatorContext, x: Any, least: Any = None, most: Any = None) -> Operand:
    """Within limits; from 0 to 6 it is `relu6`."""
    low, high = (
        step.attribute(name) if given is None else step.numbers(given, f"`{name}`").number
        for name, given in (("min", least), ("max", most))
    )
    if isinstance(x, SequenceLengths):
        step.refuse_unless(high is None and (low is None or low <= 1), "limits of sequence lengths are not supported")
        return x  # no sequence is empty
    # Exporters write the limits of float32 for an absent one.
    low, high = (None if one is None or abs(one) > 3.4e38 else one for one in (low, high))
    view = step.view(x)
    if low == 0 and high is not None and high > 0:
        return step.each("relu6", view, max=high)
    if low is None and high is None:
        return view
    if low == 0 and high is None:
        return step.each("relu", view)
    return step.each("clip", view, min=low, max=high)


@operator("Erf")
def erf(step: OperatorContext, x: Any) -> Operand:
    """The error function; of a value over the root of 2 it may be a part of `gelu`."""
    view = step.view(x)
    if not math.isclose(view.factor, math.sqrt(0.5), rel_tol=1e-4):
        return step.each("erf", view)
    return ErrorFunction(view.layout, view=replace(view, factor=1.0))


@operator("Erfc")
def erfc(step: OperatorContext, x: Any) -> Operand:
    """1 minus the error function: no operator of ONNX, but tf2onnx leaves it where Keras has `gelu`."""
    view = step.view(x)
    found = erf(step, replace(view, factor=-view.factor))
    if isinstance(found, ErrorFunction):
        return replace(found, added=1.0)
    return step.each("slope_intercept", step.view(found), intercept=1.0)


@operator("Sqrt")
def sqrt(step: OperatorContext, x: Any) -> Operand:
    """A root; that of a variance is a deviation."""
    if isinstance(x, Statistic) and x.kind == "variance":
        return replace(x, kind="deviation")
    if isinstance(x, Statistic) and x.kind == "mean" and squared(x.view) is not None:
        return replace(x, kind="root")
    if isinstance(x, SequenceLengths):
        return replace(x, power=x.power / 2)
    return step.each("power", step.view(x), power=0.5)


@operator("Reciprocal")
def reciprocal(step: OperatorContext, x: Any) -> Operand:
    """One over it."""
    if isinstance(x, Statistic) and x.kind == "deviation":
        return replace(x, kind="inverse deviation")
    if isinstance(x, Statistic) and x.kind == "root":
        return replace(x, kind="inverse root")
    return step.each("power", step.view(x), power=-1.0)


@operator("Neg")
def neg(step: OperatorContext, x: Any) -> Operand:
    """The other sign."""
    if isinstance(x, Statistic) and x.kind == "mean":
        return replace(x, kind="negated mean")
    view = step.view(x)
    step.refuse_unless(is_value(view), "arithmetic with ids is not supported")
    return replace(view, factor=-view.factor)


@operator("Pow", constants=True)
def power(step: OperatorContext, x: Any, exponent: Any) -> Operand:
    """A constant power."""
    whole_ = isinstance(exponent, ConstantValue) and exponent.number is not None and exponent.number in range(100)
    step.refuse_unless(step.kinds[0] != "i" or whole_, "powers of integers must be integers of at least 0")
    if isinstance(x, ConstantValue) and isinstance(exponent, View) and x.number is not None and x.number > 0:
        scale = None if exponent.factor == 1.0 else exponent.factor
        return step.each("exp", replace(exponent, factor=1.0), base=x.number, scale=scale)
    number = step.numbers(exponent, "exponent").number
    step.refuse_unless(number is not None, "only a scalar exponent is supported")
    if isinstance(x, Statistic) and x.kind == "centred" and number == 2:
        return replace(x, kind="square")
    if isinstance(x, Statistic) and x.kind == "variance" and number in (0.5, -0.5):
        return replace(x, kind="deviation" if number == 0.5 else "inverse deviation")
    if isinstance(x, Statistic) and x.kind == "mean" and number in (0.5, -0.5) and squared(x.view) is not None:
        return replace(x, kind="root" if number == 0.5 else "inverse root")
    return step.each("power", step.view(x), power=number)


@operator("Min", "Max", constants=True)
def extreme(step: OperatorContext, x: Any, *others: Any) -> Operand:
    """The smallest or the largest of values of one shape, or a limit."""
    for one, other in ((x, others[0] if others else None), (others[0] if others else None, x)):
        if (
            isinstance(one, (StepPositions, SequenceLengths, EndPosition))
            and isinstance(other, ConstantValue)
            and len(others) == 1
        ):
            return _limited(step, one, other, least=step.node.operator == "Min")
    if len(others) == 1 and any(isinstance(one, SampleIndices) for one in (x, *others)):
        first, second = (x, others[0]) if isinstance(x, SampleIndices) else (others[0], x)
        wide = spread(first, second.array.shape if isinstance(second, ConstantValue) else second.shape)
        return ElementIndices(needed(wide, "indices of samples cannot be broadcast to this shape"))
    least = step.node.operator == "Min"
    given = [one for one in (x, *others) if isinstance(one, ConstantValue)]
    if given and len(others) == 1:
        number = given[0].number
        step.refuse_unless(number is not None, "only a scalar limit is supported")
        view = step.view(x if isinstance(others[0], ConstantValue) else others[0])
        if not least and number == 0:
            return step.each("relu", view)
        return step.each("clip", view, **{"max" if least else "min": number})
    rows, values = together(step, x, *others)
    made = step.layer("eltwise", *values, operation="MIN" if least else "MAX")
    return step.made(made.outputs[0], rows)


def _limited(step: OperatorContext, one: Any, limit: ConstantValue, *, least: bool) -> Operand:
    """Positions and lengths within limits that they have anyway: no sequence is empty, or longer than the batch."""
    number = limit.number
    if least and number is not None and number >= 0 and isinstance(one, StepPositions):
        return replace(one, most=int(number))
    own = 1 if isinstance(one, SequenceLengths) else 0
    fits = limit.array.dtype.kind == "O" if least or number is None else number <= own
    step.refuse_unless(fits, f"the limit {number} of positions or lengths of sequences is not supported")
    return cast(Operand, one)


@operator("Softmax", "LogSoftmax")
def softmax(step: OperatorContext, x: Any) -> Operand:
    """Over an axis; before opset 13 over all axes from `axis` on. Of attention scores over the keys."""
    rank = len(x.layout)
    # The default changed from 1 to -1 in opset 13, together with the meaning: before, all axes from `axis` on were one.
    axis = step.axis(step.attribute("axis", -1 if step.opset >= 13 else 1), rank)
    axes = range(axis, rank if step.opset < 13 else axis + 1)
    log = step.node.operator == "LogSoftmax"
    if isinstance(x, AttentionScores) and not log:
        step.refuse_unless(
            list(axes) == [rank - 1] and not x.soft, "softmax of attention scores must be over the keys, the last axis"
        )
        step.refuse_unless(not x.zeroed, "masked attention scores are 0 instead of a large negative value")
        return replace(x, soft=True)
    view = step.view(x)
    used = [place for place in axes if view.layout[place]] or [axis]
    names = {atom.name for place in used for atom in view.layout[place]}
    step.refuse_unless("N" not in names, "softmax along the batch axis is not supported")
    if "T" in names:
        alone = len(used) == 1 and len(view.layout[used[0]]) == 1
        step.refuse_unless(alone and not log, "along the time axis, only Softmax over that single axis is supported")
        return step.each("sequence_softmax", view)
    return _softmax_of_rows(step, view, used, "log_softmax" if log else "softmax")


def _softmax_of_rows(step: OperatorContext, view: View, used: list[int], type_: str) -> Operand:
    """Over axes of a row; several ones are joined to a single axis, and taken apart again."""
    rows = step.rows(view)
    if len(used) == 1:
        made = step.layer(type_, rows.value, axis=step.axis_of_row(used[0], rows))
        return step.made(made.outputs[0], rows)
    dims, first = rows.value.dims, used[0] - len(rows.lead)
    joined = step.layer("reshape", rows.value, dims=[*dims[:first], math.prod(dims[first:])], suffix="joined")
    made = step.layer(type_, joined.outputs[0], axis=first + 1 if first else None)
    apart = step.layer("reshape", made.outputs[0], dims=list(dims), suffix="shape")
    return step.made(apart.outputs[0], rows)


@operator("Not")
def negated(step: OperatorContext, x: Any) -> Operand:
    """The opposite of what is known."""
    if is_value(x):
        return negation(step, x)
    if isinstance(x, (Mask, IdMatch)):
        return replace(x, turned=not x.turned)
    if not isinstance(x, DynamicConstant):
        raise NotSupported("booleans are only supported in masks")
    return replace(x, number=not x.number)


@operator("ArrayFeatureExtractor", "ZipMap", "LabelEncoder", domain="ai.onnx.ml", constants=True)
def label(step: OperatorContext, x: Any, y: Any = None) -> Operand:
    """Names of classes; ZipMap puts them beside the scores."""
    if step.node.operator == "ZipMap":
        return step.view(x)
    columns = step.node.operator == "ArrayFeatureExtractor" and isinstance(x, View)
    step.refuse_unless(not columns, "selecting columns is only supported for class labels")
    values = [one for one in (y, x) if isinstance(one, SymbolicValue)]
    step.refuse_unless(values, "inputs are constants, expected the output of a layer")
    return PredictedClass(values[0].layout)


@operator("Identity", "Dropout", "Cast", "CastLike", "Expand", constants=True)
def same(step: OperatorContext, x: Any, *more: Any) -> Any:
    """Identity: Dropout in the test phase; a Cast, since floats are float32; an Expand to its shape."""
    if step.node.operator == "Expand" and isinstance(x, (ConstantValue, DynamicConstant)):
        size: Any = x.array.reshape(-1)[0] if isinstance(x, ConstantValue) and x.array.size == 1 else None
        if isinstance(size, SymbolicSize):
            return DynamicConstant(filled_axes(step, step.integers(more[0], "shape")), size)
        if isinstance(x, DynamicConstant):
            return DynamicConstant(filled_axes(step, step.integers(more[0], "shape")), x.number)
        number = step.numbers(x, "input").number
        if number is None or not step.steps:
            return repeated(step, x, step.integers(more[0], "shape"))
        return DynamicConstant(filled_axes(step, step.integers(more[0], "shape")), number)
    if step.node.operator == "Expand" and isinstance(x, SymbolicValue):
        shape = step.integers(more[0], "shape")
        if isinstance(x, SampleIndices) and (wide := spread(x, shape)):
            return replace(x, layout=wide)
        whole = [*([1] * (len(shape) - len(x.layout))), *x.shape]
        fits = all(size in (1, own) for size, own in zip(shape, whole[len(whole) - len(shape) :], strict=True))
        if not fits and isinstance(x, (AttentionScores, ErrorFunction, Statistic)):
            x = step.view(x)
        missing: Layout = ((),) * max(len(shape) - len(x.layout), 0)
        found = moved(x, (*missing, *x.layout))
        # Exporters also write an Expand that changes nothing, with a shape that is computed.
        if fits or not isinstance(found, (RepeatedConstant, View)):
            return found
        if not isinstance(found, View):
            raise NotSupported("expanding a repeated constant along these axes is not supported")
        sizes = [1] * (len(whole) - len(shape)) + shape
        pairs = list(zip(sizes, whole, strict=True))
        step.refuse_unless(
            all(size in (1, own) or (own == 1 and isinstance(size, int)) for size, own in pairs),
            "broadcasting by Expand to a size of the batch is not supported",
        )
        return repeated_axes(step, found, [1 if size in (1, own) else size for size, own in pairs])
    # Since opset 12, training is an input of the node instead of a mode of the model.
    if step.node.operator == "Dropout" and len(more) > 1 and more[1] is not None:
        training = more[1].number if isinstance(more[1], ConstantValue) else None
        step.refuse_unless(training == 0, "dropout at inference (`training_mode`) is not supported")
    if "Cast" in step.node.operator:
        return _cast(step, x, more[0] if more else None)
    return x


REAL, WHOLE, BOOLEAN = (1, 10, 11, 16), (6, 7, 12, 13), 9
"""ONNX data types: floats, integers that hold ids, and Booleans."""


def _cast(step: OperatorContext, x: Any, like: Any) -> Any:
    """Floats are float32 here, whatever their precision in the model; they are not made integers."""
    to = step.attribute("to")
    if like is not None:
        to = {"i": WHOLE[0], "u": WHOLE[0], "b": BOOLEAN}.get(step.kinds[1], REAL[0])
    if to not in REAL and isinstance(x, (AttentionScores, ErrorFunction, Statistic)):
        x = step.view(x)
    if not isinstance(x, View):
        return x
    if to == BOOLEAN and is_value(x) and step.kinds[0] != "b":
        return compare(step, "NOT_EQUAL", x, ConstantValue(np.zeros((), np.float32)))
    if x.value.type.kind == "INT" and x.value.dims:
        return x if to in WHOLE else step.view(x)
    if x.value.type.kind == "INT":
        return x if to in WHOLE else _mask_of(step, x)
    if step.kinds[0] in ("i", "b"):
        step.refuse_unless(step.kinds[0] == "b" or to in REAL + WHOLE, "casting to short integers is not supported")
        return x
    layer = x.value.layer
    # Indices are floats here and integers in ONNX, so their cast is the identity; any other one would round.
    integers = layer.type == "arg_max" or (layer.type == "top_k" and x.value.place == 1)
    step.refuse_unless(
        to in REAL or (integers and to in WHOLE), "casting floats to integers or booleans is not supported"
    )
    return x


def _mask_of(step: OperatorContext, x: View) -> Operand:
    """Integers per row of sequences that are cast to floats or booleans are a padding mask."""
    if x.value.layer.type != "data" or x.value.level != 1 or x.value.layer.attributes.get("size"):
        return IdArithmetic(x.layout)
    # The input is removed: sequences are not padded here.
    step.known[x.value.layer] = "mask"
    return Mask(x.layout)
