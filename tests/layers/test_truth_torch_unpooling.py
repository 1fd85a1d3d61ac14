"""Places of maxima, and what is put back there, against torch: values and gradients."""

import numpy as np
import pytest

import paddle_layers as pl

torch = pytest.importorskip("torch")
functional = torch.nn.functional

NETWORK = pl.loads("""
layer { name: "x" type: "data" data { shape: [3, 6, 8] } }
layer { name: "gain" type: "scale" input: "x" }
layer { name: "pool" type: "max_pool_with_mask" input: "gain" output: "pool" output: "mask"
        max_pool_with_mask { pool_size: 2 stride: 2 } }
layer { name: "y" type: "upsample" input: "pool" input: "mask" upsample { scale: 2 } }
""")


def test_maxima_go_back_to_their_places():
    rng = np.random.default_rng(0)
    x, dy = rng.standard_normal((2, 5, 3, 6, 8))
    with pl.Net(NETWORK, dtype="float64", keep=["mask"]) as net:
        found = net.forward({"x": x})["y"]
        net.backward(gradients={"y": dy})
        gain = torch.ones(1, 3, 1, 1, dtype=torch.float64, requires_grad=True)
        pooled, mask = functional.max_pool2d(torch.tensor(x) * gain, 2, return_indices=True)
        y = functional.max_unpool2d(pooled, mask, 2)
        y.backward(torch.tensor(dy))
        np.testing.assert_array_equal(net.value("mask"), mask.numpy())
        np.testing.assert_allclose(found, y.detach().numpy(), rtol=1e-12)
        np.testing.assert_allclose(net.parameters["gain.gain"].gradient, gain.grad.numpy().ravel(), rtol=1e-12)
