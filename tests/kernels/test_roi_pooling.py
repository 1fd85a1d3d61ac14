"""The tuned pools of regions against the point functions: boxes of every kind, in slices that end within an image."""

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.runtime import Sequences
from paddle_layers.testing.cases.trial import as_python
from tests.selection import marks_of

TEXT = """
layer {{ name: "x" type: "data" data {{ shape: [7, 15, 17] }} }}
layer {{ name: "logs" type: "log" input: "x" }}
layer {{ name: "box" type: "data" data {{ shape: 4 seq_nested_level: 1 }} }}
layer {{ name: "y" type: "{0}" input: "logs" input: "box" {0} {{ pooled_width: 2 pooled_height: 3 {1} }} }}
"""
BOXES = np.array(
    [
        [0, 0, 16, 14],
        [2.25, 3.5, 9.5, 8],
        [5, 5, 5.25, 5.5],
        [-6, -4, 3, 2],
        [14, 12, 30, 40],
        [40, 40, 50, 50],
        [9, 8, 3, 2],
        [-1e9, 0, 1e9, 3],
    ]
)
"""Within the map and beyond it, smaller than a pixel, and the wrong way round."""


def run(layer, settings, x):
    feeds = {"x": x, "box": Sequences(BOXES.astype(x.dtype), np.array([0, 3, 3, 8]))}
    with pl.Net(pl.loads(TEXT.format(layer, settings)), dtype=x.dtype.name) as net:
        y = np.array(net.forward(feeds, phase="test")["y"].data)
        return y, {launch.name for launch in net.plan("test").launches if launch.items is not None}


@pytest.mark.parametrize("dtype", [pytest.param("float64", marks=pytest.mark.slow), "float32"])
@pytest.mark.parametrize(
    ("layer", "settings"),
    [
        pytest.param("roi_pool", "spatial_scale: 0.9", marks=marks_of("roi_pool")),
        pytest.param("roi_align", "", marks=marks_of("roi_align")),
        pytest.param("roi_align", "sampling_ratio: 2 aligned: false spatial_scale: 0.9", marks=marks_of("roi_align")),
    ],
)
def test_equals_the_point_functions(layer, settings, dtype):
    x = np.exp(np.random.default_rng(0).standard_normal((3, 7, 15, 17))).astype(dtype)
    x[0, 1, 4, 5], x[2, 6, 0, 0] = -1, 0  # their logarithms are NaN and -inf
    y, used = run(layer, settings, x)
    wanted, _ = as_python(lambda: run(layer, settings, x))
    assert any(f"{layer}_y" in name for name in used)
    np.testing.assert_allclose(y, wanted, rtol=1e-5 if dtype == "float32" else 1e-12, atol=1e-6)
    assert np.isnan(wanted).any()
