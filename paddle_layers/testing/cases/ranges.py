"""Attribute values: legal ones with the ends of the range, extreme ones, and illegal ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from paddle_layers.define import Attribute

ABSENT = object()
"""The attribute is not set."""

ACTIVATIONS = ("linear", "tanh", "relu")
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
