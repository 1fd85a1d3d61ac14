"""Memories of a step: source value, initial value, and type agreement."""

from __future__ import annotations

from collections.abc import Sequence

from paddle_layers.define import Type

from ..binding.drafts import Draft, Step
from ..binding.steps import MEMORY, is_a
from ..diagnostics.suggestions import nearest
from .names import Names
from .nodes import Node


def check_memories(group: Draft, step: Step, nodes: Sequence[Node], inner: Names) -> bool:
    """Whether every memory remembers an output in the step, of its type, and has a static initial value."""
    types = {name: type_ for node in nodes for name, type_ in zip(node.output_names, node.output_types, strict=True)}
    producers = {name: node for node in nodes for name in node.output_names}
    ok = True
    for memory in step.drafts:
        if is_a(memory.definition, MEMORY) and memory.setup is not None:
            of = memory.setup.attributes["of"]
            starts = _check_start(memory, group, inner, known=memory.name in types)
            ok = _check_known(memory, of, inner) and starts and ok
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
