"""ONNX models that skl2onnx wrote of scikit-learn's pipelines: scalers, linear models, small networks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

import paddle_layers as pl
from paddle_layers.exchange.onnx_in.model import ImportFailure
from paddle_layers.testing.cases.trial import as_python

STORED = Path(__file__).parents[1] / "onnx_models" / "sklearn"
"""Models with rows and what scikit-learn gives: `python -m tests.exchange.sklearn_models`."""
LAYERS = {
    "logistic": ["scale", "fc", "softmax"],
    "logistic-two": ["scale", "fc"],
    "network": ["scale", "fc", "fc", "softmax"],
    "network-two": ["scale", "fc", "fc", "slope_intercept", "concat"],
    "network-real": ["scale", "fc", "fc"],
    "linear": ["scale", "fc"],
}


@pytest.mark.parametrize("name", LAYERS)
def test_stored_pipelines(name):
    """What scikit-learn gives; the scaler stays as it is, all else can learn."""
    stored = np.load(STORED / f"{name}.npz")
    imported = pl.import_onnx(STORED / f"{name}.onnx")
    with imported.net() as net:
        result = as_python(lambda: net.forward({"X": stored["X"]}, phase="test"))
    (value,) = imported.outputs.values()
    np.testing.assert_allclose(result[value].reshape(stored["y"].shape), stored["y"], rtol=1e-4, atol=1e-4)
    layers = [node for node in imported.network.nodes if node.definition.inputs]
    assert [node.definition.name for node in layers] == LAYERS[name]
    frozen = {(node.name, one) for node in layers for one, settings in node.params.items() if settings.frozen}
    assert frozen == {(layers[0].name, "gain"), (layers[0].name, "bias")}


def test_columns_are_no_names_of_classes(tmp_path):
    """ArrayFeatureExtractor names a class, and nothing else here."""
    columns = helper.make_node("ArrayFeatureExtractor", ["x", "places"], ["y"], "columns", domain="ai.onnx.ml")
    ports = [helper.make_tensor_value_info(one, onnx.TensorProto.FLOAT, ["N", 3]) for one in ("x", "y")]
    places = helper.make_tensor("places", onnx.TensorProto.INT64, [2], [0, 2])
    graph = helper.make_graph([columns], "net", ports[:1], ports[1:], [places])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), tmp_path / "m.onnx")
    with pytest.raises(ImportFailure, match=r"columns \(ArrayFeatureExtractor\): selecting columns"):
        pl.import_onnx(tmp_path / "m.onnx")
