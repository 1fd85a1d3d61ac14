"""Checked layers and their nested layers: immutable, with inferred types."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddle_layers.define import Attributes, LayerDefinition, Type

from ..binding.drafts import Setup
from ..binding.settings import ParamSettings, StateRule

if TYPE_CHECKING:
    from paddle_layers.schema.layer_def_pb2 import LayerOutputDef


class Inside(NamedTuple):
    """The network inside a composite layer, or one step of a recurrent group."""

    nodes: tuple[Node, ...]
    """In topological order; their names and those of their outputs are local."""
    inputs: tuple[str, ...]
    """Local name of each input of the layer."""
    outputs: tuple[str, ...]
    """Local name of each output of the layer."""


class Node:
    """A layer of a network: its settings and inferred types."""

    __slots__ = ("_input_types", "_inputs", "_inside", "_name", "_offset", "_output_names", "_output_types", "_setup")

    def __init__(
        self,
        name: str,
        inputs: tuple[str, ...],
        output_names: tuple[str, ...],
        setup: Setup,
        input_types: tuple[Type, ...],
        output_types: tuple[Type, ...],
        offset: int,
        inside: Inside | None = None,
    ) -> None:
        self._name, self._inputs, self._output_names, self._setup = name, inputs, output_names, setup
        self._input_types, self._output_types, self._offset = input_types, output_types, offset
        self._inside = inside

    @property
    def name(self) -> str:
        """Name of the layer."""
        return self._name

    @property
    def definition(self) -> LayerDefinition:
        """Definition of the layer type."""
        return self._setup.definition

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the outputs it reads."""
        return self._inputs

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of its outputs."""
        return self._output_names

    @property
    def attributes(self) -> Attributes:
        """Values of all attributes."""
        return self._setup.attributes

    @property
    def params(self) -> dict[str, ParamSettings]:
        """Settings by name in the definition; parameters without settings are absent."""
        return self._setup.params

    @property
    def activation(self) -> tuple[LayerDefinition, Attributes] | None:
        """The activation applied to every output; None for linear."""
        return self._setup.activation

    @property
    def loss_weight(self) -> tuple[float, ...] | None:
        """Weight of each output in the total loss; None: 1 for losses, 0 for others."""
        return self._setup.loss_weight

    @property
    def propagate_down(self) -> tuple[bool, ...]:
        """For each input, whether its gradient is computed; empty: where it is needed."""
        return self._setup.propagate_down

    @property
    def include(self) -> tuple[StateRule, ...]:
        """The layer exists only in states that meet one of these rules."""
        return self._setup.include

    @property
    def exclude(self) -> tuple[StateRule, ...]:
        """The layer is absent in states that meet one of these rules."""
        return self._setup.exclude

    @property
    def input_types(self) -> tuple[Type, ...]:
        """Types of the inputs."""
        return self._input_types

    @property
    def output_types(self) -> tuple[Type, ...]:
        """Types of the outputs."""
        return self._output_types

    @property
    def outputs(self) -> list[LayerOutputDef]:
        """Types of the outputs as protobuf messages."""
        return [type_.to_message(name) for name, type_ in zip(self._output_names, self._output_types, strict=True)]

    @property
    def inside(self) -> Inside | None:
        """The network inside a composite layer or a recurrent group; None for all others."""
        return self._inside

    @property
    def setup(self) -> Setup:
        """Shared settings of nodes with the same text."""
        return self._setup

    @property
    def span(self) -> tuple[int, int]:
        """Offsets of the layer's name in the source, with its quotes."""
        return self._offset, self._offset + len(self._name) + 2

    def __repr__(self) -> str:
        shapes = ", ".join(map(str, self._output_types))
        return f"<{self.definition.name} {self._name!r}: {shapes}>"
