"""Wiring by output names, in every state in which the network may be used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..binding.drafts import Draft
from ..binding.settings import State
from ..diagnostics.diagnostic import Source
from ..diagnostics.report import ConfigError, Report
from .fast_path import wire_simple
from .graph import order
from .nodes import Node
from .resolver import Resolver
from .states import states_of

PHASES = (State("train"), State("test"))


class Wired(NamedTuple):
    """The layers of a network."""

    name: str
    nodes: Sequence[Node]
    """The layers of all states, in an order that is valid in each."""
    source: Source
    states: Mapping[State, Sequence[Node]] = {}
    """The layers of each state that was checked."""


def wire(drafts: Sequence[Draft], report: Report, name: str) -> Wired:
    """The layers, checked in every state; errors go to the report."""
    if not drafts:
        if not report.diagnostics:
            report.add("E214", "this network has no layers", 0, help='add `layer { name: "..." type: "..." }`')
        return Wired(name, (), report.source)
    nodes = wire_simple(drafts) if not report.diagnostics else None
    return Wired(name, nodes, report.source) if nodes is not None else _wire_states(drafts, report, name)


def _wire_states(drafts: Sequence[Draft], report: Report, name: str) -> Wired:
    states = states_of(drafts)
    resolver = Resolver(drafts, report)
    nodes: dict[int, Node] = {}
    for group in states:
        resolver.names.start_phase()
        for state in group:
            nodes = resolver.run(state) | nodes
        resolver.names.end_phase()
    known = {} if report.failed else {state: resolver.in_order(state) for state in PHASES if state in resolver.results}
    return Wired(name, _ordered(drafts, nodes, resolver), report.source, known)


def _ordered(drafts: Sequence[Draft], nodes: dict[int, Node], resolver: Resolver) -> list[Node]:
    """Nodes of all states in an order that is valid in each, if there is one."""
    needs: list[list[int]] = [sorted(resolver.all_needs.get(index, ())) for index in range(len(drafts))]
    done = order(needs)
    done += [index for index in range(len(drafts)) if index not in set(done)] if len(done) < len(drafts) else []
    return [nodes[index] for index in done if index in nodes]


def relink(nodes: Sequence[Node], source: Source, state: State) -> list[Node]:
    """The layers of a checked network in another state. Raises `ConfigError`."""
    report = Report(source)
    drafts = [Draft(node.name, node.definition, node.inputs, node.setup, node.span[0]) for node in nodes]
    resolver = Resolver(drafts, report)
    resolver.names.start_phase()
    resolver.run(state)
    resolver.names.end_phase()
    if report.diagnostics:
        raise ConfigError(report.sorted())
    return resolver.in_order(state)
