"""conv_operator beside conv and conv_trans with the same filters, values and gradients; im2col beside torch."""

import numpy as np
import pytest

import paddle_layers as pl

pytestmark = pytest.mark.usefixtures("as_python")

SETTINGS = "num_filters: 3 filter_size: 2 filter_size_y: 3 stride: 2 padding_y: 1"
NETWORK = """
layer { name: "x" type: "data" data { shape: [2, 5, 4] } }
layer { name: "filter" type: "data" data { shape: 36 } }
layer { name: "own" type: "conv_operator" input: "x" input: "filter" propagate_down: true propagate_down: true
        conv_operator { %s %s } }
layer { name: "learned" type: "%s" input: "x" propagate_down: true %s { %s bias: false } }
"""


@pytest.mark.parametrize(("layer", "trans"), [("conv", ""), ("conv_trans", "trans: true")])
def test_filters_of_an_input_are_those_of_a_parameter(layer, trans):
    rng = np.random.default_rng(0)
    x, weight = rng.standard_normal((3, 2, 5, 4)), rng.standard_normal(36)
    with pl.Net(pl.loads(NETWORK % (SETTINGS, trans, layer, layer, SETTINGS)), dtype="float64") as net:
        held = net.parameters["learned.weight"]
        held.value = weight.reshape(held.shape)
        outputs = net.forward({"x": x, "filter": np.tile(weight, (3, 1))}, phase="train")
        np.testing.assert_allclose(outputs["own"], outputs["learned"], rtol=1e-12)
        delta = rng.standard_normal(outputs["own"].shape)
        net.backward(gradients={"own": delta, "learned": np.zeros_like(delta)})
        of_x, of_filter = net.gradient("x").copy(), net.gradient("filter").copy()
        net.backward(gradients={"own": np.zeros_like(delta), "learned": delta})
        np.testing.assert_allclose(of_x, net.gradient("x"), rtol=1e-11)
        np.testing.assert_allclose(of_filter.sum(axis=0), held.gradient.reshape(-1), rtol=1e-11)


def test_im2col_is_unfold():
    torch = pytest.importorskip("torch")
    network = pl.loads(
        'layer { name: "x" type: "data" data { shape: [3, 6, 5] } }\n'
        'layer { name: "y" type: "im2col" input: "x" propagate_down: true '
        "im2col { filter_size: 2 filter_size_y: 3 stride: 2 padding: 1 dilation_y: 2 } }\n"
    )
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 3, 6, 5))
    with pl.Net(network, dtype="float64") as net:
        found = net.forward({"x": x}, phase="train")["y"]
        delta = rng.standard_normal(found.shape)
        net.backward(gradients={"y": delta})
        gradient = net.gradient("x")
    tensor = torch.tensor(x, requires_grad=True)
    expected = torch.nn.functional.unfold(tensor, (3, 2), dilation=(2, 1), padding=1, stride=2)
    expected.backward(torch.tensor(delta).reshape(expected.shape))
    np.testing.assert_array_equal(found.reshape(expected.shape), expected.detach().numpy())
    np.testing.assert_allclose(gradient, tensor.grad.numpy(), rtol=1e-12)
