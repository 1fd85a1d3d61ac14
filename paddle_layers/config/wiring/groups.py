"""Recurrent groups: types in a step, memories, outputs."""

from __future__ import annotations

from collections.abc import Sequence

from paddle_layers.define import Type

from ..binding.drafts import Draft, Step
from ..binding.steps import MEMORY
from ..diagnostics.report import Report
from ..diagnostics.suggestions import nearest
from .memories import check_memories
from .names import Names
from .nodes import Node
from .producers import Types

DEEPEST = 2
"""Deepest nesting: sequences of sub-sequences."""


def types_inside(draft: Draft, given: Sequence[Type | None], report: Report) -> list[Type | None]:
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
        types[place] = None
        if type_ is None:
            continue
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
    draft: Draft, step: Step, types: Sequence[Type | None], nodes: Sequence[Node], inner: Names
) -> Types | None:
    """Types of a group's outputs, or None after a report.

    `types` are those of its inputs in a step, `nodes` the layers of a step, `inner` the names in it.
    """
    reported = [check_memories(draft, step, nodes, inner), _outputs_known(step, inner)]
    sound = draft.setup is not None and None not in types and len(nodes) == len(step.drafts)
    return _outputs(draft, step, nodes, inner.report) if sound and all(reported) else None


def _static_known(draft: Draft, static: Sequence[str], report: Report) -> bool:
    wrong = [(place, name) for place, name in enumerate(static) if name not in draft.inputs]
    for place, name in wrong:
        if draft.bound is not None:
            near = nearest(name, draft.inputs)
            help_ = f"did you mean `{near}`?" if near else f'add `input: "{name}"` to the group'
            start = draft.bound.item_place("static", place)
            report.add("E215", f"`{name}` in `static` is not an input of group `{draft.name}`", start, help=help_)
    return not wrong


def _outputs_known(step: Step, inner: Names) -> bool:
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


def _outputs(draft: Draft, step: Step, nodes: Sequence[Node], report: Report) -> Types | None:
    """Types of the group's outputs, or None after a report."""
    assert draft.setup is not None, "an invalid group has no types"
    types = {name: type_ for node in nodes for name, type_ in zip(node.output_names, node.output_types, strict=True)}
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
        if node.definition.name == MEMORY or not found.isdisjoint(node.inputs):
            found.update(node.output_names)
    return found
