"""Computation graph of a network: values with rows, operations with bound axes, parameters."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from paddle_layers.config.wiring.data_layers import IgnoredLabels, LabelReader, common_labels
from paddle_layers.define import LayerDefinition
from paddle_layers.define.definitions.layers import Binding
from paddle_layers.runtime.memory.layouts import FORMS, GATES, Form, Gates
from paddle_layers.runtime.memory.parameters import Parameter

from .domains import Domain, Value
from .steps import Steps


@dataclass(eq=False)
class Op:
    """One use of a layer; activation and dropout of a node are separate operations."""

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
    """The config's setting for each input: true forces its gradient, false blocks it; None, or empty: as needed."""
    entries: dict[str, Value] = field(default_factory=dict)
    """Prepared sparse entries of the operation."""
    steps: Steps | None = None
    """The recurrent group in whose steps the operation runs one by one; None: on all rows at once."""
    carried: Value | None = None
    """For a memory: the value whose rows of the previous step are its output."""

    def argument(self, name: str) -> tuple[Value, ...]:
        """Values of an input; for prepared entries, those."""
        if name in self.entries:
            return (self.entries[name],)
        return tuple(self.inputs[place] for place in self.binding.positions[name])

    def group_of(self, row: str) -> Domain:
        """Domain that groups a row axis into its sequences."""
        outer = self.rows[row].ancestors() or [self.rows[row]]  # each sample is a separate group
        return outer[-1 if self.binding.levels[self.layer.groups[row]] == 0 else 0]

    def output(self, name: str) -> tuple[Value, ...]:
        """Values of an output; several for a repeatable one, none for an absent one."""
        names = list(self.layer.outputs)
        if self.layer.outputs[name].repeatable:
            return self.outputs
        place = names.index(name)
        return self.outputs[place : place + 1]


class PreparedEntries(NamedTuple):
    """Prepared sparse entries: sparse rows computed from feeds for an operation before a pass."""

    op: Op
    value: Value
    inputs: dict[str, str]
    """Names of the feeds that they are computed from, by input."""
    prepared: Any
    """The part that is the same for all batches."""


class DynamicRows(NamedTuple):
    """Dynamic row count of an operation's output: how its starts are computed."""

    op: Op
    domains: tuple[Domain, ...]
    """The rows, after those of new sequences."""
    groups: dict[str, tuple[Domain, Domain]]
    """Rows of the inputs and their groups, by axis."""
    values: dict[str, Value]
    """Inputs whose values determine the rows, by name."""
    temps: tuple[str, ...]
    """Temporaries of the operation that determine the rows."""
    late: bool
    """Whether the starts are only known during a pass."""
    computed: bool
    """Whether this is because they depend on computed values."""

    def is_ready(self, starts: Container[tuple[Domain, Domain]]) -> bool:
        """Whether the starts that the new ones depend on are known."""
        return all((leaf, group) in starts for leaf, group in self.groups.values())


@dataclass(eq=False)
class Graph:
    """Operations in order, values by name, the feeds, the losses; immutable after construction."""

    samples: Domain
    ops: list[Op]
    values: dict[str, Value]
    feeds: dict[str, Value]
    losses: dict[str, float]
    """Weight by value name."""
    equal_rows: list[tuple[str, Domain, Domain]]
    """Domains that a layer requires to be equal: the layer's name and both."""
    made_rows: list[DynamicRows | Steps] = field(default_factory=list)
    """Rows created by operations and recurrent groups, in order."""

    prepared_entries: dict[str, PreparedEntries] = field(default_factory=dict)
    """Prepared sparse entries of operations, by the name of the value."""

    @cached_property
    def dynamic_rows(self) -> list[DynamicRows]:
        """Dynamic row counts of operations."""
        return [made for made in self.made_rows if isinstance(made, DynamicRows)]

    @cached_property
    def groups(self) -> list[Steps]:
        """The steps of recurrent groups; outer groups come before nested ones."""
        return [made for made in self.made_rows if not isinstance(made, DynamicRows)]

    @cached_property
    def domains(self) -> list[Domain]:
        """All domains: those of feeds, outermost first, then created ones."""
        found = [self.samples]
        for value in self.feeds.values():
            found += [*reversed(value.domain.ancestors()), value.domain]
            found += [value.entries] if value.entries is not None else []
        found += [domain for made in self.made_rows for domain in made.domains]
        found += [made.value.entries for made in self.prepared_entries.values() if made.value.entries is not None]
        return list(dict.fromkeys(found))

    @cached_property
    def extra_ids(self) -> dict[str, IgnoredLabels]:
        """For each value of ids, the labels outside its range that all its readers ignore."""
        return common_labels(
            LabelReader(op.name, op.layer.name, op.attributes, tuple(v.name for v in op.inputs if v.type.kind == "INT"))
            for op in self.ops
        )


_PEEPHOLES = "PyTorch's LSTM has no peephole connections; set `peepholes: false`"
_RESETS_BEFORE = "PyTorch's GRU applies the reset gate after the matrix product; set `reset_after: true`"
_OTHER_GATES = 'the gates of PyTorch\'s GRU use sigmoid; set `gate_act: "sigmoid"`'
"""Our update gate is 1 minus PyTorch's, which only for a sigmoid means negated pre-activations."""


def torch_forms(graphs: Iterable[Graph]) -> dict[str, Form]:
    """The form of each parameter and state by its name."""
    found: dict[str, Form] = {}
    for graph in graphs:
        readers = _readers(graph)
        for op in graph.ops:
            gates = GATES.get(op.layer.name) or _gates_behind(op, readers)
            for name, parameters in op.params.items():
                form = _form(op, name, gates)
                for one in parameters:
                    found[one.name] = found.get(one.name, form).joined(form)
            found.update((one.name, _form(op, field, None)) for field, one in op.states.items())
    return found


def _form(op: Op, field: str, gates: Gates | None) -> Form:
    layer = op.layer.name
    form = FORMS.get((layer, field), Form(field))
    if layer == "embedding":
        form = replace(form, padding=op.attributes["padding_id"])
    if gates is None:
        return form
    missing = ""
    if layer == "lstmemory" and op.attributes["peepholes"]:
        missing = _PEEPHOLES
    elif layer == "grumemory" and not op.attributes["reset_after"]:
        missing = _RESETS_BEFORE
    elif layer == "grumemory" and op.attributes["gate_act"] != "sigmoid":
        missing = _OTHER_GATES
    recall = layer == "grumemory" and field == "bias"
    return replace(form, transposed=field == "weight", gates=replace(gates, recall=recall), missing=missing)


def _gates_behind(op: Op, readers: Mapping[Value, list[str]]) -> Gates | None:
    """For an `fc` whose columns are the gates of a recurrent layer and nothing else: these gates."""
    # Only if nothing else reads the columns: another reader would see them permuted.
    behind = set(readers.get(op.outputs[0], ())) if op.layer.name == "fc" else set()
    return GATES.get(behind.pop()) if len(behind) == 1 else None


def _readers(graph: Graph) -> dict[Value, list[str]]:
    """Types of the layers that read each value."""
    found: dict[Value, list[str]] = {}
    for op in graph.ops:
        for value in op.inputs:
            found.setdefault(value, []).append(op.layer.name)
    return found
