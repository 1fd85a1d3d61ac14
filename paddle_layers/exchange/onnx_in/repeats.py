"""Detection of repeated layers: windows with equal structure that differ only in numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paddle_layers.define import registries

Fields = dict[str, Any]
LONGEST, MOST_LAYERS = 48, 2000
"""Maximum number of layers of a pattern and of a network: the time of the search is proportional to the product."""
OVERHEAD = 8
"""Lines that a block adds to its layers, including one for a statement that is wrapped."""


@dataclass(frozen=True)
class Pattern:
    """Windows of so many layers, by where they start."""

    length: int
    starts: list[int]
    named: bool
    """Whether the names of its layers suggest a module, by a common path."""
    result: tuple[int, int]
    """The layer that is read outside, and its output."""

    @property
    def saved(self) -> int:
        """Lines fewer."""
        return (len(self.starts) - 1) * self.length - len(self.starts) - OVERHEAD

    @property
    def score(self) -> tuple[bool, int, int]:
        """The larger, the better: few uses of what is long before many of what is short."""
        return self.named, (len(self.starts) - 1) * (self.length - 1), self.length


def best_pattern(layers: Sequence[Fields], outputs: Collection[str]) -> Pattern | None:
    """The pattern that makes most of the network shorter, None where none does; `outputs` are read outside."""
    keys = [_key(one) for one in layers] if len(layers) <= MOST_LAYERS else []
    readers: dict[str, list[int]] = defaultdict(list, {name: [len(layers)] for name in outputs})
    for place, one in enumerate(layers):
        for name in one.get("input", ()):
            readers[name].append(place)
    found = [pattern for length in range(2, LONGEST + 1) for pattern in _patterns(layers, keys, length, readers)]
    return max((one for one in found if one.saved > 0), key=lambda one: one.score, default=None)


def _key(layer: Fields) -> Hashable:
    """Structural key: everything but names and numbers of attributes. None for layers that blocks cannot contain."""
    shared = any("share" in one for one in layer.get("param", ()))
    if shared or not layer.get("input") or layer["type"] not in registries["layer"]:
        return None
    attributes = [
        (name, type(value).__name__ if _is_number(value) else repr(value)) for name, value in attributes_of(layer)
    ]
    return layer["type"], tuple(attributes), repr(layer.get("param")), len(outputs_of(layer))


def attributes_of(layer: Fields) -> list[tuple[str, Any]]:
    """Names and values of its attributes."""
    return list(layer.get(layer["type"], {}).items())


def outputs_of(layer: Fields) -> list[str]:
    """Names of the values that it gives."""
    return layer.get("output") or [layer["name"]]


def _is_number(value: object) -> bool:
    return isinstance(value, (bool, int, float))


def _patterns(
    layers: Sequence[Fields], keys: Sequence[Hashable], length: int, readers: Mapping[str, Sequence[int]]
) -> Iterator[Pattern]:
    """Windows of so many layers that are alike, and read each other in the same way."""
    groups: dict[tuple[Hashable, ...], list[int]] = defaultdict(list)
    for start in range(len(keys) - length + 1):
        groups[tuple(keys[start : start + length])].append(start)
    for alike, starts in groups.items():
        if len(starts) < 2 or None in alike or any(alike[part:] == alike[:-part] for part in range(1, length // 2 + 1)):
            continue  # too few, or what repeats is a part of it
        wired: dict[tuple[Hashable, tuple[int, int], bool], list[int]] = defaultdict(list)
        for start in starts:
            if wiring := _wiring(layers, start, length, readers):
                wired[(*wiring, bool(prefix_of(layers[start : start + length])))].append(start)
        for (_, result, named), same in wired.items():
            apart: list[int] = []
            for start in same:
                # Greedy from the first: windows must not overlap.
                if not apart or start >= apart[-1] + length:
                    apart.append(start)
            if len(apart) > 1:
                yield Pattern(length, apart, named, result)


def _wiring(
    layers: Sequence[Fields], start: int, length: int, readers: Mapping[str, Sequence[int]]
) -> tuple[Hashable, tuple[int, int]] | None:
    """The producers of the inputs of each layer, and the value that is read outside; None if there are several."""
    window = layers[start : start + length]
    inside = {name: (place, at) for place, one in enumerate(window) for at, name in enumerate(outputs_of(one))}
    outside: dict[str, int] = {}
    inputs = tuple(
        tuple(inside.get(name) or outside.setdefault(name, len(outside)) for name in one["input"]) for one in window
    )
    read = [
        place
        for name, place in inside.items()
        if any(not start <= reader < start + length for reader in readers.get(name, ()))
    ]
    return (inputs, read[0]) if len(read) == 1 else None


def prefix_of(window: Sequence[Fields]) -> str:
    """Common prefix of the names of its layers, such as `layer1_0`."""
    names = [str(one["name"]) for one in window]
    first, last = min(names), max(names)
    same = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[:same].rpartition("_")[0]
