"""Rotary positions: the kernel, which computes the angles of a step once, has the bits of the point functions."""

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.kernels.tuned import point_functions_only, tuned_at_every_size
from tests.selection import COMPILER, files_of, later_unless_changed

pytestmark = later_unless_changed(__file__, *COMPILER, *files_of("rotary_position"))

TEXT = """
layer {{ name: "x" type: "data" data {{ shape: 48 seq_nested_level: 1 }} }}
layer {{ name: "first" type: "data" data {{ data_type: INT size: 90 }} }}
layer {{ name: "s" type: "scale" input: "x" }}
layer {{
  name: "y" type: "rotary_position" input: "s" input: "first" rotary_position {{ num_heads: 3 base: 1234.5 pairs: {0} }}
}}
layer {{ name: "z" type: "rotary_position" input: "s" rotary_position {{ num_heads: 2 pairs: {0} }} }}
"""


@pytest.mark.parametrize("pairs", ["HALVES", "NEIGHBOURS"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rotary_positions_have_the_bits_of_the_point_functions(pairs, dtype):
    rng = np.random.default_rng(0)
    starts = np.array([0, 5, 5, 30, 37])
    feeds = {"x": pl.Sequences(rng.standard_normal((37, 48)), starts), "first": rng.integers(0, 90, 4)}
    gradients = {name: rng.standard_normal((37, 48)) for name in "yz"}
    results = []
    for selection in (point_functions_only, tuned_at_every_size):
        with selection(), pl.Net(pl.loads(TEXT.format(pairs)), dtype=dtype, keep=["s"]) as net:
            outputs = net.forward(feeds)
            net.backward(gradients)
            results.append([outputs["y"].data, outputs["z"].data, net.gradient("s")])
            used = {launch.code.tuned.function.__name__ for launch in net.plan("train").launches if launch.items}
    assert "rotate" in used
    for expected, found in zip(*results, strict=True):
        np.testing.assert_array_equal(getattr(found, "data", found), getattr(expected, "data", expected))
