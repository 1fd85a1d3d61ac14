"""Consistency checks between the fields of a training file."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from paddle_layers.define import InvalidAttributes
from paddle_layers.define.name_patterns import rename_problem

from .binding.binder import Bound
from .binding.headers import spec
from .diagnostics.report import DiagnosticReport
from .diagnostics.suggestions import nearest
from .network import Network
from .parameters import settings_of

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def get_field(bound: Bound, name: str, message: str) -> Any:
    """The value of a field, or its default in the message of this name."""
    value = bound.values.get(name)
    return spec(message).fields[name].default if value is None else value


def check_schedules(blocks: Sequence[Bound], field: str, report: DiagnosticReport) -> None:
    """Check the attributes of consecutive schedules, and their `until`."""
    before = 0
    for block in blocks:
        if block.definition is not None and block.attributes is not None:
            try:
                # Schedules check combinations of attributes when they are created; found here, they have a position.
                block.definition.create(block.attributes)
            except InvalidAttributes as error:
                for name, problem in error.problems.items():
                    report.add("E103", problem, block.attribute_place(name))
        until = block.values.get("until")
        if block is blocks[-1]:
            if until is not None:
                help_ = f"remove it, or add another `{field}` after this one"
                report.add("E315", "the last schedule has `until`", block.place("until"), help=help_)
        elif until is None and "until" not in block.places:
            # Present without a value means that it is invalid, which was reported.
            help_ = "add `until: ...`, the step at which the next schedule starts"
            report.add("E315", "this schedule has no `until` and is not the last one", block.start, help=help_)
        elif isinstance(until, int) and until <= before:
            message = f"`until` must be greater than that of the previous schedule, {before}"
            report.add("E315", message, block.place("until"))
        # After an error the last valid one, so that one mistake is not reported again for the next schedule.
        before = until if isinstance(until, int) else before


def check_average(bound: Bound | None, report: DiagnosticReport) -> None:
    """Check that an average has either a decay or a window."""
    if bound is None or bound.broken:
        return
    given = [name for name in ("decay", "window") if name in bound.places]
    if len(given) != 1:
        what = "both `decay` and `window`" if given else "neither `decay` nor `window`"
        help_ = "write `decay: 0.999` for an exponential moving average, `window: 0.15` for the mean of the last steps"
        report.add("E314", f"`average` has {what}", bound.start, help=help_)
    elif "max_window" in bound.places and "window" not in given:
        report.add("E314", "`max_window` requires `window`", bound.place("max_window"))


def check_momenta(bound: Bound, network: Network, report: DiagnosticReport) -> None:
    """A per-parameter momentum requires an optimizer with momentum."""
    optimizer: Bound | None = bound.values.get("optimizer")
    # An unknown optimizer may have a momentum: its name is the only error then.
    if optimizer is None or optimizer.definition is None or "momentum" in optimizer.definition.attributes:
        return
    message = f"the optimizer `{optimizer.definition.name}` has no `momentum`"
    for block in bound.values.get("momentum_schedule", ())[:1]:
        report.add("E311", message, block.start)
    for block in bound.values.get("param", ()):
        if "momentum" in block.places:
            report.add("E311", message, block.place("momentum"))
    # The network file does not know the optimizer, so only here the contradiction shows.
    own = [name for name, settings in settings_of(network).items() if settings.momentum is not None]
    if own:
        message += f", but the network sets one for `{own[0]}`"
        report.add("E311", message, optimizer.place("type"))


def check_state(bound: Bound, network: Network, report: DiagnosticReport) -> None:
    """Warn about a stage or a level that no rule of the network asks for: a misspelled one selects other layers."""
    rules = [rule for node in network.nodes for rule in (*node.include, *node.exclude)]
    stages = dict.fromkeys(stage for rule in rules for stage in (*rule.stage, *rule.not_stage))
    for item, stage in enumerate(bound.values.get("stage", ())):
        if stage not in stages:
            near = nearest(stage, stages)
            help_ = f"did you mean `{near}`?" if near else "remove it, or add `include { stage: ... }` to a layer"
            report.add("W012", f"no layer has a rule for the stage `{stage}`", bound.place("stage", item), help=help_)
    if "level" in bound.places and all(rule.min_level is None and rule.max_level is None for rule in rules):
        help_ = "remove it, or add `include { min_level: ... }` to a layer"
        report.add("W012", "no layer has a rule for the level", bound.place("level"), help=help_)


def check_clip(bound: Bound | None, report: DiagnosticReport) -> None:
    """Check that a block for gradient clipping has a limit."""
    if bound is not None and not bound.broken and not bound.places and not bound.meant:
        help_ = "add `norm: 1` or `value: 1`"
        report.add("E105", "this `clip` block has neither `norm` nor `value`", bound.start, help=help_)


def check_once(bound: Bound, report: DiagnosticReport) -> None:
    """Check that a data layer is fed once, and a weight renamed once; the first of two would have no effect."""
    weights: Bound | None = bound.values.get("weights")
    renames = weights.values.get("rename", ()) if weights is not None else ()
    for code, blocks, key, what in (
        ("E305", bound.values.get("feed", ()), "input", "fed"),
        ("E306", renames, "from", "renamed"),
    ):
        first: dict[str, int] = {}
        for block in blocks:
            name = block.values.get(key)
            if isinstance(name, str) and first.setdefault(name, block.start) != block.start:
                note = report.note("the other one is here", first[name])
                report.add(code, f"`{name}` is {what} twice", block.place(key), notes=(note,))
    for rename in renames:
        old, new = rename.values.get("from"), rename.values.get("to")
        if isinstance(old, str) and isinstance(new, str) and (problem := rename_problem(old, new)):
            report.add("E306", problem, rename.place("to"))


def check_monitored(callbacks: Sequence[Bound], report: DiagnosticReport) -> None:
    """Warn where `early_stop` and `save_best` monitor different results, one of them by default."""
    monitors = {one.definition.name: one for one in callbacks if one.definition is not None and one.attributes}
    stop, best = monitors.get("early_stop"), monitors.get("save_best")
    if stop is None or best is None or stop.attributes is None or best.attributes is None:
        return
    stopped, saved = stop.attributes["watch"], best.attributes["watch"]
    explicit = [one for one in (stop, best) if any(field[0] == "watch" for field in one.block)]
    # Two results that are both written are meant.
    if stopped == saved or len(explicit) != 1:
        return
    changed, watched = (best, stopped) if explicit[0] is stop else (stop, saved)
    message = f"`early_stop` monitors `{stopped}`, but `save_best` monitors `{saved}`"
    name = changed.definition.name if changed.definition is not None else ""
    default = stopped if changed is stop else saved
    help_ = f'write `{name} {{ watch: "{watched}" }}`; if this is intended, `{name} {{ watch: "{default}" }}`'
    report.add("W008", message, changed.start, help=help_)


def check_source_name(
    source: Bound, first: Mapping[str, Bound], named: dict[str, Bound], report: DiagnosticReport
) -> None:
    """Check that a named source is an additional validation or test source with a unique, valid name."""
    name, place = source.values.get("name"), source.place("name")
    phase = get_field(source, "phase", "Source")
    if phase == "train" or "split" in source.places:
        message = "`name` is only allowed on additional validation and test sources"
        report.add("E304", message, place, help="remove it")
    elif phase not in first:
        help_ = f"remove it; the results of the first {phase} source have no prefix"
        report.add("E304", f"the first {phase} source cannot have a `name`", place, help=help_)
    elif isinstance(name, str) and not _NAME.fullmatch(name):
        message = "`name` must be a letter followed by letters, digits, `_` and `-`, at most 64 characters"
        report.add("E304", message, place, help='for example, `name: "noisy"`')
    elif isinstance(name, str) and named.setdefault(name, source) is not source:
        note = report.note("the other one is here", named[name].start)
        report.add("E304", f"duplicate name `{name}` of sources", place, notes=(note,))


def check_ratio(source: Bound, phases: Collection[str], report: DiagnosticReport) -> None:
    """Check that only training sources have a mixing ratio."""
    if "ratio" in source.places and "train" not in phases:
        message = "`ratio` is only allowed on training sources; an evaluation reads every sample once"
        report.add("E304", message, source.place("ratio"), help="remove it")


SCALING = ("scale", "mean")
"""Transforms that change values in all phases alike; others are random in training only, or change the shape."""


def check_scaling(sources: Sequence[Bound], report: DiagnosticReport) -> None:
    """Warn where training and test data are not scaled alike: the results of the tests would be meaningless."""
    train = next((source for source in sources if "train" in phases_of(source)), None)
    if train is None:
        return
    theirs = _scalings(train)
    for source in sources:
        phase, ours = get_field(source, "phase", "Source"), _scalings(source)
        if phase == "train":
            continue
        for type_, layer in [one for one in theirs + ours if (one in ours) != (one in theirs)]:
            trained = (type_, layer) in theirs
            where, there = ("train", phase) if trained else (phase, "train")
            message = f"the {where} source has the transform `{type_}` of `{layer}`, but the {there} source has not"
            help_ = "add it to both, so that the data of all phases are scaled alike"
            if type_ == "scale":
                help_ += ", with `factor: 1` where they are scaled already"
            report.add("W011", message, (source if trained else train).start, help=help_)


def _scalings(source: Bound) -> list[tuple[str, object]]:
    """The transforms of a source that scale a data layer: type and data layer."""
    known = [(one.definition, one.values.get("input")) for one in source.values.get("transform", ())]
    return [(one.name, layer) for one, layer in known if one is not None and one.name in SCALING]


SPLIT_FIELDS = {"test": ("test", "value"), "validation": ("validation", "validation_value")}
"""Fields of `split` by the held-out phase: a fraction of the samples, a value of `field`."""


def phases_of(source: Bound) -> list[str]:
    """The phases that a source feeds; those of most files if its split is invalid."""
    if "split" not in source.places:
        return [get_field(source, "phase", "Source")]
    split = source.values.get("split")
    given = split.places if isinstance(split, Bound) else {}
    held_out = [phase for phase, fields in SPLIT_FIELDS.items() if not given.keys().isdisjoint(fields)]
    return ["train", *(held_out or ["test"])]


def check_split(source: Bound, report: DiagnosticReport) -> None:
    """Check that a split selects the held-out samples in exactly one way."""
    split = source.values.get("split")
    if not isinstance(split, Bound) or split.broken:
        return
    given = split.places
    shares, values = ([names[way] for names in SPLIT_FIELDS.values() if names[way] in given] for way in (0, 1))
    invalid = f"both `{shares[0]}` and `field`" if shares and "field" in given else ""
    if not shares and "field" not in given and not values and split.meant.isdisjoint(("validation", "test", "field")):
        invalid = "none of `validation`, `test` and `field`"
    if invalid:
        help_ = 'write `test: 0.2` to hold out a fifth of the samples, or `field: "part" value: "test"`'
        report.add("E307", f"`split` has {invalid}", split.start, help=help_)
    elif bool(values) != ("field" in given):
        missing = "value" if "field" in given else "field"
        help_ = "samples are held out if their `field` has this `value`"
        report.add("E307", f"`split` has no `{missing}`", split.start, help=help_)
    elif "field" in given and (shared := next((name for name in ("stratify", "group") if name in given), "")):
        message = f"`{shared}` is not allowed with `field`, which already selects the samples"
        report.add("E307", message, split.place(shared), help="remove it, or write `test: 0.2` instead of `field`")
    elif "field" in given and "seed" in given:
        message = "`seed` is not allowed with `field`, which selects the samples without random numbers"
        report.add("E307", message, split.place("seed"), help="remove it")
    elif "stratify" in given and "group" in given:
        message = "`stratify` and `group` are mutually exclusive"
        help_ = "`stratify` divides the samples of each value, `group` keeps them together"
        report.add("E307", message, split.place("stratify"), help=help_)
    elif (phase := get_field(source, "phase", "Source")) != "train":
        message = f'`phase: "{phase}"` is not allowed with `split`, which feeds several phases'
        report.add("E307", message, source.place("phase"), help="remove it")
    else:
        _check_held_out(split, shares, values, report)


def _check_held_out(split: Bound, shares: Sequence[str], values: Sequence[str], report: DiagnosticReport) -> None:
    """Check that training samples are left, and that the held-out parts differ."""
    fractions = {name: split.values[name] for name in shares if isinstance(split.values.get(name), float)}
    for name, share in fractions.items():
        if share >= 1:
            message = f"`{name}` must be less than 1, found {share:g}"
            help_ = f"write `{name}: 0.2` to hold out a fifth of the samples"
            report.add("E307", message, split.place(name), help=help_)
            return
    if sum(fractions.values()) >= 1:
        message = f"`test` and `validation` must have a sum less than 1, found {sum(fractions.values()):g}"
        help_ = "write `validation: 0.1 test: 0.2` to train on the other 70 % of the samples"
        report.add("E307", message, split.place("validation"), help=help_)
    if len(values) == 2 and split.values.get(values[0]) == split.values.get(values[1]):
        message = "`value` and `validation_value` must differ"
        help_ = "`value` selects the test samples, `validation_value` the validation samples"
        report.add("E307", message, split.place("validation_value"), help=help_)
