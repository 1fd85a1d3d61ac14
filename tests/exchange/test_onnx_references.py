"""The references against onnxruntime, for layers that ONNX has too, and the verification of imports.

Formulas that were misread fail here, and so do planted errors of the import that it does not find.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import paddle_layers as pl
from paddle_layers.exchange.onnx_in import network, recurrences, verification
from paddle_layers.exchange.onnx_in.model import ImportFailure
from paddle_layers.exchange.onnx_in.operators import OPERATORS
from paddle_layers.exchange.onnx_in.reference import MOST_VALUES
from tests.references import load_references

REFERENCES = load_references()
ROWS = 4


def run_onnx(operator, arrays, outputs, **attributes):
    """Outputs of one ONNX operator for a list of arrays."""
    names = [f"x{i}" for i in range(len(arrays))]
    results = [f"y{i}" for i in range(outputs)]
    kinds = [onnx.helper.np_dtype_to_tensor_dtype(array.dtype) for array in arrays]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(operator, names, results, **attributes)],
        "one",
        [onnx.helper.make_tensor_value_info(*pair, None) for pair in zip(names, kinds, strict=True)],
        [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in results],
    )
    model = onnx.helper.make_model(graph, ir_version=9, opset_imports=[onnx.helper.make_opsetid("", 20)])
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, dict(zip(names, arrays, strict=True)))


def draw(*dims):
    return np.random.default_rng(7).standard_normal((ROWS, *dims)).astype(np.float32) * 2


def check(layer, inputs, params, attributes, operator, arrays, **settings):
    """Compare all outputs of a reference with those of an operator."""
    wanted = REFERENCES[layer](inputs, params, {"training": False, **attributes})["y"]
    wanted = wanted if isinstance(wanted, list) else [wanted]
    found = run_onnx(operator, arrays, len(wanted), **settings)
    for one, other in zip(found, wanted, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(
    ("layer", "attributes", "operator", "settings"),
    [
        ("relu", {"negative_slope": 0.0}, "Relu", {}),
        ("relu", {"negative_slope": 0.1}, "LeakyRelu", {"alpha": 0.1}),
        ("elu", {"alpha": 1.0}, "Elu", {}),
        ("elu", {"alpha": 0.3}, "Elu", {"alpha": 0.3}),
        ("sigmoid", {}, "Sigmoid", {}),
        ("tanh", {}, "Tanh", {}),
        ("gelu", {"approximate": "NONE"}, "Gelu", {"approximate": "none"}),
        ("gelu", {"approximate": "TANH"}, "Gelu", {"approximate": "tanh"}),
        ("linear", {}, "Identity", {}),
        ("softmax", {"axis": 1}, "Softmax", {"axis": 1}),
        ("softmax", {"axis": -1}, "Softmax", {}),
        ("dropout", {"drop_rate": 0.5, "scale_in": "TRAIN"}, "Dropout", {}),
        ("flatten", {}, "Flatten", {"axis": 1}),
        ("hard_sigmoid", {"slope": 0.2, "offset": 0.5}, "HardSigmoid", {}),
        ("hard_sigmoid", {"slope": 0.3, "offset": 0.4}, "HardSigmoid", {"alpha": 0.3, "beta": 0.4}),
        ("hard_swish", {}, "HardSwish", {}),
        ("abs", {}, "Abs", {}),
        ("softsign", {}, "Softsign", {}),
        ("exp", {"base": None, "scale": 1.0, "shift": 0.0}, "Exp", {}),
        ("softplus", {"beta": 1.0}, "Softplus", {}),
        ("selu", {}, "Selu", {}),
        ("log_softmax", {"axis": 1}, "LogSoftmax", {"axis": 1}),
        ("log_softmax", {"axis": -1}, "LogSoftmax", {}),
    ],
)
@pytest.mark.parametrize("dims", [(5,), (3, 2, 5)])
def test_layers_of_one_input(layer, attributes, operator, settings, dims):
    x = draw(*dims)
    check(layer, {"x": x}, {}, attributes, operator, [x], **settings)


@pytest.mark.parametrize("slope", [np.float32([0.1, -0.2, 0.3]), np.float32([0.25])])
def test_prelu(slope):
    x = draw(3, 2, 5)
    check("prelu", {"x": x}, {"slope": slope}, {"axis": 1, "end_axis": 1}, "PRelu", [x, slope.reshape(-1, 1, 1)])


@pytest.mark.parametrize(
    ("layer", "attributes", "operator"),
    [
        ("addto", {}, "Sum"),
        ("eltwise", {"operation": "SUM", "coefficients": None}, "Sum"),
        ("eltwise", {"operation": "MAX"}, "Max"),
        ("eltwise", {"operation": "MIN"}, "Min"),
    ],
)
@pytest.mark.parametrize("count", [1, 3])
def test_arithmetic_of_several_inputs(layer, attributes, operator, count):
    arrays = [draw(3, 2) * scale for scale in (1, -0.3, 0.7)[:count]]
    check(layer, {"x": arrays}, {}, attributes, operator, arrays)


def test_logarithms():
    x = np.exp(draw(3, 2))
    check("log", {"x": x}, {}, {"base": None, "scale": 1.0, "shift": 0.0}, "Log", [x])


def test_limits():
    x, low, high = draw(3, 2), np.array(-1, np.float32), np.array(0.5, np.float32)
    check("relu6", {"x": x}, {}, {"max": 0.5}, "Clip", [x, np.zeros_like(low), high])
    check("clip", {"x": x}, {}, {"min": -1, "max": 0.5}, "Clip", [x, low, high])


@pytest.mark.parametrize(("layer", "operator"), [("mul", "Mul"), ("div", "Div"), ("add", "Add"), ("sub", "Sub")])
@pytest.mark.parametrize("dims", [(3, 2, 5), (3, 1, 1), (1, 2, 5), (1, 1, 1)])
def test_arithmetic_of_two_inputs(layer, operator, dims):
    x, other = draw(3, 2, 5), draw(*dims) + 4
    check(layer, {"x": x, "other": other}, {}, {}, operator, [x, other])


def test_products_and_learned_factors():
    x, channel = draw(3, 2, 5), np.float32([0.5, -2, 1])
    check("eltwise", {"x": [x, x + 1]}, {}, {"operation": "PROD"}, "Mul", [x, x + 1])
    check(
        "scale",
        {"x": x},
        {"gain": channel},
        {"bias": False, "axis": 1, "end_axis": 1},
        "Mul",
        [x, channel.reshape(1, 3, 1, 1)],
    )
    check("shift", {"x": x}, {"offset": channel}, {"axis": 1, "end_axis": 1}, "Add", [x, channel.reshape(1, 3, 1, 1)])


def test_moving_values():
    x = draw(6, 2, 3)
    check("concat", {"x": [x, x[:, :1]]}, {}, {"axis": 1}, "Concat", [x, x[:, :1]], axis=1)
    check("concat", {"x": [x, x[..., :1]]}, {}, {"axis": -1}, "Concat", [x, x[..., :1]], axis=3)
    cuts = np.int64([1, 3, 2])
    check("slice", {"x": x}, {}, {"sizes": (1, 3, 2), "parts": None, "axis": 1}, "Split", [x, cuts], axis=1)
    check("slice", {"x": x}, {}, {"sizes": None, "parts": 3, "axis": -1}, "Split", [x], axis=-1, num_outputs=3)
    check("reshape", {"x": x}, {}, {"dims": (0, -1)}, "Reshape", [x, np.int64([0, 0, -1])])
    check("reshape", {"x": x}, {}, {"dims": (3, 2, -1)}, "Reshape", [x, np.int64([0, 3, 2, -1])])


def test_embedding():
    table, ids = draw(3), np.int64([3, 0, 0, 2, 1])
    check("embedding", {"ids": ids}, {"table": table}, {"padding_id": None}, "Gather", [table, ids])


def test_axes_in_another_order():
    x = draw(4, 2, 3)
    check("permute", {"x": x}, {}, {"order": (2, 3, 1)}, "Transpose", [x], perm=[0, 2, 3, 1])
    check("permute", {"x": x}, {}, {"order": (3, 1, 2)}, "Transpose", [x], perm=[0, 3, 1, 2])


@pytest.mark.parametrize(
    ("operation", "operator"),
    [
        ("SUM", "ReduceSum"),
        ("MEAN", "ReduceMean"),
        ("ASUM", "ReduceL1"),
        ("SUMSQ", "ReduceSumSquare"),
        ("L2", "ReduceL2"),
        ("MAX", "ReduceMax"),
        ("MIN", "ReduceMin"),
        ("PROD", "ReduceProd"),
        ("LOG_SUM_EXP", "ReduceLogSumExp"),
    ],
)
@pytest.mark.parametrize(("axes", "keep_dims"), [((1,), False), ((-1, 1), True), ((2, 3), False)])
def test_reductions(operation, operator, axes, keep_dims):
    x = draw(4, 2, 3)
    attributes = {"operation": operation, "axes": axes, "keep_dims": keep_dims}
    check("reduction", {"x": x}, {}, attributes, operator, [x, np.int64(axes)], keepdims=int(keep_dims))


def test_parts_and_surroundings():
    x = draw(4, 5, 3)
    part = {"axes": (2, 3), "begin": (1, 0), "sizes": (2, 2), "steps": (2, 1)}
    limits = [np.int64(numbers) for numbers in ([1, 0], [4, 2], [2, 3], [2, 1])]
    check("crop", {"x": x, "like": None}, {}, part, "Slice", [x, *limits])
    for mode in ("constant", "edge", "reflect"):
        around = {"axes": (2, 3), "begin": (1, 2), "end": (0, 1), "mode": mode.upper(), "value": 0.5}
        value = [np.array(0.5, np.float32)] if mode == "constant" else []
        check("pad", {"x": x}, {}, around, "Pad", [x, np.int64([0, 0, 1, 2, 0, 0, 0, 1]), *value], mode=mode)


@pytest.mark.parametrize(("axis", "end_axis"), [(1, -1), (-1, -1), (2, 3)])
def test_layer_norm_from_an_axis_on(axis, end_axis):
    x = draw(4, 5, 3)
    dims = x.shape[axis:]
    gain, bias = (np.random.default_rng(at).standard_normal(dims).astype(np.float32) for at in (1, 2))
    params = {"gain": gain.reshape(-1), "bias": bias.reshape(-1)}
    attributes = {"axis": axis, "end_axis": end_axis, "epsilon": 1e-3, "bias": True}
    check("layer_norm", {"x": x}, params, attributes, "LayerNormalization", [x, gain, bias], axis=axis, epsilon=1e-3)


# ---- verification


STORED = Path(__file__).parents[1] / "onnx_models"


def plant_function(monkeypatch):
    """Another function of each element."""
    monkeypatch.setitem(OPERATORS, ("", "Relu"), lambda step, x: step.each("softplus", step.view(x)))


def plant_epsilon(monkeypatch):
    """Another epsilon of a fused normalization."""
    norm = OPERATORS["", "BatchNormalization"]

    def wrong(step, *inputs):
        step.node = replace(step.node, attributes={**step.node.attributes, "epsilon": 1e-4})
        return norm(step, *inputs)

    monkeypatch.setitem(OPERATORS, ("", "BatchNormalization"), wrong)


def plant_gates(monkeypatch):
    """Gates of an LSTM in another order."""
    kind = recurrences.KINDS["LSTM"]
    monkeypatch.setitem(recurrences.KINDS, "LSTM", replace(kind, order=kind.order[::-1]))


def plant_names(monkeypatch):
    """A layer that reads another value."""
    fields = network._fields

    def wrong(layer, *others):
        made = fields(layer, *others)
        return {**made, "input": made["input"][::-1]} if layer.type == "sub" else made

    monkeypatch.setattr(network, "_fields", wrong)


def saved(path, nodes, x=(3,), **constants):
    """A model of a few nodes."""
    ports = [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["N", *x]),
             onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)]  # fmt: skip
    given = [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = onnx.helper.make_graph(nodes, "g", ports[:1], ports[1:], given)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), path)
    return path


SUM = [("Sigmoid", ["x"], ["s"]), ("Sub", ["x", "s"], ["d"]), ("Tanh", ["d"], ["y"])]
NORM = [("BatchNormalization", ["x", "gain", "bias", "mean", "var"], ["y"])]
PLANTED = {
    "function": (plant_function, "resnet", r"replaces \S+ \(Conv\), \S+ \(Relu\)"),
    "epsilon": (plant_epsilon, NORM, r"layer `y` \(batch_norm\) replaces y \(BatchNormalization\)"),
    "gates": (plant_gates, "lstm", r"\(lstmemory\) replaces \S+ \(LSTM\)"),
    "names": (plant_names, SUM, r"layer `y` \(sub\) replaces d \(Sub\), y \(Tanh\)"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_errors_are_found_and_named(name, tmp_path, monkeypatch):
    plant, model, named = PLANTED[name]
    path = STORED / f"{model}.onnx"
    if not isinstance(model, str):
        numbers = np.random.default_rng(0).random((4, 3), np.float32)
        made = [onnx.helper.make_node(*node, name=node[2][0]) for node in model]
        path = saved(tmp_path / "m.onnx", made, **dict(zip(("gain", "bias", "mean", "var"), numbers, strict=True)))
    assert "verified with random inputs" in pl.import_onnx(path).report
    plant(monkeypatch)
    with pytest.raises(ImportFailure, match=rf"computes other values.*\n  first difference: .*(\n.*)*{named}"):
        pl.import_onnx(path)
    assert "verified" not in pl.import_onnx(path, verify=False).report


def test_wrong_blocks_are_found(monkeypatch):
    """As repeated layers once were renamed: only the network with blocks differs."""
    assembled = network.with_blocks

    def wrong(fields, outputs):
        short = assembled(fields, outputs)
        for block in short.blocks:
            for layer in block["layer"]:
                if layer["type"] == "hard_sigmoid":
                    layer["hard_sigmoid"] = {"slope": 0.2}
        return short

    path = STORED / "mobilenet.onnx"
    assert "block {" in pl.import_onnx(path).text
    monkeypatch.setattr(network, "with_blocks", wrong)
    with pytest.raises(ImportFailure, match="layers are combined to blocks incorrectly"):
        pl.import_onnx(path)


def test_large_models_are_not_verified(tmp_path):
    """Nothing is allocated for inputs and values that a few bytes of a file ask for."""
    half = onnx.helper.make_node("Relu", ["x"], ["y"])
    report = pl.import_onnx(saved(tmp_path / "x.onnx", [half], x=(MOST_VALUES,))).report
    assert "not verified: it has more than" in report
    tile = [onnx.helper.make_node("Tile", ["x", "t"], ["w"]), onnx.helper.make_node("ReduceSum", ["w", "a"], ["y"])]
    report = pl.import_onnx(saved(tmp_path / "t.onnx", tile, t=np.int64([1, 1 << 30]), a=np.int64([1]))).report
    assert "not verified: it has more than" in report


def test_differences_are_relative_and_include_nan():
    x = np.array([1.0, np.nan, np.inf, 100.0])
    assert verification.distance(x, x) == 0
    assert verification.distance(np.add(x, [1, 0, 0, 0]), x) == pytest.approx(0.01)
    assert verification.distance(np.nan_to_num(x), x) == np.inf
    assert verification.distance(x[:2], x) == np.inf
