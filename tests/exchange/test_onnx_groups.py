"""Recurrent groups as ONNX's Scan."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import paddle_layers as pl
from paddle_layers.testing.cases.case import network_cases
from tests.exchange.onnx_helpers import model_feeds, real_rows, rows_of, run_model

NESTED = """
layer { name: "words" type: "data" data { data_type: INT size: 7 seq_nested_level: 2 } }
layer { name: "start" type: "data" data { shape: 3 } }
layer {
  name: "sentences" type: "recurrent_group" input: "words" input: "start"
  recurrent_group { static: "start" REVERSE }
  step {
    layer { name: "rows" type: "embedding" input: "words" embedding { size: 3 } }
    layer { name: "mean" type: "seq_avg_pool" input: "rows" }
    layer { name: "before" type: "memory" input: "start" memory { of: "state" } }
    layer { name: "state" type: "fc" input: "mean" input: "before" fc { size: 3 act: "tanh" } }
    layer { name: "spread" type: "expand" input: "before" input: "rows" }
    layer { name: "tags" type: "addto" input: "rows" input: "spread" }
    output: "state"
    output: "tags"
  }
  output: "state"
  output: "tags"
}
"""
IDS = """
layer { name: "x" type: "data" data { shape: 4 seq_nested_level: 1 } }
layer {
  name: "greedy" type: "recurrent_group" input: "x" recurrent_group { REVERSE }
  step {
    layer { name: "last" type: "memory" memory { of: "best" size: 5 id: 2 } }
    layer { name: "row" type: "embedding" input: "last" embedding { size: 3 } }
    layer { name: "image" type: "memory" memory { of: "grown" shape: [1, 2, 2] value: 0.5 } }
    layer { name: "given" type: "reshape" input: "x" reshape { dims: [1, 2, 2] } }
    layer { name: "grown" type: "addto" input: "image" input: "given" }
    layer { name: "scores" type: "fc" input: "grown" input: "row" fc { size: 5 } }
    layer { name: "best" type: "maxid" input: "scores" }
    output: "best"
    output: "grown"
  }
  output: "best"
  output: "grown"
}
"""


def agree(network, net, feeds, types, path):
    expected = net.forward(feeds, phase="test")
    pl.export_onnx(net, path, values=network.outputs)
    onnx.checker.check_model(str(path), full_check=True)
    result = run_model(path, model_feeds(feeds, types))
    for name in network.outputs:
        wanted = rows_of(expected[name])
        np.testing.assert_allclose(real_rows(result, name), wanted, rtol=1e-4, atol=2e-5)
    return onnx.load(path)


@pytest.mark.parametrize("case", list(network_cases(pl.registry["recurrent_group"])))
def test_networks_of_the_definition(case, tmp_path):
    feeds = case.feeds(case.arrays())
    with case.net("float32") as net:
        found = agree(case.network(), net, feeds, {n: t for n, t, _ in case.fed}, tmp_path / "m.onnx")
    assert [node.op_type for node in found.graph.node].count("Scan") == 1


@pytest.mark.parametrize("reverse", [False, True])
def test_steps_of_sub_sequences(tmp_path, reverse):
    network = pl.loads(NESTED.replace("REVERSE", "reverse: true" * reverse))
    starts, inner = np.array([0, 2, 3, 5]), np.array([0, 1, 1, 3, 6, 7])
    feeds = {
        "words": pl.Sequences(np.array([1, 2, 3, 4, 5, 6, 0]), starts, inner),
        "start": np.random.default_rng(2).standard_normal((3, 3)).astype(np.float32),
    }
    with pl.Net(network, seed=3) as net:
        types = {name: network[name].output_types[0] for name in feeds}
        agree(network, net, feeds, types, tmp_path / "m.onnx")


@pytest.mark.parametrize("reverse", [False, True])
def test_memories_of_ids_and_images(tmp_path, reverse):
    network = pl.loads(IDS.replace("REVERSE", "reverse: true" * reverse))
    rows = np.random.default_rng(4).standard_normal((7, 4)).astype(np.float32)
    feeds = {"x": pl.Sequences(rows, np.array([0, 2, 2, 6, 7]))}
    with pl.Net(network, seed=3) as net:
        agree(network, net, feeds, {"x": network["x"].output_types[0]}, tmp_path / "m.onnx")


def test_a_layer_of_a_step_is_refused_at_its_own_place(tmp_path):
    text = NESTED.replace("REVERSE", "").replace(
        '    output: "state"\n    output: "tags"\n  }',
        '    layer { name: "path" type: "grumemory" input: "rows" grumemory { gate_act: tanh } }\n'
        '    output: "state"\n    output: "path"\n  }',
    )
    with pl.Net(pl.loads(text, name="net.textproto")) as net, pytest.raises(pl.ConfigError) as caught:
        pl.export_onnx(net, tmp_path / "m.onnx")
    assert [(one.code, one.line, one.column) for one in caught.value.diagnostics] == [("E501", 14, 19)]
