"""What layers that combine rows do where a formula has no value."""

import numpy as np

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
