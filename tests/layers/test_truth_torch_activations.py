"""Activations against torch, values and gradients, at corners and far away too."""

import numpy as np
import pytest

import paddle_layers as pl

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.usefixtures("as_python")
functional = torch.nn.functional

X = np.array([[-800.0, -30.0, -6.0, -3.0, -1.0, -0.2, 0.0, 0.2, 1.0, 3.0, 6.0, 30.0, 800.0]])
ABOVE_0 = np.abs(X) + 0.5
CASES = {
    "relu6": (X, "", functional.relu6),
    "clip": (X, "min: -1 max: 3", lambda x: x.clamp(-1, 3)),
    "hard_sigmoid": (X, "", lambda x: functional.relu6(x + 3) / 6),  # its own has a gradient of float32
    "hard_swish": (X, "", functional.hardswish),
    "abs": (X, "", torch.abs),
    "softsign": (X, "", functional.softsign),
    "selu": (X, "", functional.selu),
    "softplus": (X, "beta: 0.7", lambda x: functional.softplus(x, beta=0.7, threshold=50)),
    "swish": (X, "", functional.silu),
    "stanh": (X, "", lambda x: 1.7159 * torch.tanh(x * 2 / 3)),
    "exp": (X[:, :-1], "base: 3 scale: 0.5 shift: -1", lambda x: 3 ** (0.5 * x - 1)),
    "log": (ABOVE_0, "base: 2", torch.log2),
    "log_softmax": (X, "", lambda x: functional.log_softmax(x, dim=1)),
}


@pytest.mark.parametrize("layer", CASES)
def test_values_and_gradients(layer):
    x, settings, function = CASES[layer]
    network = pl.loads(
        f'layer {{ name: "x" type: "data" data {{ shape: {x.size} }} }}\n'
        f'layer {{ name: "y" type: "{layer}" input: "x" propagate_down: true {layer} {{ {settings} }} }}\n'
    )
    delta = np.random.default_rng(1).standard_normal(x.shape)
    with pl.Net(network, dtype="float64") as net:
        found = net.forward({"x": x}, phase="train")["y"]
        net.backward(gradients={"y": delta})
        gradient = net.gradient("x")
    tensor = torch.tensor(x, requires_grad=True)
    expected = function(tensor)
    expected.backward(torch.tensor(delta))
    np.testing.assert_allclose(found, expected.detach().numpy(), rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(gradient, tensor.grad.numpy(), rtol=1e-12, atol=1e-16)
