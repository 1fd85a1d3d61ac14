"""Every operator as the importer reads it: what is accepted gives onnxruntime's values, all else is refused."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import paddle_layers as pl
from paddle_layers.exchange.onnx_in.model import ImportFailure
from paddle_layers.testing.cases.trial import as_python
from tests.exchange.onnx_operators import cases, filled, integers, node, of_constants, one

ROWS, STEPS = 2, 3
SHARE = 24
"""The usual run takes one case in so many, always the same ones; the slow run takes all."""
CASES = cases()


def write(case, path):
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in case.constants.items()]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", *dims]) for name, dims in case.inputs.items()
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(case.nodes, "operator", inputs, outputs, tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=8), path)


def arrays(case):
    random = np.random.default_rng(7)
    shapes = {name: [STEPS if size == "T" else size for size in dims] for name, dims in case.inputs.items()}
    return {name: random.standard_normal((ROWS, *dims)).astype(np.float32) for name, dims in shapes.items()}


def expected(path, feeds):
    """What onnxruntime gives; None where it refuses the model."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        return session.run(["y"], feeds)[0]
    except Exception:  # onnxruntime has an exception for each kind of failure, and no common one
        return None


def found(imported, feeds):
    data = [node for node in imported.network.nodes if node.definition.name == "data"]
    given = {node.name: list(feeds[node.name]) if node.output_types[0].level else feeds[node.name] for node in data}
    with imported.net() as net:
        value = as_python(lambda: net.forward(given, phase="test"))[imported.outputs["y"]]
    return value.data if isinstance(value, pl.Sequences) else value


def outcome(case, folder):
    """Whether it is accepted; checks the values."""
    path, feeds = folder / "m.onnx", arrays(case)
    write(case, path)
    wanted = expected(path, feeds)
    try:
        imported = pl.import_onnx(path)
    except ImportFailure:
        return False
    assert wanted is not None or not case.accepted, f"{case.name}: onnxruntime refuses it"
    if wanted is not None:
        value = found(imported, feeds)
        assert value.size == wanted.size, case.name
        np.testing.assert_allclose(value.reshape(wanted.shape), wanted, rtol=1e-4, atol=2e-5, err_msg=case.name)
    return True


def check(case, folder):
    """Of values, and of constants, which are computed by other code."""
    accepted = outcome(case, folder)
    assert case.accepted in (None, accepted), f"{case.name}: {'accepted' if accepted else 'refused'}"
    wanted = expected(folder / "m.onnx", arrays(case))
    if wanted is not None:
        outcome(of_constants(case, arrays(case), wanted.size), folder)


def test_a_share_of_the_operators(tmp_path):
    for case in [*CASES[::SHARE], *integers(), *filled()]:
        check(case, tmp_path)


ZERO = {
    "Reciprocal": [node("Reciprocal", "x")],
    "Pow": [node("Pow", "x", "c")],
    "Neg, Reciprocal": [node("Neg", "x", to="h"), node("Reciprocal", "h")],
    "Reciprocal, Neg": [node("Reciprocal", "x", to="h"), node("Neg", "h")],
}


@pytest.mark.parametrize("name", ZERO)
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_the_sign_of_zero_is_that_of_the_reciprocal(name, zero, tmp_path):
    """Out again, too."""
    x = np.full((1, 2), zero, np.float32)
    write(one(name, ZERO[name], (2,), 13, c=np.float32(-1)), tmp_path / "m.onnx")
    wanted, imported = expected(tmp_path / "m.onnx", {"x": x}), pl.import_onnx(tmp_path / "m.onnx")
    np.testing.assert_array_equal(found(imported, {"x": x}), wanted)
    with imported.net() as net:
        pl.export_onnx(net, tmp_path / "again.onnx")
    np.testing.assert_array_equal(expected(tmp_path / "again.onnx", {"x": x}), wanted)


@pytest.mark.slow
@pytest.mark.later
@pytest.mark.parametrize("first", range(SHARE))
def test_all_operators(first, tmp_path):
    for case in CASES[first::SHARE]:
        check(case, tmp_path)
