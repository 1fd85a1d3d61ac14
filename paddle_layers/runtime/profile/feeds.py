"""Synthetic feeds from the types of the data layers, for timing."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_layers.define import Input
from paddle_layers.runtime.batch.values import Csr, Sequences
from paddle_layers.runtime.graph.domains import Value
from paddle_layers.runtime.graph.graph import Graph

LENGTH = 20
"""Rows of a sequence, and of a sub-sequence; a sequence has `PARTS` of these."""
PARTS = 4
ENTRIES = 50
"""Maximum number of columns per sparse row."""


def synthetic_feeds(graph: Graph, rows: int) -> dict[str, Any]:
    """Random values of every data layer for `rows` samples: ids in their range, sequences of equal length."""
    # A fixed seed: counts depend on ids, and two runs must be comparable.
    rng = np.random.default_rng(0)
    fields = {
        value.name: field for op in graph.ops for name, field in op.layer.inputs.items() for value in op.argument(name)
    }
    return {name: _feed(value, fields.get(name), rows, rng) for name, value in graph.feeds.items()}


def _feed(value: Value, field: Input | None, samples: int, rng: np.random.Generator) -> Any:
    level = value.type.level
    parts = samples * (PARTS if level == 2 else 1)
    data = _rows(value, field, parts * (LENGTH if level else 1), rng)
    if level == 0:
        return data
    starts = np.arange(parts + 1) * LENGTH
    return Sequences(data, starts) if level == 1 else Sequences(data, np.arange(samples + 1) * PARTS, starts)


def _rows(value: Value, field: Input | None, count: int, rng: np.random.Generator) -> Any:
    kind, size = value.type.kind, value.type.size
    shape = (count, *value.type.dims)
    if field is not None and field.places is not None:
        # Positions in a sequence: 0 is valid for every length.
        return np.zeros(shape, np.int64 if kind == "INT" else np.float32)
    if kind == "INT":
        return rng.integers(0, size, shape)
    if kind == "DENSE":
        low, high = field.within if field is not None and field.within is not None else (-1.0, 1.0)
        return rng.uniform(low, high, shape)
    entries = min(size, ENTRIES)
    apart = size // entries
    # Spread over the whole range, as accesses to neighboring rows would be in the cache.
    ids = (np.arange(entries) * apart + rng.integers(0, apart, (count, entries))).reshape(-1)
    start = np.arange(count + 1) * entries
    return Csr(start, ids, rng.standard_normal(len(ids)) if kind == "SPARSE" else None)
