"""Comparison of two registries: compatibility of old configs, weights and programs; their files.

A registry file has all definitions as a RegistryDef in text, JSON or binary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from google.protobuf import json_format, text_format
from google.protobuf.message import DecodeError

import paddle_layers as pl
from paddle_layers.define import Definition, LayerDefinition, registries
from paddle_layers.define.messages.layer_def import component_def, read_value
from paddle_layers.schema import layer_def_pb2 as pb

from .changes import (
    BINARY,
    INPUT,
    OUTPUT,
    STATISTIC,
    Change,
    FieldRule,
    always,
    argument_changes,
    attribute_changes,
    compared,
    never,
    number_changes,
    parameter_changes,
)
from .examples import worked_examples

ENDS = (".textproto", ".json", ".binpb")
"""Ends of the names of registry files, by format."""


class RegistryFileError(Exception):
    """A file is no registry file; the message says which and why."""


def registry_def(package: str | None = None) -> pb.RegistryDef:
    """Everything that is registered, or what one package has; examples with what they infer, no places in files."""
    message = pb.RegistryDef(version=pl.__version__)
    for registry in registries.values():
        for definition in registry.values():
            if package is None or definition.package == package:
                _add(message, definition)
    message.components.sort(key=lambda component: (component.kind, component.type))
    return message


def _add(message: pb.RegistryDef, definition: Definition) -> None:
    if not isinstance(definition, LayerDefinition):
        message.components.append(component_def(definition))
        message.components[-1].ClearField("registered_at")
        return
    layer = message.layers.add()
    layer.CopyFrom(definition.message)
    # Lines move with every edit; without them, exports only differ if the definitions do.
    layer.ClearField("registered_at")
    for example, worked in zip(layer.examples, worked_examples(definition), strict=True):
        example.outputs.extend(f"{name} {type_}" for name, type_ in worked.outputs)
        example.parameters.extend(f"{name} {shape}" for name, shape, _ in worked.parameters)


def registry_content(message: pb.RegistryDef, end: str) -> bytes:
    """The content of a registry file whose name ends in `end`."""
    if end == ".binpb":
        return message.SerializeToString(deterministic=True)
    if end == ".json":
        return (json_format.MessageToJson(message, preserving_proto_field_name=True) + "\n").encode()
    head = "# proto-file: schema/layer_def.proto\n# proto-message: paddle_layers.RegistryDef\n\n"
    return (head + text_format.MessageToString(message, as_utf8=True)).encode()


def read_registry(path: Path) -> pb.RegistryDef:
    """Read a registry file. Raises `RegistryFileError`, `OSError`."""
    content, message = path.read_bytes(), pb.RegistryDef()
    try:
        if path.suffix == ".binpb":
            message.ParseFromString(content)
        elif path.suffix == ".json":
            json_format.Parse(content.decode(), message)
        elif path.suffix == ".textproto":
            text_format.Parse(content.decode(), message)
        else:
            raise RegistryFileError(f"{path}: unsupported extension; expected one of {', '.join(ENDS)}")
    except (DecodeError, UnicodeDecodeError, json_format.ParseError, text_format.ParseError) as error:
        raise RegistryFileError(f"{path} is not a registry file: {error}") from error
    return message


class Difference(NamedTuple):
    """The changes of one definition."""

    definition: str
    """Kind and name: "layer fc"."""
    changes: tuple[Change, ...]
    stepped: bool
    """Whether the version of the definition was stepped, which allows breaking changes."""

    @property
    def refused(self) -> bool:
        """Whether there is a breaking change without a step of the version."""
        return not self.stepped and any(change.breaking for change in self.changes)


DEFINITION: dict[str, FieldRule] = {
    "number": FieldRule("number changed", lambda d: str(d.number), always, BINARY),
    "version": FieldRule(
        "version changed", lambda d: str(d.version), lambda o, n: n.version < o.version, "versions never decrease"
    ),
}

FACTS: dict[str, FieldRule] = {
    "can_do_bp": FieldRule(
        "gradient changed", lambda f: "gradient" if f.can_do_bp else "no gradient", lambda o, _: o.can_do_bp,
        "layers before it are no longer trained",
    ),
    "devices": FieldRule(
        "devices changed", lambda f: ", ".join(f.devices), lambda o, n: not {*o.devices} <= {*n.devices},
        "the layer runs on the CPU instead",
    ),
}  # fmt: skip

RULES: dict[str, FieldRule] = {
    "rules": FieldRule(
        "conditions changed", lambda d: "; ".join(sorted(f"{r.subject}: {r.condition}" for r in d.rules)) or "none",
        never, "",
    ),
    "results": FieldRule(
        "reported values changed", lambda d: ", ".join(d.results) or "one value",
        lambda o, n: not {*(o.results or [""])} <= {*(n.results or [""])}, "programs and logs refer to them",
    ),
}  # fmt: skip
"""Conditions are strings: the examples show whether they accept the same values."""

# Complete on purpose: a test requires each field of the messages in a rule or here, so that a new one is not forgotten.
IRRELEVANT = {
    "LayerDef.type": "matches the definitions",
    "LayerDef.description": "words",
    "LayerDef.family": "place on the pages",
    "LayerDef.elsewhere": "names on the pages",
    "LayerDef.search_terms": "words",
    "LayerDef.since_version": "a record",
    "LayerDef.package": "where it is from",
    "LayerDef.registered_at": "not in exported registries",
    "LayerDef.common": "its attributes are compared",
    "ComponentDef.kind": "matches the definitions",
    "ComponentDef.type": "matches the definitions",
    "ComponentDef.description": "words",
    "ComponentDef.elsewhere": "names on the pages",
    "ComponentDef.search_terms": "words",
    "ComponentDef.package": "where it is from",
    "ComponentDef.since_version": "a record",
    "ComponentDef.registered_at": "not in exported registries",
    "AttributeDef.name": "matches the attributes",
    "AttributeDef.description": "words",
    "AttributeDef.fields": "groups are settings of parameters",
    "ArgumentDef.name": "matches the arguments",
    "ArgumentDef.description": "words",
    "ArgumentDef.seq_nested_level": "derived from the inputs for outputs; statistics have no level",
    "ArgumentDef.optional": "an attribute determines outputs; statistics are never optional",
    "ArgumentDef.min_count": "an input's",
    "ArgumentDef.kinks": "for the conformance kit",
    "ArgumentDef.derivative": "for the conformance kit",
    "ArgumentDef.nan": "words, and for the conformance kit",
    "ChoiceDef.description": "words",
    "ParameterDef.name": "matches the parameters",
    "ParameterDef.description": "words",
    "ParameterDef.attributes": "the same for all; from network.proto",
    "ExampleDef.purpose": "words",
}
"""Fields in which a difference is no change, with the reason."""


def differences(old: pb.RegistryDef, new: pb.RegistryDef) -> list[Difference]:
    """Definitions that differ, those with breaking changes first."""
    before, after = _by_name(old), _by_name(new)
    # A number that is used again is worse than a removal: old binary configs would be read as another definition.
    lost = {_number(name, part): name for name, part in before.items() if name not in after}
    found = []
    for name in sorted({*before, *after}):
        first, second = before.get(name), after.get(name)
        if first is None or second is None:
            gone = second is None
            means = "configs that use it are rejected" if gone else "existing files are unaffected"
            changes: tuple[Change, ...] = (Change(name, "removed" if gone else "added", gone, means),)
            if second is not None and (previous := lost.get(_number(name, second))):
                changes = (Change(name, "number reused", True, BINARY, previous, name), *changes)
        else:
            compare: Callable[[Any, Any], Iterator[Change]] = _layer if isinstance(first, pb.LayerDef) else _component
            changes = tuple(sorted(compare(first, second), key=lambda change: not change.breaking))
        if changes:
            stepped = first is not None and second is not None and second.version > first.version
            found.append(Difference(name, changes, stepped))
    return sorted(found, key=lambda difference: not any(change.breaking for change in difference.changes))


def _number(name: str, part: Any) -> tuple[str, int]:
    """Kind and number of a definition, which are its own for ever."""
    return name.partition(" ")[0], part.number


def _by_name(registry: pb.RegistryDef) -> Mapping[str, Any]:
    return {f"layer {layer.type}": layer for layer in registry.layers} | {
        f"{component.kind} {component.type}": component for component in registry.components
    }


def _layer(old: pb.LayerDef, new: pb.LayerDef) -> Iterator[Change]:
    yield from compared(old, new, DEFINITION | RULES, "the layer")
    yield from attribute_changes(old.layer_attr, new.layer_attr)
    yield from number_changes(old.layer_attr, new.layer_attr)
    yield from argument_changes(old.inputs, _with_places(old, new, new.inputs), "input", INPUT)
    yield from argument_changes(old.outputs, _with_places(old, new, new.outputs), "output", OUTPUT)
    yield from argument_changes(old.statistics, new.statistics, "statistic", STATISTIC)
    yield from parameter_changes(old, new)
    yield from compared(old.facts, new.facts, FACTS | _other_facts(), "the layer")
    yield from _inference(old, new)


def _with_places(old: pb.LayerDef, new: pb.LayerDef, arguments: Iterable[pb.ArgumentDef]) -> list[pb.ArgumentDef]:
    """Arguments with the axes that they have for configs that do not know the attributes that say which axis one is."""
    known = {attribute.name for attribute in old.layer_attr}
    # An attribute that selects an axis is no change if its default selects the axis that was fixed before.
    usual = {one.name: read_value(one.default_value) for one in new.layer_attr if one.name not in known}
    found = []
    for argument in arguments:
        copy = pb.ArgumentDef()
        copy.CopyFrom(argument)
        placed = _PLACED.fullmatch(argument.axes)
        if placed and usual.get(placed["first"]) == 1 and (not placed["last"] or usual.get(placed["last"]) == -1):
            rest = placed["rest"] if not placed["last"] else ""
            copy.axes = f"{placed['rows']} {placed['axis']}{rest}"
        found.append(copy)
    return found


_PLACED = re.compile(
    r"(?P<rows>\w+)\.\.\. (?P<axis>\w+(?:\.\.\.)?)@(?P<first>\w+)(?::(?P<last>\w+))?(?P<rest>(?: \.\.\.)?)"
)
"""Axes of which an attribute says which one is which."""


def _component(old: pb.ComponentDef, new: pb.ComponentDef) -> Iterator[Change]:
    yield from compared(old, new, DEFINITION, f"the {new.kind}")
    yield from attribute_changes(old.attributes, new.attributes)
    yield from number_changes(old.attributes, new.attributes)
    if list(old.states) != list(new.states):
        texts = ", ".join(old.states) or "none", ", ".join(new.states) or "none"
        yield Change("states", "changed", True, "old checkpoints cannot be resumed", *texts)


def _other_facts() -> dict[str, FieldRule]:
    """Facts that are for information."""

    def shown(name: str) -> Callable[[Any], str]:
        return lambda facts: str(getattr(facts, name))

    names = [field.name for field in pb.FactsDef.DESCRIPTOR.fields if field.name not in FACTS]
    return {name: FieldRule(f"fact `{name}` changed", shown(name), never, "") for name in names}


def _inference(old: pb.LayerDef, new: pb.LayerDef) -> Iterator[Change]:
    """Examples that both have, with other results."""
    known = {_example(example): example for example in new.examples}
    for example in old.examples:
        # Inference is code, which cannot be compared; its results for the examples can.
        after = known.get(_example(example))
        for field, means in (("outputs", "inferred types change"), ("parameters", "weight files no longer match")):
            if after is not None and list(getattr(example, field)) != list(getattr(after, field)):
                texts = (", ".join(getattr(one, field)) or "none" for one in (example, after))
                yield Change(f"example {_example(example)}", f"inferred {field} changed", True, means, *texts)


def _example(example: pb.ExampleDef) -> str:
    settings = [f"{i.name}={i.type}" for i in example.inputs]
    settings += [f"{s.name}={read_value(s.value)!r}" for s in example.attributes]
    return f"({', '.join(settings)})"


# ---- for people and for programs


def differences_text(found: Sequence[Difference]) -> str:
    """One paragraph for each definition, breaking changes first."""
    lines = []
    for difference in found:
        lines.append(difference.definition + (", new version" if difference.stepped else ""))
        for change in difference.changes:
            label = "compatible" if not change.breaking else "breaking, allowed" if difference.stepped else "breaking"
            values = f": {change.old or 'nothing'} -> {change.new or 'nothing'}" if change.old or change.new else ""
            subject = "" if change.subject == difference.definition else f"{change.subject} "
            lines.append(f"  {label}: {subject}{change.what}{values}; {change.means}")
    return "\n".join(lines)


def differences_data(found: Sequence[Difference]) -> list[dict[str, Any]]:
    """The same for programs: an object for each change."""
    return [
        {"definition": d.definition, "stepped": d.stepped, **change._asdict()} for d in found for change in d.changes
    ]
