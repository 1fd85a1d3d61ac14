"""The references against onnxruntime, for layers that ONNX has too: formulas that were misread fail here."""

import numpy as np
import onnx
import onnxruntime
import pytest

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
