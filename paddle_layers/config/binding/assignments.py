"""Settings of blocks and layers besides attributes: assignments, single parameters, include and exclude rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from paddle_layers.define import Attributes, Definition

from ..diagnostics.diagnostic import Fix
from ..diagnostics.report import DiagnosticReport
from ..diagnostics.suggestions import nearest
from ..reading.fields import STRING, Field, Fields
from .blocks import BlockDefinition, field_of, piece_place
from .expressions import Expression, ExpressionError, Value, assignment, pieces

VALUES = (
    "write a number, `true`, `false`, a string in single quotes or the name of a data layer with a size; expressions "
    "of settings are allowed in blocks only"
)


class Pending(NamedTuple):
    """An attribute whose value depends on settings of the enclosing block."""

    name: str
    expression: Expression
    place: int

    def field(self, settings: Mapping[str, Value], report: DiagnosticReport) -> Field | None:
        """The attribute as a field of its block; None after a report."""
        try:
            return field_of(self.name, self.expression.value(settings), self.place)
        except ExpressionError as error:
            report.add("E119", error.message, self.place, help=error.help)
            return None


class Assignments(NamedTuple):
    """The assignments of the `set` of a layer."""

    fields: Fields
    """Constant values, as fields of the attribute block."""
    pending: tuple[Pending, ...]
    sound: bool
    """Whether no error was reported."""


def assignments(
    given: list[Field],
    definition: Definition,
    within: BlockDefinition | None,
    sizes: Mapping[str, int | None],
    report: DiagnosticReport,
) -> Assignments:
    """The assignments in the `set` fields of a layer that is `within` a block, or outside of blocks.

    Outside of blocks, expressions read the `sizes` of data layers; None is that of one whose error is reported.
    """
    fields: Fields = []
    pending: list[Pending] = []
    sound = True
    for item in given:
        if item[1] != STRING:
            sound = False  # which was reported
            continue
        for text, offset in pieces(item[2]):
            found = _read(text, piece_place(report, item, offset), definition, within, sizes, report)
            sound = sound and found is not None
            if found is not None and found.expression.names and within is not None:
                pending.append(found)
            elif found is not None:
                values = {name: size for name in found.expression.names if (size := sizes[name]) is not None}
                known = len(values) == len(found.expression.names)
                field = found.field(values, report) if known else None
                sound = sound and field is not None
                fields += [field] if field is not None else []
    return Assignments(fields, tuple(pending), sound)


def _read(
    text: str,
    place: int,
    definition: Definition,
    within: BlockDefinition | None,
    sizes: Mapping[str, int | None],
    report: DiagnosticReport,
) -> Pending | None:
    end = place + len(text)
    try:
        name, expression, _ = assignment(text)
    except ExpressionError as error:
        report.add("E118", error.message, place, end, help=error.help)
        return None
    if not _is_known(name, definition, place, report):
        return None
    # In a block, a name alone passes on the setting of the same name; outside of blocks, it needs a value.
    if expression is None and within is None:
        report.add("E118", f"`{name}` has no value", place, end, help=f'write `set: "{name} = ..."`')
        return None
    expression = expression or Expression(None, ((1, (name,)),))
    if within is None and not isinstance(definition, BlockDefinition) and not expression.names:
        help_ = f"write it in `{definition.name} {{ ... }}`"
        report.add("E121", f"`{name}` reads no size of a data layer", place, end, help=help_)
        return None
    settings = within.attributes if within is not None else sizes
    for unknown in (one for one in expression.names if one not in settings):
        if within is None:
            message = f"unknown setting `{unknown}`: only blocks have settings"
            report.add("E119", message, place, end, help=VALUES)
        elif not within.unread:
            # With a malformed declaration any name may be a setting: only the declaration is reported, not its uses.
            near = nearest(unknown, settings)
            help_ = (
                f"did you mean `{near}`?"
                if near
                else f'declare it in the block: `settings: "{", ".join([*settings, unknown])}"`'
            )
            report.add("E119", f"unknown setting `{unknown}`", place, end, help=help_)
        return None
    return Pending(name, expression, place)


def _is_known(name: str, definition: Definition, place: int, report: DiagnosticReport) -> bool:
    known = definition.attribute_by_name
    if name in known:
        return True
    is_block = isinstance(definition, BlockDefinition)
    if isinstance(definition, BlockDefinition) and definition.unread:
        return False
    near, what = nearest(name, known), "setting" if is_block else "attribute"
    declare = f'; to declare it, write `settings: "{", ".join([*known, name])}"` in the block' if is_block else ""
    help_ = f"available: {', '.join(known)}" if known else f"it has no {what}s"
    help_ = f"did you mean `{near}`?" if near else help_ + declare
    # The offset may be that of the whole string (its escapes shift what follows); an edit there would hit other
    # characters.
    there = near and report.source.text.startswith(name, place)
    fix = Fix(place, place + len(name), near) if there and near else None
    report.add("E101", f"{definition.kind} `{definition.name}` has no {what} `{name}`", place, help=help_, fix=fix)
    return False


class Component(NamedTuple):
    """A registered definition with its attributes, including defaults."""

    definition: Definition
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class ParamSettings:
    """Settings `param { of: "weight" ... }` of one parameter."""

    init: tuple[Definition, Attributes] | None = None
    lr_mult: float = 1.0
    decay_mult: float = 1.0
    share: str | None = None
    frozen: bool = False
    clip: float | None = None
    clip_norm: float | None = None
    l1: float | None = None
    l2: float | None = None
    momentum: float | None = None
    max_norm: float | None = None
    prune: float | None = None

    @property
    def given(self) -> dict[str, Any]:
        """The settings that are not the defaults, comparable; without the name for weight sharing."""
        found = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "share"}
        changed = {field.name for field in fields(self) if found.get(field.name) != field.default}
        init = {"init": (self.init[0], self.init[1].as_dict())} if self.init is not None else {}
        return {name: value for name, value in found.items() if name in changed} | init


class PhaseState(NamedTuple):
    """The state a network is used in; include and exclude rules are conditions on it."""

    phase: str
    level: int = 0
    stages: frozenset[str] = frozenset()


class StateRule(NamedTuple):
    """A condition on a state; all parts must hold."""

    phase: str | None = None
    min_level: int | None = None
    max_level: int | None = None
    stage: tuple[str, ...] = ()
    not_stage: tuple[str, ...] = ()

    @property
    def contradiction(self) -> str:
        """Why the rule holds in no state; empty if it holds in some."""
        if both := [name for name in self.stage if name in self.not_stage]:
            return f"`{both[0]}` is both in `stage` and in `not_stage`"
        if self.min_level is not None and self.max_level is not None and self.min_level > self.max_level:
            return f"`min_level` is {self.min_level}, above `max_level`, {self.max_level}"
        return ""

    def meets(self, state: PhaseState) -> bool:
        """Whether the state meets the rule."""
        return (
            self.phase in (None, state.phase)
            and (self.min_level is None or state.level >= self.min_level)
            and (self.max_level is None or state.level <= self.max_level)
            and state.stages.issuperset(self.stage)
            and state.stages.isdisjoint(self.not_stage)
        )
