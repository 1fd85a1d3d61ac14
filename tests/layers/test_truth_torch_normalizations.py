"""Normalisations of single images against torch, values and all gradients."""

import numpy as np
import pytest

import paddle_layers as pl

torch = pytest.importorskip("torch")
functional = torch.nn.functional

CASES = {
    "group_norm": (
        "groups: 2 epsilon: 0.01", "", lambda x, gain, bias: functional.group_norm(x, 2, gain, bias, eps=0.01),
    ),
    "instance_norm": (
        "epsilon: 0.01", "norm.", lambda x, gain, bias: functional.instance_norm(x, weight=gain, bias=bias, eps=0.01),
    ),
}  # fmt: skip


@pytest.mark.parametrize("layer", CASES)
def test_values_and_gradients(layer):
    settings, part, function = CASES[layer]
    network = pl.loads(
        'layer { name: "x" type: "data" data { shape: [4, 3, 5] } }\n'
        f'layer {{ name: "y" type: "{layer}" input: "x" propagate_down: true {layer} {{ {settings} }} }}\n'
    )
    rng = np.random.default_rng(1)
    given = [rng.standard_normal((3, 4, 3, 5)), *rng.standard_normal((2, 4))]
    names = [f"y.{part}{own}" for own in ("gain", "bias")]
    with pl.Net(network, dtype="float64") as net:
        for name, value in zip(names, given[1:], strict=True):
            net.parameters[name].value = value
        found = net.forward({"x": given[0]}, phase="train")["y"]
        delta = rng.standard_normal(found.shape)
        net.backward(gradients={"y": delta})
        gradients = [net.gradient("x"), *(net.parameters[name].gradient for name in names)]
    tensors = [torch.tensor(value, requires_grad=True) for value in given]
    expected = function(*tensors)
    expected.backward(torch.tensor(delta))
    np.testing.assert_allclose(found, expected.detach().numpy(), rtol=1e-11, atol=1e-12)
    for gradient, tensor in zip(gradients, tensors, strict=True):
        np.testing.assert_allclose(gradient, tensor.grad.numpy(), rtol=1e-10, atol=1e-11)
