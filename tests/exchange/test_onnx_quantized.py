"""Models that onnxruntime quantized, statically and dynamically, come in as floats."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_dynamic,
    quantize_static,
)

import paddle_layers as pl
from paddle_layers.exchange.onnx_in.model import ImportFailure
from paddle_layers.exchange.onnx_in.quantization import OF_INTEGERS
from paddle_layers.testing.cases.trial import as_python

pytestmark = pytest.mark.filterwarnings("ignore")
STEP = 1 / 255
"""A step of 8 bits, as a share of the range of values."""
node = helper.make_node
IMAGE, TOKENS, STEPS = ["N", 3, 8, 8], ["N", 4], ["T", "N", 5]
MODELS = {
    "image": (
        [node("Conv", ["x", "first.weight", "first.bias"], ["a"], pads=[1, 1, 1, 1]), node("Relu", ["a"], ["b"]),
         node("MaxPool", ["b"], ["c"], kernel_shape=[2, 2], strides=[2, 2]),
         node("Conv", ["c", "second.weight", "second.bias"], ["d"], pads=[1, 1, 1, 1]),
         node("Add", ["d", "c"], ["e"]), node("LeakyRelu", ["e"], ["f"], alpha=0.1), node("Sigmoid", ["f"], ["g"]),
         node("Mul", ["f", "g"], ["h"]), node("Concat", ["f", "h"], ["i"], axis=1),
         node("AveragePool", ["i"], ["j"], kernel_shape=[2, 2], strides=[2, 2]),
         node("GlobalAveragePool", ["j"], ["k"]), node("Flatten", ["k"], ["l"]),
         node("Gemm", ["l", "last.weight", "last.bias"], ["m"], transB=1), node("Softmax", ["m"], ["y"])],
        IMAGE, {"first.weight": (6, 3, 3, 3), "first.bias": (6,), "second.weight": (6, 6, 3, 3), "second.bias": (6,),
                "last.weight": (5, 12), "last.bias": (5,)},
    ),
    "text": (
        [node("Gather", ["words.weight", "x"], ["e"]), node("MatMul", ["e", "first.weight"], ["a"]),
         node("Add", ["a", "first.bias"], ["b"]), node("Tanh", ["b"], ["c"]),
         node("MatMul", ["c", "last.weight"], ["y"])],
        TOKENS, {"words.weight": (20, 8), "first.weight": (8, 12), "first.bias": (12,), "last.weight": (12, 3)},
    ),
    "lstm": (
        [node("LSTM", ["x", "cell.W", "cell.R", "cell.B"], ["s", "", ""], hidden_size=6, direction="bidirectional"),
         node("Transpose", ["s"], ["t"], perm=[0, 2, 1, 3]), node("Reshape", ["t", "shape"], ["y"])],
        STEPS, {"cell.W": (2, 24, 5), "cell.R": (2, 24, 6), "cell.B": (2, 48)},
    ),
}  # fmt: skip
"""Nodes, shape of the input `x`, shapes of weights."""


def floats(path, name):
    nodes, shape, weights = MODELS[name]
    random = np.random.default_rng(3)
    kind = TensorProto.INT64 if shape == TOKENS else TensorProto.FLOAT
    arrays = {one: random.standard_normal(dims) / np.sqrt(np.prod(dims[1:] or dims)) for one, dims in weights.items()}
    tensors = [numpy_helper.from_array(array.astype(np.float32), one) for one, array in arrays.items()]
    tensors.append(numpy_helper.from_array(np.array([0, 0, -1]), "shape"))
    ports = [
        helper.make_tensor_value_info("x", kind, shape),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, None),
    ]
    graph = helper.make_graph(nodes, name, ports[:1], ports[1:], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def feed(name, scale=1.0, seed=4):
    random = np.random.default_rng(seed)
    shape = [4 if size in ("N", "T") else size for size in MODELS[name][1]]
    return random.integers(0, 20, shape) if name == "text" else np.float32(scale * random.standard_normal(shape))


def run(path, x):
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


class Calibration(CalibrationDataReader):
    """A few batches."""

    def __init__(self, name):
        self.feeds = iter([{"x": feed(name, seed=seed)} for seed in range(8)])

    def get_next(self):
        return next(self.feeds, None)


def found(imported, x, wanted):
    """The values of the network; those of sequences in the order of the model."""
    data = next(one for one in imported.network.nodes if one.definition.name == "data")
    steps = bool(data.output_types[0].level) and x.ndim == 3
    with imported.net() as net:
        given = list(x.swapaxes(0, 1) if steps else x) if data.output_types[0].level else x
        value = as_python(lambda: net.forward({"x": given}, phase="test"))[next(iter(imported.outputs.values()))]
    value = value.data if isinstance(value, pl.Sequences) else value
    return value.reshape(len(x[0]), len(x), -1).swapaxes(0, 1) if steps else value.reshape(wanted.shape)


def dequantized(path, model):
    """The float model with the numbers of the quantized one."""
    quantized = {one.name: numpy_helper.to_array(one) for one in onnx.load(path).graph.initializer}
    model = onnx.load(model)
    for one in model.graph.initializer:
        name = next((name for name in (one.name, f"{one.name}_Transposed") if f"{name}_quantized" in quantized), None)
        if name is not None:
            array, scale, zero = (quantized[f"{name}_{part}"] for part in ("quantized", "scale", "zero_point"))
            lstm = one.name.startswith("cell")  # one matrix for each direction, transposed
            scale, zero = (number.reshape(2, 1, -1) if lstm else number for number in (scale, zero))
            array = (array.astype(np.float32) - zero) * scale
            array = array.transpose(0, 2, 1) if lstm else array if name == one.name else array.T
            one.CopyFrom(numpy_helper.from_array(array, one.name))
    return model.SerializeToString()


def unrounded(path):
    """A QDQ model with Clip for QuantizeLinear, and with floats for its integers."""
    model = onnx.load(path)
    arrays = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    for one in model.graph.node:
        if one.op_type in ("DequantizeLinear", "QuantizeLinear"):
            scale, zero = (arrays[name] for name in one.input[1:3])
            axis = next((attribute.i for attribute in one.attribute if attribute.name == "axis"), 1)
            del one.input[1:], one.attribute[:]
            if one.op_type == "QuantizeLinear":
                limits = np.iinfo(zero.dtype)
                for end in ("min", "max"):
                    number = np.float32((getattr(limits, end) - float(zero)) * scale)
                    one.input.append(f"{one.output[0]}.{end}")
                    model.graph.initializer.append(numpy_helper.from_array(number, one.input[-1]))
            elif one.input[0] in arrays:
                array = arrays[one.input[0]]
                dims = [-1 if place == axis else 1 for place in range(array.ndim)] if scale.ndim else []
                floats_ = (array.astype(np.float32) - zero.reshape(dims)) * scale.reshape(dims)
                one.input[0] = f"{one.input[0]}.floats"
                model.graph.initializer.append(numpy_helper.from_array(floats_.astype(np.float32), one.input[0]))
            one.op_type = "Clip" if one.op_type == "QuantizeLinear" else "Identity"
    return model.SerializeToString()


@pytest.mark.parametrize("each", [False, True], ids=["tensor", "channel"])
@pytest.mark.parametrize("name", MODELS)
def test_dynamic(name, each, tmp_path):
    """The network has exactly the dequantized weights; onnxruntime's rounding is within some steps of it."""
    model, path = floats(tmp_path / "m.onnx", name), tmp_path / "q.onnx"
    quantize_dynamic(model, path, per_channel=each, weight_type=QuantType.QInt8 if each else QuantType.QUInt8)
    imported, x = pl.import_onnx(path), feed(name)
    session = onnxruntime.InferenceSession(dequantized(path, model), providers=["CPUExecutionProvider"])
    exact = session.run(None, {"x": x})[0]
    value = found(imported, x, exact)
    np.testing.assert_allclose(value, exact, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(value, run(path, x), atol=8 * STEP * np.abs(exact).max())
    count = {"image": 3, "text": 3, "lstm": 2}[name]
    assert f"imported as float: {count} quantized weights" in imported.report


@pytest.mark.parametrize("scale", [1.0, 4.0], ids=["", "beyond the calibrated range"])
@pytest.mark.parametrize("each", [False, True], ids=["tensor", "channel"])
@pytest.mark.parametrize("form", [QuantFormat.QDQ, QuantFormat.QOperator])
@pytest.mark.parametrize("name", ["image", "text"])
def test_static(name, form, each, scale, tmp_path):
    """Saturation stays, by which a ReLU is expressed; rounding does not."""
    model, path = floats(tmp_path / "m.onnx", name), tmp_path / "q.onnx"
    kind = QuantType.QInt8 if each else QuantType.QUInt8
    quantize_static(
        model, path, Calibration(name), quant_format=form, per_channel=each, activation_type=kind, weight_type=kind
    )
    imported, x = pl.import_onnx(path), feed(name, scale)
    wanted = run(path, x)
    if form == QuantFormat.QDQ:
        exact = onnxruntime.InferenceSession(unrounded(path), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
        np.testing.assert_allclose(found(imported, x, exact), exact, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found(imported, x, wanted), wanted, atol=8 * STEP * np.abs(wanted).max())
    operators = {one.op_type for one in onnx.load(path).graph.node}
    assert "Relu" not in operators or each
    assert all(array.dtype == np.float32 for array in imported.weights.values())
    assert "imported as float: " in imported.report


def test_every_quantized_operator_is_there(tmp_path):
    """The models of the other tests contain all that the import knows."""
    image, lstm, path, found_ = floats(tmp_path / "m.onnx", "image"), tmp_path / "l.onnx", tmp_path / "q.onnx", set()
    floats(lstm, "lstm")
    for quantize in (
        lambda: quantize_static(image, path, Calibration("image"), quant_format=QuantFormat.QOperator),
        lambda: quantize_dynamic(image, path),
        lambda: quantize_dynamic(floats(image, "text"), path),
        lambda: quantize_dynamic(lstm, path),
    ):
        quantize()
        found_ |= {(one.domain, one.op_type) for one in onnx.load(path).graph.node}
    quantize_static(image, path, Calibration("text"), quant_format=QuantFormat.QOperator)
    found_ |= {(one.domain, one.op_type) for one in onnx.load(path).graph.node}
    assert not OF_INTEGERS - found_


def test_integers_are_read_by_quantized_operators_only(tmp_path):
    nodes = [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), node("Cast", ["q"], ["f"], to=1),
             node("Mul", ["f", "s"], ["y"])]  # fmt: skip
    ports = [helper.make_tensor_value_info(one, TensorProto.FLOAT, ["N", 3]) for one in ("x", "y")]
    graph = helper.make_graph(nodes, "net", ports[:1], ports[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    with pytest.raises(ImportFailure, match=r"f \(Cast\): reading quantized integers is not supported$"):
        pl.import_onnx(tmp_path / "m.onnx")


def test_biases_of_older_quantizers(tmp_path):
    """A bias that is divided by the scale of the product, rounded, and added to integers."""
    random = np.random.default_rng(0)
    filters, bias = random.integers(0, 255, (3, 2, 2, 2), np.uint8), random.standard_normal(3).astype(np.float32)
    constants = {"w": filters, "ws": np.float32(0.02), "wz": np.uint8(120), "b": bias, "k": np.int64([1, -1, 1, 1])}
    nodes = [
        node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), node("Mul", ["s", "ws"], ["bs"]),
        node("Div", ["b", "bs"], ["bd"]), node("Floor", ["bd"], ["bf"]), node("Cast", ["bf"], ["bi"], to=6),
        node("Reshape", ["bi", "k"], ["br"]), node("ConvInteger", ["q", "w", "z", "wz"], ["c"]),
        node("Add", ["c", "br"], ["a"]), node("Cast", ["a"], ["af"], to=1), node("Mul", ["s", "ws"], ["os"]),
        node("Mul", ["af", "os"], ["y"]),
    ]  # fmt: skip
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2, 5, 5]),
             helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]  # fmt: skip
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    graph, path = helper.make_graph(nodes, "net", ports[:1], ports[1:], tensors), tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    x = random.random((2, 2, 5, 5), np.float32)
    wanted, imported = run(path, x), pl.import_onnx(path)
    (own,) = [array for name, array in imported.weights.items() if name.endswith(".bias")]
    np.testing.assert_allclose(own, bias, rtol=1e-6)
    np.testing.assert_allclose(found(imported, x, wanted), wanted, atol=8 * STEP * np.abs(wanted).max())
