"""Recurrent groups and blocks: types in a step, memories, outputs, expansion of block uses."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from paddle_layers.define import Attributes, Type

from ..binding.assignments import ParamSettings
from ..binding.binder import Binder, Bound
from ..binding.blocks import BlockDefinition
from ..binding.drafting import make_draft
from ..binding.drafts import Draft, StepDraft
from ..binding.expressions import Value, shown
from ..binding.steps import BLOCK, MEMORY, is_a
from ..diagnostics.diagnostic import Fix, Note
from ..diagnostics.report import DiagnosticReport
from ..diagnostics.suggestions import nearest
from .inference import Types
from .names import Names
from .nodes import Inside, Node

DEEPEST = 2
"""Deepest nesting: sequences of sub-sequences."""


def types_inside(draft: Draft, given: Sequence[Type | None], report: DiagnosticReport) -> list[Type | None]:
    """The type of each input inside a step; None if unknown, or after a report."""
    unknown: list[Type | None] = [None] * len(given)
    if draft.setup is None:
        return unknown
    static = draft.setup.attributes["static"]
    if not _static_known(draft, static, report):
        return unknown
    stepped = [place for place, name in enumerate(draft.inputs) if name not in static]
    if draft.inputs and not stepped:
        start = draft.attribute_place("static")
        help_ = "remove the input with the time steps from `static`"
        report.add("E215", f"group `{draft.name}` has no time steps: all inputs are static", start, help=help_)
        return unknown
    types = list(given)
    first: tuple[str, Type] | None = None
    for place in stepped:
        name, type_ = draft.inputs[place], given[place]
        # Unknown until it is checked: after an error, layers in the step that read it report nothing.
        types[place] = None
        if type_ is None:
            continue
        # The first known type is the reference, so that one wrong input is reported and not all others.
        first = first or (name, type_)
        if type_.level == 0:
            message = f"input `{name}` of group `{draft.name}` is not a sequence ({type_})"
            help_ = f'if every step reads all of it, write `{draft.setup.definition.name} {{ static: "{name}" }}`'
            report.add("E215", message, draft.input_place(place), help=help_)
        elif first[1].level not in (0, type_.level):
            message = (
                f"inputs `{first[0]}` ({first[1]}) and `{name}` ({type_}) of group `{draft.name}` "
                "have different sequence levels"
            )
            help_ = "inputs that are not static must have the same time steps"
            report.add("E215", message, draft.input_place(place), help=help_)
        else:
            types[place] = type_._replace(level=type_.level - 1)
    return types


def types_outside(
    draft: Draft, step: StepDraft, types: Sequence[Type | None], nodes: Sequence[Node], inner: Names
) -> Types | None:
    """Types of a group's outputs, or None after a report.

    `types` are those of its inputs in a step, `nodes` the layers of a step, `inner` the names in it.
    """
    # A list, not `and`: both are to report their errors.
    reported = [check_memories(draft, step, nodes, inner), _outputs_known(step, inner)]
    sound = draft.setup is not None and None not in types and len(nodes) == len(step.drafts)
    return _outputs(draft, step, nodes, inner.report) if sound and all(reported) else None


def _static_known(draft: Draft, static: Sequence[str], report: DiagnosticReport) -> bool:
    wrong = [(place, name) for place, name in enumerate(static) if name not in draft.inputs]
    for place, name in wrong:
        if draft.bound is not None:
            near = nearest(name, draft.inputs)
            help_ = f"did you mean `{near}`?" if near else f'add `input: "{name}"` to the group'
            start = draft.bound.item_place("static", place)
            report.add("E215", f"`{name}` in `static` is not an input of group `{draft.name}`", start, help=help_)
    return not wrong


def _outputs_known(step: StepDraft, inner: Names) -> bool:
    """Whether the step's outputs are outputs of its layers."""
    ok = True
    for place, name in enumerate(step.outputs):
        if name in inner.all_outputs:
            continue
        ok = False
        if inner.may_be_produced(name):
            continue
        near = nearest(name, inner.all_outputs)
        help_ = f"did you mean `{near}`?" if near else "an output must be the output of a layer in the step"
        message = f"unknown output `{name}` of the step"
        if name in inner.inputs:
            message = f"output `{name}` of the step is an input of the group"
            help_ = "remove it: layers outside of the group can read it directly"
        inner.report.add("E217", message, step.bound.place("output", place), help=help_)
    return ok


def _outputs(draft: Draft, step: StepDraft, nodes: Sequence[Node], report: DiagnosticReport) -> Types | None:
    """Types of the group's outputs, or None after a report."""
    assert draft.setup is not None, "an invalid group has no types"
    types = {name: type_ for node in nodes for name, type_ in zip(node.output_names, node.output_types, strict=True)}
    # An output that is the same in every step would be repeated for each of them, at the cost of computing it each
    # time.
    moving = _moving({*draft.inputs} - {*draft.setup.attributes["static"]}, nodes)
    made: list[Type] = []
    for place, name in enumerate(step.outputs):
        type_ = types[name]
        start = step.bound.place("output", place)
        if name not in moving:
            help_ = "move its layers out of the step, and pass their output to the group as a static input"
            message = f"output `{name}` is the same in every step: it depends on static inputs only"
            report.add("E217", message, start, help=help_)
        elif type_.level == DEEPEST:
            help_ = "reduce it in the step, for example with `seq_last`"
            message = f"`{name}` is {type_} in one step, so the output of the group would be nested too deeply"
            report.add("E217", message, start, help=help_)
        else:
            made.append(type_._replace(level=type_.level + 1))
    return tuple(made) if len(made) == len(step.outputs) else None


def _moving(stepped: set[str], nodes: Sequence[Node]) -> set[str]:
    """Names in a step whose values differ between steps."""
    found = set(stepped)
    for node in nodes:
        # One pass suffices, because the layers are in topological order.
        if node.definition.name == MEMORY or not found.isdisjoint(node.inputs):
            found.update(node.output_names)
    return found


# ---- memories


def check_memories(group: Draft, step: StepDraft, nodes: Sequence[Node], inner: Names) -> bool:
    """Whether every memory remembers an output in the step, of its type, and has a static initial value."""
    types = {name: type_ for node in nodes for name, type_ in zip(node.output_names, node.output_types, strict=True)}
    producers = {name: node for node in nodes for name in node.output_names}
    ok = True
    for memory in step.drafts:
        if is_a(memory.definition, MEMORY) and memory.setup is not None:
            of = memory.setup.attributes["of"]
            starts = _check_start(memory, group, inner, known=memory.name in types)
            ok = _check_known(memory, of, inner) and starts and ok
            # Types are only compared if all other parts of the memory are valid.
            if starts and memory.name in types and of in types:
                ok = _check_type(memory, types[memory.name], producers[of], types[of], inner) and ok
    return ok


def _check_known(memory: Draft, of: str, inner: Names) -> bool:
    if of in inner.all_outputs or inner.may_be_produced(of):
        return of in inner.all_outputs
    near = nearest(of, inner.all_outputs - {memory.name})
    help_ = f"did you mean `{near}`?" if near else "`of` must be the output of a layer in the step"
    message = f"memory `{memory.name}` remembers the unknown output `{of}`"
    if of in inner.inputs:
        message = f"memory `{memory.name}` cannot remember `{of}`, an input of the group"
        help_ = "pass the input through a `linear` layer, and remember its output"
    inner.report.add("E216", message, memory.attribute_place("of"), help=help_)
    return False


def _check_start(memory: Draft, group: Draft, inner: Names, *, known: bool) -> bool:
    """Whether the initial value of a memory is a static input of the group."""
    static = group.setup.attributes["static"] if group.setup is not None else memory.inputs
    start = next((name for name in memory.inputs if name not in static), None)
    if start is None:
        return True
    if not known:
        return False  # the error is in another layer, and was reported
    help_ = f"the initial value comes from outside of the group: pass `{start}` to it as a static input"
    if start in inner.inputs:
        help_ = f"only static inputs exist before the first step; is `{start}` one row per sequence?"
    message = f"the initial value `{start}` of memory `{memory.name}` does not exist before the first step"
    inner.report.add("E216", message, memory.input_place(0), help=help_)
    return False


def _check_type(memory: Draft, type_: Type, producer: Node, found: Type, inner: Names) -> bool:
    if type_ == found:
        return True
    of = memory.setup.attributes["of"] if memory.setup is not None else ""
    message = f"memory `{memory.name}` is {type_}, but the remembered value `{of}` is {found}"
    note = inner.report.note(f"`{of}` is produced here by `{producer.definition.name}`", producer.span[0])
    help_ = "a memory holds one row per sequence" if found.level else "both must have the same type"
    inner.report.add("E216", message, memory.attribute_place("of"), help=help_, notes=(note,))
    return False


# ---- block uses

LONGEST = 120
"""Maximum length of the settings in a note."""


class UseReport(DiagnosticReport):
    """Errors of a block in a use, each reported once, at the first use with it.

    Errors of the block alone were reported before. Those of a use come from its settings and inputs, and one of these
    may invalidate many layers of the block, so only the first error of a use is reported.
    """

    def __init__(self, outer: DiagnosticReport, use: Draft) -> None:
        super().__init__(outer.source)
        self.outer, self.use, self.diagnostics = outer, use, outer.diagnostics
        # The list of diagnostics is shared, so that an error that another use has reported is recognized.
        self.has_reported = False

    def add(
        self,
        code: str,
        message: str,
        start: int,
        end: int = 0,
        *,
        help: str = "",
        notes: tuple[Note, ...] = (),
        fix: Fix | None = None,
    ) -> None:
        """Add a diagnostic with a note on the use, unless another use has reported it."""
        warning = code.startswith("W")
        if self.has_reported and not warning:
            return
        self.has_reported = self.has_reported or not warning
        # Another use with other sizes may have failed at the same layer.
        if any((known.code, known.start) == (code, start) for known in self.diagnostics):
            return
        notes = (*notes, self.note(f"in this use of the block{_settings(self.use)}", self.use.offset))
        self.outer.add(code, message, start, end, help=help, notes=notes, fix=fix)


def _settings(use: Draft) -> str:
    values = use.setup.attributes if use.setup is not None else {}
    text = ", ".join(f"{name} = {shown(value)}" for name, value in values.items())
    return f", with {text}"[:LONGEST] if text else ""


def expanded_layers(block: BlockDefinition, settings: Attributes, report: DiagnosticReport) -> tuple[Draft, ...]:
    """The layers of a block, with attributes computed from its settings."""
    binder = Binder(report)
    return tuple(
        # Only layers that depend on settings are bound again; all other drafts are shared by all uses.
        make_draft(_filled(one.bound, settings, binder), binder, BLOCK)
        if one.bound is not None and _varies(one.bound)
        else one
        for one in block.drafts
    )


def _varies(bound: Bound) -> bool:
    return bool(bound.pending) or any(_varies(layer) for layer in _layers_of_step(bound))


def _layers_of_step(bound: Bound) -> Sequence[Bound]:
    step: Any = bound.values.get("step")
    block = step.bound if isinstance(step, StepDraft) else step
    return block.values.get("layer", ()) if block is not None else ()


def _filled(bound: Bound, settings: Mapping[str, Value], binder: Binder) -> Bound:
    """A layer with the values of its pending attributes, including the layers of its step."""
    # A copy, because the bound layer is the one of the block and is filled again for other settings.
    made: Bound = copy.copy(bound)
    made.values, made.pending = dict(bound.values), ()
    definition = bound.definition
    if bound.pending and definition is not None:
        fields = [one.field(settings, binder.report) for one in bound.pending]
        made.block = [*bound.block, *(field for field in fields if field is not None)]
        made.broken = bound.broken or None in fields
        own = bound.places.get(definition.name)
        start = own[0][3] if own else bound.place("type")
        made.attributes = binder.attributes(definition, made.block, start, made)
    if layers := _layers_of_step(bound):
        step: Any = bound.values["step"]
        block: Bound = copy.copy(step.bound if isinstance(step, StepDraft) else step)
        block.values = {**block.values, "layer": [_filled(layer, settings, binder) for layer in layers]}
        made.values["step"] = block
    return made


# ---- the network inside


def repeated(block: BlockDefinition, use: Draft, types: Sequence[Type], copies: Sequence[Inside]) -> Inside:
    """Copies of a block in sequence: `0`, `1` and so on.

    Each reads the output of the previous one instead of its first input, and of other inputs with the same value.
    """
    assert use.setup is not None, "an invalid layer has no inside"
    nodes: list[Node] = []
    for number, inside in enumerate(copies):
        setup = copy.copy(use.setup)
        setup.params, setup.output_names, setup.times = {}, (), 1
        # These belong to the use as a whole, not to each copy.
        setup.include, setup.exclude, setup.loss_weight, setup.propagate_down = (), (), None, ()
        inputs, given = tuple(block.inputs), tuple(types)
        if nodes:
            # An input that a use passes twice, such as query and key of an attention, is one value: both follow the
            # chain.
            last, chained = nodes[-1], [name == use.inputs[0] for name in use.inputs]
            inputs = tuple(last.name if same else name for name, same in zip(inputs, chained, strict=True))
            given = tuple(last.output_types[0] if same else type_ for type_, same in zip(types, chained, strict=True))
        nodes.append(Node(str(number), inputs, (str(number),), setup, given, output_types(inside), use.offset, inside))
    return Inside(tuple(nodes), tuple(block.inputs), (nodes[-1].name,))


def output_types(inside: Inside) -> tuple[Type, ...]:
    """Output types of the network inside a layer."""
    types = {
        name: type_ for node in inside.nodes for name, type_ in zip(node.output_names, node.output_types, strict=True)
    }
    return tuple(types[name] for name in inside.outputs)


def with_params(inside: Inside, params: Mapping[str, ParamSettings]) -> Inside:
    """The network inside, with the parameter settings of a use instead of those of the block."""
    if not params:
        return inside
    return Inside(tuple(_changed(node, params) for node in inside.nodes), inside.inputs, inside.outputs)


def _changed(node: Node, params: Mapping[str, ParamSettings]) -> Node:
    prefix = f"{node.name}."
    own = {name.removeprefix(prefix): found for name, found in params.items() if name.startswith(prefix)}
    if not own:
        return node
    setup = copy.copy(node.setup)
    setup.params = {**node.params, **own}
    inside = with_params(node.inside, own) if node.inside is not None else None
    types = node.input_types, node.output_types
    return Node(node.name, node.inputs, node.output_names, setup, *types, node.span[0], inside)
