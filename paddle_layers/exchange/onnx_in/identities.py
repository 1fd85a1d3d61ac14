"""Identity operators: Dropout in the test phase, Cast between floats, Expand to the same shape."""

from __future__ import annotations

from typing import Any

from .operators import OperatorContext, moved, needed, operator
from .shapes import filled_axes
from .sizes import SymbolicSize
from .symbolic_values import ConstantValue, DynamicConstant, IdArithmetic, Layout, Mask, Operand, SymbolicValue, View


@operator("Identity", "Dropout", "Cast", "CastLike", "Expand", constants=True)
def same(step: OperatorContext, x: Any, *more: Any) -> Any:
    """Identity: Dropout in the test phase; a Cast, since floats are float32; an Expand to its shape."""
    if step.node.operator == "Expand" and isinstance(x, (ConstantValue, DynamicConstant)):
        size: Any = x.array.reshape(-1)[0] if isinstance(x, ConstantValue) and x.array.size == 1 else None
        if isinstance(size, SymbolicSize):
            return DynamicConstant(filled_axes(step, step.integers(more[0], "shape")), size)
        if isinstance(x, DynamicConstant):
            return DynamicConstant(filled_axes(step, step.integers(more[0], "shape")), x.number)
        number = needed(
            step.numbers(x, "input").number, "expanding a tensor constant to a dynamic size is not supported"
        )
        return DynamicConstant(filled_axes(step, step.integers(more[0], "shape")), number)
    if step.node.operator == "Expand" and isinstance(x, SymbolicValue):
        shape = step.integers(more[0], "shape")
        whole = [*([1] * (len(shape) - len(x.layout))), *x.shape]
        fits = all(size in (1, own) for size, own in zip(shape, whole[len(whole) - len(shape) :], strict=True))
        # An Expand of a value is accepted if it changes nothing; exporters write it with a shape that is computed.
        step.refuse_unless(fits or not isinstance(x, View), "broadcasting by Expand is not supported")
        missing: Layout = ((),) * max(len(shape) - len(x.layout), 0)
        return moved(x, (*missing, *x.layout))
    # Since opset 12, training is an input of the node instead of a mode of the model.
    if step.node.operator == "Dropout" and len(more) > 1 and more[1] is not None:
        training = more[1].number if isinstance(more[1], ConstantValue) else None
        step.refuse_unless(training == 0, "dropout at inference (`training_mode`) is not supported")
    if "Cast" in step.node.operator and isinstance(x, View):
        return _cast(step, x, more[0] if more else None)
    return x


REAL, WHOLE = (1, 10, 11, 16), (6, 7, 12, 13)
"""ONNX data types: floats, and integers that hold ids."""


def _cast(step: OperatorContext, x: View, like: Any) -> Operand:
    """Floats are float32 here, whatever their precision in the model; they are not made integers."""
    to = step.attribute("to")
    if like is not None:
        whole_ = isinstance(like, View) and like.value.type.kind == "INT"
        to = 7 if whole_ or (isinstance(like, ConstantValue) and like.array.dtype.kind != "f") else 1
    if x.value.type.kind == "INT":
        return x if to in WHOLE else _mask_of(step, x)
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
