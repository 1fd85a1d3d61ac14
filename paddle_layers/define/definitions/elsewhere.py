"""Names in other systems: suggestions for names that are not registered here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .definition import Definition
from .registry import HINTS, registries
from .search import SYSTEMS

ENDINGS = ("layer", "evaluator")
"""Affixes that the helpers of Paddle and the types of Mocha add to a name."""
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
    """A definition here, and the name of the same thing in another system, or a search term without a system."""

    definition: Definition
    system: str
    name: str

    def hint(self, kind: str) -> str:
        """The replacement for a definition of this kind."""
        own = self.definition
        what = f"called `{own.name}`" if own.kind == kind else f"the {own.kind} `{own.name}`"
        owner = f"{self.system}'s " if self.system else ""
        return f"{owner}`{self.name}` is {what} here"


def meant_elsewhere(kind: str, name: str) -> Meant | None:
    """The definition with this name in another system or the literature, up to endings and case; best of this kind.

    A name that differs from a registered one in its case alone is a misspelling, unless another system has exactly this
    name: `Linear` is PyTorch's fully connected layer and not the identity.
    """
    plain, exact = _plain(name), {name, _stem(name)}
    found = [meant for meant in _names() if _plain(meant.name) == plain]
    if name.lower() in registries[kind]:
        found = [meant for meant in found if meant.name == name]
        if any(meant.definition.name == name.lower() for meant in found):
            return None
    ended = name != _stem(name)
    return min(
        found,
        key=lambda m: (
            m.name not in exact,
            ended and m.system not in WITH_ENDINGS,
            m.definition.kind != kind,
            SYSTEMS.index(m.system) if m.system in SYSTEMS else len(SYSTEMS),
        ),
        default=None,
    )


def _names() -> Iterator[Meant]:
    for registry in registries.values():
        for definition in registry.values():
            for system, names in definition.elsewhere.items():
                yield from (Meant(definition, system, name) for name in names.split(", "))
            yield from (Meant(definition, "", term) for term in definition.terms)


def _stem(name: str) -> str:
    ending = next((ending for ending in ENDINGS if name.lower().endswith(ending)), "")
    return name[: len(name) - len(ending)].rstrip("_")


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", _stem(name).lower())


def no_layer_here(kind: str, name: str) -> str:
    """Alternatives for a layer of another system that corresponds to several layers here, or to none."""
    system = next((system for system, names in NO_LAYER.items() if kind == "layer" and name in names), None)
    if system is None:
        return ""
    guide = "Every layer of Paddle, Caffe, Mocha and KUnet"
    return f"{system}'s `{name}` is not a single layer here; the guide {guide!r} shows its equivalent"


def _hint(kind: str, name: str) -> str:
    meant = meant_elsewhere(kind, name)
    return no_layer_here(kind, name) or (meant.hint(kind) if meant else "")


HINTS.append(_hint)
