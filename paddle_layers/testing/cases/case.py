"""Test cases: configs of a layer as small networks with a batch of data, and whole networks of its definition."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from paddle_layers.config import Network, Node, loads
from paddle_layers.config.writing.text import Word, fields_text
from paddle_layers.define import Attributes, Example, Input, LayerDefinition, Type
from paddle_layers.runtime import Net, Sequences
from paddle_layers.runtime.devices import Device

from .batches import STARTS, USUAL, BatchLayout
from .values import APART, draw_numbers, draw_places, draw_rows, spread, take_rows

__all__ = ["LAYER", "STARTS", "Case", "cases", "network_text", "spread"]

LAYER = "it"
"""Name of the layer under test in its network."""
MOST_TIMES = 64
"""Multiple of the rows of a batch, for a layer that needs a divisible number of them."""
FED = Input("N ...", "a value that enters the network by the layer itself")


def network_text(
    definition: LayerDefinition,
    types: Sequence[Type],
    settings: Mapping[str, Any],
    *,
    outputs: Iterable[str] = (),
    propagate: Sequence[bool] = (),
    copied: bool = False,
) -> str:
    """Data layers `in0`, `in1` ... and the layer; with `propagate`, the gradients of these inputs are forced.

    `copied`: the data are copied before the layer, so that it may work in-place on its inputs.
    """
    lines = [_data_layer(f"in{place}", type_) for place, type_ in enumerate(types)]
    names = [f"in{place}" for place in range(len(types))]
    for place, type_ in enumerate(types):
        if copied and type_.kind == "DENSE":
            force = f" propagate_down: {str(propagate[place]).lower()}" if propagate else ""
            lines.append(f'layer {{ name: "copy{place}" type: "linear" input: "in{place}"{force} }}')
            names[place] = f"copy{place}"
    parts = [f'input: "{name}"' for name in names]
    parts += [f'output: "{name}"' for name in outputs]
    parts += [f"propagate_down: {str(force).lower()}" for force in propagate]
    lines.append(
        f'layer {{ name: "{LAYER}" type: "{definition.name}" {" ".join(parts)} {_block(definition, settings)}}}'
    )
    return "\n".join(lines) + "\n"


def _block(definition: LayerDefinition, settings: Mapping[str, Any]) -> str:
    known = definition.attribute_by_name
    plain = {
        name: Word(value)
        if name in known and known[name].type == "CHOICE" and isinstance(value, str) and value.isidentifier()
        else value
        for name, value in settings.items()
        if name not in definition.inputs
    }
    return f"{definition.name} {{ {fields_text(plain)} }} " if plain else ""


def _data_layer(name: str, type_: Type) -> str:
    shape = f" shape: {list(type_.dims)}" if not type_.kind.startswith("SPARSE") and type_.dims else ""
    size = "" if type_.kind == "DENSE" else f" size: {type_.size}"
    level = f" seq_nested_level: {type_.level}" if type_.level else ""
    kind = "" if type_.kind == "DENSE" else f" data_type: {type_.kind}"
    block = f"{kind}{level}{shape}{size} "
    return f'layer {{ name: "{name}" type: "data"{f" data {{{block}}}" if block.strip() else ""} }}'


@dataclass(frozen=True, eq=False)
class Case:
    """A config in one phase, with random data whose seed depends on the config only."""

    definition: LayerDefinition
    example: Example
    types: tuple[Type, ...]
    attributes: Attributes
    phase: str
    given_batch: BatchLayout | None = None
    copied: bool = False
    """Whether the data are copied before the layer, so that it may work in-place on its inputs."""
    unfit: ClassVar[frozenset[str]] = frozenset()
    """Properties that cannot be asked of such a case."""

    def __str__(self) -> str:
        return f"phase {self.phase}, {self.batch}\n{self.text()}".rstrip()

    @property
    def is_example(self) -> bool:
        """Whether it is one of the definition's examples, with their batch."""
        return self.given_batch is None

    @cached_property
    def batch(self) -> BatchLayout:
        """The rows, by default the seven of the examples; as often as the layer needs, which may refuse others."""
        deepest = max((type_.level for type_ in (self.types or self.output_types)), default=0)
        given = self.given_batch
        batch = given if given is not None and len(given.starts) == deepest else USUAL[deepest]
        # Some layers only accept batches whose rows a width divides, such as `seq_reshape`.
        return next(filter(self._takes, map(batch.times, range(1, MOST_TIMES + 1))), batch)

    def _takes(self, batch: BatchLayout) -> bool:
        """Whether the layer makes rows of such a batch by `@starts`; a function that asks for values is not tried."""
        asked = self.definition.hook_names.get("starts", ())
        binding = self.definition.bind_axes(self.types, self.attributes)
        given = {**self.attributes, **binding.sizes}
        for row, level in binding.levels.items():
            if level <= len(batch.starts):
                given[row] = batch.rows_at(level)
                given[f"{row}_start"] = np.array(batch.starts[level - 1] if level else ())
        # A row count that depends on values is only known once there are values.
        if not asked or not given.keys() >= set(asked):
            return True
        try:
            self.definition.hooks["starts"](**{name: given[name] for name in asked})
        except ValueError:
            return False
        return True

    @cached_property
    def inputs(self) -> list[Input]:
        """The input field of each position."""
        positions = self.definition.bind_axes(self.types, self.attributes).positions
        fields = {place: self.definition.inputs[name] for name, places in positions.items() for place in places}
        return [fields[place] for place in range(len(self.types))]

    @cached_property
    def output_types(self) -> tuple[Type, ...]:
        """Inferred types of the outputs."""
        return tuple(self.definition.infer(self.types, self.attributes))

    @property
    def outputs(self) -> list[str]:
        """Names of the layer's outputs in the network."""
        return [f"out{i}" for i in range(len(self.output_types))] if self.types else [LAYER]

    @property
    def trains(self) -> bool:
        """Whether there is a backward pass."""
        dense = any(type_.kind == "DENSE" for type_ in self.output_types)
        return self.phase == "train" and self.definition.facts.can_do_bp and dense

    @property
    def followed(self) -> bool:
        """Whether an activation, dropout or clipping follows the layer; these have separate facts."""
        return any(self.attributes[name] not in (None, 0.0, "linear") for name in self.definition.common)

    @cached_property
    def wanted(self) -> list[bool]:
        """Whether the input of each position has a gradient."""
        names = self.definition.facts.differentiable
        pairs = zip(self.types, self.inputs, strict=True)
        return [type_.kind == "DENSE" and field.name in names for type_, field in pairs]

    def text(self) -> str:
        """The network's text; gradients of the inputs are forced."""
        return network_text(
            self.definition,
            self.types,
            self.example.settings,
            outputs=self.outputs if self.types else (),
            propagate=self.wanted if self.definition.facts.differentiable else (),
            copied=self.copied,
        )

    def network(self) -> Network:
        """The checked network."""
        return loads(self.text(), name=f"<example of {self.definition.name}>")

    def net(self, dtype: str = "float64", device: str | Device = "cpu") -> Net:
        """The network bound to a device, with new random parameters and states: none is zero, no two are equal."""
        net = Net(self.network(), device=device, dtype=dtype)
        rng = self._rng(1)
        for parameter in net.parameters.values():
            # Initializers of the layer often give zeros or ones, which hide errors: of a bias that is never added, for
            # example.
            parameter.value = spread(rng, parameter.shape, ()) * 0.5
        for state in net.states.values():
            # Positive, because states such as running variances are divisors or arguments of a square root.
            state.value = rng.uniform(0.5, 1.5, state.shape)
        return net

    @property
    def fed(self) -> list[tuple[str, Type, Input]]:
        """Names, types and fields of what is fed; a layer without inputs is fed itself."""
        if not self.types:
            return [(LAYER, type_, FED) for type_ in self.output_types]
        pairs = zip(self.types, self.inputs, strict=True)
        return [(f"in{place}", type_, field) for place, (type_, field) in enumerate(pairs)]

    def arrays(self, stream: int = 0) -> list[Any]:
        """One array of rows for every position; a `Csr` for sparse rows. Another stream gives other values."""
        rng = self._rng(2 * stream)
        return [
            # Every input has a different offset: with equal values, a layer that swaps its inputs would pass.
            draw_rows(type_, field, rng, APART * place, self.batch.rows_at(type_.level))
            if field.places is None
            else draw_numbers(rng, type_.size, self.batch.rows_at(type_.level), self.batch.rows_at(0))
            if type_.kind == "INT"
            else draw_places(rng, type_.size, np.diff(self.batch.starts[type_.level]))
            for place, (_, type_, field) in enumerate(self.fed)
        ]

    def feeds(self, arrays: list[Any]) -> dict[str, Any]:
        """The rows as they are fed, in sequences where the type says so."""
        return {
            name: Sequences(rows, *map(np.array, self.batch.starts[: type_.level])) if type_.level else rows
            for (name, type_, _), rows in zip(self.fed, arrays, strict=True)
        }

    def samples(self, first: int, last: int, arrays: list[Any]) -> tuple[Case, list[Any]]:
        """The case with the samples from `first` to before `last` alone, and their rows of `arrays`."""
        levels = [type_.level for _, type_, _ in self.fed]
        chosen = [np.arange(self.batch.rows_at(at))[self.batch.rows_of(first, last, at)] for at in levels]
        rows = [take_rows(values, places) for values, places in zip(arrays, chosen, strict=True)]
        return replace(self, given_batch=self.batch.cut(first, last)), rows

    def _rng(self, stream: int) -> np.random.Generator:
        # CRC instead of `hash`, which differs between processes: a finding must be reproducible by its command.
        return np.random.default_rng([stream, zlib.crc32(repr(self.example).encode())])


def cases(definition: LayerDefinition) -> Iterator[Case]:
    """All examples, in both phases where the phase matters; data layers have none."""
    if definition.inputs:
        for example in definition.examples:
            yield from in_phases(definition, example)


def in_phases(definition: LayerDefinition, example: Example, batch: BatchLayout | None = None) -> Iterator[Case]:
    """The cases of a config, one for each phase that matters."""
    phases = ("train", "test") if definition.facts.has_phase or definition.states else ("train",)
    types, attributes = definition.example_inputs(example)
    for phase in phases:
        yield Case(definition, example, tuple(types), attributes, phase, batch)


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
    def batch(self) -> BatchLayout:
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
