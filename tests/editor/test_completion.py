"""Completion: what fits at the cursor, in whole and in broken texts; what is taken is what the reader takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import paddle_layers as pl
from paddle_layers.config import examine
from paddle_layers.config.binding.headers import spec
from paddle_layers.define import Attribute, Definition, registries
from tests.each import each
from tests.editor.helpers import DATA, DATA_JSON, labels, offered, taken

LAYERS = [pl.registry[name] for name in pl.registry]
COMPONENTS = [d for kind, registry in registries.items() if kind != "layer" for d in registry.values()]
BLOCKS = {
    "initializer": DATA + 'layer { name: "y" type: "fc" param { of: "weight" init { %s } } }',
    "optimizer": "optimizer { %s }",
    "schedule": "schedule { %s }",
    "regularizer": "regularizer { %s }",
    "callback": "callback { %s }",
    "source": "source { %s }",
    "transform": "source { transform { %s } }",
}
"""A block of each kind with a place for its inside."""

ids = [definition.name for definition in LAYERS]


def attribute_names(definition: Definition) -> set[str]:
    return {attribute.name for attribute in definition.attributes.values() if not attribute.deprecated}


# ---- types


@pytest.mark.parametrize("value", ['"|', '"|"', "|", ' "re|"', "re|"])
def test_layer_types(value: str) -> None:
    assert labels(DATA + f'layer {{ name: "y" type: {value} }}') == sorted(pl.registry)


def test_layer_types_in_json() -> None:
    assert labels('{"layer": [{"name": "x", "type": "|') == sorted(pl.registry)
    assert labels('{"layer": [{"name": "x", "type": |}]}') == sorted(pl.registry)


@pytest.mark.parametrize("kind", BLOCKS)
def test_types_of_components(kind: str) -> None:
    assert labels(BLOCKS[kind] % 'type: "|') == sorted(registries[kind])


def test_only_elementwise_layers_are_activations() -> None:
    names = labels(DATA + 'layer { name: "y" type: "fc" input: "x" fc { act: "|" } }')
    assert names == labels(DATA + 'layer { name: "y" type: "fc" activation { type: | }')
    assert {"relu", "tanh", "linear"} <= set(names)
    assert not {"fc", "conv", "softmax_with_loss", "data"} & set(names)
    for name in names:
        text = DATA + f'layer {{ name: "y" type: "fc" input: "x" fc {{ size: 2 act: "{name}" }} }}'
        assert [fault.code for fault in examine(text, "").faults if fault.code in ("E111", "E114")] == []


def test_types_are_found_by_their_names_elsewhere() -> None:
    (item,) = (item for item in offered('layer { type: "|') if item.label == "fc")
    assert "InnerProduct" in item.search.split()
    assert "Caffe `InnerProduct`" in item.documentation
    assert item.detail == pl.registry["fc"].summary


# ---- names


@each("definition", LAYERS, ids=ids)
def test_every_attribute_of_a_layer(definition: Definition) -> None:
    marked = DATA + f'layer {{ name: "y" type: "{definition.name}" {definition.name} {{ | }} }}'
    assert set(labels(marked)) == attribute_names(definition)
    for attribute in definition.attributes.values():
        assert_reader_takes(marked, attribute)
    marked = DATA + f'layer {{ name: "y" {definition.name} {{ | type: "{definition.name}"'
    assert set(labels(marked)) == attribute_names(definition), "without its type, and never closed"


@each("definition", LAYERS, ids=ids)
def test_every_attribute_of_a_layer_in_json(definition: Definition) -> None:
    name = definition.name
    marked = f'{{"layer": [{DATA_JSON}, {{"name": "y", "type": "{name}", "{name}": {{ | }}}}]}}'
    assert set(labels(marked)) == attribute_names(definition)
    for attribute in definition.attributes.values():
        assert_reader_takes(marked, attribute)
        assert_reader_takes(marked.replace("|", '"|"'), attribute)
        assert taken(marked, attribute.name) == taken(marked.replace("|", '"|'), attribute.name)


@each("definition", COMPONENTS, ids=lambda definition: f"{definition.kind}-{definition.name}")
def test_every_attribute_of_a_component(definition: Definition) -> None:
    inside = f'type: "{definition.name}" {definition.name} {{ | }}'
    marked = BLOCKS[definition.kind] % inside
    assert set(labels(marked)) == attribute_names(definition)
    for attribute in definition.attributes.values():
        assert_reader_takes(marked, attribute)


SAMPLES = {"INT": "3", "FLOAT": "0.5", "BOOL": "true", "STRING": "text"}


def assert_reader_takes(marked: str, attribute: Attribute[object]) -> None:
    """The completed text reads: the name is known, the value is of the right kind."""
    sample = attribute.options[0] if attribute.options else SAMPLES[attribute.type]
    text = taken(marked, attribute.name, sample)
    if marked.startswith("{"):
        json.loads(text)
    codes = [f"{fault!r}" for fault in examine(text, "x").faults if fault.code in ("E101", "E102", "E104", "E108")]
    codes += [f"{fault!r}" for fault in examine(text, "x").faults if fault.code < "E100"]
    assert codes == [], text


HEADERS = {
    "Layer": DATA + 'layer { type: "fc" | }',
    "ParamSettings": DATA + 'layer { type: "fc" param { |',
    "Initializer": DATA + 'layer { type: "fc" param { init { |',
    "StateRule": DATA + 'layer { type: "fc" include { |',
    "Source": "source { |",
    "Transform": "source { transform { |",
    "Optimizer": "optimizer { |",
    "Checkpoint": "checkpoint { |",
    "Feed": "feed { |",
    "Clip": "clip { |",
}


@pytest.mark.parametrize("message", HEADERS)
def test_every_field_of_a_header(message: str) -> None:
    found = set(labels(HEADERS[message]))
    own = {"fc"} if message == "Layer" else set()
    given = {"type", "step"} if message == "Layer" else set()
    assert found == set(spec(message).fields) - given | own


@pytest.mark.parametrize("text", ["|", "\n|", "# a comment\n|", "na|", "{|}", '{"|"}'])
def test_an_empty_file_may_become_either_kind(text: str) -> None:
    assert set(labels(text)) == set(spec("Network").fields) | set(spec("Training").fields)


def test_a_file_is_of_one_kind_once_it_shows() -> None:
    assert labels(DATA + "|") == ["name", "layer", "block"]
    assert set(labels("epochs: 3\n|")) == set(spec("Training").fields) - {"epochs"}
    assert "fc" in labels('net { layer { name: "x" type: "fc" |')


def test_given_fields_are_not_offered_again() -> None:
    found = labels(DATA + 'layer { name: "y" | type: "fc" input: "x" fc { size: 3 } }')
    assert not {"name", "type", "fc"} & set(found)
    assert {"input", "param", "include"} <= set(found), "these may come again"
    found = labels(DATA + 'layer { type: "conv" conv { num_output: 3 | stride: 1 } }')
    assert not {"num_filters", "stride"} & set(found), "one of them by its other name"


def test_layers_without_an_activation_are_offered_none() -> None:
    assert "activation" in labels('layer { type: "fc" |')
    assert "activation" not in labels('layer { type: "softmax_with_loss" |')


def test_the_name_that_is_being_changed_is_offered() -> None:
    assert taken('layer { type: "fc" fc { si|ze: 3 } }', "size") == 'layer { type: "fc" fc { size: 3 } }'
    assert taken('layer { type: "fc" f|c { size: 3 } }', "fc") == 'layer { type: "fc" fc { size: 3 } }'
    assert taken('{"layer": [{"type": "fc", "f|": {}}]}', "fc") == '{"layer": [{"type": "fc", "fc": {}}]}'


def test_required_things_come_first() -> None:
    assert labels('layer { type: "conv" conv { |')[:2] == ["num_filters", "filter_size"]
    assert labels("layer { |")[:2] == ["name", "type"]
    assert labels('layer { name: "y" type: "fc" |')[:2] == ["input", "fc"]


def test_what_is_said_of_an_attribute() -> None:
    items = {item.label: item for item in offered('layer { type: "dropout" dropout { |')}
    assert items["drop_rate"].detail.startswith("float, >= 0 and < 1, ")
    items = {item.label: item for item in offered('layer { type: "conv" conv { |')}
    assert items["num_filters"].detail == "int, >= 1, required"
    assert items["stride_y"].detail == "int, >= 1, same as stride"
    assert items["stride"].detail == "int, >= 1, default 1"
    assert items["num_filters"].documentation == "Number of filters.\n\nAliases: `num_output`."


# ---- values


@pytest.mark.parametrize(
    ("marked", "wanted"),
    [
        ('layer { type: "fc" fc { bias: | }', ["true", "false"]),
        ('layer { type: "pool" pool { pool_type: | }', list(pl.registry["pool"].attributes["pool_type"].options)),
        ('layer { type: "pool" pool { pool_type: "|" }', list(pl.registry["pool"].attributes["pool_type"].options)),
        ('layer { type: "fc" include { phase: "|', ["train", "test"]),
        ("source { shuffle: |", ["true", "false"]),
        ('source { phase: |\n  type: "npz" }', ["train", "validation", "test"]),
        ("dtype: |", ["float32", "float64"]),
        ('layer { type: "fc" param { of: "|', ["weight", "bias"]),
        ('layer { type: "fc" param { frozen: tr|', ["true", "false"]),
        ('{"layer": [{"type": "fc", "propagate_down": [|]}]}', ["true", "false"]),
        ('layer { type: "fc" fc { size: |', []),
        ('layer { name: "|', []),
        ("# type: |", []),
        ('layer { type: "nonsense" nonsense { |', []),
        ("nonsense { |", []),
        ("|{}", []),
        ("{} |", []),
    ],
)
def test_values(marked: str, wanted: list[str]) -> None:
    assert labels(marked) == wanted


def test_values_are_written_as_the_syntax_wants_them() -> None:
    assert taken('layer { type: "pool" pool { pool_type: | } }', "MAX").endswith("pool_type: MAX } }")
    assert taken("layer { include { phase:| } }", "train").endswith('phase: "train" } }')
    assert taken('{"layer": [{"type": "pool", "pool": {"pool_type": |}}]}', "MAX").endswith('"MAX"}}]}')
    assert taken("layer { type: re|lu }", "tanh") == 'layer { type: "tanh" }'
    assert taken('layer { type: "re|lu" }', "tanh") == 'layer { type: "tanh" }'
    assert taken('layer { type: "re|', "tanh") == 'layer { type: "tanh"'


THREE = (
    DATA
    + 'layer { name: "cut" type: "slice" input: "x" output: "left" output: "right" slice { parts: 2 } }\n'
    + 'layer { name: "y" type: "fc" input: %s fc { size: 3 } }\n'
    + 'layer { name: "z" type: "fc" input: "left" fc { size: 5 } }\n'
)


@pytest.mark.parametrize("value", ['"|', '"|"', "|", '"le|', "le|"])
def test_inputs_are_the_outputs_of_other_layers(value: str) -> None:
    items = offered(THREE % value)
    assert [item.label for item in items] == ["left", "right", "x", "z"], "the nearest before it first"
    network = pl.loads(THREE % '"left"')
    types = {
        name: str(type_) for node in network for name, type_ in zip(node.output_names, node.output_types, strict=True)
    }
    assert {item.label: item.detail for item in items} == {name: types[name] for name in ("left", "right", "x", "z")}


def test_inputs_in_json() -> None:
    assert labels(f'{{"layer": [{DATA_JSON}, {{"name": "y", "type": "fc", "input": ["|') == ["x"]
    assert labels(f'{{"layer": [{DATA_JSON}, {{"name": "y", "type": "fc", "input": "|"') == ["x"]


def test_data_layers_of_the_network_file(tmp_path: Path) -> None:
    (tmp_path / "net.textproto").write_text(THREE % '"left"', encoding="utf-8")
    marked = 'network: "net.textproto"\nsource { transform { type: "scale" input: "|'
    assert labels(marked, str(tmp_path / "train.textproto")) == ["x"]
    (tmp_path / "net.textproto").write_text(THREE % '"lost"', encoding="utf-8")
    assert labels(marked, str(tmp_path / "train.textproto")) == ["x"], "the network file has a fault elsewhere"
    assert labels("net {\n" + DATA + '}\nfeed { input: "|') == ["x"]


# ---- broken texts


def test_a_quote_that_is_not_closed_swallows_nothing() -> None:
    marked = DATA + 'layer { name: "y" type: "fc" input: "| fc { act: "relu" } }\n' + DATA.replace('"x"', '"w"')
    assert labels(marked) == ["x", "w"]
    assert taken(marked, "x") == marked.replace('"|', '"x"')
    marked = 'layer { name: "y" type: "| input: "x" }'
    assert taken(marked, "fc") == 'layer { name: "y" type: "fc" input: "x" }'


def test_a_layer_that_is_not_closed_ends_at_the_next() -> None:
    marked = DATA + 'layer { name: "y" type: "fc" fc { size: 3 |\n' + DATA.replace('"x"', '"w"')
    assert set(labels(marked)) == attribute_names(pl.registry["fc"]) - {"size"}
    assert labels(DATA + 'layer { name: "y" type: "fc" fc {\nlayer { name: "z" type: "fc" input: "|') == ["y", "x"]
