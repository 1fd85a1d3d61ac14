"""Prepared sparse entries: sparse rows computed from feeds on the host, before a pass."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paddle_layers.runtime.graph.graph import Graph

from .rows import BatchRows
from .values import Csr


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
