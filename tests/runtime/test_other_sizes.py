"""Feeds of other sizes than the config declares: as if it declared them, or refused before memory is touched."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.runtime import FeedError, Sequences

pytestmark = pytest.mark.usefixtures("as_python")

BOOTED = """
layer { name: "x" type: "data" data { shape: [3] seq_nested_level: 1 } }
layer { name: "start" type: "data" data { shape: [3] } }
layer { name: "y" type: "recurrent_group" input: "x" input: "start" recurrent_group { static: "start" }
  step {
    layer { name: "before" type: "memory" $boot memory { of: "state" $size } }
    layer { name: "square" type: "dot_prod" input: "before" input: "before" }
    layer { name: "state" type: "scaling" input: "square" input: "x" }
    output: "state"
  }
}
"""


def test_memories_have_the_width_that_is_fed() -> None:
    text = BOOTED.replace("$boot", 'input: "start"').replace("$size", "")
    feeds = {"x": Sequences(np.arange(1, 8.0)[:, None] / 4, [0, 2, 2, 6, 7]), "start": np.arange(1, 5.0)[:, None]}
    net, declared = (pl.Net(pl.loads(one), dtype="float64") for one in (text, text.replace("[3]", "[1]")))
    for _ in range(2):
        found = net.forward(feeds)["y"].data[:, 0]
        np.testing.assert_array_equal(found, declared.forward(feeds)["y"].data[:, 0])
    np.testing.assert_allclose(found[:4], [0.25, 0.03125, 6.75, 45.5625])


def test_a_memory_of_another_size_than_what_is_fed_is_refused() -> None:
    net = pl.Net(pl.loads(BOOTED.replace("$boot", "").replace("$size", "size: 3")))
    feeds = {"x": Sequences(np.ones((4, 1)), [0, 2, 4]), "start": np.ones((2, 3))}
    message = r"memory `y.before` is 3, but its source `state` is 1; `x` takes sequence of 3"
    with pytest.raises(FeedError, match=message):
        net.forward(feeds)


IMAGES = """
layer {{ name: "x" type: "data" data {{ shape: {shape} }} }}
layer {{ name: "y" type: "{kind}" input: "x" {kind} {{ {attributes} }} }}
"""


@pytest.mark.parametrize(("kind", "attributes"), [("spp", "pyramid_height: 2"), ("block_expand", "block: 2 stride: 2")])
def test_layers_made_of_layers_compute_their_attributes_from_what_is_fed(kind: str, attributes: str) -> None:
    images = np.arange(2 * 2 * 5 * 7.0).reshape(2, 2, 5, 7)
    found, expected = (
        pl.Net(pl.loads(IMAGES.format(shape=shape, kind=kind, attributes=attributes))).forward({"x": images})["y"]
        for shape in ([2, 4, 4], [2, 5, 7])
    )
    np.testing.assert_array_equal(getattr(found, "data", found), getattr(expected, "data", expected))


def test_sizes_that_need_a_parameter_of_another_shape_are_refused() -> None:
    net = pl.Net(pl.loads(IMAGES.format(shape=[2, 4, 4], kind="residual_block", attributes="num_filters: 2")))
    with pytest.raises(FeedError, match="cannot run with `x` as 3x4x4"):
        net.forward({"x": np.ones((1, 3, 4, 4))})
    assert net.forward({"x": np.ones((1, 2, 4, 4))})
    assert len(net.parameters) == 6, "none was added"


def test_carried_rows_of_another_width_are_refused() -> None:
    text = """
    layer { name: "x" type: "data" data { shape: 3 } }
    layer { name: "old" type: "data" data { shape: 3 carry: "y" } }
    layer { name: "y" type: "relu" input: "x" }
    layer { name: "z" type: "relu" input: "old" }
    """
    net = pl.Net(pl.loads(text))
    with pytest.raises(FeedError, match="data layer `old` is 3, but the value `y` that it carries is 4"):
        net.forward({"x": np.ones((2, 4))})
    both = {"x": np.ones((2, 4)), "old": np.zeros((2, 4))}
    assert net.forward(both)["z"].shape == (2, 4)
