"""Internal layers that permute rows to the order of a recurrent group's steps, and back."""

from __future__ import annotations

from typing import TypeVar

from paddle_layers.define import Example, Input, LayerDefinition, Output, each, gradient, infer
from paddle_layers.define.derived import DerivedLayer

C = TypeVar("C", bound=type)


def internal(owner: C) -> C:
    """Decorator of an internal layer: it is not registered, so no config can use it."""
    DerivedLayer(owner.__name__.lower(), owner)
    return owner


def definition_of(owner: type) -> LayerDefinition:
    """The definition of an internal layer's class."""
    found: LayerDefinition = vars(owner)["__layer__"]
    return found


@internal
class Reorder:
    """Permutes rows: `y[r] = x[index[r]]`."""

    x = Input("T ...", "rows", seq=(0, 1, 2))
    index = Input("R", "row of `x` for each row of `y`", kinds=("INT",), seq=(0, 1, 2))
    inverse = Input("T", "row of `y` for each row of `x`", kinds=("INT",), seq=(0, 1, 2))
    y = Output("R ...", "the rows in the new order")
    examples = (Example(x="sequence of 2", index="ids<9", inverse="sequence of ids<9"),)


@each(Reorder.y)
def reorder_y(r, i, x, index):
    return x[index[r], i]


@gradient(Reorder.x)
def reorder_dx(t, i, dy, inverse):
    return dy[inverse[t], i]


@internal
class ReorderIds:
    """Gathers ids, some of them perhaps several times."""

    x = Input("T ...", "ids", kinds=("INT",), seq=(0, 1, 2))
    index = Input("R", "row of `x` for each row of `y`", kinds=("INT",), seq=(0, 1, 2))
    y = Output("R ...", "the ids in the new order", kind="INT", size="V")
    examples = (Example(x="sequence of ids<4", index="ids<9"), Example(x="sequence of 2x3 ids<4", index="ids<9"))


@infer(ReorderIds)
def reorder_ids_size(x):
    return {"V": x.size}


@each(ReorderIds.y)
def reorder_ids_y(r, i, x, index):
    return x[index[r], i]


@internal
class RepeatRow:
    """Repeats the row of a sequence in each of its steps: `y[r] = x[sequence[r]]`."""

    x = Input("S ...", "one row per sequence")
    sequence = Input("R", "the sequence to which a row of the steps belongs", kinds=("INT",))
    place = Input("T:S", "row of the steps for each row of the sequences", kinds=("INT",), seq=(1,))
    y = Output("R ...", "one row for each row of the steps")
    examples = (Example(x="2", sequence="ids<9", place="sequence of ids<9"),)


@each(RepeatRow.y)
def repeat_row_y(r, i, x, sequence):
    return x[sequence[r], i]


@gradient(RepeatRow.x)
def repeat_row_dx(s, i, dy, place, T_start):
    total = 0.0
    for t in range(T_start[s], T_start[s + 1]):
        total += dy[place[t], i]
    return total


@internal
class RepeatSequence:
    """Repeats a whole sequence in each step: `y[q] = x[index[q]]`, as many copies as the sequence has steps."""

    x = Input("U:S ...", "rows of sequences that every step sees whole", seq=(1,))
    index = Input("Q:R", "row of `x` for each row of `y`", kinds=("INT",), seq=(1,))
    place = Input("T:S", "row of the steps for each row of the sequences", kinds=("INT",), seq=(1,))
    y = Output("Q:R ...", "for each row of the steps a sequence")
    examples = (Example(x="sequence of 2", index="sequence of ids<9", place="sequence of ids<9"),)


@each(RepeatSequence.y)
def repeat_sequence_y(q, i, x, index):
    return x[index[q], i]


@gradient(RepeatSequence.x)
def repeat_sequence_dx(u, i, s, dy, place, T_start, U_start, Q_start):
    total = 0.0
    for t in range(T_start[s], T_start[s + 1]):
        total += dy[Q_start[place[t]] + u - U_start[s], i]
    return total
