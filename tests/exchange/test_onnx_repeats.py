"""What repeats in an ONNX model becomes a block: the config is shorter and computes the same."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import paddle_layers as pl
from paddle_layers.exchange.onnx_in import network
from paddle_layers.exchange.onnx_in.blocks import BlockNetwork, with_blocks
from tests.exchange.onnx_helpers import run_model

RESNET = """
block {
  name: "unit"
  input: "x"
  input: "shortcut"
  settings: "filters, stride = 1"
  layer { name: "conv1" type: "conv" input: "x" set: "num_filters = filters, stride"
          conv { filter_size: 3 padding: 1 act: "relu" } }
  layer { name: "conv2" type: "conv" input: "conv1" set: "num_filters = filters" conv { filter_size: 3 padding: 1 } }
  layer { name: "sum" type: "addto" input: "conv2" input: "shortcut" addto { act: "relu" } }
  output: "sum"
}
layer { name: "image" type: "data" data { shape: [3, 8, 8] } }
layer { name: "stem" type: "conv" input: "image" conv { num_filters: 4 filter_size: 3 padding: 1 } }
layer { name: "a1" type: "unit" input: "stem" input: "stem" set: "filters = 4" }
layer { name: "a2" type: "unit" input: "a1" input: "a1" set: "filters = 4" }
layer { name: "short" type: "conv" input: "a2" conv { num_filters: 6 filter_size: 1 stride: 2 } }
layer { name: "b1" type: "unit" input: "a2" input: "short" set: "filters = 6, stride = 2" }
layer { name: "b2" type: "unit" input: "b1" input: "b1" set: "filters = 6" }
layer { name: "b3" type: "unit" input: "b2" input: "b2" set: "filters = 6" }
layer { name: "b4" type: "unit" input: "b3" input: "b3" set: "filters = 6" }
layer { name: "b5" type: "unit" input: "b4" input: "b4" set: "filters = 6" }
layer { name: "b6" type: "unit" input: "b5" input: "b5" set: "filters = 6" }
layer { name: "b7" type: "unit" input: "b6" input: "b6" set: "filters = 6" }
layer { name: "scores" type: "fc" input: "b7" fc { size: 3 } }
"""
ENCODER = """
block {
  name: "encoder"
  input: "x"
  layer { name: "all" type: "fc" input: "x" fc { size: 12 } }
  layer { name: "parts" type: "slice" input: "all" output: "q" output: "k" output: "v" slice { parts: 3 } }
  layer { name: "attention" type: "multi_head_attention" input: "q" input: "k" input: "v"
          multi_head_attention { num_heads: 2 } }
  layer { name: "out" type: "fc" input: "attention" fc { size: 4 } }
  layer { name: "add1" type: "addto" input: "out" input: "x" }
  layer { name: "norm1" type: "layer_norm" input: "add1" }
  layer { name: "wide" type: "fc" input: "norm1" fc { size: 8 act: "relu" } }
  layer { name: "narrow" type: "fc" input: "wide" fc { size: 4 } }
  layer { name: "add2" type: "addto" input: "narrow" input: "norm1" }
  layer { name: "norm2" type: "layer_norm" input: "add2" }
  output: "norm2"
}
layer { name: "words" type: "data" data { data_type: INT size: 9 seq_nested_level: 1 } }
layer { name: "rows" type: "embedding" input: "words" embedding { size: 4 } }
layer { name: "deep" type: "encoder" input: "rows" times: 3 }
layer { name: "mean" type: "seq_avg_pool" input: "deep" }
layer { name: "scores" type: "fc" input: "mean" fc { size: 3 } }
"""


def round_trip(text, feeds, folder):
    """What comes back from a model of a network; it computes what the network does, and exports again."""
    with pl.Net(pl.loads(text), seed=7) as net:
        pl.export_onnx(net, folder / "m.onnx")
        wanted = net.forward(feeds, phase="test")["scores"]
    imported = pl.import_onnx(folder / "m.onnx")
    with imported.net() as net:
        found = net.forward(feeds, phase="test")[imported.outputs["scores"]]
        pl.export_onnx(net, folder / "again.onnx")
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    imported.write(folder / "out")
    with pl.Net(pl.load(folder / "out" / "network.textproto")) as net:
        net.load(folder / "out" / "weights.safetensors")
        assert np.array_equal(net.forward(feeds, phase="test")[imported.outputs["scores"]], found)
    return imported


def test_the_units_of_a_residual_network_are_a_block_with_settings(tmp_path):
    feeds = {"image": np.random.default_rng(0).normal(size=(2, 3, 8, 8)).astype(np.float32)}
    imported = round_trip(RESNET, feeds, tmp_path)
    assert imported.text.count("block {") == 1
    assert imported.text.count('settings: "num_filters"') == 1, "both convolutions of a unit share one"
    uses = [node for node in imported.network.nodes if node.definition.name.endswith("_block")]
    assert [len(node.inputs) for node in uses] == [1] * 8
    assert {"a1.conv1.weight", "b4.sum.weight"} & imported.weights.keys() == {"a1.conv1.weight"}
    again = run_model(tmp_path / "again.onnx", feeds)
    np.testing.assert_allclose(next(iter(again.values())), run_model(tmp_path / "m.onnx", feeds)["scores"], rtol=1e-4)


@pytest.mark.parametrize("text", [RESNET, ENCODER])
def test_the_config_is_shorter(tmp_path, monkeypatch, text):
    with pl.Net(pl.loads(text)) as net:
        pl.export_onnx(net, tmp_path / "m.onnx")
    short = pl.import_onnx(tmp_path / "m.onnx").text
    monkeypatch.setattr(network, "with_blocks", lambda layers, _: BlockNetwork([], list(layers)))
    long = pl.import_onnx(tmp_path / "m.onnx").text
    assert len(short.splitlines()) < len(long.splitlines())
    assert len(short) < len(long)


def test_the_layers_of_an_encoder_are_a_block_with_values_of_several_outputs(tmp_path):
    feeds = {"words": pl.Sequences(np.array([1, 2, 3, 4, 8, 0]), np.array([0, 4, 6]))}
    imported = round_trip(ENCODER, feeds, tmp_path)
    assert imported.text.count("block {") == 1
    uses = [node for node in imported.network.nodes if node.definition.name.endswith("_block")]
    assert len(uses) == 3
    assert {name.partition(".")[0] for name in imported.weights} >= {node.name for node in uses}


def named(*layers):
    """Fields of `name type inputs... | attribute=number...`."""
    found = []
    for text in layers:
        head, _, attributes = text.partition("|")
        name, type_, *inputs = head.split()
        own = {key: int(number) for key, number in (one.split("=") for one in attributes.split())}
        found.append({"name": name, "type": type_, "input": inputs, type_: own})
    return found


def chain(count, *unit):
    """Copies of a unit one behind the other; `<` is what the one before gives."""
    lines = []
    for number in range(count):
        before = f"u{number - 1}_out" if number else "x"
        lines += [line.replace("<", before).replace("@", f"u{number}_") for line in unit]
    return named(*lines)


UNIT = "@in fc < | size=4", "@mid tanh @in", "@side abs @mid", "@out addto @side @mid"


def test_copies_in_a_row():
    found = with_blocks(chain(5, *UNIT), {"u4_out"})
    (block,) = found.blocks
    assert [one["name"] for one in block["layer"]] == ["in", "mid", "side", "out"]
    assert [(one["name"], one["type"], one["input"]) for one in found.layers] == [
        ("u0", "u_block", ["x"]),
        ("u1", "u_block", ["u0"]),
        ("u2", "u_block", ["u1"]),
        ("u3", "u_block", ["u2"]),
        ("u4_out", "u_block", ["u3"]),
    ]
    assert found.paths["u2_mid"] == "u2.mid"
    assert found.paths["u4_mid"] == "u4_out.mid"


def test_numbers_that_differ_are_settings():
    layers = chain(5, "@in fc < | size=4", "@mid fc @in | size=4", "@side abs @mid", "@out addto @side @mid")
    for place, size in ((0, 8), (1, 8), (4, 6), (5, 7)):
        layers[place]["fc"]["size"] = size
    found = with_blocks(layers, {"u4_out"})
    assert found.blocks[0]["settings"] == "size, size_2"
    assert [one["set"] for one in found.layers[:3]] == [
        "size = 8, size_2 = 8",
        "size = 6, size_2 = 7",
        "size = 4, size_2 = 4",
    ]
    layers[0]["fc"]["size"], layers[4]["fc"]["size"] = 8, 7
    assert with_blocks(layers, {"u4_out"}).blocks[0]["settings"] == "size"


KEPT = {
    "too few": chain(2, "@in fc < | size=4", "@out tanh @in"),
    "all values are read": [*chain(5, *UNIT), *named(f"all addto {' '.join(one['name'] for one in chain(5, *UNIT))}")],
    "shared": [one | {"param": [{"of": "weight", "share": "w"}]} for one in chain(8, *UNIT)],
    "no pattern": named("a fc x | size=3", "b tanh a", "c fc b | size=3", "d abs c", "e fc d | size=3", "f relu e"),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_what_stays_as_it_is(name):
    layers = KEPT[name]
    found = with_blocks(layers, {layers[-1]["name"]})
    assert (found.layers, found.blocks, found.paths) == (layers, [], {})


CHAIN = "BBSBBSSABSABSABBBBSABSABSABSABSSSSABAABBAAABBAAAABBASAAABBBB"
"""Units of a network in which a name that the first round of blocks frees is taken again by the second one."""


def chain_model(path):
    """Conv-Relu-Conv (A), Conv-Tanh-Conv (B) and x + x * HardSigmoid(x) (S), as `CHAIN` says."""
    random, nodes, weights = np.random.default_rng(0), [], []

    def add(operator, *inputs, **attributes):
        name = f"{operator}.{len(nodes)}"
        nodes.append(onnx.helper.make_node(operator, list(inputs), [name], name, **attributes))
        return name

    def conv(at):
        array = (random.standard_normal((4, 4, 1, 1)) * 0.6).astype(np.float32)
        weights.append(onnx.numpy_helper.from_array(array, f"w{len(weights)}"))
        return add("Conv", at, weights[-1].name)

    at = "x"
    for unit in CHAIN:
        if unit == "S":
            at = add("Add", at, add("Mul", at, add("HardSigmoid", at, alpha=0.2)))
        else:
            at = conv(add("Relu" if unit == "A" else "Tanh", conv(at)))
    ports = [onnx.helper.make_tensor_value_info(name, 1, ["N", 4, 3, 3]) for name in ("x", at)]
    graph = onnx.helper.make_graph(nodes, "chain", ports[:1], ports[1:], weights)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), path)


def same_as_onnxruntime(path, x):
    """The imported network, after its values were compared."""
    wanted = next(iter(run_model(path, {"x": x}).values()))
    imported = pl.import_onnx(path)
    with imported.net() as net:
        found = net.forward({"x": x}, phase="test")[next(iter(imported.outputs.values()))]
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4 * np.abs(wanted).max())
    return imported


def test_names_that_a_round_of_blocks_has_freed_may_be_taken_again(tmp_path):
    chain_model(tmp_path / "m.onnx")
    x = np.random.default_rng(1).standard_normal((2, 4, 3, 3)).astype(np.float32)
    imported = same_as_onnxruntime(tmp_path / "m.onnx", x)
    assert imported.text.count("block {") >= 2


def test_settings_that_are_equal_as_numbers_stay_apart(tmp_path):
    """3x3, padded, with a bias, or 1x1, not padded, without: `padding` is 0 where `bias` is false."""
    random, nodes, weights, at = np.random.default_rng(0), [], [], "x"
    for place in range(14):
        size = 3 if place % 3 else 1
        arrays = {"w": (4, 4, size, size), "b": (4,), "v": (4, 4, 1, 1)}
        weights += [
            onnx.numpy_helper.from_array((random.standard_normal(shape) * 0.5).astype(np.float32), f"{name}{place}")
            for name, shape in arrays.items()
        ]
        for kind, operator, inputs, more in (
            ("a", "Conv", [f"w{place}", f"b{place}"][: 1 + (size == 3)], {"pads": [size // 2] * 4}),
            ("d", "Relu", [], {}), ("p", "Conv", [f"v{place}"], {}), ("f", "Tanh", [], {}),
        ):  # fmt: skip
            name = f"{kind}{place}"
            nodes.append(onnx.helper.make_node(operator, [at, *inputs], [name], name, **more))
            at = name
    ports = [onnx.helper.make_tensor_value_info(name, 1, ["N", 4, 5, 5]) for name in ("x", at)]
    graph = onnx.helper.make_graph(nodes, "settings", ports[:1], ports[1:], weights)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "m.onnx")
    x = np.random.default_rng(1).standard_normal((2, 4, 5, 5)).astype(np.float32)
    imported = same_as_onnxruntime(tmp_path / "m.onnx", x)
    assert 'settings: "bias = false, filter_size, padding"' in imported.text


def test_the_model_of_the_round_trip_is_sound(tmp_path):
    with pl.Net(pl.loads(RESNET), seed=7) as net:
        pl.export_onnx(net, tmp_path / "m.onnx")
    onnx.checker.check_model(onnx.load(tmp_path / "m.onnx"), full_check=True)


@pytest.mark.parametrize("low", [[-np.inf] * 8, [-np.inf, 0] * 2, [np.inf, -np.inf, 1, 2]])
def test_infinite_attributes(low, tmp_path):
    """A mask of minus infinity is part of a block; a setting cannot be infinite."""
    nodes, tensors, value = [], [onnx.numpy_helper.from_array(np.float32(0.1), "least")], "x"
    for place, number in enumerate(low):
        tensors.append(onnx.numpy_helper.from_array(np.float32(number), f"low{place}"))
        parts = [("Greater", [value, "least"], "c"), ("Where", ["c", value, "low"], "w"), ("Tanh", ["w"], "t"),
                 ("Softsign", ["t"], "s"), ("Erf", ["s"], "e")]  # fmt: skip
        for operator, inputs, name in parts:
            names = [one if one in (value, "least") else f"{one}{place}" for one in inputs]
            nodes.append(onnx.helper.make_node(operator, names, [f"{name}{place}"], f"part{place}_{name}"))
        value = f"e{place}"
    ports = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N", 4]) for name in ("x", value)]
    graph = onnx.helper.make_graph(nodes, "net", ports[:1], ports[1:], tensors)
    opsets = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path / "m.onnx")
    imported = pl.import_onnx(tmp_path / "m.onnx")
    assert ("block {" in imported.text) == (len(set(low)) == 1)
    x = np.random.default_rng(1).standard_normal((3, 4)).astype(np.float32)
    with imported.net() as net:
        found = net.forward({"x": x}, phase="test")[imported.outputs[value]]
    np.testing.assert_allclose(found, run_model(tmp_path / "m.onnx", {"x": x})[value], rtol=1e-5, atol=1e-6)
