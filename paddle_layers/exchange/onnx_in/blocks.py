"""Repeated structures as blocks, which are written once and used with settings.

Repeated layers are windows with equal structure that differ only in numbers.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paddle_layers.define import registries

Fields = dict[str, Any]
LONGEST, MOST_LAYERS = 48, 2000
"""Maximum number of layers of a pattern and of a network: the time of the search is proportional to the product."""
OVERHEAD = 8
"""Lines that a block adds to its layers, including one for a statement that is wrapped."""
Settings = dict[str, tuple[Any, ...]]
"""The values of each setting, one for each use."""


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
    """Whether it can be a setting of a block: there is no text for an infinite one."""
    return isinstance(value, (bool, int, float)) and math.isfinite(value)


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


@dataclass
class BlockNetwork:
    """Blocks and layers that use them; where layers are now, by their old names."""

    blocks: list[Fields]
    layers: list[Fields]
    paths: dict[str, str] = field(default_factory=dict)


def with_blocks(layers: Sequence[Fields], outputs: Collection[str]) -> BlockNetwork:
    """The layers of a network in order, with repeated structures replaced by blocks; `outputs` keep their names."""
    found = BlockNetwork([], list(layers))
    # The best pattern first, then again on the shorter network: a stage of a ResNet may contain blocks that repeat
    # themselves.
    while pattern := best_pattern(found.layers, outputs):
        _replace(found, pattern, outputs)
    return found


def _replace(found: BlockNetwork, pattern: Pattern, outputs: Collection[str]) -> None:
    windows = [found.layers[start : start + pattern.length] for start in pattern.starts]
    prefixes = [prefix_of(window) for window in windows]
    (layer, at), inner = pattern.result, _inner_names(windows[0], prefixes[0])
    sources = [_sources(window) for window in windows]
    block, given = _block(windows, inner, sources[0])
    kind = re.sub(r"[0-9_]+", "_", prefixes[0]).strip("_") or "repeated"
    block["name"] = _free(f"{kind}_block", {one["name"] for one in found.blocks})
    block["output"] = [outputs_of(block["layer"][layer])[at]]
    found.blocks.append(block)
    # Outputs of the model keep their names, since users ask for them.
    taken = {name for one in found.layers for name in (one["name"], *outputs_of(one))} | set(outputs)
    uses: dict[int, Fields] = {}
    values: dict[str, str] = {}  # of this round alone: a name that a round before has freed may be another value now
    for number, (start, window) in enumerate(zip(pattern.starts, windows, strict=True)):
        old = outputs_of(window[layer])[at]
        name = old if old in outputs else _free(prefixes[number] or f"{kind}{number + 1}", taken - {old})
        taken.add(name)
        values[old] = name
        found.paths |= {one["name"]: f"{name}.{own}" for one, own in zip(window, inner, strict=True)}
        settings = ", ".join(f"{of} = {_text(values[number])}" for of, values in given.items())
        uses[start] = {"name": name, "type": block["name"], "input": sources[number]} | _set(settings)
    covered = {place for start in pattern.starts for place in range(start + 1, start + pattern.length)}
    kept = [uses.get(place, one) for place, one in enumerate(found.layers) if place not in covered]
    found.layers = [one | {"input": _renamed(one["input"], values)} if "input" in one else one for one in kept]


def _block(
    windows: Sequence[Sequence[Fields]], inner: Sequence[str], sources: Sequence[str]
) -> tuple[Fields, Settings]:
    """The block, and the values that its settings have in each use: attributes with the same values share one."""
    known: dict[str, str] = {}
    for one, name in zip(windows[0], inner, strict=True):
        for at, value in enumerate(outputs_of(one)):
            known[value] = _free(f"{name}_{at}", {*inner, *known.values()}) if at else name
    for number, name in enumerate(sources, 1):
        known[name] = _free("x" if len(sources) == 1 else f"x{number}", known.values())
    settings: dict[tuple[str, ...], str] = {}  # by text: False and 0 are equal, and so are True, 1 and 1.0
    given: Settings = {}
    layers: list[Fields] = []
    for place, (first, name) in enumerate(zip(windows[0], inner, strict=True)):
        fixed, chosen = Fields(), list[str]()
        for attribute, value in attributes_of(first):
            values = tuple(window[place][first["type"]][attribute] for window in windows)
            if all(repr(one) == repr(value) for one in values):
                if value != _usual(first["type"], attribute):
                    fixed[attribute] = value
            else:
                of = settings.setdefault(tuple(map(repr, values)), _free(attribute, given))
                given[of] = values
                chosen.append(attribute if of == attribute else f"{attribute} = {of}")
        layers.append(
            {"name": name, "type": first["type"], "input": _renamed(first["input"], known)}
            | ({"output": _renamed(first["output"], known)} if "output" in first else {})
            | _set(", ".join(chosen))
            | ({first["type"]: fixed} if fixed else {})
            | ({"param": first["param"]} if "param" in first else {})
        )
    wanted = ", ".join(of if type(values[0]) is int else f"{of} = {_text(values[0])}" for of, values in given.items())
    inputs = [known[name] for name in sources]
    return {"name": "", "input": inputs, **({"settings": wanted} if wanted else {}), "layer": layers}, given


def _usual(type_: str, attribute: str) -> Any:
    found = registries["layer"][type_].attributes[attribute]
    return None if found.default_from else found.default


def _renamed(names: Sequence[str], known: Mapping[str, str]) -> list[str]:
    return [known.get(name, name) for name in names]


def _set(settings: str) -> Fields:
    return {"set": settings} if settings else {}


def _sources(window: Sequence[Fields]) -> list[str]:
    """External inputs, in the order of first use."""
    inside = {name for one in window for name in outputs_of(one)}
    return [name for name in dict.fromkeys(name for one in window for name in one["input"]) if name not in inside]


def _inner_names(window: Sequence[Fields], prefix: str) -> list[str]:
    found: list[str] = []
    for one in window:
        own = one["name"][len(prefix) :].strip("_") if prefix else ""
        found.append(_free(own if own[:1].isalpha() else one["type"], set(found)))
    return found


def _free(name: str, taken: Collection[str]) -> str:
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    return found


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)
