"""What a LayerDef message can say: every built-in layer; and what is said of one with a mistake."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from google.protobuf.message import Message

import paddle_layers as pl
from paddle_layers.define import LayerDefinition
from paddle_layers.define.fields.tensors import Field
from paddle_layers.define.functions.point_functions import Function
from paddle_layers.schema import layer_def_pb2 as pb
from tests.define.test_register_layer import CUBE, message
from tests.each import each


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is forgotten behind it."""
    monkeypatch.setattr(pl.registry, "_entries", {name: pl.registry[name] for name in pl.registry})


EXAMPLES_ARE_NETWORKS = {"memory", "recurrent_group"}
"""Layers whose work is the framework's: they have no examples by themselves, which a message is asked for."""


def read_again(layer: LayerDefinition) -> LayerDefinition:
    """A layer from the message of another, with its functions."""
    given = pb.LayerDef()
    given.CopyFrom(layer.definition)
    given.type = f"test_{layer.name}"
    temporaries = {name: pl.Temp(field.text, field.doc, field.kind) for name, field in layer.temps.items()}
    numbers = {name: pl.Numbers(field.doc) for name, field in layer.numbers.items()}
    entries = {name: pl.Entries(field.text, field.doc) for name, field in layer.entries.items()}
    pl.register_layer(given, **temporaries, **numbers, **entries)
    again: LayerDefinition = pl.registry[given.type]

    def own(value: Any) -> Any:
        return again.fields[value.name] if isinstance(value, Field) else value

    for role, call in layer.hooks.items():
        again.attach(role, call)
    for function in layer.functions:
        if not function.file.startswith("<bias"):  # those are the framework's
            targets = tuple(map(own, function.targets))
            again.add(
                Function(function.role, targets, function.call, **{k: own(v) for k, v in function.options.items()})
            )
    return again


@each("name", [name for name in pl.registry if name not in EXAMPLES_ARE_NETWORKS])
def test_a_built_in_layer_survives_as_a_message(name: str) -> None:
    layer: LayerDefinition = pl.registry[name]
    again = read_again(layer)
    messages = layer_message(layer), layer_message(again)
    assert messages[0] == messages[1]
    assert {name: told(field) for name, field in layer.fields.items()} == {
        name: told(field) for name, field in again.fields.items()
    }
    for example, same in zip(layer.examples, again.examples, strict=True):
        assert layer.infer(*layer.example_inputs(example)) == again.infer(*again.example_inputs(same))


@pytest.mark.parametrize("name", ["relu", "fc", "softmax_with_loss", "batch_norm", "seq_last"])
def test_it_passes_the_conformance_kit_too(name: str) -> None:
    pl.testing.check_layer(read_again(pl.registry[name]), compiled=False, configs=4)


def test_the_divisor_of_a_loss_is_a_temporary_that_the_message_names() -> None:
    given = pb.LayerDef()
    given.CopyFrom(pl.registry["softmax_with_loss"].definition)
    given.type = "test_cost"
    cost = pl.register_layer(given)
    assert (cost.loss.divisor, cost.counted.text) == (cost.counted, "N ...")


def told(field: Field) -> dict[str, Any]:
    """Everything that a field tells; other fields by name."""
    return {
        key: value.name if isinstance(value, Field) else value for key, value in vars(field).items() if key != "owner"
    }


def layer_message(layer: LayerDefinition) -> pb.LayerDef:
    """What the definition itself says: without the name, the place, and the numbers of the lock file."""
    found = pb.LayerDef()
    found.CopyFrom(layer.definition)
    for name in ("type", "registered_at", "package", "number"):
        found.ClearField(name)
    for attribute in found.layer_attr:
        attribute.ClearField("number")
        attribute.ClearField("alias_numbers")
        for choice in attribute.choices:
            choice.ClearField("number")
    return found


# ---- mistakes

MISTAKES = {
    "no axes": (('axes: "N C" description: "rows"', 'description: "rows"'), "input `x` has no axes"),
    "optional behind repeatable": (
        (
            'axes: "N C" description: "rows" }',
            'repeatable: true axes: "N C_i" description: "rows" } parameter_attr { } '
            'inputs { optional: true name: "z" axes: "N" description: "more" }',
        ),
        "`z` cannot be optional after the repeatable `x`",
    ),
    "kink": (('name: "x" axes', 'kinks { s_value: "tie" } name: "x" axes'), "`kinks` must be numbers, or"),
    "kink of an output": (("outputs {", "outputs { kinks { i_value: 0 } "), "`kinks` is not allowed here"),
    "divisor": (("outputs {", 'outputs { divisor: "x" '), "duplicate field `x`"),
    "no description": (('description: "The cube', "since_version: 1 #"), "needs a description"),
    "no field description": (('description: "rows"', ""), "field `x` needs a description"),
    "axis": (
        ('axes: "N C" description: "rows"', 'axes: "n C" description: "rows"'),
        "input `x`: invalid axis 'n' in 'n C'",
    ),
    "unknown level": (('description: "rows"', 'description: "rows" seq_nested_level: 3'), "invalid sequence levels"),
    "name of an input": (('name: "x" axes', 'name: "x; import os" axes'), "invalid field name `x; import os`"),
    "dunder": (('name: "x" axes', 'name: "__slots__" axes'), "invalid field name `__slots__`"),
    "keyword": (('name: "x" axes', 'name: "class" axes'), "invalid field name `class`"),
    "word of the class": (('name: "x" axes', 'name: "examples" axes'), "invalid field name `examples`"),
    "no name": (('name: "x" axes', "axes"), "input ``: it needs a name"),
    "index": (('name: "x" axes', 'name: "n" axes'), "field `n` conflicts with an index"),
    "framework's name": (('name: "x" axes', 'name: "training" axes'), "this name is reserved"),
    "generator's name": (('name: "x" axes', 'name: "x_" axes'), "are reserved for generated code"),
    "duplicate": (('name: "gain"', 'name: "x"'), "duplicate field `x`"),
    "type": (('type: "test_cube"', 'type: "Test-Cube"'), "a name must be lower-case"),
    "reserved type": (('type: "test_cube"', 'type: "param"'), "reserved in config files"),
    "taken type": (('type: "test_cube"', 'type: "fc"'), "the name is already registered at"),
    "parameters unlike inputs": (
        ("inputs {", 'inputs { name: "z" axes: "N" description: "more" } inputs {'),
        "1 entries for 2 inputs",
    ),
    "parameter elsewhere": (('name: "gain"', 'input: "y" name: "gain"'), "is at the position of input `x`"),
    "state among the trained": (('name: "gain"', 'trained: false name: "gain"'), "states belong in `extra_parameters`"),
    "setting": (('name: "gain"', 'attributes { name: "speed" } name: "gain"'), "unknown parameter setting `speed`"),
    "default": (("f_value: 0.1", 's_value: "a"'), "invalid default: `scale` must be a number"),
    "empty default": (("f_value: 0.1", ""), "its `default_value` is empty"),
    "default out of range": (("f_value: 0.1", "d_value: -1"), "invalid default: `scale` is -1.0"),
    "limits": (("min_exclusive: true", "max_value { i_value: -1 }"), "the range >= 0 and <= -1 is empty"),
    "limit of text": (("i_value: 0", 's_value: "0"'), "its `min_value` is not a number"),
    "NaN limit": (("i_value: 0", "d_value: nan"), "its `min_value` is not a number"),
    "exclusive of nothing": (("min_exclusive", "max_exclusive"), "`max_exclusive` without `max_value`"),
    "required with default": (("min_exclusive", "required: true min_exclusive"), "both `required` and `default_value`"),
    "no type": (("type: FLOAT ", ""), "attribute `scale`: it needs a type"),
    "list of bools": (("type: FLOAT", "repeated: true type: BOOL"), "unsupported attribute type: list of BOOL"),
    "group": (("type: FLOAT", "type: GROUP"), "unsupported attribute type: GROUP"),
    "axis of a number": (("type: FLOAT", 'axis: "K" type: FLOAT'), "`axis` is not allowed here"),
    "items of one": (("type: FLOAT", "min_items: 2 type: FLOAT"), "`min_items` is not allowed here"),
    "alias": (("type: FLOAT", 'aliases: "sca_le" type: FLOAT'), "attributes `scale` and `sca_le` clash"),
    "alias of another": (
        ("family:", 'layer_attr { name: "n" type: INT description: "a number" aliases: "scale" } family:'),
        "attributes `scale` and `scale` clash",
    ),
    "default from nowhere": (
        ("family:", 'layer_attr { name: "n" type: INT description: "a number" default_from: "m" } family:'),
        "`m` must be declared before it",
    ),
    "choices": (
        ("family:", 'layer_attr { name: "n" type: CHOICE description: "a number"  } family:'),
        "its `choices` need unique names",
    ),
    "framework's attribute": (
        ("family:", 'common: "act" layer_attr { name: "act" type: INT } family:'),
        "`act` is added by the framework",
    ),
    "common": (("family:", 'common: "acts" family:'), "unknown common attribute `acts`"),
    "bias axis": (
        ("family:", 'bias_attr { name: "b" axes: "N D" optional: true } family:'),
        "a bias takes neither `input` nor `optional`",
    ),
    "output's levels": (
        ("outputs {", "outputs { seq_nested_level: 1 "),
        "output `y`: `seq_nested_level` is not allowed",
    ),
    "several types of an output": (("outputs {", "outputs { data_type: DENSE data_type: INT "), "has one data type"),
    "half a range": (('name: "x" axes', 'low: 0 name: "x" axes'), "`low` and `high` must be set together"),
    "system twice": (("family:", 'elsewhere { system: "Elsewhere" } family:'), "names a system twice"),
}
"""What is replaced in the message by what, and what is said of it."""


@pytest.mark.parametrize(("change", "reason"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_at_the_line_of_the_call(change: tuple[str, str], reason: str) -> None:
    assert change[0] in CUBE
    given = message(CUBE.replace(*change, 1))
    with pytest.raises(pl.DefinitionError) as caught:
        pl.register_layer(given)
    assert reason in caught.value.message
    assert caught.value.message.startswith("layer `")
    line = test_a_mistake_is_told_at_the_line_of_the_call.__code__.co_firstlineno + 5
    assert (caught.value.file, caught.value.line) == (__file__, line)


# ---- messages that anybody wrote

WORDS = (
    *(
        "",
        "x",
        "y",
        "n",
        "N",
        "N C",
        "N\u00b2",
        "T:S C",
        "C_i K",
        "...",
        "1",
        "class",
        "__class__",
        "a b",
        "\0",
        "self",
    ),
    *("examples", "training", "ids<3", "9" * 5000, "act", "bias", "relu", "type", "ties"),
)
NUMBERS = (0, 1, 2, 3, 7, 2**31 - 1)
REALS = (0.0, -1.0, 0.5, 1e30, math.nan, math.inf)


def change(message: Message, rng: random.Random) -> None:
    """Clear a field of a message, or give it another value; or do so in one of its parts."""
    field = rng.choice(message.DESCRIPTOR.fields)
    values = getattr(message, field.name)
    if rng.random() < 0.15:
        message.ClearField(field.name)
    elif field.message_type is not None:
        if not hasattr(values, "extend"):
            change(values, rng)
        elif len(values) > 0 and rng.random() < 0.7:
            change(rng.choice(values), rng)
        else:
            change(values.add(), rng)
    else:
        choices: Any = {field.TYPE_STRING: WORDS, field.TYPE_BOOL: (True, False), field.TYPE_DOUBLE: REALS}
        choices[field.TYPE_FLOAT] = REALS
        numbers = [value.number for value in field.enum_type.values] if field.enum_type else NUMBERS
        value = rng.choice(choices.get(field.type, numbers))
        if hasattr(values, "extend"):
            values.append(value)
        else:
            setattr(message, field.name, value)


@pytest.mark.parametrize("seed", range(8))
def test_any_message_is_taken_or_refused_with_a_reason(seed: int) -> None:
    rng = random.Random(seed)
    messages, before = [layer.definition for layer in pl.registry.values()], {*pl.registry}
    places: list[str] = []
    for _ in range(100):
        given = pb.LayerDef()
        given.CopyFrom(rng.choice(messages))
        given.type = "test_any"
        for _ in range(rng.randint(1, 3)):
            change(given, rng)
        given = pb.LayerDef.FromString(given.SerializeToString())
        try:
            pl.register_layer(given)
            assert pl.registry[given.type].complete().definition.type == given.type
        except pl.DefinitionError as error:
            places.append(error.file)
        for name in {*pl.registry} - before:
            pl.registry.remove(name)
    assert {*places} == {__file__}
    assert 10 < len(places) < 90
