"""Text generation for networks, for `dumps` and for the Python helpers."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from paddle_layers.define import Attributes, Definition

from ..binding.assignments import ParamSettings, StateRule
from ..binding.blocks import BlockDefinition
from ..binding.expressions import shown
from ..binding.steps import GROUP, group_output_names
from ..wiring.nodes import Node

HEADER = "# proto-file: schema/network.proto\n# proto-message: paddle_layers.Network\n\n"
HEADERS = {"Network": HEADER, "Training": HEADER.replace("network", "training").replace("Network", "Training")}
"""Headers of files of the two kinds."""


class Word(str):
    """A string that is written without quotes."""


def fields_text(fields: Mapping[str, Any]) -> str:
    """Fields of a block on one line. Mappings are blocks; lists of mappings and of strings are repeated fields."""
    parts = []
    for name, value in fields.items():
        if isinstance(value, Mapping):
            parts.append(f"{name} {{ {fields_text(value)} }}" if value else f"{name} {{}}")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            if any(isinstance(item, (Mapping, str)) for item in value):
                parts += [fields_text({name: item}) for item in value]
            else:
                parts.append(f"{name}: [{', '.join(map(value_text, value))}]")
        else:
            parts.append(f"{name}: {value_text(value)}")
    return " ".join(parts)


def value_text(value: Any) -> str:
    """A value in text format."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Word):
        return str(value)
    if isinstance(value, str):
        # JSON's escapes are a subset of those of text format, except for `\/`, which `dumps` never writes.
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(value)


def attributes_fields(definition: Definition, attributes: Attributes) -> dict[str, Any]:
    """Attributes that differ from their defaults."""
    found: dict[str, Any] = {}
    for name, attribute in definition.attributes.items():
        value = attributes[name]
        # Compared with the effective default: `stride_y` equal to `stride` is not written.
        usual = attributes[attribute.default_from] if attribute.default_from else attribute.default
        if value is not None and value != usual:
            plain = attribute.type == "CHOICE" and str(value).isidentifier()
            found[name] = Word(value) if plain else value
    return found


def component_fields(definition: Definition, attributes: Attributes) -> dict[str, Any]:
    """The fields of a typed block: `type: "t" t { ... }`."""
    settings = attributes_fields(definition, attributes)
    return {"type": definition.name, **({definition.name: settings} if settings else {})}


def layer_fields(node: Node) -> dict[str, Any]:
    """The settings of a layer that differ from the defaults."""
    definition = node.definition
    fields: dict[str, Any] = {"name": node.name, "type": definition.name}
    if node.inputs:
        fields["input"] = list(node.inputs)
    if node.output_names != _default_names(node):
        fields["output"] = list(node.output_names)
    settings = attributes_fields(definition, node.attributes)
    if isinstance(definition, BlockDefinition):
        fields |= {"set": ", ".join(f"{name} = {shown(value)}" for name, value in settings.items())} if settings else {}
        fields |= {"times": node.setup.times} if node.setup.times > 1 else {}
    elif settings:
        fields[definition.name] = settings
    # An activation from `act` is written as an attribute above.
    if node.activation is not None and node.attributes.get("act", "linear") == "linear":
        fields["activation"] = component_fields(*node.activation)
    if node.inside is not None and definition.name == GROUP:
        layers = [layer_fields(inner) for inner in node.inside.nodes]
        fields["step"] = {"layer": layers, "output": list(node.inside.outputs)}
    fields["param"] = [_param(name, settings) for name, settings in node.params.items()]
    fields["include"] = [_rule(rule) for rule in node.include]
    fields["exclude"] = [_rule(rule) for rule in node.exclude]
    fields["loss_weight"] = list(node.loss_weight or ())
    fields["propagate_down"] = list(node.propagate_down)
    return {name: value for name, value in fields.items() if value != []}


def _default_names(node: Node) -> tuple[str, ...]:
    if node.inside is not None and node.definition.name == GROUP:
        return group_output_names(node.name, node.inside.outputs)
    return node.definition.names_in_network(node.name, len(node.output_names))


def _param(name: str, settings: ParamSettings) -> dict[str, Any]:
    fields: dict[str, Any] = {"of": name}
    if settings.init is not None:
        fields["init"] = component_fields(*settings.init)
    for field in dataclasses.fields(settings):
        if field.name != "init" and getattr(settings, field.name) != field.default:
            fields[field.name] = getattr(settings, field.name)
    return fields


def _rule(rule: StateRule) -> dict[str, Any]:
    return {name: value for name, value in rule._asdict().items() if value not in (None, ())}
