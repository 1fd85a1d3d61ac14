"""Cases: a definition's examples as small networks with data, away from the points without a derivative."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.config import Network, loads
from paddle_layers.config.writing import Word, fields_text
from paddle_layers.define import Attributes, Example, Input, LayerDefinition, Type
from paddle_layers.runtime import Csr, Net, Sequences

Array = NDArray[Any]
ROWS = 7
STARTS: dict[int, tuple[tuple[int, ...], ...]] = {0: (), 1: ((0, 2, 2, 6, 7),), 2: ((0, 2, 3, 5), (0, 1, 1, 3, 6, 7))}
"""Starts by sequence level, outermost first: one empty sequence, one empty sub-sequence."""
LAYER = "it"
"""Name of the layer under test in its network."""
SPREAD = 2.0
DISTANCE = 1e-3
APART = 0.0137
"""Shift between the values of two inputs, so that no two of them are equal."""


@dataclass(frozen=True, eq=False)
class Case:
    """One example in one phase, with data drawn by a seed that depends on the example only."""

    definition: LayerDefinition
    example: Example
    types: tuple[Type, ...]
    attributes: Attributes
    phase: str

    def __str__(self) -> str:
        return f"{self.example!r}, phase {self.phase}"

    @property
    def inputs(self) -> list[Input]:
        """The input field of each position."""
        positions = self.definition.bind_axes(self.types, self.attributes).positions
        fields = {place: self.definition.inputs[name] for name, places in positions.items() for place in places}
        return [fields[place] for place in range(len(self.types))]

    @property
    def outputs(self) -> list[str]:
        """Names of the layer's outputs in the network."""
        return [f"out{i}" for i in range(len(self.definition.infer(self.types, self.attributes)))]

    def text(self) -> str:
        """The network's text: data layers `in0`, `in1` ... and the layer; gradients of the inputs are forced."""
        lines = [_data_layer(f"in{place}", type_) for place, type_ in enumerate(self.types)]
        parts = [f'input: "in{place}"' for place in range(len(self.types))]
        parts += [f'output: "{name}"' for name in self.outputs]
        differentiable = self.definition.facts.differentiable
        if differentiable:
            wanted = [
                t.kind == "DENSE" and i.name in differentiable for t, i in zip(self.types, self.inputs, strict=True)
            ]
            parts += [f"propagate_down: {str(force).lower()}" for force in wanted]
        settings = {
            name: Word(v) if self.definition.attribute_by_name[name].type == "CHOICE" else v
            for name, v in self.example.settings.items()
            if name not in self.definition.inputs
        }
        block = fields_text(settings)
        kind = self.definition.name
        lines.append(f'layer {{ name: "{LAYER}" type: "{kind}" {" ".join(parts)} {kind} {{ {block} }} }}')
        return "\n".join(lines) + "\n"

    def network(self) -> Network:
        """The checked network."""
        return loads(self.text(), name=f"<example of {self.definition.name}>")

    def net(self, dtype: str = "float64") -> Net:
        """The network bound to the CPU, with parameters and states drawn anew: none is zero, none is equal."""
        net = Net(self.network(), dtype=dtype)
        rng = self._rng(1)
        for parameter in net.parameters.values():
            parameter.value = spread(rng, parameter.shape, ()) * 0.5
        for state in net.states.values():
            state.value = rng.uniform(0.5, 1.5, state.shape)
        return net

    def arrays(self) -> list[Any]:
        """One array of rows for every position; a `Csr` for sparse rows."""
        rng = self._rng(0)
        pairs = zip(self.types, self.inputs, strict=True)
        deepest = max((type_.level for type_ in self.types), default=0)
        return [
            _rows(type_, field, rng, APART * place, _row_count(deepest - type_.level, deepest))
            for place, (type_, field) in enumerate(pairs)
        ]

    def feeds(self, arrays: list[Any]) -> dict[str, Any]:
        """The rows as they are fed, in sequences where the type says so."""
        deepest = max((type_.level for type_ in self.types), default=0)
        return {
            f"in{place}": Sequences(rows, *map(np.array, STARTS[deepest][: type_.level])) if type_.level else rows
            for place, (type_, rows) in enumerate(zip(self.types, arrays, strict=True))
        }

    def _rng(self, stream: int) -> np.random.Generator:
        return np.random.default_rng([stream, zlib.crc32(repr(self.example).encode())])


def cases(definition: LayerDefinition) -> Iterator[Case]:
    """All examples, in both phases where the phase matters; data layers have none."""
    if not definition.inputs:
        return
    phases = ("train", "test") if definition.facts.has_phase or definition.states else ("train",)
    for example, phase in itertools.product(definition.examples, phases):
        types, attributes = definition.example_inputs(example)
        yield Case(definition, example, tuple(types), attributes, phase)


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


def _row_count(above: int, deepest: int) -> int:
    """Rows of an input that stands `above` levels over the deepest one: those that its sequences group."""
    return ROWS if above == 0 else len(STARTS[deepest][deepest - above]) - 1


def _rows(type_: Type, field: Input, rng: np.random.Generator, offset: float, count: int) -> Any:
    if type_.kind == "INT":
        return rng.integers(0, type_.size, count)
    if type_.kind == "DENSE":
        values = spread(rng, (count, *type_.dims), field.kinks, offset)
        return values if field.within is None else _between(values, *field.within)
    chosen = [np.flatnonzero(rng.random(type_.size) < 0.4) for _ in range(count)]
    chosen[1] = chosen[1][:0]
    start = np.cumsum([0, *map(len, chosen)])
    ids = np.concatenate(chosen)
    return Csr(start, ids, rng.standard_normal(len(ids)) if type_.kind == "SPARSE" else None)


def _between(values: Array, low: float, high: float) -> Array:
    """Spread values, brought into a range that they do not leave when they are moved a little."""
    share = (values + SPREAD + APART) / (2 * (SPREAD + 2 * APART))
    return low + (high - low) * (0.02 + 0.96 * share)


def _data_layer(name: str, type_: Type) -> str:
    shape = f" shape: {list(type_.dims)}" if type_.kind == "DENSE" and type_.dims else ""
    size = "" if type_.kind == "DENSE" else f" size: {type_.size}"
    block = f"data_type: {type_.kind} seq_nested_level: {type_.level}{shape}{size}"
    return f'layer {{ name: "{name}" type: "data" data {{ {block} }} }}'
