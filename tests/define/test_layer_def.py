"""The LayerDef message says what the definition says."""

from __future__ import annotations

import pytest

import paddle_layers as pl
from paddle_layers.define import Attribute, LayerDefinition, registries
from paddle_layers.define.facts.derived_facts import example_bodies
from paddle_layers.define.fields.attributes import REQUIRED
from paddle_layers.define.messages.layer_def import PARAMETER_SETTINGS, component_def, read_value, value_message
from paddle_layers.schema import layer_def_pb2 as pb
from paddle_layers.schema import network_pb2
from tests.each import each

COMPONENTS = [(kind, name) for kind in registries if kind != "layer" for name in registries[kind]]


each_layer = each("layer", [pl.registry[name] for name in pl.registry], ids=lambda layer: layer.name)


@each_layer
def test_survives_serialisation(layer: LayerDefinition) -> None:
    message = layer.definition
    assert pb.LayerDef.FromString(message.SerializeToString(deterministic=True)) == message


def same_attribute(message: pb.AttributeDef, attribute: Attribute) -> None:
    assert message.name == attribute.name
    assert message.description == attribute.doc
    assert pb.AttributeDef.Type.Name(message.type) == attribute.type
    assert message.required == attribute.required
    assert message.repeated == attribute.repeated
    assert tuple(message.aliases) == attribute.aliases
    assert tuple(choice.name for choice in message.choices) == attribute.options
    assert (message.default_from or None) == attribute.default_from
    default = None if attribute.default is REQUIRED else attribute.default
    assert read_value(message.default_value) == (tuple(default) if isinstance(default, list) else default)
    low = attribute.above if attribute.min is None else attribute.min
    high = attribute.below if attribute.max is None else attribute.max
    assert (read_value(message.min_value), read_value(message.max_value)) == (low, high)
    assert message.min_exclusive == (attribute.min is None and attribute.above is not None)
    assert message.max_exclusive == (attribute.max is None and attribute.below is not None)


@each_layer
def test_attributes_agree(layer: LayerDefinition) -> None:
    assert [message.name for message in layer.definition.layer_attr] == list(layer.attributes)
    for message, attribute in zip(layer.definition.layer_attr, layer.attributes.values(), strict=True):
        same_attribute(message, attribute)


@each_layer
def test_arguments_agree(layer: LayerDefinition) -> None:
    message = layer.definition
    for arguments, fields in ((message.inputs, layer.inputs), (message.outputs, layer.outputs)):
        assert [(a.name, a.axes, a.description) for a in arguments] == [
            (f.name, f.text, f.doc) for f in fields.values()
        ]
    for argument, field in zip(message.inputs, layer.inputs.values(), strict=True):
        assert tuple(pb.DataType.Name(kind) for kind in argument.data_type) == field.kinds
        assert tuple(argument.seq_nested_level) == field.seq
        assert argument.differentiable == (field.name in layer.facts.differentiable)


@each_layer
def test_every_parameter_stands_once(layer: LayerDefinition) -> None:
    message = layer.definition
    assert len(message.parameter_attr) == len(message.inputs)
    named = [p.name for p in message.parameter_attr if p.name] + [p.name for p in message.extra_parameters]
    if message.HasField("bias_attr"):
        named.append(message.bias_attr.name)
    assert sorted(named) == sorted([*layer.params, *layer.states])


@each_layer
def test_parameters_say_what_they_understand(layer: LayerDefinition) -> None:
    message = layer.definition
    for parameter in (*message.parameter_attr, message.bias_attr, *message.extra_parameters):
        if parameter.name and parameter.trained:
            assert [attribute.name for attribute in parameter.attributes] == list(PARAMETER_SETTINGS)


@each_layer
def test_facts_agree(layer: LayerDefinition) -> None:
    facts = layer.definition.facts
    parts = [part for body in (example_bodies(layer) if layer.is_composite else ()) for part in body.layers()]
    assert facts.has_param == any(one.params for one in (layer, *parts))
    assert facts.is_source == (not layer.inputs)
    assert {*facts.back_reads_x, *facts.back_reads_y} == set(layer.facts.back_reads)
    assert facts.min_inputs <= len(layer.inputs)


@each_layer
def test_examples_agree(layer: LayerDefinition) -> None:
    assert len(layer.definition.examples) == len(layer.examples)


def test_settings_are_those_of_the_schema() -> None:
    fields = network_pb2.ParamSettings.DESCRIPTOR.fields_by_name
    assert set(PARAMETER_SETTINGS) == set(fields) - {"of"}
    attributes = {a.name: a for a in pl.registry["fc"].definition.bias_attr.attributes}
    assert read_value(attributes["lr_mult"].default_value) == 1.0
    assert read_value(attributes["lr_mult"].min_value) == 0.0
    assert attributes["clip"].min_exclusive
    assert [field.name for field in attributes["init"].fields] == ["type"]


def test_rules_come_from_the_text() -> None:
    rule = pl.registry["conv"].definition.rules[0]
    assert (rule.subject, rule.condition) == ("groups", "C % groups == 0")
    assert rule.message == "{groups} groups do not divide the number of channels, {C}"


@pytest.mark.parametrize("value", [True, -3, 1.5, "a", (), (1, 2), (0.5,), ("x", "y")])
def test_values_survive(value: object) -> None:
    assert read_value(value_message(value)) == value


@each("component", COMPONENTS)
def test_components(component: tuple[str, str]) -> None:
    kind, name = component
    definition = registries[kind][name]
    message = component_def(definition)
    assert (message.kind, message.type, message.description) == (kind, name, definition.description)
    for attribute_message, attribute in zip(message.attributes, definition.attributes.values(), strict=True):
        same_attribute(attribute_message, attribute)
