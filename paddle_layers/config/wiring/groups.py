"""Recurrent groups: types in a step, memories, outputs."""

from __future__ import annotations

from collections.abc import Sequence

from paddle_layers.define import Type

from ..binding.drafts import Draft, Step
from ..binding.steps import MEMORY
from ..diagnostics.report import Report
from ..diagnostics.suggestions import nearest
from .makers import Types
from .memories import check_memories
from .names import Names
from .nodes import Node

DEEPEST = 2
"""Sequences of sub-sequences are the deepest nesting."""


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
        help_ = "leave the input that has the steps out of `static`"
        report.add("E215", f"group `{draft.name}` has no steps, all its inputs are static", start, help=help_)
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
            message = f"group `{draft.name}` steps through `{name}`, which is in no sequences ({type_})"
            help_ = f'if every step is to see all of it: `{draft.setup.definition.name} {{ static: "{name}" }}`'
            report.add("E215", message, draft.input_place(place), help=help_)
        elif first[1].level not in (0, type_.level):
            message = f"group `{draft.name}` steps through `{first[0]}` ({first[1]}) and `{name}` ({type_}) at once"
            help_ = "inputs that are not static have the same steps"
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
            report.add("E215", f"`static` names `{name}`, which is no input of group `{draft.name}`", start, help=help_)
    return not wrong


def _outputs_known(step: Step, inner: Names) -> bool:
    """Whether the step's outputs are outputs of its layers."""
    ok = True
    for place, name in enumerate(step.outputs):
        if name in inner.anywhere:
            continue
        ok = False
        if inner.may_be_made(name):
            continue
        near = nearest(name, inner.anywhere)
        help_ = f"did you mean `{near}`?" if near else "an output is the name of a layer's output in the step"
        message = f"the step gives `{name}`, which none of its layers makes"
        if name in inner.inputs:
            message, help_ = f"the step gives `{name}` back, an input of the group", "layers read it outside as well"
        inner.report.add("E217", message, step.bound.place("output", place), help=help_)
    return ok


def _outputs(draft: Draft, step: Step, nodes: Sequence[Node], report: Report) -> Types | None:
    """Types of the group's outputs, or None after a report."""
    assert draft.setup is not None, "a faulty group has no types"
    types = {name: type_ for node in nodes for name, type_ in zip(node.output_names, node.output_types, strict=True)}
    moving = _moving({*draft.inputs} - {*draft.setup.attributes["static"]}, nodes)
    made: list[Type] = []
    for place, name in enumerate(step.outputs):
        type_ = types[name]
        start = step.bound.place("output", place)
        if name not in moving:
            help_ = "put its layers outside of the step, and give their output to the group as a static input"
            report.add(
                "E217", f"`{name}` is the same in every step: it rests on static inputs alone", start, help=help_
            )
        elif type_.level == DEEPEST:
            help_ = "reduce it in the step, for instance by `seq_last`"
            report.add("E217", f"`{name}` is a {type_} in one step; all steps would nest too deep", start, help=help_)
        else:
            made.append(type_._replace(level=type_.level + 1))
    return tuple(made) if len(made) == len(step.outputs) else None


def _moving(stepped: set[str], nodes: Sequence[Node]) -> set[str]:
    """Names in a step whose values may differ from step to step."""
    found = set(stepped)
    for node in nodes:
        if node.definition.name == MEMORY or not found.isdisjoint(node.inputs):
            found.update(node.output_names)
    return found
