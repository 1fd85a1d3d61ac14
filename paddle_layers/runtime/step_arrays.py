"""Auxiliary arrays that the steps of a recurrent group see: rows and sequences counted from the first of each step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .domains import Domain, Extent, rows_of

if TYPE_CHECKING:
    from .graph import Value
    from .names import SequenceKey
    from .steps import Steps

Ints = NDArray[np.int64]


def starts_room(group: Domain, steps: Steps) -> Extent:
    """Room for the starts of all steps: one more than sequences for each; a step has at least one row."""
    room = Domain(f"starts of {group.name}")
    room.reserve(group.capacity + steps.rows.capacity + 1)
    room.rows = room.capacity
    return rows_of(room)


def sequences_in_steps(key: SequenceKey, begin: Ints, absolute: Ints) -> Ints:
    """Starts of each step's sequences, sequence of each row, or the row before: from those of all steps."""
    assert key.steps is not None
    groups, rows = key.steps.range_of(key.group), key.steps.range_of(key.leaf)
    assert groups is not None
    assert rows is not None
    if key.kind == "starts":
        step = np.repeat(np.arange(len(groups[0])), groups[1] - groups[0] + 1)
        own: Ints = begin[np.arange(len(step)) - step] - begin[groups[0]][step]
        return own
    step = np.repeat(np.arange(len(rows[0])), rows[1] - rows[0])
    return np.where(absolute < 0, absolute, absolute - (groups if key.kind == "map" else rows)[0][step])


def index_in_steps(value: Value, steps: Steps, absolute: Ints) -> Ints:
    """Rows of another domain, counted from the first that the step has."""
    assert value.points_to is not None
    own, other = steps.range_of(value.domain), steps.range_of(value.points_to)
    assert own is not None
    assert other is not None
    return absolute - np.repeat(other[0], own[1] - own[0])
