"""`schema diff`: each kind of change gives exactly its finding, with its class, and no field is overlooked."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from hypothesis import given, settings
from hypothesis import strategies as st
from paddle_layers.codegen.compatibility import (
    ENDS,
    IRRELEVANT,
    differences,
    differences_text,
    read_registry,
    registry_content,
    registry_def,
)

from paddle_layers.cli.app import commands
from paddle_layers.schema import layer_def_pb2 as pb
from tests.each import each

Mutation = Callable[[Any], Any]


@functools.cache  # not while tests are collected
def now() -> Any:
    """What is registered."""
    return registry_def("paddle_layers")


def layer(registry: Any, name: str) -> Any:
    return next(one for one in registry.layers if one.type == name)


def attribute(one: Any, name: str) -> Any:
    return next(a for a in one.layer_attr if a.name == name)


def changes(mutate: Mutation, name: str = "conv") -> list[tuple[str, str, bool]]:
    new = copy.deepcopy(now())
    mutate(layer(new, name))
    found = differences(now(), new)
    assert {d.definition for d in found} <= {f"layer {name}"}
    return [(change.subject, change.what, change.breaking) for d in found for change in d.changes]


def on(name: str, **values: Any) -> Mutation:
    """Sets fields of an attribute of conv."""

    def mutate(one: Any) -> None:
        for key, value in values.items():
            field = attribute(one, name)
            if isinstance(value, pb.Attribute):
                getattr(field, key).CopyFrom(value)
            else:
                setattr(field, key, value)

    return mutate


def number(value: int) -> Any:
    return pb.Attribute(i_value=value)


def swapped(parts: Any) -> None:
    kept = [copy.deepcopy(part) for part in reversed(parts)]
    del parts[:]
    parts.extend(kept)


def without(parts: Any, name: str) -> None:
    del parts[next(i for i, part in enumerate(parts) if part.name == name)]


STRIDE, SIZE, X, Y = "attribute `stride`", "attribute `filter_size`", "input `x`", "output `y`"
TABLE: dict[str, tuple[Mutation, tuple[str, str, bool]]] = {
    "removed attribute": (lambda d: without(d.layer_attr, "stride"), (STRIDE, "removed", True)),
    "added attribute": (lambda d: d.layer_attr.add(name="new", number=99), ("attribute `new`", "added", False)),
    "added required attribute": (
        lambda d: d.layer_attr.add(name="new", number=99, required=True), ("attribute `new`", "added", True),
    ),
    "changed default": (on("stride", default_value=number(2)), (STRIDE, "default changed", True)),
    "raised minimum": (on("stride", min_value=number(2)), (STRIDE, "minimum changed", True)),
    "lowered minimum": (on("stride", min_value=number(0)), (STRIDE, "minimum changed", False)),
    "minimum excluded": (on("stride", min_exclusive=True), (STRIDE, "minimum changed", True)),
    "new maximum": (on("stride", max_value=number(9)), (STRIDE, "maximum changed", True)),
    "required": (on("error_clip", required=True), ("attribute `error_clip`", "requirement changed", True)),
    "not required": (on("filter_size", required=False), (SIZE, "requirement changed", False)),
    "other type": (on("stride", type=pb.AttributeDef.FLOAT), (STRIDE, "type changed", True)),
    "list": (on("stride", repeated=True), (STRIDE, "number of values changed", False)),
    "renumbered": (on("stride", number=77), (STRIDE, "number changed", True)),
    "deprecated": (on("stride", deprecated="use steps"), (STRIDE, "deprecation changed", False)),
    "other axis": (on("num_filters", axis="Z"), ("attribute `num_filters`", "axis changed", True)),
    "default from elsewhere": (
        on("stride_y", default_from="padding"), ("attribute `stride_y`", "source of the default changed", True),
    ),
    "alias removed": (
        lambda d: attribute(d, "filter_size").ClearField("aliases"), (SIZE, "aliases changed", True),
    ),
    "alias added": (
        lambda d: attribute(d, "filter_size").aliases.append("width"), (SIZE, "aliases changed", False),
    ),
    "kinds widened": (lambda d: d.inputs[0].data_type.append(pb.SPARSE), (X, "accepted data types changed", False)),
    "levels narrowed": (lambda d: d.inputs[0].seq_nested_level.pop(), (X, "accepted sequence levels changed", True)),
    "axes that follow": (lambda d: setattr(d.inputs[0], "axes", "N C... H W ..."), (X, "axes changed", False)),
    "axes that are gone": (lambda d: setattr(d.inputs[0], "axes", "N C H ..."), (X, "axes changed", True)),
    "axes of an input": (lambda d: setattr(d.inputs[0], "axes", "N C W"), (X, "axes changed", True)),
    "repeatable input": (lambda d: setattr(d.inputs[0], "repeatable", True), (X, "count changed", False)),
    "optional input": (lambda d: setattr(d.inputs[0], "optional", True), (X, "requirement changed", False)),
    "no gradient": (lambda d: setattr(d.inputs[0], "differentiable", False), (X, "gradient changed", True)),
    "new input": (lambda d: d.inputs.add(name="mask", optional=True), ("input `mask`", "added", False)),
    "new required input": (lambda d: d.inputs.add(name="mask"), ("input `mask`", "added", True)),
    "output is a cost": (lambda d: setattr(d.outputs[0], "loss", True), (Y, "role in the loss changed", True)),
    "new output": (lambda d: d.outputs.add(name="z"), ("output `z`", "added", False)),
    "axes of a weight": (
        lambda d: setattr(d.parameter_attr[0], "axes", "K"), ("parameter `weight`", "axes changed", True),
    ),
    "initializer": (
        lambda d: setattr(d.parameter_attr[0], "initializer", "one"),
        ("parameter `weight`", "initializer changed", True),
    ),
    "bias removed": (lambda d: d.ClearField("bias_attr"), ("parameter `bias`", "removed", True)),
    "new weight": (lambda d: d.extra_parameters.add(name="gain"), ("parameter `gain`", "added", True)),
    "minimum count": (on("stride", min_items=1), (STRIDE, "minimum count changed", True)),
    "maximum count": (on("stride", max_items=4), (STRIDE, "maximum count changed", True)),
    "number of an alias": (
        lambda d: attribute(d, "filter_size").alias_numbers.__setitem__(0, 88),
        ("attribute `kernel_size`", "number changed", True),
    ),
    "kinds narrowed": (lambda d: d.inputs[0].ClearField("data_type"), (X, "accepted data types changed", True)),
    "removed output": (lambda d: d.outputs.pop(), (Y, "removed", True)),
    "optional weight": (
        lambda d: setattr(d.parameter_attr[0], "optional", True), ("parameter `weight`", "requirement changed", False),
    ),
    "weight becomes a state": (
        lambda d: setattr(d.parameter_attr[0], "trained", False), ("parameter `weight`", "training changed", True),
    ),
    "new statistic": (lambda d: d.statistics.add(name="s"), ("statistic `s`", "added", False)),
    "named numbers": (lambda d: d.results.append("F1"), ("the layer", "reported values changed", True)),
    "type number": (lambda d: setattr(d, "number", 5), ("the layer", "number changed", True)),
    "version": (lambda d: setattr(d, "version", 2), ("the layer", "version changed", False)),
    "conditions": (lambda d: d.rules.pop(), ("the layer", "conditions changed", False)),
    "a fact": (lambda d: setattr(d.facts, "is_random", True), ("the layer", "fact `is_random` changed", False)),
    "a device": (lambda d: d.facts.devices.append("cuda"), ("the layer", "devices changed", False)),
    "no device": (lambda d: d.facts.devices.pop(), ("the layer", "devices changed", True)),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_a_change_gives_its_finding_and_no_other(name: str) -> None:
    mutate, expected = TABLE[name]
    assert changes(mutate) == [expected]


def test_choices() -> None:
    def remove(one: Any) -> None:
        attribute(one, "divisor").choices.pop()

    def add(one: Any) -> None:
        attribute(one, "divisor").choices.add(name="NEW")

    assert changes(remove, "pool") == [("attribute `divisor`", "choices changed", True)]
    assert changes(add, "pool") == [("attribute `divisor`", "choices changed", False)]


def test_a_rename_with_an_alias_breaks_nothing() -> None:
    def rename(one: Any) -> None:
        stride = attribute(one, "stride")
        stride.aliases.append("stride")
        stride.alias_numbers.append(stride.number)  # as the lock file does: the old name keeps its number
        stride.name, stride.number = "step", 90

    assert changes(rename) == [
        (STRIDE, "renamed", False), ("attribute `step`", "aliases changed", False),
    ]  # fmt: skip


def test_numbers_of_choices_stay_with_their_names() -> None:
    def swap(one: Any) -> None:
        first, second = attribute(one, "divisor").choices[:2]
        first.number, second.number = second.number, first.number

    def reuse(one: Any) -> None:
        last = attribute(one, "divisor").choices.pop()
        attribute(one, "divisor").choices.add(name="NEW", number=last.number)

    names = [choice.name for choice in attribute(layer(now(), "pool"), "divisor").choices]
    assert changes(swap, "pool") == [
        (f"choice `{name}` of attribute `divisor`", "number changed", True) for name in names[:2]
    ]
    assert ("choice `NEW` of attribute `divisor`", "number reused", True) in changes(reuse, "pool")


def test_the_number_of_a_definition_is_not_used_again() -> None:
    new = copy.deepcopy(now())
    new.layers.add(type="zzz", number=new.layers[0].number)
    del new.layers[0]
    found = {d.definition: [(c.what, c.breaking) for c in d.changes] for d in differences(now(), new)}
    assert found["layer zzz"] == [("number reused", True), ("added", False)]


def test_a_number_is_not_used_again() -> None:
    def reuse(one: Any) -> None:
        old = attribute(one, "stride").number
        without(one.layer_attr, "stride")
        one.layer_attr.add(name="pace", number=old)

    assert ("attribute `pace`", "number reused", True) in changes(reuse)


def test_order_of_inputs() -> None:
    assert ("inputs", "order changed", True) in changes(lambda d: swapped(d.inputs), "softmax_with_loss")


def test_changed_inference_shows_in_the_examples() -> None:
    def other(one: Any) -> None:
        one.examples[0].outputs[0] = "y 4x9x9"

    (found,) = changes(other)
    assert found[1:] == ("inferred outputs changed", True)
    assert found[0].startswith("example (x=3x6x7, num_filters=4")


def test_removed_and_added_definitions_and_states() -> None:
    new = copy.deepcopy(now())
    del new.layers[0]
    new.layers.add(type="zzz")
    sgd = next(c for c in new.components if c.type == "adam")
    sgd.states.append("third")
    found = {d.definition: [(c.what, c.breaking) for c in d.changes] for d in differences(now(), new)}
    assert found == {
        f"layer {now().layers[0].type}": [("removed", True)],
        "layer zzz": [("added", False)],
        "optimizer adam": [("changed", True)],
    }


def test_a_step_of_the_version_allows_it() -> None:
    new = copy.deepcopy(now())
    on("stride", default_value=number(2))(layer(new, "conv"))
    (difference,) = differences(now(), new)
    assert difference.refused
    layer(new, "conv").version = 2
    (difference,) = differences(now(), new)
    assert not difference.refused
    assert "breaking, allowed: attribute `stride` default changed: 1 -> 2" in differences_text([difference])


# ---- no field is overlooked


def mutated(message: Any, field: FieldDescriptor) -> Any:
    """A copy that differs in one field."""
    other = copy.deepcopy(message)
    value = getattr(other, field.name)
    if field.message_type is pb.Attribute.DESCRIPTOR:
        target = value.add() if hasattr(value, "add") else value
        target.i_value += 7
    elif field.message_type is not None:
        target = value.add() if hasattr(value, "add") else value
        text = next(f.name for f in field.message_type.fields if f.cpp_type == f.CPPTYPE_STRING)
        setattr(target, text, getattr(target, text) + "x")
    elif field.cpp_type == field.CPPTYPE_INT32 and hasattr(value, "append") and value:
        value[0] += 9
    elif hasattr(value, "append"):
        value.append(2 if field.enum_type else "x" if field.cpp_type == field.CPPTYPE_STRING else 9)
    elif field.cpp_type == field.CPPTYPE_STRING:
        setattr(other, field.name, value + "x")
    elif field.cpp_type == field.CPPTYPE_BOOL:
        setattr(other, field.name, not value)
    else:
        setattr(other, field.name, value + 1)
    return other


def places(one: Any) -> list[tuple[str, Any]]:
    """Messages inside a definition, with their kind."""
    if isinstance(one, pb.ComponentDef):
        return [("ComponentDef", one)]
    found: list[tuple[str, Any]] = [("LayerDef", one), ("FactsDef", one.facts)]
    found += [("AttributeDef", a) for a in one.layer_attr]
    found += [("ChoiceDef", c) for a in one.layer_attr for c in a.choices]
    found += [("ArgumentDef", a) for a in (*one.inputs, *one.outputs, *one.statistics)]
    found += [("ParameterDef", p) for p in one.parameter_attr if p.name]
    return found + [("ExampleDef", e) for e in one.examples]


def noticed(kind: str, name: str, registry: Any) -> bool:
    """Whether a change of this field is reported anywhere."""
    for index, one in enumerate((*registry.layers, *registry.components)):
        for at, (found, message) in enumerate(places(one)):
            if found == kind:
                new = copy.deepcopy(registry)
                target = places((*new.layers, *new.components)[index])[at][1]
                target.CopyFrom(mutated(message, message.DESCRIPTOR.fields_by_name[name]))
                if differences(registry, new):
                    return True
    return False


@functools.cache
def few() -> Any:
    """Definitions that have every kind of field."""
    return pb.RegistryDef(
        layers=[layer(now(), name) for name in ("conv", "maxid", "accuracy", "pool")],
        components=[one for one in now().components if one.type == "adam"],
    )


PARTS = {
    *("inputs", "outputs", "statistics", "layer_attr", "parameter_attr", "bias_attr", "extra_parameters"),
    *("facts", "examples"),
}
"""Fields of a layer that hold messages, whose own fields are looked at."""
FIELDS = [
    (kind, field.name)
    for kind, message in (
        ("LayerDef", pb.LayerDef), ("FactsDef", pb.FactsDef), ("AttributeDef", pb.AttributeDef),
        ("ChoiceDef", pb.ChoiceDef), ("ComponentDef", pb.ComponentDef),
        ("ArgumentDef", pb.ArgumentDef), ("ParameterDef", pb.LayerDef.ParameterDef), ("ExampleDef", pb.ExampleDef),
    )
    for field in message.DESCRIPTOR.fields
    if kind != "LayerDef" or field.name not in PARTS
]  # fmt: skip
KEYS = {
    "LayerDef.type",
    "AttributeDef.name",
    "ArgumentDef.name",
    "ParameterDef.name",
    "ComponentDef.kind",
    "ComponentDef.type",
}
"""By these, parts are matched: a change is a removal and an addition."""
OF_INPUTS = {"ArgumentDef.seq_nested_level", "ArgumentDef.optional", "ArgumentDef.min_count"}
"""Irrelevant for outputs and statistics."""
OTHER_EXAMPLE = {"ExampleDef.inputs", "ExampleDef.attributes"}
"""With these it is another example, which is no change."""


@each("field", FIELDS)
def test_every_field_is_reported_or_irrelevant_for_a_reason(field: tuple[str, str]) -> None:
    kind, name = field
    key = f"{kind}.{name}"
    silent = (key in IRRELEVANT and key not in KEYS | OF_INPUTS) or key in OTHER_EXAMPLE
    assert noticed(kind, name, few()) != silent


LAYERS = st.deferred(lambda: st.sampled_from(list(now().layers)))


@given(LAYERS, LAYERS)
@settings(max_examples=60, deadline=None)
def test_equal_registries_do_not_differ(first: Any, second: Any) -> None:
    one = pb.RegistryDef(layers=[first, second])
    assert differences(one, copy.deepcopy(one)) == []


# ---- files and the command


@pytest.mark.parametrize("end", ENDS)
def test_files_hold_the_same(end: str, tmp_path: Path) -> None:
    path = tmp_path / f"now{end}"
    path.write_bytes(registry_content(now(), end))
    assert read_registry(path) == now()
    assert b"/" + Path.cwd().parts[1].encode() + b"/" not in path.read_bytes()


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        commands(["schema", *arguments])
    return int(str(stop.value.code))


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("export", "now.json") == 0
    assert run("diff", "now.json", "current") == 0
    assert "no changes" in capsys.readouterr().out
    old = json.loads(Path("now.json").read_text())
    conv = next(one for one in old["layers"] if one["type"] == "conv")
    next(a for a in conv["layer_attr"] if a["name"] == "stride")["default_value"] = {"i_value": "2"}
    Path("old.json").write_text(json.dumps(old))
    assert run("diff", "old.json", "current") == 1
    assert capsys.readouterr().out == (
        "layer conv\n  breaking: attribute `stride` default changed: 2 -> 1; "
        "configs that rely on it change their meaning\n"
    )
    assert run("diff", "old.json", "current", "--format", "json") == 1
    (change,) = json.loads(capsys.readouterr().out)
    assert (change["definition"], change["breaking"], change["old"], change["new"]) == ("layer conv", True, "2", "1")
    Path("bad.json").write_text("{")
    assert run("diff", "bad.json", "current") == 1
    assert "bad.json is not a registry file" in capsys.readouterr().err
    assert run("diff", "nowhere.json", "current") == 1
    assert run("export", "now.xml") == 2
