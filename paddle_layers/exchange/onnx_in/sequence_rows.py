"""Rows of sequences: lengths, reductions to one row, causal masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .layers import NotSupported
from .operators import OperatorContext, operator
from .sizes import Extent, SymbolicSize
from .symbolic_values import Atom, ConstantValue, DynamicConstant, Layout, Operand, PositionGrid, View


def steps_of(step: OperatorContext, size: Any) -> Atom:
    """The axis of steps that has this size."""
    if not isinstance(size, SymbolicSize) or size not in step.steps:
        raise NotSupported("a dynamic size other than the sequence length is not supported")
    return step.steps[size]


def broadcast(x: Any, y: Any) -> Layout:
    """The axes of two that are broadcast."""
    layouts = [one.layout for one in (x, y) if not isinstance(one, ConstantValue)]
    rank = max(map(len, layouts), default=0)
    # As in NumPy, shorter shapes get axes of size 1 in front.
    padded = [((),) * (rank - len(one)) + one for one in layouts]
    return tuple(next((axis for axis in axes if axis), ()) for axes in zip(*padded, strict=True))


def end_row(step: OperatorContext, view: View, axis: int, end: str, *, keep: bool) -> View:
    """The first or the last row of every sequence."""
    step.refuse_unless(
        [atom.name for atom in view.layout[axis]] == ["T"], "selecting a sample of the batch is not supported"
    )
    return one_row(step, view, axis, f"seq_{end}", keep=keep)


def one_row(step: OperatorContext, view: View, axis: int, type_: str, *, keep: bool, **settings: Any) -> View:
    """A layer that reduces each sequence to one row; the axes of a row are unchanged."""
    plain = step.plain(view)
    value = plain.value
    if len(value.dims) != 1:
        # These layers reduce vectors; the axes of a row are restored by the layout.
        value = step.layer("flatten", value, suffix="flat").outputs[0]
    made = step.layer(type_, value, **settings)
    gone: Layout = ((),) if keep else ()
    layout = (*plain.layout[:axis], *gone, *plain.layout[axis + 1 :])
    order = tuple(atom for atom in plain.order if atom.name != "T")
    return View(layout, value=made.outputs[0], order=order)


def causal_of(array: Any, seen: Any) -> bool | None:
    """Whether a mask lets every row see itself and those before; False where it lets all be seen, else None."""
    if array.size == 1 or (array == seen).all():
        return False if (array == seen).all() else None
    # A mask may have axes for samples and heads, which must all be the same.
    last = array.reshape(-1, *array.shape[-2:])
    if last.shape[1] != last.shape[2]:
        return None
    # Additive masks have a very small number where a key is hidden, Boolean ones are False there.
    expected = np.tril(np.ones(last.shape[1:], bool))
    hidden = array.dtype.kind == "b" or (last[:, ~expected] <= -1e4).all()
    return True if hidden and ((last == seen) == expected).all() else None


@operator("CumSum")
def counted(step: OperatorContext, x: Any, axis: Any) -> Operand:
    """Sums along an axis; of ones, 0, 1, 2 and so on."""
    if isinstance(x, View):
        rows, place = step.rows(step.view(x)), step.integers(axis, "axis")
        at = step.axis_of_row(step.axis(place[0], len(rows.view.layout)), rows)
        exclusive, reverse = (bool(step.attribute(name, 0)) or None for name in ("exclusive", "reverse"))
        made = step.layer("cumsum", rows.value, axis=at, exclusive=exclusive, reverse=reverse)
        return step.made(made.outputs[0], rows)
    first = isinstance(axis, ConstantValue) and axis.number == 0
    plain = step.attribute("exclusive", 0) and not step.attribute("reverse", 0)
    fits = isinstance(x, DynamicConstant) and x.number == 1 and len(x.layout) == 1 and first and plain
    # The elements of a mask are numbered by an exclusive sum of ones; only this use is recognized.
    step.refuse_unless(fits, "CumSum is only supported in causal masks")
    return PositionGrid(x.layout)


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
