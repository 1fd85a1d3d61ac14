"""ONNX models that would take too much memory, and constants where a value is read: refused line by line."""

from __future__ import annotations

import contextlib
import resource

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import paddle_layers as pl
from paddle_layers.exchange.onnx_in.conversion import OF_CONSTANTS, OPERATORS
from paddle_layers.exchange.onnx_in.model import ImportFailure
from paddle_layers.exchange.onnx_in.sequence_rows import causal_of

MOST = 400
"""MiB that reading a file of a few kilobytes may take."""


def write(path, nodes, tensors, opset=17):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 1)]
    graph = helper.make_graph(nodes, "limits", [x], [y], tensors)
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def tensor(name, values, kind):
    return numpy_helper.from_array(np.array(values, kind), name)


def ending(last):
    return helper.make_node("ReduceSum", [last], ["sum"], keepdims=0), helper.make_node("Add", ["x", "sum"], ["y"])


def doubled(operator):
    """What one node gives is twice as large as what the one before gives."""
    made = {
        "Concat": lambda last, name: helper.make_node("Concat", [last, last], [name], axis=0),
        "Tile": lambda last, name: helper.make_node("Tile", [last, "two"], [name]),
    }[operator]
    nodes = [made(f"k{place}" if place else "c", f"k{place + 1}") for place in range(60)]
    tensors = [tensor("c", [1.0] * 8, "f4"), tensor("two", [2], "i8")]
    return [*nodes, *ending("k60")], tensors


def many(operator):
    """Constants that are large together."""
    made = {
        "ConstantOfShape": lambda name: helper.make_node("ConstantOfShape", ["size"], [name]),
        "Range": lambda name: helper.make_node("Range", ["zero", "end", "step"], [name]),
        "Expand": lambda name: helper.make_node("Expand", ["one", "size"], [name]),
        "Cast": lambda name: helper.make_node("Cast", ["row"], [name], to=11),
    }[operator]
    size, count = 1 << 23, 60
    numbers = {"zero": 0, "end": size, "step": 1, "one": [1.0]}
    tensors = [tensor("size", [size], "i8"), *(tensor(name, value, "f4") for name, value in numbers.items())]
    nodes = [helper.make_node("ConstantOfShape", ["size"], ["row"]), *(made(f"k{place}") for place in range(count))]
    total = [helper.make_node("Sum", [f"k{place}" for place in range(count)], ["all"])]
    return [*nodes, *total, *ending("all")], tensors


def shared_biases():
    """One vector of half precision as the bias of many layers, each of which would hold it in float32."""
    vector = tensor("b", np.ones(1 << 16), "f2")
    nodes = [helper.make_node("Gemm", ["x", "w"], ["h0"])]
    nodes += [helper.make_node("Mul", [f"h{place}", "b"], [f"h{place + 1}"]) for place in range(3000)]
    nodes.append(helper.make_node("Identity", ["h3000"], ["y"]))
    return nodes, [vector, tensor("w", np.ones((4, 1 << 16)), "f4")]


GROWING = {
    **{f"{operator} doubled": doubled(operator) for operator in ("Concat", "Tile")},
    **{f"many {operator}": many(operator) for operator in ("ConstantOfShape", "Range", "Expand", "Cast")},
    "shared biases": shared_biases(),
}


@pytest.mark.parametrize("name", GROWING)
def test_one_budget_holds_for_all_constants_of_a_file(name, tmp_path):
    nodes, tensors = GROWING[name]
    path = write(tmp_path / "m.onnx", nodes, tensors)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ImportFailure, match=r"exceeds? the memory limit"):
        pl.import_onnx(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST << 10


def test_a_causal_mask_of_many_tokens_is_within_the_budget(tmp_path):
    nodes = [
        helper.make_node("ConstantOfShape", ["size"], ["ones"], value=tensor("one", [1.0], "f4")),
        helper.make_node("Trilu", ["ones"], ["mask"], upper=0),
        helper.make_node("Slice", ["mask", "first", "last"], ["corner"]),
        helper.make_node("MatMul", ["x", "corner"], ["y"]),
    ]
    tensors = [tensor("size", [2048, 2048], "i8"), tensor("first", [0, 0], "i8"), tensor("last", [4, 4], "i8")]
    imported = pl.import_onnx(write(tmp_path / "m.onnx", nodes, tensors))
    assert [array.tolist() for array in imported.weights.values()] == [np.tril(np.ones((4, 4))).tolist()]


# ---- constants where a value is read

CONSTANTS = {
    "matrix": tensor("c", np.ones((5, 4)), "f4"), "image": tensor("c", np.ones((1, 2, 3, 3)), "f4"),
    "number": tensor("c", 1, "f4"), "integers": tensor("c", [0, 1], "i8"), "nothing": tensor("c", [], "f4"),
    "truth": tensor("c", [True], "?"),
}  # fmt: skip


def read_by(domain, operator, count):
    """A node whose inputs are all the constant, and one that reads it beside the input."""
    attributes = {"Cast": {"to": 1}, "CastLike": {}}.get(operator, {})
    for others in (["c"] * count, ["c", *["x"] * (count - 1)], ["x", *["c"] * (count - 1)]):
        node = helper.make_node(operator, others, ["h"], "n", domain=domain, **attributes)
        yield [node, helper.make_node("Add", ["x", "h"], ["y"])]


@pytest.mark.parametrize(
    "name", [name if name == "matrix" else pytest.param(name, marks=pytest.mark.slow) for name in CONSTANTS]
)
def test_no_operator_fails_by_a_constant(name, tmp_path):
    assert 10 < len(OF_CONSTANTS) < 30, "the functions that take a constant first are few, and say so"
    for domain, operator in OPERATORS:
        for count in (1, 2, 3):
            for nodes in read_by(domain, operator, count):
                path = write(tmp_path / "m.onnx", nodes, [CONSTANTS[name]])
                with contextlib.suppress(ImportFailure):
                    pl.import_onnx(path)


ODD = {
    "a tensor without elements": ([helper.make_node("MatMul", ["x", "w"], ["y"])],
                                  [TensorProto(name="w", data_type=1, dims=[0, 2**62])], "which is too large"),
    "an axis twice": (
        [helper.make_node("Unsqueeze", ["x", "a"], ["y"])], [tensor("a", [1, 1], "i8")], "duplicate axes"),
    "a weight in a pool": ([helper.make_node("GlobalAveragePool", ["w"], ["p"]),
                            helper.make_node("Add", ["x", "p"], ["y"])],
                           [tensor("w", np.ones((5, 4)), "f4")], "cannot broadcast a constant"),
    "starts without ends": ([helper.make_node("Slice", ["x", "a", "b"], ["y"])],
                            [tensor("a", [0], "i8"), tensor("b", [1, 2], "i8")], "must have the same length"),
    "more parts than outputs": ([helper.make_node("Split", ["w"], ["p"], num_outputs=1 << 26),
                                 helper.make_node("Add", ["x", "p"], ["y"])],
                                [tensor("w", np.ones(4), "f4")], "parts for"),
    "an absent input": ([helper.make_node("Mul", ["x", ""], ["y"])], [], "input `B` is absent, but ONNX requires it"),
    "too few inputs": ([helper.make_node("Concat", [], ["c"], axis=0), helper.make_node("Add", ["x", "c"], ["y"])],
                       [], "got 0 inputs, ONNX expects at least 1$"),
    "a loop without a condition": (  # legal: both limits of a Loop are optional
        [helper.make_node("Loop", ["", "", "x"], ["y"], body=helper.make_graph([], "body", [], []))],
        [], "only loops over the steps of sequences"),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_odd_nodes_are_refused(name, tmp_path):
    nodes, tensors, message = ODD[name]
    with pytest.raises(ImportFailure, match=message):
        pl.import_onnx(write(tmp_path / "m.onnx", nodes, tensors, 18))


@pytest.mark.parametrize("low", [-1e4, -1e9, np.finfo(np.float32).min, -np.inf])
def test_additive_causal_masks(low: float) -> None:
    mask = np.where(np.tril(np.ones((2, 1, 3, 3), bool)), 0, np.float32(low))
    assert causal_of(mask, 0.0) is True
    assert causal_of(np.zeros((3, 3)), 0.0) is False
    assert causal_of(mask[..., ::-1], 0.0) is None
