"""ONNX models as networks: PyTorch's exporters, where it is installed, and files made by onnx itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.exchange.onnx_in.model import ImportFailure
from paddle_layers.testing.cases.trial import as_python
from tests.exchange.onnx_helpers import run_model

STORED = Path(__file__).parents[1] / "onnx_models"
"""Models of PyTorch's exporters, with an input and what PyTorch gives: `python -m tests.exchange.import_models`."""
ONE_WAY = {"texts"}
"""Models with a layer whose export is not read again: `context`, by a Pad along steps."""
TOLERANCE = {"rtol": 1e-4, "atol": 2e-5}


def feed_of(imported, x):
    """An array as the only input wants it."""
    (data,) = (node for node in imported.network.nodes if not node.definition.inputs)
    if data.output_types[0].level == 1:
        rows, steps = x.shape[:2]
        x = pl.Sequences(x.reshape(rows * steps, *x.shape[2:]), np.arange(rows + 1) * steps)
    return {data.name: x}


def output_of(imported, x):
    with imported.net() as net:
        result = as_python(lambda: net.forward(feed_of(imported, x), phase="test"))
    (name,) = imported.outputs.values()
    value = result[name]
    return value.data if isinstance(value, pl.Sequences) else value


def check(path, x, wanted):
    """The network gives what the model gives, and goes out and in again as the same network."""
    imported = pl.import_onnx(path)
    result = output_of(imported, x)
    np.testing.assert_allclose(result, wanted.reshape(result.shape), **TOLERANCE)
    return imported


def check_trip(imported, folder):
    """Out and in again: the same text and weights; the third trip is the second."""
    with imported.net() as net:
        pl.export_onnx(net, folder / "again.onnx")
    again = pl.import_onnx(folder / "again.onnx")
    assert again.text == imported.text
    for name, array in imported.weights.items():
        np.testing.assert_allclose(again.weights[name], array, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("file", sorted(STORED.glob("*.onnx")), ids=lambda file: file.stem)
def test_stored_models(file, tmp_path):
    arrays = np.load(file.with_suffix(".npz"))
    imported = check(file, arrays["x"], arrays["y"])
    if file.stem not in ONE_WAY:
        check_trip(imported, tmp_path)


def test_stored_models_are_there():
    assert len(list(STORED.glob("*.onnx"))) >= 8


OF_IDS = ("bert", "fused", "lstm", "lstm-both", "lstm-deep", "gru", "rnn", "texts")
OTHERS = ("resnet", "mobilenet", "multihead", "mlp", "unet", "encoder")


def torch_cases():
    """Names, exporters, and axes whose sizes are left open; the newer exporter unrolls nn.RNN, step by step."""
    found = [(name, dynamo, ("N",)) for name in (*OTHERS, *OF_IDS) for dynamo in (False, True)]
    found += [(name, dynamo, ("N", "T")) for name in OF_IDS for dynamo in (False, True)]
    return [case for case in found if case[:2] != ("rnn", True)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "dynamo", "axes"), torch_cases())
def test_models_of_both_exporters(name, dynamo, axes, tmp_path):
    torch = pytest.importorskip("torch")
    pytest.importorskip("onnxscript")
    from tests.exchange import import_models

    model, x = import_models.save(name, tmp_path / "m.onnx", dynamo=dynamo, axes=axes)
    with torch.no_grad():
        wanted = model(x).numpy()
    imported = check(tmp_path / "m.onnx", x.numpy(), wanted)
    if name not in ONE_WAY:
        check_trip(imported, tmp_path)


# ---- models of single nodes


def model_file(path, nodes, inputs, outputs, weights=None, opset=17, **more):
    """Write a model; weights by name. Inputs and outputs: (name, shape), ids with a third member."""
    ports = [
        [
            helper.make_tensor_value_info(name, TensorProto.INT64 if ids else TensorProto.FLOAT, shape)
            for name, shape, *ids in one
        ]
        for one in (inputs, outputs)
    ]
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in (weights or {}).items()]
    graph = helper.make_graph(nodes, "net", *ports, tensors)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9, **more), path)
    return path


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def agrees(path, x):
    """With onnxruntime."""
    (wanted,) = list(run_model(path, {"x": x}).values())[-1:]
    return check(path, x, wanted)


@pytest.mark.parametrize(
    ("nodes", "dims", "weights", "types"),
    [
        ([("Clip", "x low high")], (3,), {"low": np.float32(0), "high": np.float32(6)}, ["relu6"]),
        ([("Clip", "x low high")], (3,), {"low": np.float32(-1), "high": np.float32(2)}, ["clip"]),
        ([("Sub", "one x")], (3,), {"one": np.float32(1)}, ["slope_intercept"]),
        ([("Div", "one x")], (3,), {"one": np.float32(2)}, ["power", "slope_intercept"]),
        ([("Mul", "x w")], (2, 3, 4), {"w": numbers(2, 1, 1)}, ["scale"]),
        ([("Mul", "x w")], (2, 3, 4), {"w": numbers(4)}, ["flatten", "scale", "reshape"]),
        ([("Mul", "x w"), ("Add", "_ b")], (4,), {"w": numbers(4), "b": numbers(4, seed=1)}, ["scale"]),
        ([("Sigmoid", "x"), ("Mul", "x _")], (4,), {}, ["swish"]),
        ([("Transpose", "x", {"perm": [0, 2, 3, 1]}), ("Flatten", "_"), ("MatMul", "_ w")], (2, 3, 4),
         {"w": numbers(24, 3)}, ["fc"]),
        ([("Reshape", "x shape"), ("MatMul", "_ w"), ("Add", "_ b"), ("Relu", "_")], (2, 3),
         {"shape": np.array([-1, 6]), "w": numbers(6, 3), "b": numbers(3)}, ["fc"]),
        ([("Gemm", "x w", {"transB": 1, "alpha": 0.5})], (4,), {"w": numbers(3, 4)}, ["fc"]),
        ([("ReduceMean", "x", {"axes": [2, 3], "keepdims": 0})], (2, 3, 4), {}, ["pool", "reshape"]),
        ([("Pad", "x pads"), ("Conv", "_ w")], (2, 5, 6),
         {"pads": np.array([0, 0, 1, 1, 0, 0, 1, 1]), "w": numbers(3, 2, 3, 3)}, ["conv"]),
        ([("Conv", "x w", {"auto_pad": "SAME_UPPER"})], (2, 5, 6), {"w": numbers(3, 2, 3, 3)}, ["conv"]),
        ([("Conv", "x w b", {"strides": [2], "pads": [1, 1]})], (2, 7), {"w": numbers(3, 2, 3), "b": numbers(3)},
         ["conv1d"]),
        ([("Conv", "x w", {"dilations": [2], "pads": [0, 3], "group": 2})], (4, 7), {"w": numbers(6, 2, 3)},
         ["conv1d"]),
        ([("ConvTranspose", "x w b", {"strides": [3], "pads": [1, 0], "output_padding": [1]})], (2, 5),
         {"w": numbers(2, 3, 3), "b": numbers(3)}, ["conv1d_trans"]),
        ([("MaxPool", "x", {"kernel_shape": [3], "strides": [2], "pads": [1, 0], "ceil_mode": 1})], (2, 8), {},
         ["pool1d"]),
        ([("AveragePool", "x", {"kernel_shape": [2], "strides": [2], "pads": [1, 1], "count_include_pad": 1})], (2, 7),
         {}, ["pool1d"]),
        ([("GlobalMaxPool", "x")], (3, 7), {}, ["reduction"]),
        ([("MaxPool", "x", {"kernel_shape": [2, 3], "strides": [2, 1], "ceil_mode": 1})], (2, 5, 6), {}, ["pool"]),
        ([("AveragePool", "x", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 2]})], (2, 5, 6), {},
         ["pool"]),
        ([("AveragePool", "x", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1})], (2, 5, 6), {},
         ["pool"]),
        ([("Split", "x", {"axis": 1}), ("Mul", "_ _1")], (6,), {}, ["slice", "mul"]),
        ([("Slice", "x a b c")], (6,), {"a": np.array([1]), "b": np.array([3]), "c": np.array([1])}, ["slice"]),
        ([("Pow", "x two"), ("ReduceMean", "_", {"axes": [-1]}), ("Add", "_ e"), ("Sqrt", "_"), ("Reciprocal", "_"),
          ("Mul", "x _"), ("Mul", "_ w")], (6,), {"two": np.float32(2), "e": np.float32(0.1), "w": numbers(6)},
         ["rms_norm"]),
        ([("LSTM", "x w r")], (4, 3), {"w": numbers(1, 8, 3), "r": numbers(1, 8, 2)}, ["fc", "lstmemory"]),
        ([("PRelu", "x w")], (2, 3, 4), {"w": np.abs(numbers(2, 1, 1))}, ["prelu"]),
        ([("ConvTranspose", "x w", {"strides": [2, 1], "pads": [1, 0, 1, 0], "output_padding": [1, 0], "group": 2})],
         (4, 4, 3), {"w": numbers(4, 3, 3, 2)}, ["conv_trans"]),
        ([("Conv", "x w b", {"strides": [1, 2, 1], "pads": [1, 0, 0, 1, 0, 2]})], (2, 3, 4, 3),
         {"w": numbers(3, 2, 2, 3, 2), "b": numbers(3)}, ["conv3d"]),
        ([("ConvTranspose", "x w", {"strides": [2, 1, 2], "output_padding": [1, 0, 1]})], (2, 2, 3, 2),
         {"w": numbers(2, 3, 2, 2, 2)}, ["conv3d_trans"]),
        ([("MaxPool", "x", {"kernel_shape": [1, 2, 2], "strides": [1, 2, 2], "ceil_mode": 1})], (2, 3, 5, 4), {},
         ["pool3d"]),
        ([("AveragePool", "x", {"kernel_shape": [2, 2, 2], "pads": [1, 0, 1, 1, 0, 1]})], (2, 3, 3, 4), {}, ["pool3d"]),
        ([("GlobalAveragePool", "x")], (2, 3, 3, 4), {}, ["reduction"]),
        ([("Resize", "x _ s", {"mode": "nearest", "nearest_mode": "floor",
                               "coordinate_transformation_mode": "asymmetric"})],
         (2, 3, 4), {"s": np.array([1, 1, 2, 2], np.float32)}, ["nearest_interp"]),
        ([("Resize", "x _ _ s", {"mode": "linear", "coordinate_transformation_mode": "align_corners"})],
         (2, 3, 4), {"s": np.array([2, 2, 5, 7])}, ["bilinear_interp"]),
        ([("Tile", "x r")], (3, 2, 4), {"r": np.array([1, 1, 2, 3])}, ["repeat", "repeat"]),
        ([("InstanceNormalization", "x w b", {"epsilon": 0.1})], (3, 2, 4), {"w": numbers(3), "b": numbers(3, seed=1)},
         ["instance_norm"]),
        ([("MeanVarianceNormalization", "x", {"axes": [2, 3]})], (3, 2, 4), {}, ["mvn"]),
        ([("MeanVarianceNormalization", "x", {"axes": [1]})], (3, 2, 4), {}, ["mvn"]),
        ([("LRN", "x", {"size": 3, "alpha": 0.1})], (4, 3, 3), {}, ["lrn"]),
    ],
)  # fmt: skip
def test_nodes(nodes, dims, weights, types, tmp_path):
    lstm = nodes[0][0] == "LSTM"
    x = numbers(dims[0], 2, *dims[1:], seed=4) if lstm else numbers(2, *dims, seed=4)
    made, last = [], "x"
    for place, (operator, names, *settings) in enumerate(nodes):
        before = "" if operator == "Resize" else last
        inputs = [before if name == "_" else "t0.1" if name == "_1" else name for name in names.split()]
        last = "y" if place == len(nodes) - 1 else f"t{place}"
        outputs = [last, "t0.1"] if operator == "Split" else [last]
        extra = {"hidden_size": 2} if lstm else {}
        made.append(
            helper.make_node(operator, inputs, outputs, f"n{place}", **(settings[0] if settings else {}), **extra)
        )
    shape = ["T", "N", *dims[1:]] if lstm else ["N", *dims]
    path = model_file(tmp_path / "m.onnx", made, [("x", shape)], [("y", None)], weights, opset=17)
    if lstm:  # steps first: sequences are fed one after the other
        imported = pl.import_onnx(path)
        wanted = run_model(path, {"x": x})["y"][:, 0].transpose(1, 0, 2)
        np.testing.assert_allclose(output_of(imported, x.transpose(1, 0, 2)), wanted.reshape(-1, 2), **TOLERANCE)
    else:
        imported = agrees(path, x)
    assert [node.definition.name for node in imported.network.nodes if node.definition.inputs] == types


def test_an_output_that_another_layer_reads_stays_readable(tmp_path):
    nodes = [helper.make_node("Relu", ["x"], ["h"]), helper.make_node("Tanh", ["h"], ["y"])]
    path = model_file(tmp_path / "m.onnx", nodes, [("x", ["N", 3])], [("h", None), ("y", None)], {})
    imported, x = pl.import_onnx(path), numbers(2, 3)
    assert "outputs that other layers read, too: h; `predict --value h`" in imported.report
    with imported.net() as net:
        assert list(as_python(lambda: net.forward({"x": x}, phase="test"))) == ["y"]
        np.testing.assert_array_equal(net.value("h"), np.maximum(x, 0))
    with pytest.raises(TypeError, match="keep must be a list of names"):
        imported.net(keep="h")


@pytest.mark.parametrize(("opset", "gains"), [(18, 2), (21, 4)])
def test_groups_of_channels_are_normalised(opset, gains, tmp_path):
    """Since opset 21 there is a gain for each channel, before for each group."""
    node = helper.make_node("GroupNormalization", ["x", "w", "b"], ["y"], num_groups=2)
    weights = {"w": numbers(gains), "b": numbers(gains, seed=1)}
    path = model_file(tmp_path / "m.onnx", [node], [("x", ["N", 4, 2, 3])], [("y", None)], weights, opset=opset)
    imported = agrees(path, numbers(2, 4, 2, 3, seed=4))
    assert [node.definition.name for node in imported.network.nodes][-1] == "group_norm"


@pytest.mark.parametrize(
    ("operator", "settings", "opset"),
    [
        ("RoiAlign", {"output_width": 2, "output_height": 3, "spatial_scale": 0.5, "sampling_ratio": 2}, 16),
        ("RoiAlign", {"coordinate_transformation_mode": "output_half_pixel"}, 17),
        ("MaxRoiPool", {"pooled_shape": [3, 2], "spatial_scale": 0.5}, 16),
    ],
)
def test_boxes_of_all_images_become_sequences(operator, settings, opset, tmp_path):
    rng = np.random.default_rng(4)
    counts, first = [2, 0, 3], rng.uniform(0, 6, (5, 2))
    box = np.concatenate([first, first + rng.uniform(1, 6, (5, 2))], 1).astype(np.float32)
    images, x = np.repeat(np.arange(3), counts), numbers(3, 2, 8, 9)
    pooled = operator == "MaxRoiPool"
    feeds = {"x": x, "rois": np.column_stack([images, box]).astype(np.float32) if pooled else box, "images": images}
    inputs = ["x", "rois"] if pooled else ["x", "rois", "images"]
    nodes = [
        helper.make_node(operator, inputs, ["cut"], **settings),
        helper.make_node("Flatten", ["cut"], ["flat"]),
        helper.make_node("MatMul", ["flat", "w"], ["y"]),
    ]
    ports = [("rois", ["R", 5 if pooled else 4]), ("x", ["N", 2, 8, 9]), ("images", ["R"], True)][: len(inputs)]
    size = 2 if "output_half" in str(settings) else 12
    path = model_file(tmp_path / "m.onnx", nodes, ports, [("y", None)], {"w": numbers(size, 4)}, opset=opset)
    imported = pl.import_onnx(path)
    with imported.net() as net:
        fed = {"x": x, "rois": pl.Sequences(box, np.cumsum([0, *counts]))}
        (found,) = net.forward(fed, phase="test").values()
    np.testing.assert_allclose(found.data, run_model(path, feeds)["y"], rtol=1e-4, atol=1e-5)
    assert "feed one sequence of boxes" in imported.report


def test_images_with_channels_last_are_fed_channels_first(tmp_path):
    turned = helper.make_node("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2])
    conv = helper.make_node("Conv", ["t", "w"], ["y"])
    path = model_file(
        tmp_path / "m.onnx", [turned, conv], [("x", ["N", 5, 6, 2])], [("y", None)], {"w": numbers(3, 2, 3, 3)}
    )
    x = numbers(2, 5, 6, 2)
    imported = pl.import_onnx(path)
    wanted = run_model(path, {"x": x})["y"]
    np.testing.assert_allclose(output_of(imported, np.ascontiguousarray(x.transpose(0, 3, 1, 2))), wanted, **TOLERANCE)
    assert "feed channels first (2x5x6)" in imported.report


def test_a_classifier_of_scikit_learn(tmp_path):
    """What skl2onnx makes of a scaler and a logistic regression; the names of classes stay behind."""
    rows = numbers(5, 4)
    nodes = [
        helper.make_node(
            "Scaler", ["x"], ["s"], "scaler", domain="ai.onnx.ml", offset=[1.0, 2.0, 3.0, 4.0], scale=[0.5] * 4
        ),
        helper.make_node(
            "LinearClassifier", ["s"], ["label", "scores"], "model", domain="ai.onnx.ml", post_transform="SOFTMAX",
            coefficients=numbers(12).tolist(), intercepts=[0.1, 0.2, 0.3], classlabels_ints=[0, 1, 2], multi_class=1,
        ),
        helper.make_node("LabelEncoder", ["label"], ["name"], domain="ai.onnx.ml", keys_int64s=[0, 1, 2],
                         values_int64s=[7, 8, 9]),
        helper.make_node("Normalizer", ["scores"], ["probabilities"], "norm", domain="ai.onnx.ml", norm="L1"),
    ]  # fmt: skip
    outputs = [("name", ["N"], True), ("probabilities", ["N", 3])]
    path = model_file(tmp_path / "m.onnx", nodes, [("x", ["N", 4])], outputs)
    imported = agrees(path, rows)
    assert [node.definition.name for node in imported.network.nodes] == ["data", "scale", "fc", "softmax"]
    assert "output name: left out; `predict` reports the class" in imported.report
    assert 'param { of: "gain" frozen: true }' in imported.text


@pytest.mark.parametrize("low", [-1e4, -1e9, np.finfo(np.float32).min])
def test_a_mask_of_padding_is_left_out(tmp_path, low):
    """As BERT has it: 1 for words, 0 for padding; attention, and the mean of the rows that are real."""
    weights = {
        "w": numbers(7, 4),
        "one": np.float32(1),
        "low": np.float32(low),
        "axes": np.array([1]),
        "last": np.array([2]),
    }
    nodes = [
        helper.make_node(*one[:1], *one[1:3], f"n{place}", **(one[3] if len(one) > 3 else {}))
        for place, one in enumerate(
            [
                ("Gather", ["w", "ids"], ["x"]),
                ("Cast", ["mask"], ["m"], {"to": 1}),
                ("Sub", ["one", "m"], ["hidden"]),
                ("Mul", ["hidden", "low"], ["added"]),
                ("Unsqueeze", ["added", "axes"], ["wide"]),
                ("Transpose", ["x"], ["k"], {"perm": [0, 2, 1]}),
                ("MatMul", ["x", "k"], ["products"]),
                ("Add", ["products", "wide"], ["scores"]),
                ("Softmax", ["scores"], ["p"], {"axis": -1}),
                ("MatMul", ["p", "x"], ["rows"]),
                ("Unsqueeze", ["m", "last"], ["real"]),
                ("Mul", ["rows", "real"], ["kept"]),
                ("ReduceSum", ["kept", "axes"], ["sum"], {"keepdims": 0}),
                ("ReduceSum", ["real", "axes"], ["count"], {"keepdims": 0}),
                ("Div", ["sum", "count"], ["y"]),
            ]
        )
    ]
    ports = [("ids", ["N", "T"], True), ("mask", ["N", "T"], True)]
    path = model_file(tmp_path / "m.onnx", nodes, ports, [("y", ["N", 4])], weights)
    imported = pl.import_onnx(path)
    assert "input mask: left out" in imported.report
    padded, mask = np.array([[1, 2, 0], [3, 4, 5]]), np.array([[1, 1, 0], [1, 1, 1]])
    wanted = run_model(path, {"ids": padded, "mask": mask})["y"]
    with imported.net() as net:
        feeds = {"ids": pl.Sequences(np.array([1, 2, 3, 4, 5]), np.array([0, 2, 5]))}
        result = as_python(lambda: net.forward(feeds, phase="test"))
    np.testing.assert_allclose(result["y"], wanted, **TOLERANCE)


def test_training_goes_on(tmp_path):
    """Every parameter learns, averages move on, the loss falls."""
    imported = pl.import_onnx(STORED / "resnet-dynamo.onnx")
    values = imported.outputs["linear"]
    text = imported.text + 'layer { name: "label" type: "data" data { data_type: INT size: 5 } }\n'
    text += f'layer {{ name: "cost" type: "softmax_with_loss" input: "{values}" input: "label" }}\n'
    imported.write(tmp_path)
    feeds = {"x": numbers(6, 3, 20, 18), "label": np.arange(6) % 5}
    with pl.Net(pl.loads(text)) as net:
        net.load(str(tmp_path / "weights.safetensors"))
        costs = as_python(lambda: steps(net, feeds))
        moved = {
            name for name, one in net.arena.by_name.items() if not np.array_equal(one.value, imported.weights[name])
        }
    assert costs[-1] < 0.95 * costs[0]
    assert moved == set(imported.weights)
    assert any("running_mean" in name for name in moved) or "batch_norm" not in imported.text


def steps(net, feeds):
    costs = []
    for _ in range(5):
        costs.append(float(np.mean(net.forward(feeds, phase="train")["cost"])))
        net.backward()
        for one in net.parameters.values():
            one.value = one.value - 0.3 * one.gradient
    return costs


# ---- what is refused


def test_everything_is_refused_at_once(tmp_path):
    nodes = [
        helper.make_node("Det", ["x"], ["a"], "first"),
        helper.make_node("Relu", ["a"], ["b"], "between"),
        helper.make_node("Mine", ["b"], ["c"], "second", domain="com.example"),
        helper.make_node("MaxPool", ["x"], ["d"], "third", kernel_shape=[3, 3], dilations=[2, 1]),
        helper.make_node("Add", ["c", "d"], ["y"], "last"),
    ]
    path = model_file(tmp_path / "m.onnx", nodes, [("x", ["N", 2, 5, 5])], [("y", None)], {"w": numbers(3, 2, 3, 3)})
    with pytest.raises(ImportFailure) as caught:
        pl.import_onnx(path)
    assert str(caught.value).split("\n") == [
        f"cannot import {path}: 3 errors:",
        "  first (Det): unsupported operator",
        "  second (Mine): unsupported operator of the domain `com.example`",
        "  third (MaxPool): `dilations` is not supported",
    ]
    done = CliRunner().invoke(commands, ["import", str(path), "-o", str(tmp_path / "out")], catch_exceptions=False)
    assert (done.exit_code, "3 errors:" in done.stderr) == (1, True)
    assert not (tmp_path / "out").exists()


def relu(path, **more):
    node = helper.make_node("Add", ["x", "w"], ["y"])
    return model_file(path, [node], [("x", ["N", 4])], [("y", None)], {"w": numbers(4)}, **more)


def changed(path, change):
    model = onnx.load(path, load_external_data=False)
    change(model)
    path.write_bytes(model.SerializeToString())


def external(location, **facts):
    def change(model):
        tensor = model.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in {"location": location, **facts}.items():
            tensor.external_data.add(key=key, value=str(value))

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: model.graph.initializer[0].dims.append(1 << 40), "has 16 bytes, but its shape"),
        (lambda model: model.graph.initializer[0].dims.__setitem__(0, -4), "has invalid shape"),
        (lambda model: model.graph.initializer[0].dims.extend([1] * 40), "has invalid shape"),
        (lambda model: model.graph.node[0].input.__setitem__(1, "gone"), "unknown input `gone`"),
        (lambda model: model.graph.node.append(model.graph.node[0]), "duplicate output `y`"),
        (lambda model: model.graph.initializer.append(model.graph.initializer[0]), "duplicate initializer `w`"),
        (lambda model: model.opset_import[0].__setattr__("version", 3), "opset 3"),
        (lambda model: model.ClearField("graph"), "not an ONNX model"),
        (lambda model: model.graph.input[0].type.tensor_type.shape.dim[1].__setattr__("dim_value", -2), "has an axis"),
        (external("/etc/passwd"), "external data at `/etc/passwd`"),
        (external("../w.bin"), "external data at `../w.bin`"),
        (external("..\\w.bin"), "expected a file name relative to the model"),
        (external("gone.bin"), "No such file"),
        (external("link.bin"), "outside of the model's folder"),
        (external("folder"), "not a regular file"),
        (external("w.bin", offset=8), "needs 16 bytes at offset 8 of a file of 16 bytes"),
        (external("w.bin", offset="x"), "invalid offset or length of external data"),
        (external("w.bin", length=1 << 50), "needs 16 bytes"),
        (lambda model: model.graph.node[0].attribute.append(helper.make_attribute("alpha", 1)), "unknown attribute"),
        (lambda model: model.functions.add(name="mine"), "local functions are not supported (mine)"),
    ],
)  # fmt: skip
def test_damaged_files_are_refused_in_one_line(change, message, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "outside.bin").write_bytes(bytes(16))
    (folder / "link.bin").symlink_to(tmp_path / "outside.bin")
    (folder / "w.bin").write_bytes(bytes(16))
    (folder / "folder").mkdir()
    path = relu(folder / "m.onnx")
    changed(path, change)
    with pytest.raises(ImportFailure) as caught:
        pl.import_onnx(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_weights_beside_the_model(tmp_path):
    path = relu(tmp_path / "m.onnx")
    (tmp_path / "w.bin").write_bytes(bytes(4) + numbers(4, seed=7).tobytes())
    changed(path, external("w.bin", offset=4, length=16))
    np.testing.assert_array_equal(pl.import_onnx(path).weights["y.offset"], numbers(4, seed=7))


@pytest.mark.parametrize("data", [b"", b"\xff" * 40, b"not a model at all"])
def test_other_files(data, tmp_path):
    (tmp_path / "m.onnx").write_bytes(data)
    with pytest.raises(ImportFailure, match="not an ONNX model"):
        pl.import_onnx(tmp_path / "m.onnx")


@pytest.mark.parametrize("kind", [TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE])
def test_weights_of_other_precision(kind, tmp_path):
    path = relu(tmp_path / "m.onnx")
    wanted = np.array([1.0, -2.0, 0.5, 4.0], np.float32)
    changed(path, lambda model: model.graph.initializer[0].CopyFrom(helper.make_tensor("w", kind, [4], wanted)))
    np.testing.assert_array_equal(pl.import_onnx(path).weights["y.offset"], wanted)


def test_a_huge_constant_is_refused_before_it_is_made(tmp_path):
    nodes = [
        helper.make_node("ConstantOfShape", ["s"], ["big"], "grow"),
        helper.make_node("Add", ["x", "big"], ["y"], "last"),
    ]
    path = model_file(tmp_path / "m.onnx", nodes, [("x", ["N", 4])], [("y", None)], {"s": np.array([1 << 20, 1 << 20])})
    with pytest.raises(ImportFailure, match=r"grow .ConstantOfShape.: a constant of 1099511627776 values"):
        pl.import_onnx(path)


# ---- the command


def invoke(*arguments):
    return CliRunner().invoke(commands, [*map(str, arguments)], catch_exceptions=False)


def test_the_command(tmp_path):
    path, out = relu(tmp_path / "m.onnx"), tmp_path / "out"
    done = invoke("import", path, "-o", out)
    assert done.exit_code == 0
    assert done.stdout.startswith("converted 1 node to 1 layer with 4 parameters")
    assert sorted(file.name for file in out.iterdir()) == ["network.textproto", "report.txt", "weights.safetensors"]
    assert invoke("validate", out / "network.textproto").exit_code == 0
    again = invoke("import", path, "-o", out)
    assert (again.exit_code, "already exists" in again.stderr) == (1, True)
    assert invoke("import", path, "-o", out, "--overwrite").exit_code == 0
    back = invoke(
        "export", out / "network.textproto", "--weights", out / "weights.safetensors", "-o", tmp_path / "b.onnx"
    )
    assert back.exit_code == 0
    x = numbers(3, 4)
    np.testing.assert_array_equal(run_model(tmp_path / "b.onnx", {"x": x})["y"], run_model(path, {"x": x})["y"])
    assert invoke("import", tmp_path / "gone.onnx", "-o", out).exit_code == 1


SHAPES = {
    "x=3x4x5": "",
    "": "input x: axes of dynamic size: 3 x H x W; give them a size, for example with "
        "`--shape x=3x224x224`",
    "x=3x4": "`--shape x=3x4` does not fit 3 x 4 x W in the model",
    "x=2x4x5": "`--shape x=2x4x5` does not fit 3 x 4 x 5 in the model",
    "q=3x4x5": "`--shape q=3x4x5`: the inputs of the model are x, z",
    "z=3x4x6 x=3x4x5": "`--shape x=3x4x5` does not fit 3 x 4 x 6 in the model",
    "x=ids<9": "an ONNX input takes sizes only",
}  # fmt: skip


@pytest.mark.parametrize("given", SHAPES)
def test_sizes_of_axes_that_the_model_leaves_open(given, tmp_path):
    nodes = [helper.make_node("Add", ["x", "z"], ["s"]), helper.make_node("Flatten", ["s"], ["y"])]
    shape = ["N", 3, "H", "W"]
    path = model_file(tmp_path / "m.onnx", nodes, [("x", shape), ("z", shape)], [("y", None)], {})
    options = [part for one in given.split() for part in ("--shape", one)]
    done = invoke("import", path, "-o", tmp_path / "out", *options)
    assert SHAPES[given] in done.stderr
    assert (done.exit_code == 0) == (SHAPES[given] == "")
    if done.exit_code == 0:  # one size for all axes of a name
        assert "input z: 3 x 4 x 5 by --shape, 3 x H x W in the model" in done.stdout
        x, z = numbers(2, 3, 4, 5), numbers(2, 3, 4, 5)
        with pl.import_onnx(path, shapes={"x": (3, 4, 5)}).net() as net:
            found = as_python(lambda: net.forward({"x": x, "z": z}, phase="test"))["y"]
        np.testing.assert_array_equal(found, (x + z).reshape(2, 60))


def recurrent(path):
    """A step of an LSTM, whose states have the batch as their second axis, and one of two branches by a scalar."""
    weights = {"w": numbers(1, 12, 4), "r": numbers(1, 12, 3), "first": np.int64(0), "second": np.int64(1),
               "axis": np.int64([0]), "usual": np.int64(16000)}  # fmt: skip
    branches = [branch(name, [helper.make_node(name, ["x"], ["o"])]) for name in ("Relu", "Neg")]
    nodes = [
        helper.make_node("Equal", ["rate", "usual"], ["is_usual"]),
        choice("is_usual", *branches, "u"),
        helper.make_node("Unsqueeze", ["u", "axis"], ["t"]),
        *(node for name in ("first", "second") for node in (
            helper.make_node("Gather", ["state", name], [f"{name}_flat"], axis=0),
            helper.make_node("Unsqueeze", [f"{name}_flat", "axis"], [f"{name}_state"]),
        )),
        helper.make_node("LSTM", ["t", "w", "r", "", "", "first_state", "second_state"], ["", "h", "c"], hidden_size=3),
        helper.make_node("Squeeze", ["h", "axis"], ["y"]),
        helper.make_node("Concat", ["h", "c"], ["new_state"], axis=0),
    ]  # fmt: skip
    inputs = [("x", ["N", 4]), ("state", [2, None, 3]), ("rate", [], True)]
    return model_file(path, nodes, inputs, [("y", None), ("new_state", None)], weights)


@pytest.mark.parametrize("rate", [16000, 8000])
def test_states_whose_batch_is_the_second_axis_and_scalar_inputs(rate, tmp_path):
    path = recurrent(tmp_path / "m.onnx")
    imported = pl.import_onnx(path, constants={"rate": rate})
    assert ("relu" in imported.text) == (rate == 16000)
    assert "feed the batch first; it is axis 1 in the model" in imported.report
    for rows in (1, 3):
        x, state = numbers(rows, 4), numbers(2, rows, 3)
        expected = run_model(path, {"x": x, "state": state, "rate": np.array(rate)})
        feeds = {"x": x, "state": np.moveaxis(state, 1, 0)}
        with imported.net() as net:
            as_python(lambda net=net, feeds=feeds: net.forward(feeds, phase="test"))
            found = {name: net.value(value) for name, value in imported.outputs.items()}
            pl.export_onnx(net, tmp_path / "again.onnx", values=[*imported.outputs.values()])
        again = run_model(tmp_path / "again.onnx", feeds)
        np.testing.assert_allclose(again[imported.outputs["y"]], expected["y"], **TOLERANCE)
        np.testing.assert_allclose(found["y"], expected["y"], **TOLERANCE)
        states = np.moveaxis(found["new_state"].reshape(rows, 2, 3), 0, 1)
        np.testing.assert_allclose(states, expected["new_state"], **TOLERANCE)


CONSTANTS = {
    "rate=16000": "",
    "": "a scalar, without a batch axis; give it a value, such as `--constant rate=1`",
    "rate=0.5": "`--constant rate=0.5` does not fit the input, int64 of shape []",
    "x=1": "`--constant x=1` does not fit the input, float32 of shape ['N', 4]",
    "q=1": "`--constant q=1`: the inputs of the model are x, state, rate",
    "rate=8000 rate=16000": "--constant is given twice for rate; remove one of them",
    "rate=high": "--constant rate=high: expected NAME=VALUE with a number, such as rate=16000",
}


@pytest.mark.parametrize("given", CONSTANTS)
def test_values_of_scalar_inputs(given, tmp_path):
    path = recurrent(tmp_path / "m.onnx")
    options = [word for value in given.split() for word in ("--constant", value)]
    done = invoke("import", path, "-o", tmp_path / "out", *options)
    assert CONSTANTS[given] in done.stderr
    assert (done.exit_code == 0) == (CONSTANTS[given] == "")
    assert "input rate: 16000 by --constant" in done.stdout or done.exit_code


def test_a_size_of_minus_one_is_dynamic(tmp_path):
    """Paddle2ONNX writes it."""
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    path = model_file(tmp_path / "m.onnx", nodes, [("x", [-1, 3, -1, 2])], [("y", None)], {})
    with pytest.raises(ImportFailure, match=r"dynamic size: 3 x \? x 2"):
        pl.import_onnx(path)
    assert "shape: [3, 4, 2]" in pl.import_onnx(path, shapes={"x": (3, 4, 2)}).text


FUSED = {"": (), "Relu": (), "Tanh": (), "LeakyRelu": (0.2,), "HardSigmoid": (0.3, 0.4), "Clip": (-0.5, 0.5)}


@pytest.mark.parametrize("activation", FUSED)
@pytest.mark.parametrize("added", [False, True])
def test_fused_convolutions_of_short_integers(activation, added, tmp_path):
    """As onnxruntime writes them into optimized models; constants beside the results are left out."""
    weights = {"w": numbers(3, 2, 2, 2), "b": numbers(3), "count": np.int64([4]), "s": np.float32(0.01)}
    inputs = ["f", "w", "b", *(["other"] if added else [])]
    settings = {"activation": activation} if activation else {}
    settings |= {"activation_params": FUSED[activation]} if FUSED[activation] else {}
    fused = helper.make_node(
        "FusedConv", inputs, ["y"], "fused", domain="com.microsoft", kernel_shape=[2, 2], **settings
    )
    nodes = [
        helper.make_node("Cast", ["x"], ["c"], to=1), helper.make_node("Mul", ["c", "s"], ["f"]),
        helper.make_node("Conv", ["f", "w"], ["other"]), fused, helper.make_node("Identity", ["count"], ["n"]),
    ]  # fmt: skip
    path = model_file(tmp_path / "m.onnx", nodes, [("x", ["N", 2, 4, 4])], [("y", None), ("n", None)], weights)
    model = onnx.load(path)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.INT16
    model.graph.output[1].type.tensor_type.elem_type = TensorProto.INT64
    onnx.save(model, path)
    x, imported = np.random.default_rng(0).integers(-99, 99, (2, 2, 4, 4), np.int16), pl.import_onnx(path)
    assert "output n: left out; it is the constant 4" in imported.report
    np.testing.assert_allclose(output_of(imported, x), run_model(path, {"x": x})["y"], **TOLERANCE)


@pytest.mark.parametrize("name", ["x.1", "onnx::Flatten_0", "1"])
def test_names_that_configs_reject(name, tmp_path):
    """PyTorch writes them where nobody names the inputs."""
    path = model_file(
        tmp_path / "m.onnx", [helper.make_node("Neg", [name], ["y"])], [(name, ["N", 3])], [("y", None)], {}
    )
    assert "verified with random inputs" in pl.import_onnx(path).report


def branch(name, nodes, weights=()):
    output = helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)
    return helper.make_graph(nodes, name, [], [output], list(weights))


def choice(condition, then, other, output):
    """An If; its branches are named after the output."""
    return helper.make_node("If", [condition], [output], output, then_branch=then, else_branch=other)


def conditional(path, shape, condition):
    """`relu(x @ w) + x @ w` if the condition holds and another one does, both in branches; Det otherwise."""
    w = numbers(4, 3)
    inner = choice("four", branch("a", [helper.make_node("Relu", ["t"], ["r"])]),
                   branch("b", [helper.make_node("Det", ["t"], ["r"])]), "u")  # fmt: skip
    then = [helper.make_node("MatMul", ["x", "w"], ["t"], "mm"), inner, helper.make_node("Add", ["u", "t"], ["o"])]
    outer = choice("condition", branch("c", then, [numpy_helper.from_array(w, "w")]),
                   branch("d", [helper.make_node("Det", ["x"], ["o"], "other")]), "y")  # fmt: skip
    sizes = [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Gather", ["s", "one"], ["size"])]
    nodes = [*sizes, helper.make_node("Equal", ["size", "k"], ["four"]), condition, outer]
    return model_file(path, nodes, [("x", shape)], [("y", None)], {"one": np.int64(1), "k": np.int64(4)})


@pytest.mark.parametrize("rows", [(10, 8), (8, 10), (8, 10, 6)])
def test_ids_of_several_tables(tmp_path, rows):
    """The smallest table bounds the ids."""
    nodes = [helper.make_node("Gather", [f"w{place}", "ids"], [f"x{place}"]) for place in range(len(rows))]
    nodes.append(helper.make_node("Sum", [f"x{place}" for place in range(len(rows))], ["y"]))
    weights = {f"w{place}": numbers(count, 4) for place, count in enumerate(rows)}
    path, ids = model_file(tmp_path / "m.onnx", nodes, [("ids", ["N"], True)], [("y", None)], weights), np.array([0, 5])
    imported = check(path, ids, run_model(path, {"ids": ids})["y"])
    assert {len(table) for table in imported.weights.values()} == {min(rows)}


def test_branches_by_sizes(tmp_path):
    condition = helper.make_node("Identity", ["four"], ["condition"])
    path, x = conditional(tmp_path / "m.onnx", ["N", 4], condition), numbers(2, 4)
    imported = pl.import_onnx(path)
    np.testing.assert_allclose(output_of(imported, x), run_model(path, {"x": x})["y"], **TOLERANCE)
    assert "mm  fc     mm (MatMul)" in imported.report
    assert "unused nodes, on which no output depends:\n  other (Det)" in imported.report
    assert pl.import_onnx(conditional(path, ["N", "K"], condition), shapes={"x": (4,)}).text == imported.text
    with pytest.raises(ImportFailure, match=r"1 error:\n  other \(Det\): unsupported operator$"):
        pl.import_onnx(conditional(path, ["N", 5], condition))


def test_a_condition_on_values(tmp_path):
    condition = helper.make_node("Greater", ["x", "x"], ["condition"])
    with pytest.raises(ImportFailure, match=r"1 error:\n  y \(If\): the condition must follow from constants"):
        pl.import_onnx(conditional(tmp_path / "m.onnx", ["N", 4], condition))


def test_names_of_branches_hide_those_of_the_graph(tmp_path):
    """Only inside of the branch."""
    nodes = [
        helper.make_node("Relu", ["x"], ["t"]),
        choice(
            "yes",
            branch("a", [helper.make_node("Neg", ["x"], ["h"])]),
            branch("b", [helper.make_node("Neg", ["x"], ["h"])]),
            "u",
        ),
        helper.make_node("Tanh", ["x"], ["h"]),
        helper.make_node("Sum", ["t", "u", "h"], ["y"]),
    ]
    path = model_file(tmp_path / "m.onnx", nodes, [("x", ["N", 4])], [("y", None)], {"yes": np.bool_(True)})
    x = numbers(2, 4)
    np.testing.assert_allclose(output_of(pl.import_onnx(path), x), np.maximum(x, 0) - x + np.tanh(x), **TOLERANCE)


def test_constant_indices_and_constants_of_a_fixed_batch(tmp_path):
    """Those that are the same for every sample; the network takes batches of any size."""
    index = np.stack(np.broadcast_arrays(np.arange(2)[:, None], np.array([2, 0, -1])), -1)
    nodes = [helper.make_node("GatherND", ["x", "index"], ["g"]), helper.make_node("Add", ["g", "c"], ["y"])]
    weights = {"index": index, "c": np.tile(numbers(1, 3), (2, 1))}
    path, x = tmp_path / "m.onnx", numbers(2, 4)
    imported = pl.import_onnx(model_file(path, nodes, [("x", [2, 4])], [("y", None)], weights))
    np.testing.assert_allclose(output_of(imported, x), run_model(path, {"x": x})["y"], **TOLERANCE)
    assert output_of(imported, numbers(5, 4)).shape == (5, 3)
    for name, changed_ in (("index", index[::-1]), ("index", index * [[[1, 1]], [[1, 0]]]), ("c", numbers(2, 3))):
        with pytest.raises(ImportFailure, match=r"each sample|per sample"):
            pl.import_onnx(model_file(path, nodes, [("x", [2, 4])], [("y", None)], {**weights, name: changed_}))
