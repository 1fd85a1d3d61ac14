"""Rows of a batch: arrays by name, and what follows from them: steps of recurrent groups, prepared sparse entries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.graph.domains import Value
from paddle_layers.runtime.graph.graph import Graph
from paddle_layers.runtime.graph.rows import Rows
from paddle_layers.runtime.graph.steps import Copies, SparseRows, StepLayout, Steps

from .values import Csr, Sequences

Ints = NDArray[np.int64]


@dataclass(eq=False)
class BatchRows(Rows):
    """Arrays by name: feeds, and indices derived from sequence starts."""

    arrays: dict[str, Any] = field(default_factory=dict)

    def fed_sparse(self, value: Value) -> Csr:
        """The sparse rows of a data layer; without values if all are ones."""
        rows = self.arrays[value.name]
        return Csr(rows.start, rows.id, rows.value if value.type.kind == "SPARSE" else None)

    def in_sequences(self, value: Value, rows: Any) -> Any:
        """The rows of a value as sequences."""
        if value.type.level == 0:
            return rows
        inner, *outer = value.domain.ancestors()
        starts = self.starts[value.domain, inner]
        return (
            Sequences(rows, starts) if value.type.level == 1 else Sequences(rows, self.starts[inner, outer[0]], starts)
        )


def stand_by(steps: Steps, batch: BatchRows) -> None:
    """Sets empty steps until the starts are known; the number of rows is an estimate."""
    parts = 1 if steps.outer is None else len(batch.layouts[steps.outer].first)
    nothing = np.zeros(0, np.int64)
    batch.layouts[steps] = _layout(nothing, nothing, np.zeros(parts + 1, np.int64))
    items, sequences = batch.counts[steps.items], batch.counts[steps.sequences]
    batch.counts |= dict.fromkeys(steps.domains, items)
    batch.counts |= {steps.longest_first: sequences, steps.opening: sequences}
    if steps.leaf is not None:
        batch.counts[steps.leaf_rows] = batch.counts[steps.leaf]


def lay_out(steps: Steps, batch: BatchRows) -> None:
    """Computes the order of the steps from the sequence starts."""
    starts, arrays, rows = batch.starts, batch.arrays, batch.counts
    begin = starts[steps.items, steps.sequences]
    lengths = np.diff(begin)
    count = len(lengths)
    around = None if steps.outer is None else batch.layouts[steps.outer]
    parts = np.array([0, count]) if around is None else np.append(around.first, count)
    part = np.repeat(np.arange(len(parts) - 1), np.diff(parts))
    # Longest sequences first, so that the sequences that are active in a step are the first ones of the step before:
    # each step is a contiguous range, and no step pads. The sort is stable, hence deterministic.
    order = np.lexsort((-lengths, part))
    rank = _inverse(order)
    sequence = np.repeat(np.arange(count), lengths)
    step = np.arange(begin[-1]) - begin[:-1][sequence]
    if steps.reverse:
        step = lengths[sequence] - 1 - step
    # Rows by step, and by rank within a step.
    item = np.lexsort((rank[sequence], step, part[sequence]))
    arrays |= {value.name: array for value, array in (
        (steps.place, _inverse(item)), (steps.item, item), (steps.sequence, sequence[item]),
        (steps.order, order), (steps.rank, rank),
    )}  # fmt: skip
    starts[steps.rows, steps.rows] = np.arange(len(item) + 1)
    layout = _layout(part[sequence[item]], step[item], parts)
    batch.layouts[steps] = layout
    rows |= {steps.rows: len(item), steps.longest_first: count}
    rows |= {steps.following: len(item), steps.opening: int(layout.opening.sum())}
    if steps.leaf is not None:
        _lay_out_leaves(steps, batch, item)
    for copy in steps.copies:
        _lay_out_copies(steps, batch, copy, sequence[item])
    for sparse in steps.sparse:
        _lay_out_sparse(batch, sparse)


def _lay_out_leaves(steps: Steps, batch: BatchRows, item: Ints) -> None:
    assert steps.leaf is not None
    begin = batch.starts[steps.leaf, steps.items]
    inside, leaf = _gathered(begin, item)
    batch.starts[steps.leaf_rows, steps.rows] = inside
    batch.arrays |= {steps.leaf_item.name: leaf, steps.leaf_place.name: _inverse(leaf)}
    batch.counts[steps.leaf_rows] = len(leaf)


def _lay_out_copies(steps: Steps, batch: BatchRows, copy: Copies, sequence: Ints) -> None:
    inside, source = _gathered(batch.starts[copy.source, steps.sequences], sequence)
    batch.starts[copy.domain, steps.rows] = inside
    batch.arrays[copy.copied.name] = source
    batch.counts[copy.domain] = len(source)


def _lay_out_sparse(batch: BatchRows, sparse: SparseRows) -> None:
    given: Csr = batch.arrays[sparse.source.name]
    begin, entries = _gathered(given.start, batch.arrays[sparse.order.name])
    value = given.value[entries] if given.value is not None and sparse.made.type.kind == "SPARSE" else given.value
    batch.arrays[sparse.made.name] = Csr(begin, given.id[entries], value)
    assert sparse.made.entries is not None
    batch.counts[sparse.made.entries] = len(entries)


def _inverse(order: Ints) -> Ints:
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return inverse


def _gathered(begin: Ints, which: Ints) -> tuple[Ints, Ints]:
    """Starts and rows of the sequences `which`, concatenated."""
    lengths = np.diff(begin)[which]
    starts = np.append(0, np.cumsum(lengths)).astype(np.int64)
    return starts, np.repeat(begin[:-1][which] - starts[:-1], lengths) + np.arange(starts[-1])


def _layout(part: Ints, step: Ints, sequences: Ints) -> StepLayout:
    """Steps from the part and the step index of each row, which are both increasing."""
    changed = (np.diff(part, prepend=-1) != 0) | (np.diff(step, prepend=-1) != 0)
    first = np.flatnonzero(changed)
    last = np.append(first[1:], len(part))
    if not len(part):
        last = first
    parts = np.searchsorted(part[first], np.arange(len(sequences)))
    return StepLayout(first, last, parts, sequences[:-1])


def prepare_entries(batch: BatchRows, graph: Graph, key: Callable[[str], int]) -> None:
    """Adds the entries that layers prepare to a batch; `key` gives the seed of an operation in this step."""
    for name, made in graph.prepared_entries.items():
        op, value = made.op, made.value
        given = {**op.attributes, **op.binding.sizes, **dict.fromkeys(op.layer.inputs)}
        given |= {asked: batch.arrays[feed] for asked, feed in made.inputs.items()}
        # The key of the step, as for random operations on the device: a resumed training samples the same entries.
        given |= {"key": key(op.name), "prepared": made.prepared}
        wanted = {asked: given[asked] for asked in op.layer.hook_names["entries"]}
        start, ids, values = op.layer.hooks["entries"](**wanted)
        assert value.entries is not None
        batch.arrays[name] = Csr(np.asarray(start, np.int64), np.asarray(ids, np.int64), np.asarray(values, float))
        batch.counts[value.entries] = len(ids)
        batch.starts[value.entries, value.domain] = batch.arrays[name].start
