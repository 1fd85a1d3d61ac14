"""The step of a recurrent group before wiring: what the block says, and which layers may stand in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle_layers.define import LayerDefinition

from ..diagnostics.report import Report
from .binder import Bound
from .drafts import Draft

GROUP, MEMORY = "recurrent_group", "memory"


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


def check_place(draft: Draft, report: Report, *, in_step: bool) -> None:
    """A layer that cannot stand where it does is reported, and has no setup from then on."""
    bound, definition = draft.bound, draft.definition
    assert bound is not None, "this layer was read with its places"
    if draft.setup is None or definition is None:
        return
    if in_step:
        misplaced = [name for name in ("include", "exclude", "loss_weight") if name in bound.places]
        for name in misplaced:
            message = f"layer `{draft.name}` stands in a step, where there is no `{name}`"
            help_ = "a cost stands outside, on the group's output"
            if name != "loss_weight":
                help_ = f"the group is there as a whole or not at all: write `{name}` in the group"
            report.add("E116", message, bound.places[name][0][3], help=help_)
        reason = _reason(definition)
        if reason is not None:
            message = f"layer `{draft.name}`: `{definition.name}` cannot stand in a step, {reason[0]}"
            report.add("E116", message, bound.place("type"), help=reason[1])
        if reason is not None or misplaced:
            draft.setup = None
    elif definition.name == MEMORY:
        message = f"layer `{draft.name}`: a `memory` stands in the `step` of a `recurrent_group`"
        report.add("E116", message, bound.place("type"), help="nothing comes before where there are no steps")
        draft.setup = None


def _reason(definition: LayerDefinition) -> tuple[str, str] | None:
    """Why a layer cannot stand in a step, and what to do; None when it can."""
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
