"""Wires layers by the names of their outputs, in every state the network may be used in."""

from __future__ import annotations

from collections.abc import Sequence

from paddle_layers.define import Type

from .diagnostics import ConfigError, Report
from .drafts import Draft
from .graph import order
from .insides import inner_names, inside_of, unknown_parameter
from .network import Network, Node
from .settings import State
from .states import states_of
from .wires import Wires

PHASES = (State("train"), State("test"))


def wire_simple(drafts: Sequence[Draft]) -> list[Node] | None:
    """Nodes of a network that is in order, without rules and without faults; None for all others."""
    types: dict[str, Type] = {}
    nodes: list[Node] = []
    add = nodes.append
    names: set[str] = set()
    inner: set[str] = set()
    for draft in drafts:
        setup = draft.setup
        if setup is None or not (setup.memo or setup.plain):  # one that has been here before is plain
            return None
        name, inputs = draft.name, draft.inputs
        try:
            given = tuple([types[other] for other in inputs])
        except KeyError:
            return None
        made = setup.memo.get(given)
        if made is None:
            try:
                made = setup.memo[given] = tuple(setup.definition.infer(given, setup.attributes))
            except Exception:  # whatever it is, the thorough way finds its place
                return None
        names.add(name)
        outputs: tuple[str, ...]
        if len(made) == 1 and not setup.output_names:
            outputs = (name,)
            if name in types:
                return None
            types[name] = made[0]
        else:
            outputs = setup.output_names or _defaults(draft, len(made))
            taken = len(set(outputs)) < len(outputs) or any(output in types for output in outputs)
            if taken or len(outputs) != len(made):
                return None
            types.update(zip(outputs, made, strict=True))
        inside = inside_of(setup, given) if setup.definition.is_composite else None
        if inside is not None and unknown_parameter(setup, inside):
            return None
        add(Node(name, inputs, outputs, setup, given, made, draft.offset, inside))
        if inside is not None:
            inner.update(inner_names(nodes[-1]))
    distinct = len(names) == len(nodes) and not inner & names and not inner & types.keys()
    return nodes if distinct and nodes else None


def _defaults(draft: Draft, count: int) -> tuple[str, ...]:
    from .inference import output_names

    return output_names(draft, count)


def wire(drafts: Sequence[Draft], report: Report, name: str) -> Network:
    """The network, checked in every state; faults go to the report and leave the network unusable."""
    if not drafts:
        if not report.diagnostics:
            report.add("E214", "this network has no layers", 0, help='add `layer { name: "..." type: "..." }`')
        return Network.checked(name, (), report.source)
    states = states_of(drafts)
    wires = Wires(drafts, report)
    nodes: dict[int, Node] = {}
    for group in states:
        wires.names.start_phase()
        for state in group:
            nodes = wires.run(state) | nodes
        wires.names.end_phase()
    network = Network.checked(name, _ordered(drafts, nodes, wires), report.source)
    if not report.failed:
        network._states.update({s: _part(network, wires, s) for s in PHASES if s in wires.results})
    return network


def _ordered(drafts: Sequence[Draft], nodes: dict[int, Node], wires: Wires) -> list[Node]:
    """Nodes of all states in one order that is valid in each, where there is one."""
    needs: list[list[int]] = [sorted(wires.all_needs.get(index, ())) for index in range(len(drafts))]
    done = order(needs)
    done += [index for index in range(len(drafts)) if index not in set(done)] if len(done) < len(drafts) else []
    return [nodes[index] for index in done if index in nodes]


def _part(network: Network, wires: Wires, state: State) -> Network:
    found = wires.results[state]
    part = Network.checked(network.name, [found[index] for index in wires.orders[state]], network.source)
    part._states[state] = part
    return part


def relink(network: Network, state: State) -> Network:
    """The layers of a checked network that are there in one more state. Raises `ConfigError`."""
    report = Report(network.source)
    drafts = [Draft(node.name, node.definition, node.inputs, node.setup, node.span[0]) for node in network.nodes]
    wires = Wires(drafts, report)
    wires.names.start_phase()
    found = wires.run(state)
    wires.names.end_phase()
    if report.diagnostics:
        raise ConfigError(report.sorted())
    return Network.checked(network.name, [found[index] for index in wires.orders[state]], network.source)
