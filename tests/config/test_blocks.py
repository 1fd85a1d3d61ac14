"""Blocks: networks that are written once in a file and used as layers with settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.config import loads_training
from paddle_layers.config.binding import binder
from paddle_layers.config.binding.expressions import ExpressionError, assignment, pieces
from paddle_layers.config.conversion import read_message, written
from paddle_layers.config.parameters import parameter_names, shared_names
from paddle_layers.config.wiring.nodes import all_settings

DATA = """
layer { name: "x" type: "data" data { shape: 4 } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
"""
UNIT = """
block {
  name: "unit"
  input: "x"
  settings: "width, act = 'relu'"
  layer { name: "wide" type: "fc" input: "x" set: "size = 2 * width, act" }
  layer { name: "map" type: "fc" input: "wide" set: "size = width" }
  layer { name: "sum" type: "addto" input: "map" input: "x" }
  output: "sum"
}
"""
HEAD = """
layer { name: "scores" type: "fc" input: "y" fc { size: 3 } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
"""
USE = 'layer { name: "y" type: "unit" input: "x" set: "width = 4" }\n'
FEED = {"x": np.arange(8, dtype=np.float32).reshape(2, 4) / 8, "label": np.array([0, 2])}


def codes(text: str) -> list[str]:
    try:
        pl.loads(text)
    except pl.ConfigError as error:
        return [fault.code for fault in error.diagnostics]
    return []


def values(text: str, name: str = "cost", phase: str = "train") -> Any:
    with pl.Net(pl.loads(text), dtype="float64", seed=3) as net:
        for number, parameter in enumerate(net.parameters.values()):
            parameter.value = np.random.default_rng(number).normal(size=parameter.value.shape)
        return net.forward(FEED, phase=phase)[name]


# ---- what a block computes


def test_it_computes_what_its_layers_do() -> None:
    plain = """
    layer { name: "a_wide" type: "fc" input: "x" fc { size: 8 act: "relu" } }
    layer { name: "a_map" type: "fc" input: "a_wide" fc { size: 4 } }
    layer { name: "y" type: "addto" input: "a_map" input: "x" }
    """
    used = UNIT + DATA + USE.replace('"y"', '"a"') + HEAD.replace('"y"', '"a"')
    assert values(used) == pytest.approx(values(DATA + plain + HEAD))


def test_parameters_bear_the_path_and_are_trained() -> None:
    with pl.Net(pl.loads(UNIT + DATA + USE + HEAD)) as net:
        net.forward(FEED)
        net.backward()
        assert {"y.wide.weight", "y.map.bias"} < set(net.parameters)
        assert np.any(net.parameters["y.wide.weight"].gradient)


def test_sizes_of_data_layers_are_read_once_for_all_uses_of_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    found = binder.data_sizes
    monkeypatch.setattr(binder, "data_sizes", lambda fields: calls.append(fields) or found(fields))
    uses = "".join(f'layer {{ name: "y{at}" type: "b" input: "x" set: "w = 3" }}' for at in range(9))
    block = """block { name: "b" input: "x" settings: "w" output: "f"
        layer { name: "f" type: "fc" input: "x" set: "size = w" } }"""
    pl.loads(f'layer {{ name: "x" type: "data" data {{ shape: 2 }} }} {block} {uses}')
    assert len(calls) == 1


def test_times_is_as_many_uses_in_a_row() -> None:
    row = "".join(USE.replace('"y"', f'"y{n}"').replace('"x"', f'"{f"y{n - 1}" if n else "x"}"') for n in range(3))
    several = UNIT + DATA + USE.replace("set", "times: 3 set") + HEAD
    single = UNIT + DATA + row + HEAD.replace('"y"', '"y2"')
    names = [name.replace("y.", "y") for name in parameter_names(pl.loads(several))]
    assert names == parameter_names(pl.loads(single))
    assert values(several) == pytest.approx(values(single))


def test_a_row_goes_on_from_each_input_that_is_the_first() -> None:
    block = """
    block {
      name: "both" input: ["a", "b", "c"]
      layer { name: "sum" type: "addto" input: "a" input: "b" input: "c" }
      output: "sum"
    }
    """
    use = 'layer { name: "y" type: "both" input: "x" input: "x" input: "x2" times: 2 }'
    other = 'layer { name: "x2" type: "relu" input: "x" }\n'
    inside = pl.loads(block + DATA + other + use + HEAD)["y"].inside
    assert inside is not None
    assert [node.inputs for node in inside.nodes] == [("a", "b", "c"), ("0", "0", "c")]


def test_a_block_uses_blocks_and_passes_settings_on() -> None:
    outer = """
    block {
      name: "outer" input: "x" settings: "width"
      layer { name: "first" type: "unit" input: "x" set: "width, act = 'tanh'" }
      layer { name: "second" type: "unit" input: "first" times: 2 set: "width" }
      output: "second"
    }
    """
    network = pl.loads(outer + UNIT + DATA + USE.replace("unit", "outer") + HEAD)
    inside = network["y"].inside
    assert inside is not None
    first = inside.nodes[0].inside
    assert first is not None
    assert first.nodes[0].activation[0].name == "tanh"
    assert "y.second.1.wide.weight" in parameter_names(network)


def test_equal_uses_are_wired_once() -> None:
    uses = "".join(USE.replace('"y"', f'"y{n}"') for n in range(3))
    network = pl.loads(
        UNIT + DATA + uses + HEAD.replace('"y"', '"y1"').replace('input: "y1"', 'input: "y0" input: "y1" input: "y2"')
    )
    assert network["y0"].inside is network["y1"].inside


# ---- what a use may say


def test_param_of_a_part_stands_before_what_the_block_says() -> None:
    block = UNIT.replace('set: "size = width"', 'set: "size = width" param { of: "weight" lr_mult: 3 }')
    use = USE.replace(" }", ' param { of: "map.weight" lr_mult: 5 } }')
    assert all_settings(pl.loads(block + DATA + use + HEAD).nodes)["y.map.weight"].lr_mult == 5
    assert all_settings(pl.loads(block + DATA + USE + HEAD).nodes)["y.map.weight"].lr_mult == 3


def test_shared_parameters_are_shared_by_all_uses() -> None:
    block = UNIT.replace('set: "size = width"', 'set: "size = width" param { of: "weight" share: "w" }')
    use = USE + USE.replace('"y"', '"z"').replace('"x"', '"y"')
    network = pl.loads(block + DATA + use + HEAD.replace('"y"', '"z"'))
    assert shared_names(network) == [["y.map.weight", "z.map.weight"]]


def test_phases_are_those_of_the_use() -> None:
    side = UNIT.replace('input: "x"', 'input: "x" input: "label"', 1).replace(
        'output: "sum"',
        'layer { name: "cost" type: "softmax_with_loss" input: "sum" input: "label" }\n  output: "cost"',
    )
    side = side.replace("fc { size: 3 }", "")
    use = 'layer { name: "side" type: "unit" input: "s" input: "label" set: "width = 3" '
    use += 'loss_weight: 0.3 include { phase: "train" } }\n'
    three = 'layer { name: "s" type: "fc" input: "x" fc { size: 3 } }\n'
    network = pl.loads(side + DATA + three + use + HEAD.replace('"y"', '"s"'))
    assert "side" in network.select("train")
    assert "side" not in network.select("test")
    assert network["side"].definition.facts.has_loss
    with pl.Net(network) as net:
        net.forward(FEED)
        net.backward()
        assert np.any(net.parameters["side.wide.weight"].gradient)


def test_a_recurrent_group_stands_in_a_block_and_a_block_in_its_step() -> None:
    text = """
    block {
      name: "reader" input: "rows" settings: "width"
      layer {
        name: "states" type: "recurrent_group" input: "rows"
        step {
          layer { name: "before" type: "memory" set: "size = width" memory { of: "state" } }
          layer { name: "state" type: "cell" input: "rows" input: "before" set: "width" }
          output: "state"
        }
      }
      output: "states"
    }
    block {
      name: "cell" input: ["row", "before"] settings: "width"
      layer { name: "map" type: "fc" input: "row" input: "before" set: "size = width" fc { act: "tanh" } }
      output: "map"
    }
    layer { name: "x" type: "data" data { shape: 4 seq_nested_level: 1 } }
    layer { name: "y" type: "reader" input: "x" set: "width = 3" }
    """
    network = pl.loads(text)
    assert str(network["y"].output_types[0]) == "sequence of 3"
    assert pl.dumps(pl.loads(pl.dumps(network))) == pl.dumps(network)
    with pl.Net(network) as net:
        assert "y.states.state.map.weight_1" in net.parameters
        out = net.forward({"x": pl.Sequences(np.ones((3, 4), np.float32), np.array([0, 2, 3]))})["y"]
    assert out.data.shape == (3, 3)


# ---- everywhere a network goes


def test_text_json_and_binary_say_the_same(tmp_path: Path) -> None:
    text = UNIT + DATA + USE.replace("set", "times: 2 set") + HEAD
    path = tmp_path / "net.textproto"
    path.write_text(text)
    message, _ = read_message(path)
    canonical = pl.dumps(pl.loads(text))
    for kind, name in (("JSON", "net.json"), ("binary", "net.binpb"), ("text", "again.textproto")):
        other = tmp_path / name
        other.write_bytes(written(message, kind))
        assert pl.dumps(pl.load(other)) == canonical
    assert pl.dumps(pl.loads(canonical)) == canonical


def test_a_training_file_has_them_in_its_net() -> None:
    text = f"""
    net {{ {UNIT} {DATA} {USE} {HEAD} }}
    optimizer {{ type: "sgd" learning_rate: 0.1 }}
    source {{ type: "npz" npz {{ file: "a.npz" }} }}
    epochs: 1
    param {{ of: "y.*.weight" lr_mult: 2 }}
    """
    training = loads_training(text, sources_needed=False)
    inside = training.network["y"].inside
    assert inside is not None
    assert inside.nodes[0].params["weight"].lr_mult == 2


def test_protobuf_reads_the_text_too(tmp_path: Path) -> None:
    from google.protobuf import text_format

    from paddle_layers.config.writing.descriptors import message_class

    message = text_format.Parse(UNIT + DATA + USE + HEAD, message_class("Network")())
    path = tmp_path / "net.textproto"
    path.write_text(UNIT + DATA + USE + HEAD)
    assert message == read_message(path)[0]


# ---- limits


def test_more_layers_than_any_network_has_are_refused_at_once() -> None:
    inner = 'layer {{ name: "l" type: "b{0}" input: "x" times: 2147483647 }}'
    blocks = (f'block {{ name: "b{n}" input: "x" output: "l" {inner.format(n - 1)} }}\n' for n in range(1, 20))
    bomb = "".join(blocks)
    first = 'block { name: "b0" input: "x" layer { name: "l" type: "relu" input: "x" } output: "l" }\n'
    assert codes(first + bomb + DATA + 'layer { name: "y" type: "b19" input: "x" }') == ["E220"]
    assert codes(UNIT + DATA + USE.replace("set", "times: 30000 set")) == ["E220"]


def test_uses_that_double_in_every_block_are_wired_once() -> None:
    text = 'block { name: "b0" input: "x" layer { name: "l" type: "relu" input: "x" } output: "l" }\n'
    for n in range(1, 14):
        inner = "".join(
            f'layer {{ name: "{own}" type: "b{n - 1}" input: "{read}" }} ' for own, read in (("l", "x"), ("m", "l"))
        )
        text += f'block {{ name: "b{n}" input: "x" {inner} output: "m" }}\n'
    network = pl.loads(text + DATA.split("\n")[1] + '\nlayer { name: "y" type: "b13" input: "x" }')
    assert str(network["y"].output_types[0]) == "4"


# ---- expressions


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a = 3", 3), ("a = -3", -3), ("a = b", 5), ("a = -b", -5), ("a = 4 * b + 1", 21), ("a = 1 - b * b", -24),
        ("a = 0.5", 0.5), ("a = -1e-3", -1e-3), ("a = true", True), ("a = 'x, y'", "x, y"), ("a = + 2", 2),
    ],
)  # fmt: skip
def test_values(text: str, value: Any) -> None:
    found = assignment(text).expression
    assert found is not None
    assert found.value({"b": 5}) == value


@pytest.mark.parametrize(
    "text",
    ["a =", "= 3", "a = 3 4", "a = b b", "a = 2 ** 3", "a = * 2", "a = 2 *", "a = - - 2", "a = 1.5 * b", "a = 'x",
     "a = 1e999", "a = (b)", "a = b / 2", "a = 9223372036854775808", "a = 00012", "a = true * 2", "",
     "a = " + "1 + " * 500 + "1"],
)  # fmt: skip
def test_no_values(text: str) -> None:
    with pytest.raises(ExpressionError):
        assignment(text)


def test_commas_in_quotes_separate_nothing() -> None:
    assert pieces("a, b = 'x, y',  c") == [("a", 0), ("b = 'x, y'", 3), ("c", 16)]


@pytest.mark.parametrize("settings", [{"b": 2**62}, {"b": 0.5}, {"b": "x"}, {"b": True}])
def test_sums_of_other_than_numbers(settings: dict[str, Any]) -> None:
    found = assignment("a = 4 * b").expression
    assert found is not None
    with pytest.raises(ExpressionError):
        found.value(settings)


def test_outside_of_blocks_set_reads_sizes_of_data_layers():
    head = HEAD.replace("fc { size: 3 }", 'set: "size = SIZE"')
    for size, wanted in (("label", 3), ("2 * label - 3", 3)):
        network = pl.loads(DATA + head.replace('"y"', '"x"').replace("SIZE", size))
        assert network["scores"].attributes["size"] == wanted
    assert pl.dumps(network) == pl.dumps(pl.loads(DATA + HEAD.replace('"y"', '"x"')))
    width = DATA + UNIT + USE.replace("width = 4", "width = label + 1") + HEAD
    assert pl.dumps(pl.loads(width)).count("width = 4") == 1
    for size, message in (
        ("3", "`set` is only allowed"),
        ("x", "`set` is only allowed"),
        ("label + x", "unknown setting `x`"),
        ("label, bias = false", "`bias` reads no size of a data layer"),
        ("label - 3", "must be"),
    ):
        with pytest.raises(pl.ConfigError, match=message):
            pl.loads(DATA + head.replace('"y"', '"x"').replace("SIZE", size))
