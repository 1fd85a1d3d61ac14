"""Axes in another order, and other axes than that of the channels, as ONNX models have them: against onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import paddle_layers as pl
from paddle_layers.testing.cases.trial import as_python
from tests.exchange.onnx_helpers import run_model

ROWS = 5


def numbers(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def node(operator, *inputs, to, **attributes):
    return helper.make_node(operator, list(inputs), [to], to, **attributes)


def model_file(path, nodes, shape, constants, opset=20):
    initializers = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", *shape])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "axes", [x], [y], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)


def turn(x="x", to="t", perm=(0, 2, 3, 1)):
    return node("Transpose", x, to=to, perm=list(perm))


SHAPE = (4, 3, 4)
"""Channels, rows and columns, two of them of one size: what stands in the wrong place fits all the same."""
W4, W3, FILTERS = numbers(4, 4), numbers(3, 4), numbers(2, 4, 2, 2)
NORM = {"g": numbers(4, seed=2), "b": numbers(4, seed=3), "m": numbers(4, seed=4), "v": numbers(4, seed=5) ** 2 + 1}
SIZES = {"s": np.int64([0, -1])}
MODELS = {
    "output": ([turn(to="y")], {}),
    "relu": ([turn(), node("Relu", "t", to="y")], {}),
    "swapped": ([turn(to="y", perm=(0, 3, 2, 1))], {}),
    "flat": ([turn(), node("Flatten", "t", to="y")], {}),
    "reshaped": ([turn(), node("Reshape", "t", "s", to="y")], SIZES),
    "reshaped, cut": ([turn(), node("Reshape", "t", "s", to="y")], {"s": np.int64([0, 8, 6])}),
    "reshaped, then turned": (
        [node("Reshape", "x", "s", to="r"), turn("r", to="y", perm=(0, 2, 1, 3))],
        {"s": np.int64([0, 2, 6, 4])},
    ),
    "flat before a map": (
        [turn(), node("Flatten", "t", to="f"), node("Gemm", "f", "w", to="y")],
        {"w": numbers(48, 3)},
    ),
    "map": ([node("MatMul", "x", "w", to="y")], {"w": W4}),
    "map, bias": ([node("MatMul", "x", "w", to="h"), node("Add", "h", "g", to="y")], {"w": W4, **NORM}),
    "map, bias of channels": (
        [node("MatMul", "x", "w", to="h"), node("Add", "h", "g", to="y")],
        {"w": W4, "g": numbers(4, 1, 1)},
    ),
    "map of turned": ([turn(), node("MatMul", "t", "w", to="y")], {"w": W4}),
    "map, bias, turned": (
        [turn(), node("MatMul", "t", "w", to="h"), node("Add", "h", "g", to="a"), turn("a", to="y", perm=(0, 3, 1, 2))],
        {"w": W4, **NORM},
    ),
    "sum": ([node("MatMul", "x", "w", to="h"), turn(), turn("t", "u", (0, 3, 1, 2)),
             node("Sum", "h", "u", "g", to="y")], {"w": W4, **NORM}),
    "sum of turned": ([turn("x", "t", (0, 3, 2, 1)), node("Add", "x", "t", to="y")], {}),
    "conv": ([turn("x", "t", (0, 3, 2, 1)), node("Conv", "t", "w", to="y")], {"w": FILTERS}),
    "conv, turned": ([node("Conv", "x", "w", to="c"), turn("c", to="y")], {"w": FILTERS}),
    "pool": ([turn("x", "t", (0, 3, 2, 1)), node("MaxPool", "t", to="y", kernel_shape=[2, 1])], {}),
    "global pool": ([turn("x", "t", (0, 3, 2, 1)), node("GlobalAveragePool", "t", to="y")], {}),
    "batch norm": (
        [turn("x", "t", (0, 3, 2, 1)), node("BatchNormalization", "t", "g", "b", "m", "v", to="y")],
        NORM,
    ),
    "prelu": ([turn("x", "t", (0, 3, 2, 1)), node("PRelu", "t", "w", to="y")], {"w": numbers(4, 1, 1)}),
    "prelu of columns": ([node("PRelu", "x", "g", to="y")], NORM),
    "gain of columns": ([node("Mul", "x", "g", to="y")], NORM),
    "gain of channels": ([turn(), node("Mul", "t", "g", to="h"), turn("h", to="y", perm=(0, 3, 1, 2))], NORM),
    **{f"softmax {axis}": ([node("Softmax", "x", to="y", axis=axis)], {}) for axis in (1, 2, 3, -1)},
    **{f"log softmax {axis}": ([turn(), node("LogSoftmax", "t", to="y", axis=axis)], {}) for axis in (1, 2, 3)},
    **{f"concat {axis}": ([node("Relu", "x", to="r"), node("Concat", "x", "r", to="y", axis=axis)], {})
       for axis in (1, 2, -1)},
    "concat of turned": ([turn("x", "t", (0, 3, 2, 1)), node("Concat", "x", "t", to="y", axis=1)], {}),
    **{f"part of axis {axis}": ([node("Slice", "x", "a", "e", "k", to="y")],
                                {"a": np.int64([1]), "e": np.int64([3]), "k": np.int64([axis])}) for axis in (1, 2, 3)},
    **{f"part of turned axis {axis}": ([turn(), node("Slice", "t", "a", "e", "k", to="y")],
                                {"a": np.int64([1]), "e": np.int64([3]), "k": np.int64([axis])}) for axis in (1, 2, 3)},
    **{f"one of axis {axis}": ([node("Gather", "x", "i", to="y", axis=axis)], {"i": np.int64(1)})
       for axis in (1, 2, 3)},
    **{f"layer norm {axis}": ([node("LayerNormalization", "x", "g", "b", to="y", axis=axis)],
                              {"g": numbers(*SHAPE[axis - 1 :]), "b": numbers(*SHAPE[axis - 1 :], seed=2)})
       for axis in (1, 2, 3)},
    "layer norm of channels": (
        [turn(), node("LayerNormalization", "t", "g", "b", to="l", axis=-1), turn("l", to="y", perm=(0, 3, 1, 2))],
        NORM,
    ),
    "layer norm in pieces": (
        [node("ReduceMean", "x", "k", to="mean"), node("Sub", "x", "mean", to="c"), node("Mul", "c", "c", to="q"),
         node("ReduceMean", "q", "k", to="var"), node("Add", "var", "e", to="o"), node("Sqrt", "o", to="d"),
         node("Div", "c", "d", to="n"), node("Mul", "n", "g", to="h"), node("Add", "h", "b", to="y")],
        {"k": np.int64([-1]), "e": np.float32(1e-5), **NORM},
    ),
    **{f"{operator} {axes}": ([node(operator, "x", "k", to="y", keepdims=len(axes) % 2)], {"k": np.int64(axes)})
       for operator in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                        "ReduceSumSquare", "ReduceLogSumExp")
       for axes in ([1], [-1], [3, 1], [2, 3], [1, 2, 3])},
    "mean and more": (
        [node("ReduceMean", "x", "k", to="a", keepdims=0), node("Add", "a", "e", to="c"), node("Exp", "c", to="d"),
         node("Mul", "d", "a", to="y")],
        {"k": np.int64([-1]), "e": np.float32(0.5)},
    ),
    "negated mean": (
        [node("ReduceMean", "x", "k", to="a", keepdims=0), node("Transpose", "a", to="y", perm=[0, 2, 1])],
        {"k": np.int64([-1])},
    ),
    "mean added": ([node("ReduceMean", "x", "k", to="a"), node("Add", "x", "a", to="y")], {"k": np.int64([2, 3])}),
    **{f"conv {pads}": ([node("Conv", "x", "w", to="y", pads=pads, strides=[2, 1])], {"w": FILTERS})
       for pads in ([0, 1, 0, 0], [1, 0, 2, 3], [0, 0, 1, 1], [2, 2, 0, 1])},
    **{f"pool {operator} {pads} {more}": (
           [node(operator, "x", to="y", kernel_shape=[3, 3], pads=pads, strides=[2, 1], **more)], {})
       for operator in ("MaxPool", "AveragePool") for pads in ([0, 1, 0, 0], [1, 0, 2, 2], [0, 0, 1, 1], [2, 2, 0, 1])
       for more in ({}, {"ceil_mode": 1}, *([{"count_include_pad": 1}] if operator == "AveragePool" else []))},
    **{f"transposed conv {pads}": (
           [node("ConvTranspose", "x", "w", to="y", pads=pads, strides=[2, 2], output_padding=[more, more])],
           {"w": numbers(4, 2, 3, 3)})
       for pads, more in (([0, 0, 0, 0], 1), ([1, 1, 1, 1], 1), ([1, 1, 0, 1], 0), ([0, 0, 1, 1], 1))},
    **{f"pad {mode} {axes}": ([node("Pad", "x", "p", "o", "k", to="h", mode=mode), node("Relu", "h", to="y")],
                              {"p": np.int64([1, 2, 0, 1]), "o": np.float32(0.5), "k": np.int64(axes)})
       for mode in ("constant", "edge", "reflect") for axes in ([2, 3], [1, 3])},
    "padded output": ([node("Pad", "x", "p", to="y")], {"p": np.int64([0, 0, 1, 2, 0, 0, 0, 1])}),
    "padded, turned, conv": (
        [node("Pad", "x", "p", to="h"), turn("h", "t", (0, 3, 2, 1)), node("Conv", "t", "w", to="y")],
        {"p": np.int64([0, 0, 1, 0, 0, 0, 1, 0]), "w": FILTERS},
    ),
    **{f"padded by {number}, {operator}": (
           [node("Pad", "x", "p", "o", to="h"), node(operator, "h", to="y", kernel_shape=[2, 2], pads=[0, 1, 0, 1])],
           {"p": np.int64([0, 0, 1, 2, 0, 0, 0, 1]), "o": np.float32(number)})
       for operator, number in (("MaxPool", 1), ("MaxPool", 2), ("AveragePool", 0), ("AveragePool", 2))},
    **{f"padded by {number}, conv": (
           [node("Pad", "x", "p", "o", to="h"), node("Conv", "h", "w", to="y")],
           {"p": np.int64([0, 0, 1, 2, 0, 0, 0, 1]), "o": np.float32(number), "w": FILTERS}) for number in (0, 2)},
    **{f"every second of {axes}": ([node("Slice", "x", "a", "e", "k", "s", to="y")],
                                   {"a": np.int64([1, 0]), "e": np.int64([99, -1]), "k": np.int64(axes),
                                    "s": np.int64([2, 1])}) for axes in ([1, 2], [-1, 1], [2, 3])},
    **{f"{operator} {axis}": ([node(operator, "x", to="a", axis=axis, keepdims=keep, select_last_index=keep),
                               helper.make_node("Cast", ["a"], ["y"], to=1)], {})
       for operator in ("ArgMax", "ArgMin") for axis, keep in ((1, 0), (3, 1))},
    **{f"reversed axis {axis}": ([turn(), node("Slice", "t", "a", "e", "k", "s", to="y")],
                                 {"a": np.int64([first]), "e": np.int64([-9999]), "k": np.int64([axis]),
                                  "s": np.int64([by])}) for axis, first, by in ((1, -1, -1), (2, 2, -2), (3, -1, -3))},
    **{f"channels last, gate by {operator}": (
           [turn(), node(operator, "t", "k", to="m"), node("Sigmoid", "m", to="g"), node("Mul", "t", "g", to="h"),
            turn("h", to="y", perm=(0, 3, 1, 2))], {"k": np.int64([1, 2])})
       for operator in ("ReduceMean", "ReduceMax", "ReduceSum")},
    "mean of turned": ([turn("x", "t", (0, 3, 2, 1)), node("ReduceMean", "t", "k", to="y")], {"k": np.int64([2, 3])}),
}  # fmt: skip
LINES = {
    "line turned": ([turn(to="y", perm=(0, 2, 1))], {}),
    "map": ([node("MatMul", "x", "w", to="y")], {"w": W4}),
    "map of turned": ([turn(perm=(0, 2, 1)), node("MatMul", "t", "w", to="y")], {"w": W4}),
    "conv": ([turn(perm=(0, 2, 1)), node("Conv", "t", "w", to="y")], {"w": numbers(3, 4, 2)}),
    "batch norm": ([node("BatchNormalization", "x", "g", "b", "m", "v", to="y")], NORM),
    "batch norm of a map": (
        [node("MatMul", "x", "w", to="h"), node("BatchNormalization", "h", "g", "b", "m", "v", to="y")],
        {"w": W4, **NORM},
    ),
    "softmax": ([node("Softmax", "x", to="y", axis=1)], {}),
    "prelu": ([node("PRelu", "x", "w", to="y")], {"w": numbers(4, 1)}),
    "prelu of columns": ([node("PRelu", "x", "w", to="y")], {"w": numbers(4)}),
    "gain": ([node("Mul", "x", "w", to="y")], {"w": numbers(4, 1)}),
}
CASES = {**{name: (*one, SHAPE) for name, one in MODELS.items()},
         **{f"line: {name}": (*one, (4, 4)) for name, one in LINES.items()}}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_axes(name, tmp_path):
    nodes, constants, shape = CASES[name]
    path = tmp_path / "m.onnx"
    model_file(path, nodes, shape, constants)
    x = numbers(ROWS, *shape, seed=9)
    wanted = run_model(path, {"x": x})["y"]
    imported = pl.import_onnx(path)
    assert not (name.startswith("channels last") and "permute" in imported.text)
    with imported.net() as net:
        found = as_python(lambda: net.forward({"x": x}, phase="test"))[imported.outputs["y"]]
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=2e-5)


EVEN = {"one": np.int64(1), "zero": np.int64([0]), "k": np.int64([3]), "all": np.int64([1, -1])}
ONES = {
    "squeezed": ([node("Squeeze", "x", "zero", to="s"), node("ReduceMax", "s", "zero", to="m"),
                  node("Softmax", "m", to="y", axis=-1)], EVEN),
    "squeezed, all": ([node("Squeeze", "x", to="s"), node("Slice", "s", "zero", "k", "zero", to="c"),
                       node("Concat", "c", "c", to="y", axis=0)], EVEN),
    "merged with rows": ([node("Transpose", "x", to="t", perm=[1, 0, 2]), node("Reshape", "t", "s", to="r"),
                          node("Gemm", "r", "w", "b", to="g"), node("Reshape", "g", "u", to="v"),
                          node("Transpose", "v", to="y", perm=[1, 0, 2])],
                         {"w": W4, "b": numbers(4), "s": np.int64([-1, 4]), "u": np.int64([4, 1, 4])}),
    "cut": ([node("Reshape", "x", "s", to="r"), node("Slice", "r", "zero", "k", "zero", to="c"),
             node("Add", "c", "w", to="y")], {**EVEN, "s": np.int64([8, 2]), "w": numbers(3, 2)}),
    "mean of all": ([node("ReduceMean", "x", to="m", keepdims=0), node("Sub", "x", "m", to="c"),
                     node("Slice", "c", "zero", "k", "k1", to="y")], {**EVEN, "k1": np.int64([1])}),
    "first sample": ([node("Gather", "x", "z", to="s", axis=0), node("MatMul", "w", "s", to="m"),
                      node("Reshape", "m", "all", to="y")], {**EVEN, "z": np.int64(0), "w": numbers(3, 4)}),
    "added to all": ([node("Squeeze", "x", "zero", to="s"), node("Mul", "x", "s", to="m"),
                      node("ReduceSum", "m", "zero", to="y", keepdims=0)], EVEN),
}  # fmt: skip


@pytest.mark.parametrize("name", [*ONES, "branches"])
def test_batches_of_one(name, tmp_path):
    """A model of one sample, whose axis it drops and merges, as a network for any number of samples."""
    nodes, constants = ONES.get(name, ([], {"limit": np.float32(1.5), "k": np.int64([1, 2])}))
    if name == "branches":
        given = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        bodies = {f"{key}_branch": helper.make_graph([node(operator, "x", to="y")], key, [], [given])
                  for key, operator in (("then", "Exp"), ("else", "Neg"))}  # fmt: skip
        nodes = [node("ReduceMax", "x", "k", to="m", keepdims=0), node("Greater", "m", "limit", to="c"),
                 node("If", "c", to="y", **bodies)]  # fmt: skip
    path = tmp_path / "m.onnx"
    model_file(path, nodes, (4, 4), constants)
    model = onnx.load(path)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    onnx.save(model, path)
    x = numbers(ROWS, 4, 4, seed=9)
    wanted = np.stack([run_model(path, {"x": x[at : at + 1]})["y"] for at in range(ROWS)])
    imported = pl.import_onnx(path)
    assert "verified with random inputs" in imported.report
    with imported.net() as net:
        found = as_python(lambda: net.forward({"x": x}, phase="test"))[imported.outputs["y"]]
    np.testing.assert_allclose(found.reshape(wanted.shape), wanted, rtol=1e-4, atol=2e-5)
