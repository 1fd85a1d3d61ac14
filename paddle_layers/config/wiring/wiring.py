"""Wires layers by the names of their outputs, in every state the network may be used in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from paddle_layers.define import Type

from ..binding.drafts import Draft, Setup
from ..binding.settings import State
from ..diagnostics.diagnostic import Source
from ..diagnostics.report import ConfigError, Report
from .graph import order
from .inference import Types, output_names
from .insides import inner_names, inside_of, unknown_parameter
from .nodes import Inside, Node
from .states import states_of
from .wires import Wires

PHASES = (State("train"), State("test"))


class Wired(NamedTuple):
    """The layers of a network."""

    name: str
    nodes: Sequence[Node]
    """Of all states, in one order that is valid in each."""
    source: Source
    states: Mapping[State, Sequence[Node]] = {}
    """Those that are there in a state, for the states that were looked at."""


def wire_simple(drafts: Sequence[Draft]) -> list[Node] | None:
    """Nodes of a network that is in order, without rules and without faults; None for all others."""
    types: dict[str, Type] = {}
    nodes: list[Node] = []
    add = nodes.append
    names: set[str] = set()
    inner: set[str] = set()
    known: dict[Setup, dict[Types, tuple[Types, Inside | None]]] = {}
    for draft in drafts:
        setup = draft.setup
        if setup is None:
            return None
        memo = known.get(setup)
        if memo is None:
            if not setup.plain:
                return None
            memo = known[setup] = {}
        name, inputs = draft.name, draft.inputs
        try:
            given = tuple([types[other] for other in inputs])
        except KeyError:
            return None
        found = memo.get(given)
        if found is None:
            try:
                made = tuple(setup.definition.infer(given, setup.attributes))
                found = memo[given] = made, inside_of(setup, given)
            except Exception:  # whatever it is, the thorough way finds its place
                return None
            if unknown_parameter(setup, found[1]):
                return None
        made, inside = found
        names.add(name)
        outputs: tuple[str, ...]
        if len(made) == 1 and not setup.output_names:
            outputs = (name,)
            if name in types:
                return None
            types[name] = made[0]
        else:
            outputs = output_names(draft, len(made))
            taken = len(set(outputs)) < len(outputs) or any(output in types for output in outputs)
            if taken or len(outputs) != len(made):
                return None
            types.update(zip(outputs, made, strict=True))
        add(Node(name, inputs, outputs, setup, given, made, draft.offset, inside))
        if inside is not None:
            inner.update(inner_names(nodes[-1]))
    distinct = len(names) == len(nodes) and not inner & names and not inner & types.keys()
    return nodes if distinct and nodes else None


def wire(drafts: Sequence[Draft], report: Report, name: str) -> Wired:
    """The layers, checked in every state; faults go to the report and leave the network unusable."""
    if not drafts:
        if not report.diagnostics:
            report.add("E214", "this network has no layers", 0, help='add `layer { name: "..." type: "..." }`')
        return Wired(name, (), report.source)
    states = states_of(drafts)
    wires = Wires(drafts, report)
    nodes: dict[int, Node] = {}
    for group in states:
        wires.names.start_phase()
        for state in group:
            nodes = wires.run(state) | nodes
        wires.names.end_phase()
    known = {} if report.failed else {state: wires.in_order(state) for state in PHASES if state in wires.results}
    return Wired(name, _ordered(drafts, nodes, wires), report.source, known)


def _ordered(drafts: Sequence[Draft], nodes: dict[int, Node], wires: Wires) -> list[Node]:
    """Nodes of all states in one order that is valid in each, where there is one."""
    needs: list[list[int]] = [sorted(wires.all_needs.get(index, ())) for index in range(len(drafts))]
    done = order(needs)
    done += [index for index in range(len(drafts)) if index not in set(done)] if len(done) < len(drafts) else []
    return [nodes[index] for index in done if index in nodes]


def relink(nodes: Sequence[Node], source: Source, state: State) -> list[Node]:
    """The layers of a checked network that are there in one more state. Raises `ConfigError`."""
    report = Report(source)
    drafts = [Draft(node.name, node.definition, node.inputs, node.setup, node.span[0]) for node in nodes]
    wires = Wires(drafts, report)
    wires.names.start_phase()
    wires.run(state)
    wires.names.end_phase()
    if report.diagnostics:
        raise ConfigError(report.sorted())
    return wires.in_order(state)
