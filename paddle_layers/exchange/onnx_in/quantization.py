"""Quantized operators as their float equivalents: QDQ, QLinear operators and dynamic quantization of onnxruntime.

Integers `q` mean the floats `(q - zero_point) * scale`. Rounding is left out; saturation is kept as `clip`, because
quantizers remove a ReLU whose range the integers have.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .layers import NotSupported, weight
from .model import OnnxNode
from .operators import OPERATORS, Handler, OperatorContext, needed, operator
from .symbolic_values import ConstantValue, Operand, SymbolicValue, View

MICROSOFT = "com.microsoft"
PRESERVING = frozenset(
    {"Flatten", "Gather", "Identity", "MaxPool", "Reshape", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze"}
)
"""Operators that choose or move elements, so that scale and zero point stay the same."""


@dataclass(frozen=True, eq=False)
class Integers(SymbolicValue):
    """Integers that mean a value of a layer, with their scale; those of dynamic quantization have none."""

    view: View = field(kw_only=True)
    scale: ConstantValue | None = None
    zero: Any = None


@dataclass(frozen=True, eq=False)
class DynamicScale(SymbolicValue):
    """The scale of a dynamically quantized value, times constants; or its zero point."""

    view: View = field(kw_only=True)
    factor: Any = field(default=1.0, kw_only=True)


@dataclass(frozen=True, eq=False)
class IntegerBias(SymbolicValue):
    """A constant divided by the scale of a product, to be added to it."""

    scale: DynamicScale = field(kw_only=True)
    constant: ConstantValue = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class IntegerProduct(SymbolicValue):
    """A product of integers; multiplied by the scales of both factors it is one of floats."""

    view: View = field(kw_only=True)
    node: OnnxNode = field(kw_only=True)
    matrix: Any = field(kw_only=True)
    dynamic: bool = field(kw_only=True)
    bias: IntegerBias | None = None


READ = "reading quantized integers is not supported"
QUANTIZED = (Integers, DynamicScale, IntegerBias, IntegerProduct)


def source_of(name: str) -> tuple[str, ...]:
    """The name of a weight by that of its integers, as onnxruntime writes it."""
    return (name.removesuffix("_quantized"),)


def count(known: dict[Any, Any], *names: str) -> None:
    """Add quantized weights to those that the report counts."""
    known.setdefault("quantized", set()).update(names)


def named(known: dict[Any, Any], node: OnnxNode, found: list[ConstantValue]) -> list[ConstantValue]:
    """Results of constant folding; dequantized weights have the name of their integers, and are counted."""
    if node.operator != "DequantizeLinear":
        return found
    count(known, node.inputs[0])
    return [ConstantValue(one.array, source_of(node.inputs[0])) for one in found]


def without_scale(node: OnnxNode, inputs: list[Any]) -> list[Any] | None:
    """The inputs with floats for integers, where a node only moves these."""
    first, *others = inputs or [None]
    moves = node.operator in PRESERVING and not node.domain and isinstance(first, Integers)
    return [first.view, *others] if moves and not any(isinstance(one, QUANTIZED) for one in others) else None


def with_scale(like: Any, found: Any) -> Any:
    """A value as integers with the same scale."""
    assert isinstance(like, Integers)
    return replace(like, layout=found.layout, view=found) if isinstance(found, View) else found


def handler_of(node: OnnxNode, inputs: list[Any]) -> Handler | None:
    """The handler of a node that reads quantized values where its operator has none for these."""
    reads = any(isinstance(one, QUANTIZED) for one in inputs)
    return product_of_floats if reads and (node.domain, node.operator) not in OF_INTEGERS else None


@operator(constants=True)
def product_of_floats(step: OperatorContext, *inputs: Any) -> Operand:
    """A node that reads intermediate results of dynamic quantization: a cast, or a product with scales."""
    found: dict[type, Any] = {type(one): one for one in inputs}
    scale, constant = (found.get(kind) for kind in (DynamicScale, ConstantValue))
    product: IntegerProduct | None = found.get(IntegerProduct)
    bias: IntegerBias | None = found.get(IntegerBias)
    step.refuse_unless(Integers not in found, READ)
    if bias and step.node.operator in ("Cast", "Floor", "Identity", "Reshape", "Round"):
        return bias
    if step.node.operator == "Div" and scale and inputs[0] is constant:
        return IntegerBias((), scale=scale, constant=step.numbers(constant, "bias"))
    if bias and product and step.node.operator == "Add" and bias.scale.view is product.view and not product.bias:
        return replace(product, bias=bias)
    step.refuse_unless(not bias, READ)
    if step.node.operator in ("Cast", "Identity"):
        passed: Operand = needed(product or scale, READ)
        return passed
    scaled = step.node.operator == "Mul" and len(found) == 2 and (product is None or scale or not product.dynamic)
    step.refuse_unless(scaled, READ)
    if product and scale:
        step.refuse_unless(product.view is scale.view, "the scale belongs to another value")
        return _scaled(step, product, np.asarray(scale.factor))
    factor = step.numbers(constant, "scale").array.astype(np.float32)
    if product:
        return _scaled(step, product, factor)
    assert isinstance(scale, DynamicScale)
    return replace(scale, factor=scale.factor * factor)


def _scaled(step: OperatorContext, product: IntegerProduct, factor: Any) -> Operand:
    """The product of floats; a scale is a single number, or one for each output."""
    image, matrix = product.node.operator == "ConvInteger", product.matrix
    outputs = matrix.shape[0 if image else -1]
    # Scales are broadcast to the product, [N, C, ...] or [..., C].
    place = 1 - matrix.ndim if image else -1
    each = factor.size == outputs and (outputs == 1 or factor.shape[place:][:1] == (outputs,))
    step.refuse_unless(factor.size == 1 or each, f"expected a scale, or one for each of {outputs} outputs")
    step.node = product.node
    floats = ConstantValue(matrix * _along(factor, 0 if image else -1, matrix.ndim), source_of(step.node.inputs[1]))
    if product.bias is None:
        found: Operand = delegated(step, "Conv" if image else "MatMul", product.view, floats)
        return found
    added = product.bias.constant
    array = added.array.reshape(-1) * factor.reshape(-1) / np.asarray(product.bias.scale.factor).reshape(-1)
    step.refuse_unless(image and array.size == outputs, f"expected a bias of {outputs} values")
    made: Operand = delegated(step, "Conv", product.view, floats, ConstantValue(array, added.source))
    return made


def delegated(step: OperatorContext, name: str, *inputs: Any) -> Any:
    """The result of an operator on floats, with the attributes of the node."""
    step.node = replace(step.node, operator=name, domain="")
    step.opset = max(step.opset, 13)
    return OPERATORS["", name](step, *inputs)


# ---- values and constants as floats


def _offset(step: OperatorContext, zero: Any) -> Any:
    """The zero point as float32; 0 by default."""
    if zero is None:
        return np.zeros((), np.float32)
    found = step.numbers(zero, "zero point").array
    step.refuse_unless(found.dtype.kind in "iu", f"the zero point must be an integer, got {found.dtype}")
    return found.astype(np.float32)


def _along(numbers: Any, axis: int, rank: int) -> Any:
    """One number, or one for each index of an axis."""
    if numbers.size == 1:
        return numbers.reshape(())
    return numbers.reshape([-1 if place == axis % rank else 1 for place in range(rank)])


def _dequantized(step: OperatorContext, name: str, x: ConstantValue, scale: Any, zero: Any, axis: int) -> ConstantValue:
    """A constant as floats; `axis` is that of scales for each channel."""
    rank = x.array.ndim
    factor, offset = (_along(one, axis, rank) for one in (scale, zero))
    count(step.known, name)
    return ConstantValue((x.array.astype(np.float32) - offset) * factor, source_of(name))


def _floats(step: OperatorContext, place: int, given: Any, axis: int = 0) -> Any:
    """Three inputs of a node, integers with scale and zero point, as floats."""
    x, scale, zero = given
    numbers, offset = step.numbers(scale, "scale").array.astype(np.float32), _offset(step, zero)
    if isinstance(x, ConstantValue):
        return _dequantized(step, step.node.inputs[place], x, numbers, offset, axis)
    if isinstance(x, View):
        return _rows_of_table(step, x, numbers, offset, step.node.inputs[place + 1].removesuffix("_scale"))
    step.refuse_unless(isinstance(x, Integers) and x.scale is not None, "input is no result of QuantizeLinear")
    same = all(map(np.array_equal, (x.scale.array, _offset(step, x.zero)), (numbers, offset)))
    step.refuse_unless(same, "scale and zero point differ from those with which the input was quantized")
    return x.view


def _quantized(step: OperatorContext, x: Any, scale: Any, zero: Any) -> Integers:
    """A value within the range of its integers."""
    view = step.view(x)
    given = step.numbers(scale, "scale")
    factor, offset = given.number, ConstantValue(_offset(step, zero)).number
    if factor is None or offset is None:
        raise NotSupported("a value can only be quantized with a single scale and zero point")
    step.refuse_unless(factor > 0, f"the scale must be positive, got {factor}")
    limits = np.iinfo(np.uint8 if zero is None else zero.array.dtype)
    ends = [(limit - offset) * factor for limit in (limits.min, limits.max)]
    count(step.known)
    if step.known.get(("range", view.value, view.factor)) != ends:
        view = step.each("clip", view, min=ends[0], max=ends[1], suffix="range")
        step.known["range", view.value, 1.0] = ends
    return Integers(view.layout, view=view, scale=ConstantValue(given.array.astype(np.float32)), zero=zero)


def _rows_of_table(step: OperatorContext, x: View, scale: Any, zero: Any, name: str) -> View:
    """Rows of a table of integers, which an embedding chooses; the integers have no name of a parameter."""
    layer = x.value.layer
    step.refuse_unless(layer.type == "embedding", "input is no result of QuantizeLinear")
    step.refuse_unless(scale.size == zero.size == 1, "a table must have a single scale and zero point")
    floats = (layer.weights["table"].array - zero.reshape(())) * scale.reshape(())
    made = step.again(layer, {"table": weight(floats, (name,))})
    step.known.get(("tables", layer.inputs[0].layer), []).append(made)
    count(step.known, name)
    return replace(x, value=made.outputs[0])


# ---- operators


@operator("QuantizeLinear")
def quantize_linear(step: OperatorContext, x: Any, scale: Any, zero: Any = None) -> Operand:
    """Values within the range of the integers."""
    step.refuse_unless(zero is not None or not step.attribute("output_dtype", 0), "`output_dtype` is not supported")
    return _quantized(step, x, scale, zero)


@operator("DequantizeLinear")
def dequantize_linear(step: OperatorContext, x: Any, scale: Any, zero: Any = None) -> Operand:
    """The values that were quantized; rows of a table of integers."""
    found: Operand = _floats(step, 0, (x, scale, zero))
    return found


@operator("DynamicQuantizeLinear")
def dynamic_quantize_linear(step: OperatorContext, x: Any) -> Any:
    """The values themselves: their range is that of the integers."""
    view = step.view(x)
    count(step.known)
    return Integers(view.layout, view=view), DynamicScale((), view=view), DynamicScale((), view=view)


@operator("MatMulInteger", "ConvInteger")
def integer_product(step: OperatorContext, x: Any, matrix: Any, zero: Any = None, offset: Any = None) -> Operand:
    """A product with a constant, not yet scaled."""
    if isinstance(x, View):  # its scale is part of a constant by which the product is multiplied
        name = "".join(step.node.inputs[2:3]).removesuffix("_zero_point")
        view = _rows_of_table(step, x, np.ones(1, np.float32), _offset(step, zero), name)
    else:
        dynamic = isinstance(x, Integers) and x.scale is None and isinstance(zero, DynamicScale)
        step.refuse_unless(dynamic and zero.view is x.view, "input is no result of DynamicQuantizeLinear")
        view = x.view
    given, numbers = step.numbers(matrix, "weight").array, _offset(step, offset)
    if step.node.operator == "ConvInteger":
        numbers = _along(numbers, 0, given.ndim)
    count(step.known, step.node.inputs[1])
    floats = given.astype(np.float32) - numbers
    return IntegerProduct((), view=view, node=step.node, matrix=floats, dynamic=not isinstance(x, View))


OPERANDS = {"Add": (2, 0), "Conv": (2, 0), "Gemm": (2, -1), "MatMul": (2, -1), "Mul": (2, 0)}
"""Operators of two operands, and the axis of the second one that may have a scale for each output."""


@operator("QLinearConv", "QLinearMatMul", constants=True)
@operator(
    *("QGemm", "QLinearAdd", "QLinearAveragePool", "QLinearGlobalAveragePool", "QLinearLeakyRelu", "QLinearMul"),
    *("QLinearSigmoid", "QLinearSoftmax"),
    domain=MICROSOFT,
    constants=True,
)
def linear(step: OperatorContext, *given: Any) -> Operand:
    """Operators whose operands and result have a scale and a zero point each; Conv and Gemm may have a bias."""
    step.refuse_unless(not step.attribute("channels_last", 0), "`channels_last` is not supported")
    name = step.node.operator.removeprefix("QLinear").removeprefix("Q")
    operands, axis = OPERANDS.get(name, (1, 0))
    gemm, first = name == "Gemm", 3 * operands
    most = first + 2 + (name in ("Conv", "Gemm"))
    step.refuse_unless(first + 1 - gemm <= len(given) <= most, f"unsupported number of inputs: {len(given)}")
    rest = [*given[first:], None, None, None][:3]
    place, after = (0, rest[1:]) if gemm else (2, rest[:2])
    axis = 0 if gemm and step.attribute("transB", 0) else axis
    floats = [_floats(step, at, given[at : at + 3], axis if at else 0) for at in range(0, first, 3)]
    if rest[place] is not None:
        scales = step.numbers(given[1], "scale").array * step.numbers(given[4], "scale").array.reshape(-1)
        bias = step.numbers(rest[place], "bias")
        floats.append(_dequantized(step, step.node.inputs[first + place], bias, scales, np.zeros(1), 0))
    step.opset = step.attribute("opset", step.opset)
    made = delegated(step, name, *floats)
    return made if after[0] is None else _quantized(step, made, *after)


@operator("QLinearConcat", domain=MICROSOFT, constants=True)
def linear_concat(step: OperatorContext, scale: Any, zero: Any, *given: Any) -> Operand:
    """Values, each with its scale and zero point."""
    step.refuse_unless(given and len(given) % 3 == 0, f"unsupported number of inputs: {len(given) + 2}")
    parts = [_floats(step, place + 2, given[place : place + 3]) for place in range(0, len(given), 3)]
    return _quantized(step, delegated(step, "Concat", *parts), scale, zero)


@operator("DynamicQuantizeLSTM", domain=MICROSOFT)
def dynamic_quantize_lstm(step: OperatorContext, x: Any, *given: Any) -> Any:
    """An LSTM with matrices of integers, which are stored with the axis of the gates last."""
    step.refuse_unless(len(given) == 11, f"unsupported number of inputs: {len(given) + 1}")
    maps, recalls, biases, lengths, start, cells, peepholes, *scales = given
    matrices = []
    for place, (one, scale, zero) in enumerate(((maps, *scales[:2]), (recalls, *scales[2:])), 1):
        matrix, factor, offset = step.numbers(one, "weight"), step.numbers(scale, "scale").array, _offset(step, zero)
        # [directions] or [directions, gates]
        factor, offset = (number.reshape(len(number), 1, -1) for number in (factor, offset))
        count(step.known, step.node.inputs[place])
        floats = (matrix.array.astype(np.float32) - offset) * factor
        matrices.append(ConstantValue(floats.transpose(0, 2, 1), source_of(step.node.inputs[place])))
    return delegated(step, "LSTM", x, *matrices, biases, lengths, start, cells, peepholes)


OF_INTEGERS = frozenset(key for key, call in OPERATORS.items() if call.__module__ == __name__)
"""Operators that read or write quantized values."""
