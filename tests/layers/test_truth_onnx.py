"""Layers against onnxruntime, which computes the same operators from sources of its own."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime
import pytest

import paddle_layers as pl

pytestmark = pytest.mark.usefixtures("as_python")

ROWS = 3


class Case(NamedTuple):
    """One layer and the ONNX node that does the same. Inputs of the node: `x`, the others by name, in this order."""

    type: str
    settings: str
    shape: tuple[int, ...]
    op: str
    attributes: Mapping[str, Any] = MappingProxyType({})
    params: tuple[tuple[str, tuple[int, ...]], ...] = ()


def conv(
    settings: str, shape: tuple[int, ...], weight: tuple[int, ...], *, bias: bool = True, **attributes: Any
) -> Case:
    params = (("weight", weight), *([("bias", weight[:1])] if bias else []))
    return Case("conv", settings, shape, "Conv", {"kernel_shape": weight[2:], **attributes}, params)


def pool(settings: str, shape: tuple[int, ...], op: str, **attributes: Any) -> Case:
    return Case("pool", settings, shape, op, attributes)


MAX, MEAN = "pool_type: MAX ", "pool_type: AVERAGE "
CASES = [
    conv("num_filters: 4 filter_size: 3", (3, 7, 6), (4, 3, 3, 3)),
    conv(
        "num_filters: 4 filter_size: 2 filter_size_y: 3 stride: 2 stride_y: 1 padding: 1 padding_y: 2 bias: false",
        (2, 7, 6), (4, 2, 3, 2), bias=False, strides=[1, 2], pads=[2, 1, 2, 1],
    ),
    conv(
        "num_filters: 6 filter_size: 3 dilation: 2 dilation_y: 3 padding: 3 groups: 2",
        (4, 7, 6), (6, 2, 3, 3), dilations=[3, 2], pads=[3, 3, 3, 3], group=2,
    ),
    conv(
        "num_filters: 3 filter_size: 3 stride: 2 padding: 0 padding_end: 1 padding_end_y: 2",
        (2, 6, 7), (3, 2, 3, 3), strides=[2, 2], pads=[0, 0, 2, 1],
    ),
    conv(
        "num_filters: 3 filter_size: 2 padding: 0 padding_y: 1 padding_end: 1 padding_end_y: 0",
        (2, 6, 7), (3, 2, 2, 2), pads=[1, 0, 0, 1],
    ),
    conv("num_filters: 3 filter_size: 5 padding: 2 groups: 3", (3, 5, 5), (3, 1, 5, 5), pads=[2] * 4, group=3),
    pool(MAX + "pool_size: 2 stride: 2 rounding: FLOOR", (2, 7, 5), "MaxPool", kernel_shape=[2, 2], strides=[2, 2]),
    pool(
        MAX + "pool_size: 3 pool_size_y: 2 stride: 2 padding: 1",
        (2, 6, 8), "MaxPool", kernel_shape=[2, 3], strides=[2, 2], pads=[1] * 4, ceil_mode=1,
    ),
    pool(
        MEAN + "pool_size: 3 stride: 2 padding: 1 rounding: FLOOR",
        (2, 7, 6), "AveragePool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4,
    ),
    pool(
        MEAN + "pool_size: 3 stride: 2 padding: 1 divisor: PADDED rounding: FLOOR",
        (2, 7, 6), "AveragePool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, count_include_pad=1,
    ),
    pool(
        MEAN + "pool_size: 3 stride: 2 padding: 1",
        (2, 6, 8), "AveragePool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, ceil_mode=1,
    ),
    pool(
        MEAN + "pool_size: 3 stride: 2 padding: 1 divisor: PADDED",
        (2, 6, 8), "AveragePool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, ceil_mode=1, count_include_pad=1,
    ),
    pool(
        MAX + "pool_size: 3 stride: 2 padding: 0 padding_end: 1 padding_end_y: 2 rounding: FLOOR",
        (2, 6, 8), "MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 2, 1],
    ),
    pool(
        MEAN + "pool_size: 3 stride: 2 padding: 0 padding_end: 1 padding_y: 2 divisor: PADDED rounding: FLOOR",
        (2, 6, 8), "AveragePool", kernel_shape=[3, 3], strides=[2, 2], pads=[2, 0, 2, 1], count_include_pad=1,
    ),
    Case(
        "conv3d", "num_filters: 4 filter_size: [2, 3, 1] stride: [1, 2, 1] padding: [1, 0, 0] padding_end: [0, 1, 2]",
        (2, 4, 5, 3), "Conv", {"kernel_shape": [2, 3, 1], "strides": [1, 2, 1], "pads": [1, 0, 0, 0, 1, 2]},
        (("weight", (4, 2, 2, 3, 1)), ("bias", (4,))),
    ),
    Case(
        "conv3d_trans", "num_filters: 4 filter_size: [2, 3, 1] stride: 2 dilation: [1, 2, 1] groups: 2",
        (2, 3, 2, 3), "ConvTranspose",
        {"kernel_shape": [2, 3, 1], "strides": [2, 2, 2], "dilations": [1, 2, 1], "group": 2},
        (("weight", (2, 2, 2, 3, 1)), ("bias", (4,))),
    ),
    Case(
        "conv1d", "num_filters: 4 filter_size: 3 stride: 2 padding: 1 padding_end: 2", (2, 7), "Conv",
        {"kernel_shape": [3], "strides": [2], "pads": [1, 2]}, (("conv.weight", (4, 2, 3)), ("conv.bias", (4,))),
    ),
    Case("pool1d", "pool_size: 3 stride: 2", (2, 8), "MaxPool", {"kernel_shape": [3], "strides": [2], "ceil_mode": 1}),
    Case(
        "pool3d", MEAN + "pool_size: [2, 3, 2] stride: 2 padding: [0, 1, 1] divisor: PADDED rounding: FLOOR",
        (2, 4, 5, 4), "AveragePool",
        {"kernel_shape": [2, 3, 2], "strides": [2, 2, 2], "pads": [0, 1, 1] * 2, "count_include_pad": 1},
    ),
    pool(MAX + "global_pooling: true", (3, 4, 5), "GlobalMaxPool"),
    pool(MEAN + "global_pooling: true", (3, 4, 5), "GlobalAveragePool"),
    Case(
        "batch_norm", "epsilon: 0.001", (4, 3, 2), "BatchNormalization", {"epsilon": 0.001},
        (("gain", (4,)), ("bias", (4,)), ("running_mean", (4,)), ("running_var", (4,))),
    ),
    Case(
        "layer_norm", "epsilon: 0.001", (4, 3, 2), "LayerNormalization", {"epsilon": 0.001, "axis": 1},
        (("gain", (24,)), ("bias", (24,))),
    ),
    Case(
        "instance_norm", "epsilon: 0.001", (4, 3, 2), "InstanceNormalization", {"epsilon": 0.001},
        (("norm.gain", (4,)), ("norm.bias", (4,))),
    ),
    Case("mvn", "", (4, 3, 2), "MeanVarianceNormalization", {"axes": [2, 3]}),
    Case("mvn", "axis: 1", (4, 3, 2), "MeanVarianceNormalization", {"axes": [1, 2, 3]}),
    Case(
        "lrn", "size: 3 scale: 0.5 power: 0.7 shift: 2", (7, 2, 3),
        "LRN", {"size": 3, "alpha": 0.5, "beta": 0.7, "bias": 2.0},
    ),
    Case("fc", "size: 5", (7,), "Gemm", {}, (("weight", (7, 5)), ("bias", (5,)))),
    Case("softmax", "", (7,), "Softmax"),
    Case("gelu", "", (7,), "Gelu"),
    Case("gelu", "approximate: TANH", (7,), "Gelu", {"approximate": "tanh"}),
    Case("elu", "alpha: 0.7", (2, 3, 2), "Elu", {"alpha": 0.7}),
    Case("relu", "", (7,), "Relu"),
    Case("relu", "negative_slope: 0.1", (7,), "LeakyRelu", {"alpha": 0.1}),
    Case("sigmoid", "", (7,), "Sigmoid"),
    Case("tanh", "", (7,), "Tanh"),
]  # fmt: skip


def run_node(op: str, values: dict[str, np.ndarray], **attributes: Any) -> np.ndarray:
    """One ONNX node on inputs by name, in their order."""
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(op, list(values), ["y"], **attributes)],
        "case",
        [
            onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
            for name, value in values.items()
        ],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=9)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, values)[0])


def run_layer(case: Case, x: np.ndarray, params: dict[str, np.ndarray]) -> np.ndarray:
    """The layer of the case behind a data layer, in the test phase."""
    network = pl.loads(
        f'layer {{ name: "x" type: "data" data {{ shape: {list(case.shape)} }} }}\n'
        f'layer {{ name: "y" type: "{case.type}" input: "x" {case.type} {{ {case.settings} }} }}\n'
    )
    with pl.Net(network, device="cpu", dtype="float32") as net:
        for name, value in params.items():
            target = net.states if name.startswith("running") else net.parameters
            held = target[f"y.{name}"]
            held.value = value.reshape(held.shape)
        return np.array(net.forward({"x": x}, phase="test")["y"])


def identify(case: Case) -> str:
    return f"{case.type} {case.settings}".strip().replace(": ", "=").replace(" ", "-")


@pytest.mark.parametrize("case", CASES, ids=identify)
def test_layer_agrees_with_onnxruntime(case):
    rng = np.random.default_rng(7)
    x = rng.standard_normal((ROWS, *case.shape)).astype(np.float32)
    params = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in case.params}
    if "running_var" in params:
        params["running_var"] = np.abs(params["running_var"]) + np.float32(0.5)
    # ONNX wants the parameters of LayerNormalization in the shape of a row, all others as they are here.
    shape = case.shape if case.op == "LayerNormalization" else None
    given = {name: value.reshape(shape or value.shape) for name, value in params.items()}
    expected = run_node(case.op, {"x": x, **given}, **case.attributes)
    result = run_layer(case, x, params)
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("ignore_label", [None, 2])
def test_softmax_with_loss_agrees_with_onnxruntime(ignore_label):
    rng = np.random.default_rng(7)
    x = rng.standard_normal((6, 4)).astype(np.float32)
    label = np.array([0, 2, 3, 1, 2, 0])
    settings = "" if ignore_label is None else f"ignore_label: {ignore_label}"
    network = pl.loads(
        'layer { name: "x" type: "data" data { shape: [4] } }\n'
        'layer { name: "label" type: "data" data { data_type: INT size: 4 } }\n'
        'layer { name: "cost" type: "softmax_with_loss" input: "x" input: "label" '
        f"softmax_with_loss {{ {settings} }} }}\n"
    )
    attributes = {} if ignore_label is None else {"ignore_index": ignore_label}
    expected = run_node("SoftmaxCrossEntropyLoss", {"x": x, "label": label}, reduction="mean", **attributes)
    with pl.Net(network, device="cpu", dtype="float32") as net:
        net.forward({"x": x, "label": label}, phase="test")
        assert net.loss == pytest.approx(float(expected), rel=1e-5)
