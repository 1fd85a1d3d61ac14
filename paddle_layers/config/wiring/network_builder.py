"""From text to the checked layers of a network: read, bind, wire in every state; all errors at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

from paddle_layers.define import Type
from paddle_layers.define.machine import gc_paused

from ..binding.assignments import PhaseState, StateRule
from ..binding.binder import Binder, Bound
from ..binding.drafting import make_draft
from ..binding.drafts import Draft, Setup
from ..binding.headers import is_training, report_caffe, spec
from ..binding.memo import memo
from ..binding.overrides import apply_overrides
from ..diagnostics.diagnostic import Diagnostic, Source
from ..diagnostics.report import ConfigError, DiagnosticReport, TooManyFaults
from ..reading.fields import Fields
from ..reading.syntax import other_text, read
from .blocks import check_size, prepare_blocks, report_unused
from .data_layers import check_carried
from .inference import Types, output_names, types_of
from .lint import lint
from .names import order
from .nodes import Inside, Node, inner_names, inside_of, nodes_by_type, unknown_parameter
from .resolver import Resolver

# States are combinations of levels and stages, so their number is at most 2 phases x 8 x 9; hostile rules could ask for
# millions.
_MOST = 8
"""Maximum number of stages and of levels that are checked."""


def states_of(drafts: Sequence[Draft]) -> list[list[PhaseState]]:
    """States to check, in one group per phase; the states of a group differ in level and stages.

    A layer may lack an input in some states of a group, since rules on stages often only make sense in combination; it
    must be valid in one of them.
    """
    rules = [rule for draft in drafts if draft.setup for rule in (*draft.setup.include, *draft.setup.exclude)]
    # Without rules both phases are the same network.
    if not rules:
        return [[PhaseState("train")]]
    levels = _levels(rules)
    # Only levels and stages that rules mention can make a difference; combinations are bounded, since their number is
    # exponential.
    stages = [frozenset(), *map(frozenset, _stages(rules))]
    return [[PhaseState(phase, *rest) for rest in product(levels, stages)] for phase in ("train", "test")]


def _levels(rules: Sequence[StateRule]) -> list[int]:
    found = {rule.min_level for rule in rules} | {rule.max_level for rule in rules}
    return [0, *sorted(level for level in found if level)][:_MOST]


def _stages(rules: Sequence[StateRule]) -> list[tuple[str, ...]]:
    """Each stage alone, and each combination in a rule."""
    found: dict[tuple[str, ...], None] = dict.fromkeys(
        (name,) for rule in rules for name in (*rule.stage, *rule.not_stage)
    )
    found |= dict.fromkeys(rule.stage for rule in rules if len(rule.stage) > 1)
    return list(found)[:_MOST]


# ---- fast path


def wire_simple(drafts: Sequence[Draft]) -> list[Node] | None:
    """Fast path: nodes of layers without rules, each of which reads earlier layers; else None.

    It reports no errors; `Resolver` does.
    """
    types: dict[str, Type] = {}
    nodes: list[Node] = []
    add = nodes.append
    names: set[str] = set()
    inner: set[str] = set()
    known: dict[tuple[Setup, Types], tuple[Types, Inside | None]] = {}
    for draft in drafts:
        setup = draft.setup
        if setup is None:
            return None
        name, inputs = draft.name, draft.inputs
        try:
            # A list comprehension in `tuple` is faster than a generator, in the loop that runs for every layer.
            given = tuple([types[other] for other in inputs])
        except KeyError:
            return None
        # Layers with equal text and input types have equal outputs: a repeated block costs a look-up per layer.
        use = (setup, given)
        result = known.get(use)
        if result is None:
            # Tested once per setup and types, not per layer: those that are in `known` have passed.
            if not setup.is_simple:
                return None
            try:
                result = known[use] = types_of(setup, given), inside_of(setup, given)
            except Exception:  # third-party `@infer` code; `Resolver` repeats the call and reports its error
                return None
            if unknown_parameter(setup, given, result[1]):
                return None
        output_types, inside = result
        names.add(name)
        outputs: tuple[str, ...]
        if len(output_types) == 1 and not setup.output_names:
            outputs = (name,)
            if name in types:
                return None
            types[name] = output_types[0]
        else:
            outputs = output_names(draft, len(output_types))
            taken = len(set(outputs)) < len(outputs) or any(output in types for output in outputs)
            if taken or len(outputs) != len(output_types):
                return None
            types.update(zip(outputs, output_types, strict=True))
        add(Node(name, inputs, outputs, setup, given, output_types, draft.offset, inside))
        if inside is not None:
            inner.update(inner_names(nodes[-1]))
    distinct = len(names) == len(nodes) and not inner & names and not inner & types.keys()
    return nodes if distinct and nodes else None


# ---- all states

PHASES = (PhaseState("train"), PhaseState("test"))


class Wired(NamedTuple):
    """The layers of a network."""

    name: str
    nodes: Sequence[Node]
    """The layers of all states, in an order that is valid in each."""
    source: Source
    states: Mapping[PhaseState, Sequence[Node]] = {}
    """The layers of each state that was checked."""


def wire(drafts: Sequence[Draft], report: DiagnosticReport, name: str) -> Wired:
    """The layers, checked in every state; errors go to the report."""
    if not drafts:
        if not report.diagnostics:
            report.add("E214", "this network has no layers", 0, help='add `layer { name: "..." type: "..." }`')
        return Wired(name, (), report.source)
    # The fast path finds no errors: with a report, the resolver runs anyway and separates causes from consequences.
    nodes = wire_simple(drafts) if not report.diagnostics else None
    return Wired(name, nodes, report.source) if nodes is not None else _wire_states(drafts, report, name)


def _wire_states(drafts: Sequence[Draft], report: DiagnosticReport, name: str) -> Wired:
    states = states_of(drafts)
    resolver = Resolver(drafts, report)
    nodes: dict[int, Node] = {}
    for group in states:
        resolver.names.start_phase()
        for state in group:
            # The first state that has a layer determines its node.
            nodes = resolver.run(state) | nodes
        resolver.names.end_phase()
    known = {} if report.failed else {state: resolver.in_order(state) for state in PHASES if state in resolver.results}
    return Wired(name, _ordered(drafts, nodes, resolver), report.source, known)


def _ordered(drafts: Sequence[Draft], nodes: dict[int, Node], resolver: Resolver) -> list[Node]:
    """Nodes of all states in an order that is valid in each, if there is one."""
    needs: list[list[int]] = [sorted(resolver.all_needs.get(index, ())) for index in range(len(drafts))]
    done = order(needs)
    # Rules may reverse a dependency between states; then there is no common order, and the rest follows as in the file.
    done += [index for index in range(len(drafts)) if index not in set(done)] if len(done) < len(drafts) else []
    return [nodes[index] for index in done if index in nodes]


def relink(nodes: Sequence[Node], source: Source, state: PhaseState) -> list[Node]:
    """The layers of a checked network in another state. Raises `ConfigError`."""
    report = DiagnosticReport(source)
    drafts = [Draft(node.name, node.definition, node.inputs, node.setup, node.span[0]) for node in nodes]
    resolver = Resolver(drafts, report)
    # Wired again rather than filtered: an absent layer may change which layer an input refers to, and its type.
    resolver.names.start_phase()
    resolver.run(state)
    resolver.names.end_phase()
    if report.diagnostics:
        raise ConfigError(report.sorted())
    return resolver.in_order(state)


# ---- from text


def wire_text(source: Source) -> tuple[Wired | None, list[Diagnostic]]:
    """The valid layers of a network file, if any, and all its errors and warnings."""
    report = DiagnosticReport(source)
    wired = gc_paused(lambda: _wire(report))
    # Without the garbage collector above: it doubled the time per layer with 100,000 layers (7.2 to 13.3 us in a
    # prototype).
    if fault := of_another_kind(report):
        return None, [fault]
    return wired, report.sorted()


def of_another_kind(report: DiagnosticReport) -> Diagnostic | None:
    """A single error for a file of another kind, instead of all others; None for a config."""
    other = other_text(report.source.own, report.errors)
    if other is None:
        return None
    return Diagnostic("E009", f"this is {other.what}, not a config", report.source, 0, help=other.help)


def _wire(report: DiagnosticReport) -> Wired | None:
    try:
        # With overrides, all layers need fields that can be changed.
        fields = read(report, memo() if not report.source.overrides else None)
        apply_overrides(fields, report, "Network", "net.")
        if report_caffe(fields, report):
            return None
        if is_training(fields):
            help_ = "use `load_training` or `paddle-layers train`"
            report.add("E009", "this is a training file, not a network file", fields[0][3], help=help_)
            return None
        return wire_fields(fields, report)
    except TooManyFaults:
        return None


def wire_fields(fields: Fields, report: DiagnosticReport, bound: Bound | None = None) -> Wired:
    """The layers in the fields of a file or of a `net` block. Errors go to the report."""
    binder = Binder(report)
    if bound is None:
        bound = binder.message(fields, spec("Network"), 0)
    layers = bound.values.get("layer", ())
    blocks = prepare_blocks(bound, binder) if bound.values.get("block") else []
    drafts = [layer if isinstance(layer, Draft) else make_draft(layer, binder) for layer in layers]
    if blocks:
        check_size(drafts, report)
    # "This network has no layers" would be a consequence of the syntax error.
    if bound.broken and not drafts:
        return Wired("", (), report.source)
    wired = wire(drafts, report, bound.values.get("name") or "")
    # Warnings only for valid networks: in others, they would mostly be consequences of the errors.
    if not report.failed and not bound.broken:
        by_type = nodes_by_type(wired.nodes)
        check_carried(wired.nodes, by_type, report)
        if blocks:
            report_unused(blocks, drafts, report)
        lint(wired.nodes, by_type, report)
    return wired
