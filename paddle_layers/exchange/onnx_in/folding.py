"""Constant folding in NumPy, within a memory limit; shapes may contain sizes of the batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .layers import NotSupported
from .model import Model, OnnxNode
from .reading import KINDS
from .reference import OPERATORS as REFERENCE
from .reference import folded_by_reference
from .sizes import NoSize
from .symbolic_values import ConstantValue

BASE, SHARE = 1 << 27, 8
"""Memory budget in bytes for any file, and as a multiple of its constants.

128 MiB hold a causal mask of 4,096 tokens; the multiple is enough to cast, transpose and reorder each weight once.
"""
WIDEST = 8
"""Bytes of the widest data type."""
Array = NDArray[Any]
Fold = Callable[..., Any]
MOST_AXES = 16
_SAME = frozenset({"Identity", "Cast", "Transpose", "Reshape", "Squeeze", "Unsqueeze", "Flatten"})
"""Operators that preserve the values of a parameter."""
_BROADCAST: dict[str, Fold] = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Equal": np.equal, "Less": np.less,
    "LessOrEqual": np.less_equal, "Greater": np.greater, "GreaterOrEqual": np.greater_equal, "And": np.logical_and,
    "Or": np.logical_or, "Min": np.minimum, "Max": np.maximum, "Where": np.where,
}  # fmt: skip
_EACH: dict[str, Fold] = {
    "Identity": np.asarray, "Neg": np.negative, "Sqrt": np.sqrt, "Exp": np.exp, "Log": np.log, "Abs": np.abs,
    "Not": np.logical_not, "Floor": np.floor, "Ceil": np.ceil, "Reciprocal": np.reciprocal, "Sin": np.sin,
    "Cos": np.cos, "Tanh": np.tanh,
}  # fmt: skip


class Budget:
    """Bytes left to one file, for results of constant folding and for parameters of layers together."""

    def __init__(self, model: Model) -> None:
        attributes = (value for node in model.nodes for value in node.attributes.values())
        arrays: list[Any] = [*model.constants.values(), *(one for one in attributes if isinstance(one, np.ndarray))]
        # A few bytes of ConstantOfShape, Tile or Expand can ask for terabytes. The file size bounds what a legitimate
        # model needs.
        self.left = BASE + SHARE * sum(array.nbytes for array in arrays)

    def check(self, count: int) -> None:
        """Refuse numbers before they are computed. Raises `NotSupported`."""
        if count * WIDEST > self.left:
            raise NotSupported(f"a constant of {count} values exceeds the memory limit for a file of this size")

    def spend(self, size: int) -> None:
        """Count bytes that are in use. Raises `NotSupported` where none are left."""
        self.left -= size
        if self.left < 0:
            raise NotSupported("the constants exceed the memory limit for a file of this size")


def folded(
    node: OnnxNode, inputs: Sequence[ConstantValue | None], opset: int, budget: Budget
) -> list[ConstantValue] | None:
    """The folded result of a node of constants; None if it has none. Raises `NotSupported` beyond the budget."""
    fold = _FOLDS.get(node.operator)
    arrays = [None if one is None else one.array for one in inputs]
    if node.domain or any(one is not None and one.ndim > MOST_AXES for one in arrays):
        return None
    if fold is None and node.operator not in REFERENCE:
        return None
    # Before the operation: a result of the size of its inputs has to fit.
    budget.check(sum(one.size for one in arrays if one is not None))
    try:
        with np.errstate(all="ignore"):
            found = (
                fold(_Facts(node, opset, budget), *arrays)
                if fold
                else folded_by_reference(node, arrays, opset, budget.check)
            )
        if found is None:
            return None
        made = found if isinstance(found, list) else [found]
        sources = [one.source for one in inputs if one is not None and one.source]
        # What was computed from one parameter is a trained parameter; from several it is a constant, since training
        # cannot keep their relation.
        source: tuple[str, ...] = (*sources[0], node.operator) if len(sources) == 1 else ()
        if len(sources) == 1 and node.operator in _SAME:
            source = sources[0] if node.operator in ("Identity", "Cast") else source
        results = [_plain(np.asarray(one)) for one in made]
        # After it, and only new memory: reshapes and slices are views.
        budget.spend(sum(one.nbytes for one in results if not _is_view(one, arrays)))
        return [ConstantValue(one, source if one.dtype.kind == "f" else ()) for one in results]
    except NoSize:
        return None
    except (ValueError, TypeError, IndexError, OverflowError, ZeroDivisionError) as error:
        if any(one is not None and one.dtype.kind == "O" for one in arrays):
            raise NotSupported("computing with a dynamic size is not supported here; `--shape` fixes sizes") from None
        raise NotSupported(f"invalid constants: {error}") from None


def _is_view(result: Array, arrays: Sequence[Any]) -> bool:
    """Whether the result is a view without separate memory."""
    return any(one is not None and np.may_share_memory(result, one) for one in arrays)


def _plain(array: Array) -> Array:
    """Sizes that are all constant are ordinary integers."""
    if array.dtype.kind == "O" and all(isinstance(one, (int, np.integer)) for one in array.reshape(-1)):
        return array.astype(np.int64)
    return array


class _Facts:
    """Attributes of the node that is computed."""

    def __init__(self, node: OnnxNode, opset: int, budget: Budget) -> None:
        self.opset, self.outputs, self._attributes = opset, len(node.outputs), node.attributes
        self.limited = budget.check

    def __call__(self, name: str, default: Any = None) -> Any:
        return self._attributes.get(name, default)

    def axes(self, given: Array | None) -> list[int] | None:
        """Axes, an input or an attribute."""
        found = self("axes") if given is None else given.reshape(-1).tolist()
        return None if found is None else [int(one) for one in found]


def _broadcast(call: Fold) -> Fold:
    """A function of numbers that meet by broadcasting."""

    def fold(facts: _Facts, *arrays: Array) -> Any:
        facts.limited(math.prod(np.broadcast_shapes(*(one.shape for one in arrays))))
        return reduce(call, arrays) if call in (np.minimum, np.maximum) else call(*arrays)

    return fold


def _each(call: Fold) -> Fold:
    """An elementwise function."""
    return lambda _, x: call(x)


def _divided(facts: _Facts, x: Array, y: Array) -> Any:
    facts.limited(math.prod(np.broadcast_shapes(x.shape, y.shape)))
    if x.dtype.kind in "iu" and y.dtype.kind in "iu":
        if not y.all():
            raise ValueError("division by 0")
        # ONNX divides integers toward zero, NumPy toward minus infinity; above 2^52 the quotient of floats is not
        # exact.
        return np.trunc(x / y).astype(x.dtype) if max(abs(x).max(initial=0), 1) < 1 << 52 else x // y
    return np.floor_divide(x, y) if "O" in (x.dtype.kind, y.dtype.kind) else x / y


def _power(facts: _Facts, x: Array, y: Array) -> Any:
    facts.limited(math.prod(np.broadcast_shapes(x.shape, y.shape)))
    return np.power(x, y).astype(x.dtype)  # integers remain integers, whatever the exponent


def _remainder(facts: _Facts, x: Array, y: Array) -> Array:
    facts.limited(math.prod(np.broadcast_shapes(x.shape, y.shape)))
    found: Array = np.fmod(x, y) if facts("fmod", 0) else np.mod(x, y)
    return found


def _cast(facts: _Facts, x: Array) -> Array:
    kind = KINDS.get(facts("to"))
    if kind is None:
        raise ValueError("unsupported data type")
    if x.dtype.kind == "O":
        return x
    found: Array = x.astype("float32" if kind == "bfloat16" else kind)
    return found


def _constant(facts: _Facts) -> Any:
    for name, kind in (("value_float", np.float32), ("value_int", np.int64)):
        if facts(name) is not None:
            return np.asarray(facts(name), kind)
    for name, kind in (("value_floats", np.float32), ("value_ints", np.int64)):
        if facts(name) is not None:
            return np.asarray(facts(name), kind)
    if facts("value") is None:
        raise ValueError("missing value attribute")
    return facts("value")


def _filled(facts: _Facts, shape: Array) -> Array:
    value = facts("value")
    number = np.zeros(1, np.float32) if value is None else value.reshape(-1)
    sizes = _whole(shape)
    facts.limited(math.prod(sizes))
    return np.full(sizes, number[0], number.dtype)


def _whole(shape: Array) -> list[int]:
    if shape.dtype.kind == "O":
        raise NoSize("unexpected dynamic size")
    if shape.dtype.kind not in "iu" or shape.ndim > 1 or shape.size > MOST_AXES or (shape < 0).any():
        raise NotSupported("shape must be a list of sizes")
    return [int(one) for one in shape.reshape(-1)]


def _range(facts: _Facts, start: Array, limit: Array, delta: Array) -> Array:
    if "O" in (start.dtype.kind, limit.dtype.kind):
        raise NoSize("unexpected dynamic size")
    first, last, step = (one.reshape(()).item() for one in (start, limit, delta))
    count = max(math.ceil((last - first) / step), 0)
    facts.limited(count)
    found: Array = (first + np.arange(count) * step).astype(start.dtype)
    return found


def _expand(facts: _Facts, x: Array, shape: Array) -> Array:
    sizes = np.broadcast_shapes(x.shape, tuple(_whole(shape)))
    facts.limited(math.prod(sizes))
    return np.broadcast_to(x, sizes).copy()


def _tile(facts: _Facts, x: Array, times: Array) -> Array:
    repeats = _whole(times)
    facts.limited(x.size * math.prod(repeats))
    if not x.size or 0 in repeats:  # NumPy repeats axis by axis, and what is between may be huge
        rank = max(x.ndim, len(repeats))
        shape, counts = (1,) * (rank - x.ndim) + x.shape, [1] * (rank - len(repeats)) + repeats
        return np.empty([size * count for size, count in zip(shape, counts, strict=True)], x.dtype)
    return np.tile(x, repeats)


def _reshape(facts: _Facts, x: Array, shape: Array) -> Array:
    sizes = [int(one) for one in shape.reshape(-1)]
    if not facts("allowzero", 0):
        sizes = [x.shape[place] if one == 0 else one for place, one in enumerate(sizes)]
    return x.reshape(sizes)


def _squeeze(facts: _Facts, x: Array, axes: Array | None = None) -> Array:
    found = facts.axes(axes)
    return np.squeeze(x, tuple(found) if found is not None else None)


def _unsqueeze(facts: _Facts, x: Array, axes: Array | None = None) -> Array:
    return np.expand_dims(x, tuple(facts.axes(axes) or ()))


def _flatten(facts: _Facts, x: Array) -> Array:
    axis = facts("axis", 1)
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


def _slice(facts: _Facts, x: Array, *given: Any) -> Array:
    if given:
        starts, ends, axes, steps = ((one.tolist() if one is not None else None) for one in (*given, None, None)[:4])
    else:
        starts, ends, axes, steps = facts("starts"), facts("ends"), facts("axes"), None
    if starts is None or ends is None:
        raise ValueError("`starts` and `ends` are required")
    index = [slice(None)] * x.ndim
    names = range(len(starts)) if axes is None else axes
    for start, end, axis, step in zip(starts, ends, names, steps or [1] * len(starts), strict=True):
        # A backward slice to the beginning has no end that Python can write as a number.
        last = None if step < 0 and end < -x.shape[axis] else end
        index[axis] = slice(start, last, step)
    return x[tuple(index)]


def _gather(facts: _Facts, x: Array, places: Array) -> Array:
    axis = facts("axis", 0)
    facts.limited(x.size // max(x.shape[axis], 1) * places.size)
    return np.take(x, places, axis=axis)


def _gather_elements(facts: _Facts, x: Array, places: Array) -> Array:
    axis = facts("axis", 0)
    facts.limited(places.size)
    size = x.shape[axis]
    if ((places < -size) | (places >= size)).any():
        raise ValueError(f"an index is out of range for an axis of size {size}")
    # Only the other axes of the indices have to be within those of the data.
    own = x[tuple(slice(None) if at == axis % x.ndim else slice(count) for at, count in enumerate(places.shape))]
    return np.take_along_axis(own, places % size, axis)


def _split(facts: _Facts, x: Array, sizes: Array | None = None) -> list[Array]:
    axis, given = facts("axis", 0), facts("split") if sizes is None else sizes.tolist()
    count = facts("num_outputs", facts.outputs) if given is None else len(given)
    if count != facts.outputs:
        raise ValueError(f"cannot split into {count} parts for {facts.outputs} outputs")
    if given is None:
        part = -(-x.shape[axis] // count)  # the last part is smaller where they are not even
        given = [part] * count
    return list(np.split(x, np.cumsum(given)[:-1], axis))


def _triangle(facts: _Facts, x: Array, shift: Array | None = None) -> Array:
    places = 0 if shift is None else int(shift.reshape(()))
    return np.triu(x, places) if facts("upper", 1) else np.tril(x, places)


def _reduced(call: Fold) -> Fold:
    def fold(facts: _Facts, x: Array, axes: Array | None = None) -> Any:
        found = facts.axes(axes)
        if not x.size:
            raise ValueError("reduction of an empty tensor")
        if not found and facts("noop_with_empty_axes", 0):
            return x
        result = call(x, axis=tuple(found) if found else None, keepdims=bool(facts("keepdims", 1)))
        return np.asarray(result).astype(x.dtype)  # a mean of integers is an integer, rounded toward zero

    return fold


def _softmax(facts: _Facts, x: Array, *, log: bool = False) -> Array:
    """Before opset 13 over all axes from `axis` on."""
    axis = facts("axis", -1 if facts.opset >= 13 else 1)
    axes = axis if facts.opset >= 13 else tuple(range(axis if axis >= 0 else axis + x.ndim, x.ndim))
    shifted = x - x.max(axes, keepdims=True)
    total = np.exp(shifted).sum(axes, keepdims=True)
    return np.asarray(shifted - np.log(total) if log else np.exp(shifted) / total)


def _matmul(facts: _Facts, x: Array, y: Array) -> Array:
    rows = math.prod(x.shape[:-1]) if x.ndim > 1 else 1
    facts.limited(rows * math.prod(y.shape[-1:]) * max(math.prod(y.shape[:-2]), 1))
    found: Array = np.matmul(x, y)
    return found


_FOLDS: dict[str, Fold] = {
    **{name: _broadcast(call) for name, call in _BROADCAST.items()},
    **{name: _each(call) for name, call in _EACH.items()},
    "Constant": _constant, "ConstantOfShape": _filled, "Range": _range, "Expand": _expand, "Tile": _tile,
    "Cast": _cast, "Div": _divided, "Reshape": _reshape, "Squeeze": _squeeze, "Unsqueeze": _unsqueeze,
    "GatherElements": _gather_elements, "Flatten": _flatten, "Slice": _slice, "Gather": _gather, "Split": _split,
    "Trilu": _triangle, "MatMul": _matmul, "Mod": _remainder,
    "Pow": _power, "Softmax": _softmax, "LogSoftmax": partial(_softmax, log=True),
    "Concat": lambda facts, *parts: np.concatenate(parts, facts("axis", 0)),
    "Transpose": lambda facts, x: np.transpose(x, facts("perm")),
    "Shape": lambda facts, x: np.array(x.shape[slice(facts("start", 0), facts("end"))], np.int64),
    "Size": lambda _, x: np.array(x.size, np.int64),
    "ReduceProd": _reduced(np.prod), "ReduceSum": _reduced(np.sum), "ReduceMean": _reduced(np.mean),
    "ReduceMax": _reduced(np.max), "ReduceMin": _reduced(np.min),
}  # fmt: skip
