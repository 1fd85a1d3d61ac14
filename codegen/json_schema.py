"""JSON Schema (2020-12) of network and training files, for completion and checks in editors.

It says what the types, ranges and names of a config may be. What JSON Schema cannot express, shapes and the wiring of
layers, is for `paddle-layers validate`. It is a little stricter in two places: `null` and 0 or 1 for a truth value are
read, but not suggested.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from paddle_layers.config.binding.headers import HeaderField, MessageSpec, spec
from paddle_layers.config.binding.steps import GROUP
from paddle_layers.define import Definition, LayerDefinition, registries
from paddle_layers.define.bodies import activation_problem
from paddle_layers.define.fields.attributes import Attribute
from paddle_layers.schema.comments import COMMENTS

Schema = dict[str, Any]

ROOTS = {"network": "Network", "training": "Training"}
"""Files by the messages that they hold."""

KNOWN = "KnownLayer"
"""A layer of a network without blocks, whose type is registered."""

_TYPES = {"INT": "integer", "FLOAT": "number", "BOOL": "boolean", "STRING": "string"}


def json_schema(kind: str) -> Schema:
    """The schema of a `"network"` or `"training"` file, with everything that is registered."""
    root = ROOTS[kind]
    definitions: dict[str, Schema] = {}
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if name not in definitions:
            header = spec(name)
            definitions[name] = _message(header)
            waiting += [field.message for field in header.fields.values() if field.message]
    for registry in {field.registry for name in definitions for field in spec(name).fields.values() if field.registry}:
        for definition in registries[registry].values():
            definitions[_key(definition)] = _block(definition)
    definitions[KNOWN] = _known_layer()
    top = definitions.pop(root)
    top["properties"] = {"$schema": {"type": "string"}} | top["properties"]
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"paddle_layers {kind}"}
    rules = _training_rules() if root == "Training" else {}
    return head | top | rules | {"$defs": dict(sorted(definitions.items()))}


def _key(definition: Definition) -> str:
    return f"{definition.kind}.{definition.name}"


# ---- messages


def _message(header: MessageSpec) -> Schema:
    """A message: its header fields, and for a typed block what its `type` adds."""
    schema: Schema = {
        "type": "object",
        "description": COMMENTS.get(header.name, ""),
        "properties": {field.name: _header_field(header, field) for field in header.fields.values()},
        "required": list(header.required),
    }
    registry = _registry_of(header.name)
    if header.name == "Network":  # the types of layers are those that are registered, and the blocks of the file
        # Types are only checked in files without blocks, because JSON Schema cannot refer to names in the document.
        layers = {"layer": _one_or_several({"$ref": f"#/$defs/{KNOWN}"})}
        schema |= {"if": {"not": {"required": ["block"]}}, "then": {"properties": layers}}
    if not registry:
        return schema | {"additionalProperties": False}
    cases = [_case(definition, header.name) for definition in registries[registry].values()]
    if "step" in header.fields:
        cases.append({"if": {"required": ["step"]}, "then": {"properties": {"type": {"const": GROUP}}}})
    # `unevaluatedProperties`, since `additionalProperties` would not see the properties that the cases add.
    return schema | {"allOf": cases, "unevaluatedProperties": False}


def _known_layer() -> Schema:
    layers = {"properties": {"layer": _one_or_several({"$ref": f"#/$defs/{KNOWN}"})}}
    kinds = {"description": COMMENTS["Layer.type"], "enum": list(registries["layer"])}
    step = {"description": COMMENTS["Layer.step"], **layers}
    text = "A layer of a network without blocks."
    return {"description": text, "$ref": "#/$defs/Layer", "properties": {"type": kinds, "step": step}}


def _header_field(header: MessageSpec, field: HeaderField) -> Schema:
    described: Schema = {"description": COMMENTS.get(f"{header.name}.{field.name}", "")}
    item: Schema
    if field.message:
        item = {"$ref": f"#/$defs/{field.message}"}
    else:
        assert field.attribute is not None, "a field is a message or has an attribute"
        item = _item(field.attribute)
        registry = _registry_of(header.name) if field.name == "type" else ""
        if registry and header.name != "Layer":
            item = {"enum": list(registries[registry])}
        elif field.required and field.attribute.type == "STRING":
            item["minLength"] = 1
        elif field.default not in (None, ()):
            described["default"] = field.default
    return described | (_one_or_several(item) if field.repeated else item)


def _registry_of(message: str) -> str:
    """The registry whose definitions are named by the `type` of a message."""
    if message == "Layer":
        return "layer"
    for root in ("Network", "Training", "Layer", "ParamSettings", "Source"):
        for field in spec(root).fields.values():
            if field.message == message and field.registry:
                return field.registry
    return ""


def _one_or_several(item: Schema, least: int = 0, most: int | None = None) -> Schema:
    """A list, or a single value in its place."""
    several: Schema = {"type": "array", "items": item}
    if least:
        several["minItems"] = least
    if most is not None:
        several["maxItems"] = most
    return several if least > 1 else {"anyOf": [item, several]}


# ---- typed blocks: { "type": "fc", "fc": {...} }


def _case(definition: Definition, message: str) -> Schema:
    then: Schema = {"properties": {definition.name: {"$ref": f"#/$defs/{_key(definition)}"}}}
    required = [a for a in definition.attributes.values() if a.required]
    if message == "Layer":
        assert isinstance(definition, LayerDefinition)
        then["properties"] |= _layer_fields(definition)
        then["required"] = [
            *(["input"] if definition.arity.least else []),
            *(["step"] if definition.name == GROUP else []),
        ]
        if required:  # by `set`, settings of a block may give them
            given = {"properties": {definition.name: {"allOf": [_given(a) for a in required]}}}
            then |= {"if": {"not": {"required": ["set"]}}, "then": given | {"required": [definition.name]}}
    else:  # settings may be in the message itself, without a block
        then["properties"] |= _attributes(definition)
        if required:
            then["allOf"] = [{"anyOf": [_given(a), _given_in(definition.name, a)]} for a in required]
    return {"if": {"properties": {"type": {"const": definition.name}}, "required": ["type"]}, "then": then}


def _layer_fields(layer: LayerDefinition) -> Schema:
    """Header fields of a layer type: number of inputs, parameters."""
    fields: Schema = {}
    if not layer.inputs:
        fields["input"] = {"maxItems": 0, "type": "array"}
    else:
        fields["input"] = _one_or_several({"type": "string"}, *layer.arity)
    if layer.params:
        names = {"properties": {"of": {"enum": list(layer.params)}}}
        fields["param"] = {"anyOf": [{"type": "array", "items": names}, {"type": "object"} | names]}
    return fields


def _block(definition: Definition) -> Schema:
    """The attributes of a definition."""
    schema: Schema = {
        "type": "object",
        "description": definition.summary,
        "properties": _attributes(definition),
        "additionalProperties": False,
    }
    # An attribute and its alias are one field; giving both is a duplicate.
    doubled = [
        {"required": [name, alias]}
        for a in definition.attributes.values() if not a.repeated
        for name, alias in _pairs([a.name, *a.aliases])
    ]  # fmt: skip
    return schema | ({"not": {"anyOf": doubled}} if doubled else {})


def _pairs(names: list[str]) -> Iterable[tuple[str, str]]:
    return ((first, second) for at, first in enumerate(names) for second in names[at + 1 :])


def _given(attribute: Attribute[Any]) -> Schema:
    names = [attribute.name, *attribute.aliases]
    return {"anyOf": [{"required": [name]} for name in names]} if len(names) > 1 else {"required": names}


def _given_in(block: str, attribute: Attribute[Any]) -> Schema:
    return {"required": [block], "properties": {block: _given(attribute)}}


# ---- attributes


def _attributes(definition: Definition) -> Schema:
    found = {name: _attribute(attribute, name) for name, attribute in definition.attribute_by_name.items()}
    if isinstance(definition, LayerDefinition) and "act" in definition.common:
        found["act"] = {**found["act"], "enum": _activations()}
    return found


def _activations() -> list[str]:
    """Layers that `act` may name."""
    return [layer.name for layer in registries["layer"].values() if not activation_problem(layer)]


def _attribute(attribute: Attribute[Any], name: str) -> Schema:
    text = attribute.doc if name == attribute.name else f"the same as `{attribute.name}`"
    schema: Schema = {"description": text}
    if attribute.default is not None and not attribute.required and attribute.default_from is None:
        schema["default"] = list(attribute.default) if attribute.repeated else attribute.default
    if attribute.deprecated:
        schema["deprecated"] = True
    item = _item(attribute)
    if not attribute.repeated:
        return schema | item
    return schema | _one_or_several(item, attribute.min_items, attribute.max_items)


def _item(attribute: Attribute[Any]) -> Schema:
    if attribute.options:
        texts = [attribute.option_docs.get(option, "") for option in attribute.options]
        # `markdownEnumDescriptions` is an extension of VS Code, which validators ignore.
        return {"enum": list(attribute.options)} | ({"markdownEnumDescriptions": texts} if any(texts) else {})
    schema: Schema = {"type": _TYPES[attribute.type]}
    limits = {
        "minimum": attribute.min,
        "maximum": attribute.max,
        "exclusiveMinimum": attribute.above,
        "exclusiveMaximum": attribute.below,
    }
    return schema | {key: limit for key, limit in limits.items() if limit is not None}


def _training_rules() -> Schema:
    """Rules between fields of a training file."""
    return {
        "allOf": [
            {"oneOf": [{"required": ["network"]}, {"required": ["net"]}]},
            {"oneOf": [{"required": ["epochs"]}, {"required": ["steps"]}]},
            {"required": ["source"]},
        ]
    }
