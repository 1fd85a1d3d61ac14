"""Places of maxima, what is put back there, and sampling at given places, against torch: values and gradients."""

import itertools

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


SAMPLING = """
layer {{ name: "x" type: "data" data {{ shape: [2, 5, 4] }} }}
layer {{ name: "grid" type: "data" data {{ shape: [3, 7, 2] }} }}
layer {{ name: "y" type: "grid_sample" input: "x" input: "grid" propagate_down: true propagate_down: true
        grid_sample {{ mode: {} padding_mode: {} align_corners: {} }} }}
"""


@pytest.mark.usefixtures("as_python")
def test_sampling_at_given_places():
    rng = np.random.default_rng(0)
    x, dy, grid = rng.standard_normal((3, 2, 5, 4)), rng.standard_normal((3, 2, 3, 7)), rng.uniform(-3, 3, (3, 3, 7, 2))
    for mode, padding, corners in itertools.product(
        ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (False, True)
    ):
        network = pl.loads(SAMPLING.format(mode.upper(), padding.upper(), str(corners).lower()))
        with pl.Net(network, dtype="float64") as net:
            found = net.forward({"x": x, "grid": grid})["y"]
            net.backward(gradients={"y": dy})
            gradients = [net.gradient(name) for name in ("x", "grid")]
        given = [torch.tensor(one, requires_grad=True) for one in (x, grid)]
        y = functional.grid_sample(*given, mode=mode, padding_mode=padding, align_corners=corners)
        y.backward(torch.tensor(dy))
        case = f"{mode} {padding} {corners}"
        np.testing.assert_allclose(found, y.detach().numpy(), rtol=1e-9, atol=1e-12, err_msg=case)
        for ours, theirs in zip(gradients, given, strict=True):
            np.testing.assert_allclose(ours, theirs.grad.numpy(), rtol=1e-9, atol=1e-11, err_msg=case)
