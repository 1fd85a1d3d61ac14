"""Names in other systems: what is meant by a name that nobody registered here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .definition import Definition
from .registry import HINTS, registries

ENDINGS = ("layer", "evaluator")
"""What the helpers of Paddle and the types of Mocha add to a name."""
WITH_ENDINGS = ("Paddle", "Mocha")


NO_LAYER = {
    "Paddle": (
        *("gather_agent", "get_output", "l2_distance", "multi_class_cross_entropy_with_selfnorm", "scatter_agent"),
        *("sequence_agent", "sequence_gather_agent", "sequence_scatter_agent", "trans"),
    ),
    "Caffe": ("MemoryData", "Python", "Silence"),
    "Mocha": ("HingeLossLayer", "MemoryDataLayer", "MemoryOutputLayer"),
    "KUnet": ("KPerceptron", "Kernel", "LogpLoss", "Perceptron", "Poly", "Rbfk", "ScalLoss"),
}
"""Layers that are several here, or none: a guide says what to write in their place."""


class Meant(NamedTuple):
    """A definition here, and the name of the same thing in another system."""

    definition: Definition
    system: str
    name: str

    def hint(self, kind: str) -> str:
        """What to write instead, for somebody who looked for a definition of this kind."""
        own = self.definition
        what = f"called `{own.name}`" if own.kind == kind else f"the {own.kind} `{own.name}`"
        return f"{self.system}'s `{self.name}` is {what} here"


def meant_elsewhere(kind: str, name: str) -> Meant | None:
    """What another system calls so, give or take an ending and the case; best with this name and of this kind.

    A name that differs in its case alone from one that is registered here is a misspelling, and nobody else's.
    """
    if name.lower() in registries[kind]:
        return None
    plain, exact = _plain(name), {name, _stem(name)}
    found = [meant for meant in _names() if _plain(meant.name) == plain]
    ended = name != _stem(name)
    return min(
        found,
        key=lambda m: (m.name not in exact, ended and m.system not in WITH_ENDINGS, m.definition.kind != kind),
        default=None,
    )


def _names() -> Iterator[Meant]:
    for registry in registries.values():
        for definition in registry.values():
            for system, names in definition.elsewhere.items():
                yield from (Meant(definition, system, name) for name in names.split(", "))


def _stem(name: str) -> str:
    ending = next((ending for ending in ENDINGS if name.lower().endswith(ending)), "")
    return name[: len(name) - len(ending)].rstrip("_")


def _plain(name: str) -> str:
    return _stem(name).lower().replace("_", "").replace("-", "")


def no_layer_here(kind: str, name: str) -> str:
    """What to look at for a layer of another system that is several here, or none."""
    system = next((system for system, names in NO_LAYER.items() if kind == "layer" and name in names), None)
    if system is None:
        return ""
    guide = "Every layer of Paddle, Caffe, Mocha and KUnet"
    return f"{system}'s `{name}` is no layer of its own here; the guide {guide!r} says what to write in its place"


def _hint(kind: str, name: str) -> str:
    meant = meant_elsewhere(kind, name)
    return no_layer_here(kind, name) or (meant.hint(kind) if meant else "")


HINTS.append(_hint)
