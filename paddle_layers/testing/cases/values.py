"""Input values: distinct numbers away from non-differentiable points, ids, sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import Input, Type
from paddle_layers.runtime import Csr

Array = NDArray[Any]
SPREAD = 2.0
DISTANCE = 1e-3
APART = 0.0137
"""Shift between the values of two inputs, so that no two of them are equal."""
FILLED = 0.4
"""Share of the columns that a sparse row sets."""


def spread(
    rng: np.random.Generator, shape: tuple[int, ...], kinks: tuple[float | str, ...], offset: float = 0.0
) -> Array:
    """Distinct numbers, evenly spread over [-2, 2] in random order, none of them near zero or a kink."""
    size = int(np.prod(shape, dtype=np.int64))
    values = (rng.permutation(size) + 0.5) / max(size, 1) * 2 * SPREAD - SPREAD + offset
    for kink in (0.0, *kinks):
        if not isinstance(kink, str):
            values = np.where(abs(values - kink) < DISTANCE, kink + DISTANCE, values)
    return values.reshape(shape)


def draw_rows(type_: Type, field: Input, rng: np.random.Generator, offset: float, count: int) -> Any:
    """Rows of a type for an input; a `Csr` for sparse ones, of which the second is empty."""
    if type_.kind == "INT":
        return rng.integers(0, type_.size, (count, *type_.dims))
    if type_.kind == "DENSE":
        values = spread(rng, (count, *type_.dims), field.kinks, offset)
        return values if field.within is None else _between(values, *field.within)
    chosen = [np.flatnonzero(rng.random(type_.size) < FILLED) for _ in range(count)]
    chosen[1:2] = [row[:0] for row in chosen[1:2]]
    ids = np.concatenate([np.zeros(0, np.int64), *chosen])
    return Csr(
        np.cumsum([0, *map(len, chosen)]), ids, rng.standard_normal(len(ids)) if type_.kind == "SPARSE" else None
    )


def draw_places(rng: np.random.Generator, most: int, lengths: Array) -> Array:
    """Up to `most` random indices into sequences of these lengths, one list per sequence; -1 ends a list."""
    places = rng.integers(0, np.maximum(lengths, 1)[:, None], (len(lengths), most)).astype(np.float64)
    counts = np.where(lengths > 0, rng.integers(0, most + 1, len(lengths)), 0)
    ended = (np.arange(most) == counts[:, None]) | (lengths == 0)[:, None]
    return np.where(ended, -1.0, places)


def draw_numbers(rng: np.random.Generator, size: int, count: int, samples: int) -> Array:
    """Ids below `size` that are numbers of rows of the batch."""
    return rng.integers(0, max(min(size, samples), 1), count)


def take_rows(rows: Any, chosen: Array) -> Any:
    """The rows of these numbers, in this order."""
    if not isinstance(rows, Csr):
        return rows[chosen]
    entries = [np.arange(rows.start[row], rows.start[row + 1]) for row in chosen]
    kept = np.concatenate([np.zeros(0, np.int64), *entries])
    value = None if rows.value is None else rows.value[kept]
    return Csr(np.cumsum([0, *map(len, entries)]), rows.id[kept], value)


def join_rows(parts: list[Any]) -> Any:
    """Rows one part after the other."""
    if not isinstance(parts[0], Csr):
        return np.concatenate(parts)
    lengths = np.concatenate([np.diff(part.start) for part in parts])
    values = [part.value for part in parts if part.value is not None]
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Csr(start, np.concatenate([part.id for part in parts]), np.concatenate(values) if values else None)


def same_rows(one: Any, other: Any) -> bool:
    """Whether two values hold the same bits."""
    if not isinstance(one, Csr):
        return np.array_equal(one, other)
    values = one.value is other.value or np.array_equal(np.asarray(one.value), np.asarray(other.value))
    return values and np.array_equal(one.start, other.start) and np.array_equal(one.id, other.id)


def _between(values: Array, low: float, high: float) -> Array:
    """Spread values, brought into a range that they do not leave when they are moved a little."""
    share = (values + SPREAD + APART) / (2 * (SPREAD + 2 * APART))
    return low + (high - low) * (0.02 + 0.96 * share)
