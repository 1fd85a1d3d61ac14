"""Recurrent groups in configs: what is in a step, from text and from Python."""

from __future__ import annotations

import pytest

import paddle_layers as pl
from paddle_layers import nn
from paddle_layers.define import LevelError

DATA = """
layer { name: "embedded" type: "data" data { shape: 32 seq_nested_level: 1 } }
layer { name: "start" type: "data" data { shape: 64 } }
"""
DECODER = """
layer {
  name: "decoder"
  type: "recurrent_group"
  input: "embedded"
  input: "start"
  recurrent_group { static: "start" }
  step {
    layer { name: "state" type: "fc" input: "embedded" input: "before" fc { size: 64 act: "tanh" } }
    layer { name: "before" type: "memory" input: "start" memory { of: "state" } }
    layer { name: "word" type: "fc" input: "state" fc { size: 9 } }
    output: "state"
    output: "word"
  }
}
"""
NESTED = """
layer { name: "x" type: "data" data { shape: 3 seq_nested_level: 2 } }
layer {
  name: "outer"
  type: "recurrent_group"
  input: "x"
  step {
    layer { name: "before" type: "memory" memory { of: "last" size: 5 } }
    layer {
      name: "inner"
      type: "recurrent_group"
      input: "x"
      input: "before"
      recurrent_group { static: "before" }
      step {
        layer { name: "old" type: "memory" input: "before" memory { of: "new" } }
        layer { name: "new" type: "fc" input: "x" input: "old" fc { size: 5 } }
        output: "new"
      }
    }
    layer { name: "last" type: "seq_last" input: "inner" }
    output: "inner"
    output: "last"
  }
}
"""


def summary(nodes):
    """Names, wires and types of layers, and of those inside of them."""
    return [
        (
            node.name,
            node.definition.name,
            node.inputs,
            node.output_names,
            node.output_types,
            dict(node.attributes),
            node.inside and (node.inside.inputs, node.inside.outputs, summary(node.inside.nodes)),
        )
        for node in nodes
    ]


def test_a_step_has_names_and_types_of_its_own():
    node = pl.loads(DATA + DECODER)["decoder"]
    assert node.output_names == ("decoder", "decoder.word")
    assert [str(type_) for type_ in node.output_types] == ["sequence of 64", "sequence of 9"]
    inside = node.inside
    assert inside is not None
    assert (inside.inputs, inside.outputs) == (("embedded", "start"), ("state", "word"))
    assert [inner.name for inner in inside.nodes] == ["before", "state", "word"]
    assert [str(inner.output_types[0]) for inner in inside.nodes] == ["64", "64", "9"]
    assert [str(type_) for type_ in inside.nodes[1].input_types] == ["32", "64"]


def test_a_group_may_stand_in_a_step():
    network = pl.loads(NESTED)
    assert [str(type_) for type_ in network["outer"].output_types] == ["nested sequence of 5", "sequence of 5"]
    inner = network["outer"].inside.nodes[1]
    assert [part.name for part in inner.inside.nodes] == ["old", "new"]


def test_names_of_outputs_may_be_given():
    text = DECODER.replace('input: "start"\n', 'input: "start"\n  output: "h" output: "w"\n', 1)
    assert pl.loads(DATA + text)["decoder"].output_names == ("h", "w")


@pytest.mark.parametrize(
    ("block", "type_"),
    [
        ('of: "y" size: 4', "4"),
        ('of: "y" shape: [4]', "4"),
        ('of: "y" shape: [2, 3]', "2x3"),
        ('of: "y" size: 4 value: 0.5', "4"),
        ('of: "y" size: 9 id: 3', "ids<9"),
    ],
)
def test_types_of_memories(block, type_):
    text = f"""layer {{ name: "x" type: "data" data {{ seq_nested_level: 1 }} }}
    layer {{ name: "g" type: "recurrent_group" input: "x" step {{
      layer {{ name: "m" type: "memory" memory {{ {block} }} }}
      layer {{ name: "y" type: "memory" memory {{ {block.replace('"y"', '"m"')} }} }}
      output: "m"
    }} }}"""
    assert str(pl.loads(text)["g"].output_types[0]) == f"sequence of {type_}"


@pytest.mark.parametrize("text", [DATA + DECODER, NESTED, *pl.registry["recurrent_group"].networks])
def test_written_and_read_again_it_is_the_same(text):
    network = pl.loads(text)
    again = pl.loads(pl.dumps(network))
    assert pl.dumps(again) == pl.dumps(network)
    assert summary(again) == summary(network)


def test_a_group_is_wired_in_every_phase():
    text = """
    layer { name: "a" type: "data" output: "x" data { shape: 32 seq_nested_level: 1 } include { phase: "train" } }
    layer { name: "b" type: "data" output: "x" data { shape: 32 seq_nested_level: 1 } include { phase: "test" } }
    layer { name: "embedded" type: "linear" input: "x" }
    layer { name: "start" type: "data" data { shape: 64 } }
    """
    network = pl.loads(text + DECODER)
    for part in (network, network.select("train"), network.select("test"), network.select("test", 3)):
        assert len(part["decoder"].inside.nodes) == 3


def test_parameters_may_be_shared_with_layers_in_a_step():
    share = 'param { of: "weight_1" share: "w" }'
    step = DECODER.replace('act: "tanh" }', f'act: "tanh" }} {share}')
    outside = 'layer { name: "other" type: "fc" input: "start" fc { size: 64 } param { of: "weight" share: "w" } }\n'
    assert pl.loads(DATA + outside + step)["decoder"].inside.nodes[1].params["weight_1"].share == "w"
    with pytest.raises(pl.ConfigError, match=r"shared parameter `w` has shape 64x63 as .*, but 64x64 as"):
        pl.loads(DATA + outside.replace("size: 64", "size: 63") + step)


@pytest.mark.parametrize("block", ["", "recurrent_group { reverse: true }"])
def test_a_group_without_a_step(block):
    x = 'layer { name: "x" type: "data" data { shape: 4 seq_nested_level: 1 } }'
    with pytest.raises(pl.ConfigError, match="has no `step`"):
        pl.loads(f'{x} layer {{ name: "g" type: "recurrent_group" input: "x" {block} }}')


def test_a_group_may_be_wrong_in_all_ways_at_once():
    with pytest.raises(pl.ConfigError) as caught:
        pl.loads("""layer { name: "g" type: "recurrent_group" recurrent_group { revers: true } step {
          layer { name: "m" type: "memory" memory { of: "m" size: 3 } }
          layer { name: "n" type: "relu" input: "mm" }
          output: "m"
        } }""")
    assert [fault.code for fault in caught.value.diagnostics] == ["E205", "E101", "E203"]


# ---- from Python


def python_decoder():
    embedded, start = nn.data(shape=[32], seq_nested_level=1, name="embedded"), nn.data(shape=[64], name="start")

    def step(word, start):
        before = nn.memory(start, of="state", name="before")
        state = nn.fc(word, before, size=64, act="tanh", name="state")
        return state, nn.fc(state, size=9, name="word")

    return nn.recurrent_group(step, embedded, static=[start], name="decoder")


def test_python_and_text_make_the_same_network():
    text = pl.loads(DATA + DECODER)
    assert summary(pl.Network(outputs=[*python_decoder()])) == summary(text)


def test_a_group_has_the_types_of_all_steps():
    assert [str(value.type) for value in python_decoder()] == ["sequence of 64", "sequence of 9"]


def test_groups_in_python_may_be_nested_and_reversed():
    def outer(part):
        before = nn.memory(of="last", size=5)

        def inner(row, before):
            return nn.fc(row, nn.memory(before, of="new"), size=5, name="new")

        return nn.seq_last(nn.recurrent_group(inner, part, static=[before], reverse=True), name="last")

    x = nn.data(shape=[3], seq_nested_level=2, name="x")
    network = pl.Network(outputs=[nn.recurrent_group(outer, x, name="outer")])
    inner = network["outer"].inside.nodes[1]
    assert inner.attributes["reverse"]
    assert inner.inputs == ("x", "memory_1")


def test_unnamed_layers_of_a_step_do_not_take_the_names_of_inputs():
    x = nn.fc(nn.data(shape=[3], seq_nested_level=1), size=2)
    network = pl.Network(outputs=[nn.recurrent_group(lambda row: nn.fc(row, size=2), x)])
    assert network["recurrent_group_1"].inside.nodes[0].name == "fc_2"


@pytest.mark.parametrize(
    ("step", "error", "message"),
    [
        (lambda _x, _s: nn.fc(nn.data(shape=[3]), size=2), pl.ConfigError, "it has no inputs"),
        (lambda x, _s: x, TypeError, "must return outputs of the layers that it calls"),
        (lambda _x, _s: None, TypeError, "must return outputs of the layers that it calls, found None"),
        (lambda _x, _s: nn.memory(of="y", size=3), pl.ConfigError, "remembers the unknown output `y`"),
    ],
)
def test_mistakes_in_a_step(step, error, message):
    x, s = nn.data(shape=[3], seq_nested_level=1), nn.data(shape=[3])
    with pytest.raises(error, match=message):
        pl.Network(outputs=[nn.recurrent_group(step, x, static=[s])])


def test_values_stay_in_their_step():
    x, outside = nn.data(shape=[3], seq_nested_level=1), nn.data(shape=[3])
    kept = []

    def step(row):
        kept.append(nn.fc(row, size=2))
        return kept[0]

    nn.recurrent_group(step, x)
    with pytest.raises(TypeError, match="is inside the step of a group: return it"):
        nn.fc(kept[0], size=2)
    with pytest.raises(TypeError, match="is inside the step of a group: return it"):
        pl.Network(outputs=kept)
    with pytest.raises(TypeError, match="is outside of the step: pass it to"):
        nn.recurrent_group(lambda row: nn.fc(row, outside, size=2), x)


def test_inputs_that_have_no_common_steps():
    x, rows = nn.data(shape=[3], seq_nested_level=1), nn.data(shape=[3])
    with pytest.raises(LevelError, match=r"is not a sequence .*pass it in `static`"):
        nn.recurrent_group(nn.relu, rows)
    with pytest.raises(LevelError, match="different sequence levels"):
        nn.recurrent_group(nn.addto, x, nn.data(shape=[3], seq_nested_level=2))
    with pytest.raises(TypeError, match="needs a sequence after the function"):
        nn.recurrent_group(nn.relu, static=[x])
