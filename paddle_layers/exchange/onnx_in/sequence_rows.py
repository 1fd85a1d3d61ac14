"""Sequence reductions: one row per sequence, lengths, masks of visible rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .layers import NotSupported
from .operators import OperatorContext
from .sizes import SymbolicSize
from .symbolic_values import Atom, ConstantValue, Layout, View


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
