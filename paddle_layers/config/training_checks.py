"""Consistency checks between the fields of a training file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from paddle_layers.define import InvalidAttributes

from .binding.binder import Bound
from .binding.headers import spec
from .diagnostics.report import Report
from .network import Network
from .parameters import settings_of

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def get_field(bound: Bound, name: str, message: str) -> Any:
    """The value of a field, or its default in the message of this name."""
    value = bound.values.get(name)
    return spec(message).fields[name].default if value is None else value


def check_schedules(blocks: Sequence[Bound], field: str, report: Report) -> None:
    """Schedules that follow each other say until when, and the attributes of each go together."""
    before = 0
    for block in blocks:
        if block.definition is not None and block.attributes is not None:
            try:
                block.definition.create(block.attributes)
            except InvalidAttributes as error:
                for name, problem in error.problems.items():
                    report.add("E103", problem, block.attribute_place(name))
        until = block.values.get("until")
        if block is blocks[-1]:
            if until is not None:
                help_ = f"leave `until` out, or add another `{field}` behind it"
                report.add("E315", "nothing follows the last schedule", block.place("until"), help=help_)
        elif until is None and "until" not in block.places:
            help_ = "add `until: ...`, the step from which the next one holds"
            report.add("E315", "this schedule does not say until which step it holds", block.start, help=help_)
        elif isinstance(until, int) and until <= before:
            report.add("E315", f"the schedule before holds until step {before}", block.place("until"))
        before = until if isinstance(until, int) else before


def check_average(bound: Bound | None, report: Report) -> None:
    """It says how the average is made, once."""
    if bound is None or bound.broken:
        return
    given = [name for name in ("decay", "window") if name in bound.places]
    if len(given) != 1:
        what = "both a decay and a window" if given else "neither a decay nor a window"
        help_ = "write `decay: 0.999` for an exponential moving average, `window: 0.15` for the mean of the last steps"
        report.add("E314", f"this average has {what}", bound.start, help=help_)
    elif "max_window" in bound.places and "window" not in given:
        report.add("E314", "`max_window` is for a `window`", bound.place("max_window"))


def check_momenta(bound: Bound, network: Network, report: Report) -> None:
    """A per-parameter momentum requires an optimizer with momentum."""
    optimizer: Bound | None = bound.values.get("optimizer")
    if optimizer is None or optimizer.definition is None or "momentum" in optimizer.definition.attributes:
        return
    message = f"the optimizer `{optimizer.definition.name}` has no `momentum`"
    for block in bound.values.get("momentum_schedule", ())[:1]:
        report.add("E311", message, block.start)
    for block in bound.values.get("param", ()):
        if "momentum" in block.places:
            report.add("E311", message, block.place("momentum"))
    own = [name for name, settings in settings_of(network).items() if settings.momentum is not None]
    if own:
        message += f", but `{own[0]}` has one of its own in the network"
        report.add("E311", message, optimizer.place("type"))


def check_test_name(source: Bound, first: Mapping[str, Bound], named: dict[str, Bound], report: Report) -> None:
    """A source that has a name is a further one of the test phase, and the only one of that name."""
    name, place = source.values.get("name"), source.place("name")
    if get_field(source, "phase", "Source") != "test" or "split" in source.places:
        report.add("E304", "`name` is for further sources of the test phase", place, help="leave it out")
    elif "test" not in first:
        help_ = "leave it out; the results of the first one are called `loss` and by their statistics"
        report.add("E304", "this is the first source of the test phase", place, help=help_)
    elif isinstance(name, str) and not _NAME.fullmatch(name):
        report.add("E304", "`name` has letters, digits, `_` and `-`", place, help='write `name: "noisy"`')
    elif isinstance(name, str) and named.setdefault(name, source) is not source:
        note = report.note("the other one is here", named[name].start)
        report.add("E304", f"two sources of the test phase are called `{name}`", place, notes=(note,))


def check_split(source: Bound, report: Report) -> None:
    """A split says once which rows are held out."""
    split = source.values.get("split")
    if not isinstance(split, Bound) or split.broken:
        return
    given, share = split.places, split.values.get("test")
    both = "both a share and a field" if {"test", "field"} <= given.keys() else ""
    neither = "neither a share nor a field" if not {"test", "field"} & given.keys() else ""
    if both or neither:
        help_ = 'write `test: 0.2` for a fifth of the rows, or `field: "part" value: "test"`'
        report.add("E307", f"this split has {both or neither}", split.start, help=help_)
    elif isinstance(share, float) and share >= 1:
        message = f"`test` is the share of the rows that is held out, found {share:g}"
        report.add("E307", message, split.place("test"), help="write `test: 0.2` for a fifth of them")
    elif ("field" in given) != ("value" in given):
        missing = "value" if "field" in given else "field"
        help_ = "a row is held out where `field` has this `value`"
        report.add("E307", f"this split has no `{missing}`", split.start, help=help_)
    elif "field" in given and (shared := next((name for name in ("stratify", "group") if name in given), "")):
        message = f"`{shared}` is for a share of the rows; `field` says which rows are held out"
        report.add("E307", message, split.place(shared))
    elif "stratify" in given and "group" in given:
        message = "`stratify` cuts every group in two, and `group` keeps it whole; leave one of them out"
        report.add("E307", message, split.place("stratify"))
    elif get_field(source, "phase", "Source") == "test":
        message = "a source with a split feeds both phases: leave `phase` out"
        report.add("E307", message, source.place("phase"))
