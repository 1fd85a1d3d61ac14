"""Creation of layer drafts, with the last checks of single layers."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from paddle_layers.define import Attributes, LayerDefinition, registries
from paddle_layers.define.bodies import activation_problem
from paddle_layers.define.escaping import CONTROL, printable_line

from ..diagnostics.report import DiagnosticReport
from ..diagnostics.suggestions import name_hint
from .assignments import ParamSettings, StateRule
from .binder import Binder, Bound
from .drafts import LINEAR, Draft, Setup, StepDraft
from .steps import GROUP, NETWORK, STEP, check_context, check_step, check_times, is_a


def make_draft(bound: Bound, binder: Binder, where: str = NETWORK) -> Draft:
    """Draft of a bound layer in a NETWORK, a STEP or a BLOCK; checks that concern the layer alone."""
    setup = make_setup(bound, binder) if check_step(bound, binder.report) else None
    # Even if the layer has errors: those of the layers in its step are to be reported in the same run.
    step = _step(bound, binder)
    if setup is not None:
        setup.step = step
    name = bound.values.get("name")
    name = name if isinstance(name, str) and "name" in bound.places else ""
    if name == "" and not bound.broken and "name" in bound.places and isinstance(bound.values.get("name"), str):
        binder.report.add("E110", "empty layer name", bound.place("name"))
    check_name(name, "a layer", bound.place("name"), binder.report)
    inputs = bound.values.get("input", ())
    definition: Any = bound.definition
    made = Draft(name, definition, inputs, setup, bound.place("name"), bound)
    check_context(made, binder.report, where)
    return made


def check_name(name: str, whose: str, start: int, report: DiagnosticReport) -> None:
    """Report a name with characters that control a terminal or make it look like another name."""
    if found := CONTROL.search(name):
        message = f"invalid character {printable_line(found[0])} in the name of {whose}: `{name}`"
        report.add("E117", message, start, help="use letters of any language, digits, spaces, dots and slashes")


def _step(bound: Bound, binder: Binder) -> StepDraft | None:
    """The step of a layer, with drafts of its layers."""
    found: Bound | StepDraft | None = bound.values.get("step")
    if found is None:
        return None
    block = found.bound if isinstance(found, StepDraft) else found
    drafts = tuple(make_draft(layer, binder, STEP) for layer in block.values.get("layer", ()))
    step = bound.values["step"] = StepDraft(drafts, block.values.get("output", ()), block)
    return step


def make_setup(bound: Bound, binder: Binder) -> Setup | None:
    """The settings of a layer other than name and inputs, or None after a report."""
    definition: Any = bound.definition
    if definition is None:
        return None
    made = Setup(definition, bound.attributes if bound.attributes is not None else Attributes({}))
    ok = bound.attributes is not None and _activation(made, bound, binder)
    values = bound.values
    if values:
        # The calls come first, so that each reports its errors even if `ok` is already False.
        ok = _params(made, bound, binder) and ok
        made.include = _rules(values.get("include", ()))
        made.exclude = _rules(values.get("exclude", ()))
        made.loss_weight = values.get("loss_weight") or None
        made.propagate_down = values.get("propagate_down", ())
        made.output_names = values.get("output", ())
        made.times = values.get("times") or 1
        ok = check_times(bound, binder.report) and ok
        for item, output in enumerate(made.output_names):
            check_name(output, "an output", bound.place("output", item), binder.report)
        if made.include and made.exclude:
            note = binder.report.note("`include` is here", bound.places["include"][0][3])
            place = bound.places["exclude"][0][3]
            binder.report.add("E113", "`include` and `exclude` are mutually exclusive", place, notes=(note,))
            ok = False
        ok = _check_rules(made, bound, binder.report) and ok
    return made if ok else None


def _check_rules(made: Setup, bound: Bound, report: DiagnosticReport) -> bool:
    """Check that each rule holds in some state, and that one to exclude a layer does not hold in all."""
    before = report.errors
    for name, rules in (("include", made.include), ("exclude", made.exclude)):
        for rule, block in zip(rules, bound.values.get(name, ()), strict=True):
            if problem := rule.contradiction:
                report.add("E113", f"this rule never holds: {problem}", block.start)
            elif name == "exclude" and rule == StateRule() and not block.broken:
                help_ = 'write a condition, such as `phase: "test"`, or remove the layer'
                report.add("E113", "an empty `exclude` removes the layer from every network", block.start, help=help_)
    return report.errors == before


def _rules(found: Any) -> tuple[StateRule, ...]:
    return tuple(
        StateRule(
            rule.values.get("phase"),
            rule.values.get("min_level"),
            rule.values.get("max_level"),
            rule.values.get("stage", ()),
            rule.values.get("not_stage", ()),
        )
        for rule in found
    )


def _activation(made: Setup, bound: Bound, binder: Binder) -> bool:
    """Resolve `act` or `activation { }`."""
    block: Bound | None = bound.values.get("activation")
    name = made.attributes["act"] if "act" in made.definition.common else LINEAR
    if block is None and name == LINEAR:
        return True
    report = binder.report
    chosen: LayerDefinition | None
    if block is not None:
        start = bound.places["activation"][0][3]
        if "act" not in made.definition.common:
            report.add("E114", f"layer type `{made.definition.name}` does not support an activation", start)
            return False
        if name != LINEAR:
            note = report.note("`act` is here", bound.attribute_place("act"))
            report.add("E113", "`act` and `activation` are mutually exclusive", start, notes=(note,))
            return False
        if block.definition is None or block.attributes is None:
            return False
        start, chosen = block.place("type"), registries["layer"].get(block.definition.name)
    else:
        start, chosen = bound.attribute_place("act"), registries["layer"].get(name)
    if chosen is None:
        binder.unknown_type("layer", name, start)
        return False
    if problem := activation_problem(chosen):
        report.add("E114", problem, start)
        return False
    # Through the binder: an activation by name may have required attributes, which is then reported at `act`.
    attributes = block.attributes if block is not None else binder.attributes(chosen, [], start, Bound(start))
    if attributes is not None:
        made.activation = (chosen, attributes)
    return attributes is not None


def _params(made: Setup, bound: Bound, binder: Binder) -> bool:
    """Resolve the `param` blocks."""
    report = binder.report
    blocks: list[Bound] = bound.values.get("param", [])
    known = list(made.definition.params)
    seen: dict[str, int] = {}
    params: dict[str, ParamSettings] = {}
    ok = True
    for block in blocks:
        name = block.values.get("of")
        if not isinstance(name, str):
            ok = False
            continue
        place = block.place("of")
        if name in seen:
            note = report.note("the first one is here", seen[name])
            report.add("E106", f"duplicate `param` block of parameter `{name}`", place, notes=(note,))
            ok = False
        seen[name] = place
        if not _is_param(name, made):
            hint = name_hint(name, known, "it has no parameters") if name not in known else "remove `bias: false`"
            if is_a(made.definition, GROUP):
                hint = "write `param` in the layer that has the parameter, inside the step"
            report.add("E112", f"`{made.definition.name}` has no parameter `{name}`", place, help=hint)
            ok = False
        if isinstance(shared := block.values.get("share"), str):
            check_name(shared, "a shared parameter", block.place("share"), report)
        settings = _settings(block)
        ok = ok and settings is not None
        if settings is not None:
            params[name] = settings
    made.params = params
    return ok


def _is_param(name: str, made: Setup) -> bool:
    """Whether a layer has a parameter; `weight_1` is the one of the second item of a repeatable input."""
    if made.definition.is_composite:
        # Parts are known only when the types of the inputs are.
        return True  # that of a part, which is checked later
    params = made.definition.params
    stem, _, item = name.rpartition("_")
    if name == "bias" and "bias" in made.attributes and not made.attributes["bias"]:
        return False
    return name in params or (item.isdecimal() and stem in params and params[stem].per is not None)


def _settings(block: Bound) -> ParamSettings | None:
    values = block.values
    block_of_init: Bound | None = values.get("init")
    init = None
    if block_of_init is not None:
        definition, attributes = block_of_init.definition, block_of_init.attributes
        if definition is None or attributes is None:
            return None
        init = (definition, attributes)
    given = {field.name: values[field.name] for field in fields(ParamSettings) if values.get(field.name) is not None}
    return ParamSettings(**{**given, "init": init})
