"""A network as the runtime sees it: values with rows, operations with bound axes, parameters."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from paddle_layers.config.wiring.ignored_labels import IgnoredLabels, LabelReader, common_labels
from paddle_layers.define import LayerDefinition
from paddle_layers.define.definitions.layers import Binding
from paddle_layers.runtime.memory.parameters import Parameter

from .domains import Domain
from .steps import Steps
from .value import Value


@dataclass(eq=False)
class Op:
    """One use of a layer; activation and dropout of a node are operations of their own."""

    name: str
    layer: LayerDefinition
    attributes: Mapping[str, Any]
    binding: Binding
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...] = ()
    rows: dict[str, Domain] = field(default_factory=dict)
    params: dict[str, tuple[Parameter, ...]] = field(default_factory=dict)
    states: dict[str, Parameter] = field(default_factory=dict)
    propagate: tuple[bool | None, ...] = ()
    """What the config says of each input: true forces its gradient, false blocks it; None, or empty: as needed."""
    entries: dict[str, Value] = field(default_factory=dict)
    """Sparse rows that are made for it before a pass."""
    steps: Steps | None = None
    """The recurrent group in whose steps the operation runs one by one; None: on all rows at once."""
    carried: Value | None = None
    """For a memory: the value whose rows of the step before are its output."""

    def argument(self, name: str) -> tuple[Value, ...]:
        """Values given for an input; for entries, those that are made."""
        if name in self.entries:
            return (self.entries[name],)
        return tuple(self.inputs[place] for place in self.binding.positions[name])

    def group_of(self, row: str) -> Domain:
        """What groups a row axis into its sequences."""
        outer = self.rows[row].ancestors() or [self.rows[row]]  # a sample is in a group of its own
        return outer[-1 if self.binding.levels[self.layer.groups[row]] == 0 else 0]

    def output(self, name: str) -> tuple[Value, ...]:
        """Values of an output; several for a repeatable one, none for one that is not there."""
        names = list(self.layer.outputs)
        if self.layer.outputs[name].repeatable:
            return self.outputs
        place = names.index(name)
        return self.outputs[place : place + 1]


class MadeEntries(NamedTuple):
    """Sparse rows that are made for an operation before a pass, of what is fed."""

    op: Op
    value: Value
    inputs: dict[str, str]
    """Names of the feeds that they are made of, by input."""
    prepared: Any
    """What is the same for all batches."""


class OwnRows(NamedTuple):
    """Rows that an operation makes for its output: how their starts are computed."""

    op: Op
    domains: tuple[Domain, ...]
    """The rows, after those of sequences that are new as well."""
    groups: dict[str, tuple[Domain, Domain]]
    """Rows of the inputs and what groups them, by axis."""
    values: dict[str, Value]
    """Inputs whose values decide, by name."""
    temps: tuple[str, ...]
    """Temporaries of the operation that decide."""
    late: bool
    """Whether the starts are known in the middle of a pass only."""
    computed: bool
    """Whether this is because what decides is computed."""

    def is_ready(self, starts: Container[tuple[Domain, Domain]]) -> bool:
        """Whether the starts are known from which the new ones follow."""
        return all((leaf, group) in starts for leaf, group in self.groups.values())


@dataclass(eq=False)
class Graph:
    """Operations in order, values by name, the feeds, the losses; nothing is added when it is built."""

    samples: Domain
    ops: list[Op]
    values: dict[str, Value]
    feeds: dict[str, Value]
    losses: dict[str, float]
    """Weight by value name."""
    equal_rows: list[tuple[str, Domain, Domain]]
    """Domains that a layer needs to agree: the layer's name and both."""
    made_rows: list[OwnRows | Steps] = field(default_factory=list)
    """Rows that operations and recurrent groups make, in order."""

    made_entries: dict[str, MadeEntries] = field(default_factory=dict)
    """Sparse rows that are made for operations, by the name of the value."""

    @cached_property
    def own_rows(self) -> list[OwnRows]:
        """Rows that operations make."""
        return [made for made in self.made_rows if isinstance(made, OwnRows)]

    @cached_property
    def groups(self) -> list[Steps]:
        """The steps of recurrent groups; those of a group come before those of the groups inside."""
        return [made for made in self.made_rows if not isinstance(made, OwnRows)]

    @cached_property
    def domains(self) -> list[Domain]:
        """All domains: those that feeds bring, outermost first, then those that are made."""
        found = [self.samples]
        for value in self.feeds.values():
            found += [*reversed(value.domain.ancestors()), value.domain]
            found += [value.entries] if value.entries is not None else []
        found += [domain for made in self.made_rows for domain in made.domains]
        found += [made.value.entries for made in self.made_entries.values() if made.value.entries is not None]
        return list(dict.fromkeys(found))

    @cached_property
    def extra_ids(self) -> dict[str, IgnoredLabels]:
        """For each value of ids, the labels outside its range that every layer which reads it ignores."""
        return common_labels(
            LabelReader(op.name, op.layer.name, op.attributes, tuple(v.name for v in op.inputs if v.type.kind == "INT"))
            for op in self.ops
        )
