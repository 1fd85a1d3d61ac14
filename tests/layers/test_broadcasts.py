"""Arithmetic of two inputs: what stands for what, refusals, and squeeze and excitation as the guide writes it."""

import re
from pathlib import Path

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.testing.cases.trial import as_python

GUIDE = Path(__file__).parents[2] / "docs" / "explanations" / "network-files.md"
RNG = np.random.default_rng(3)


def test_a_single_number_stands_for_an_axis_and_gets_the_sum_of_its_gradients():
    text = """
    layer { name: "x" type: "data" data { shape: [2, 1, 3] } }
    layer { name: "other" type: "data" data { shape: [%s] } }
    layer { name: "y" type: "%s" input: "x" input: "other" propagate_down: true propagate_down: true }
    """
    x = np.arange(1.0, 7.0).reshape(1, 2, 1, 3)
    cases = [
        ("mul", [2], [10, 20], [10, 20, 30, 80, 100, 120], [6, 15]),
        ("mul", [1, 1, 1], [[[2]]], [2, 4, 6, 8, 10, 12], [[[21]]]),
        ("add", [1, 1, 3], [[[10, 20, 30]]], [11, 22, 33, 14, 25, 36], [[[2, 2, 2]]]),
        ("sub", [2, 1, 1], [[[1]], [[2]]], [0, 1, 2, 2, 3, 4], [[[-3]], [[-3]]]),
        ("div", [1], [2], [0.5, 1, 1.5, 2, 2.5, 3], [-21 / 4]),
    ]
    for layer, shape, other, y, gradient in cases:
        with pl.Net(pl.loads(text % (", ".join(map(str, shape)), layer)), dtype="float64") as net:
            feeds = {"x": x, "other": np.array([other], np.float64)}
            found = as_python(lambda net=net, feeds=feeds: net.forward(feeds, phase="train")["y"])
            as_python(lambda net=net: net.backward(gradients={"y": np.ones((1, 2, 1, 3))}))
            np.testing.assert_array_equal(found.ravel(), y)
            np.testing.assert_array_equal(net.gradient("other")[0], gradient)


@pytest.mark.parametrize("layer", ["mul", "div", "add", "sub"])
@pytest.mark.parametrize(
    ("x", "other", "words"),
    [
        ("4x5x5", "3", "it has 3 channels, expected 4 as in `x`, or 1; are the inputs swapped?"),
        ("4x1x1", "4x5x5", "after the channels its axes must be those of `x`, 4x1x1, or 1; are the inputs swapped?"),
        ("4x2x8", "4x4x4", "after the channels its axes must be those of `x`, 4x2x8, or 1; are the inputs swapped?"),
        ("4", "4x1", "after the channels its axes must be those of `x`, 4, or 1; are the inputs swapped?"),
    ],
)
def test_what_does_not_fit_is_refused(layer, x, other, words):
    definition = pl.registry[layer]
    with pytest.raises(pl.ShapeError) as caught:
        definition.infer([pl.Type.parse(x), pl.Type.parse(other)], definition.bind({}))
    assert words in caught.value.message
    assert caught.value.input == 1


def test_division_by_zero_is_as_in_floating_point():
    text = 'layer { name: "x" type: "data" data { shape: 3 } } layer { name: "o" type: "data" data { shape: 1 } }'
    with pl.Net(pl.loads(text + 'layer { name: "y" type: "div" input: "x" input: "o" }')) as net:
        y = net.forward({"x": np.array([[1, -1, 0]], np.float32), "o": np.zeros((1, 1), np.float32)})["y"]
    np.testing.assert_array_equal(y, [[np.inf, -np.inf, np.nan]])


def test_the_smallest_of_equal_values_gives_the_gradient_to_the_first():
    text = """
    layer { name: "a" type: "data" data { shape: 3 } }
    layer { name: "b" type: "data" data { shape: 3 } }
    layer { name: "y" type: "eltwise" input: "a" input: "b" eltwise { operation: MIN }
            propagate_down: true propagate_down: true }
    """
    feeds = {"a": np.array([[1.0, 2.0, 3.0]]), "b": np.array([[1.0, 1.0, 4.0]])}
    with pl.Net(pl.loads(text), dtype="float64") as net:
        y = as_python(lambda: net.forward(feeds, phase="train")["y"])
        as_python(lambda: net.backward(gradients={"y": np.array([[1.0, 1.0, 1.0]])}))
        np.testing.assert_array_equal(y, [[1, 1, 3]])
        np.testing.assert_array_equal(net.gradient("a"), [[1, 0, 1]])
        np.testing.assert_array_equal(net.gradient("b"), [[0, 1, 0]])


def squeeze_and_excitation():
    """The block of the guide with numbers: what it gives and all gradients, by name."""
    text = re.search(r"# file: squeeze-and-excitation.textproto\n(.*?)```", GUIDE.read_text(), re.DOTALL)[1]
    text = text.replace('input: "image" pool', 'input: "image" propagate_down: true pool')
    text = text.replace('input: "image" input', 'input: "image" propagate_down: true propagate_down: true input')
    image, delta = RNG.standard_normal((2, 3, 16, 8, 8))
    with pl.Net(pl.loads(text), dtype="float64") as net:
        for parameter in net.parameters.values():
            parameter.value = RNG.normal(0, 0.5, parameter.shape)
        values = {name: parameter.value.copy() for name, parameter in net.parameters.items()}
        y = as_python(lambda: net.forward({"image": image}, phase="train")["weighed"])
        as_python(lambda: net.backward(gradients={"weighed": delta}))
        gradients = {name: parameter.gradient.copy() for name, parameter in net.parameters.items()}
        gradients["image"] = net.gradient("image")
    return image, delta, values, y, gradients


def test_squeeze_and_excitation_is_its_formula():
    image, delta, values, y, gradients = squeeze_and_excitation()
    squeezed = image.mean(axis=(2, 3))
    reduced = np.maximum(squeezed @ values["reduce.weight"] + values["reduce.bias"], 0)
    gate = 1 / (1 + np.exp(-(reduced @ values["excite.weight"] + values["excite.bias"])))
    np.testing.assert_allclose(y, image * gate[:, :, None, None], rtol=1e-12)
    dexcite = (delta * image).sum(axis=(2, 3)) * gate * (1 - gate)
    dreduce = (dexcite @ values["excite.weight"].T) * (reduced > 0)
    dsqueeze = dreduce @ values["reduce.weight"].T
    expected = {
        "excite.weight": reduced.T @ dexcite,
        "excite.bias": dexcite.sum(axis=0),
        "reduce.weight": squeezed.T @ dreduce,
        "reduce.bias": dreduce.sum(axis=0),
        "image": delta * gate[:, :, None, None] + dsqueeze[:, :, None, None] / 64,
    }
    for name, gradient in expected.items():
        np.testing.assert_allclose(gradients[name], gradient, rtol=1e-10, atol=1e-12, err_msg=name)


@pytest.mark.peers
def test_squeeze_and_excitation_is_that_of_torch():
    torch = pytest.importorskip("torch")
    image, delta, values, y, gradients = squeeze_and_excitation()
    tensors = {name: torch.tensor(value, requires_grad=True) for name, value in {"image": image, **values}.items()}
    reduced = torch.relu(tensors["image"].mean((2, 3)) @ tensors["reduce.weight"] + tensors["reduce.bias"])
    gate = torch.sigmoid(reduced @ tensors["excite.weight"] + tensors["excite.bias"])
    expected = tensors["image"] * gate[:, :, None, None]
    expected.backward(torch.tensor(delta))
    np.testing.assert_allclose(y, expected.detach().numpy(), rtol=1e-12)
    for name, tensor in tensors.items():
        np.testing.assert_allclose(gradients[name], tensor.grad.numpy(), rtol=1e-10, atol=1e-12, err_msg=name)
