"""Networks as ONNX models: names, outputs, refusals, weights beside the model, plugins, the command."""

from __future__ import annotations

import sys
import zlib

import numpy as np
import onnx
import pytest
from click.testing import CliRunner

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.exchange.onnx_out import model as models
from paddle_layers.exchange.onnx_out.model import ExportError
from tests.exchange.onnx_helpers import model_feeds, real_rows, run_model

NETWORK = """
name: "small"
layer { name: "x" type: "data" data { shape: [1, 6, 5] } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "conv1" type: "conv" input: "x" conv { num_filters: 2 filter_size: 3 act: "relu" drop_rate: 0.5 } }
layer { name: "block" type: "gated_unit" input: "conv1" gated_unit { size: 4 } }
layer { name: "scores" type: "fc" input: "block" fc { size: 3 } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
layer { name: "hits" type: "accuracy" input: "scores" input: "label" }
"""
TAGGER = """
layer { name: "words" type: "data" data { data_type: INT size: 9 seq_nested_level: 1 } }
layer { name: "rows" type: "embedding" input: "words" embedding { size: 3 } }
layer { name: "states" type: "simple_gru" input: "rows" simple_gru { size: 4 } }
layer { name: "tags" type: "fc" input: "states" fc { size: 5 act: "softmax" } }
layer { name: "last" type: "seq_last" input: "states" }
"""


def exported(text, path, **options):
    with pl.Net(pl.loads(text)) as net:
        pl.export_onnx(net, path, **options)
    return onnx.load(path)


def shape(info):
    return [axis.dim_param or axis.dim_value for axis in info.type.tensor_type.shape.dim]


def test_names_and_shapes_are_those_of_the_network(tmp_path):
    found = exported(NETWORK, tmp_path / "m.onnx")
    assert [(one.name, shape(one)) for one in found.graph.input] == [("x", ["N", 1, 6, 5])]
    outputs = [(one.name, shape(one)) for one in found.graph.output]
    assert outputs == [("scores", ["N", 3]), ("scores.probabilities", ["N", 3])]
    made = {name for node in found.graph.node for name in node.output}
    assert {"conv1", "block", "block/value", "scores"} <= made
    assert {"conv1.weight", "block.gate.bias"} <= {one.name for one in found.graph.initializer}
    assert shape(next(one for one in found.graph.value_info if one.name == "conv1")) == ["N", 2, 4, 3]
    assert (found.graph.name, found.producer_name, found.producer_version) == ("small", "paddle-layers", pl.__version__)
    assert [(one.domain, one.version) for one in found.opset_import] == [("", models.OPSET)]
    assert not {"Dropout", "Identity"} & {node.op_type for node in found.graph.node}


def test_sizes_that_nobody_knows_have_no_made_up_names(tmp_path):
    found = exported(TAGGER, tmp_path / "m.onnx")
    names = {axis for one in found.graph.value_info for axis in shape(one) if isinstance(axis, str)}
    assert names == {"N", "words.T"}


@pytest.mark.parametrize("rows", [1, 3, 0])
def test_any_number_of_rows(tmp_path, rows):
    x = np.random.default_rng(1).standard_normal((rows, 1, 6, 5)).astype(np.float32)
    exported(NETWORK, tmp_path / "m.onnx")
    result = run_model(tmp_path / "m.onnx", {"x": x})
    with pl.Net(pl.loads(NETWORK)) as net:
        expected = net.forward({"x": x, "label": np.zeros(rows, int)}, phase="test")
        assert "scores" not in expected  # costs read it; it is an output all the same
    assert result["scores"].shape == (rows, 3)
    np.testing.assert_allclose(result["scores.probabilities"].sum(axis=1), 1, rtol=1e-5)


def test_sequences_are_padded_and_have_lengths(tmp_path):
    found = exported(TAGGER, tmp_path / "m.onnx")
    inputs = [(one.name, shape(one)) for one in found.graph.input]
    assert inputs == [("words", ["N", "words.T"]), ("words.lengths", ["N"])]
    outputs = [(one.name, shape(one)) for one in found.graph.output]
    assert outputs == [("tags", ["N", "tags.T", 5]), ("tags.lengths", ["N"]), ("last", ["N", 4])]
    assert found.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.INT64
    feeds = {"words": pl.Sequences(np.array([1, 2, 3, 4, 5, 6]), np.array([0, 4, 5, 6]))}
    with pl.Net(pl.loads(TAGGER)) as net:
        expected = net.forward(feeds, phase="test")
        types = {"words": net.network["words"].output_types[0]}
    result = run_model(tmp_path / "m.onnx", model_feeds(feeds, types))
    np.testing.assert_allclose(real_rows(result, "tags"), expected["tags"].data, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(result["last"], expected["last"], rtol=1e-5, atol=1e-6)


def test_all_layers_without_a_form_are_refused_at_once(tmp_path):
    text = TAGGER + (
        'layer { name: "places" type: "data" data { shape: 2 } }\n'
        'layer { name: "runs" type: "seq_slice" input: "states" input: "places" }\n'
        'layer { name: "found" type: "batch_norm" input: "last" batch_norm { use_global_stats: false } }\n'
    )
    with pl.Net(pl.loads(text, name="net.textproto")) as net, pytest.raises(pl.ConfigError) as caught:
        pl.export_onnx(net, tmp_path / "m.onnx", values=["runs", "found"])
    places = [(one.code, one.file, one.line, one.column) for one in caught.value.diagnostics]
    assert places == [("E501", "net.textproto", 8, 15), ("E501", "net.textproto", 9, 15)]
    assert not list(tmp_path.iterdir())


def test_a_data_layer_is_no_output(tmp_path):
    with pytest.raises(ExportError, match="cannot export `x`: it is a data layer"):
        exported(NETWORK, tmp_path / "m.onnx", values=["x"])


def test_large_weights_lie_beside_the_model(tmp_path, monkeypatch):
    x = {"x": np.ones((2, 1, 6, 5), np.float32)}
    exported(NETWORK, tmp_path / "one.onnx")
    monkeypatch.setattr(models, "EXTERNAL_FROM", 1)
    monkeypatch.setattr(models, "BESIDE", 16)
    with pl.Net(pl.loads(NETWORK)) as net:
        assert pl.export_onnx(net, tmp_path / "two.onnx") == [tmp_path / "two.onnx", tmp_path / "two.onnx.data"]
    one, two = (run_model(tmp_path / name, x)["scores"] for name in ("one.onnx", "two.onnx"))
    np.testing.assert_array_equal(one, two)
    assert (tmp_path / "two.onnx.data").stat().st_size > 100


def test_shared_parameters_are_one_tensor(tmp_path):
    share = 'param { of: "weight" share: "w" }'
    text = (
        'layer { name: "x" type: "data" data { shape: 3 } }\n'
        f'layer {{ name: "a" type: "fc" input: "x" fc {{ size: 3 }} {share} }}\n'
        f'layer {{ name: "b" type: "fc" input: "a" fc {{ size: 3 }} {share} }}\n'
    )
    found = exported(text, tmp_path / "m.onnx")
    assert sorted(one.name for one in found.graph.initializer) == ["a.bias", "a.weight", "b.bias"]


PLUGIN = '''
"""A layer of ours."""
import paddle_layers as pl


@pl.layer("onnx_test_swish")
class Swish:
    """Every value times the logistic function of `beta` times it."""

    x = pl.Input("...", "values of any shape")
    y = pl.Output("...", "same shape as `x`")
    beta = pl.Float("steepness", default=1.0)
    examples = (pl.Example(x="5"),)


@pl.each(Swish.y)
def swish_y(i, x, beta):
    return x[i] / (1.0 + math.exp(-beta * x[i]))


@pl.onnx(Swish)
def swish_onnx(graph, x, beta):
    pl.require(beta != 2.0, "beta", "two is not for us")
    return graph.Mul(x, graph.Sigmoid(graph.Mul(x, beta)))
'''.replace("import paddle", "import math\n\nimport paddle", 1)


@pytest.fixture
def own_layers():
    """Takes back what a test registers."""
    before = set(pl.registry)
    yield
    for name in set(pl.registry) - before:
        pl.registry.remove(name)


def net_of(layer, settings=""):
    return pl.Net(
        pl.loads(
            'layer { name: "x" type: "data" data { shape: 3 } }\n'
            f'layer {{ name: "y" type: "{layer}" input: "x" {layer} {{ {settings} }} }}\n'
        )
    )


@pytest.mark.usefixtures("own_layers")
def test_layers_of_plugins(tmp_path):
    file = tmp_path / "swish.py"
    file.write_text(PLUGIN)
    pl.load_plugin(file)
    x = np.array([[-1.0, 0.0, 2.0]], np.float32)
    with net_of("onnx_test_swish", "beta: 0.5") as net:
        pl.export_onnx(net, tmp_path / "m.onnx")
        wanted = x / (1 + np.exp(-0.5 * x))
        np.testing.assert_allclose(run_model(tmp_path / "m.onnx", {"x": x})["y"], wanted, rtol=1e-6)
    with net_of("onnx_test_swish", "beta: 2") as net, pytest.raises(pl.ConfigError, match="two is not for us"):
        pl.export_onnx(net, tmp_path / "m.onnx")


@pytest.mark.usefixtures("own_layers")
@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("def wrong(graph, x, betta):\n    return x", "unknown argument `betta`; did you mean `beta`"),
        ("def wrong(x):\n    return x", "the first argument must be `graph`"),
    ],
)
def test_a_misspelt_argument_is_an_error_at_import(tmp_path, function, message):
    text = PLUGIN.replace("onnx_test_swish", "onnx_test_wrong")
    (tmp_path / "wrong.py").write_text(text[: text.index("def swish_onnx")] + function)
    with pytest.raises(pl.DefinitionError, match=message):
        pl.load_plugin(tmp_path / "wrong.py")


@pytest.mark.usefixtures("own_layers")
@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        ("return graph.Nonsense(x)", ExportError, "Nonsense"),
        ("return graph.Reshape(x, [-1, 7])", ExportError, "checker rejects"),
        ("return 3", pl.DefinitionError, "expected 1 tensors"),
        ("return graph.nonsense(x)", pl.DefinitionError, "start with a capital letter"),
        ("raise ValueError('no')", pl.DefinitionError, "wrong_onnx: ValueError: no"),
    ],
)
def test_a_wrong_function_is_its_authors_fault(tmp_path, body, error, message):
    name = f"onnx_test_{zlib.crc32(body.encode())}"
    text = PLUGIN.replace("onnx_test_swish", name)
    (tmp_path / "wrong.py").write_text(
        text[: text.index("def swish_onnx")] + f"def wrong_onnx(graph, x):\n    {body}\n"
    )
    pl.load_plugin(tmp_path / "wrong.py")
    with net_of(name) as net, pytest.raises(error, match=message):
        pl.export_onnx(net, tmp_path / "m.onnx")
    assert not (tmp_path / "m.onnx").exists()


def invoke(*arguments):
    return CliRunner().invoke(commands, ["export", *map(str, arguments)], catch_exceptions=False)


def test_the_command(tmp_path, monkeypatch):
    (tmp_path / "net.textproto").write_text(NETWORK)
    weights, model = tmp_path / "w.safetensors", tmp_path / "m.onnx"
    with pl.Net(pl.loads(NETWORK), seed=5) as net:
        net.save(str(weights))
    done = invoke(tmp_path / "net.textproto", "--weights", weights, "-o", model)
    assert (done.exit_code, done.stderr) == (0, f"wrote {model}\n")
    with pl.Net(pl.loads(NETWORK), seed=5) as net:
        pl.export_onnx(net, tmp_path / "same.onnx")
    assert model.read_bytes() == (tmp_path / "same.onnx").read_bytes()
    again = invoke(tmp_path / "net.textproto", "--weights", weights, "-o", model)
    assert again.exit_code == 1
    assert "already exists" in again.stderr
    assert invoke(tmp_path / "net.textproto", "--weights", weights, "-o", model, "--overwrite").exit_code == 0
    without = invoke(tmp_path / "net.textproto", "-o", tmp_path / "n.onnx")
    assert (without.exit_code, "add --weights FILE" in without.stderr) == (1, True)
    assert invoke(tmp_path / "net.textproto", "-o", tmp_path / "n.txt").exit_code == 2
    cost = invoke(tmp_path / "net.textproto", "--weights", weights, "-o", tmp_path / "n.onnx", "--value", "cost")
    assert (cost.exit_code, "error[E501]: layer `cost`" in cost.stderr) == (1, True)
    monkeypatch.setitem(sys.modules, "onnx", None)
    missing = invoke(tmp_path / "net.textproto", "--weights", weights, "-o", tmp_path / "n.onnx")
    assert missing.exit_code == 1
    assert missing.stderr == "ONNX export requires onnx: pip install 'paddle-layers[onnx]'\n"
