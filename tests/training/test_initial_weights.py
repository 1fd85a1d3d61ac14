"""First values as a net draws them: spread by the connections of the layer, the same for a seed and a name."""

import math
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.define import registries
from paddle_layers.runtime.memory import parameters

NETWORK = """
layer {{ name: "image" type: "data" data {{ shape: [8, 9, 9] }} }}
layer {{ name: "conv" type: "conv" input: "image" conv {{ num_filters: 32 filter_size: 5 groups: {groups} }}
        param {{ of: "weight" init {{ {init} }} }} }}
layer {{ name: "fc" type: "fc" input: "conv" fc {{ size: 40 }} param {{ of: "weight" init {{ {init} }} }} }}
"""


def values(init, groups=1, seed=0, dtype="float64"):
    with pl.Net(pl.loads(NETWORK.format(init=init, groups=groups)), seed=seed, dtype=dtype) as net:
        return {name: parameter.value.copy() for name, parameter in net.parameters.items()}


@pytest.mark.parametrize(
    ("init", "conv", "fc"),
    [
        ('type: "xavier"', 1 / (8 * 25), 1 / (32 * 25)),
        ('type: "xavier" xavier { variance_norm: fan_out }', 1 / (32 * 25), 1 / 40),
        ('type: "msra"', 2 / (8 * 25), 2 / (32 * 25)),
        ('type: "msra" msra { variance_norm: average }', 2 / (20 * 25), 2 / ((32 * 25 + 40) / 2)),
        ('type: "paddle"', 1 / (8 * 25), 1 / (32 * 25)),
        ('type: "gaussian" gaussian { std: 0.3 }', 0.09, 0.09),
        ('type: "uniform" uniform { min: -1 max: 1 }', 1 / 3, 1 / 3),
    ],
)
def test_the_spread_follows_the_connections(init, conv, fc):
    drawn = values(init)
    for name, variance in (("conv.weight", conv), ("fc.weight", fc)):
        assert drawn[name].std() == pytest.approx(math.sqrt(variance), rel=0.04)
        assert abs(drawn[name].mean()) < 4 * math.sqrt(variance / drawn[name].size)
    assert not drawn["conv.bias"].any()


def test_groups_share_the_inputs():
    assert values('type: "msra"', groups=4)["conv.weight"].std() == pytest.approx(math.sqrt(2 / (2 * 25)), rel=0.06)


def test_a_seed_and_a_name_decide():
    first, again, other = values('type: "msra"'), values('type: "msra"'), values('type: "msra"', seed=1)
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["fc.weight"], other["fc.weight"])
    assert not np.array_equal(first["fc.weight"].reshape(-1)[:100], first["conv.weight"].reshape(-1)[:100])
    single = values('type: "msra"', dtype="float32")
    assert all(np.array_equal(single[name], first[name].astype(np.float32)) for name in first)


def test_orthogonal_and_positive_unitball():
    drawn = values('type: "orthogonal"')
    for name in ("conv.weight", "fc.weight"):
        matrix = drawn[name].reshape(len(drawn[name]), -1)
        small = matrix @ matrix.T if matrix.shape[0] < matrix.shape[1] else matrix.T @ matrix
        np.testing.assert_allclose(small, np.eye(len(small)), atol=1e-12)
    drawn = values('type: "positive_unitball"')
    assert drawn["conv.weight"].min() > 0
    np.testing.assert_allclose(drawn["conv.weight"].reshape(32, -1).sum(axis=1), 1)


@pytest.mark.parametrize("factor", [1, 2, 3, 4, 5])
def test_bilinear_keeps_a_constant_image(factor):
    """Enlarged by a factor, every pixel is a mean of pixels: the weights that reach it add up to one."""
    size = 2 * factor - factor % 2
    kernel = registries["initializer"]["bilinear"].create({}).draw((1, 2, size, size), np.random.default_rng(0), (1, 1))
    assert np.array_equal(kernel[0, 0], kernel[0, 1])
    np.testing.assert_allclose(kernel[0, 0], kernel[0, 0, ::-1, ::-1], atol=1e-15)
    for row in range(factor):
        for column in range(factor):
            assert kernel[0, 0, row::factor, column::factor].sum() == pytest.approx(1, abs=1e-14)


ELEMENTWISE = ("xavier", "msra", "paddle", "gaussian", "uniform", "constant", "one", "zero")


@pytest.mark.parametrize("init", [f'type: "{name}"' for name in ELEMENTWISE])
def test_values_drawn_in_parts_are_those_drawn_at_once(init, monkeypatch):
    monkeypatch.setattr(parameters, "DRAWN", 1 << 30)
    whole = values(init, dtype="float32")
    monkeypatch.setattr(parameters, "DRAWN", 1000)
    for name, drawn in values(init, dtype="float32").items():
        assert drawn.tobytes() == whole[name].tobytes()


TABLE = """
layer { name: "x" type: "data" data { data_type: INT size: 1000000 } }
layer { name: "y" type: "embedding" input: "x" embedding { size: 8 } }
"""


def test_a_large_table_needs_no_memory_beside_itself():
    network = pl.loads(TABLE)
    tracemalloc.start()
    try:
        net = pl.Net(network)
        values = net.parameters["y.table"].value
        kept, peak = tracemalloc.get_traced_memory()
        assert peak - kept < values.nbytes / 2
        tracemalloc.reset_peak()
        net.parameters["y.table"].value = np.broadcast_to(np.float64(0.5), values.shape)
        assert tracemalloc.get_traced_memory()[1] - kept < values.nbytes / 2
    finally:
        tracemalloc.stop()
    assert (values == 0.5).all()


def test_too_little_memory_for_first_values_is_the_error_of_a_device(monkeypatch):
    def fail(*_):
        raise MemoryError

    definition = registries["initializer"]["orthogonal"]
    monkeypatch.setattr(definition, "create", lambda _: SimpleNamespace(draw=fail))
    with pytest.raises(pl.DeviceError, match=r"cannot allocate .* to initialize `conv.weight`"):
        values('type: "orthogonal"')
