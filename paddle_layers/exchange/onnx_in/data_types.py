"""Kinds of the data types of values, as NumPy names them: `f`, `i` and `b`. Layers compute with floats throughout."""

from __future__ import annotations

from collections.abc import Sequence

from .model import OnnxNode
from .reading import KINDS

_BOOLEAN = frozenset(
    {"And", "Equal", "Greater", "GreaterOrEqual", "IsInf", "IsNaN", "Less", "LessOrEqual", "Not", "Or", "Xor"}
)
_INTEGER = frozenset({"ArgMax", "ArgMin", "NonZero", "QuantizeLinear", "Shape", "Size"})
_FLOAT = frozenset({"DequantizeLinear", "DynamicQuantizeLSTM"})
_LIKE_SECOND = frozenset({"CastLike", "OneHot", "Where"})
_ROUNDED = frozenset({"Div", "Mean", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMean", "Resize", "Upsample"})
ROUNDED = "results of integers are rounded in ONNX, which is not supported: cast them to floats before"


def rounds(operator: str, kinds: Sequence[str]) -> bool:
    """Whether the results of an operator are rounded for inputs of these kinds; layers do not round."""
    return kinds[:1] == ["i"] and operator in _ROUNDED


def kind_of(name: str) -> str:
    """The kind of a data type by its name; unsigned integers are integers."""
    return {"b": "b", "u": "i", "i": "i", "f": "f"}.get(name[:1], "")


def result_kind(node: OnnxNode, place: int, kinds: Sequence[str]) -> str:
    """The kind of an output of a node by those of its inputs."""
    operator = node.operator
    if operator in _BOOLEAN:
        return "b"
    if operator in _INTEGER or (operator in ("TopK", "Unique") and place):
        return "i"
    if operator in _FLOAT or (operator == "DynamicQuantizeLinear" and place == 1):
        return "f"
    if operator == "Cast":
        to = node.attributes.get("to", 1)
        return kind_of(KINDS.get(to, "")) if isinstance(to, int) else ""
    if operator in _LIKE_SECOND:
        return kinds[2 if operator == "OneHot" and len(kinds) > 2 else 1] if len(kinds) > 1 else ""
    return kinds[0] if kinds else ""
