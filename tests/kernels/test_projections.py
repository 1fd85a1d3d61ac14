"""fc with one row, whose sums are cut into parts: NumPy's product in float64, the same bits however it is cut."""

from contextlib import nullcontext

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.runtime.devices.cpu.table import always_cut

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
