"""fc with one row, whose sums are cut into parts, with few, and with packed weights: NumPy's products in float64."""

from contextlib import nullcontext

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.kernels.tuned import tuned_at_every_size
from paddle_layers.runtime.devices.cpu.table import always_cut
from paddle_layers.runtime.generate.drivers import TunedCall
from tests.selection import COMPILER, files_of, later_unless_changed

pytestmark = later_unless_changed(__file__, *COMPILER, *files_of("fc"))

TEXT = """
layer {{ name: "a" type: "data" data {{ shape: [{inputs}] }} }}
layer {{ name: "b" type: "data" data {{ shape: [{inputs}] }} }}
layer {{ name: "y" type: "fc" input: "a" input: "b" fc {{ size: {size} act: "relu" }} }}
"""


def sums(inputs, size, cut=None):
    """What `fc` gives for two vectors, of which the second is added to the first; and both as NumPy has it."""
    net, rng = pl.Net(pl.loads(TEXT.format(inputs=inputs, size=size))), np.random.default_rng(inputs)
    for parameter in net.parameters.values():
        parameter.value = rng.standard_normal(parameter.value.shape, np.float32)
    feeds = {name: rng.standard_normal((1, inputs), np.float32) for name in "ab"}
    with nullcontext() if cut is None else always_cut(cut):
        found = net.forward(feeds, phase="test")["y"].copy()
    weights = [parameter.value.astype(np.float64) for parameter in net.parameters.values()]
    bias = next(value for value in weights if value.size == size)
    first, second = (value.reshape(inputs, size) for value in weights if value.size != size)
    expected = np.maximum(feeds["a"] @ first + feeds["b"] @ second + bias.reshape(1, size), 0)
    return found, expected, [launch.name for launch in net.plan("test").table._launches]


@pytest.mark.parametrize(("inputs", "size"), [(1031, 517), (517, 1031), (4096, 513), (262144, 2)])
def test_one_row_in_parts(inputs, size):
    found, expected, launches = sums(inputs, size)
    assert launches.count("row_y") == 2
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("cut", ["pieces", "backwards"])
def test_same_bits_however_it_is_cut(cut):
    np.testing.assert_array_equal(sums(1031, 517)[0], sums(1031, 517, cut)[0])


FEW = """
layer {{ name: "x" type: "data" data {{ shape: {inputs} }} }}
layer {{ name: "s" type: "scale" input: "x" }}
layer {{ name: "a" type: "fc" input: "s" fc {{ size: {size} bias: false }} param {{ of: "weight" share: "w" }} }}
layer {{ name: "b" type: "fc" input: "x" fc {{ size: {size} bias: false }} param {{ of: "weight" share: "w" }} }}
layer {{ name: "c" type: "fc" input: "x" input: "s" fc {{ size: {size} bias: false }} }}
layer {{ name: "y" type: "addto" input: "a" input: "b" input: "c" }}
"""


def few(rows, inputs, size, dtype, cut):
    """Products that share a weight, an input and a target; the same as NumPy has them; and the kernels."""
    net = pl.Net(pl.loads(FEW.format(inputs=inputs, size=size)), dtype=dtype, keep=["s"])
    rng = np.random.default_rng(rows)
    for parameter in net.parameters.values():
        parameter.value = rng.standard_normal(parameter.value.shape)
    x, dy = (rng.standard_normal((rows, many)).astype(dtype) for many in (inputs, size))
    with tuned_at_every_size(), nullcontext() if cut is None else always_cut(cut):
        found = {"y": net.forward({"x": x})["y"].copy()}
        net.backward({"y": dy})
    found |= {"ds": net.gradient("s")} | {name: parameter.gradient for name, parameter in net.parameters.items()}
    gain, bias, w, of_x, of_s = (parameter.value.astype(np.float64) for parameter in net.parameters.values())
    s, ds = x * gain + bias, dy @ (w + of_s).T
    expected = {"y": (s + x) @ w + x @ of_x + s @ of_s, "ds": ds}
    expected |= dict(zip(net.parameters, ((ds * x).sum(0), ds.sum(0), (s + x).T @ dy, x.T @ dy, s.T @ dy), strict=True))
    return found, expected, kernels_of(net)


def kernels_of(net):
    """The tuned kernels of the last pass by name."""
    codes = [launch.code for launch in net.plan("train").launches]
    return {code.tuned.function.__name__ for code in codes if isinstance(code, TunedCall)}


@pytest.mark.parametrize(
    ("rows", "inputs", "size"),
    [(2, 6, 16), (2, 700, 528), (7, 33, 1040), (32, 97, 64), (33, 130, 48), (128, 65, 544)],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_few_rows(rows, inputs, size, dtype):
    found, expected, kernels = few(rows, inputs, size, dtype, None)
    assert {"rows_y", "rows_dx", "rows_dweight"} <= kernels
    for name, values in expected.items():
        tolerance = {"float32": 2e-6, "float64": 1e-14}[dtype] * np.abs(values).max()
        np.testing.assert_allclose(found[name], values, rtol=0, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("cut", ["pieces", "backwards"])
def test_the_same_bits_of_a_few_rows_however_they_are_cut(cut):
    expected, _, _ = few(5, 70, 272, "float32", None)
    found, _, _ = few(5, 70, 272, "float32", cut)
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values)


@pytest.mark.parametrize(("rows", "size"), [(1, 64), (129, 64), (8, 60)])
def test_other_products_are_of_blas(rows, size):
    assert not {"rows_y", "rows_dx", "rows_dweight", "pack"} & few(rows, 20, size, "float32", None)[2]


@pytest.mark.parametrize(("rows", "inputs", "size"), [(129, 64, 97), (150, 200, 65), (530, 67, 130)])
@pytest.mark.parametrize(("dtype", "cut"), [("float32", None), ("float32", "backwards"), ("float64", None)])
def test_many_rows_pack_the_weight(rows, inputs, size, dtype, cut):
    found, expected, kernels = few(rows, inputs, size, dtype, cut)
    assert {"pack"} <= kernels
    assert not {"rows_y", "fc_y", "fc_dx", "fc_dweight"} & kernels
    for name, values in expected.items():
        tolerance = {"float32": 3e-6, "float64": 1e-14}[dtype] * np.abs(values).max()
        np.testing.assert_allclose(found[name], values, rtol=0, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_fewer_rows_than_there_is_memory_for(rows):
    network, rng = pl.loads(FEW.format(inputs=40, size=48)), np.random.default_rng(0)
    x, dy = rng.standard_normal((rows, 40)), rng.standard_normal((rows, 48))
    with tuned_at_every_size(), pl.Net(network, dtype="float64", batch_size=40) as net:
        y = net.forward({"x": x})["y"]
        net.backward({"y": dy})
        s, _, w, of_x, of_s = (parameter.value for parameter in net.parameters.values())
        np.testing.assert_allclose(y, (x * s + x) @ w + x @ of_x + x * s @ of_s, atol=1e-13)
        np.testing.assert_allclose(net.parameters["c.weight_0"].gradient, x.T @ dy, atol=1e-13)
        assert ("rows_dweight" in kernels_of(net)) == (rows != 1)  # kernels are chosen by the rows of the batch


PACKED = """
layer {{ name: "x" type: "data" data {{ shape: {inputs} }} }}
layer {{ name: "a" type: "fc" input: "x" input: "x" fc {{ size: {size} act: "relu" }} }}
layer {{ name: "b" type: "trans_fc" input: "x" trans_fc {{ size: {size} }} }}
"""


@pytest.mark.parametrize(("rows", "inputs", "size"), [(2, 6, 16), (3, 1050, 53), (130, 9, 1040), (300, 513, 49)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_weights_are_packed_once_for_inference(rows, inputs, size, dtype):
    rng = np.random.default_rng(rows)
    with pl.Net(pl.loads(PACKED.format(inputs=inputs, size=size)), dtype=dtype) as net, tuned_at_every_size():
        for cut in (None, "backwards"):  # with new weights, which are packed again
            for parameter in net.parameters.values():
                parameter.value = rng.standard_normal(parameter.value.shape)
            w, v, c, t, d = (parameter.value.astype(np.float64) for parameter in net.parameters.values())
            x = rng.standard_normal((rows, inputs)).astype(dtype)
            with nullcontext() if cut is None else always_cut(cut):
                found = net.forward({"x": x}, phase="test")
            for values, expected in ((found["a"], np.maximum(x @ (w + v) + c, 0)), (found["b"], x @ t.T + d)):
                tolerance = {"float32": 2e-6, "float64": 1e-14}[dtype] * np.abs(expected).max()
                np.testing.assert_allclose(values, expected, rtol=0, atol=tolerance)
        plan = net.plan("test")
        assert [launch.name for launch in plan.launches[: plan.constants]].count("fc_y") == 2
        assert "packed_product" in [launch.name for launch in plan.launches[plan.constants :]]


def test_weights_of_a_recurrent_group_are_packed_once():
    text = """
    layer { name: "x" type: "data" data { shape: 20 seq_nested_level: 1 } }
    layer { name: "y" type: "recurrent_group" input: "x" step {
      layer { name: "h" type: "memory" memory { of: "new" size: 17 } }
      layer { name: "new" type: "fc" input: "x" input: "h" fc { size: 17 act: "tanh" } }
      output: "new"
    } }
    """
    rng = np.random.default_rng(0)
    sequences = pl.Sequences(rng.standard_normal((11, 20)), np.array([0, 4, 6, 11]))
    with pl.Net(pl.loads(text), dtype="float64") as net, tuned_at_every_size():
        expected = net.forward({"x": sequences})["y"].data.copy()
        for _ in range(2):
            found = net.forward({"x": sequences}, phase="test")["y"].data
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
        plan = net.plan("test")
        assert [launch.name for launch in plan.launches[: plan.constants]] == ["fc_y", "fc_y"]


def test_gradients_of_a_transposed_weight_are_packed_products():
    text = """
    layer { name: "x" type: "data" data { shape: 70 } }
    layer { name: "s" type: "scale" input: "x" }
    layer { name: "y" type: "trans_fc" input: "s" trans_fc { size: 101 bias: false } }
    layer { name: "z" type: "trans_fc" input: "s" trans_fc { size: 101 bias: false } }
    """
    rng = np.random.default_rng(0)
    x, dy, dz = rng.standard_normal((1200, 70)), rng.standard_normal((1200, 101)), rng.standard_normal((1200, 101))
    with pl.Net(pl.loads(text), dtype="float64", keep=["s"]) as net, tuned_at_every_size():
        net.forward({"x": x})
        net.backward({"y": dy, "z": dz})
        w, v = (net.parameters[f"{name}.weight"] for name in "yz")
        assert {"pack"} <= kernels_of(net)
        s = net.value("s")
        for found, expected in (
            (net.gradient("s"), dy @ w.value + dz @ v.value), (w.gradient, dy.T @ s), (v.gradient, dz.T @ s),
        ):  # fmt: skip
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14 * np.abs(expected).max())
