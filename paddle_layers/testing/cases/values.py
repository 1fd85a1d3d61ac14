"""Attribute values and input arrays of generated cases."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import Attribute, Input, Type
from paddle_layers.runtime import Csr

ABSENT = object()
"""The attribute is not set."""

ACTIVATIONS = ("linear", "tanh", "relu")
# 5e-324 is the smallest denormal number, 1.7e308 close to the largest; their inverse and square overflow.
FAR_NUMBERS = (0, 1, -1, 2**20, 2**40, 2**63 - 1, -(2**63), 0.5, 5e-324, 1e-30, 1e30, 1.7e308, math.inf, -math.inf)
FAR_TEXTS = ("", "linear", "no such name", "\u00e9")
WRONG = (math.nan, 1.5, 7, -1, True, "word", "NO_SUCH_CHOICE")
"""Illegal values for most attributes."""


def usual_values(attribute: Attribute[Any], given: Iterable[Any]) -> list[Any]:
    """A few legal values with the closed ends of the range; `given` are those of the examples."""
    values = _usual_items(attribute, given)
    if attribute.repeated:
        values = _lists(attribute, values, given)
    return [*([] if attribute.required else [ABSENT]), *_distinct(attribute, values)]


def far_values(attribute: Attribute[Any]) -> list[Any]:
    """Legal values that are far away or odd."""
    items = [*attribute.options, True, False, *FAR_NUMBERS, *FAR_TEXTS, attribute.min, attribute.max]
    legal = [item for item in items if item is not None and attribute.check_item(item) is None]
    if attribute.repeated:
        legal = [[], *([item] * count for item in legal for count in (1, 2, 3))]
    return [*([] if attribute.required else [ABSENT]), *_distinct(attribute, legal)]


def illegal_values(attribute: Attribute[Any]) -> Iterator[Any]:
    """Values that a config must not set: outside of the range by one, of another type, too few, too many."""
    low = attribute.min - 1 if attribute.min is not None else attribute.above
    high = attribute.max + 1 if attribute.max is not None else attribute.below
    if attribute.repeated:
        legal = next(iter(usual_values(attribute, ())[1:]), [1])
        items = [*legal, *legal, 1]
        yield from (items[: attribute.min_items - 1],) if attribute.min_items else ()
        yield from ([items[0]] * (attribute.max_items + 1),) if attribute.max_items is not None else ()
    for value in (low, high, *WRONG):
        if value is not None and attribute.check_item(value) is not None:
            yield [value] if attribute.repeated else value


def _usual_items(attribute: Attribute[Any], given: Iterable[Any]) -> list[Any]:
    if attribute.type == "STRING":
        return list(ACTIVATIONS) if attribute.name == "act" else list(given)
    if attribute.type == "BOOL":
        return [False, True]
    if attribute.type == "CHOICE":
        return list(attribute.options)
    # A bound such as 2**31 says how many bits there are; as a size it would only be refused.
    limits = [limit for limit in (attribute.min, attribute.max) if limit is not None and abs(limit) < 100]
    if attribute.type == "INT":
        start = attribute.min if attribute.min is not None else -1
        return [*limits, *(int(start) + step for step in range(4))]
    inside = [
        limit + step for limit in (attribute.above, attribute.below) if limit is not None for step in (0.01, -0.01)
    ]
    return [*limits, *inside, 0.5, 1.5, *([] if limits or inside else [0.0, -0.75])]


def _lists(attribute: Attribute[Any], items: list[Any], given: Iterable[Any]) -> list[Any]:
    legal = [item for item in items if attribute.check_item(item) is None]
    lists = [[item] * count for count in (0, 1, 3) for item in legal[:2]]
    return [*lists, legal[:2], *(list(reversed(value)) for value in given if isinstance(value, (list, tuple)))]


def _distinct(attribute: Attribute[Any], values: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if value not in found and attribute.check(value) is None:
            found.append(value)
    return found


Array = NDArray[Any]
SPREAD = 2.0
# A hundred times the step of the central differences, which must not cross a kink.
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
    # A permutation, not random numbers: ties would make the gradient of a maximum ambiguous, and near ties depend on
    # the step.
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
    # An empty row in the middle: its start equals the next one, which indexing by starts often gets wrong.
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
    # Off the ends of the domain, where differences would leave it, as probabilities do at 0 and 1.
    return low + (high - low) * (0.02 + 0.96 * share)
