"""Test cases of layers that depend on others: whole networks from the definition."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paddle_layers.config import Node, loads
from paddle_layers.define import Attributes, Example, Input, LayerDefinition, Type

from .batches import USUAL, Batch
from .case import FED, Case, cases


@dataclass(frozen=True, eq=False)
class NetworkCase(Case):
    """A network that the definition gives as an example; the values that enter it are those of its data layers."""

    given: str = ""
    """The network's text."""
    unfit = frozenset({"inference", "types", "facts"})

    def text(self) -> str:
        """The network as the definition has it."""
        return self.given

    @cached_property
    def _data(self) -> list[Node]:
        return [node for node in self.network() if not node.definition.inputs]

    @cached_property
    def batch(self) -> Batch:
        """The seven rows of the examples, at the deepest level of what is fed."""
        return self.given_batch or USUAL[max(type_.level for type_ in self.types)]

    @cached_property
    def inputs(self) -> list[Input]:
        """Inputs belong to no field."""
        return [FED] * len(self.types)

    @cached_property
    def outputs(self) -> list[str]:
        """Names of the outputs that no layer of the network reads."""
        return list(self.network().outputs)

    @cached_property
    def output_types(self) -> tuple[Type, ...]:
        """Types of these."""
        made = [pair for node in self.network() for pair in zip(node.output_names, node.output_types, strict=True)]
        known = dict(made)
        return tuple(known[name] for name in self.outputs)

    @property
    def trains(self) -> bool:
        """Whether there is a backward pass."""
        return self.phase == "train" and any(type_.kind == "DENSE" for type_ in self.output_types)

    @property
    def wanted(self) -> list[bool]:
        """Gradients of the network's parameters are checked, those of what is fed are not."""
        return [False] * len(self.types)

    @property
    def fed(self) -> list[tuple[str, Type, Input]]:
        """Names and types of the data layers."""
        names = [name for node in self._data for name in node.output_names]
        return [(name, type_, FED) for name, type_ in zip(names, self.types, strict=True)]

    def _rng(self, stream: int) -> np.random.Generator:
        return np.random.default_rng([stream, zlib.crc32(self.given.encode())])


def network_cases(definition: LayerDefinition) -> Iterator[NetworkCase]:
    """The definition's networks."""
    for text in definition.networks:
        types = tuple(type_ for node in loads(text) if not node.definition.inputs for type_ in node.output_types)
        yield NetworkCase(definition, Example(), types, Attributes({}), "train", given=text)


def all_cases(definition: LayerDefinition) -> Iterator[Case]:
    """Examples in all phases that matter, and networks."""
    yield from cases(definition)
    yield from network_cases(definition)
