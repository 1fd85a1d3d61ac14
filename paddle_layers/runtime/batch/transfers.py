"""Transfers between a batch and the memory of a plan: feeds, index arrays and results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.graph.domains import Domain, Value
from paddle_layers.runtime.graph.rows import Starts, StepRows
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.launches.index_arrays import SequenceKey
from paddle_layers.runtime.plan.plan import Plan

from .rows import BatchRows
from .values import Csr

Ints = NDArray[np.int64]


def write_batch(plan: Plan, batch: BatchRows) -> None:
    """Copies a batch to the buffers of a plan."""
    for name, array in batch.arrays.items():
        if isinstance(array, Csr):
            _write_sparse(plan, name, array)
        elif name in plan.values:
            plan.write(plan.values[name], array)
    _write_sequences(plan, batch, batch.starts)
    _write_indices(plan, batch, batch.arrays)


def write_made_rows(plan: Plan, batch: BatchRows, new: Iterable[Domain]) -> None:
    """Copies the metadata of rows that are created during a pass."""
    made = set(new)
    _write_sequences(plan, batch, {key: begin for key, begin in batch.starts.items() if not made.isdisjoint(key)})
    indices = [value for group in plan.graph.groups if group.rows in made for value in group.indices]
    for value in indices:
        if value.name in plan.values:
            plan.write(plan.values[value.name], batch.arrays[value.name])
    _write_indices(plan, batch, {value.name: batch.arrays[value.name] for value in indices})


def write_used_ids(plan: Plan, batch: BatchRows) -> bool:
    """Between the passes: writes which rows of a batch use which id. True if sizes changed."""
    # Between the passes, because only the backward pass needs the transposed index, and ids may be computed in the
    # forward pass.
    for name, use in plan.index_arrays.uses.items():
        given = batch.arrays.get(name)  # reading feeds back from the device would wait for it
        ids = given.id if isinstance(given, Csr) else given
        if ids is None:  # computed by an operation
            ids = plan.read(plan.index_arrays.ids[name])
        ids = ids.reshape(-1)
        starts = given.start if isinstance(given, Csr) else np.arange(len(ids) + 1)
        parts = transposed(starts, ids)
        batch.ids[use.ids], batch.counts[use.ids] = parts[0], len(parts[0])
        for part, array in zip(("id", "start", "row"), parts, strict=False):
            plan.write(use.buffers[part], array)
        if "entry" in use.buffers:
            plan.write(use.buffers["entry"], parts[3])
        if "value" in use.buffers and isinstance(given, Csr) and given.value is not None:
            plan.write(use.buffers["value"], given.value[parts[3]])
    return bool(plan.index_arrays.uses)


def _write_sequences(plan: Plan, batch: BatchRows, starts: Starts) -> None:
    for key, buffer in plan.index_arrays.sequences.items():
        begin = starts.get((key.leaf, key.group))
        if begin is None:  # created during the pass
            continue
        array = sequence_array(key, begin)
        if key.steps is not None:
            array = sequences_in_steps(key, StepRows(batch, key.steps), begin, array)
        plan.write(buffer, array)


def _write_indices(plan: Plan, batch: BatchRows, arrays: Mapping[str, Any]) -> None:
    """Row indices relative to the first row of each step."""
    for value, steps, buffer in plan.index_arrays.indices.values():
        if value.name in arrays:  # otherwise created during the pass
            plan.write(buffer, index_in_steps(value, StepRows(batch, steps), arrays[value.name]))


def _write_sparse(plan: Plan, name: str, rows: Csr) -> None:
    for part, array in (("start", rows.start), ("id", rows.id), ("value", rows.value)):
        if array is not None and (name, part) in plan.index_arrays.csr:
            plan.write(plan.index_arrays.csr[name, part], array)


def transposed(starts: Ints, ids: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Which rows use an id: used ids, starts, rows, entry positions. Stable, so sums keep their order."""
    count = len(ids)
    # Positions make the keys distinct, so that a sort of one array replaces a stable argsort. Entries of an id keep
    # their order, so sums are rounded alike in every run.
    ordered, order = np.divmod(np.sort(ids.astype(np.int64) * count + np.arange(count)), max(count, 1))
    first = np.flatnonzero(np.diff(ordered, prepend=-1 if not count else ordered[0] - 1))
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[order]
    return ordered[first], np.append(first, count), rows, order


def sequence_array(key: SequenceKey, begin: Ints) -> Ints:
    """Starts, maps or predecessors of sequences that start at `begin`."""
    if key.kind == "starts":
        return begin
    if key.kind == "map":
        return np.repeat(np.arange(len(begin) - 1), np.diff(begin))
    return _neighbours(begin, key.reverse)


def _neighbours(starts: Ints, reverse: bool) -> Ints:
    """The previous row of each row in its sequence, or -1."""
    rows = np.arange(starts[-1]) + (1 if reverse else -1)
    filled = np.diff(starts) > 0
    rows[(starts[1:] - 1)[filled] if reverse else starts[:-1][filled]] = -1
    return rows


def sequences_in_steps(key: SequenceKey, steps: StepRows, begin: Ints, absolute: Ints) -> Ints:
    """Sequence starts of each step, sequence of each row, or the previous row, derived from those of all steps."""
    groups, rows = steps.range_of(key.group), steps.range_of(key.leaf)
    assert groups is not None
    assert rows is not None
    if key.kind == "starts":
        step = np.repeat(np.arange(len(groups[0])), groups[1] - groups[0] + 1)
        own: Ints = begin[np.arange(len(step)) - step] - begin[groups[0]][step]
        return own
    step = np.repeat(np.arange(len(rows[0])), rows[1] - rows[0])
    return np.where(absolute < 0, absolute, absolute - (groups if key.kind == "map" else rows)[0][step])


def index_in_steps(value: Value, steps: StepRows, absolute: Ints) -> Ints:
    """Row indices of another domain, relative to the first row of the step."""
    assert value.points_to is not None
    own, other = steps.range_of(value.domain), steps.range_of(value.points_to)
    assert own is not None
    assert other is not None
    return absolute - np.repeat(other[0], own[1] - own[0])


def rows_of(plan: Plan, buffer: Buffer, value: Value) -> NDArray[Any]:
    """The rows of a value in a buffer: a view on the CPU, otherwise a copy."""
    return plan.read(buffer).reshape(plan.rows.of(value.domain), *value.type.dims)


def read_value(plan: Plan, batch: BatchRows, value: Value) -> Any:
    """A value as newly allocated arrays, as sequences where it has them; sparse rows as they were fed."""
    if value.entries is not None:  # sparse rows are only fed, never computed
        return batch.in_sequences(value, batch.fed_sparse(value))
    return batch.in_sequences(value, rows_of(plan, plan.values[value.name], value).copy())
