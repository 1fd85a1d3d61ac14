"""Repeated structures as blocks, which are written once and used with settings."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paddle_layers.define import registries

from .repeats import Fields, Pattern, attributes_of, best_pattern, outputs_of, prefix_of

Settings = dict[str, tuple[Any, ...]]
"""The values of each setting, one for each use."""


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
            if all(one == value for one in values):
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
