"""Layers that are legal in the step of a recurrent group and in a block, and the settings that a step requires."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle_layers.define import LayerDefinition

from ..diagnostics.report import Report
from .binder import Bound
from .blocks import BlockDefinition
from .drafts import Draft

GROUP, MEMORY, DATA_NORM = "recurrent_group", "memory", "data_norm"
NETWORK, STEP, BLOCK = "network", "step", "block"
"""The context of a layer."""


def group_output_names(group: str, outputs: Sequence[str]) -> tuple[str, ...]:
    """Names of a group's outputs where it gives none: its own, and `group.output` for the second and later."""
    return (group, *(f"{group}.{name}" for name in outputs[1:]))


def is_a(definition: Any, name: str) -> bool:
    """Whether a definition, which may be unknown, is the layer of this name."""
    return definition is not None and definition.name == name


def check_step(bound: Bound, report: Report) -> bool:
    """Whether a layer has a `step` exactly if it is a recurrent group, and one that gives something."""
    given, is_group = "step" in bound.places, is_a(bound.definition, GROUP)
    if not given and is_group and not bound.broken:
        help_ = "add `step { layer { ... } output: ... }` with the layers of one step"
        report.add("E115", "this `recurrent_group` has no `step`", bound.place("type"), help=help_)
    if given and not is_group and bound.definition is not None:
        message = f"a layer of type `{bound.definition.name}` has no `step`"
        help_ = "only a `recurrent_group` repeats layers: change the type, or take the layers out of the block"
        report.add("E115", message, bound.places["step"][0][3], help=help_)
    block: Bound | None = bound.values.get("step")
    if block is not None and is_group and "output" not in block.places and not (block.broken or bound.broken):
        help_ = "add `output: ...` with the name of a layer in it"
        report.add("E115", "this step gives nothing: it has no `output`", block.start, help=help_)
        return False
    return (block is not None) == is_group


def check_times(bound: Bound, report: Report) -> bool:
    """Whether only a block is there several times, and one that has an output to go on with."""
    definition, start = bound.definition, bound.place("times")
    if "times" not in bound.places or definition is None:
        return True
    if not isinstance(definition, BlockDefinition):
        help_ = "only a block is repeated: put the layer into one"
        report.add("E121", f"`{definition.name}` is no block, it stands there once", start, help=help_)
        return False
    if bound.values.get("times", 1) > 1 and (len(definition.outputs) != 1 or not definition.inputs):
        message = f"block `{definition.name}` cannot stand there several times, one behind the other"
        report.add("E121", message, start, help="for that it needs an input and exactly one output")
        return False
    return True


def check_place(draft: Draft, report: Report, where: str) -> None:
    """Report a layer that is not legal in its context; it has no setup from then on."""
    bound, definition = draft.bound, draft.definition
    assert bound is not None, "this layer was read with its places"
    if definition is None or (draft.setup is None and not bound.pending):
        return
    sound = True
    if where != NETWORK:
        sound = _rules_outside(draft, bound, report, where)
        reason = _reason(definition) if where == STEP else _reason_in_block(definition)
        if reason is not None:
            message = f"layer `{draft.name}`: `{definition.name}` cannot stand in a {where}, {reason[0]}"
            report.add("E116", message, bound.place("type"), help=reason[1])
            sound = False
    elif definition.name == MEMORY:
        sound = _memory_outside(draft, report)
    if not sound:
        draft.setup = None


def _memory_outside(draft: Draft, report: Report) -> bool:
    message = f"layer `{draft.name}`: a `memory` stands in the `step` of a `recurrent_group`"
    report.add("E116", message, draft.place("type"), help="nothing comes before where there are no steps")
    return False


def _rules_outside(draft: Draft, bound: Bound, report: Report, where: str) -> bool:
    """Whether a layer of a step or a block leaves to what is around it what only that can say."""
    misplaced = [name for name in ("include", "exclude", "loss_weight") if name in bound.places]
    for name in misplaced:
        message = f"layer `{draft.name}` stands in a {where}, where there is no `{name}`"
        help_ = "a cost stands outside, on the group's output"
        if where == BLOCK:
            help_ = f"write `{name}` in the layer that uses the block"
        elif name != "loss_weight":
            help_ = f"the group is there as a whole or not at all: write `{name}` in the group"
        report.add("E116", message, bound.places[name][0][3], help=help_)
    return not misplaced


def _reason_in_block(definition: LayerDefinition) -> tuple[str, str] | None:
    if definition.name == MEMORY:
        return "it stands in the `step` of a `recurrent_group`", "nothing comes before where there are no steps"
    if not definition.inputs and not isinstance(definition, BlockDefinition):
        return "values are fed outside of it", "put it outside, and give its output to the block as an `input`"
    if definition.name == DATA_NORM:
        return "it is measured on what a data layer is fed", "put it outside, behind the data layer"
    return None


def _reason(definition: LayerDefinition) -> tuple[str, str] | None:
    """Why a layer is illegal in a step, and the fix; None if it is legal."""
    facts = definition.facts
    behind = "put it behind the group, on the group's output"
    if facts.is_source:
        return "values are fed outside of it", "put it outside, and give its name to the group as an `input`"
    if facts.has_loss:
        return "a cost is that of whole sequences", behind
    if facts.has_stats:
        return "statistics count whole sequences", behind
    if facts.has_state:
        return "it keeps numbers from batch to batch", f"`layer_norm` and `rms_norm` keep none; or {behind}"
    if not facts.rows_independent:
        return "it mixes the rows of different sequences", behind
    return None
