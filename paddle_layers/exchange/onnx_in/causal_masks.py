"""Causal masks as tf2onnx writes TensorFlow's band_part: cumulative positions that are compared."""

from __future__ import annotations

from typing import Any

from .layers import NotSupported
from .operators import OperatorContext, operator
from .sizes import Extent, SymbolicSize
from .symbolic_values import ConstantValue, DynamicConstant, Operand, PositionGrid


@operator("CumSum")
def counted(step: OperatorContext, x: Any, axis: Any) -> Operand:
    """0, 1, 2 and so on."""
    first = isinstance(axis, ConstantValue) and axis.number == 0
    plain = step.attribute("exclusive", 0) and not step.attribute("reverse", 0)
    fits = isinstance(x, DynamicConstant) and x.number == 1 and len(x.layout) == 1 and first and plain
    # The elements of a mask are numbered by an exclusive sum of ones; only this use is recognized.
    step.refuse_unless(fits, "CumSum is only supported in causal masks")
    return PositionGrid(x.layout)


@operator("Mod")
def rest(step: OperatorContext, x: Any, size: Any) -> Operand:
    """The place of the key."""
    return part_of_grid(step, x, size, "key")


def part_of_grid(step: OperatorContext, x: Any, size: Any, part: str) -> PositionGrid:
    """The row of a place in a grid, or its key."""
    square = isinstance(x, PositionGrid) and x.part == "all" and len(x.layout) == 2
    if not square or not isinstance(size, ConstantValue) or size.array.size != 1:
        raise NotSupported("this operator is only supported in causal masks")
    # Row and column of element i are i // keys and i % keys; with another divisor they would be something else.
    step.refuse_unless(size.array.reshape(-1)[0] == x.shape[1], "the divisor must be the number of keys")
    return PositionGrid(x.layout, part)


def shaped(step: OperatorContext, sizes: list[Extent]) -> PositionGrid:
    """A row of places as a square of steps."""
    square = len(sizes) == 2 and sizes[0] == sizes[1] and isinstance(sizes[0], SymbolicSize) and sizes[0] in step.steps
    step.refuse_unless(square, "expected a square grid of query and key positions")
    # Equal dynamic sizes are the same axis of steps, so a mask is square for every length.
    axis = (step.steps[sizes[0]],)
    return PositionGrid((axis, axis))
