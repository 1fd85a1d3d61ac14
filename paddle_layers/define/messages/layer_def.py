"""Conversion of a layer definition to the `LayerDef` message of `schema/layer_def.proto`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from google.protobuf.descriptor import FieldDescriptor

from paddle_layers.schema import layer_def_pb2 as pb
from paddle_layers.schema import network_pb2

from ..checks.rules import rules_of
from ..facts.devices import devices_of
from ..fields.attributes import REQUIRED, Attribute
from ..fields.tensors import Field, Input, Output, Param, State
from .numbers import choice_numbers, field_numbers, type_number

if TYPE_CHECKING:
    from ..definitions.definition import Definition
    from ..definitions.elementwise import Elementwise
    from ..definitions.layers import LayerDefinition

PARAMETER_SETTINGS = {
    "init": "initializer",
    "lr_mult": "learning rate multiplier; 0 freezes the parameter",
    "decay_mult": "multiplier of the regularizer's rate",
    "share": "weight sharing: parameters with the same `share` name are one parameter",
    "frozen": "not trained",
    "clip": "clips each gradient element to [-clip, clip]",
    "clip_norm": "clips the norm of the gradient",
    "l1": "L1 regularization rate, which replaces the training's regularizer",
    "l2": "L2 regularization rate, which replaces the training's regularizer",
    "momentum": "momentum, which replaces the optimizer's",
    "max_norm": "max-norm constraint: largest norm of the weights of one unit, applied after every step",
    "prune": "pruning: fraction of the elements with the smallest initial magnitude that stay zero",
}
"""Descriptions of the fields of `param { ... }`; types, defaults and limits are those of `schema/network.proto`."""


def layer_def(definition: LayerDefinition) -> pb.LayerDef:
    """Everything the definition says, as a message; it is what pages and exported schemas are made from."""
    message = pb.LayerDef(
        type=definition.name,
        description=definition.description,
        family=definition.family,
        since_version=definition.since,
        package=definition.package,
        common=definition.common,
        elsewhere=elsewhere(definition),
        search_terms=definition.terms,
        registered_at=location(definition),
        layer_attr=_attributes(definition),
        number=type_number(definition),
        version=definition.version,
        inputs=[_input(field, definition) for field in definition.inputs.values()],
        outputs=[_output(field, definition) for field in definition.outputs.values()],
        statistics=[pb.ArgumentDef(name=f.name, description=f.doc, axes=f.text) for f in definition.stats.values()],
        results=definition.results,
        facts=_facts(definition),
        rules=rules_of(definition.hooks.values()),
        examples=_examples(definition),
    )
    _add_parameters(message, definition)
    if definition.declared_only:  # nothing runs, and nothing is known of what does
        message.facts.ClearField("devices")
        message.facts.rows_independent = False
    return message


def _attributes(definition: Definition) -> list[pb.AttributeDef]:
    """The attributes, with the numbers of their fields and choices in the config messages."""
    numbers = field_numbers(definition)
    messages = []
    for attribute in definition.attributes.values():
        message = attribute_def(attribute)
        message.number = numbers[attribute.name]
        message.alias_numbers.extend(numbers[alias] for alias in attribute.aliases)
        choices = choice_numbers(definition, attribute)
        for choice in message.choices:
            choice.number = choices[choice.name]
        messages.append(message)
    return messages


def component_def(definition: Definition) -> pb.ComponentDef:
    """The message of a definition that is not a layer."""
    states: Mapping[str, State] = getattr(definition, "states", {})
    return pb.ComponentDef(
        kind=definition.kind,
        type=definition.name,
        description=definition.description,
        attributes=_attributes(definition),
        number=type_number(definition),
        version=definition.version,
        states=list(states),
        elsewhere=elsewhere(definition),
        search_terms=definition.terms,
        package=definition.package,
        since_version=definition.since,
        registered_at=location(definition),
    )


def elsewhere(definition: Definition | Elementwise) -> list[pb.ElsewhereDef]:
    """Names in other systems."""
    return [pb.ElsewhereDef(system=system, name=name) for system, name in definition.elsewhere.items()]


def location(definition: Definition) -> pb.SourceLocation:
    """Module and line of the class."""
    return pb.SourceLocation(module=definition.module, line=definition.line)


def attribute_def(attribute: Attribute[Any]) -> pb.AttributeDef:
    """An attribute: type, default, limits, choices."""
    message = pb.AttributeDef(
        name=attribute.name,
        type=attribute.type,
        description=attribute.doc,
        required=attribute.required,
        repeated=attribute.repeated,
        choices=[pb.ChoiceDef(name=name, description=attribute.option_docs.get(name)) for name in attribute.options],
        default_from=attribute.default_from,
        axis=attribute.axis,
        groups=attribute.groups,
        aliases=attribute.aliases,
        deprecated=attribute.deprecated or None,
    )
    if attribute.default is not REQUIRED and attribute.default is not None:
        message.default_value.CopyFrom(value_message(attribute.default))
    _limit(message, "min", attribute.min, attribute.above, attribute.type)
    _limit(message, "max", attribute.max, attribute.below, attribute.type)
    if attribute.repeated:
        message.min_items = attribute.min_items
        if attribute.max_items is not None:
            message.max_items = attribute.max_items
    return message


def value_message(value: object) -> pb.Attribute:
    """A value of an attribute as a message."""
    if isinstance(value, bool):
        return pb.Attribute(b_value=value)
    if isinstance(value, int):
        return pb.Attribute(i_value=value)
    if isinstance(value, float):
        return pb.Attribute(d_value=value)
    if isinstance(value, (list, tuple)):
        return pb.Attribute(list=pb.AttributeList(items=[value_message(item) for item in value]))
    return pb.Attribute(s_value=str(value))


def read_value(message: pb.Attribute) -> Any:
    """The value in a message: the reverse of `value_message`; None when nothing is set."""
    which = message.WhichOneof("value")
    if which is None:
        return None
    if which == "list":
        return tuple(read_value(item) for item in message.list.items)
    if which == "f_value":
        return _shortest(message.f_value)
    return getattr(message, which)


def _shortest(single: float) -> float:
    """The number with the fewest digits that is this one in single precision: 0.1 for 0.100000001490116."""
    texts = (f"{single:.{digits}g}" for digits in range(6, 9))
    return next((float(text) for text in texts if pb.Attribute(f_value=float(text)).f_value == single), single)


def _limit(message: pb.AttributeDef, end: str, closed: float | None, opened: float | None, kind: str) -> None:
    limit = opened if closed is None else closed
    if limit is None:
        return
    number = int(limit) if kind == "INT" and float(limit).is_integer() else float(limit)
    getattr(message, f"{end}_value").CopyFrom(value_message(number))
    if closed is None:
        setattr(message, f"{end}_exclusive", True)


def _input(field: Input, definition: LayerDefinition) -> pb.ArgumentDef:
    message = _argument(field, field.kinds)
    message.seq_nested_level.extend(field.seq)
    message.optional = field.optional
    message.differentiable = field.name in definition.facts.differentiable
    if field.repeatable:
        message.min_count = field.minimum
    if field.within is not None:
        message.low, message.high = field.within
    if field.places is not None:
        message.places = field.places
    if not field.derivative:
        message.derivative = False
    message.kinks.extend(map(value_message, field.kinks))
    return message


def _output(field: Output, definition: LayerDefinition) -> pb.ArgumentDef:
    message = _argument(field, (field.kind,))
    message.loss = field.loss
    message.differentiable = field.kind == "DENSE" and definition.facts.can_do_bp
    if field.size is not None:
        message.size = field.size
    if field.nan is not None:
        message.nan = field.nan
    if field.divisor is not None:
        message.divisor = field.divisor.name
    if field.when is not None:
        message.when = field.when
    return message


def _argument(field: Field, kinds: Sequence[str]) -> pb.ArgumentDef:
    return pb.ArgumentDef(
        name=field.name,
        description=field.doc,
        axes=field.text,
        repeatable=field.repeatable,
        data_type=list(kinds),
    )


def _add_parameters(message: pb.LayerDef, definition: LayerDefinition) -> None:
    """One entry for each input: the parameter that is per this input, else the next one that belongs to none.

    An optional input has only its own: those of none are there without it, too.
    """
    waiting = [param for param in definition.params.values() if param is not definition.bias]
    for name, field in definition.inputs.items():
        own = next((p for p in waiting if p.per == name), None)
        if own is None and not field.optional:
            own = next((p for p in waiting if p.per is None), None)
        message.parameter_attr.append(pb.LayerDef.ParameterDef() if own is None else _parameter(own, name))
        waiting = [param for param in waiting if param is not own]
    if definition.bias is not None:
        message.bias_attr.CopyFrom(_parameter(definition.bias, None))
    message.extra_parameters.extend(_parameter(field, field.per) for field in waiting)
    message.extra_parameters.extend(_parameter(field, None) for field in definition.states.values())


def _parameter(field: Param | State, of_input: str | None) -> pb.LayerDef.ParameterDef:
    initializer, settings = (field.init, {}) if isinstance(field.init, str) else field.init
    trained = isinstance(field, Param)
    return pb.LayerDef.ParameterDef(
        attributes=parameter_settings() if trained else (),
        name=field.name,
        description=field.doc,
        axes=field.text,
        input=of_input,
        initializer=initializer,
        initializer_attributes=_settings(settings),
        optional=field.optional,
        trained=trained,
    )


def _settings(values: Mapping[str, object]) -> list[pb.ExampleDef.Setting]:
    return [pb.ExampleDef.Setting(name=name, value=value_message(value)) for name, value in values.items()]


@lru_cache(maxsize=1)
def parameter_settings() -> tuple[pb.AttributeDef, ...]:
    """Fields of `param { ... }` of every trained parameter, described as attributes."""
    fields = network_pb2.ParamSettings.DESCRIPTOR.fields
    return tuple(_setting(field, PARAMETER_SETTINGS[field.name]) for field in fields if field.name != "of")


_FIELD_TYPES = {
    FieldDescriptor.TYPE_STRING: "STRING",
    FieldDescriptor.TYPE_BOOL: "BOOL",
    FieldDescriptor.TYPE_DOUBLE: "FLOAT",
}


def _setting(field: Any, doc: str) -> pb.AttributeDef:
    rule = field.GetOptions().Extensions[network_pb2.rule]
    kind = "GROUP" if field.message_type is not None else _FIELD_TYPES[field.type]
    message = pb.AttributeDef(name=field.name, type=kind, description=doc, required=rule.required)
    if kind == "GROUP":
        message.fields.extend(_setting(inner, f"registered {rule.registry}") for inner in field.message_type.fields)
        return message
    if field.has_default_value:
        message.default_value.CopyFrom(value_message(field.default_value))
    _limit(
        message,
        "min",
        rule.min if rule.HasField("min") else None,
        rule.above if rule.HasField("above") else None,
        "FLOAT",
    )
    return message


def _facts(definition: LayerDefinition) -> pb.FactsDef:
    facts, outputs = definition.facts, definition.outputs.values()
    message = pb.FactsDef()
    for name in (field.name for field in pb.FactsDef.DESCRIPTOR.fields):
        if isinstance(value := getattr(facts, name, None), bool):
            setattr(message, name, value)
    message.back_reads_x.extend(name for name in facts.back_reads if name in definition.inputs)
    message.back_reads_y.extend(name for name in facts.back_reads if name in definition.outputs)
    message.devices.extend(devices_of(definition))
    message.min_inputs = definition.arity.least
    message.min_outputs = sum(field.when is None for field in outputs)
    if definition.arity.most is not None:
        message.max_inputs = definition.arity.most
    if not any(field.repeatable for field in outputs):
        message.max_outputs = len(outputs)
    return message


def _examples(definition: LayerDefinition) -> list[pb.ExampleDef]:
    messages = []
    for example in definition.examples:
        message = pb.ExampleDef()
        for name, value in example.settings.items():
            if name in definition.inputs:
                texts = [value] if isinstance(value, str) else value
                message.inputs.extend(pb.ExampleDef.Input(name=name, type=text) for text in texts)
            else:
                message.attributes.extend(_settings({name: value}))
        messages.append(message)
    return messages
