"""Layers that are legal in the step of a recurrent group and in a block, and the settings that a step requires."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle_layers.define import LayerDefinition

from ..diagnostics.report import DiagnosticReport
from .binder import Bound
from .blocks import BlockDefinition
from .drafts import Draft

GROUP, MEMORY = "recurrent_group", "memory"
MEASURED = {"data_norm": 0, "target_norm": 1}
"""Layers with statistics of the training data, and the position of the input that is a data layer."""
NETWORK, STEP, BLOCK = "network", "step", "block"
"""The context of a layer."""
_MEMORY_HELP = "a memory holds a value of the previous time step"


def group_output_names(group: str, outputs: Sequence[str]) -> tuple[str, ...]:
    """Default names of a group's outputs: its own name, and `group.output` for the second and later."""
    return (group, *(f"{group}.{name}" for name in outputs[1:]))


def is_a(definition: Any, name: str) -> bool:
    """Whether a definition, which may be unknown, is the layer of this name."""
    return definition is not None and definition.name == name


def check_step(bound: Bound, report: DiagnosticReport) -> bool:
    """Whether a layer has a `step` with outputs if and only if it is a recurrent group."""
    given, is_group = "step" in bound.places, is_a(bound.definition, GROUP)
    if not given and is_group and not bound.broken:
        help_ = "add `step { layer { ... } output: ... }` with the layers of one time step"
        report.add("E115", "this `recurrent_group` has no `step`", bound.place("type"), help=help_)
    # An unknown type may be a misspelled group: only the type is reported.
    if given and not is_group and bound.definition is not None:
        message = f"`step` is not allowed in a layer of type `{bound.definition.name}`"
        help_ = "only a `recurrent_group` has a `step`: change the type, or move the layers out of the block"
        report.add("E115", message, bound.places["step"][0][3], help=help_)
    block: Bound | None = bound.values.get("step")
    if block is not None and is_group and "output" not in block.places and not (block.broken or bound.broken):
        help_ = "add `output: ...` with the name of one of its layers"
        report.add("E115", "this step has no `output`", block.start, help=help_)
        return False
    return (block is not None) == is_group


def check_times(bound: Bound, report: DiagnosticReport) -> bool:
    """Whether a repeated layer is a block with an input and one output."""
    definition, start = bound.definition, bound.place("times")
    if "times" not in bound.places or definition is None:
        return True
    if not isinstance(definition, BlockDefinition):
        message = f"`times` is only allowed on a layer that uses a block, and `{definition.name}` is a layer type"
        report.add("E121", message, start, help="move the layer into a block")
        return False
    # Repetitions are chained: the output of one is the first input of the next.
    if bound.values.get("times", 1) > 1 and (len(definition.outputs) != 1 or not definition.inputs):
        message = f"block `{definition.name}` cannot be repeated"
        report.add("E121", message, start, help="a repeated block needs an input and exactly one output")
        return False
    return True


def check_context(draft: Draft, report: DiagnosticReport, where: str) -> None:
    """Report a layer that is not allowed in its context, and remove its setup."""
    bound, definition = draft.bound, draft.definition
    assert bound is not None, "a parsed layer has positions"
    if definition is None or (draft.setup is None and not bound.pending):
        return
    sound = True
    if where != NETWORK:
        sound = _rules_outside(draft, bound, report, where)
        reason = _reason(definition) if where == STEP else _reason_in_block(definition)
        if reason is not None:
            message = f"layer `{draft.name}`: `{definition.name}` is not allowed in a {where}: {reason[0]}"
            report.add("E116", message, bound.place("type"), help=reason[1])
            sound = False
    elif definition.name == MEMORY:
        sound = _memory_outside(draft, report)
    if not sound:
        # The layer stays as a draft, so that its name is still known to its readers.
        draft.setup = None


def _memory_outside(draft: Draft, report: DiagnosticReport) -> bool:
    message = f"layer `{draft.name}`: `memory` is only allowed in the `step` of a `recurrent_group`"
    report.add("E116", message, draft.place("type"), help=_MEMORY_HELP)
    return False


def _rules_outside(draft: Draft, bound: Bound, report: DiagnosticReport, where: str) -> bool:
    """Whether a layer of a step or a block has no field that belongs in the layer around it."""
    misplaced = [name for name in ("include", "exclude", "loss_weight") if name in bound.places]
    for name in misplaced:
        message = f"layer `{draft.name}`: `{name}` is not allowed in a {where}"
        help_ = "move the loss out of the group, onto its output"
        if where == BLOCK:
            help_ = f"write `{name}` in the layer that uses the block"
        elif name != "loss_weight":
            help_ = f"write `{name}` in the group: it applies to the whole group"
        report.add("E116", message, bound.places[name][0][3], help=help_)
    return not misplaced


def _reason_in_block(definition: LayerDefinition) -> tuple[str, str] | None:
    if definition.name == MEMORY:
        return "it belongs in the `step` of a `recurrent_group`", _MEMORY_HELP
    if not definition.inputs and not isinstance(definition, BlockDefinition):
        return "it has no inputs", "move it out, and pass its output to the block as an `input`"
    if definition.name in MEASURED:
        # Its parameters are means and deviations of the training data, which only exist directly after a data layer.
        return "its statistics are those of a data layer", "move it out, directly after the data layer"
    return None


def _reason(definition: LayerDefinition) -> tuple[str, str] | None:
    """Why a layer is illegal in a step, and the fix; None if it is legal."""
    facts = definition.facts
    after = "move it out of the group, onto its output"
    if facts.is_source:
        return "it has no inputs", "move it out, and pass its output to the group as an `input`"
    if facts.has_loss:
        return "a loss is computed over whole sequences", after
    if facts.has_stats:
        return "a metric is computed over whole sequences", after
    # Steps are not batches: running statistics would be updated once per time step.
    if facts.has_state:
        return "it keeps state across batches", f"use `layer_norm` or `rms_norm`, or {after}"
    # A step sees one row of every sequence that is still active, so rows of a batch change from step to step.
    if not facts.rows_independent:
        return "it combines different sequences", after
    return None
