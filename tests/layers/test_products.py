"""What layers of single rows and elements do where a formula has no value, or makes no sense."""

import numpy as np
import pytest

import paddle_layers as pl


def test_a_vector_of_zeros_is_similar_to_nothing():
    text = """
    layer { name: "a" type: "data" data { shape: [2] } }
    layer { name: "b" type: "data" data { shape: [4] } }
    layer { name: "y" type: "cos_sim" input: "a" input: "b" propagate_down: true propagate_down: true }
    """
    feeds = {"a": np.array([[0.0, 0.0], [3.0, 4.0]]), "b": np.array([[1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 6.0, 8.0]])}
    with pl.Net(pl.loads(text), dtype="float64") as net:
        np.testing.assert_allclose(net.forward(feeds, phase="train")["y"], [[0.0, 0.0], [0.0, 1.0]])
        net.backward(gradients={"y": np.ones((2, 2))})
        np.testing.assert_allclose(net.gradient("a"), np.zeros((2, 2)), atol=1e-15)
        np.testing.assert_allclose(net.gradient("b"), np.zeros((2, 4)), atol=1e-15)


def test_a_row_of_zeros_stays_and_gets_no_gradient():
    text = """
    layer { name: "x" type: "data" data { shape: [2] } }
    layer { name: "y" type: "row_l2_norm" input: "x" propagate_down: true }
    """
    with pl.Net(pl.loads(text), dtype="float64") as net:
        found = net.forward({"x": np.array([[0.0, 0.0], [3.0, 4.0]])}, phase="train")["y"]
        np.testing.assert_allclose(found, [[0.0, 0.0], [0.6, 0.8]])
        net.backward(gradients={"y": np.array([[1.0, 1.0], [1.0, 0.0]])})
        np.testing.assert_allclose(net.gradient("x"), [[0.0, 0.0], [0.128, -0.096]])


def test_a_negative_base_has_whole_powers_only():
    text = """
    layer { name: "x" type: "data" data { shape: [3] } }
    layer { name: "cube" type: "power" input: "x" power { power: 3 } }
    layer { name: "root" type: "power" input: "x" power { power: 0.5 } }
    """
    with pl.Net(pl.loads(text), dtype="float64") as net:
        found = net.forward({"x": np.array([[-2.0, 0.0, 4.0]])})
    np.testing.assert_allclose(found["cube"], [[-8.0, 0.0, 64.0]])
    np.testing.assert_allclose(found["root"], [[np.nan, 0.0, 2.0]])


def test_a_row_of_one_column_is_refused():
    definition = pl.registry["rms_norm"]
    with pytest.raises(pl.ShapeError, match="would become 1 or -1"):
        definition.infer([pl.Type.parse("1")], definition.bind({}))
