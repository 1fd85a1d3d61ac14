"""Compatibility of changes to a definition, and of its field numbers, with existing configs, weights and programs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from paddle_layers.define.messages.layer_def import read_value
from paddle_layers.schema import layer_def_pb2 as pb


class Change(NamedTuple):
    """One difference between two versions of a definition."""

    subject: str
    """The part: ``attribute `size` ``."""
    what: str
    """The kind of change: "default changed"."""
    breaking: bool
    means: str
    """Its consequence for existing files."""
    old: str = ""
    new: str = ""


class FieldRule(NamedTuple):
    """Comparison of a field of a message: two strings, and whether a difference is a breaking change."""

    what: str
    shown: Callable[[Any], str]
    breaking: Callable[[Any, Any], bool]
    means: str


def always(_old: Any, _new: Any) -> bool:
    """Any difference breaks."""
    return True


def never(_old: Any, _new: Any) -> bool:
    """No difference breaks."""
    return False


def compared(old: Any, new: Any, rules: Mapping[str, FieldRule], subject: str) -> Iterator[Change]:
    """The differences that the rules see."""
    for rule in rules.values():
        before, after = rule.shown(old), rule.shown(new)
        if before != after:
            breaks = rule.breaking(old, new)
            means = rule.means if breaks else "existing files keep their meaning"
            yield Change(subject, rule.what, breaks, means, before, after)


def matched(old: Iterable[Any], new: Iterable[Any]) -> tuple[list[tuple[Any, Any]], list[Any], list[Any]]:
    """Parts of one name in both, parts that are gone, parts that are new."""
    before, after = {part.name: part for part in old}, {part.name: part for part in new}
    both = [(before[name], after[name]) for name in before if name in after]
    return both, [p for n, p in before.items() if n not in after], [p for n, p in after.items() if n not in before]


# ---- attributes


def _value(message: pb.AttributeDef, field: str) -> str:
    return repr(read_value(getattr(message, field))) if message.HasField(field) else "none"


def _end(message: pb.AttributeDef, end: str) -> tuple[float, bool] | None:
    if not message.HasField(f"{end}_value"):
        return None
    return float(read_value(getattr(message, f"{end}_value"))), getattr(message, f"{end}_exclusive")


def _end_text(message: pb.AttributeDef, end: str) -> str:
    found = _end(message, end)
    if found is None:
        return "none"
    sign = {"min": (">=", ">"), "max": ("<=", "<")}[end][found[1]]
    return f"{sign} {found[0]:g}"


def _narrowed(end: str) -> Callable[[pb.AttributeDef, pb.AttributeDef], bool]:
    def narrower(old: pb.AttributeDef, new: pb.AttributeDef) -> bool:
        before, after = _end(old, end), _end(new, end)
        if before is None or after is None:
            return before is None
        # An equal limit that is exclusive now excludes one more value.
        inward = after[0] - before[0] if end == "min" else before[0] - after[0]
        return inward > 0 or (inward == 0 and after[1])

    return narrower


def _most(message: pb.AttributeDef) -> float:
    return message.max_items if message.HasField("max_items") else float("inf")


def _names(parts: Iterable[Any]) -> set[str]:
    return {part.name for part in parts}


REFUSED = "valid configs are rejected"
# Of defaults: a default has no effect where the attribute was required, since every existing config sets it.
MOVED = "configs that rely on it change their meaning"
BINARY = "binary configs are misread"


def _said(field: str) -> Callable[[Any, Any], bool]:
    """Breaking where the older export says it: exports of 0.1.0 do not."""
    return lambda old, _: bool(getattr(old, field))


ATTRIBUTE: dict[str, FieldRule] = {
    "type": FieldRule("type changed", lambda a: pb.AttributeDef.Type.Name(a.type), always, REFUSED),
    "repeated": FieldRule(
        "number of values changed", lambda a: "a list" if a.repeated else "one value", lambda o, _: o.repeated, REFUSED
    ),
    "default_value": FieldRule(
        "default changed", lambda a: _value(a, "default_value"), lambda o, _: not o.required, MOVED
    ),
    "default_from": FieldRule(
        "source of the default changed", lambda a: a.default_from or "none", lambda o, _: not o.required, MOVED
    ),
    "required": FieldRule(
        "requirement changed", lambda a: "required" if a.required else "optional", lambda _, n: n.required,
        "configs that do not set it are rejected",
    ),
    "min_value": FieldRule("minimum changed", lambda a: _end_text(a, "min"), _narrowed("min"), REFUSED),
    "max_value": FieldRule("maximum changed", lambda a: _end_text(a, "max"), _narrowed("max"), REFUSED),
    "min_items": FieldRule(
        "minimum count changed", lambda a: str(a.min_items), lambda o, n: n.min_items > o.min_items, REFUSED
    ),
    "max_items": FieldRule(
        "maximum count changed", lambda a: f"{_most(a):g}", lambda o, n: _most(n) < _most(o), REFUSED,
    ),
    "choices": FieldRule(
        "choices changed", lambda a: ", ".join(sorted(_names(a.choices))) or "none",
        lambda o, n: not _names(o.choices) <= _names(n.choices), REFUSED,
    ),
    "aliases": FieldRule(
        "aliases changed", lambda a: ", ".join(sorted(a.aliases)) or "none",
        lambda o, n: not {*o.aliases} <= {*n.aliases, n.name}, REFUSED,
    ),
    "axis": FieldRule("axis changed", lambda a: a.axis or "none", always, "inferred shapes change"),
    "groups": FieldRule(
        "grouped axis changed", lambda a: a.groups or "none",
        _said("groups"), "inferred types change",
    ),
    "deprecated": FieldRule("deprecation changed", lambda a: a.deprecated or "no", never, ""),
}  # fmt: skip
"""Rules by the field that they are about."""


def attribute_changes(old: Iterable[pb.AttributeDef], new: Iterable[pb.AttributeDef]) -> Iterator[Change]:
    """Changes of a definition's attributes; an attribute whose old name is an alias now was renamed."""
    both, gone, added = matched(old, new)
    renamed = {}
    for before in gone:
        after = next((part for part in added if before.name in part.aliases), None)
        subject = f"attribute `{before.name}`"
        if after is None:
            yield Change(subject, "removed", True, "configs that set it are rejected", before.name)
            continue
        # An alias keeps old configs valid, so the rename alone breaks nothing; the attributes are compared as one.
        renamed[after.name] = before
        yield Change(subject, "renamed", False, "the old name still works", before.name, after.name)
        both.append((before, after))
    for part in (part for part in added if part.name not in renamed):
        means = "configs that do not set it are rejected" if part.required else "existing configs are unaffected"
        yield Change(f"attribute `{part.name}`", "added", part.required, means, "", part.name)
    for before, after in both:
        yield from compared(before, after, ATTRIBUTE, f"attribute `{after.name}`")


# ---- inputs, outputs, statistics


def _kinds(argument: pb.ArgumentDef) -> str:
    return ", ".join(sorted(pb.DataType.Name(kind) for kind in argument.data_type))


def _levels(argument: pb.ArgumentDef) -> str:
    return ", ".join(map(str, sorted(argument.seq_nested_level)))


def _fewer(field: str) -> Callable[[Any, Any], bool]:
    return lambda old, new: not {*getattr(old, field)} <= {*getattr(new, field)}


def _axes_narrower(old: pb.ArgumentDef, new: pb.ArgumentDef) -> bool:
    """Axes may be taken together where they were not, and others may follow: `N C... ...` takes what `N C` did."""
    left, found = (_AT.sub("", argument.axes).split() for argument in (old, new))
    for axis in found:
        if left and axis in (left[0], f"{left[0]}..."):
            left.pop(0)
        elif axis != "...":
            return True
    return bool(left)


_AT = re.compile(r"@[\w:]+")
"""The attribute that says where an axis is; its default is compared as one of an attribute."""


INPUT: dict[str, FieldRule] = {
    "data_type": FieldRule("accepted data types changed", _kinds, _fewer("data_type"), REFUSED),
    "seq_nested_level": FieldRule("accepted sequence levels changed", _levels, _fewer("seq_nested_level"), REFUSED),
    "repeatable": FieldRule(
        "count changed", lambda a: "one or more" if a.repeatable else "one", lambda o, _: o.repeatable, REFUSED
    ),
    "optional": FieldRule(
        "requirement changed", lambda a: "optional" if a.optional else "required", lambda o, _: o.optional, REFUSED
    ),
    "min_count": FieldRule(
        "minimum count changed", lambda a: str(a.min_count), lambda o, n: n.min_count > o.min_count, REFUSED
    ),
    "axes": FieldRule("axes changed", lambda a: a.axes, _axes_narrower, "accepted shapes change"),
    "differentiable": FieldRule(
        "gradient changed", lambda a: "gradient" if a.differentiable else "no gradient",
        lambda o, _: o.differentiable, "layers before it are no longer trained",
    ),
    "low": FieldRule("domain minimum changed", lambda a: f"{a.low:g}" if a.HasField("low") else "none", never, ""),
    "high": FieldRule("domain maximum changed", lambda a: f"{a.high:g}" if a.HasField("high") else "none", never, ""),
    "places": FieldRule("indexed rows changed", lambda a: a.places or "none", _said("places"), REFUSED),
}  # fmt: skip

OUTPUT: dict[str, FieldRule] = {
    "data_type": FieldRule("data type changed", _kinds, always, "layers that read it may be rejected"),
    "repeatable": FieldRule(
        "count changed", lambda a: "several" if a.repeatable else "one", always, "names of outputs change"
    ),
    "axes": FieldRule("axes changed", lambda a: a.axes, _axes_narrower, "inferred shapes change"),
    "differentiable": FieldRule(
        "gradient changed", lambda a: "gradient" if a.differentiable else "no gradient",
        lambda o, _: o.differentiable, "layers before it are no longer trained",
    ),
    "loss": FieldRule(
        "role in the loss changed", lambda a: "a cost" if a.loss else "no cost", always, "the loss changes",
    ),
    "size": FieldRule("number of ids changed", lambda a: a.size or "none", always, "inferred types change"),
    "divisor": FieldRule(
        "divisor of the loss changed", lambda a: a.divisor or "rows", _said("divisor"), "the loss changes",
    ),
    "when": FieldRule(
        "presence changed", lambda a: f"with `{a.when}`" if a.when else "always present", always,
        "names of outputs change",
    ),
}  # fmt: skip

STATISTIC: dict[str, FieldRule] = {"axes": FieldRule("axes changed", lambda a: a.axes, always, "logged values change")}


def argument_changes(old: Any, new: Any, role: str, rules: Mapping[str, FieldRule]) -> Iterator[Change]:
    """Changes of inputs, outputs or statistics."""
    both, gone, added = matched(old, new)
    for part in gone:
        yield Change(
            f"{role} `{part.name}`",
            "removed",
            True,
            {"input": REFUSED, "output": "layers that read it are rejected"}.get(role, "it is no longer logged"),
            part.name,
        )
    for part in added:
        # New outputs break nothing: they follow the known ones, and configs refer to outputs by name or position.
        breaks = role == "input" and not part.optional and not (part.repeatable and part.min_count == 0)
        means = REFUSED if breaks else "existing files are unaffected"
        yield Change(f"{role} `{part.name}`", "added", breaks, means, "", part.name)
    orders = [" ".join(part.name for part in parts if part.name in {a.name for a, _ in both}) for parts in (old, new)]
    # Statistics are read by name only.
    if orders[0] != orders[1] and role != "statistic":
        yield Change(f"{role}s", "order changed", True, "configs refer to them by position", *orders)
    for before, after in both:
        yield from compared(before, after, rules, f"{role} `{after.name}`")


# ---- parameters


def _initializer(parameter: pb.LayerDef.ParameterDef) -> str:
    settings = ", ".join(f"{s.name} {read_value(s.value)!r}" for s in parameter.initializer_attributes)
    return f"{parameter.initializer}({settings})" if settings else parameter.initializer


PARAMETER: dict[str, FieldRule] = {
    "axes": FieldRule("axes changed", lambda p: p.axes, always, "weight files no longer match"),
    "input": FieldRule("input changed", lambda p: p.input or "none", always, "its name in weight files changes"),
    "initializer": FieldRule("initializer changed", _initializer, always, "initial values change"),
    "optional": FieldRule(
        "requirement changed", lambda p: "optional" if p.optional else "always present", lambda o, _: o.optional,
        "existing weight files may lack it",
    ),
    "trained": FieldRule(
        "training changed", lambda p: "trained" if p.trained else "a state", always, "training changes",
    ),
}  # fmt: skip


def parameter_changes(old: pb.LayerDef, new: pb.LayerDef) -> Iterator[Change]:
    """Changes of parameters and states."""
    both, gone, added = matched(_parameters(old), _parameters(new))
    for part in gone:
        yield Change(
            f"parameter `{part.name}`", "removed", True, "weight files contain an unknown parameter", part.name
        )
    for part in added:
        means = "existing files are unaffected" if part.optional else "weight files lack it"
        yield Change(f"parameter `{part.name}`", "added", not part.optional, means, "", part.name)
    for before, after in both:
        yield from compared(before, after, PARAMETER, f"parameter `{after.name}`")


def _parameters(layer: pb.LayerDef) -> list[pb.LayerDef.ParameterDef]:
    bias = [layer.bias_attr] if layer.HasField("bias_attr") else []
    return [part for part in (*layer.parameter_attr, *bias, *layer.extra_parameters) if part.name]


def number_changes(old: Sequence[pb.AttributeDef], new: Sequence[pb.AttributeDef]) -> Iterator[Change]:
    """Numbers of attributes, their aliases and their choices that moved or are used again."""
    yield from moved_numbers(_field_numbers(old), _field_numbers(new), "attribute")
    successors = {name: attribute for attribute in new for name in (*attribute.aliases, attribute.name)}
    for before in old:
        after = successors.get(before.name)
        if after is not None:
            of = f" of attribute `{after.name}`"
            yield from moved_numbers(_choice_numbers(before), _choice_numbers(after), "choice", of)


def moved_numbers(old: Mapping[str, int], new: Mapping[str, int], role: str, of: str = "") -> Iterator[Change]:
    """Names that have another number now, and new names that have the number of one that is gone."""
    lost = {number: name for name, number in old.items() if name not in new}
    for name, number in new.items():
        subject = f"{role} `{name}`{of}"
        if old.get(name, number) != number:
            yield Change(subject, "number changed", True, BINARY, str(old[name]), str(number))
        elif name not in old and number in lost:
            yield Change(subject, "number reused", True, BINARY, f"`{lost[number]}`", f"`{name}`")


def _field_numbers(attributes: Sequence[pb.AttributeDef]) -> dict[str, int]:
    """Numbers by name."""
    numbers = {attribute.name: attribute.number for attribute in attributes}
    for attribute in attributes:
        numbers |= zip(attribute.aliases, attribute.alias_numbers, strict=False)
    return numbers


def _choice_numbers(attribute: pb.AttributeDef) -> dict[str, int]:
    """Numbers by name."""
    return {choice.name: choice.number for choice in attribute.choices if choice.HasField("number")}
