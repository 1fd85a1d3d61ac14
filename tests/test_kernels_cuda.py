"""Tuned CUDA kernels: equal to the point functions in numba's simulator, and lean in PTX and machine code."""

import numpy as np
import pytest

from paddle_layers.config import loads
from paddle_layers.kernels.cuda import tiles
from paddle_layers.kernels.tuned import point_functions_only, tuned_at_every_size
from paddle_layers.runtime import Net
from paddle_layers.runtime.cuda import simulated_device

DATA = 'layer {{ name: "x" type: "data" data {{ shape: [{}] }} }}\n'
LAYER = 'layer {{ name: "{}" type: "{}" input: "x" propagate_down: true {} {} {{ {} bias: false }} }}\n'
SHARED = 'param { of: "weight" share: "w" }'
TOLERANCE = {"float64": 1e-13, "float32": 1e-6}


def network(kind, shape, settings, names):
    """Layers that share input and weights: for the second, gradients are added to what is there."""
    shared = SHARED if len(names) > 1 else ""
    return loads(
        DATA.format(", ".join(map(str, shape)))
        + "".join(LAYER.format(name, kind, shared, kind, settings) for name in names)
    )


def step(net, x):
    """Outputs and gradients of one step, and the tuned kernels that ran."""
    rng = np.random.default_rng(1)
    for parameter in net.parameters.values():
        parameter.value = rng.standard_normal(parameter.shape)
    found = dict(net.forward({"x": x}, phase="train", step=0))
    net.backward(gradients={name: rng.standard_normal(value.shape) for name, value in found.items()})
    found |= {f"d{name}": parameter.gradient for name, parameter in net.parameters.items()}
    found["dx"] = net.gradient("x")
    used = {launch.name for launch in net.plan("train").launches if launch.items is not None}
    return {name: np.array(value) for name, value in found.items()}, used


def compare(kind, rows, shape, settings, names=("first",), dtype="float64"):
    """Tuned kernels on the simulated card against point functions on the CPU; gives the names of those that ran."""
    chosen = network(kind, shape, settings, names)
    x = np.random.default_rng(0).standard_normal((rows, *shape))
    with point_functions_only():
        expected, _ = step(Net(chosen, dtype=dtype), x)
    with tuned_at_every_size():
        found, used = step(Net(chosen, dtype=dtype, device=simulated_device()), x)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=0, atol=TOLERANCE[dtype] * np.abs(values).max())
    return used


@pytest.mark.parametrize("fewest", [1, tiles.ENOUGH], ids=["large tiles", "small tiles"])
@pytest.mark.parametrize(
    ("rows", "columns", "size"), [(3, 5, 7), (1, 140, 18), (35, 66, 34)], ids=["small", "one row", "odd"]
)
def test_fc(rows, columns, size, fewest, monkeypatch):
    monkeypatch.setattr(tiles, "ENOUGH", fewest)
    assert compare("fc", rows, (columns,), f"size: {size}") == {"fc_y", "fc_dx", "fc_dweight"}


CONVOLUTIONS = {
    "odd": ((3, 6, 7), "num_filters: 4 filter_size: 3"),
    "stride, padding": ((2, 7, 5), "num_filters: 3 filter_size: 2 filter_size_y: 3 stride: 2 stride_y: 3 padding: 1"),
    "dilation, groups": ((4, 6, 6), "num_filters: 6 filter_size: 3 padding: 2 dilation: 2 stride_y: 2 groups: 2"),
    "many filters": ((1, 3, 3), "num_filters: 66 filter_size: 2"),
    "many channels": ((67, 2, 2), "num_filters: 1 filter_size: 1"),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_conv(name):
    assert compare("conv", 2, *CONVOLUTIONS[name]) == {"conv_y", "conv_dx", "conv_dweight"}


def test_conv_by_large_tiles(monkeypatch):
    monkeypatch.setattr(tiles, "ENOUGH", 1)
    compare("conv", 3, (34, 3, 4), "num_filters: 35 filter_size: 2 padding: 1")


@pytest.mark.parametrize(
    ("kind", "shape", "settings"),
    [("fc", (5,), "size: 3"), ("conv", (2, 3, 3), "num_filters: 3 filter_size: 2 padding: 1")],
)
def test_adds_to_gradients_that_are_there(kind, shape, settings):
    compare(kind, 4, shape, settings, ("first", "second"), "float32")
