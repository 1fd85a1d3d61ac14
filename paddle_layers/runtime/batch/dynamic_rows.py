"""Dynamic row counts: outputs whose rows follow from sequence starts and from values that are fed or computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.graph.domains import Domain, Value
from paddle_layers.runtime.graph.graph import DynamicRows, Graph, Op
from paddle_layers.runtime.launches.arguments import Ref
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.plan.plan import Plan

from .rows import BatchRows, lay_out, stand_by
from .transfers import write_made_rows
from .values import FeedError

Array = NDArray[Any]


class CapacityExceededError(Exception):
    """Rows created during a pass exceed the capacity of the plan; the domains have the required capacity."""


def make_early_rows(batch: BatchRows, graph: Graph) -> None:
    """Creates rows that follow from feeds; others are estimated as if no input row was used twice."""
    for made in graph.made_rows:
        if made.late and isinstance(made, DynamicRows):
            # An upper estimate for the memory of most layers; if it is exceeded, the plan is rebuilt with the actual
            # rows.
            given = [batch.counts[domain] for domain in {value.domain for value in made.op.inputs}]
            batch.counts |= {domain: max(given) for domain in made.domains}
        elif isinstance(made, DynamicRows):
            _make_rows(batch, graph, made, _fed(batch, made))
        elif made.late:
            stand_by(made, batch)
        else:
            lay_out(made, batch)


def make_late_rows(batch: BatchRows, made: DynamicRows, plan: Plan) -> None:
    """Creates rows that follow from values computed so far in a pass. Raises `CapacityExceededError`, `FeedError`."""
    values = {name: _read(batch, plan, value) for name, value in made.values.items()}
    values |= {name: _read_temp(batch, plan, ref) for name, ref in plan.decisive[made.op].items()}
    _make_rows(batch, plan.graph, made, values)
    new = [*made.domains, *_make_following_rows(batch, plan.graph, made)]
    for layer, first, second in plan.graph.equal_rows:
        if first in new or second in new:
            check_equal_rows(batch, layer, first, second)
    # A list and not a generator: all domains are reserved before the plan is rebuilt, instead of one per attempt.
    grown = [domain.reserve(batch.counts[domain]) for domain in new]
    if any(grown):
        raise CapacityExceededError
    write_made_rows(plan, batch, new)


def _make_following_rows(batch: BatchRows, graph: Graph, first: DynamicRows) -> list[Domain]:
    """Creates the rows, and the steps of recurrent groups, that only depend on the starts of rows just created."""
    new: list[Domain] = []
    for made in graph.made_rows[graph.made_rows.index(first) + 1 :]:
        waits = isinstance(made, DynamicRows) and made.computed
        if not made.late or waits or not made.is_ready(batch.starts):
            continue
        if isinstance(made, DynamicRows):
            _make_rows(batch, graph, made, _fed(batch, made))
        else:
            lay_out(made, batch)
        new += made.domains
    return new


def _fed(batch: BatchRows, made: DynamicRows) -> dict[str, Array]:
    return {name: batch.arrays[value.name] for name, value in made.values.items()}


def _read(batch: BatchRows, plan: Plan, value: Value) -> Array:
    """The rows of a value during a pass; waits for the device."""
    if value.name in batch.arrays:
        return np.asarray(batch.arrays[value.name])
    return plan.read(plan.values[value.name]).reshape(batch.of(value.domain), *value.type.dims)


def _read_temp(batch: BatchRows, plan: Plan, ref: Ref) -> Array:
    """A temporary in which an operation has computed its number of rows."""
    assert isinstance(ref.owner, Buffer)
    return plan.read(ref.owner).reshape([batch.size(size) for size in ref.shape])


def _make_rows(batch: BatchRows, graph: Graph, made: DynamicRows, values: Mapping[str, Array]) -> None:
    """Sets the starts that the definition's function returns."""
    op = made.op
    for layer, first, second in graph.equal_rows:
        if layer == op.name:
            check_equal_rows(batch, layer, first, second)
    given: dict[str, Any] = {**op.attributes, **op.binding.sizes, **dict.fromkeys(op.layer.inputs)}
    given |= {f"{row}_start": batch.starts[leaf, group] for row, (leaf, group) in made.groups.items()}
    given |= {row: batch.counts[domain] for row, domain in op.rows.items() if domain in batch.counts}
    given |= {name: _checked(batch, op, name, array) for name, array in values.items() if name in op.layer.inputs}
    given |= {name: values[name] for name in made.temps}
    try:
        found = op.layer.hooks["starts"](**{name: given[name] for name in op.layer.hook_names["starts"]})
    except ValueError as error:
        raise FeedError(f"layer `{op.name}`: {error}") from None
    for domain, begin in zip(made.domains, found if isinstance(found, tuple) else (found,), strict=True):
        inner, *outer = domain.ancestors()
        own = batch.starts[domain, inner] = np.asarray(begin, np.int64)
        for group in outer:
            # Starts of outer groups in terms of the new rows follow by composition.
            batch.starts[domain, group] = own[batch.starts[inner, group]]
        batch.counts[domain] = int(own[-1])


def _checked(batch: BatchRows, op: Op, name: str, array: Array) -> Array:
    """Positions in sequences as integers. Raises `FeedError` for one outside of its sequence or of the batch."""
    row = op.layer.inputs[name].places
    if row is None:
        return array
    if array.ndim == 1:  # ids: row indices in the batch
        count = batch.counts[op.rows[row]]
        if (array >= count).any():
            raise FeedError(
                f"layer `{op.name}`: `{name}` contains row index {array.max()}, but the batch has {count} rows"
            )
        return array
    lengths = np.diff(batch.starts[op.rows[row], op.group_of(row)])
    wrong = (array != np.floor(array)) | (array < -1) | (array >= lengths[:, None])
    if wrong.any():
        sequence, place = np.argwhere(wrong)[0]
        last = lengths[sequence] - 1
        there = (
            f"valid indices are 0 to {last}, or -1 for no index"
            if last >= 0
            else "the sequence is empty; use -1 for no index"
        )
        holds = f"`{name}` contains index {array[sequence, place]:g} for sequence {sequence}"
        raise FeedError(f"layer `{op.name}`: {holds}; {there}")
    return array.astype(np.int64)


def check_equal_rows(batch: BatchRows, layer: str, first: Domain, second: Domain) -> None:
    """Raises `FeedError` if rows or sequences that a layer combines differ; late rows are checked when created."""
    late = [domain for domain in (first, second) if domain.late]
    if any((domain, domain.parent or domain) not in batch.starts for domain in late):
        return
    if batch.counts[first] != batch.counts[second]:
        raise FeedError(
            f"layer `{layer}` requires equal numbers of rows: {first.name} has {batch.counts[first]}, "
            f"{second.name} has {batch.counts[second]}"
        )
    for one, two in zip(first.ancestors(), second.ancestors(), strict=True):
        a, b = batch.starts.get((first, one)), batch.starts.get((second, two))
        if a is not None and b is not None and not np.array_equal(a, b):
            place = int(np.flatnonzero(a != b)[0]) if len(a) == len(b) else min(len(a), len(b))
            raise FeedError(
                f"layer `{layer}` requires equal sequence lengths: {first.name} and {second.name} first differ "
                f"in sequence {max(place - 1, 0)}"
            )
