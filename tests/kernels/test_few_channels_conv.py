"""First layers band by band: how their rows are cut, and many images, against the other kernels."""

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.kernels import tuned
from paddle_layers.kernels.constants import MAX_CHUNKS
from paddle_layers.kernels.images.few_channels_conv import bands_of, few_channels
from paddle_layers.kernels.selection import load_all_kernels
from tests.kernels.helpers import conv_problem
from tests.selection import COMPILER, files_of, later_unless_changed, with_marks

V1 = {"K": 32, "D": 3, "P": 112, "Q": 112, "A": 3, "B": 3, "step": (1, 2, 2)}


@pytest.mark.parametrize(
    ("change", "suits"),
    [
        ({}, True),  # MobileNet v1
        ({"A": 7, "B": 7, "K": 64}, True),  # ResNet-50
        ({"A": 11, "B": 11, "step": (1, 4, 4), "P": 55, "Q": 55}, False),  # AlexNet
        ({"D": 32}, False),
        ({"step": (1, 1, 2)}, False),
        ({"K": 8}, False),
        ({"P": 7, "Q": 7}, False),  # a row is less than a vector
    ],
)
def test_first_layers_with_steps_go_this_way(change, suits):
    assert few_channels(conv_problem(**{**V1, **change})) == suits


def test_images_are_items_where_there_are_enough():
    assert bands_of(1, 112, 112) == (MAX_CHUNKS, 1)
    assert bands_of(MAX_CHUNKS, 112, 112) == (7, 7)
    assert bands_of(1, 3, 200) == (3, 1)  # no more than rows


@with_marks(later_unless_changed(__file__, *COMPILER, *files_of("conv")))
def test_many_images_of_several_bands_equal_the_point_function():
    load_all_kernels()
    network = pl.loads("""
    layer { name: "x" type: "data" data { shape: [3, 99, 101] } }
    layer { name: "y" type: "conv" input: "x" conv { num_filters: 18 filter_size: 3 stride: 2 padding: 1 act: "relu" } }
    """)
    assert bands_of(MAX_CHUNKS + 1, 50, 51)[0] > 1
    x = np.random.default_rng(3).standard_normal((MAX_CHUNKS + 1, 3, 99, 101))
    with pl.Net(network, seed=1) as net:
        y = {phase: np.array(net.forward({"x": x}, phase=phase)["y"]) for phase in ("train", "test")}
        assert any(
            launch.code.tuned.function.__name__ == "correlate_bands"
            for launch in net.plan("test").launches
            if launch.items
        )
    with tuned.point_functions_only(), pl.Net(network, dtype="float64", seed=1) as net:
        expected = net.forward({"x": x}, phase="test")["y"]
    for found in y.values():
        np.testing.assert_allclose(found, expected, atol=2e-5)
