"""Arithmetic: sums, products, differences and quotients of values, constants and partial patterns."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from .fusion_patterns import layer_norm_of, part_of_product, part_of_sum, rms_norm_of, same
from .layers import NotSupported, Weight, weight
from .operators import OperatorContext, memory_order, operator, reordered, restored
from .selections import as_constant, indices_of_samples, is_value, together
from .sequence_rows import part_of_grid
from .shapes import repeated_axes
from .sizes import whole
from .symbolic_values import (
    AttentionScores,
    ConstantValue,
    EndPosition,
    ErrorFunction,
    Mask,
    Operand,
    PositionGrid,
    RepeatedConstant,
    SampleIndices,
    SequenceLengths,
    Statistic,
    View,
    atoms_of,
    of_one_batch,
    reshaped,
    size_of,
)

Pair = tuple[Any, Any]


@operator("Add", "Sum", constants=True)
def add(step: OperatorContext, x: Any, *others: Any) -> Operand:
    """A sum."""
    if len(others) > 1:
        return _sum_of_all(step, x, *others)
    if not others:
        return step.view(x)
    # Exporters write the operands in either order.
    for one, other in ((x, others[0]), (others[0], x)):
        found = part_of_sum(step, one, other)
        if found is not None:
            return found
    return _combined(step, "add", x, others[0])


@operator("Mean", constants=True)
def mean(step: OperatorContext, *given: Any) -> Operand:
    """The mean of values."""
    total = step.view(add(step, *given))
    return replace(total, factor=total.factor / len(given))


@operator("Sub", constants=True)
def sub(step: OperatorContext, x: Any, y: Any) -> Operand:
    """A difference."""
    if isinstance(x, View) and isinstance(y, Statistic) and y.kind == "mean" and same(x, y.view):
        return replace(y, kind="centred", layout=x.layout)
    if isinstance(x, SequenceLengths) and isinstance(y, ConstantValue) and y.number == 1:
        return EndPosition(x.layout)
    if isinstance(x, ConstantValue) and x.number == 1 and isinstance(y, Mask):
        return replace(y, turned=not y.turned)
    if isinstance(x, PositionGrid) and isinstance(y, PositionGrid) and (x.part, y.part) == ("key", "row"):
        return replace(x, part="causal")
    return _combined(step, "sub", x, y)


@operator("Mul", constants=True)
def mul(step: OperatorContext, x: Any, y: Any) -> Operand:
    """A product."""
    for one, other in ((x, y), (y, x)):
        found = part_of_product(step, one, other)
        if found is not None:
            return found
    return _combined(step, "mul", x, y)


@operator("Div", constants=True)
def div(step: OperatorContext, x: Any, y: Any) -> Operand:
    """A quotient."""
    number = y.number if isinstance(y, ConstantValue) else None
    if isinstance(x, PositionGrid):
        return part_of_grid(step, x, y, "row")
    if isinstance(x, AttentionScores) and number and not x.soft:
        return replace(x, factor=x.factor / number)
    if isinstance(x, ErrorFunction) and number:
        return replace(x, factor=x.factor / number)
    if isinstance(x, Statistic) and isinstance(y, Statistic) and (x.kind, y.kind) == ("centred", "deviation"):
        return layer_norm_of(step, x, y) or _combined(step, "div", x, y)
    if isinstance(x, ConstantValue) and x.number == 1 and isinstance(y, Statistic) and y.kind in ("deviation", "root"):
        return replace(y, kind=f"inverse {y.kind}")
    if isinstance(x, View) and isinstance(y, Statistic) and y.kind == "root":
        return rms_norm_of(step, x, y) or _combined(step, "div", x, y)
    if isinstance(x, View) and isinstance(y, SequenceLengths) and x.value.layer.type == "seq_avg_pool":
        names = {1.0: "AVERAGE", 0.5: "SQUARE_ROOT"}
        layer = x.value.layer
        if layer.attributes.get("strategy") == "SUM" and y.power in names:
            made = step.again(layer, {}, strategy=names[y.power])
            return replace(x, value=made.outputs[0])
    return _combined(step, "div", x, y)


@operator("Mod", constants=True)
def mod(step: OperatorContext, x: Any, y: Any) -> Operand:
    """A remainder; of places in a grid, that of the key."""
    if isinstance(x, PositionGrid):
        return part_of_grid(step, x, y, "key")
    rounding = "TRUNCATE" if step.attribute("fmod", 0) else None
    number = y.number if isinstance(y, ConstantValue) else None
    if number:
        return step.each("mod", step.view(x), value=number, rounding=rounding)
    rows, values = together(step, x, y)
    return step.made(step.layer("mod", *values, rounding=rounding).outputs[0], rows)


# ---- with constants


def _combined(step: OperatorContext, type_: str, x: Any, y: Any) -> Operand:
    # The same numbers for every sample need not be repeated: they are broadcast.
    for one, other in ((x, y), (y, x)):
        if isinstance(one, SampleIndices) and (type_ in ("add", "mul") or (type_ == "sub" and one is x)):
            return indices_of_samples(step, type_, one, other)
    repeated = [isinstance(one, RepeatedConstant) or not step.steps for one in (x, y)]
    x, y = (step.settled(as_constant(one) if same else one) for one, same in zip((x, y), repeated, strict=True))
    if isinstance(y, ConstantValue) and isinstance(x, View):
        return _constant(step, type_, x, step.numbers(y, "second input"))
    if isinstance(x, ConstantValue) and isinstance(y, View):
        return _constant_first(step, type_, step.numbers(x, "first input"), y)
    if isinstance(x, View) and isinstance(y, View):
        return _two(step, type_, x, y)
    step.view(x, "first input")
    return step.view(y, "second input")  # reports the one that is not a view


def _constant_first(step: OperatorContext, type_: str, x: ConstantValue, y: View) -> Operand:
    if type_ in ("add", "mul"):
        return _constant(step, type_, y, x)
    if type_ == "sub":
        # A factor of a value costs nothing until a layer reads it: it may be absorbed by attention, a norm or another
        # factor.
        turned = replace(y, factor=-y.factor)
        return _constant(step, "add", turned, x) if x.number is None else _number(step, "add", turned, x.number)
    number = x.number
    if number is None:
        raise NotSupported("dividing a tensor constant by a value is not supported")
    return replace(step.each("power", y, power=-1.0), factor=number)


def _constant(step: OperatorContext, type_: str, x: View, y: ConstantValue) -> Operand:
    array, number = y.array.astype(np.float64), y.number
    if type_ in ("sub", "div"):
        step.refuse_unless(type_ == "sub" or array.all(), "division by a constant that contains 0")
        array, type_ = (-array, "add") if type_ == "sub" else (1 / array, "mul")
        number = None if number is None else float(array.reshape(-1)[0])
        y = ConstantValue(array, (*y.source, "turned") if y.source else ())
    step.refuse_unless(y.array.ndim <= len(x.layout), "the constant has more axes than the value")
    # A single trained value is a parameter of the model and must stay one; a constant of the graph becomes an
    # attribute.
    if number is not None and not (y.source and x.inside == () and type_ == "add"):
        return _number(step, type_, x, number)
    return _vector(step, type_, x, ConstantValue(array, y.source))


def _number(step: OperatorContext, type_: str, x: View, number: float) -> Operand:
    if type_ == "mul":
        step.refuse_unless(is_value(x) or number == 1, "arithmetic with ids is not supported")
        return replace(x, factor=x.factor * number, scaled_by=step.node.place)
    if number == 0:
        return x
    slope = None if x.factor == 1.0 else x.factor
    made = step.layer("slope_intercept", x.value, slope=slope, intercept=number)
    return replace(x, value=made.outputs[0], factor=1.0)


def _vector(step: OperatorContext, type_: str, x: View, y: ConstantValue) -> Operand:
    """Numbers for the channels, for the places of a sequence, or for every number of a row."""
    x = step.plain(x)
    shape = (1,) * (len(x.layout) - y.array.ndim) + y.array.shape
    array = _same_for_samples(x, y.array.reshape(shape))
    shape = array.shape
    used = [place for place, size in enumerate(shape) if size != 1]
    counts = [shape[place] if place in used and axis == () else 1 for place, axis in enumerate(x.layout)]
    if any(count != 1 for count in counts):  # it is the value that is broadcast
        x = repeated_axes(step, x, counts)
    for place in used:
        fits = shape[place] == size_of(x.layout[place])
        step.refuse_unless(
            fits, f"cannot broadcast a constant of size {shape[place]} to an axis of size {size_of(x.layout[place])}"
        )
    named = {atom.name for place in used for atom in x.layout[place]}
    # The batch size of the import is not that of later batches.
    step.refuse_unless("N" not in named, "a different constant per sample is not supported")
    if "T" in named:
        return _places(step, type_, x, array, y.source)
    found = x.value
    # A MatMul and an Add are a fully connected layer with a bias: separate layers would change names and parameters.
    if atoms_of(tuple(x.layout[place] for place in used)) == _of_parameters(x):
        joined = _joined(step, type_, found, weight(array.reshape(-1), y.source))
        if joined is not None:
            return replace(x, value=joined)
    outer = _outer(x)
    if len(used) == 1 and x.layout[used[0]] == outer and outer:
        return replace(x, value=_channels(step, type_, found, weight(array.reshape(-1), y.source)))
    # Before it is broadcast: a small constant may have a huge shape.
    step.budget.check(math.prod(whole(atom.size) for atom in x.inside))
    numbers = weight(_in_order(x, array), y.source)
    if len(found.dims) == 1:
        joined = _joined(step, type_, found, numbers)
        return replace(x, value=_channels(step, type_, found, numbers) if joined is None else joined)
    found = step.layer("flatten", found, suffix="flat").outputs[0]
    return replace(x, value=_channels(step, type_, found, numbers))


def _same_for_samples(x: View, array: Any) -> Any:
    """Constants of a model of fixed batch size without the batch axis, if they are the same for every sample."""
    for place, axis in enumerate(x.layout):
        if [atom.name for atom in axis] == ["N"] and array.shape[place] == size_of(axis):
            first = array.take([0], place)
            array = first if (array == first).all() else array
    return array


def _of_parameters(x: View) -> tuple[Any, ...]:
    """The atoms for which the layer before has a number each in its bias or its gain."""
    layer = x.value.layer
    if layer.type not in ("fc", "layer_norm", "rms_norm"):
        return _outer(x)
    axis = layer.attributes.get("axis", 1)
    left = math.prod(x.value.dims[axis - 1 if axis > 0 else axis :])
    places = range(len(x.inside))
    return next((x.inside[place:] for place in places if size_of(x.inside[place:]) == left), ())


def _outer(x: View) -> tuple[Any, ...]:
    """The atoms of the axis of channels."""
    found, size = [], 1
    wanted = x.value.dims[0] if x.value.dims else 0
    for atom in x.inside:
        if size == wanted:
            break
        found.append(atom)
        size *= whole(atom.size)
    return tuple(found) if size == wanted else ()


def _in_order(x: View, array: Any) -> Any:
    """A constant as one value per element of a row, in the order of the elements."""
    sizes = {atom: whole(atom.size) for atom in x.inside}
    shape: list[int] = []
    for place, axis in enumerate(x.layout):
        shape += [sizes[atom] if array.shape[place] != 1 else 1 for atom in axis if atom in sizes]
    atoms = [atom for atom in atoms_of(x.layout) if atom in sizes]
    parts = array.reshape(shape).transpose([atoms.index(atom) for atom in x.inside])
    return np.broadcast_to(parts, [sizes[atom] for atom in x.inside]).reshape(-1)


def _places(step: OperatorContext, type_: str, x: View, array: Any, source: tuple[str, ...]) -> Operand:
    """A row of a table for each place."""
    step.refuse_unless(type_ == "add", "multiplication by a different constant per time step is not supported")
    rows = step.rows(x, 1)
    steps = [place for place, axis in enumerate(x.layout) if [atom.name for atom in axis] == ["T"]]
    step.refuse_unless(len(steps) == 1, "the time axis is merged with the batch axis")
    count = array.shape[steps[0]]
    table = np.broadcast_to(np.moveaxis(array, steps[0], 0).reshape(count, -1), (count, rows.value.dims[0]))
    weights = {"table": weight(table, source)}
    made = step.layer("position_embedding", rows.value, weights=weights, max_length=count)
    return step.made(made.outputs[0], rows)


def _joined(step: OperatorContext, type_: str, value: Any, numbers: Weight) -> Any:
    """The layer before with a bias or a gain, where it has none yet."""
    layer = value.layer
    grown = {("fc", "add"): "bias", ("conv", "add"): "bias", ("scale", "add"): "bias", ("layer_norm", "add"): "bias"}
    name = grown.get((layer.type, type_))
    if name and layer.attributes.get("bias") is False and "act" not in layer.attributes:
        # A copy: the layer without its bias may have other readers.
        made = step.again(layer, {"bias": numbers}, bias=True)
        return made.outputs[value.place]
    bare = not layer.weights.keys() & {"gain", "bias"}
    if layer.type in ("layer_norm", "rms_norm") and type_ == "mul" and bare:
        return step.again(layer, {"gain": numbers}).outputs[value.place]
    return None


def _channels(step: OperatorContext, type_: str, value: Any, numbers: Weight) -> Any:
    """A per-channel constant, applied by a layer."""
    if type_ == "mul":
        return step.layer("scale", value, weights={"gain": numbers}, bias=False).outputs[0]
    return step.layer("shift", value, weights={"offset": numbers}).outputs[0]


# ---- of two values


def _two(step: OperatorContext, type_: str, x: View, y: View) -> Operand:
    x, y = (step.plain(one) for one in of_one_batch(x, y))
    rank = max(len(x.layout), len(y.layout))
    x, y = (replace(one, layout=(((),) * (rank - len(one.layout)) + one.layout)) for one in (x, y))
    pair = _aligned(x, y)
    if pair is not None:
        made = _same_shape(step, type_, pair[0].value, pair[1].value)
        return replace(pair[0], value=made)
    order = memory_order(x if _smaller(y, x) else y)
    if x.shape == y.shape:
        one, other = (step.rows(reordered(value, order)) for value in (x, y))
        step.refuse_unless(one.lead == other.lead, "inputs have different batch or time axes")
        return restored(step.made(_same_shape(step, type_, one.value, other.value), one), order)
    return restored(step.view(_broadcast(step, type_, reordered(x, order), reordered(y, order))), order)


def _aligned(one: View, other: View) -> tuple[View, View] | None:
    """Both with the same atoms, if their elements are in the same order."""
    if one.shape != other.shape or len(one.layout) != len(other.layout):
        return None
    if one.value.dims != other.value.dims or one.value.level != other.value.level:
        return None
    shape = list(one.shape)
    first = reshaped(one, [atom.size for atom in atoms_of(other.layout)])
    second = None if first is None else reshaped(other, [atom.size for atom in atoms_of(first.layout)])
    if first is None or second is None:
        return None
    pairs = dict(zip(atoms_of(first.layout), atoms_of(second.layout), strict=True))
    if [pairs.get(atom) for atom in first.order] != list(second.order):
        return None
    if any(a.name != b.name for a, b in pairs.items()):
        return None
    found = reshaped(first, shape), reshaped(second, shape)
    return None if found[0] is None or found[1] is None else (found[0], found[1])


def _same_shape(step: OperatorContext, type_: str, x: Any, y: Any) -> Any:
    if x.dims or type_ == "add":
        return step.layer("addto" if type_ == "add" else type_, x, y).outputs[0]
    x, y = (step.layer("reshape", one, dims=[1], suffix="column").outputs[0] for one in (x, y))
    return step.layer("reshape", step.layer(type_, x, y).outputs[0], dims=[], suffix="scalar").outputs[0]


def _broadcast(step: OperatorContext, type_: str, x: View, y: View) -> Operand:
    """Broadcasting: one of the values has axes of size 1."""
    if _smaller(x, y) and type_ in ("add", "mul"):
        x, y = y, x
    if not _smaller(y, x):
        fits = all(b in (a, 1) or (a == 1 and isinstance(b, int)) for a, b in zip(x.shape, y.shape, strict=True))
        step.refuse_unless(fits, f"cannot broadcast shapes {x.shape} and {y.shape}")
        counts = [b if a == 1 and isinstance(b, int) else 1 for a, b in zip(x.shape, y.shape, strict=True)]
        return _two(step, type_, repeated_axes(step, x, counts), y)
    step.refuse_unless(set(y.rows) == set(x.rows), "an input without a batch or time axis is not supported")
    rows = step.rows(x)
    count = len(rows.lead)
    step.refuse_unless(y.layout[:count] == rows.lead, "inputs have different batch or time axes")
    own = [size_of(axis) for axis in y.layout[count:]]
    dims = [size_of(axis) for axis in x.layout[count:]]
    channel = own[:1] == dims[:1] and all(size == 1 for size in own[1:])
    points = own[0] == 1 and own[1:] == dims[1:] if own else False
    single = all(size == 1 for size in own)
    if atoms_of(y.layout[count:]) != y.inside or not (channel or points or single):
        # The layers broadcast along channels or pixels; along other axes the smaller value is repeated.
        times = [size if one == 1 else 1 for one, size in zip(own, dims, strict=True)]
        return _two(step, type_, x, repeated_axes(step, y, [1] * count + times))
    value = y.value
    wanted = tuple(own[:1] if channel or single else own)
    if value.dims != wanted and value.dims != tuple(own):
        value = step.layer("reshape", value, dims=[whole(one) for one in wanted], suffix="shape").outputs[0]
    made = step.layer(type_, rows.value, value)
    return step.made(made.outputs[0], rows)


def _smaller(x: View, y: View) -> bool:
    return all(a in (b, 1) for a, b in zip(x.shape, y.shape, strict=True))


def _sum_of_all(step: OperatorContext, *given: Any) -> Operand:
    constants = [one for one in given if isinstance(one, ConstantValue)]
    rows = [step.rows(step.view(one)) for one in given if not isinstance(one, ConstantValue)]
    step.refuse_unless(len({(one.lead, one.value.dims) for one in rows}) == 1, "inputs must have the same shape")
    made = step.layer("addto", *(one.value for one in rows))
    found: Operand = step.made(made.outputs[0], rows[0])
    for one in constants:
        found = _combined(step, "add", found, one)
    return found
